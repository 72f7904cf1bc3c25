"""Tests of what a fit takes for granted of votes: order, judges, one scale.

A test says no with a probability of at most :data:`FALSE_ALARM` where the model is
right. That of an order effect is Rao's score test, or one pair by pair. The others
compare the votes with votes drawn anew from the posterior (posterior predictive checks,
Gelman, Meng and Stern 1996), which raise fewer false alarms than that, since the
posterior knows the votes.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from jaxtyping import Float, Int, Num
from scipy.sparse import csr_array

from bayesduel.diagnostics.findings import FALSE_ALARM, Finding
from bayesduel.diagnostics.order_effect import order_test, why_not_tested
from bayesduel.diagnostics.total_order import expected_cycles, probability_of_majority
from bayesduel.inference.numpyro_models import log_probabilities_of
from bayesduel.inference.predictions import pairs_of, votes_drawn
from bayesduel.inference.seeds import generator_of
from bayesduel.models.identifiability import NO_ORDER
from bayesduel.models.pairwise_beta import PairwiseBeta
from bayesduel.models.pairwise_utilities import PairwiseUtilityModel
from bayesduel.models.vote_arrays import is_whole
from bayesduel.votes.comparisons import NEUTRAL, Comparisons

if TYPE_CHECKING:
    from bayesduel.inference.fits.fit_result import Fit

_REPLICATES = 199
_MOST_ARMS = 500
"""Beyond, triples take too long to look at."""

_BLOCK = 10**7
"""Log probabilities held at once."""

_SEED = 20_230_517


def vote_findings(posterior: Fit) -> list[Finding]:
    """Return the three tests, of fits to ``Comparisons``; else nothing."""
    if not isinstance(posterior.data, Comparisons):
        return []
    return [of_order(posterior), *of_replicates(posterior)]


def _untested(name: str, why: str) -> Finding:
    return Finding(name, "not tested", good=True, words=why)


def _p(value: float) -> str:
    return f"p = {value:.3f}" if value >= 0.001 else "p < 0.001"


def of_order(posterior: Fit) -> Finding:
    """Return the test of an order effect that the model has not."""
    name, data, model = "order effect", posterior.data, posterior.model
    if getattr(model, "order_effect", False):
        told = [each for each in posterior.remarks if each.startswith(NO_ORDER)]
        has = "The model has one, "
        return _untested(name, f"{has}but {told[0]}." if told else "The model has one.")
    if not isinstance(model, PairwiseUtilityModel | PairwiseBeta):
        return _untested(name, "The model may have one of its own.")
    shown = data.columns.get(NEUTRAL, np.zeros(len(data.first))) == 0
    if not data.order_known or not data.counts[shown].any():
        return _untested(name, "The votes do not say which arm was shown first.")
    if why := why_not_tested(posterior):
        return Finding(
            name,
            f"not tested: {why}",
            good=True,
            words="Show pairs in both orders, so that votes tell it from utilities.",
        )
    found = order_test(posterior)
    good = found.p_value > FALSE_ALARM
    return Finding(
        name,
        f"the arm shown first gains {found.advantage:.2f} in utility, standard error "
        f"{found.standard_error:.2f} ({_p(found.p_value)})",
        good,
        "Noise explains it." if good else "The model knows nothing of it.",
        "fit with order_effect=True (--order-effect), with a model that has one",
        found.p_value,
    )


def of_replicates(posterior: Fit) -> list[Finding]:
    """Return the tests of judges and of circles, which share votes drawn anew."""
    data = posterior.data
    judges, circles = _why_no_judges(posterior), _why_no_circles(posterior)
    found = [_untested("judges", judges), _untested("circles", circles)]
    if judges and circles:
        return found
    tests = _Judges(data), _Circles(data)
    rng = generator_of(_SEED)
    observed: list[list[float]] = [[], []]
    drawn: list[list[float]] = [[], []]
    for probabilities in _probabilities(posterior):
        with np.errstate(divide="ignore"):
            votes = votes_drawn(rng, data.counts, np.log(probabilities))
        for place, why in enumerate((judges, circles)):
            if not why:
                of = tests[place].statistics
                observed[place].extend(of(data.counts[None], probabilities))
                drawn[place].extend(of(votes, probabilities))
    for place in (0, 1):
        if observed[place]:
            seen, noise = np.array(observed[place]), np.array(drawn[place])
            # The votes count as one of the replicates: never 0.
            above = noise >= seen * (1.0 - 1e-12)
            p_value = float((1 + above.sum()) / (1 + len(noise)))
            found[place] = tests[place].finding(
                posterior, p_value, float(seen.mean()), float(noise.mean())
            )
    return found


def _why_no_judges(posterior: Fit) -> str:
    if "judge" not in posterior.data.labels:
        return "No column says who judged."
    if len(posterior.data.labels["judge"]) < 2:
        return "There is one judge."
    return _why_no_replicates(posterior)


def _why_no_circles(posterior: Fit) -> str:
    if posterior.num_arms < 3:
        return "Two arms have none."
    if posterior.num_arms > _MOST_ARMS:
        return f"More than {_MOST_ARMS} arms have too many triples."
    if posterior.model.utilities(posterior.flat_draws()) is None:
        return "The model allows them; see diagnostics.transitivity."
    return _why_no_replicates(posterior)


def _why_no_replicates(posterior: Fit) -> str:
    if not is_whole(posterior.data, posterior.arrays):
        return "Weighted or split votes cannot be drawn anew."
    pairs = pairs_of(posterior.model, posterior.data, posterior.arrays)
    return "" if pairs else "The model has rows of its own."


def _probabilities(posterior: Fit) -> Iterator[Float[np.ndarray, "draw row 3"]]:
    """Yield P(outcome) of the rows of the data for some draws, in blocks."""
    model, arrays = posterior.model, posterior.arrays
    flat = posterior.flat_draws()
    kept = np.linspace(0, posterior.num_draws - 1, _REPLICATES).astype(np.int64)
    rows, turned = _rows_of_data(posterior)
    size = max(1, _BLOCK // max(arrays.counts.size, 3 * len(rows)))
    for start in range(0, len(kept), size):
        block = {name: each[kept[start : start + size]] for name, each in flat.items()}
        own = np.exp(log_probabilities_of(model, arrays, block))[:, rows]
        found = np.zeros((*own.shape[:2], 3))
        found[..., : own.shape[2]] = own
        found[:, turned] = found[:, turned][..., [1, 0, 2]]
        yield found / found.sum(axis=-1, keepdims=True)


def _rows_of_data(
    posterior: Fit,
) -> tuple[Int[np.ndarray, " row"], Int[np.ndarray, " turned"]]:
    """Return the row of the arrays for each of the data, and which of them is turned.

    A model that reads no columns has a row per pair, perhaps for both orders at once.
    """
    data, number = posterior.data, posterior.num_arms
    pairs = pairs_of(posterior.model, data, posterior.arrays)
    assert pairs is not None
    same = map(np.array_equal, pairs, (data.first, data.second))
    if len(pairs.first) == len(data.first) and all(same):
        return np.arange(len(data.first)), np.zeros(0, dtype=np.int64)
    codes = (pairs.first * number + pairs.second).tolist()
    place = {code: row for row, code in enumerate(codes)}
    straight = (data.first * number + data.second).tolist()
    back = (data.second * number + data.first).tolist()
    turned = np.array([code not in place for code in straight], dtype=bool)
    rows = [
        place[other] if far else place[one]
        for one, other, far in zip(straight, back, turned, strict=True)
    ]
    return np.array(rows, dtype=np.int64), np.flatnonzero(turned)


class _Judges:
    """Whether judges differ: in what they gain the arm shown first, or in agreement.

    For each judge the sum over votes of weight times (what was said minus what was
    expected), the weight 1 for the arm shown first, or what was expected: a judge who
    votes at random has a negative sum. Cochran's Q of these sums, which does not see
    what all judges have in common.
    """

    def __init__(self, data: Comparisons) -> None:
        rows = len(data.first)
        judge = data.columns.get("judge", np.zeros(rows, dtype=np.int64))
        self.names = data.labels.get("judge", ("",))
        entries = np.ones(rows), (np.arange(rows), judge)
        self.member = csr_array(entries, shape=(rows, len(self.names)))
        self.counts = data.counts
        neutral = data.columns.get(NEUTRAL, np.zeros(len(data.first)))
        self.shown = (1.0 - neutral) * data.order_known

    def sums(
        self, votes: Num[np.ndarray, "sets row 3"], p: Float[np.ndarray, "draw row 3"]
    ) -> Iterator[
        tuple[Float[np.ndarray, "draw judge"], Float[np.ndarray, "draw judge"]]
    ]:
        """Yield sums by judge, and their variances, for both weights."""
        number = self.counts.sum(axis=1)
        lead = p[..., 0] - p[..., 1]
        surprise = votes[..., 0] - votes[..., 1] - number * lead
        variance = number * (p[..., 0] + p[..., 1] - lead**2)
        for weight in (self.shown, lead):
            yield (
                (weight * surprise) @ self.member,
                (weight**2 * variance) @ self.member,
            )

    def statistics(
        self, votes: Num[np.ndarray, "sets row 3"], p: Float[np.ndarray, "draw row 3"]
    ) -> Float[np.ndarray, " draw"]:
        """Return Cochran's Q, of both kinds together."""
        total = np.zeros(len(p))
        for sums, variances in self.sums(votes, p):
            safe = np.where(variances > 0, variances, 1.0)
            every = variances.sum(axis=1)
            common = sums.sum(axis=1) ** 2 / np.where(every > 0, every, 1.0)
            total += np.sum(sums**2 / safe, axis=1) - common
        return total

    def finding(self, posterior: Fit, p: float, seen: float, noise: float) -> Finding:
        """Return what was found, with the judge who stands out most."""
        means = [each.mean(axis=0) for each in _probabilities(posterior)]
        center = np.mean(means, axis=0)[None]
        most = []
        for sums, variances in self.sums(self.counts[None], center):
            share = variances / max(variances.sum(), 1e-300)
            apart = sums - share * sums.sum()
            most.append((apart / np.sqrt(np.maximum(variances, 1e-300)))[0])
        kind = int(np.argmax([np.max(np.abs(each)) for each in most]))
        judge = int(np.argmax(np.abs(most[kind])))
        how = (
            ("favors the arm shown second", "favors the arm shown first"),
            ("agrees with the others least", "agrees with the others most"),
        )[kind][int(most[kind][judge] > 0)]
        good = p > FALSE_ALARM
        remedy = "fit with JudgedBradleyTerry (--judge)"
        if kind == 1 or "judge" in getattr(posterior.model, "reads", ()):
            remedy = "look at this judge's votes; leave them out, or let a model say so"
        return Finding(
            "judges",
            f"{self.names[judge]} {how}; all judges differ {seen / noise:.1f} times as "
            f"much as noise would make them ({_p(p)})",
            good,
            "Noise explains it." if good else "The model takes them for alike.",
            remedy,
            p,
        )


