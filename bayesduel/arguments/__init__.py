"""Arguments of users: sizes that are refused, and values read from text."""
