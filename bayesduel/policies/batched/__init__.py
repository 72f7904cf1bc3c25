"""Batched policies."""
