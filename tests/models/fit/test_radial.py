"""Posteriors that lean far to one side: draws against integrals, and doubts said."""

from functools import wraps

import numpy as np
import pytest
from scipy import stats
from scipy.special import log_expit

from bayesduel import plots
from bayesduel.cli.fits import markdown, with_doubt
from bayesduel.diagnostics import report
from bayesduel.inference import fit
from bayesduel.models import BradleyTerry, Thurstone
from bayesduel.models.fit import fitting
from bayesduel.models.fit.laplace_draws import density_of, from_approximation
from bayesduel.models.fit.proposals import NormalProposer, radial_points
from bayesduel.models.newton import LaplaceState
from bayesduel.studies import Study
from bayesduel.studies.report import _standings
from bayesduel.votes import Comparisons
from tests.command_line import invoke
from tests.models.fit.agreement import grid_posterior

FALSE_ALARM = 1e-6

UNDEFEATED = Comparisons.from_wins(
    [[0, 5, 4, 0], [0, 0, 3, 0], [0, 2, 0, 3], [0, 0, 0, 0]], arm_names="ABCD"
)


def knockout(num_arms):
    """Votes of a knockout: the arm of the lower number goes on."""
    wins, alive = np.zeros((num_arms, num_arms)), range(num_arms)
    while len(alive) > 1:
        wins[alive[::2], alive[1::2]] = 1
        alive = alive[::2]
    return Comparisons.from_wins(wins)


def exact_difference(won, lost, scale, log_win):
    """Return points and probabilities of the difference of two utilities."""
    width = np.sqrt(2.0) * scale
    points = np.linspace(-6 * width, 6 * width, 400_001)
    logs = -0.5 * np.square(points / width)
    logs += won * log_win(points) + lost * log_win(-points)
    weights = np.exp(logs - logs.max())
    return points, weights / weights.sum()


@pytest.mark.parametrize(
    ("model", "log_win", "won", "lost"),
    [
        (BradleyTerry(prior_scale=100), log_expit, 5, 0),
        (BradleyTerry(prior_scale=50), log_expit, 0, 40),
        (BradleyTerry(prior_scale=20), log_expit, 30, 1),
        (Thurstone(prior_scale=50), lambda x: stats.norm.logcdf(x / 2**0.5), 5, 0),
    ],
)
def test_two_arms_are_those_of_the_integral(model, log_win, won, lost):
    votes = Comparisons.from_wins([[0, won], [lost, 0]])
    posterior = fit(model, votes)
    assert posterior.method == "laplace" and posterior.correction.trusted
    assert posterior.doubts == ()
    utility = posterior.draws["utility"].reshape(-1, 2)
    drawn = utility[:, 0] - utility[:, 1]
    points, weights = exact_difference(won, lost, model.prior_scale, log_win)
    # The weights of proposals cost precision: as many draws count as they are worth.
    size = min(len(drawn), posterior.correction.effective_proposals)
    limit = stats.norm.isf(FALSE_ALARM / 2)
    mean = weights @ points
    spread = np.sqrt(weights @ np.square(points - mean))
    assert abs(drawn.mean() - mean) < limit * spread / np.sqrt(size)
    # The error of a variance follows from the fourth moment.
    squares = np.square(points - mean)
    error = np.sqrt((weights @ np.square(squares) - spread**4) / size)
    assert abs(np.square(drawn - mean).mean() - spread**2) < limit * error
    cumulated = np.cumsum(weights)
    for share in (0.01, 0.05, 0.5, 0.95, 0.99):
        quantile = points[np.searchsorted(cumulated, share)]
        error = np.sqrt(share * (1 - share) / size)
        assert abs(np.mean(drawn <= quantile) - share) < limit * error + 1e-4


def test_three_arms_are_those_of_the_integral():
    wins = np.array([[0.0, 3, 2], [0, 0, 4], [0, 1, 0]])
    posterior = fit(BradleyTerry(prior_scale=20), Comparisons.from_wins(wins))
    assert posterior.correction.trusted and posterior.doubts == ()
    utility, weights = grid_posterior(wins, scale=20.0, reach=150.0)
    size = min(posterior.num_draws, posterior.correction.effective_proposals)
    drawn = posterior.draws["utility"].reshape(-1, 3)
    for first, second in ((0, 1), (0, 2), (1, 2)):
        gap = utility[:, first] - utility[:, second]
        expected = drawn[:, first] - drawn[:, second]
        for point in (-5.0, 0.0, 5.0, 20.0, 60.0):
            # Half of what lies on a point of the grid is below it.
            near = np.abs(gap - point) < 1e-9
            share = weights[gap < point - 1e-9].sum() + weights[near].sum() / 2
            error = np.sqrt(share * (1 - share) / size)
            limit = stats.norm.isf(FALSE_ALARM / 2)
            assert abs(np.mean(expected < point) - share) < limit * error + 2e-3


