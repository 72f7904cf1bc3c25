"""The engine for CPUs: one run after the other, compiled by Numba."""
