#!/bin/sh
# Make or repair the project's private environment, .venv. Called by every `make`
# target; with nothing to do it ends in a few hundredths of a second.
#
# `bootstrap.sh uv` prints the uv to use instead, `bootstrap.sh python` the interpreter.
#
# Needs: a POSIX shell, a package index, and either uv or some python3 with venv.
# Writes: .venv and .tools in the checkout, and uv's cache.
# BAYESDUEL_PYTHON asks for an interpreter: a version (3.12) or a command.
set -eu

root=$(CDPATH='' cd -- "$(dirname -- "$0")/.." && pwd -P)
cd "$root"
# Another environment, or another project's modules, must not leak into this one.
unset PYTHONPATH PYTHONHOME VIRTUAL_ENV CONDA_PREFIX || true

venv=.venv
stamp=$venv/.bayesduel-stamp

say() { printf 'bootstrap: %s\n' "$*" >&2; }
die() { say "$*"; exit 1; }

BAYESDUEL_PYTHON=${BAYESDUEL_PYTHON:-}
case $BAYESDUEL_PYTHON in
    python3.[0-9]*) BAYESDUEL_PYTHON=${BAYESDUEL_PYTHON#python} ;;
esac

# --- What a finished environment looks like ------------------------------------------

# Print the stamp that the environment deserves as it stands; fail if it is broken.
current_stamp() {
    [ -f "$venv/pyvenv.cfg" ] || return 1
    version=$("$venv/bin/python" -I -S -c 'import sys; print(sys.version)' \
        2>/dev/null) || return 1
    # The path, because scripts and the editable install name it: a moved or copied
    # checkout needs a new environment. The packages, because one may have been removed.
    printf 'checkout %s\n' "$root"
    printf 'python %s\n' "$version"
    printf 'inputs %s\n' \
        "$(cat pyproject.toml constraints.txt tools/bootstrap.sh | cksum)"
    printf 'packages %s\n' \
        "$(ls -d "$venv"/lib/python*/site-packages/*.dist-info | cksum)"
}

# Print the minor version, such as 3.13, of an interpreter.
minor_of() {
    "$1" -I -S -c 'import sys; print("%d.%d" % sys.version_info[:2])' 2>/dev/null
}

# Whether the environment is of the version that BAYESDUEL_PYTHON asks for, if any.
version_as_asked() {
    case $BAYESDUEL_PYTHON in
        '') return 0 ;;
        3.[0-9]*) asked=$BAYESDUEL_PYTHON ;;
        *) asked=$(minor_of "$BAYESDUEL_PYTHON") ;;
    esac
    [ "$asked" = "$(minor_of "$venv/bin/python")" ]
}

finished() {
    [ -f "$stamp" ] && expected=$(current_stamp 2>/dev/null) &&
        [ "$expected" = "$(cat "$stamp")" ] && version_as_asked
}

# --- One at a time -------------------------------------------------------------------

# With flock the lock falls with the process. Without it, a folder is the lock, and it
# is stale when the process that made it is gone.
take_lock() {
    mkdir -p .tools
    if command -v flock >/dev/null 2>&1; then
        exec 9>.tools/lock
        flock -n 9 || { say "waiting for another make in this checkout"; flock 9; }
        return
    fi
    patience=10
    until mkdir .tools/lock.d 2>/dev/null; do
        owner=$(cat .tools/lock.d/pid 2>/dev/null || true)
        if [ -n "$owner" ] && ! kill -0 "$owner" 2>/dev/null; then
            rm -rf .tools/lock.d
        elif [ -z "$owner" ] && [ "$patience" -le 0 ]; then
            rm -rf .tools/lock.d # its maker died before it could sign
        else
            [ "$patience" -ne 10 ] || say "waiting for another make in this checkout"
            [ -n "$owner" ] && [ "$patience" -lt 10 ] || patience=$((patience - 1))
            sleep 1
        fi
    done
    echo $$ >.tools/lock.d/pid
    trap 'rm -rf "$root/.tools/lock.d"' EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM
}

# --- An interpreter ------------------------------------------------------------------

# Print the real path of an interpreter if it runs and is new enough. It is run, because
# a version manager's shim may exist and fail.
accept() {
    "$1" -I -c '
import sys, sysconfig
if sys.version_info < (3, 12) or sys.implementation.name != "cpython":
    sys.exit(1)
if sysconfig.get_config_var("Py_GIL_DISABLED"):
    sys.exit(1)  # few packages ship wheels for the free-threaded build
print(sys.executable)
' 2>/dev/null | grep .
}

# Folders in which pyenv keeps its versions.
pyenv_versions() {
    [ -z "${PYENV_ROOT:-}" ] || echo "$PYENV_ROOT/versions"
    pyenv root 2>/dev/null | sed 's#$#/versions#' || true
    for name in python3 python; do
        shim=$(command -v "$name" 2>/dev/null) || continue
        case $shim in */shims/*) echo "${shim%/shims/*}/versions" ;; esac
    done
    echo "${HOME:-/nonexistent}/.pyenv/versions"
}

# Print the interpreter to use: on PATH, else among pyenv's versions.
find_python() {
    versions="3.13 3.12 3.14" names="python3.13 python3.12 python3.14 python3 python"
    case $BAYESDUEL_PYTHON in
        '') ;;
        3.[0-9]*) versions=$BAYESDUEL_PYTHON names=python$BAYESDUEL_PYTHON ;;
        *) versions='' names=$BAYESDUEL_PYTHON ;;
    esac
    for name in $names; do
        command -v "$name" >/dev/null 2>&1 && accept "$name" && return
    done
    for version in $versions; do
        for folder in $(pyenv_versions); do
            for python in "$folder/$version".*/bin/python3; do
                [ -x "$python" ] && accept "$python" && return
            done
        done
    done
    return 1
}

