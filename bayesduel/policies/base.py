"""Where policies were written in JAX: what is imported from here says what to do."""

from typing import NoReturn


def __getattr__(name: str) -> NoReturn:
    """Raise the error that shows the form of today."""
    if name.startswith("__"):
        raise AttributeError(name)
    raise ImportError(
        f"bayesduel.policies.base has no {name}: policies are written in NumPy now, "
        "as a subclass of bayesduel.Policy (of bayesduel.policies.SubsetPolicy for "
        "sets) with start(num_arms, horizon, rng), choose(state, rng, round_), "
        "update(state, rng, round_, first, second, won) and recommend(state, rng); "
        "help(bayesduel.Policy) has an example"
    )
