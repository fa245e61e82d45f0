#!/bin/sh
# Write the newest versions that fit pyproject.toml into the lock $1: names and versions, no hosts.
set -eu
lock=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

scripts/venv.sh "$folder/venv"
pip="$folder/venv/bin/python -m pip --disable-pip-version-check --quiet"
$pip install --upgrade pip
$pip install --editable '.[local]' --group dev
{
    echo "# The versions that everybody uses; written by \`make lock\`."
    $pip list --format freeze --exclude-editable --exclude setuptools | sort --ignore-case
} >"$folder/lock"
mv "$folder/lock" "$lock"
