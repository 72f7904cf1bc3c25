"""Posterior models of preferences."""
