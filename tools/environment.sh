# Sourced by the tools: sets $bin to the folder of a virtual environment that holds tokenzip and its tools, making it if need be.
# TOKENZIP_VENV chooses another folder than .venv.

fail() { printf '%s\n' "$@" >&2; exit 1; }

find_python() {
    local candidate
    for candidate in "${PYTHON:-python3}" python3.14 python3.13 python3.12 python3.11 python; do
        if command -v "$candidate" >/dev/null 2>&1 &&
            "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    fail "tokenzip needs Python 3.11 or newer, and found none." \
        "hint: install one (Debian, Ubuntu: apt-get install python3 python3-venv), or name it: PYTHON=/path/to/python3 $0"
}

make_environment() {
    local python
    python=$(find_python)
    printf 'making %s with %s\n' "$venv" "$("$python" --version)" >&2
    if ! "$python" -m venv "$venv" >"$log" 2>&1; then
        cat "$log" >&2
        rm -rf "$venv"
        fail "Python could not make a virtual environment." \
            "hint: on Debian and Ubuntu the module is a package of its own: apt-get install python3-venv"
    fi
}

install_package() {
    printf 'installing tokenzip and its tools into %s\n' "$venv" >&2
    if ! "$bin/python" -m pip install --quiet --disable-pip-version-check -e '.[dev]' >"$log" 2>&1; then
        cat "$log" >&2
        fail "The packages could not be installed (see above)." "hint: is a package registry reachable? pip's own settings are used."
    fi
    printf '%s\n' "$wanted" >"$stamp"
}

command -v git >/dev/null 2>&1 || fail "tokenzip needs git, and found none." "hint: apt-get install git"
venv=${TOKENZIP_VENV:-.venv}
bin=$venv/bin
stamp=$venv/.tokenzip-installed
log=$(mktemp)
trap 'rm -f "$log"' EXIT
[ -x "$bin/python" ] || make_environment
wanted=$(cksum <pyproject.toml)
[ "$(cat "$stamp" 2>/dev/null)" = "$wanted" ] || install_package
rm -f "$log"
trap - EXIT
