"""Relative minimum empirical divergence (RMED)."""
