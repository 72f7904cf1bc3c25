"""Posteriors inside policies: compiled states that take vote after vote."""
