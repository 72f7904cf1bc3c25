"""Policies that want the best arm in every pair, not twice in it."""
