"""Bradley-Terry where each judge has a bias of their own for the arm shown first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from jaxtyping import Float

from bayesduel.errors import FitError
from bayesduel.models.argument_checks import check_positive
from bayesduel.models.base import derived, sample
from bayesduel.models.bradley_terry import BradleyTerry
from bayesduel.models.vote_arrays import Votes, with_one_label
from bayesduel.votes.comparisons import Comparisons

if TYPE_CHECKING:
    from jax import Array


@dataclass(frozen=True, kw_only=True)
class JudgedBradleyTerry(BradleyTerry):
    """Bradley-Terry where each judge has a bias of their own for the arm shown first.

    The difference of utilities grows, for the arm shown first, by the bias of the judge
    of the vote, first_advantage + judge_bias_j with judge_bias_j ~ Normal(0,
    judge_spread), judge_spread ~ HalfNormal(spread_scale), and first_advantage ~
    Normal(0, order_scale).
    Judges with few votes borrow from the others (partial pooling). In rows that the
    column ``neutral`` marks there is no bias.

    Parameters
    ----------
    spread_scale : float
        Standard deviation of the half-normal prior of ``judge_spread``.
    order_effect : bool
        Always True.
    prior_scale, zero_sum, learn_scale, ties, tie_scale, order_scale
        As in :class:`BradleyTerry`.
    covariates, covariate_scale, residual
        As in :class:`BradleyTerry`.

    Examples
    --------
    >>> from bayesduel.inference import fit, parameter_summary
    >>> from bayesduel.votes import Comparisons
    >>> votes = Comparisons.from_votes(
    ...     ["tea", "milk", "tea"],
    ...     ["milk", "tea", "milk"],
    ...     ["left", "left", "right"],
    ...     columns={"judge": ["ann", "ann", "bob"]},
    ... )
    >>> found = fit(JudgedBradleyTerry(), votes, method="nuts", num_draws=100)
    >>> [row["parameter"] for row in parameter_summary(found)][:2]
    ['first_advantage', 'judge_bias[ann]']
    """

    order_effect: bool = True
    spread_scale: float = 1.0

    title: ClassVar[str] = "Bradley-Terry with judges"
    reads: ClassVar[tuple[str, ...]] = ("judge",)
    """Columns of the votes that it needs."""

    @property
    def usual_method(self) -> str:
        """What "auto" begins with: the joint mode says little of the spread."""
        return "nuts"

    @property
    def utility_decides(self) -> bool:
        """Whether i beats j exactly where its utility is larger, nobody shown first."""
        return True

    def check(self) -> None:
        """Raise ``FitError`` for a parameter out of range."""
        super().check()
        if not self.order_effect:
            rule = "must be True: it is what judges differ in"
            raise FitError("order_effect", rule, self.order_effect)
        check_positive("spread_scale", self.spread_scale)

    def sample_difference(self, votes: Votes) -> Float[Array, " row"]:
        """Sample utilities and biases; return the first arm's lead in every row."""
        import jax.numpy as jnp
        from numpyro import distributions as dist

        lead = super().sample_difference(votes)
        spread = sample("judge_spread", dist.HalfNormal(self.spread_scale))
        normal = dist.Normal(0.0, 1.0).expand([votes.size("judge")]).to_event(1)
        own = spread * sample("standard_bias", normal)
        derived("judge_bias", own)
        return lead + votes.ordered(own[jnp.asarray(votes["judge"])])

    def completed(self, data: Comparisons) -> Comparisons:
        """Return votes as if one judge had cast them all."""
        return with_one_label(data, self.reads)

    def dims(self) -> dict[str, tuple[str, ...]]:
        """Return names of the axes of each named quantity."""
        biases = {"judge_bias": ("judge",), "standard_bias": ("judge",)}
        return super().dims() | biases

    def coords(self, data: Comparisons) -> dict[str, list[str]]:
        """Return labels along the named axes."""
        found: dict[str, Any] = super().coords(data)
        return found | {"judge": list(data.labels.get("judge", ()))}
