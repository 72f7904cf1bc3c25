"""Regret bounds of the literature: one file per family, one function per theorem."""
