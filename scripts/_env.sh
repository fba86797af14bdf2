# shellcheck shell=bash
# Sourced by the other shell scripts: the virtual environment .venv of this checkout.
#
# A stamp, written last, records the checkout, pyproject.toml and kind of .venv. If it differs, the
# package is installed again; if the checkout has moved or .venv does not run, .venv is created from
# scratch. PYTHON selects the interpreter; by default, the first suitable one is used.

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="$ROOT/.venv"
readonly ROOT VENV

say() {
    printf '%s\n' "$*" >&2
}

# Print the first Python of at least 3.11.
find_python() {
    local candidate candidates=(python3 python python3.14 python3.13 python3.12 python3.11)
    if [[ -n "${PYTHON:-}" ]]; then
        candidates=("$PYTHON")
    fi
    for candidate in "${candidates[@]}"; do
        if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    say "Python 3.11 or newer is required, found none among ${candidates[*]}; install it, or set PYTHON=/path/to/python3 ${0}"
    return 1
}

# make_env run|dev: install the package into .venv, for `dev` with the development tools.
make_env() {
    local kind="$1" extra="" stamp="$VENV/wordgeom-stamp" wanted found=""
    wanted="$ROOT $(cksum <"$ROOT/pyproject.toml")"
    if [[ -f "$stamp" ]]; then
        found="$(<"$stamp")"
    fi
    # A dev environment serves as a run environment too.
    if [[ "$found" == "$wanted dev" || "$found" == "$wanted $kind" ]] && venv_runs; then
        return
    fi
    if [[ -n "$found" && "$found" != "$ROOT "* ]] || ! venv_runs; then
        new_venv || return 1
    fi
    if [[ "$kind" == dev || "$found" == *" dev" ]]; then
        kind=dev extra="[dev]"
    fi
    say "installing wordgeom$extra into .venv (about a minute the first time) …"
    if ! "$VENV/bin/python" -m pip install -qq --disable-pip-version-check -e "$ROOT$extra"; then
        say "pip could not install wordgeom$extra; see its message above"
        return 1
    fi
    printf '%s\n' "$wanted $kind" >"$stamp"
}

# run_script run|dev SCRIPT ARGUMENT…: run a Python script of scripts/ in .venv.
run_script() {
    local kind="$1" script="$ROOT/scripts/$2"
    shift 2
    if [[ " $* " == *" --help "* || " $* " == *" -h "* ]]; then # without an environment
        sed -n '/^"""/,/^"""$/ { s/"""//; p }' "$script"
        return
    fi
    make_env "$kind"
    exec "$VENV/bin/python" "$script" "$@"
}

venv_runs() {
    "$VENV/bin/python" -c 'import pip, sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null
}

new_venv() {
    local python
    python="$(find_python)" || return 1
    if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
        say "$python cannot create a virtual environment; on Debian and Ubuntu: apt-get install python3-venv"
        return 1
    fi
    say "creating .venv with $("$python" --version) …"
    "$python" -m venv --clear "$VENV"
}
