"""What a judge has before them, at a terminal or on a page."""
