"""Reductions to ordinary bandits."""
