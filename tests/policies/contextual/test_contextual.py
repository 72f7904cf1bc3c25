"""Contextual policies: their fits, their choices beside twins, published regret."""

import math
from dataclasses import fields

import numpy as np
import pytest
from scipy import stats
from scipy.special import expit

import bayesduel
from bayesduel import policies
from bayesduel.errors import PolicyParameterError, StudyError
from bayesduel.instances.worlds import GinopContexts, LinearContexts, VacdbContexts
from bayesduel.policies.contextual import estimation, feel_good, linear_thompson
from bayesduel.policies.contextual.linear_thompson import LinearRivals
from bayesduel.policies.contextual.pair_ucb import largest_pair
from bayesduel.policies.policy import Problem
from bayesduel.studies import Study
from tests.reference import contextual as twins

FALSE_ALARM = 1e-4

UNIT = np.array([[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]])
"""The arms e1, e2 and -e1."""


def driven(policy, rounds, *, num_arms=5, size=3, seed=0, fixed=False, theta=2.0):
    """Play in Python; yield the state before each choice, the pair, and the duel."""
    rng = np.random.default_rng(seed)
    truth = rng.normal(size=size)
    truth *= theta / np.linalg.norm(truth)
    table = rng.normal(size=(num_arms, size)) / math.sqrt(size)
    known = table if fixed else None
    state = policy.start(Problem(num_arms, rounds, known, num_features=size), rng)
    for round_ in range(1, rounds + 1):
        features = table if fixed else rng.normal(size=(num_arms, size))
        pair = tuple(map(int, policy.choose(state, rng, round_, features)))
        gap = features[pair[0]] - features[pair[1]]
        won = rng.random() < expit(gap @ truth)
        yield state, features, pair, gap, won
        if pair[0] != pair[1]:
            policy.update(state, rng, round_, *pair, won, features)


@pytest.mark.parametrize("fixed", [False, True])
def test_theta_is_the_maximum_of_the_likelihood(fixed):
    """Also where duels of one pair share a row, in both orders."""
    twin, used = twins.LinearTwin(3, ridge=0.01), []
    policy = policies.get("colstim", ridge=0.01, explored=20)
    for state, _, pair, gap, won in driven(policy, 60, fixed=fixed):
        assert state.fit.theta == pytest.approx(twin.theta(), abs=1e-6)
        # That of a point up to 1e-5 standard errors away, which may be long.
        assert state.fit.curvature == pytest.approx(twin.curvature(), rel=2e-4)
        assert state.inverse @ twin.counted() == pytest.approx(np.eye(3), abs=1e-8)
        if pair[0] != pair[1]:
            twin.tell(gap, won)
            used.append({*pair})
    if fixed:
        assert state.fit.used[0] == len({frozenset(pair) for pair in used}) < 11


def test_weights_and_certain_outcomes():
    """All duels won: theta stays finite by its penalty alone."""
    fit = estimation.new_fit(Problem(2, 40, num_features=2), 2, 1e-3)
    twin = twins.LinearTwin(2, ridge=1e-3)
    features = np.array([[1.0, 0.3], [0.0, 0.0]])
    for weight in (0.25, 4.0, 1.0) * 4:
        estimation.add_duel(fit, 0, 1, True, weight, features)
        estimation.refit(fit)
        twin.tell(features[0], True, weight)
    assert fit.theta == pytest.approx(twin.theta(), abs=1e-5)
    assert np.linalg.norm(fit.theta) > 5


def test_what_summing_up_older_duels_changes(monkeypatch):
    """1000 of 2000 duels are summed up: a few hundredths of a standard error.

    The errors are of order sqrt(d / n), so of 20,000 duels they are a third of these.
    """
    gaps = {}
    for most in (1000, 10_000):
        monkeypatch.setattr(estimation, "MOST_ROWS", most)
        rng = np.random.default_rng(8)
        fit = estimation.new_fit(Problem(2, 2000, num_features=3), 3, 1.0)
        for _ in range(2000):
            features = rng.normal(size=(2, 3))
            won = rng.random() < expit((features[0] - features[1]) @ [1.0, -0.5, 0.2])
            estimation.add_duel(fit, 0, 1, won, 1.0, features)
        estimation.refit(fit)
        gaps[most] = fit.theta.copy()
    deviation = np.sqrt(np.diag(fit.inverse))
    moved = np.abs(gaps[1000] - gaps[10_000]) / deviation
    assert 0 < moved.max() < 0.1


