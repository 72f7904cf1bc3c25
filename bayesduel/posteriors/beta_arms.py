"""Independent Beta posteriors of the arms: how often each wins, whoever it meets."""

from dataclasses import dataclass
from typing import Any

from bayesduel.posteriors.priors import check_prior, normalized


@dataclass(frozen=True)
class BetaArms:
    """A Beta distribution per arm, Beta(prior + gains, prior + losses), independently.

    The posterior of a rate of wins, where every arm meets the same opponents. That is
    what reductions to ordinary bandits assume; it holds for no preference matrix once
    the opponents change, so it is a belief of a policy and no model of votes.

    Parameters
    ----------
    prior : float
        Pseudo-gains and pseudo-losses of each arm, above 0, at most 1e8. 1: uniform,
        1/2: Jeffreys.

    Examples
    --------
    >>> from bayesduel import policies
    >>> policies.get("self-sparring", posterior=BetaArms(prior=2)).label
    'Self-Sparring:prior=2'
    """

    prior: Any = 1

    def __post_init__(self) -> None:
        """Keep integral numbers as integers: which program runs depends on that."""
        object.__setattr__(self, "prior", normalized(self.prior))

    @property
    def name(self) -> str:
        """Return what it is called in the parameters of a policy."""
        return "beta"

    def check(self, num_arms: int | None = None) -> None:
        """Raise ``PolicyParameterError`` for a bad prior; no table has a meaning."""
        check_prior(self.prior, num_arms, table=False)
