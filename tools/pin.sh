#!/bin/sh
# Write constraints.txt from what .venv holds now, the package itself left out.
set -eu
{
    echo "# Every package of the virtual environment, transitive ones included; written by: make pin"
    .venv/bin/python -m pip freeze --exclude-editable --all --exclude pip --exclude wheel | sort -f
} >constraints.txt
