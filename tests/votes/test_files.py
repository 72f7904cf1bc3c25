"""Votes, choices and ballots from files."""

import gzip

import numpy as np
import pytest

from bayesduel.errors import ComparisonDataError
from bayesduel.votes import read_choices, read_comparisons, read_preflib
from tests.votes.helpers import refused, written


def test_single_votes(tmp_path):
    path = written(
        tmp_path, "id,left,right,winner\n1,a,b,left\n2,b,a,tie\n3,b,a,a\n", "votes.csv"
    )
    votes = read_comparisons(path)
    assert votes.order_known
    assert votes.row_names == ["a vs b", "b vs a"]
    assert votes.counts.tolist() == [[1, 0, 0], [0, 1, 1]]


def test_winners_and_losers(tmp_path):
    """Arms may be called like words for outcomes, which have no place here."""
    text = "loser,winner,times\nx,right,3\nright,x,1\nleft,right,2\n"
    path = written(tmp_path, text, "won.csv")
    votes = read_comparisons(path, weight="times")
    assert not votes.order_known and not votes.has_ties
    assert votes.arm_names == ("left", "right", "x")
    assert votes.wins.tolist() == [[0, 0, 0], [2, 0, 3], [0, 1, 0]]
    assert read_comparisons(path).num_votes == 3
    named = written(tmp_path, text.replace("loser,winner", "l,w"), "named.csv")
    for arms in (("w", "l"), ("l", "w")):
        again = read_comparisons(named, arms=arms, winner="w", weight="times")
        assert again.wins.tolist() == votes.wins.tolist()
    refused("order_known=True needs columns", read_comparisons, path, order_known=True)
    refused("leave ties", read_comparisons, path, ties=["times"])
    both = written(tmp_path, "a,b,winner,loser\nx,y,x,y\n", "both.csv")
    refused("a and b or winner and loser", read_comparisons, both)
    assert read_comparisons(both, arms=("a", "b")).order_known


def test_counts_per_pair_and_compression(tmp_path):
    path = tmp_path / "pairs.csv.gz"
    with gzip.open(path, "wt") as file:
        file.write("team_a,team_b,wins_a,wins_b,draws,void\nx,y,3,1,2,5\nz,x,0,2,0,1\n")
    votes = read_comparisons(path, ties=["draws", "void"])
    assert not votes.order_known
    assert votes.counts.tolist() == [[3, 1, 7], [2, 0, 1]]
    assert read_comparisons(path).num_votes == 8


def test_ties_are_neither_lost_nor_guessed(tmp_path):
    text = "a,b,wins_a,wins_b,t_ij,n\nx,y,3,1,202,9\n"
    path = written(tmp_path, text, "p.csv")
    refused(r"t_ij \(202\).*ties=\['t_ij'\]", read_comparisons, path)
    assert read_comparisons(path, ties=["t_ij"]).ties[0, 1] == 202
    assert not read_comparisons(path, ties=[]).has_ties
    written(tmp_path, text.replace("202", "0"), "p.csv")
    assert read_comparisons(path).num_votes == 4
    refused("named twice", read_comparisons, path, ties=["t_ij", "t_ij"])
    written(tmp_path, text.replace("t_ij", "ties").replace(",n", ",both_bad"), "p.csv")
    refused(r"ties \(202\), both_bad \(9\)", read_comparisons, path)
    # A time of day is no number of ties.
    written(tmp_path, text.replace("t_ij", "t").replace("202", "12:30"), "p.csv")
    assert read_comparisons(path).num_votes == 4


def test_names_hold_what_quotes_allow(tmp_path):
    text = 'left,right,winner\n"tea,\nblack",milk,left\nhot\u2028water,milk,right\n'
    votes = read_comparisons(written(tmp_path, text, "q.csv"))
    assert votes.arm_names == ("hot\u2028water", "milk", "tea,\nblack")
    text = "left,right,winner\n\u00e9clair,b,b\nb,e\u0301clair,b\n"
    votes = read_comparisons(written(tmp_path, text, "q.csv"))
    assert votes.num_arms == 2 and votes.counts.sum() == 2


