#!/bin/sh
# Make the virtual environment $1 with a Python of 3.11 or newer.
set -eu
venv=$1

for name in ${PYTHON:-} python3.13 python3.12 python3.11 python3 python3.14 python; do
    if "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        python=$name
        break
    fi
done
if [ -z "${python:-}" ]; then
    echo "Teahouse needs Python 3.11 or newer, and none was found." >&2
    echo "Install one, or name it: make run PYTHON=/path/to/python3" >&2
    exit 1
fi

# Debian keeps ensurepip, which venv needs, in a package of its own.
if ! "$python" -c 'import ensurepip, venv' 2>/dev/null; then
    package=python$("$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])')-venv
    if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null; then
        echo "Installing $package"
        apt-get update -qq
        DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$package" >/dev/null
    else
        echo "This Python cannot make virtual environments. Run this, then try again:" >&2
        echo "  sudo apt install $package" >&2
        exit 1
    fi
fi

echo "Making $venv with $("$python" --version)"
if ! "$python" -m venv "$venv"; then
    rm -rf "$venv"
    exit 1
fi
