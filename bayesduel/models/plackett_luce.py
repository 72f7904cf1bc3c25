"""The Plackett-Luce model of rankings."""

from dataclasses import dataclass
from typing import ClassVar

import jax.numpy as jnp
import numpy as np
from jax import Array, lax
from jaxtyping import Bool, Float, Int

from bayesduel.errors import FitError
from bayesduel.models.base import check_kind, count_votes, register_arrays
from bayesduel.models.utilities import UtilityModel
from bayesduel.votes.rankings import Rankings

_NEVER = -1e9  # Utility of the padding behind a ballot.

_TINY = 1e-140
"""Floor of a sum of worths, in units of the best one of the ballot; its square is
still a number, which second derivatives need."""


@register_arrays
@dataclass(frozen=True)
class Ballots:
    """Rankings as a pytree."""

    # Arms of each ballot, the best first; 0 behind its end.
    order: Int[Array | np.ndarray, "row K"]
    present: Bool[Array | np.ndarray, "row K"]  # False behind the end of a ballot.
    # Where a place was really filled; arms tied at the end were only passed over.
    chosen: Bool[Array | np.ndarray, "row K"]
    counts: Float[Array | np.ndarray, "row 1"]
    num_arms: int


@dataclass(frozen=True, kw_only=True)
class PlackettLuce(UtilityModel):
    """Plackett-Luce: the first place is a choice, then the second of the rest, ...

    P(o_1 > o_2 > ... > o_m) = product over t of exp(u_{o_t}) / sum over s >= t of
    exp(u_{o_s}) (Luce 1959, Plackett 1975). A ballot may hold some of the arms only.
    Arms tied at the *end* of a ballot were passed over at every place that was filled:
    a ranking of the best few. Ties further up have no place in this model.

    The unit of prediction is one ballot.

    Parameters
    ----------
    prior_scale, zero_sum, learn_scale
        As in :class:`~bayesduel.models.utilities.UtilityModel`.

    References
    ----------
    R. L. Plackett, "The analysis of permutations", Applied Statistics 24 (1975). D. R.
    Hunter, "MM algorithms for generalized Bradley-Terry models", Annals of Statistics
    32 (2004).

    Examples
    --------
    >>> from bayesduel.models import PlackettLuce
    >>> from bayesduel.votes import Rankings
    >>> from bayesduel.inference import fit
    >>> ballots = Rankings.from_orders([["a", "b", "c"], ["b", "a"], ["a", "c", "b"]])
    >>> posterior = fit(PlackettLuce(), ballots, method="laplace", num_draws=100)
    >>> bool(posterior.probability_of_beating().sel(arm="a", opponent="c") > 0.5)
    True
    """

    title: ClassVar[str] = "Plackett-Luce"
    needs: ClassVar[str] = "rankings"

    def __call__(self, ballots: Ballots) -> Float[Array, "row 1"]:
        """Run the NumPyro model; return log P(ballot) per row."""
        utility = self.sample_utilities(ballots.num_arms)
        worth = jnp.where(ballots.present, utility[ballots.order], _NEVER)
        # log sum over s >= t of exp(worth_s). A cumulative log-sum-exp would do, but
        # its second derivative takes long to compile.
        top = lax.stop_gradient(jnp.max(worth, axis=1, keepdims=True))
        later = np.tri(worth.shape[1], dtype=bool).astype(worth.dtype)
        left = jnp.log(jnp.maximum(jnp.exp(worth - top) @ later, _TINY)) + top
        stages = jnp.where(ballots.chosen, worth - left, 0.0)
        log_probability = jnp.sum(stages, axis=1, keepdims=True)
        return count_votes(jnp.asarray(ballots.counts), log_probability)

    def arrays(self, data: Rankings) -> Ballots:
        """Check data against the model; return them as a pytree of NumPy arrays."""
        check_kind(self, data, Rankings)
        self.check()
        order = np.argsort(
            np.where(data.places > 0, data.places, data.num_arms + 1),
            axis=1,
            kind="stable",
        )
        sorted_places = np.take_along_axis(data.places, order, axis=1)
        present = sorted_places > 0
        last = data.places.max(axis=1, keepdims=True)
        shared = np.zeros_like(present)
        shared[:, :-1] = sorted_places[:, :-1] == sorted_places[:, 1:]
        if np.any(shared & present & (sorted_places < last)):
            row = int(np.argmax(np.any(shared & present & (sorted_places < last), 1)))
            rule = f"ballot {row} ({data.row_names[row]}) has a tie above its end, for "
            rule += "which PlackettLuce has no place"
            remedy = "compare pairs instead: fit(BradleyTerry(ties=True), "
            remedy += "rankings.to_comparisons())"
            raise FitError("data", rule, index=row, remedy=remedy)
        tied_at_end = (sorted_places == last) & np.any(
            shared & present & (sorted_places == last), axis=1, keepdims=True
        )
        return Ballots(
            order=np.where(present, order, 0).astype(np.int32),
            present=present,
            chosen=present & ~tied_at_end,
            counts=data.counts[:, None],
            num_arms=data.num_arms,
        )

    def outcomes(self, data: Rankings) -> tuple[str, ...]:
        """Return the one outcome of a row: the ballot as it is."""
        return ("ballot",)