def test_pairs_of_three_arms():
    """Values by hand: (e1, -e1) has 4 at width 2, (e1, e2) 1 + sqrt 2 at width 1."""
    rng, utility = np.random.default_rng(1), UNIT @ [1.0, 0.0]
    for width, scale, pair, value in (
        (2.0, 1.0, (0, 2), 4.0),
        (1.0, 1.0, (0, 1), 1 + math.sqrt(2)),
        (1.0, 4.0, (0, 0), 2.0),
    ):
        index = twins.pair_index(UNIT, np.array([1.0, 0.0]), scale * np.eye(2), width)
        assert index[pair] == pytest.approx(value) == pytest.approx(index.max())
        products = estimation.products(UNIT, np.eye(2) / scale)
        assert largest_pair(rng, utility, products, width) == pair
    assert index[0, 1] == pytest.approx(1 + math.sqrt(0.5))
    wide = twins.pair_index(UNIT, np.array([1.0, 0.0]), np.eye(2), 2.0)
    assert wide[0, 1] == pytest.approx(3.8284, abs=5e-5)


def test_equal_pairs_are_equally_likely():
    rng, nothing = np.random.default_rng(2), np.zeros(3)
    products = estimation.products(np.eye(3), np.eye(3))
    drawn = [largest_pair(rng, nothing, products, 1.0) for _ in range(3000)]
    counts = [drawn.count(pair) for pair in ((0, 1), (0, 2), (1, 2))]
    assert sum(counts) == 3000
    assert stats.chisquare(counts).pvalue > FALSE_ALARM


@pytest.mark.parametrize("name", ["ginop", "max-pair-ucb", "max-in-p"])
def test_choices_are_those_of_the_twin(name):
    """The pair is one of the best of all pairs, which are listed anew every time."""
    policy, twin = policies.get(name, width=0.7), twins.LinearTwin(3)
    width = 0.7 if name == "ginop" else 0.7 * math.sqrt(3 * math.log(60))
    seen = set()
    for state, features, pair, gap, won in driven(policy, 60):
        theta = twin.theta()
        matrix = twin.curvature() if name == "ginop" else twin.counted()
        index = twins.pair_index(features, theta, matrix, width)
        if name == "max-in-p":
            few = twins.possible_winners(features, theta, matrix, width)
            index = np.full((5, 5), -np.inf)
            rows = np.ix_(few, few)
            index[rows] = twins.norms(features[few], matrix)
            seen.add(len(few))
            assert (pair[0] == pair[1]) == (len(few) == 1)
        assert index[pair] >= index.max() - 1e-6
        seen.add(pair[0] == pair[1])
        if pair[0] != pair[1]:
            twin.tell(gap, won)
        assert state.latest == pytest.approx(features @ theta, abs=1e-6)
    assert {True, False} <= seen


@pytest.mark.parametrize(
    ("width", "rounds", "layers"), [(0.1, 120, {-1, 1, 2}), (1.0, 340, {-1, 1, 2, 3})]
)
def test_layers_are_those_of_the_twin(width, rounds, layers):
    policy = policies.get("vacdb", width=width, layers=3)
    twin = [twins.LinearTwin(2, ridge=4.0**-item) for item in (1, 2, 3)]
    width, questions = width * math.sqrt(2 * math.log(rounds)), set()
    steps = driven(policy, rounds, num_arms=4, size=2)
    for state, features, pair, gap, won in steps:
        thetas = [item.theta() for item in twin]
        matrices = [item.counted() for item in twin]
        layer, pairs = twins.layers_of_vacdb(features, thetas, matrices, width)
        assert tuple(sorted(pair)) in pairs
        assert state.now.layer == (layer - 1 if layer > 0 else -1)
        questions.add(layer)
        if layer > 0:
            norm = twins.norms(features, matrices[layer - 1])[pair]
            weight = (2.0**-layer / norm) ** 2
            assert state.now.weight == pytest.approx(weight, rel=1e-6)
            twin[layer - 1].tell(gap, won, weight)
    assert questions == layers


