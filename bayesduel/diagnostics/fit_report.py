"""What is wrong with a fit, in words, and what to do about it."""

import numpy as np

from bayesduel.diagnostics.findings import Finding, Report
from bayesduel.errors import FitError
from bayesduel.inference.chain_checks import (
    LARGEST_R_HAT,
    LEAST_BFMI,
    LEAST_DRAWS_PER_CHAIN,
    MOST_DIVERGING,
    ChainCheck,
    check_chains,
)
from bayesduel.inference.fits.fit_result import Fit
from bayesduel.inference.fits.fitted import check_posterior
from bayesduel.inference.resampling import Correction
from bayesduel.models.vote_arrays import is_whole
from theory.arguments import true_or_false


def report(posterior: Fit, *, with_loo: bool = True, with_votes: bool = True) -> Report:
    """Check whether a fit can be believed: its draws, its model, its judges.

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
        findings.append(_of_votes(posterior))
    if with_votes and posterior.data.num_votes:
        from bayesduel.diagnostics.vote_tests import vote_findings

        findings += vote_findings(posterior)
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
    found = []
    if check.r_hat is not None:
        found.append(
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
        found.append(
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
    return [*found, *_of_energy(check)]


def _of_energy(check: ChainCheck) -> list[Finding]:
    return [
        Finding(
            "divergences",
            f"{check.diverging} of {check.draws} draws",
            check.diverging <= MOST_DIVERGING * check.draws,
            _of_divergences(check),
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


def _of_divergences(check: ChainCheck) -> str:
    if not check.diverging:
        return "The sampler met no place that it could not enter."
    if check.remark:
        return f"Up to {MOST_DIVERGING:g} of all move no interval."
    return "Some region is too narrow for the step size, and is missing."


def _of_approximation(posterior: Fit) -> list[Finding]:
    found = [
        Finding(
            "convergence",
            "reached" if posterior.converged else "not reached",
            posterior.converged,
            "The search ended where it should."
            if posterior.converged
            else "The search for the normal distribution did not end.",
            "see the notes, or use method='nuts' (--method nuts)",
        )
    ]
    if posterior.correction is not None:
        found.append(_of_weights(posterior.correction, posterior.num_chains))
    return found


def _of_weights(correction: Correction, chains: int) -> Finding:
    """Judge the draws that the user has: resampled, or of the fitted distribution."""
    k, shift = correction.pareto_k, correction.shift
    by = f"means are off by up to {shift:.2f} sd ({correction.shifted})"
    if correction.resampled:
        size = correction.effective_proposals
        least = LEAST_DRAWS_PER_CHAIN * chains
        return Finding(
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
    if not correction.has_good_weights or correction.wanted:
        mends = "no weights can mend" if correction.wanted else "no weights are to mend"
        return Finding(
            "normal approximation",
            f"Pareto k {k:.2f}",
            False,
            "The posterior is far from normal, or has very many dimensions, and "
            f"{mends} the draws; by what they say {by}, perhaps more.",
            correction.remedy,
        )
    return Finding(
        "normal approximation",
        f"Pareto k {k:.2f}, {by}, standard deviations by a factor of "
        f"{correction.spread:.2f}",
        correction.fits,
        "The draws are those of the normal distribution, which is close enough."
        if correction.fits
        else "The draws are those of the normal distribution, which weights could "
        "correct.",
        "resample=True, which is the default",
    )


def _of_votes(posterior: Fit) -> Finding:
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
