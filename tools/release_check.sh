#!/bin/sh
# Build the distributions and try the wheel as a user would: in an empty environment of
# each Python that the package supports, with the newest dependencies there are.
# Called by `make release-check`; versions, or paths of interpreters where uv can fetch
# none, as arguments instead of all three.
set -eu

cd "$(dirname -- "$0")/.."
uv=$(sh tools/bootstrap.sh uv)
[ "$#" -gt 0 ] || set -- 3.12 3.13 3.14

rm -rf dist
.venv/bin/python -m build --no-isolation --outdir dist
"$uv" tool run twine check --strict dist/*

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
wheel=$(ls "$PWD"/dist/*.whl)
for version in "$@"; do
    echo "== Python $version"
    rm -rf "$scratch/env"
    "$uv" venv --quiet --no-project --python "$version" "$scratch/env"
    "$uv" pip install --quiet --python "$scratch/env/bin/python" "$wheel"
    # Outside the checkout, or its folders would be imported in place of the wheel.
    (
        cd "$scratch"
        env/bin/bayesduel --version
        env/bin/bayesduel bounds cyclic >bounds.txt
        # A new release of a solver may print more than it was asked for.
        env/bin/bayesduel bounds cyclic --json | env/bin/python -m json.tool >bounds.json
        env/bin/bayesduel compare -i cyclic -p d-ts -p bt-ts --runs 3 --horizon 1e3
        printf 'winner,loser\na,b\na,b\nb,c\na,c\nc,a\n' >votes.csv
        env/bin/bayesduel fit votes.csv
        grep -q 27.5487 bounds.txt
    )
done
echo "The wheel works on Python $*."
