"""Elimination: arms are dropped until one is left."""
