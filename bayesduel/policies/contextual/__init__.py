"""Policies that see the features of the arms, fixed or new in every round."""