# Print an interpreter that uv knows of, outside any environment.
known() {
    found=$("$uv" python find --system --no-project "$1" 2>/dev/null) && accept "$found"
}

# The last resort: one that uv knows, or fetches into the checkout.
fetch_python() {
    case ${BAYESDUEL_PYTHON:-3.13} in 3.[0-9]*) ;; *) return 1 ;; esac
    UV_PYTHON_INSTALL_DIR=$root/.tools/python
    export UV_PYTHON_INSTALL_DIR
    known "${BAYESDUEL_PYTHON:->=3.12}" && return
    wanted=${BAYESDUEL_PYTHON:-3.13}
    say "no suitable Python found; fetching $wanted with uv"
    "$uv" python install --quiet --no-bin "$wanted" 2>/dev/null || return 1
    known "$wanted"
}

# --- uv ------------------------------------------------------------------------------

# Whether a uv runs and knows the options used below (a shim may fail; old ones do not).
uv_works() {
    help=$("$1" pip install --help 2>/dev/null) || return 1
    case $help in *--group*) ;; *) return 1 ;; esac
    case $help in *--exact*) ;; *) return 1 ;; esac
}

find_uv() {
    for uv in uv "$root/.tools/uv/bin/uv" "${HOME:-/nonexistent}/.local/bin/uv"; do
        ! uv_works "$uv" || return 0
    done
    say "fetching uv into .tools"
    for maker in "${python:-python3}" python3 /usr/bin/python3 python; do
        command -v "$maker" >/dev/null 2>&1 || continue
        rm -rf .tools/uv
        "$maker" -m venv .tools/uv >/dev/null 2>&1 || continue
        PIP_USER=0 .tools/uv/bin/python -m pip install --quiet \
            --disable-pip-version-check 'uv>=0.8' >&2 || continue
        uv=$root/.tools/uv/bin/uv
        ! uv_works "$uv" || return 0
    done
    die "no uv: install uv, or a python3 with the venv module" \
        "(on Debian: apt-get install python3-venv), and a way to the package index"
}

# --- The environment -----------------------------------------------------------------

# Install exactly what the project needs into .venv; options for uv as arguments.
# Bytecode is made now, because where none may be written later (read-only installs,
# PYTHONDONTWRITEBYTECODE) every process would compile the libraries anew, for 8 seconds.
install() {
    set -- "$@" --python "$venv/bin/python" --exact --compile-bytecode \
        --constraints constraints.txt --build-constraints constraints.txt \
        --group dev --editable '.[distributed,page,verify,zarr]'
    [ -t 2 ] || set -- "$@" --quiet
    # A second try from the cache alone serves a machine that is off the network.
    "$uv" pip install "$@" || "$uv" pip install --offline --quiet "$@" 2>/dev/null
}

sign() {
    "$uv" pip check --quiet --python "$venv/bin/python" || return 1
    rm -rf "$venv.old"
    current_stamp >"$venv/.stamp.new" && mv -f "$venv/.stamp.new" "$stamp"
}

# Keep the old environment until the new one stands.
rebuild() {
    if [ -z "$python" ]; then
        python=$(fetch_python) ||
            die "no Python ${BAYESDUEL_PYTHON:-3.12 or newer} to be had:" \
                "install Python 3.13 or 3.12 so that it is in PATH"
    fi
    say "making .venv with $("$python" --version) (the first time takes minutes)"
    rm -rf "$venv.old"
    [ ! -e "$venv" ] && [ ! -L "$venv" ] || mv "$venv" "$venv.old"
    if "$uv" venv --quiet --no-project --python "$python" "$venv" && install && sign
    then
        return
    fi
    rm -rf "$venv"
    [ ! -e "$venv.old" ] || mv "$venv.old" "$venv"
    die "the environment could not be made; the lines above say why"
}

# Whether .venv can be brought up to date where it stands.
repairable() {
    [ ! -f "$stamp" ] || grep -qxF "checkout $root" "$stamp" || return 1
    [ -f "$venv/pyvenv.cfg" ] && [ ! -L "$venv" ] &&
        accept "$venv/bin/python" >/dev/null && version_as_asked
}

main() {
    if [ "${1:-}" = uv ]; then
        python=$(find_python) || python=
        find_uv
        echo "$uv"
        exit 0
    fi
    if [ "${1:-}" = python ]; then
        find_python && exit 0
        python=
        find_uv
        fetch_python || die "no Python ${BAYESDUEL_PYTHON:-3.12 or newer} to be had"
        exit 0
    fi
    ! finished || exit 0
    take_lock
    ! finished || exit 0 # another make has just done it

    # A home that is missing or cannot be written to must not stop the build.
    if [ -z "${UV_CACHE_DIR:-}" ]; then
        cache=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
        if [ -z "$cache" ] || ! mkdir -p "$cache/uv" 2>/dev/null ||
            [ ! -w "$cache/uv" ]; then
            UV_CACHE_DIR=$root/.tools/cache
            export UV_CACHE_DIR
        fi
    fi

    python=$(find_python) || python=
    find_uv
    if repairable; then
        if [ -f "$stamp" ]; then
            say "bringing .venv up to date"
            again=
        else
            say "repairing .venv (an unfinished or foreign environment)"
            again=--reinstall
        fi
        rm -f "$stamp"
        # shellcheck disable=SC2086 # an empty option must vanish
        if install $again && sign; then exit 0; fi
        say ".venv cannot be repaired; making a new one"
    fi
    rebuild
}

main "$@"
