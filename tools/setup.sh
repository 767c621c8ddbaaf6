#!/bin/sh
# Make .venv ready: tools/setup.sh EXTRAS STAMP, for example: tools/setup.sh dev,plot,spark .venv/.ready-dev
# Quick when nothing changed, because make calls it only when the stamp is older than pyproject.toml or constraints.txt.
set -eu
extras=$1 stamp=$2 venv=.venv

say() { printf '%s\n' "$*" >&2; }

fits() { "$1" -c 'import sys; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; }

find_python() {
    for candidate in ${PYTHON:-} python3 python3.14 python3.13 python3.12 python3.11; do
        if fits "$candidate"; then
            printf '%s\n' "$candidate"
            return
        fi
    done
    say "conceptpubsub needs Python 3.11 or newer, and none was found."
    say "On Debian or Ubuntu:  apt-get install python3 python3-venv"
    say "Elsewhere name one:   make PYTHON=/path/to/python3.11"
    return 1
}

if ! fits "$venv/bin/python"; then
    python=$(find_python)
    if ! "$python" -c 'import ensurepip, venv' >/dev/null 2>&1; then
        version=$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')
        say "Python $version cannot make virtual environments: its module venv is not installed."
        say "On Debian or Ubuntu:  apt-get install python$version-venv"
        exit 1
    fi
    say "Making $venv with Python $("$python" -c 'import platform; print(platform.python_version())')"
    "$python" -m venv --clear "$venv"
fi

say "Installing the pinned packages (extras: ${extras:-none}); the first time takes some minutes"
# The two variables pin what builds the package too; an older pip knows only the first.
PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt PIP_DISABLE_PIP_VERSION_CHECK=1 \
    "$venv/bin/python" -m pip install -qq --constraint constraints.txt --editable ".${extras:+[$extras]}"
: >"$stamp"
