"""Kernels that Python plays as they stand, beside the programs compiled of them."""

import os
import subprocess
import sys

import numpy as np
import pytest

from bayesduel import policies
from bayesduel.ops.scalar.uncompiled import run_uncompiled
from bayesduel.policies import scalar_kernel
from bayesduel.policies.policy import kernel_of
from bayesduel.policies.registry import entries
from bayesduel.simulation import kernel_calls
from bayesduel.simulation.kernel_calls import VOTES, KernelCalls
from bayesduel.studies import Study
from tests.compiling import play_in_python
from tests.policies.driving import assert_same
from tests.simulation.runs import simulate_runs

LONG = 10**6

KERNELS = [name for name in entries() if kernel_of(policies.get(name)) is not None]

WRAPPED = [
    policies.DelayedFeedback(policies.get("rmed1"), every=7),
    policies.DelayedFeedback(policies.get("d-ts+"), every=3),
    policies.WithoutSelfDuels(policies.get("sparring")),
    policies.WithoutSelfDuels(policies.get("ccb")),
]

ONE_OF_A_KIND = ("d-ts", "cw-rmed", "rmed1")
"""Draws, a program that the host solves, and notes of what was asked for."""


LOPSIDED = [(0, 1, 0, 0, 1, 40), (1, 0, 0, 0, 1, 3)]
"""Votes from before: 40 for one arm of a pair and 3 for the other."""


def probabilities(num_arms):
    """Return P(i gets a vote): cyclic beyond three arms, some pairs even, one sure."""
    table = np.full((num_arms, num_arms), 0.5)
    for i in range(num_arms):
        for j in range(i + 1, num_arms):
            table[i, j] = 0.5 if (j - i) % 3 == 0 else 0.75
            table[i, j] = 0.2 if j - i > 3 else table[i, j]
            table[j, i] = 1.0 - table[i, j]
    if num_arms == 3:
        table[0, 1], table[1, 0] = 1.0, 0.0
    return table


class Asked:
    """A policy in the middle of being asked, by ``callers`` one after another."""

    def __init__(self, policy, num_arms):
        self.kernel = kernel_of(policy)
        self.state = self.kernel.new_state(np.arange(num_arms), LONG)
        self.rng, self.round = np.random.default_rng(num_arms), 0

    def ask(self, calls):
        self.round, duel, note = calls.ask(self.state, self.rng, self.round, LONG)
        while self.kernel.solve_on_host(self.state):
            self.round, duel, note = calls.ask(self.state, self.rng, self.round, LONG)
        return self.round, duel, note

    def tell(self, calls, votes, begins=False):
        rows = np.array(votes, dtype=VOTES)
        given = self.state, self.rng
        self.round = calls.tell(*given, self.round, rows, begins=begins)
        while self.kernel.solve_on_host(self.state):
            self.round = calls.tell(*given, self.round, rows, begins=False)
        assert not rows["count"].any()

    @property
    def bytes(self):
        """All that it knows; not the table of tails, which is of no run."""
        arrays = leaves(self.state)
        return [array.tobytes() for array in arrays if array.size < 2**18]


def leaves(state):
    if isinstance(state, tuple):
        return [array for item in state for array in leaves(item)]
    return [state]