def test_vacdb_shows_the_best_pair_once_all_is_known():
    policy, rng = policies.get("vacdb", layers=2), np.random.default_rng(3)
    state = policy.start(Problem(3, 50, num_features=2), rng)
    state.fits.theta[:] = 1.0, 0.2
    state.inverses[:] = 1e-3 * np.eye(2)
    assert policy.choose(state, rng, 1, UNIT) == (0, 0)
    assert state.now.layer == -1
    policy.update(state, rng, 1, 0, 1, True, UNIT)
    assert not state.fits.used.any()
    # Layer 1 keeps what is within half of the width, here arms 0 and 1.
    state.now.width, state.inverses[0] = 2.0, 0.05 * np.eye(2)
    state.inverses[1] = 9.0 * np.eye(2)
    shown = {tuple(sorted(policy.choose(state, rng, 2, UNIT))) for _ in range(50)}
    assert shown == {(0, 1)}
    assert state.now.layer == 1
    assert policy.recommend(state, rng) == 0


@pytest.mark.parametrize("shared", ["early", "late"])
def test_colstim_draws_pairs_as_often_as_its_twin(shared):
    """After the exploration; chi-square, at 1e-4 each."""
    policy, rng = policies.get("colstim", shared=shared), np.random.default_rng(4)
    horizon, size, features = 10**6, 2, np.array([[1, 0.2], [0.8, 0.9], [-0.5, 0.4]])
    state = policy.start(Problem(3, horizon, num_features=size), rng)
    state.fit.theta[:], state.inverse[:] = (0.4, 0.1), [[0.5, 0.1], [0.1, 0.3]]
    round_ = 10_000
    scale, rate = math.sqrt(size * math.log(horizon)), size * math.log(size * horizon)
    share = rate / math.sqrt(round_)
    assert 0.2 < share < 0.4
    share = share if shared == "early" else 1 - share
    lengths = np.sqrt(np.einsum("id,de,ie->i", features, state.inverse, features))
    second = features @ [0.4, 0.1] + scale * twins.norms(
        features, np.linalg.inv(state.inverse)
    )
    drawn, expected = np.zeros(3), np.zeros(3)
    for _ in range(4000):
        pair = policy.choose(state, rng, round_, features)
        drawn[pair[0]] += 1
        assert pair[1] == second[pair[0]].argmax()
        noise = rng.gumbel(size=3)
        noise = np.full(3, noise[0]) if rng.random() < share else noise
        noise = noise.clip(-scale, scale)
        expected[(features @ [0.4, 0.1] + noise * lengths).argmax()] += 1
    assert min(expected) > 50
    table = np.array([drawn, expected])
    assert stats.chi2_contingency(table).pvalue > FALSE_ALARM


def test_colstim_explores_first():
    policy, rng = policies.get("colstim"), np.random.default_rng(5)
    state = policy.start(Problem(4, 1000, num_features=2), rng)
    assert state.now.explored == 8
    state.fit.theta[:] = 1.0, 0.0
    features = np.eye(4)[:, :2]
    pairs = [policy.choose(state, rng, 8, features) for _ in range(2400)]
    counts = np.zeros((4, 4))
    np.add.at(counts, tuple(np.transpose(pairs)), 1)
    assert counts.trace() == 0
    assert stats.chisquare(counts[~np.eye(4, dtype=bool)]).pvalue > FALSE_ALARM


# --- Feel-Good Thompson sampling ------------------------------------------------------


