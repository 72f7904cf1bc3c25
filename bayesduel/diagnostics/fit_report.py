"""What is wrong with a fit, in words, and what to do about it."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from bayesduel.inference.fitted import check_posterior
from bayesduel.inference.posterior import Posterior
from bayesduel.inference.resampling import Correction
from bayesduel.models.argument_checks import check_flag
from bayesduel.models.vote_arrays import is_whole

LARGEST_R_HAT = 1.01
"""Vehtari et al. 2021."""

LEAST_DRAWS_PER_CHAIN = 100
"""Effective draws, of the bulk and of the tails (Vehtari et al. 2021)."""

LEAST_BFMI = 0.3
"""Energy Bayesian fraction of missing information (Betancourt 2016)."""

LARGEST_SHIFT = 0.1
"""Of a mean, in standard deviations, that draws of an approximation may have: such a
shift takes 0.002 from the coverage of an interval of 0.9."""

LARGEST_SPREAD = 1.1
"""Ratio of standard deviations, one way or the other."""


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at."""

    name: str
    value: str
    good: bool
    words: str
    remedy: str = ""


@dataclass(frozen=True)
class Report:
    """What was looked at; ``print`` it."""

    title: str
    findings: tuple[Finding, ...]
    remarks: tuple[str, ...]

    @property
    def good(self) -> bool:
        """Whether nothing speaks against the fit."""
        return all(finding.good for finding in self.findings)

    def against(self) -> str:
        """Say in a line what speaks against the fit; empty where nothing does."""
        bad = [finding for finding in self.findings if not finding.good]
        return "; ".join(
            f"{each.name}: {each.value}; {each.words} What to do: {each.remedy}"
            for each in bad
        )

    def __str__(self) -> str:
        lines = [self.title]
        for finding in self.findings:
            mark = "ok " if finding.good else "BAD"
            lines.append(f"  {mark}  {finding.name}: {finding.value}. {finding.words}")
            if not finding.good and finding.remedy:
                lines.append(f"       What to do: {finding.remedy}")
        lines += [f"  note {remark}" for remark in self.remarks]
        verdict = "Nothing speaks against this fit."
        if not self.good:
            bad = [finding.name for finding in self.findings if not finding.good]
            verdict = f"Do not rely on this fit yet: see {', '.join(bad)}."
        return "\n".join([*lines, verdict])


def report(posterior: Posterior, *, with_loo: bool = True) -> Report:
    """Look at a fit as one should before it is believed.

    nuts: R-hat (rank-normalized), effective draws in bulk and tails, divergences, BFMI.
    laplace and svi: whether the search converged, and whether the draws that were kept
    are those of the posterior: for draws resampled by importance Pareto k and the
    effective number of proposals, for plain ones (``resample=False``) how far weights
    would move means and standard deviations; a bad k speaks against both. All: the
    share of votes with a bad Pareto k in :func:`loo`.

    Parameters
    ----------
    posterior : Posterior
    with_loo : bool
        Also look at leave-one-vote-out weights, which takes longest.

    Returns
    -------
    Report
        ``print(report(posterior))`` says in words what was found and what to do;
        ``good`` says whether anything speaks against the fit.

    Examples
    --------
    >>> from bayesduel.diagnostics import report
    >>> from bayesduel.votes import Comparisons
    >>> from bayesduel.models import PairwiseBeta
    >>> from bayesduel.inference import fit
    >>> votes = Comparisons.from_wins([[0, 7, 9], [3, 0, 6], [1, 4, 0]])
    >>> print(report(fit(PairwiseBeta(), votes)))
    Posterior(Beta per pair by exact, 3 arms, 30 votes, 4 x 1000 draws)
      ok   leave-one-out: no vote of 30 has Pareto k above 0.70. Removing any one vote
    changes the posterior little.
    Nothing speaks against this fit.
    """
    check_posterior(posterior)
    check_flag("with_loo", with_loo)
    findings: list[Finding] = []
    if posterior.method == "nuts":
        findings += _of_chains(posterior)
    elif posterior.method in ("laplace", "svi"):
        findings += _of_approximation(posterior)
    whole = is_whole(posterior.data, posterior.arrays)
    if with_loo and whole and posterior.data.num_votes >= 2:
        findings.append(_of_votes(posterior))
    return Report(repr(posterior), tuple(findings), posterior.remarks)


def _array_stats() -> Any:
    """Return ArviZ's functions of arrays, imported where they are needed."""
    from arviz_stats.base import (
        array_stats,  # pyright: ignore[reportPrivateImportUsage]
    )

    return array_stats


