"""Adversarial preferences, which may change in every round."""
