#!/bin/sh
# docs_test.sh TESSERA - the list of ops in docs/ops.md is what the tool prints, and each line to try
# from it really runs.
set -eu
tool=$1
root=$(dirname "$0")/../..
"$root/tools/check_docs" "$tool"

lines=$(sed -n 's/^- try: `tessera run "\(.*\)"`$/\1/p' "$root/docs/ops.md")
n=0
while read -r line; do
    n=$((n + 1))
    "$tool" run "$line" >/dev/null || { echo "tessera run \"$line\" failed" >&2; exit 1; }
done <<END
$lines
END
echo "$n lines were run"
[ "$n" -gt 150 ]