def test_of_a_normal_distribution_points_along_rays_are_its_own():
    class Normal:
        """A normal log density of precision L L^T, with its mode at 1."""

        def log_densities(self, points):
            return 3.0 - 0.5 * np.sum(np.square((points - 1.0) @ factor), axis=1)

    factor = np.array([[2.0, 0, 0], [1.0, 0.5, 0], [-3.0, 1.0, 4.0]])
    given = np.ones(3), factor, np.float64(3.0), np.int32(0), np.int32(1)
    rng, distribution = np.random.default_rng(0), LaplaceState(*given)
    points, lp, log_weight = radial_points(rng, Normal(), distribution, 500)
    white = np.random.default_rng(0).standard_normal((500, 3))
    np.testing.assert_allclose((points - 1.0) @ factor, white, atol=1e-8)
    np.testing.assert_allclose(lp, Normal().log_densities(points), atol=1e-8)
    np.testing.assert_allclose(log_weight, 0.0, atol=1e-6)


def test_a_fall_that_never_comes_has_no_weight():
    class Flat:
        def log_densities(self, points):
            return np.where(points[:, 0] > 0, -0.0 * points[:, 0], -1.0 - points[:, 0])

    given = np.zeros(1), np.eye(1), np.float64(0.0), np.int32(0), np.int32(1)
    rng, distribution = np.random.default_rng(1), LaplaceState(*given)
    points, _, log_weight = radial_points(rng, Flat(), distribution, 200)
    assert np.all(np.isneginf(log_weight[points[:, 0] > 0]))


@pytest.mark.parametrize(
    ("share", "location", "width"), [(0.3, 3.0, 0.5), (0.6, 5.0, 1.0)]
)
def test_a_second_bump_along_a_ray_is_not_passed_over(share, location, width):
    """Rays meet such a height several times, and their weights know of one place:
    they are all about equal, and nothing else speaks against them."""

    class Bumps:
        """A standard normal distribution, and another one."""

        def named(self, points):
            return {"x": points[:, 0]}

        def log_densities(self, points):
            low, high = points[:, 0], (points[:, 0] - location) / width
            top = np.log(share / width)
            return np.logaddexp(np.log1p(-share) - 0.5 * low**2, top - 0.5 * high**2)

    distribution = LaplaceState(
        np.zeros(1), np.eye(1), np.float64(np.log1p(-share)), np.int32(0), np.int32(1)
    )
    result = from_approximation(
        NormalProposer(Bumps(), distribution, at_mode=True),
        np.random.default_rng(1),
        (4, 1000),
        resample=True,
        extras={},
    )
    assert not result.extras["correction"].trusted
    assert "may be far off" in result.remarks[0]


def test_the_mode_is_found_from_lopsided_votes():
    for won, scale in ((5, 10.0), (5, 100.0), (10**6, 100.0)):
        model = BradleyTerry(prior_scale=scale)
        arrays = model.arrays(Comparisons.from_wins([[0, won], [0, 0]]))
        distribution = density_of(model, arrays).laplace()
        # won / (1 + exp(d)) = u / scale^2 at the mode, with d = 2 u.
        u = distribution.mode[0]
        assert won / (1 + np.exp(2 * u)) == pytest.approx(u / scale**2, rel=1e-4)


def test_an_undefeated_arm_is_first_with_certainty():
    posterior = fit(BradleyTerry(prior_scale=50), UNDEFEATED)
    assert posterior.inference == "laplace, resampled"
    assert posterior.correction.proposals == "radial"
    assert report(posterior, with_loo=False).good
    utility = posterior.draws["utility"].reshape(-1, 4)
    centered = utility[:, 0] - utility.mean(axis=1)
    assert centered.mean() == pytest.approx(43.5, abs=2.0)
    assert np.quantile(centered, [0.05, 0.95]) == pytest.approx([11.5, 90.6], rel=0.12)
    assert posterior.winner_shares()["copeland"][0] > 0.999


def test_the_command_says_a_doubt(tmp_path):
    file, wins = tmp_path / "votes.csv", knockout(32).wins
    rows = "\n".join(f"a{i},a{j}" for i, j in np.argwhere(wins))
    file.write_text(f"winner,loser\n{rows}\n")
    words = ["fit", str(file), "--prior-scale", "20", "--method", "laplace"]
    said = " ".join(invoke(words).stdout.split())
    assert "DOUBTFUL: the draws are those of a normal distribution" in said


