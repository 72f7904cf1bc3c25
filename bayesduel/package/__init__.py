"""The package itself: its version, and names that are imported when first asked for."""
