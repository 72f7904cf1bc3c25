"""The wheel holds all that is needed, and works outside the checkout.

Nothing is fetched: the wheel is built by the installed hatchling and installed, without
its dependencies, into an environment that borrows those of this one.
"""

import email
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

PACKAGES = ("bayesduel", "theory")


def run(*command: str | Path, cwd: Path) -> str:
    """Run a command away from this process's settings and return its output."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "PIP_", "VIRTUALENV_"))
    }
    result = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=environment | {"COLUMNS": "80", "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, f"{command}\n{result.stdout}\n{result.stderr}"
    return result.stdout


@pytest.fixture(scope="module")
def project(project_dir: Path) -> dict:
    return tomllib.loads((project_dir / "pyproject.toml").read_text())["project"]


@pytest.fixture(scope="module")
def built(project_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the source distribution, and the wheel from it."""
    folder = tmp_path_factory.mktemp("dist")
    run(
        *(sys.executable, "-m", "build", "--no-isolation"),
        *("--outdir", folder, project_dir),
        cwd=folder,
    )
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (path,) = built.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def elsewhere(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the programs of an environment that holds the wheel."""
    folder = tmp_path_factory.mktemp("elsewhere")
    run(
        *(sys.executable, "-m", "virtualenv", "--quiet", "--no-download"),
        *("--app-data", folder / "seeds", folder / "env"),
        cwd=folder,
    )
    programs = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    run(
        *(programs / "python", "-m", "pip", "install", "--quiet", "--no-index"),
        *("--no-deps", "--disable-pip-version-check", wheel),
        cwd=folder,
    )
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = Path(run(programs / "python", "-c", ask, cwd=folder).strip())
    # A folder named in a .pth file lends its packages, but its own .pth files, such as
    # the one that leads to the checkout, are not followed.
    (site / "borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n")
    return programs


def test_wheel_holds_every_module_and_data_file(wheel: Path, project_dir: Path) -> None:
    expected = {
        path.relative_to(project_dir).as_posix()
        for package in PACKAGES
        for path in (project_dir / package).rglob("*")
        if path.is_file()
        and not {"__pycache__", ".ruff_cache"} & set(path.parts)
        and path.name != "ruff.toml"
        and not path.name.startswith(".")
    }
    held = {
        name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name
    }
    assert held == expected
    assert {f"{package}/py.typed" for package in PACKAGES} < held


def test_wheel_carries_the_licence_and_the_notice(wheel: Path, project: dict) -> None:
    archive = zipfile.ZipFile(wheel)
    info = f"bayesduel-{project['version']}.dist-info"
    metadata = email.message_from_bytes(archive.read(f"{info}/METADATA"))
    assert metadata["License-Expression"] == "Apache-2.0"
    assert metadata.get_all("License-File") == ["LICENSE", "NOTICE"]
    assert b"Apache License" in archive.read(f"{info}/licenses/LICENSE")


def test_dependencies_have_lower_bounds_and_no_upper_ones(project: dict) -> None:
    optional = project["optional-dependencies"].values()
    for line in [*project["dependencies"], *(one for some in optional for one in some)]:
        assert re.fullmatch(r"[\w-]+(\[[\w,]+\])?>=[\d.]+", line), line


def test_source_distribution_holds_the_tests(built: Path) -> None:
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {"tests/conftest.py", "constraints.txt", "NOTICE"} <= names
    assert not any(name.startswith((".venv", "shared")) for name in names)


def test_what_is_installed_works_outside_the_checkout(
    elsewhere: Path, tmp_path: Path
) -> None:
    """The command, and a named matrix, which is a file of the package."""
    output = run(elsewhere / "bayesduel", "--help", cwd=tmp_path)
    assert "Usage: bayesduel" in output
    code = (
        "import bayesduel, theory;"
        "print(bayesduel.load('cyclic').condorcet_winner);"
        "print(bayesduel.__file__); print(theory.__file__)"
    )
    output = run(elsewhere / "python", "-I", "-c", code, cwd=tmp_path)
    winner, *paths = output.splitlines()
    assert winner == "0"
    assert all(Path(path).is_relative_to(elsewhere.parent) for path in paths)


def test_one_version_everywhere(project_dir: Path, project: dict) -> None:
    version = project["version"]
    citation = (project_dir / "CITATION.cff").read_text()
    assert re.search(rf"^version: {re.escape(version)}$", citation, re.MULTILINE)
    changes = (project_dir / "CHANGELOG.md").read_text()
    assert re.search(rf"^## {re.escape(version)}\b", changes, re.MULTILINE)


def test_constraints_pin_every_dependency_without_an_address(
    project_dir: Path, project: dict
) -> None:
    text = (project_dir / "constraints.txt").read_text()
    assert "://" not in text and "@" not in text
    # One pin per line; a package has several where Python versions need different ones.
    lines = re.findall(r"^([a-z0-9-]+)==[\w.]+( ; .+)?$", text, re.MULTILINE)
    assert len(set(lines)) == len(text.splitlines())
    pinned = {name for name, _ in lines}
    groups = tomllib.loads((project_dir / "pyproject.toml").read_text())[
        "dependency-groups"
    ]
    wanted = [*project["dependencies"]]
    for lines in [*project["optional-dependencies"].values(), *groups.values()]:
        wanted += [line for line in lines if isinstance(line, str)]
    names = {re.match(r"[\w-]+", line)[0].lower() for line in wanted}
    assert names <= pinned
