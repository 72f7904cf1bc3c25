"""Log densities of models with their derivatives written down, and Newton's method."""