@pytest.mark.parametrize("title", ["Winner Tie", "even"])
def test_a_column_that_is_one_where_nobody_won_is_not_lost(tmp_path, title):
    """Votes as three columns of 0 and 1; the last one is found by what it holds."""
    text = f"model_a,model_b,w_a,w_b,{title}\n" + "x,y,1,0,0\nx,y,0,1,0\nx,y,0,0,1\n"
    path = written(tmp_path, text, "hot.csv")
    refused("look like numbers of ties", read_comparisons, path, wins=("w_a", "w_b"))
    votes = read_comparisons(path, wins=("w_a", "w_b"), ties=[title])
    assert votes.counts.tolist() == [[1, 1, 1]]


@pytest.mark.parametrize(
    ("text", "unread"),
    [
        ("judge,left,right,winner,year\nAda,a,b,a,2024\n", "'judge', 'year'"),
        ("a,b,wins_a,wins_b,seen\na,b,3,1,4\n", "column 'seen'"),
        ("left,right,winner\na,b,a\n", ""),
    ],
)
def test_columns_that_are_not_read_are_said(tmp_path, caplog, text, unread):
    read_comparisons(written(tmp_path, text, "v.csv"))
    assert bool(caplog.messages) == bool(unread)
    assert unread in caplog.text


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        ("left,right,winner\na,b,c\n", {}, "winner: row 0"),
        ("left,right,winner\n", {}, "at least one row"),
        ("x,y,winner\na,b,a\n", {}, "none of the usual columns"),
        ("a,b,wins_a,wins_b\nx,y,1_000,2\n", {}, "is no number: '1_000'"),
        ("a,b,wins_a,wins_b\nx,y,１,2\n", {}, "is no number"),
        ("a,b,wins_a,wins_b\nx,y,nan,2\n", {}, "is no number: 'nan'"),
        ("a,b,wins_a,wins_b\nx,y,1e400,2\n", {}, "is above 1e.15: '1e400'"),
        (f"a,b,wins_a,wins_b\nx,y,{'9' * 5000},2\n", {}, "is above"),
        ("a,b,wins_a,wins_b\nx,y,7.5,2\n", {}, "'wins_a' is no whole number"),
        ("a,b,wins_a,wins_b,ties,draws\nx,y,1,2,3,3\n", {}, r"ties \(3\), draws"),
        ("left,right,winner,winner\na,b,left,right\n", {}, "columns 3 and 4 are both"),
        ("a,b,winner,wins_a,wins_b\nx,y,x,1,2\n", {}, "both a column 'winner' and co"),
        ("left,right,a,b,winner\nx,y,u,v,left\n", {}, "left and right or a and b"),
        ("a,b,wins_a,wins_b\nx,y,1,-2\n", {}, "row 0 of column 'wins_b' is negative"),
        ("left,right,winner\na,b,a\n", {"arm_names": ["a", "c"]}, "unknown arm 'b'"),
        ("left,right,winner\na,b,a\n", {"winner": "won"}, "no column 'won'"),
        ("left,right,winner\na,b,a\na,b,\n", {}, "row 1 has no answer.*leave such"),
        ('[{"left": "a"}, 3]', {}, "row 1 must be a record"),
        ('{"left": {"0": "a"}}\n{', {}, "is no JSON: line 2"),
        ("[]", {}, "none of|at least one record"),
        ("# NUMBER ALTERNATIVES: 2\n1: 1,2\n", {}, "ballots of PrefLib.*read_preflib"),
    ],
)
def test_bad_files_are_refused_in_words(tmp_path, text, options, words):
    with pytest.raises(ComparisonDataError, match=words):
        read_comparisons(written(tmp_path, text, "bad.csv"), **options)


def test_choices(tmp_path):
    path = written(tmp_path, "Choice,a,b,c\n1,1,1,0\n3,1,1,1\n0,1,1,1\n", "c.csv")
    choices = read_choices(path, none=0)
    assert choices.arm_names == ("a", "b", "c")
    assert choices.counts.tolist() == [[1, 0, 0, 0], [0, 0, 1, 1]]
    refused("row 2 chooses 0", read_choices, path)
    for cell in ("2", "-1", "0.5", "nan"):
        odd = written(tmp_path, f"Choice,a,b,c\n1,1,1,{cell}\n", "e.csv")
        refused("row 0 of column 'c'", read_choices, odd)
    minus = written(tmp_path, "Choice,a,b\n-1,1,1\n2,1,1\n", "e.csv")
    assert read_choices(minus, none=-1).counts.tolist() == [[0, 1, 1]]
    shifted = written(tmp_path, "Choice,a,b,c\n1,1,0,1\n2,1,1,1\n", "d.csv")
    refused("was not on offer", read_choices, shifted, first_index=0)


