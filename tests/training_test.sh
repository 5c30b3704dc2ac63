#!/bin/sh
# training_test.sh TOOL WAY PROGRAM... - the programs that train: with the same seed the same losses on
# every mesh, ctrl-C and bad data. WAY: thread or mpi.
# shellcheck disable=SC2086 # $data is several words
set -eu
way=$2
shift 2
here=$(cd "$(dirname "$0")/.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

fail() {
    echo "FAILED: $*"
    failed=1
}

# A text for words: lines of words of a language of its own, the same every time.
awk 'BEGIN {
    for (line = 0; line < 2500; line++) {
        text = "Ge" line ":1"
        for (k = 0; k < 12; k++) {
            s = (s * 75 + 74) % 65537
            text = text " " substr("andtheearthwaswithoutformandvoid", 1 + s % 25, 2 + s % 6)
        }
        print text
    }
}' >"$scratch/text"

run() { # run NAME PROGRAM OPTIONS...: its losses in NAME
    name=$1 program=$2
    shift 2
    set -- "$@" --losses "$scratch/$name"
    case $program in
    *words) set -- "$@" $data --length 32 --width 32 --layers 2 \
        --batch 8 --sample 0 ;;
    *clicks) set -- "$@" $data --batch 320 --width 8 ;;
    esac
    # in the background, where the process itself is to be found
    [ "$name" != stopped ] || exec "$program" "$@" >"$scratch/out" 2>"$scratch/err"
    if [ "$way" = mpi ] && [ "$name" != one ]; then
        "$here/tools/mpirun" -n "$ranks" "$program" "$@" >"$scratch/out" 2>"$scratch/err"
    else
        "$program" "$@" >"$scratch/out" 2>"$scratch/err"
    fi
}

compare() { # compare NAME LIMIT: with one rank
    paste "$scratch/one" "$scratch/$1" | awk -v limit="$2" '
        { d = $1 - $2; if (d < 0) d = -d; if (!(d <= limit * $1)) bad = NR ": " $1 " and " $2 }
        END { if (bad || NR < 10) { print NR " losses, step " bad; exit 1 } }'
}

for program in "$@"; do
    case $program in
    *words) data="--data=$scratch/text --pieces=128" ;;
    *clicks) data="--data=$here/examples/data" ;;
    esac
    for dtype in f64 f32; do
        limit=1e-9
        [ $dtype = f64 ] || limit=1e-3
        steps=${TESSERA_TEST_STEPS:-100}
        run one "$program" --steps "$steps" --dtype $dtype --mesh=1 ||
            fail "$program: $(cat "$scratch/err")"
        for mesh in 2 4 2x2; do
            ranks=4
            [ $mesh != 2 ] || ranks=2
            [ "$way" = thread ] || [ $mesh != 4 ] || continue
            run many "$program" --steps "$steps" --dtype $dtype --mesh=$mesh ||
                fail "$program on $mesh: $(cat "$scratch/err")"
            compare many $limit || fail "$program: losses in $dtype on $mesh"
        done
    done
    [ "$way" = thread ] || continue

    "$program" --data /nowhere --mesh=2 2>"$scratch/err" && fail "$program: nowhere is no data"
    grep -q 'cannot open /nowhere' "$scratch/err" || fail "$program: $(cat "$scratch/err")"

    "$program" --batch 5 --mesh=data=8 $data >"$scratch/out" 2>"$scratch/err" && fail "$program: 5 for 8"
    grep -q 'a batch of 5 is smaller than the 8 ranks of mesh dim data' "$scratch/err" ||
        fail "$program: $(cat "$scratch/err")"

    : >"$scratch/err"
    run stopped "$program" --steps 1000000 --mesh=2 &
    for _ in $(seq 100); do
        grep -q 'step 1 of' "$scratch/err" && break
        sleep 0.2
    done
    kill -INT $!
    wait $! || fail "$program: ctrl-C is no failure"
    grep -q 'steps .*, interrupted' "$scratch/out" || fail "$program: no table after ctrl-C"
done
exit $failed
