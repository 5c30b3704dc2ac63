#!/bin/sh
# adversary.sh TESSERA [OPTION...] - tests/adversary for a minute, seeded from the commit.
set -eu
build=$(dirname "$1")
shift
here=$(dirname "$0")
exec /usr/bin/python3 "$here/adversary" --build "$build" --quiet --stop 10 "$@"
