"""Rules for stopping as they are typed."""

import pytest

from bayesduel.errors import StoppingRuleError
from bayesduel.stopping import (
    AnytimeEvidence,
    Budget,
    FixedNumber,
    LeaderTest,
    PosteriorProbability,
    SeparateIntervals,
    parse_rule,
)


def test_rules_are_read():
    assert parse_rule("anytime:delta=0.05,width=0.01") == AnytimeEvidence(0.05, 0.01)
    assert parse_rule("posterior:delta=1e-3") == PosteriorProbability(0.001)
    both = parse_rule("anytime:delta=0.1 | budget:duels=300")
    assert both == AnytimeEvidence(0.1) | Budget(300)
    assert parse_rule("fixed:duels=300") == FixedNumber(300)
    assert parse_rule("intervals:level=0.95") == SeparateIntervals(0.95)
    assert parse_rule("p-value:alpha=0.05") == LeaderTest(0.05)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("anytim:delta=0.1", "did you mean anytime"),
        ("", "must be one of anytime, budget, fixed"),
        ("anytime", "must give delta of anytime"),
        ("anytime:delta", "has no parameter like that"),
        ("anytime:delta=0.1,size=3", "anytime has delta, width, prior, weight"),
        ("anytime:delta=2", "delta must be in "),
        ("budget:duels=many", "duels must be"),
    ],
)
def test_errors_name_what_is_wrong(text, words):
    with pytest.raises(StoppingRuleError, match=words):
        parse_rule(text)
