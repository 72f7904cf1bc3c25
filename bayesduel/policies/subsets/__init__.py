"""Subset choice."""
