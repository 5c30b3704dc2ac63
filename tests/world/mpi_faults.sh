#!/bin/sh
# mpi_faults.sh TOOL - a rank that fails, leaves, returns an error or calls something else, at steps
# of a program on MPI: one launch each. The other ranks must come back in time and name it. What all
# ranks find alike is said once.
set -u
build=$(dirname "$1")
root=$(cd "$(dirname "$0")/../.." && pwd)
failed=0
# a sample has every other one of them
every=1
[ -z "${TESSERA_TEST_SAMPLE-}" ] || every=2
tried=${TESSERA_TEST_SEED-0}
for what in fails leaves returns other; do
    tried=$((tried + 1))
    for step in ${STEPS:-0 2 4 6 7 8}; do
        rank=$((step % 2))
        tried=$((tried + 1))
        [ $((tried % every)) = 0 ] || continue
        # mpirun reports the culprit's status too, so each rank judges itself and prints
        out=$(timeout 20 "$root/tools/mpirun" -n "${RANKS:-2}" "$build/tests/test_faults" \
            mpi "$what" "$step" "$rank" 2>&1)
        status=$?
        if [ $status -ne 0 ]; then
            echo "FAIL rank $rank $what at step $step (status $status):"
            echo "$out"
            failed=$((failed + 1))
        fi
    done
done
sentence='mesh data=3 has 3 ranks, but the world was started with 4'
for try in 1 2; do
    out=$("$root/tools/mpirun" -n 4 "$build/tests/test_own_op" --mesh=3 2>&1)
    if [ "$(echo "$out" | grep -cF "$sentence")" != 1 ]; then
        echo "FAIL try $try: an error of all ranks is not said once:"
        echo "$out"
        failed=$((failed + 1))
    fi
done
echo "$failed failed"
[ $failed -eq 0 ]
