"""What is asked for: arguments read and checked, and experiments as files."""
