"""Exact Bayes regret of three arms: of the best policy there is, and of given rules."""
