"""A model and votes make a posterior: exact, by Laplace, SVI or NUTS."""
