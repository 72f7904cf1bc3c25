"""Posteriors inside policies: compiled states that take vote after vote."""

from bayesduel.posteriors.base import PairPosterior
from bayesduel.posteriors.beta_pairs import BetaPairs

__all__ = ["BetaPairs", "PairPosterior"]