def state_after(policy, horizon, features, duels, seed=6):
    """Return the state after duels that are given."""
    rng, fixed = np.random.default_rng(seed), np.asarray(features)
    problem = Problem(len(fixed), horizon, fixed, num_features=fixed.shape[1])
    state = policy.start(problem, rng)
    for first, second, won in duels:
        feel_good.remember(state, first, second, fixed)
        if first != second:
            policy.update(state, rng, 1, first, second, won, fixed)
    return state, rng


@pytest.mark.parametrize("fixed", [True, False])
def test_density_after_one_duel(fixed):
    """.25 (log(1 + e^2) - log(1 + e^-2)) + .01 * 2 = .52, however rounds are kept."""
    policy, features = policies.get("fgts"), np.array([[1.0], [-1.0]])
    rng = np.random.default_rng(0)
    known = features if fixed else None
    state = policy.start(Problem(2, 100, known, num_features=1), rng)
    state.now.mu = 0.01
    feel_good.remember(state, 0, 1, features)
    policy.update(state, rng, 1, 0, 1, True, features)
    # The other sampler's feel-good term is about the arm +1, which is behind at -1.
    for sampler, expected in ((0, 0.52), (1, 0.48)):
        ahead, behind = (
            feel_good.log_density(state, np.array([theta]), sampler, features)
            for theta in (1.0, -1.0)
        )
        assert ahead - behind == pytest.approx(expected, abs=1e-9)


def test_rounds_that_are_kept_are_evenly_spaced():
    policy, rng = policies.get("fgts", kept=4), np.random.default_rng(0)
    state = policy.start(Problem(2, 1000, num_features=1), rng)
    for round_ in range(21):
        feel_good.remember(state, 0, 1, np.full((2, 1), float(round_)))
    used = state.now.used
    assert state.past[:used, 0, 0].tolist() == [0.0, 8.0, 16.0]
    assert state.now.rounds == 21


def posterior_on_grid(state, features, sampler=0):
    """Return points and probabilities of the density, d = 1, by brute force."""
    grid = np.linspace(-6, 6, 4001)
    logs = np.array(
        [feel_good.log_density(state, np.array([x]), sampler, features) for x in grid]
    )
    weights = np.exp(logs - logs.max())
    return grid, weights / weights.sum()


def test_chain_draws_from_the_density():
    """Kolmogorov-Smirnov beside the distribution on a grid; every tenth draw.

    With a strong feel-good term the density is far from normal: plain Laplace draws are
    told apart.
    """
    policy = policies.get("fgts", feel_good=30.0, eta=1.0)
    features = np.array([[1.0], [-0.7], [0.2]])
    duels = [(0, 1, True), (1, 2, False), (0, 2, False), (1, 1, True)] * 2
    state, rng = state_after(policy, 100, features, duels)
    grid, weights = posterior_on_grid(state, features)
    root, drawn, normal = estimation.lower_root(state.fit.inverse), [], []
    for _ in range(600):
        feel_good.move(state, root, rng, 0, 10, features)
        drawn.append(state.draws[0, 0])
        normal.append(estimation.proposal(state.fit, root, rng, 1.0)[0][0])

    def distribution(x):
        return np.interp(x, grid, weights.cumsum())

    assert stats.kstest(drawn, distribution).pvalue > FALSE_ALARM
    assert stats.kstest(normal, distribution).pvalue < FALSE_ALARM
    mean = weights @ grid
    spread = math.sqrt(weights @ (grid - mean) ** 2)
    assert np.mean(drawn) == pytest.approx(mean, abs=4 * spread / math.sqrt(600))


def test_root_of_a_matrix():
    matrix = np.cov(np.random.default_rng(9).normal(size=(4, 20)))
    root = estimation.lower_root(matrix)
    assert root == pytest.approx(np.linalg.cholesky(matrix))


# --- RD-TS and D-TS over linear utilities ---------------------------------------------


