"""Selections from the 136-ranker MSLR matrix."""

import numpy as np
import pytest

from bayesduel import instances
from bayesduel.instances import MSLR_SELECTIONS, generators
from theory import PreferenceMatrix

# Wu and Liu (2016), Table 9: winners, numbered from 1.
WINNERS = {
    "16-condorcet": ["115"],
    "32-condorcet": ["115"],
    "16-non-condorcet": ["60", "106", "130"],
    "32-non-condorcet": ["60", "120"],
}


def _wanted(name):
    """A 136-armed matrix in which a selection has its printed counts, if possible."""
    values = np.full((136, 136), 0.5)
    rankers = np.array(list(MSLR_SELECTIONS[name])) - 1
    counts = np.array(list(MSLR_SELECTIONS[name].values()))
    better = counts[:, None] > counts[None, :]
    values[np.ix_(rankers, rankers)] += 0.1 * (better.astype(float) - better.T)
    return values


def test_lists_are_those_of_the_table():
    assert set(MSLR_SELECTIONS) == set(WINNERS)
    for name, printed in MSLR_SELECTIONS.items():
        size = int(name[:2])
        assert len(printed) == size
        assert list(printed) == sorted(printed)
        assert 1 <= min(printed) and max(printed) <= 136
        # Every pair has one winner.
        assert sum(printed.values()) == size * (size - 1) // 2
        best = max(printed.values())
        assert [str(r) for r, c in printed.items() if c == best] == WINNERS[name]
        assert (best == size - 1) == ("non" not in name)
    with pytest.raises(TypeError):
        MSLR_SELECTIONS["16-condorcet"][115] = 0  # type: ignore


@pytest.mark.parametrize("name", ["16-condorcet", "32-condorcet"])
def test_rankers_are_counted_from_one(name):
    values = _wanted(name)
    part = instances.mslr_submatrix(values, name)
    rankers = list(MSLR_SELECTIONS[name])
    assert part.arm_names == tuple(map(str, rankers))
    assert part.name == f"mslr-{name}"
    assert part.source is not None and "Table 9" in part.source
    for a, i in enumerate(rankers):
        for b, j in enumerate(rankers):
            assert part.values[a, b] == values[i - 1, j - 1]
    named = PreferenceMatrix(values, source="a test")
    part = instances.mslr_submatrix(named, name)
    assert part.source is not None and part.source.endswith("; a test")


def test_wrong_matrices_are_refused(tmp_path):
    values = _wanted("16-condorcet")
    with pytest.raises(ValueError, match="must have 136 arms, got 16"):
        instances.mslr_submatrix(instances.load("sushi"), "16-condorcet")
    with pytest.raises(ValueError, match="selection must be one of 16-condorcet, 32-"):
        instances.mslr_submatrix(values, "64-condorcet")
    values[9, 21] = values[21, 9] = 0.5  # rankers 10 (0) and 22 (6)
    with pytest.raises(ValueError, match="ranker 22 beats 6 .*, got 5"):
        instances.mslr_submatrix(values, "16-condorcet")
    part = instances.mslr_submatrix(values, "16-condorcet", check_counts=False)
    assert part.wins[1] == 5
    np.save(tmp_path / "whole.npy", values)
    read = instances.mslr_submatrix(
        tmp_path / "whole.npy", "16-condorcet", check_counts=False
    )
    assert read == part


def test_random_submatrix_keeps_its_conditions():
    rng = np.random.default_rng(30)
    whole = generators.uniform_random(rng, 40, winner="any", shuffle=False).matrix
    for winner in ("any", "condorcet", "no_condorcet"):
        for _ in range(10):
            part, arms = instances.random_submatrix(
                rng, whole, 5, min_gap=0.05, winner=winner
            )
            assert len(set(arms.tolist())) == 5
            assert part.arm_names == tuple(str(arm) for arm in arms)
            assert (part.values == whole.values[np.ix_(arms, arms)]).all()
            gaps = np.abs(part.values - 0.5)[~np.eye(5, dtype=bool)]
            assert gaps.min() >= 0.05
            if winner != "any":
                result = part.condorcet_winner is not None
                assert result == (winner == "condorcet")


def test_random_submatrix_visits_all_arms():
    rng = np.random.default_rng(31)
    sushi = instances.load("sushi")
    seen, firsts = set(), set()
    for _ in range(200):
        part, arms = instances.random_submatrix(rng, sushi, 3)
        seen |= set(arms.tolist())
        firsts.add(int(arms[0]))
        assert part.arm_names is not None and sushi.arm_names is not None
        assert part.arm_names[0] == sushi.arm_names[arms[0]]
        assert part.name == "sushi 3 random arms"
    assert seen == firsts == set(range(16))


@pytest.mark.parametrize(
    ("error", "words", "options"),
    [
        (ValueError, "num_arms must be at most 16", {"num_arms": 17}),
        (ValueError, "winner must be one of any, condorcet", {"winner": "borda"}),
        (ValueError, r"min_gap must be in \[0, 1/2\)", {"min_gap": 0.5}),
        (TypeError, "rng must be a numpy.random.Generator", {"rng": 1}),
        # Every subset of a total order has a Condorcet winner.
        (ValueError, "a subset of 3 arms .*, got 20",
         {"winner": "no_condorcet", "max_tries": 20}),
    ],
)  # fmt: skip
def test_random_submatrix_refuses_what_cannot_be(error, words, options):
    usual = {"rng": np.random.default_rng(32), "num_arms": 3}
    with pytest.raises(error, match=words):
        instances.random_submatrix(matrix=instances.load("sushi"), **usual | options)


@pytest.mark.shared
@pytest.mark.parametrize("name", WINNERS)
def test_counts_on_the_real_matrix(name, shared_dir):
    path = shared_dir / "data" / "mslr" / "MSLR_Informational_PMat.npz"
    part = instances.mslr_submatrix(path, name)
    assert part.wins.tolist() == list(MSLR_SELECTIONS[name].values())
    assert part.arm_names is not None
    winners = [part.arm_names[arm] for arm in part.copeland_winners]
    assert winners == WINNERS[name]
    # Appendix D.1.3 leaves out gaps below 0.003; the last list does not keep to it.
    gaps = np.abs(part.values - 0.5)[~np.eye(part.num_arms, dtype=bool)]
    assert (gaps.min() >= 0.003) == (name != "32-non-condorcet")


@pytest.mark.shared
def test_the_whole_real_matrix(shared_dir):
    path = shared_dir / "data" / "mslr" / "MSLR_Informational_PMat.npz"
    matrix = instances.load(path)
    assert matrix == instances.load(path, key="PMat")
    assert matrix.num_arms == 136
    assert matrix.condorcet_winner is None
    assert matrix.copeland_winners == (114,)
    assert matrix.wins[114] == 134
    assert int(matrix.borda_scores.argmax()) == 109
    assert matrix.values[109, 114] == pytest.approx(0.5023, abs=5e-5)
    rng = np.random.default_rng(33)
    for winner in ("condorcet", "no_condorcet"):
        part = instances.random_submatrix(
            rng, matrix, 16, min_gap=0.005, winner=winner
        ).matrix
        assert part.num_arms == 16
