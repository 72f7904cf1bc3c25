"""Policies of optimism: confidence bounds and their indices."""
