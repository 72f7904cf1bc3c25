"""The how-to on nested files reads them as it says."""

import ast
import tempfile

import pytest

from tests.test_docs import DOCS, PYTHON_BLOCK

PAGE = DOCS / "how_to" / "nested_votes.md"

pytestmark = pytest.mark.skipif(
    not DOCS.is_dir(), reason="the documentation is not part of the distribution"
)

READ = [
    {"x vs y": [1, 0, 0], "y vs z": [0, 0, 1], "z vs x": [0, 1, 0]},
    {"alpaca-13b vs gpt-4 (context 81)": [1, 0, 1],
     "alpaca-13b vs gpt-4 (context 82)": [0, 0, 1]},
    {"x vs y (judge 1, context p1)": [1, 0, 0],
     "x vs y (judge 2, context p1)": [1, 0, 0],
     "y vs z (judge 1, context p2)": [0, 1, 0]},
    {"0: x > y": 1, "1: x > y > z": 1, "2: x > z > y": 1},
    {"x vs y (judge ann)": [1, 0, 0], "x vs y (judge bob)": [0, 0, 1]},
    {"x vs y (judge W1)": [1, 0, 0], "x vs y (judge W2)": [0, 0, 1],
     "y vs z (judge W2)": [0, 1, 0]},
    {"x vs y (judge W1)": [1, 0, 0], "x vs y (judge W2)": [0, 1, 0]},
    {"0: x > z": 1, "1: x > y > z": 1, "2: y > x > z": 1},
    {"0: x > y = z": 1, "1: y > x > w": 1},
    {"x vs y": [1, 0, 0]},
]  # fmt: skip
"""The votes that each section of the page reads, worked out by hand."""


def test_each_section_reads_its_file(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    names, read = {}, []
    for block in PYTHON_BLOCK.findall(PAGE.read_text("utf-8")):
        tree = ast.parse(block)
        if isinstance(tree.body[-1], ast.Expr):
            tree.body[-1] = ast.Assign(
                [ast.Name("data", ast.Store())], tree.body[-1].value
            )
        exec(compile(ast.fix_missing_locations(tree), PAGE.name, "exec"), names)
        if "data" in names:
            data = names.pop("data")
            read.append(dict(zip(data.row_names, data.counts.tolist(), strict=True)))
    assert read == READ
