"""Models of choices among alternatives that are known by attributes."""