def test_divergence_of_two_gaps():
    for gap, other in ((0.3, -1.0), (0.0, 0.0), (40.0, -3.0), (-700.0, 700.0)):
        p, q = expit([gap, -gap]), expit([other, -other])
        q = np.maximum(q, 1e-300)
        reported = np.sum(np.where(p > 0, p * np.log(np.where(p > 0, p, 1) / q), 0))
        expected = 700.0 if other == 700 else reported
        assert linear_thompson.divergence(gap, other) == pytest.approx(expected)


@pytest.mark.parametrize("cost", ["regret", "duels"])
def test_pairs_tell_most_of_whether_the_rival_is_level(cost):
    """The rival's world by solving the constrained quadratic program; all pairs."""
    policy, twin, seen = LinearRivals(cost=cost), twins.LinearTwin(3), set()
    for state, features, pair, gap, won in driven(policy, 80):
        theta, matrix = twin.theta(), twin.curvature()
        utility = features @ theta
        leader, rival = utility.argmax(), int(state.now.rival)
        if pair[0] == pair[1]:
            assert cost == "regret" and pair[0] == leader == rival
        else:
            level = features[rival] - features[leader]
            system = np.block([[matrix, level[:, None]], [level, 0.0]])
            given = np.append(matrix @ theta, 0.0)
            moved = np.linalg.solve(system, given)[:3]
            p, q = (expit(np.subtract.outer(x, x)) for x in (utility, features @ moved))
            gain = p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))
            if cost == "regret":
                regret = utility.max() - np.add.outer(utility, utility) / 2
                gain /= np.maximum(regret, 0.01 * np.ptp(utility) + 1e-12)
            np.fill_diagonal(gain, 0.0)
            assert gain[pair] >= gain.max() * (1 - 1e-3)
            seen.add(rival)
            twin.tell(gap, won)
        if np.ptp(utility) > 0:
            assert policy.recommend(state, np.random.default_rng(0)) == leader
    assert len(seen) > 2


def test_rivals_are_drawn_by_how_likely_their_worlds_are():
    rng, utility = np.random.default_rng(6), np.array([1.0, 0.4, -0.5])
    values = estimation.products(UNIT, np.array([[0.5, 0.1], [0.1, 0.4]]))
    drawn = [linear_thompson.likely_rival(rng, utility, values, 0) for _ in range(3000)]
    norms = twins.norms(UNIT, np.linalg.inv([[0.5, 0.1], [0.1, 0.4]]))[0, 1:]
    weights = np.exp(-((1.0 - utility[1:]) ** 2) / (2 * norms**2))
    counts = np.bincount(drawn, minlength=3)
    assert counts[0] == 0
    expected = 3000 * weights / weights.sum()
    assert stats.chisquare(counts[1:], expected).pvalue > FALSE_ALARM


OVER_MODEL = ["d-ts:posterior=linear", "rd-ts:posterior=linear"]


def test_policies_over_linear_utilities_have_a_form_that_sees_features():
    """Other settings of their model are refused."""
    for name in OVER_MODEL:
        form = linear_thompson.contextual_form(policies.parse_policy(name))
        assert form.ridge == 0.25
        with pytest.raises(PolicyParameterError, match="leave out the others"):
            linear_thompson.contextual_form(
                policies.parse_policy(f"{name},tie_scale=0.5")
            )


@pytest.mark.slow
def test_policies_over_linear_utilities_learn_from_features_of_every_round():
    """And have no warning of fixed preferences."""
    result = {
        name: bayesduel.simulate(
            # Python plays the random policy: to compile it takes longer.
            LinearContexts(num_arms=3, num_features=2, compiled=name != "random"),
            policies.parse_policy(name),
            num_runs=4,
            horizon=400,
            regret=["utility_mean"],
        )["regret"]
        .values[0, :, -1]
        .mean()
        for name in [*OVER_MODEL, "random"]
    }
    assert max(result[name] for name in OVER_MODEL) < 0.4 * result["random"]


# --- Where they play ------------------------------------------------------------------


