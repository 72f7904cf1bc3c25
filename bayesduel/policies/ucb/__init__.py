"""Confidence bounds."""