def test_saved_tables_and_figures_carry_a_doubt():
    """In every row of CSV, below a table, and in the caption of a figure."""
    posterior = fit(BradleyTerry(prior_scale=20), knockout(32), method="laplace")
    record = posterior.as_record()
    assert not record["trusted"] and "may be far off" in record["doubts"][0]
    assert all("may be far off" in row["doubt"] for row in with_doubt(record, "arms"))
    assert f"DOUBTFUL: {record['doubts'][0]}" in markdown(record)
    assert "DOUBTFUL" in plots.winners(posterior).get_supxlabel()
    known = fit(BradleyTerry(), UNDEFEATED, num_draws=100).as_record()
    assert known["trusted"] and known["doubts"] == []
    assert {row["doubt"] for row in with_doubt(known, "arms")} == {""}
    assert "DOUBTFUL" not in markdown(known)


def test_a_study_says_a_doubt(tmp_path):
    wins = knockout(16).wins
    names = [f"a{arm}" for arm in range(16)]
    model = BradleyTerry(prior_scale=200)
    with Study.create(tmp_path / "cup.study", names, "balanced", model=model) as study:
        study.import_votes(Comparisons.from_wins(wins, arm_names=names))
        status = study.status()
    assert "may be far off" in status.doubts[0]
    assert "<strong>Doubtful:</strong>" in _standings(status, 0.9)


def chains_in_their_place(monkeypatch):
    """Let the sampler of Markov chains do what the quick one does; count its calls."""
    called, home = [], fitting._sampler

    def sampler(method):
        quick = home("laplace" if method == "nuts" else method)

        @wraps(quick)
        def counted(*given, **options):
            called.append(method)
            return quick(*given, **options)

        return counted

    monkeypatch.setattr(fitting, "_sampler", sampler)
    return called


def test_auto_runs_chains_where_nothing_mends_the_draws(monkeypatch):
    called = chains_in_their_place(monkeypatch)
    fit(BradleyTerry(prior_scale=50), UNDEFEATED, num_draws=100)
    assert called == ["laplace"]
    posterior = fit(BradleyTerry(prior_scale=20), knockout(32), num_draws=250)
    assert called[1:] == ["laplace", "nuts"] and posterior.method == "nuts"
    said = "drawn by Markov chains, since draws by method='laplace' would be in doubt"
    assert any(remark.startswith(said) for remark in posterior.remarks)
    # Who asks for a method gets it, and who wants no resampling, too.
    fit(BradleyTerry(prior_scale=20), knockout(32), method="laplace", num_draws=250)
    fit(BradleyTerry(prior_scale=20), knockout(32), resample=False, num_draws=250)
    assert called[3:] == ["laplace", "laplace"]


@pytest.mark.filterwarnings("ignore::bayesduel.errors.DisconnectedComparisonsWarning")
def test_lopsided_votes_beside_an_arm_that_was_never_compared():
    """Weights have a variance, so that means are off by their Monte Carlo error.

    The root mean square of the error of A - B was three times that where weights of
    normal proposals with k from 1/2 to 0.7 were taken.
    """
    won, scale = 5, 10.0
    votes = Comparisons.from_wins([[0, won, 0], [0, 0, 0], [0, 0, 0]], arm_names="ABC")
    points, weights = exact_difference(won, 0, scale, log_expit)
    mean = weights @ points
    spread = np.sqrt(weights @ np.square(points - mean))
    # Given A - B, A is normal around half of it; C is as in the prior.
    width = scale * np.sqrt(0.5 + 1.0)
    best = weights[points > 0] @ stats.norm.cdf(points[points > 0] / 2 / width)
    scores, shares = [], []
    for seed in range(6):
        posterior = fit(BradleyTerry(prior_scale=scale), votes, rng_key=seed)
        assert posterior.correction.pareto_k <= 0.5 and posterior.doubts == ()
        utility = posterior.draws["utility"].reshape(-1, 3)
        size = 1 / (1 / len(utility) + 1 / posterior.correction.effective_proposals)
        gap = (utility[:, 0] - utility[:, 1]).mean()
        scores.append((gap - mean) / spread * np.sqrt(size))
        share = np.mean(utility.argmax(axis=1) == 0)
        shares.append((share - best) / np.sqrt(best * (1 - best) / size))
    # Effective numbers are those of the weights alone: the mean of a quantity that is
    # large where they are may be off by half as much again.
    most = 1.5**2 * stats.chi2.isf(FALSE_ALARM, 6)
    assert np.sum(np.square(scores)) < most and np.sum(np.square(shares)) < most
