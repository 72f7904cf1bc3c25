"""Policies for preferences that change."""
