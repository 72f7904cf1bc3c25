"""What a study is about: its arms, and votes that come from elsewhere."""
