"""Policies that draw from a posterior."""
