"""What `bayesduel compare` is told to keep of runs, and says of it."""

import pytest


@pytest.mark.parametrize("record", ["plays", "regret", "quantiles"])
def test_the_record_is_handed_over(run, engine, record):
    result = run("compare", "-i", "cyclic", "-p", "d-ts", "--record", record)
    assert result.exit_code == 0, result.stderr
    assert engine.calls[0].record == record
    assert ("no ranking" in result.stdout) == (record == "quantiles")


def test_an_unknown_record_is_refused(run, engine):
    result = run("compare", "-i", "cyclic", "-p", "d-ts", "--record", "all")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: --record: must be one of plays, regret")


def test_wrong_parts_and_addresses_are_refused(run):
    asked = ("compare", "-i", "cyclic", "-p", "d-ts", "--runs", 2, "--horizon", 10)
    part = run(*asked, "--part", "3")
    assert part.exit_code == 2
    assert part.stderr.startswith("error: --part: must be a number of a number")
    folder = run(*asked, "--part", "1/3")
    assert folder.exit_code == 2
    assert "--out" in folder.stderr
    dask = run(*asked, "--dask", "somewhere")
    assert dask.exit_code == 2
    assert dask.stderr.startswith("error: --dask: must be 'local' or the address")
