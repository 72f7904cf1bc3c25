"""The order of the tests of policies."""

from pathlib import Path

import pytest

HERE = Path(__file__).parent


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let the tests of one policy follow one another within their file.

    They share programs and runs; function by function, a process would hold those of
    all policies, more than it can (:mod:`bayesduel.program_cache`).
    """
    places = [place for place, item in enumerate(items) if _policy(item)]
    order: dict[object, int] = {}
    for place in places:
        item = items[place]
        order.setdefault(item.path, len(order))
        order.setdefault((item.path, _policy(item)), len(order))
    moved = sorted(
        (items[place] for place in places),
        key=lambda item: (order[item.path], order[item.path, _policy(item)]),
    )
    for place, item in zip(places, moved, strict=True):
        items[place] = item


def _policy(item: pytest.Item) -> str | None:
    """Return the policy that a test is about, where its parameters name one."""
    if not item.path.is_relative_to(HERE) or not hasattr(item, "callspec"):
        return None
    return item.callspec.params.get("name")
