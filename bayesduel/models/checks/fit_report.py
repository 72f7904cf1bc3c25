"""Whether a fit can be believed: its draws, its model, its judges.

A test of the votes says no with a probability of at most :data:`FALSE_ALARM` where the
model is right. That of an order effect is Rao's score test, or one pair by pair. The
others compare the votes with votes drawn anew from the posterior (posterior predictive
checks, Gelman, Meng and Stern 1996), which raise fewer false alarms than that, since
the posterior knows the votes.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int, Num

from bayesduel.errors import FitError
from bayesduel.models.argument_checks import check_posterior
from bayesduel.models.fit.chain_checks import (
    LARGEST_R_HAT,
    LEAST_BFMI,
    LEAST_DRAWS_PER_CHAIN,
    MOST_DIVERGING,
    check_chains,
)
from bayesduel.models.fit.draws import generator_of
from bayesduel.models.fit.fit_result import Fit
from bayesduel.models.identifiability import NO_ORDER
from bayesduel.models.pairwise_beta import PairwiseBeta
from bayesduel.models.utilities import PairwiseUtilityModel
from bayesduel.models.vote_arrays import is_whole
from bayesduel.votes.comparisons import NEUTRAL, Comparisons
from theory.arguments import true_or_false

# Probability, at most, with which a test speaks against a fit that is right.
FALSE_ALARM = 0.01
# Findings that are tests of what a model takes for granted.
OF_VOTES = ("order effect", "judges", "circles")


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    # What, what was found, and what that means.
    name: str
    value: str
    good: bool  # False where it speaks against the fit.
    words: str
    remedy: str = ""  # Advice if it is not good.
    # Of a test, which is not good up to :data:`FALSE_ALARM`; None where nothing was
    # tested.
    p_value: float | None = None

    @property
    def mark(self) -> str:
        """How it is marked: "ok ", "BAD", or "-  " for a test that does not apply."""
        if self.name in OF_VOTES and self.p_value is None:
            return "-  "
        return "ok " if self.good else "BAD"

    def __str__(self) -> str:
        return f"{self.mark}  {self.name}: {self.value}. {self.words}"


@dataclass(frozen=True)
class Report:
    """Whether a fit can be trusted, in a few lines of text; ``print`` it."""

    title: str
    findings: tuple[Finding, ...]
    remarks: tuple[str, ...]

    @property
    def good(self) -> bool:
        """Whether nothing speaks against the fit."""
        return all(finding.good for finding in self.findings)

    @property
    def verdict(self) -> str:
        """Say whether to rely on the fit."""
        if self.good:
            return "Nothing speaks against this fit."
        names = ", ".join(finding.name for finding in self.findings if not finding.good)
        return f"Do not rely on this fit yet: see {names}."

    def against(self) -> str:
        """Say in a line what speaks against the fit; empty where nothing does."""
        return "; ".join(
            f"{bad.name}: {bad.value}; {bad.words} What to do: {bad.remedy}"
            for bad in self.findings
            if not bad.good
        )

    def as_record(self) -> dict[str, Any]:
        """Return the report as plain values: ``good``, ``verdict`` and ``findings``."""
        findings = [
            {
                "name": finding.name,
                "good": finding.good,
                "p_value": finding.p_value,
                "value": finding.value,
                "words": finding.words,
                "remedy": "" if finding.good else finding.remedy,
            }
            for finding in self.findings
        ]
        return {"good": self.good, "verdict": self.verdict, "findings": findings}

    def short(self) -> str:
        """Return five lines: the verdict, the computation, and the tests of the votes.

        Each test speaks against a fit that is right in at most 1 of 100 data sets.
        """
        computed = [
            finding for finding in self.findings if finding.name not in OF_VOTES
        ]
        bad = [finding for finding in computed if not finding.good]
        words = "; ".join(
            f"{finding.name}: {finding.value}. What to do: {finding.remedy}"
            for finding in bad
        )
        looked = ", ".join(finding.name for finding in computed) or "exact"
        lines = [
            self.verdict,
            f"  {'BAD' if bad else 'ok '}  computation: {words or looked}",
        ]
        for finding in self.findings:
            if finding.name in OF_VOTES:
                advice = "" if finding.good else f" What to do: {finding.remedy}"
                lines.append(f"  {finding}{advice}")
        return "\n".join(lines)

    def __str__(self) -> str:
        lines = [self.title]
        for finding in self.findings:
            lines.append(f"  {finding}")
            if not finding.good and finding.remedy:
                lines.append(f"       What to do: {finding.remedy}")
        lines += [f"  note {remark}" for remark in self.remarks]
        return "\n".join([*lines, self.verdict])


_REPLICATES = 199
_MOST_ARMS = 500  # Beyond, triples take too long to look at.
_BLOCK = 10**7  # Log probabilities held at once.

_SEED = 20_230_517


def report(posterior: Fit, *, with_loo: bool = True, with_votes: bool = True) -> Report:
    """Check whether a fit can be trusted: its draws, its model, its judges.

    nuts: R-hat (rank-normalized), effective draws in bulk and tails, divergences, BFMI.
    laplace and svi: whether the search converged, and whether the draws that were kept
    are those of the posterior: for draws resampled by importance Pareto k and the
    effective number of proposals, for plain ones (``resample=False``) how far weights
    would move means and standard deviations; a bad k speaks against both. All: the
    share of votes with a bad Pareto k in :func:`loo`.

    Of votes on pairs also what the model takes for granted: that the arm shown first
    has no advantage (where the order is known), that judges are alike (where a column
    ``judge`` says who they were), and that one scale holds all arms, without circles.
    Each of these tests speaks against a model that is right with a probability of at
    most 0.01.

    Parameters
    ----------
    posterior : Fit
    with_loo : bool
        Also look at leave-one-vote-out weights, which takes longest.
    with_votes : bool
        Also test what the model takes for granted of votes.

    Returns
    -------
    Report
        ``print(report(posterior))`` says in words what was found and what to do;
        ``good`` says whether anything speaks against the fit, and ``short()`` the
        same in five lines.

    Examples
    --------
    >>> from bayesduel.diagnostics import report
    >>> from bayesduel.votes import Comparisons
    >>> from bayesduel.models import PairwiseBeta
    >>> from bayesduel.inference import fit
    >>> votes = Comparisons.from_wins([[0, 7, 9], [3, 0, 6], [1, 4, 0]])
    >>> print(report(fit(PairwiseBeta(), votes)))
    Fit(Beta per pair by exact, 3 arms, 30 votes, 4 x 1000 draws)
      ok   leave-one-out: no vote of 30 has Pareto k above 0.70. Removing any one vote
    changes the posterior little.
      -    order effect: not tested. The votes do not say which arm was shown first.
      -    judges: not tested. No column says who judged.
      -    circles: not tested. The model allows them; see diagnostics.transitivity.
    Nothing speaks against this fit.
    """
    check_posterior(posterior)
    true_or_false(with_loo, "with_loo", kind=FitError)
    true_or_false(with_votes, "with_votes", kind=FitError)
    findings: list[Finding] = []
    if posterior.method == "nuts":
        findings += _of_chains(posterior)
    elif posterior.method in ("laplace", "svi"):
        findings += _of_approximation(posterior)
    whole = is_whole(posterior.data, posterior.arrays)
    if with_loo and whole and posterior.data.num_votes >= 2:
        findings.append(_of_single_votes(posterior))
    tested = isinstance(posterior.data, Comparisons) and posterior.data.num_votes
    if with_votes and tested:
        findings += [_of_order(posterior), *_of_replicates(posterior)]
    return Report(repr(posterior), tuple(findings), posterior.remarks)


def _of_chains(posterior: Fit) -> list[Finding]:
    check = check_chains(posterior.draws, posterior.sample_stats)
    if check is None:
        return [
            Finding(
                "chains",
                f"{posterior.num_draws // posterior.num_chains} draws each",
                False,
                "So few say nothing of whether the chains agree.",
                "run longer: num_draws (--draws)",
            )
        ]
    findings = []
    if check.r_hat is not None:
        findings.append(
            Finding(
                "R-hat",
                f"at most {check.r_hat.value:.3f} ({check.r_hat.name})",
                check.r_hat.value <= LARGEST_R_HAT,
                "Chains agree up to 1.01.",
                "run longer: num_draws (--draws), num_warmup (--warmup); if it stays, "
                "the posterior has several modes or a narrow ridge: tighten priors "
                "(--prior-scale), or say zero_sum=True, as the command does",
            )
        )
    for part, size in (("middle", check.bulk), ("tails", check.tail)):
        findings.append(
            Finding(
                f"effective draws ({part})",
                f"at least {size.value:.0f} ({size.name})",
                size.value >= check.least,
                f"{check.least} are enough for the {part} of each quantity.",
                f"about {1.2 * check.least / max(size.value, 1.0):.0f} times as many "
                "draws: num_draws (--draws); or zero_sum=True, as the command does, or "
                "dense_mass=True in Python",
            )
        )
    words = "Some region is too narrow for the step size, and is missing."
    if not check.diverging:
        words = "The sampler met no place that it could not enter."
    elif check.remark:
        words = f"Up to {MOST_DIVERGING:g} of all move no interval."
    return [
        *findings,
        Finding(
            "divergences",
            f"{check.diverging} of {check.draws} draws",
            check.diverging <= MOST_DIVERGING * check.draws,
            words,
            "raise target_acceptance (--target-acceptance) to 0.95 or 0.99; if they "
            "stay, tighten the priors (--prior-scale)",
        ),
        Finding(
            "energy",
            f"BFMI at least {check.bfmi:.2f}",
            check.bfmi >= LEAST_BFMI,
            f"Above {LEAST_BFMI} the sampler explores the tails.",
            "the prior has heavier tails than the sampler can follow: a tighter one "
            "(--prior-scale), num_warmup (--warmup) of 2000 or more, or no learned "
            "scale",
        ),
    ]


def _of_approximation(posterior: Fit) -> list[Finding]:
    # Judges the draws that the user has: resampled, or of the fitted distribution.
    ended = Finding(
        "convergence",
        "reached" if posterior.converged else "not reached",
        posterior.converged,
        "The search ended where it should."
        if posterior.converged
        else "The search for the normal distribution did not end.",
        "see the notes, or use method='nuts' (--method nuts)",
    )
    correction = posterior.correction
    if correction is None:
        return [ended]
    k, shift = correction.pareto_k, correction.shift
    by = f"means are off by up to {shift:.2f} sd ({correction.shifted})"
    if correction.resampled:
        size = correction.effective_proposals
        least = LEAST_DRAWS_PER_CHAIN * posterior.num_chains
        fit = Finding(
            "importance resampling",
            f"Pareto k {k:.2f}, weights of {correction.num_proposals} proposals up to "
            f"{correction.largest_weight:.1f} times their mean, worth {size:.0f} equal "
            "ones",
            size >= least,
            f"Weights corrected the normal distribution, in which {by}."
            if size >= least
            else f"Too few proposals matter; {least} are enough.",
            "use method='nuts' (--method nuts), at least to compare the intervals that "
            "matter",
        )
    elif not correction.has_good_weights or correction.wanted:
        mends = "no weights can mend" if correction.wanted else "no weights are to mend"
        fit = Finding(
            "normal approximation",
            f"Pareto k {k:.2f}",
            False,
            "The posterior is far from normal, or has very many dimensions, and "
            f"{mends} the draws; by what they say {by}, perhaps more.",
            correction.remedy,
        )
    else:
        close = "is close enough" if correction.fits else "weights could correct"
        fit = Finding(
            "normal approximation",
            f"Pareto k {k:.2f}, {by}, standard deviations by a factor of "
            f"{correction.spread:.2f}",
            correction.fits,
            f"The draws are those of the normal distribution, which {close}.",
            "resample=True, which is the default",
        )
    return [ended, fit]


def _of_single_votes(posterior: Fit) -> Finding:
    from bayesduel.models.checks.cross_validation import loo

    left_out = loo(posterior)
    bad = int(np.sum(np.asarray(left_out.pareto_k) > left_out.good_k))
    number = left_out.n_data_points
    share = f"{bad} of {number} votes have" if bad else f"no vote of {number} has"
    words = "Removing any one vote changes the posterior little."
    if bad:
        words = "Single votes move the posterior too much to be left out by weights."
    return Finding(
        "leave-one-out",
        f"{share} Pareto k above {left_out.good_k:.2f}",
        bad == 0,
        words,
        "do not compare models by loo here; more draws, a stronger prior, or a model "
        "that shares information between pairs",
    )


def _untested(name: str, why: str) -> Finding:
    return Finding(name, "not tested", good=True, words=why)


def _p(value: float) -> str:
    return f"p = {value:.3f}" if value >= 0.001 else "p < 0.001"


def _of_order(posterior: Fit) -> Finding:
    # The test of an order effect that the model has not.
    from bayesduel.models.checks.vote_tests import order_test, why_not_tested

    name, data, model = "order effect", posterior.data, posterior.model
    if getattr(model, "order_effect", False):
        remarks = [
            remark for remark in posterior.remarks if remark.startswith(NO_ORDER)
        ]
        has = "The model has one, "
        return _untested(
            name, f"{has}but {remarks[0]}." if remarks else "The model has one."
        )
    if not isinstance(model, PairwiseUtilityModel | PairwiseBeta):
        return _untested(name, "The model may have one of its own.")
    shown = data.columns.get(NEUTRAL, np.zeros(len(data.first))) == 0
    if not data.order_known or not data.counts[shown].any():
        return _untested(name, "The votes do not say which arm was shown first.")
    if why := why_not_tested(posterior):
        words = "Show pairs in both orders, so that votes tell it from utilities."
        return Finding(name, f"not tested: {why}", good=True, words=words)
    test = order_test(posterior)
    good = test.p_value > FALSE_ALARM
    return Finding(
        name,
        f"the arm shown first gains {test.advantage:.2f} in utility, standard error "
        f"{test.standard_error:.2f} ({_p(test.p_value)})",
        good,
        "Noise explains it." if good else "The model knows nothing of it.",
        "fit with order_effect=True (--order-effect), with a model that has one",
        test.p_value,
    )


def _of_replicates(posterior: Fit) -> list[Finding]:
    # The tests of judges and of circles, which share votes drawn anew.
    from bayesduel.models.fit.predictions import pairs_of, votes_drawn

    data = posterior.data
    no_votes = ""
    if not is_whole(data, posterior.arrays):
        no_votes = "Weighted or split votes cannot be drawn anew."
    elif not pairs_of(posterior.model, data, posterior.arrays):
        no_votes = "The model has rows of its own."
    judges = circles = no_votes
    if "judge" not in data.labels:
        judges = "No column says who judged."
    elif len(data.labels["judge"]) < 2:
        judges = "There is one judge."
    if posterior.num_arms < 3:
        circles = "Two arms have none."
    elif posterior.num_arms > _MOST_ARMS:
        circles = f"More than {_MOST_ARMS} arms have too many triples."
    elif posterior.model.utilities(posterior.flat_draws()) is None:
        circles = "The model allows them; see diagnostics.transitivity."
    findings = [_untested("judges", judges), _untested("circles", circles)]
    tests: list[_Judges | _Circles] = [] if judges else [_Judges(data)]
    tests += [] if circles else [_Circles(data)]
    if not tests:
        return findings
    rng = generator_of(_SEED)
    sums: list[tuple[list[float], list[float]]] = [([], []) for _ in tests]
    for probabilities in _probabilities(posterior):
        with np.errstate(divide="ignore"):
            votes = votes_drawn(rng, data.counts, np.log(probabilities))
        for test, (observed, drawn) in zip(tests, sums, strict=True):
            observed.extend(test.statistics(data.counts[None], probabilities))
            drawn.extend(test.statistics(votes, probabilities))
    for test, both in zip(tests, sums, strict=True):
        seen, noise = map(np.array, both)
        # The votes count as one of the replicates: never 0.
        above = noise >= seen * (1.0 - 1e-12)
        p_value = float((1 + above.sum()) / (1 + len(noise)))
        finding = test.finding(
            posterior, p_value, float(seen.mean()), float(noise.mean())
        )
        findings[isinstance(test, _Circles)] = finding
    return findings


def _probabilities(posterior: Fit) -> Iterator[Float[np.ndarray, "draw row 3"]]:
    from bayesduel.models.fit.numpyro_models import log_probabilities_of

    model, arrays = posterior.model, posterior.arrays
    flat = posterior.flat_draws()
    chosen = np.linspace(0, posterior.num_draws - 1, _REPLICATES).astype(np.int64)
    rows, turned = _rows_of_data(posterior)
    size = max(1, _BLOCK // max(arrays.counts.size, 3 * len(rows)))
    for start in range(0, len(chosen), size):
        block = {
            name: values[chosen[start : start + size]] for name, values in flat.items()
        }
        of_model = np.exp(log_probabilities_of(model, arrays, block))[:, rows]
        probabilities = np.zeros((*of_model.shape[:2], 3))
        probabilities[..., : of_model.shape[2]] = of_model
        probabilities[:, turned] = probabilities[:, turned][..., [1, 0, 2]]
        yield probabilities / probabilities.sum(axis=-1, keepdims=True)


def _rows_of_data(
    posterior: Fit,
) -> tuple[Int[np.ndarray, " row"], Int[np.ndarray, " turned"]]:
    """Return the row of the arrays for each of the data, and which is turned."""
    from bayesduel.models.fit.predictions import pairs_of

    data, number = posterior.data, posterior.num_arms
    pairs = pairs_of(posterior.model, data, posterior.arrays)
    assert pairs is not None
    same = map(np.array_equal, pairs, (data.first, data.second))
    if len(pairs.first) == len(data.first) and all(same):
        return np.arange(len(data.first)), np.zeros(0, dtype=np.int64)
    codes = (pairs.first * number + pairs.second).tolist()
    row_of = {code: row for row, code in enumerate(codes)}
    straight = (data.first * number + data.second).tolist()
    back = (data.second * number + data.first).tolist()
    turned = np.array([code not in row_of for code in straight], dtype=bool)
    rows = [
        row_of[reverse] if far else row_of[code]
        for code, reverse, far in zip(straight, back, turned, strict=True)
    ]
    return np.array(rows, dtype=np.int64), np.flatnonzero(turned)


class _Judges:
    """Whether judges differ: in what they gain the arm shown first, or in agreement."""

    # Cochran's Q of sums of weight times (what was said minus what was expected); the
    # weight is 1 for the arm shown first, or what was expected.

    def __init__(self, data: Comparisons) -> None:
        from scipy.sparse import csr_array

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
        total = np.zeros(len(p))
        for sums, variances in self.sums(votes, p):
            safe = np.where(variances > 0, variances, 1.0)
            every = variances.sum(axis=1)
            common = sums.sum(axis=1) ** 2 / np.where(every > 0, every, 1.0)
            total += np.sum(sums**2 / safe, axis=1) - common
        return total

    def finding(self, posterior: Fit, p: float, seen: float, noise: float) -> Finding:
        means = [block.mean(axis=0) for block in _probabilities(posterior)]
        center = np.mean(means, axis=0)[None]
        most = []
        for sums, variances in self.sums(self.counts[None], center):
            share = variances / max(variances.sum(), 1e-300)
            apart = sums - share * sums.sum()
            most.append((apart / np.sqrt(np.maximum(variances, 1e-300)))[0])
        kind = int(np.argmax([np.max(np.abs(deviations)) for deviations in most]))
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
        from bayesduel.models.checks.vote_tests import (
            expected_cycles,
            probability_of_majority,
        )

        if len(votes) < len(p):  # The votes themselves: the same for all draws.
            return self.statistics(votes, votes) * len(p)
        cycles = []
        for counts in votes:
            wins = np.zeros((self.num_arms, self.num_arms))
            np.add.at(wins, (self.first, self.second), counts[:, 0])
            np.add.at(wins, (self.second, self.first), counts[:, 1])
            better = probability_of_majority(wins, 1.0)
            cycles.append(expected_cycles(better, wins + wins.T > 0))
        return cycles

    def finding(self, posterior: Fit, p: float, seen: float, noise: float) -> Finding:
        good = p > FALSE_ALARM
        return Finding(
            "circles",
            f"{seen:.1f} expected, {noise:.1f} from noise alone ({_p(p)})",
            good,
            "One scale will do." if good else "No one scale holds these arms.",
            "fit PairwiseBeta (--model beta), and see diagnostics.transitivity",
            p,
        )
