"""Policies that name a winner with few duels, and do not mind regret."""
