"""Exact Bayes regret of three arms: of the best policy there is, and of given rules."""

from theory.bayes.thompson import DoubleThompsonChoices

__all__ = ["DoubleThompsonChoices"]
