#!/bin/sh
# adversary.sh TESSERA [OPTION...] - tests/adversary for a minute, seeded from the commit.
set -eu
build=$(dirname "$1")
shift
exec /usr/bin/python3 "$(dirname "$0")" --build "$build" --quiet --stop 10 "$@"
