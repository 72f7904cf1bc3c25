"""Policies that learn outcomes batch by batch."""
