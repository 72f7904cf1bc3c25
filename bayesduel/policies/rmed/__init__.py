"""The family of relative minimum empirical divergence."""
