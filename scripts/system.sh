#!/bin/sh
# Install the Debian packages that the tests need: a browser, fonts for Chinese, the sandbox.
set -eu

missing=
for pair in chromium:chromium bwrap:bubblewrap; do
    command -v "${pair%%:*}" >/dev/null || missing="$missing ${pair#*:}"
done
if ! fc-list 2>/dev/null | grep -q 'Noto Sans CJK'; then
    missing="$missing fontconfig fonts-noto-cjk"
fi
[ -z "$missing" ] && exit 0

if [ "$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then
    echo "The tests need these packages, which only root can install:" >&2
    echo "  sudo apt install$missing" >&2
    exit 1
fi
echo "Installing$missing"
export DEBIAN_FRONTEND=noninteractive
apt-get update -qq
# shellcheck disable=SC2086  # one word per package
apt-get install -y -qq --no-install-recommends $missing
