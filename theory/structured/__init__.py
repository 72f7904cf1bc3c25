"""Lower bounds when the preferences are known to obey a model.

`theory.structured.bounds` has the program and its result. Utility models are solved by
`interior_point` over `utility_alternatives`, strong stochastic transitivity by
`transitive` over `orders`. `projection` fits a model to a matrix that obeys none.
"""
