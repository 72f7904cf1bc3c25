"""Bradley-Terry with judges: a bias of their own for the arm shown first, and more."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from jaxtyping import Float

from bayesduel.errors import FitError
from bayesduel.models.argument_checks import check_real
from bayesduel.models.base import derived, sample
from bayesduel.models.bradley_terry import BradleyTerry
from bayesduel.models.vote_arrays import Votes, with_one_label
from bayesduel.votes.comparisons import Comparisons
from theory.arguments import true_or_false

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

    With ``discrimination`` judges also differ in how clearly they see what arms differ
    in: the difference of utilities is multiplied by discrimination_j, near 0 for a
    judge who votes at random and above 1 for one who is surer than most, log
    discrimination_j ~ Normal(0, discrimination_spread), conditioned on a sum of 0, and
    discrimination_spread ~ HalfNormal(discrimination_scale). The bias is not
    multiplied. Utilities are those of a judge with discrimination 1, the geometric
    mean of all judges, and so are preferences. The same roles as in item
    response theory (Birnbaum 1968) and in crowd-BT (Chen et al. 2013).

    Parameters
    ----------
    spread_scale : float
        Standard deviation of the half-normal prior of ``judge_spread``.
    discrimination : bool
        Judges differ in discrimination as well.
    discrimination_scale : float
        Standard deviation of the half-normal prior of ``discrimination_spread``.
    order_effect : bool
        Always True.
    prior_scale, zero_sum, learn_scale, ties, tie_scale, order_scale
        As in :class:`BradleyTerry`.
    covariates, covariate_scale, residual, contest_covariates, contest_scale
        As in :class:`BradleyTerry`.

    References
    ----------
    A. Birnbaum, "Some latent trait models and their use in inferring an examinee's
    ability", in F. M. Lord and M. R. Novick, Statistical Theories of Mental Test Scores
    (1968). X. Chen, P. N. Bennett, K. Collins-Thompson and E. Horvitz, "Pairwise
    ranking aggregation in a crowdsourced setting", WSDM 2013.

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
    >>> posterior = fit(JudgedBradleyTerry(), votes, method="laplace", num_draws=100)
    >>> [row["parameter"] for row in parameter_summary(posterior)][:2]
    ['first_advantage', 'judge_bias[ann]']
    """

    order_effect: bool = True
    spread_scale: float = 1.0
    discrimination: bool = False
    discrimination_scale: float = 0.5

    title: ClassVar[str] = "Bradley-Terry with judges"
    reads: ClassVar[tuple[str, ...]] = ("judge",)
    """Columns of the votes that it needs."""

    auxiliary: ClassVar[tuple[str, ...]] = (
        *BradleyTerry.auxiliary,
        "standard_bias",
        "standard_discrimination",
    )

    # The joint mode says little about the spread.
    usual_method: ClassVar[str] = "nuts"  # pyright: ignore[reportIncompatibleMethodOverride]

    # Nobody shown first.
    utility_decides: ClassVar[bool] = True  # pyright: ignore[reportIncompatibleMethodOverride]

    def check(self) -> None:
        """Raise ``FitError`` for a parameter out of range."""
        super().check()
        if not self.order_effect:
            rule = "must be True: it is what judges differ in"
            raise FitError("order_effect", rule, self.order_effect)
        true_or_false(self.discrimination, "discrimination", kind=FitError)
        check_real("spread_scale", self.spread_scale)
        check_real("discrimination_scale", self.discrimination_scale)

    def sample_difference(self, votes: Votes) -> Float[Array, " row"]:
        """Sample utilities and biases; return the first arm's lead in every row."""
        import jax.numpy as jnp
        from numpyro import distributions as dist

        lead = super().sample_difference(votes)
        normal = dist.Normal(0.0, 1.0).expand([votes.size("judge")]).to_event(1)
        spread = sample("judge_spread", dist.HalfNormal(self.spread_scale))
        bias = derived("judge_bias", spread * sample("standard_bias", normal))
        return lead + votes.ordered(bias[jnp.asarray(votes["judge"])])

    def sample_gap(self, votes: Votes) -> Float[Array, " row"]:
        """Sample utilities; return their difference as the judge of a row sees it."""
        import jax.numpy as jnp
        from numpyro import distributions as dist

        gap, number = super().sample_gap(votes), votes.size("judge")
        # With a single judge, utilities suffice.
        if not self.discrimination or number == 1:
            return gap
        spread = sample(
            "discrimination_spread", dist.HalfNormal(self.discrimination_scale)
        )
        normal = dist.ZeroSumNormal(1.0, event_shape=(number,))
        logs = spread * sample("standard_discrimination", normal)
        discrimination = derived("discrimination", jnp.exp(logs))
        return gap * discrimination[jnp.asarray(votes["judge"])]

    def completed(self, data: Comparisons) -> Comparisons:
        """Return votes as if one judge had cast them all."""
        return with_one_label(data, self.reads)

    def dims(self) -> dict[str, tuple[str, ...]]:
        """Return names of the axes of each named quantity."""
        of_judges = (
            "judge_bias", "discrimination", "standard_bias", "standard_discrimination"
        )  # fmt: skip
        return super().dims() | dict.fromkeys(of_judges, ("judge",))

    def coords(self, data: Comparisons) -> dict[str, list[str]]:
        """Return labels along the named axes."""
        coords: dict[str, Any] = super().coords(data)
        return coords | {"judge": list(data.labels.get("judge", ()))}
