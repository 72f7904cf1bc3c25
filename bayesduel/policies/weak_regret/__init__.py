"""Policies for weak regret: it is enough that the best arm is one of the two."""
