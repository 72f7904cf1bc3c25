"""Policies that offer subsets."""