def test_worlds_say_how_many_features_there_are():
    class Silent(bayesduel.World):
        num_arms: int = 2

        def start(self, horizon, rng):
            return np.eye(2)

        def features(self, state, rng, round_):
            return state

        def probability(self, state, rng, round_, first, second):
            return 0.7 if first < second else 0.3

        def regret(self, state, round_, first, second):
            return 0.0

    with pytest.raises(PolicyParameterError, match="give the world an attribute num_f"):
        bayesduel.simulate(Silent(), "ginop", num_runs=1, horizon=5)

    class Clear(Silent):
        num_features: int = 2

    result = bayesduel.simulate(Clear(), "ginop", num_runs=1, horizon=5)
    assert result["plays"].values.sum() >= 5


def test_they_ask_people_about_arms_with_features(tmp_path):
    features = [[0.0, 1.0], [1.0, 0.0], [0.5, 0.4]]
    player = bayesduel.Player("ginop", features=features, seed=3)
    for _ in range(6):
        player.tell(*player.ask(), won=True)
    with pytest.raises(StudyError, match="must have features of the arms for GINOP"):
        Study.create(tmp_path / "a.study", ["a", "b", "c"], "ginop")
    model = bayesduel.models.LinearUtilities(features)
    path = tmp_path / "b.study"
    with Study.create(path, ["a", "b", "c"], "ginop", model=model) as study:
        (ticket,) = study.ask()
        study.tell(ticket, "left")
        assert study.ask()[0].rule == "ginop"


@pytest.mark.slow
def test_regret_is_that_of_other_programs():
    """8 or 10 instances of both generators, at 4 joint standard errors (6e-5 each).

    Published differences are differences of widths: the same rule has 783 or 248.
    """
    measured = {}
    for kind, number, notion, claims in (
        (GinopContexts, 8, "utility_mean", {
            "ginop": (105.5, 13.6),
            "max-in-p:width=1": (783, 48),
            "max-in-p:width=0.25": (248, 85),
            "colstim": (608, 41),
            "fgts:steps=0,feel_good=0": (493, 20),
        }),
        (VacdbContexts, 10, "utility_sum", {
            "max-pair-ucb": (190, 41),
            "colstim:explored=0,shared=late": (234, 32),
            "max-in-p:width=2": (394, 66),
            "fgts:steps=0,feel_good=0": (687, 194),
        }),
    ):  # fmt: skip
        # Of the general class, as every class is compiled anew; each computes the
        # constant of its lower bound once.
        made = [kind(seed=seed) for seed in range(number)]
        names = [field.name for field in fields(kind)]
        worlds = [LinearContexts(**{x: getattr(y, x) for x in names}) for y in made]
        for name, (mean, error) in claims.items():
            results = [
                bayesduel.simulate(
                    world, name, num_runs=1, horizon=2000, regret=[notion]
                )["regret"].values[0, 0, -1]
                for world in worlds
            ]
            mine = np.std(results, ddof=1) / math.sqrt(number)
            assert abs(np.mean(results) - mean) < 4 * math.hypot(error, mine), name
            measured[kind, name] = np.mean(results)
    first, second = (
        [value for (kind, _), value in measured.items() if kind is context]
        for context in (GinopContexts, VacdbContexts)
    )
    best, wide, narrow, imitating, drawing = first
    assert best < narrow < drawing < wide
    assert narrow < imitating < wide
    # The errors of the last two are too large for an order.
    assert max(second[:2]) < min(second[2:])


def test_features_that_are_fixed_and_those_that_are_told():
    """The same table as fixed features, and as a context: one distribution."""
    table = np.random.default_rng(7).normal(size=(4, 2))
    result = {}
    for form in (table, table[None]):
        contexts = "fixed" if form.ndim == 2 else "fresh"
        world = LinearContexts(contexts=contexts, num_arms=4, rows=form)
        assert world.num_features == 2
        results = bayesduel.simulate(
            world, policies.get("ginop", compiled=False), num_runs=30, horizon=60,
            regret=["utility_mean"],
        )  # fmt: skip
        result[contexts] = results["regret"].values[0, :, -1]
    assert stats.ks_2samp(*result.values()).pvalue > FALSE_ALARM
