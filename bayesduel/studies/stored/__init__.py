"""The file of a study: its events, what they must be, and how they are kept."""