class _Circles:
    """Whether more cycles i > j > k > i are expected than on one scale."""

    def __init__(self, data: Comparisons) -> None:
        self.first, self.second, self.num_arms = data.first, data.second, data.num_arms

    def statistics(
        self, votes: Num[np.ndarray, "sets row 3"], p: Float[np.ndarray, "draw row 3"]
    ) -> list[float]:
        """Return the expected number of cycles, with a Beta per pair."""
        if len(votes) < len(p):  # The votes themselves: the same for all draws.
            return self.statistics(votes, votes) * len(p)
        found = []
        for each in votes:
            wins = np.zeros((self.num_arms, self.num_arms))
            np.add.at(wins, (self.first, self.second), each[:, 0])
            np.add.at(wins, (self.second, self.first), each[:, 1])
            better = probability_of_majority(wins, 1.0)
            found.append(expected_cycles(better, wins + wins.T > 0))
        return found

    def finding(self, posterior: Fit, p: float, seen: float, noise: float) -> Finding:
        """Return what was found."""
        good = p > FALSE_ALARM
        return Finding(
            "circles",
            f"{seen:.1f} expected, {noise:.1f} from noise alone ({_p(p)})",
            good,
            "One scale will do." if good else "No one scale holds these arms.",
            "fit PairwiseBeta (--model beta), and see diagnostics.transitivity",
            p,
        )
