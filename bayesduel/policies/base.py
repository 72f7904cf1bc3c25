"""Where policies were written in JAX: what is imported from here says what to do."""

from typing import NoReturn

_WERE_HERE = ("Policy", "policy_class", "one_round", "most_beaten", "others_mask")


def __getattr__(name: str) -> NoReturn:
    """Raise the error that shows the form of today."""
    if name not in _WERE_HERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    raise ImportError(
        f"bayesduel.policies.base has no {name}: policies are written in NumPy now, "
        "as a subclass of bayesduel.Policy (of bayesduel.policies.SubsetPolicy for "
        "sets) with start(num_arms, horizon, rng), choose(state, rng, round_), "
        "update(state, rng, round_, first, second, won) and recommend(state, rng); "
        "help(bayesduel.Policy) has an example"
    )
