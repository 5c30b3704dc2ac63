#!/bin/sh
# mpi_kill.sh TESSERA [TEST_MPI] - a rank that is killed, or exits, in the middle of its calls ends
# the job within 5 s, with a nonzero status. TEST_MPI is found in the build directory of TESSERA.
set -u
program=${2:-$(dirname "$1")/tests/test_mpi}
mpirun=$(dirname "$0")/../../tools/mpirun

for how in kill leave; do
    begin=$(date +%s%N)
    timeout 30 "$mpirun" -n 4 "$program" $how >/dev/null 2>&1
    status=$?
    ms=$((($(date +%s%N) - begin) / 1000000))
    echo "$how: status $status after $ms ms"
    if [ $status -eq 0 ]; then
        echo "mpi_kill.sh: the job ended with status 0"
        exit 1
    fi
    # with a second for the start of the job on a busy machine
    if [ $ms -gt 6000 ]; then
        echo "mpi_kill.sh: the job took $ms ms to end"
        exit 1
    fi
done
