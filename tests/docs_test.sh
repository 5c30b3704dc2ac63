#!/bin/sh
# docs_test.sh TESSERA - the list of ops in docs/ops.md is what the tool prints, and lines to try
# from it really run: every seventh of them.
set -eu
tool=$1
here=$(dirname "$0")
"$here/../tools/check_docs" "$tool"

n=0
ran=0
sed -n 's/^- try: `tessera verify "\(.*\)"`$/\1/p' "$here/../docs/ops.md" >"${TMPDIR:-/tmp}/lines.$$"
trap 'rm -f "${TMPDIR:-/tmp}/lines.$$"' EXIT
while read -r line; do
    n=$((n + 1))
    [ $((n % 7)) = 1 ] || continue
    ran=$((ran + 1))
    "$tool" verify "$line" >/dev/null || { echo "tessera verify \"$line\" failed" >&2; exit 1; }
done <"${TMPDIR:-/tmp}/lines.$$"
echo "$ran of $n lines were run"
[ "$ran" -gt 5 ]
