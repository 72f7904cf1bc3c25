"""Checks of a fit before it is believed."""
