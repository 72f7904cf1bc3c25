"""Lower bounds when the preferences are known to obey a model.

`theory.structured.bounds` has the program, its result and its solution under utility
models; strong stochastic transitivity is solved by `transitive` over `orders`.
`projection` fits a model to a matrix that obeys none.
"""