def questions(policy, num_arms, number, callers):
    """Yield what a policy asks for, and all that it knows; ``callers`` take turns."""
    requested, toss = Asked(policy, num_arms), np.random.default_rng(99)
    before = LOPSIDED if num_arms == 6 else []
    requested.tell(callers[0], before, begins=True)
    table = probabilities(num_arms)
    for index in range(number):
        calls = callers[index * len(callers) // number]
        round_, duel, note = requested.ask(calls)
        yield (round_, duel, note), requested.bytes
        if duel is None:
            return
        first, second = duel.first, duel.second
        won = toss.random() < table[first, second]
        requested.tell(calls, [(first, second, round_, note, won, 1)])
        if index % 10 == 9:  # A vote that nobody asked for.
            requested.tell(calls, [(num_arms - 1, 0, 0, 0, 1, 1)])


def name_of(policy):
    return policy if isinstance(policy, str) else policy.label


@pytest.mark.parametrize(
    "policy",
    [pytest.param(x, marks=[pytest.mark.slow] * (x != "d-ts")) for x in ONE_OF_A_KIND],
)
def test_python_and_the_program_ask_the_same(policy):
    """And know the same, bit for bit, whichever of them began."""
    policy = policies.get(policy) if isinstance(policy, str) else policy
    kernel = kernel_of(policy)
    for num_arms, number in ((2, 40), (3, 60), (6, 90)):
        python, program = KernelCalls(kernel, False), KernelCalls(kernel, True)
        callers = [python], [program], [KernelCalls(kernel, False), program]
        results = [[*questions(policy, num_arms, number, caller)] for caller in callers]
        assert results[0] == results[1] == results[2] and len(results[0]) > 10
        assert not python.is_compiled and program.is_compiled


@pytest.mark.parametrize(
    "name", [pytest.param(x, marks=[pytest.mark.slow] * (x != "ccb")) for x in KERNELS]
)
@pytest.mark.parametrize("compiled", [False, True])
def test_functions_called_one_at_a_time_are_those_of_the_kernel(name, compiled):
    """In Python, whose functions are called here as they stand, and compiled."""
    kernel = kernel_of(policies.get(name))
    calls, toss = KernelCalls(kernel, compiled), np.random.default_rng(5)
    num_arms = 4
    here, there = (kernel.new_state(np.arange(num_arms), LONG) for _ in range(2))
    rng, twin = (np.random.default_rng(8) for _ in range(2))

    def plain(name, *values):
        function = getattr(scalar_kernel, name)
        return run_uncompiled(lambda *given: function(*given), there, *values)

    calls.call("init", here, rng)
    plain("init", twin)
    table, round_ = probabilities(num_arms), 0
    for _ in range(60):
        duel = calls.call("choose", here, rng, round_ + 1)
        other = plain("choose", twin, round_ + 1)
        assert calls.call("is_waiting", here) == plain("is_waiting")
        if calls.call("is_waiting", here):
            assert kernel.solve_on_host(here) and kernel.solve_on_host(there)
            continue
        assert tuple(duel) == tuple(map(int, other))
        assert all(type(item) is int for item in duel)
        if duel.champion < 0 and duel.idle_rounds:
            shares = np.zeros((2, num_arms), dtype=np.int64)
            calls.call("share_idle_rounds", here, rng, duel.idle_rounds, shares[0])
            plain("share_idle_rounds", twin, duel.idle_rounds, shares[1])
            assert shares[0].sum() == duel.idle_rounds
            assert np.array_equal(*shares)
        round_ += duel.idle_rounds + duel.explores
        if round_ >= LONG:
            break
        assert calls.call("note", here) == plain("note")
        first, second = duel.first, duel.second
        won = bool(toss.random() < table[first, second])
        if not duel.explores or first == second:
            if not (duel.explores and calls.call("reads_self_duels", here)):
                continue
            won = False
        assert calls.call("reads_self_duels", here) == plain("reads_self_duels")
        calls.call("recall", here, first, second, calls.call("note", here))
        plain("recall", first, second, plain("note"))
        calls.call("update", here, rng, round_, first, second, won)
        plain("update", twin, round_, first, second, won)
        if calls.call("is_waiting", here):
            assert kernel.solve_on_host(here) and kernel.solve_on_host(there)
        assert calls.call("recommend", here, rng) == plain("recommend", twin)
        for one, other in zip(leaves(here), leaves(there), strict=True):
            assert one.tobytes() == other.tobytes()
    assert round_ > 10
    assert calls.is_compiled is compiled


@pytest.mark.slow
@pytest.mark.parametrize("policy", [*KERNELS, *WRAPPED], ids=name_of)
def test_python_and_the_program_play_the_same(policy, monkeypatch):
    """By the programs of simulations, as the tests of policies rely on."""
    policy = policies.get(policy) if isinstance(policy, str) else policy
    for num_arms in (2, 3, 6):
        options = {"checkpoints": (1, 30, 400), "runs": range(3)}
        matrix = probabilities(num_arms)
        program = simulate_runs(policy, matrix, **options)
        with monkeypatch.context() as patch:
            play_in_python(patch)
            python = simulate_runs(policy, matrix, **options)
        assert_same(python, program)
        for name, values in program.info.items():
            np.testing.assert_array_equal(python.info[name], values)


def test_python_leaves_to_the_program_what_it_cannot_compute():
    """Where it overflows; nothing of what it had begun is left."""
    policy = policies.get("rmed2", alpha=0.002)  # exp(draws / alpha) after two draws.
    kernel = kernel_of(policy)
    python, program = KernelCalls(kernel, False), KernelCalls(kernel, True)
    result = list(questions(policy, 3, 40, [python]))
    assert python.is_compiled
    assert result == list(questions(policy, 3, 40, [program]))


def test_votes_at_once_are_left_to_the_program_if_python_takes_too_long(monkeypatch):
    monkeypatch.setattr(kernel_calls, "MOST_SECONDS", 1e-9)
    monkeypatch.setattr(kernel_calls, "_loaded", set())
    kernel_calls._program.cache_clear()
    questions = Asked(policies.get("rucb"), 4)
    calls = KernelCalls(questions.kernel)
    assert not calls.is_compiled
    questions.tell(calls, [(0, 1, 0, 0, 1, 40)], begins=True)  # 16 of these by Python.
    assert calls.is_compiled
    assert KernelCalls(questions.kernel).is_compiled


def test_nobody_who_answers_questions_waits_for_a_program(monkeypatch):
    """However long Python has taken: compiling takes longer than any question."""
    monkeypatch.setattr(kernel_calls, "MOST_SECONDS", 1e-9)
    monkeypatch.setattr(kernel_calls, "_loaded", set())
    kernel = kernel_of(policies.get("rucb"))
    calls = KernelCalls(kernel, num_arms=4)
    assert len([*questions(policies.get("rucb"), 4, 30, [calls])]) == 30
    assert not calls.is_compiled
    assert KernelCalls(kernel, num_arms=kernel_calls.MOST_ARMS + 1).is_compiled


def _fails_late(records, numbers):
    records[0].count += 1
    numbers[1] = 7.0
    raise ArithmeticError("too late")


def test_what_fails_has_changed_nothing():
    records, numbers = np.zeros(2, dtype=[("count", np.int64)]), np.zeros(2)
    with pytest.raises(ArithmeticError):
        run_uncompiled(_fails_late, records, numbers)
    assert not records["count"].any() and not numbers.any()


def _write(table, index):
    table[index] = 1.0
    return table.size


def test_a_large_array_is_not_written_to():
    small, large = np.zeros((4, 4)), np.zeros((1024, 1024))
    assert run_uncompiled(_write, small, (1, 2)) == 16
    assert small.sum() == small[1, 2] == 1.0
    with pytest.raises(ValueError, match="too large"):
        run_uncompiled(_write, large, (1, 2))
    assert not large.any()


_STUDY = """
import sys
from bayesduel.simulation import kernel_calls
from bayesduel.studies import Study
kernel_calls.MOST_SECONDS = float(sys.argv[2])
with Study.open(sys.argv[1]) as study:
    for number in range(int(sys.argv[3])):
        ticket = study.ask()[0]
        better = "left" if (ticket.left < ticket.right) == (number % 4 > 0) else "right"
        print(ticket.left, ticket.right)
        study.tell(ticket, better)
print("numba" in sys.modules)
"""


def _questions(path, seconds, number):
    command = [sys.executable, "-c", _STUDY, path, str(seconds), str(number)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603
    assert done.returncode == 0, done.stderr
    *pairs, has_numba = done.stdout.splitlines()
    return pairs, has_numba == "True"


@pytest.mark.slow
def test_a_study_may_change_hands_between_python_and_the_program(tmp_path):
    """In either direction, by processes that each replay what was before."""
    results = []
    for index, turns in enumerate(["inf 0 inf", "inf"]):
        path = tmp_path / f"{index}.study"
        with Study.create(path, ["a", "b", "c", "d"], policy="d-ts"):
            pass
        pairs, turns = [], turns.split()
        for seconds in turns:
            more, has_numba = _questions(path, seconds, 36 // len(turns))
            assert has_numba is (seconds == "0")
            pairs += more
        results.append(pairs)
    assert len(results[0]) == 36 and results[0] == results[1]


_PLAYS = """
import bayesduel, numpy as np, sys
for name in sys.argv[1:]:
    result = bayesduel.simulate("cyclic", name, num_runs=2, horizon=600, seed=3)
    print(name, np.argwhere(result["plays"].values > 0).tolist(),
          result["plays"].values.reshape(-1).tolist())
"""


@pytest.mark.slow
def test_simulations_are_the_same_where_numba_compiles_nothing():
    """Play a kernel whose stretches are shared, and of a rule that is compiled."""
    results = []
    for switch in ("1", "0"):
        command = [sys.executable, "-c", _PLAYS, "ccb", "doubler"]
        environment = os.environ | {"NUMBA_DISABLE_JIT": switch}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        results.append(done.stdout)
    assert len(results[0].splitlines()) == 2 and results[0] == results[1]
