"""Policies that strike out arms until one is left."""
