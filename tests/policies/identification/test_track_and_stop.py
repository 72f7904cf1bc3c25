"""Track-and-Stop: its programs against the solvers, its duels against the twin."""

import numpy as np
import pytest

import theory
from bayesduel import policies
from bayesduel.policies.identification import track_and_stop
from bayesduel.policies.identification.track_and_stop import new_program
from bayesduel.policies.parameter_values import with_prices
from tests.compiling import called_compiled
from tests.policies.driving import simulate_runs
from tests.policies.instances import MATRICES, random_outcomes
from tests.policies.kernel_driving import play_kernel
from tests.reference import TrackAndStop, duels_of

set_sign = called_compiled(track_and_stop.set_sign)
solve = called_compiled(track_and_stop.solve)


def random_matrix(rng, num_arms):
    gaps = np.triu(rng.uniform(0.02, 0.5, (num_arms, num_arms)), 1)
    gaps = gaps * rng.choice([-1, 1], gaps.shape)
    return 0.5 + gaps - gaps.T


def entered(program, matrix):
    """Tell a program about a matrix; return the arms that may win."""
    pairs = np.triu_indices(len(matrix), 1)
    program.price[:] = 1 / theory.divergences.kl_to_half(matrix - 0.5)[pairs]
    for one, other in zip(*pairs, strict=True):
        set_sign(program, one, other, int(matrix[one, other] > 0.5))
    losses = (matrix < 0.5).sum(axis=1)
    return np.flatnonzero(losses == losses.min()).tolist()


@pytest.mark.parametrize("num_arms", [2, 3, 4, 5, 6, 8, 16])
def test_programs_are_solved_as_certified(num_arms):
    rng = np.random.default_rng(2200 + num_arms)
    winners = 0
    for _ in range(12 if num_arms < 16 else 2):
        matrix = random_matrix(rng, num_arms)
        program = new_program(num_arms)
        costs = []
        for arm in entered(program, matrix):
            costs.append(solve(program, arm))
            evidence = np.zeros(matrix.shape)
            evidence[np.triu_indices(num_arms, 1)] = program.evidence
            slack = theory.copeland_program.candidate_slack(
                evidence + evidence.T, matrix - 0.5, arm
            )
            assert float(slack) >= 1 - 1e-9
        winners += len(costs)
        assert min(costs) == pytest.approx(
            theory.identification_bound(matrix).value, rel=1e-9
        )
    assert winners > 12 or num_arms in (2, 16)


def test_the_last_basis_serves_while_it_is_optimal():
    rng = np.random.default_rng(2210)
    program, remaining = new_program(5), 0
    matrix = random_matrix(rng, 5)
    for _ in range(60):
        noise = np.triu(rng.uniform(-0.002, 0.002, (5, 5)), 1)
        matrix = np.clip(matrix + noise - noise.T, 0.02, 0.98)
        before = program.inverse.copy()
        (winner, *_) = entered(program, matrix)
        cost = solve(program, winner)
        remaining += bool((program.inverse == before).all())
        fresh = new_program(5)
        entered(fresh, matrix)
        assert cost == pytest.approx(solve(fresh, winner), rel=1e-9)
    assert 10 < remaining < 60


@pytest.mark.parametrize(
    ("num_arms", "options"),
    [(2, {}), (4, {"growth": 0.0, "sticky": 0.0}), (5, {}), (5, {"cost": "prices"})],
    ids=str,
)
def test_duels_are_those_of_the_twin(num_arms, options):
    prices = theory.pair_prices([1.0, 2.0, 4.0, 0.5, 3.0][:num_arms], judge=0.25)
    rng = np.random.default_rng([2220, num_arms])
    for _ in range(3):
        matrix = random_matrix(rng, num_arms)
        outcomes = random_outcomes(matrix, 302, rng)
        rest = {name: item for name, item in options.items() if name != "cost"}
        paid = prices if "cost" in options else None
        twin = TrackAndStop(num_arms, np.random.default_rng(0), prices=paid, **rest)
        duels = duels_of(twin, outcomes, 300)
        policy = with_prices(policies.get("track-and-stop", **options), paid)
        kernel = policy.scalar_kernel()
        ours = play_kernel(kernel, outcomes, 300)
        assert ours.duels == duels


@pytest.mark.slow  # Quickly, duels and programs are those of others.
def test_shares_become_the_optimal_ones():
    matrix = MATRICES["condorcet"]
    bound = theory.identification_bound(matrix)
    best = bound.duels / (bound.duels.sum() / 2)
    records = simulate_runs(
        policies.get("track-and-stop"), matrix, checkpoints=(300_000,), runs=range(5)
    )
    shares = records.ledger["plays"][:, 0] / 300_000
    # Each pair is forced to have sqrt(t) duels.
    assert np.abs(shares - np.triu(best)).max() < 0.05
    assert (records.recommendation == 0).all()
