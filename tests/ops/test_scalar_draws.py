"""Draws of kernels, beside those of the generator of NumPy that they come from."""

import numpy as np
import pytest

from bayesduel.ops.scalar.compiled import standalone
from bayesduel.ops.scalar.draws import standard_exponential, standard_normal

DRAWS = 2_000
"""Enough for the rare branches of both tables, which one draw in a hundred takes."""


@pytest.mark.parametrize("part", [standard_exponential, standard_normal])
def test_draws_are_those_of_the_generator(part):
    ours, numpys = np.random.default_rng(5), np.random.default_rng(5)
    draw = standalone(part)
    found = [draw(ours) for _ in range(DRAWS)]
    wanted = getattr(numpys, part.py_func.__name__)(DRAWS)
    np.testing.assert_allclose(found, wanted, rtol=1e-14)
    assert ours.random() == numpys.random()
