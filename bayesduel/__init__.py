"""Dueling bandits: exact simulation, regret bounds, Bayesian preference models."""
