"""Weak regret: it is enough that one arm of each pair is the best."""
