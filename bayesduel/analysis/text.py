"""How numbers of results are written in tables and figures."""

from __future__ import annotations

import math
from collections.abc import Iterable


def aligned(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Return the lines of a table: two columns of names, the others of numbers."""
    table = [header, *rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if index < 2 else cell.rjust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in table
    ]


def format_with_error(value: float, error: float) -> str:
    """Return "65.6 ± 0.9": decimals fit the error; "(1 run)" where it is unknown.

    Examples
    --------
    >>> format_with_error(601.72, 53.9), format_with_error(65.58, 0.93)
    ('602 ± 54', '65.6 ± 0.9')
    >>> format_with_error(65.58, float("inf"))
    '65.6 (1 run)'
    >>> format_with_error(149999.9999999996, 5e-10)
    '150000 ± 0'
    """
    if not math.isfinite(error):
        return f"{format_number(value)} (1 run)"
    if error <= 1e-9 * abs(value):  # Equal values differ by rounding at most.
        return f"{format_number(value)} ± 0"
    decimals = 0 if error >= 9.95 else max(1, -math.floor(math.log10(error)))
    return f"{value:.{decimals}f} ± {error:.{decimals}f}"


def format_number(value: float) -> str:
    """Return a number with three digits or all of its integer digits.

    Examples
    --------
    >>> [format_number(x) for x in (0.01234, 9.876, 65.58, 601.72, 17962.4)]
    ['0.0123', '9.88', '65.6', '602', '17962']
    """
    if value == 0:
        return "0"
    decimals = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{value:.{decimals}f}"


def format_rounds(rounds: int) -> str:
    """Return "10^6" for powers of ten from 10^4 on, the number itself otherwise.

    Examples
    --------
    >>> format_rounds(10**6), format_rounds(2500)
    ('10^6', '2500')
    """
    text = str(rounds)
    if len(text) > 4 and set(text[1:]) == {"0"}:
        power = f"10^{len(text) - 1}"
        return power if text[0] == "1" else f"{text[0]}·{power}"
    return text


def regret_words(notion: str) -> str:
    """Return how texts call a notion of regret; the only one of a world has no name."""
    return "regret" if notion == "regret" else f"{notion} regret"
