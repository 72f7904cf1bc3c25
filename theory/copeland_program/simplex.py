"""The simplex method of HiGHS, as programs that grow by rows are solved here."""

from __future__ import annotations

from typing import Any

# Tolerance of primal and dual feasibility: the smallest that HiGHS allows. It is below
# that of the oracles, so that a constraint that was added stays satisfied.
_TOLERANCE = 1e-10
DUAL, PRIMAL = 1, 4  # Methods, as HiGHS numbers them: from a basis, and from none


def new_simplex() -> Any:
    """Return an empty solver: one thread, silent, no presolve, which takes longer."""
    import highspy

    class Silent(highspy.Highs):
        """As HiGHS, which from 1.16 on says who it is before it can be told not to."""

        def enableCallbacks(self) -> None:  # noqa: N802
            """Be called while a solver is made, before anything is printed."""
            self.setOptionValue("output_flag", False)
            super().enableCallbacks()

    solver = Silent()
    for option, value in (
        ("output_flag", False),
        ("presolve", "off"),
        ("solver", "simplex"),
        ("parallel", "off"),
        ("threads", 1),
        ("primal_feasibility_tolerance", _TOLERANCE),
        ("dual_feasibility_tolerance", _TOLERANCE),
    ):
        solver.setOptionValue(option, value)
    return solver
