"""Posterior sampling (Thompson sampling)."""
