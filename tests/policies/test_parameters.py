"""Parameters out of bounds: the error names them, before anything is played."""

import pytest

from bayesduel import policies
from bayesduel.errors import PolicyParameterError


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("merge-rucb:alpha=0.5", "alpha"),
        ("merge-rucb:delta=0", "delta"),
        ("merge-rucb:delta=1", "delta"),
        ("merge-rucb:group_size=3", "group_size"),
        ("sparring:inner=exp3", "inner"),
        ("sparring:alpha=0", "alpha"),
        ("multisbm:alpha=-1", "alpha"),
        ("doubler:alpha=inf", "alpha"),
        ("scb:eps=-0.1", "eps"),
        ("scb:alpha_ref=0", "alpha_ref"),
        ("scb:first_length=1", "first_length"),
        ("scb:stop_rule=never", "stop_rule"),
        ("savage:goal=borda", "goal"),
        ("savage:delta=1", "delta"),
        ("savage-copeland:delta=-0.1", "delta"),
        ("interleaved-filter:variant=if3", "variant"),
        ("beat-the-mean:gamma=0.9", "gamma"),
    ],
)
def test_parameters_are_checked(text, word):
    with pytest.raises(PolicyParameterError, match=word):
        policies.parse_policy(text).check(4, 100)
