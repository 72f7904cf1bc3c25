"""What to ask of a fit before it is believed."""