def _of_chains(posterior: Posterior) -> list[Finding]:
    names: list[str] = []
    values: list[np.ndarray] = []
    for name, each in posterior.draws.items():
        flat = each.reshape(*each.shape[:2], -1)
        spread = np.ptp(flat, axis=(0, 1)) > 0
        for index in np.flatnonzero(spread):
            names.append(f"{name}[{index}]" if each.ndim > 2 else name)
            values.append(flat[:, :, index])
    draws = np.stack(values)
    axes = {"chain_axis": 1, "draw_axis": 2}
    array_stats = _array_stats()
    found = []
    if posterior.num_chains > 1:
        r_hat = np.asarray(array_stats.rhat(draws, **axes))
        worst = int(np.argmax(r_hat))
        found.append(
            Finding(
                "R-hat",
                f"at most {r_hat[worst]:.3f} ({names[worst]})",
                bool(r_hat[worst] <= LARGEST_R_HAT),
                "Chains agree up to 1.01.",
                "run longer (num_draws, num_warmup); if it stays, the posterior has "
                "several modes or a narrow ridge: tighten priors, or zero_sum=True",
            )
        )
    least = LEAST_DRAWS_PER_CHAIN * posterior.num_chains
    for method, part in (("bulk", "middle"), ("tail", "tails")):
        options: dict[str, Any] = {} if method == "bulk" else {"prob": (0.05, 0.95)}
        size = np.asarray(array_stats.ess(draws, method=method, **options, **axes))
        worst = int(np.argmin(size))
        found.append(
            Finding(
                f"effective draws ({part})",
                f"at least {size[worst]:.0f} ({names[worst]})",
                bool(size[worst] >= least),
                f"{least} are enough for the {part} of each quantity.",
                f"about {1.2 * least / max(size[worst], 1.0):.0f} times as many draws "
                "(num_draws), or zero_sum=True, or dense_mass=True",
            )
        )
    return [*found, *_of_energy(posterior)]


def _of_energy(posterior: Posterior) -> list[Finding]:
    diverging = int(posterior.sample_stats["diverging"].sum())
    fraction = float(
        np.min(
            _array_stats().bfmi(
                posterior.sample_stats["energy"], chain_axis=0, draw_axis=1
            )
        )
    )
    return [
        Finding(
            "divergences",
            f"{diverging} of {posterior.num_draws} draws",
            diverging == 0,
            "The sampler met no place that it could not enter."
            if diverging == 0
            else "Some region is too narrow for the step size, and is missing.",
            "raise target_acceptance to 0.95 or 0.99; if they stay, tighten the priors",
        ),
        Finding(
            "energy",
            f"BFMI at least {fraction:.2f}",
            fraction >= LEAST_BFMI,
            f"Above {LEAST_BFMI} the sampler explores the tails.",
            "the prior has heavier tails than the sampler can follow: "
            "learn_scale=False, a tighter prior, or more warmup",
        ),
    ]


def _of_approximation(posterior: Posterior) -> list[Finding]:
    found = [
        Finding(
            "convergence",
            "reached" if posterior.converged else "not reached",
            posterior.converged,
            "The search ended where it should."
            if posterior.converged
            else "The search for the normal law did not end.",
            "see the note below, or method='nuts'",
        )
    ]
    if posterior.correction is not None:
        found.append(_of_weights(posterior.correction, posterior.num_chains))
    return found


def _of_weights(correction: Correction, chains: int) -> Finding:
    """Judge the draws that the user has: resampled, or those of the fitted law."""
    k, shift = correction.pareto_k, correction.shift
    by = f"means are off by up to {shift:.2f} sd ({correction.shifted})"
    nuts = "use method='nuts', at least to compare the intervals that matter"
    if correction.resampled:
        size = correction.effective_proposals
        least = LEAST_DRAWS_PER_CHAIN * chains
        return Finding(
            "importance resampling",
            f"Pareto k {k:.2f}, weights of {correction.num_proposals} proposals up to "
            f"{correction.largest_weight:.1f} times their mean, worth {size:.0f} equal "
            "ones",
            size >= least,
            f"Weights corrected the normal law, in which {by}."
            if size >= least
            else f"Too few proposals matter; {least} are enough.",
            nuts,
        )
    if not correction.trusted:
        return Finding(
            "normal approximation",
            f"Pareto k {k:.2f}",
            False,
            "The posterior is far from normal, or has very many dimensions, and no "
            f"weights can mend the draws; by what they say {by}, perhaps more.",
            nuts,
        )
    spread = correction.spread
    good = shift <= LARGEST_SHIFT and 1 / LARGEST_SPREAD <= spread <= LARGEST_SPREAD
    return Finding(
        "normal approximation",
        f"Pareto k {k:.2f}, {by}, standard deviations by a factor of {spread:.2f}",
        good,
        "The draws are those of the normal law, which is close enough."
        if good
        else "The draws are those of the normal law, which weights could correct.",
        "resample=True, which is the default",
    )


def _of_votes(posterior: Posterior) -> Finding:
    from bayesduel.diagnostics.cross_validation import loo

    found = loo(posterior)
    k = np.asarray(found.pareto_k)
    bad = int(np.sum(k > found.good_k))
    number = found.n_data_points
    share = f"{bad} of {number} votes have" if bad else f"no vote of {number} has"
    return Finding(
        "leave-one-out",
        f"{share} Pareto k above {found.good_k:.2f}",
        bad == 0,
        "Removing any one vote changes the posterior little."
        if bad == 0
        else "Single votes move the posterior too much to be left out by weights.",
        "do not compare models by loo here; more draws, a stronger prior, or a model "
        "that shares information between pairs",
    )
