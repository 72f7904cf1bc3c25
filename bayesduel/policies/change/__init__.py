"""Preferences that change."""
