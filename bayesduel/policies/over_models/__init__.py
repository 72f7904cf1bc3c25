"""Rules that sample from a posterior of a NumPyro model: states in JAX, one file each.

Nothing here is imported before such a policy is played.
"""