PREFLIB = """# NUMBER ALTERNATIVES: 4
# ALTERNATIVE NAME 1: tea
# ALTERNATIVE NAME 2: milk: cold
# ALTERNATIVE NAME 3: coffee
# ALTERNATIVE NAME 4: water
12: 1,{2,3},4
3: 4,1
"""


def test_preflib(tmp_path):
    ballots = read_preflib(written(tmp_path, PREFLIB, "drinks.toi"))
    assert ballots.arm_names == ("tea", "milk: cold", "coffee", "water")
    result = dict(zip(map(tuple, ballots.places.tolist()), ballots.counts, strict=True))
    assert result == {(1, 2, 2, 3): 12, (2, 0, 0, 1): 3}


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("a.csv", PREFLIB, "ends with"),
        ("a.toc", PREFLIB + "1: 5\n", "line 8: alternative 5"),
        ("a.toc", PREFLIB + "1: 2,2\n", "ranked twice"),
        ("a.toc", PREFLIB + "one: 2\n", "line 8: must be"),
        ("a.toc", PREFLIB.replace("NAME 3", "NAME 7"), "must be named"),
        ("a.toc", PREFLIB.replace("NAME 3", "NAME 2"), "line 4: .* named twice"),
        ("a.toc", PREFLIB.replace("VES: 4", "VES: " + "9" * 5000), "must be named"),
        ("a.toc", PREFLIB + "1_0: 2\n", "line 8: must be"),
        ("a.toc", PREFLIB + "1: 1,{2,3\n", "line 8: must be"),
        ("a.toc", PREFLIB + "1e400: 1,2\n", "line 8: the number of voters"),
        ("a.toc", PREFLIB[: PREFLIB.index("12:")], "holds no ballot"),
    ],
)
def test_bad_preflib_files_are_refused_in_words(tmp_path, name, text, words):
    with pytest.raises(ComparisonDataError, match=words):
        read_preflib(written(tmp_path, text, name))


@pytest.mark.parametrize(
    ("name", "arms", "voters", "ballots", "winner"),
    [
        ("netflix.soc", 4, 588, 24, "Beverly Hills Cop"),
        ("skaters.toc", 30, 9, 9, "Alexei Yagudin"),
        ("debian_2010.toc", 5, 436, 82, "Stefano Zacchiroli"),
        ("nasa.toc", 32, 10, 10, "Trajectory 22"),
        ("cities.soi", 36, 392, 372, "Zurich"),
    ],
)
def test_preflib_of_the_world(shared_dir, name, arms, voters, ballots, winner):
    """Sizes and winners as the files' own headers and notes say."""
    rankings = read_preflib(shared_dir / "data" / "ballots" / name)
    assert rankings.num_arms == arms
    assert rankings.num_votes == voters
    assert len(rankings.counts) == ballots
    pairs = rankings.to_comparisons()
    losses = np.sum(pairs.wins < pairs.wins.T, axis=1)
    assert pairs.arm_names[int(np.argmin(losses))] == winner
    assert losses.min() == 0


def test_tables_of_the_world(shared_dir):
    folder = shared_dir / "data"
    food = read_comparisons(folder / "food" / "food.csv")
    assert food.counts.sum(axis=0).tolist() == [13, 15, 2]
    pairs = "football_international/international_2000on_pairs.csv"
    football = read_comparisons(folder / pairs)
    assert football.num_arms == 133 and football.num_votes == 17080
    assert football.counts[:, 2].sum() == 4375 and len(football.strong_parts()) == 1
    path = folder / "chatbot_arena" / "arena_20240814_pairs.csv"
    arena = read_comparisons(path, ties=["ties", "both_bad"])
    assert arena.num_votes == 1670250 and len(arena.parts()) == 1
    crowd = read_comparisons(folder / "llmfao" / "crowd-comparisons.csv")
    assert crowd.counts.sum(axis=0).tolist() == [2911, 2549, 3471]
    work = read_choices(folder / "choice_sf" / "SFwork.csv")
    assert work.num_votes == 5029 and len(work.offered) == 12
