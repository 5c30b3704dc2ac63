#!/bin/bash
# bench_test.sh TOOL BENCH [mpi] - the benchmark program on small sizes: what it prints, its JSON,
# times of a peer from files, and bad input. With "mpi": only what starts mpirun.
. "$(dirname "$0")/../support/cli_checks.sh"
tool=$2

if [ "${3-}" = mpi ]; then
    json 'redistribute starts mpirun' \
        'len(o["results"]) == 5 and o["results"][0]["yardstick"] == "Allgather"' \
        redistribute world=mpi --ranks 2 --size 64KiB
    json 'calls beside those of MPI' '[r["case"] for r in o["results"]][:2] == ["barrier", "exchange"]
        and len(o["results"]) == 9 and all(r["ratio"] > 0 for r in o["results"])' mpi --size 4KiB
    run 0 world world=mpi
    has 'world under mpirun' barrier all-reduce
    echo "$n checks passed"
    exit 0
fi

# ---- benchmarks ----

run 0 --help
for name in redistribute plan propagate dispatch embedding conv ops train world mpi kernel piece; do
    grep -q "^  $name " "$dir/out" || fail "--help does not list $name"
    run 0 help $name
    has "help $name" "usage: tessera_bench $name" --peer --json
    run 0 --help
done
json 'redistribute' '[r["case"] for r in o["results"]][5] == "S(0),S(1) -> S(1),S(0)"
    and all(r["ratio"] > 0 for r in o["results"]) and len(o["results"]) == 8
    and o["machine"] and o["date"] and o["peers"] == []' redistribute --ranks 4 --size 64K
run 0 redistribute --ranks 2,3 --size 64K
has 'redistribute prints' 'P(sum) -> S(0)' yardstick ratio 'tessera_bench redistribute --ranks 2,3'
json 'plan' 'len(o["results"]) == 12 and all(r["seconds"] > 0 for r in o["results"])' plan
json 'propagate' '[r["op"] for r in o["results"]][:2] == ["matmul", "add"]
    and all(r["compared"] == r["calls"] > 0 < r["seconds"] <= r["seconds_max"] for r in o["results"])' \
    propagate mesh=2
run 0 propagate mesh=3
has 'propagate prints' 'matmul+bias' 'trying all'
run 0 world --ranks 2
has 'world' barrier all-reduce
json 'dispatch' '[r["op"] for r in o["results"]] == ["add", "matmul", "reshape", "cat", "sum"]' dispatch
json 'embedding' 'all(r["seconds"] > 0 for r in o["results"]) and
    {r["case"]: r for r in o["results"]}["by batch"]["bytes_in"] == 0' embedding --size 64K --ranks 2
run 0 dispatch --markdown
has 'markdown' '`tessera_bench dispatch` on ' '| op | call | kernel | dispatch |' '| --- | ---: |' '| add |'

# ---- a peer's files ----

mkdir "$dir/peers"
cat >"$dir/peers/run_gloo_2.json" <<'END'
{"torch": "9.9", "date": "2001-02-03", "dtensor": {"S0->R 1MiB": {"min": 1, "median": 2.5}}}
END
cat >"$dir/peers/calls.json" <<'END'
{"peer": "Other 1", "gloo_1rank": {"add": {"no_grad": {"overhead_us_median": 50}}}}
END
json 'a peer in milliseconds' 'o["results"][0]["peer_seconds"] == 0.0025 and
    abs(o["results"][0]["speedup"] * o["results"][0]["seconds"] - 0.0025) < 1e-6 and
    not any("peer_seconds" in r for r in o["results"][1:]) and
    [(f["peer"], f["date"]) for f in o["peers"]] == [("PyTorch 9.9", "2001-02-03")]' \
    redistribute --size 1MiB --ranks 2 --peer "$dir/peers/run_gloo_2.json"
json 'a peer in microseconds, a folder' '[r.get("peer_seconds") for r in o["results"]][:2] == [5e-5, None]' \
    dispatch --peer "$dir/peers"
run 0 redistribute --size 1MiB --ranks 2 --peer "$dir/peers"
has 'the peer that was used is named' 'peer: PyTorch 9.9, run_gloo_2, 2001-02-03' '2.50 ms' speed-up
grep -q 'Other 1' "$dir/out" && fail 'a peer without a result here is named'
run 0 redistribute --size 1MiB --ranks 2
grep -q ' speed-up$' "$dir/out" && fail 'a column of peers without a peer'
echo '{"machine": "a bigger one", "gloo_2": {}}' >"$dir/other.json"
bad 'a peer on another machine' 'is of another machine, "a bigger one"' dispatch --peer "$dir/other.json"
bad 'no file of a peer' 'No such file' dispatch --peer "$dir/none.json"
echo '[1]' >"$dir/list.json"
bad 'a file that is no object' 'expected a JSON object' dispatch --peer "$dir/list.json"

# ---- bad input ----

bad 'unknown benchmark' 'unknown command "redist"; did you mean redistribute?' redist
bad 'fixed meshes' 'its meshes are fixed' plan mesh=2
bad 'fixed world' 'its worlds are fixed' ops world=mpi
bad 'sizes' '--size is "4MiB,x"' redistribute --size 4MiB,x
bad 'options of others' 'unknown option "--size"' dispatch --size 4
bad 'sim' 'moves no data' world world=sim
bad 'kernels' 'unknown group "conv"' kernel conv
echo "$n checks passed"
