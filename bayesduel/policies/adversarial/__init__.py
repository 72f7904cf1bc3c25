"""Policies that assume nothing of the preferences, which may change in every round."""
