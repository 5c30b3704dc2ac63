#!/bin/bash
# cli_test.sh TOOL [mpi] - every command of the tool: what it prints, its JSON, and that bad input
# is answered with one sentence and exit status 2. With "mpi": only what starts mpirun.
# One line per check; stops at the first that fails.
. "$(dirname "$0")/../support/cli_checks.sh"

# npy FILE DESCR SHAPE BYTES
npy() {
    printf '\223NUMPY\001\000\166\000%-117s\n' \
        "{'descr': '$2', 'fortran_order': False, 'shape': ($3), }" >"$1"
    seq 100000 | head -c "$4" >>"$1"
}

mpi_checks() {
    run 0 verify 'f32[5,3]@[S(0),S(0)] -> [R,R] mesh=2x2 world=mpi'
    has 'verify starts mpirun' PASS '4 ranks' 'world=mpi'
    run 0 verify 'i32[7]@[P(sum),P(max)] -> [S(0),P(max)] mesh=2x2 world=mpi cost=random:5'
    has 'verify partials under mpirun' PASS
    run 0 verify 'f32[9]@[S(0)] -> [S(0)] mesh=2 to=2@2 world=mpi'
    has 'verify between meshes under mpirun' PASS
    run 1 verify 'f32[5,3]@[S(0),S(0)] -> [R,R] mesh=2x2 world=mpi' --spoil 3
    has 'verify finds a difference under mpirun' FAIL 'rank 3, index [0,0]'
    [ "$(wc -l <"$dir/out")" = 2 ] || fail 'only the first rank prints'
    npy "$dir/x.npy" '<i8' '5, 3' 120
    run 0 run '@[S(0)] -> [S(1)] mesh=2 world=mpi' --in "$dir/x.npy" --out "$dir/y.npy"
    cmp -s "$dir/x.npy" "$dir/y.npy" || fail 'run under mpirun: the file changed'
    has 'run under mpirun' 'i64[5,3]@[S(0)] -> [S(1)]'
    run 0 run 'i64[3]@[P(max)] -> [R] mesh=2 world=mpi'
    has 'run prints under mpirun' 'i64[3]@[R]' '['
    json 'run json under mpirun' 'len(o["results"][0]["values"][0]) == 3' \
        run 'i64[3]@[S(0)] -> [R] mesh=2 to=2@1 world=mpi'
    json 'calibrate under mpirun' 'o["mesh"] == "2" and len(o["results"]) == 6' \
        calibrate mesh=2 world=mpi
    echo "$n checks passed"
}

[ "${2-}" = mpi ] && { mpi_checks; exit 0; }

# ---- help and usage ----

run 0 --version
has 'version' 'tessera 0.'
run 0 --help
for command in info draw explain verify run calibrate; do
    grep -q "^  $command " "$dir/out" || fail "--help does not list $command"
done
has 'help' 'usage: tessera COMMAND' 'Exit status'
for command in info draw explain verify run calibrate; do
    run 0 help $command
    mv "$dir/out" "$dir/help"
    run 0 $command --help
    cmp -s "$dir/help" "$dir/out" || fail "help $command and $command --help differ"
    has "help $command" "usage: tessera $command"
done
bad 'unknown command' 'unknown command "verfy"; did you mean verify?' verfy x
bad 'unknown option' 'unknown option "--jsn"; did you mean --json?' info --jsn
bad 'beginning of an option' 'unknown option "--js"' info --js
bad 'control characters are not printed' 'unknown command "ver?[31mfy"' "$(printf 'ver\033[31mfy')" x
bad 'option without its value' '--svg needs a value' draw 'f32[2]@[R] mesh=2' --svg
bad 'value of an option that takes none' '--json takes no value' info --json=1
run 2
grep -q 'usage: tessera' "$dir/err" || fail 'no arguments: usage on stderr'

# ---- info ----

run 0 info
has 'info' 'dtypes     f32 f64 f16 bf16 i32 i64 u8 bool' '8 tensor dims, 8 mesh dims' thread
TESSERA_TIMEOUT=77 run 0 info
has 'info shows settings' 'TESSERA_TIMEOUT=77'
json 'info json' 'o["command"] == "info" and o["limits"]["mesh_dims"] == 8 and
    o["worlds"]["sim"]["available"]' info
bad 'info takes no words' 'unexpected text' info all

# ---- draw ----

run 0 draw 'f32[5,3]@[S(0),S(1)] mesh=2x2'
has 'draw 2-D uneven' '│ 0  0 │ 1 │' '│ 2  2 │ 3 │' '3  (1,1)  [2,1]        3:5    2:3      8 B'
LC_ALL=C run 0 draw 'f32[5,3]@[S(0),S(1)] mesh=2x2'
has 'draw in ASCII' '| 0  0 | 1 |' '+------+---+'
run 0 draw 'f32[7]@[S(0),R] mesh=data=4,model=2'
has 'draw 1-D replicas' '│ 0,1  0,1 │ 2,3  2,3 │ 4,5  4,5 │ 6,7 │'
run 0 draw 'f32[4,4]@[P(sum),S(0)] mesh=2x2'
has 'draw partials' '0+2' '1+3' 'hold terms'
run 0 draw 'f32[5]@[S(0)] mesh=4'
has 'draw an empty shard' '3  (3)    [0]          none'
run 0 draw 'f32[8,2]@[SS(0,2)] mesh=2'
has 'draw a strided shard' '0:2,4:6' '2:4,6:8'
run 0 draw 'f32[4096,512,64]@[S(0),R,S(2)] mesh=2x3x2'
has 'draw 3-D, scaled' '2048 ├' 'down: dim 0, across: dim 2, at index 0 of the other dims'
LC_ALL=C run 0 draw 'f32[4096,512,64]@[S(0),R,S(2)] mesh=2x3x2'
awk 'length > 80 { exit 1 }' "$dir/out" || fail 'draw: wider than 80 columns'
run 0 draw 'f32[]@[R] mesh=2'
has 'draw 0-D' 'one element'
run 0 draw 'f32[0,3]@[S(0)] mesh=2'
has 'draw no elements' 'no elements'
run 0 draw 'f32[5,3]@[S(0),S(1)] mesh=2x2' --color=always
has 'draw in colour' $'\033[38;5;16;48;5;117m'
run 0 draw 'f32[1000000,8]@[SS(0,5000),S(1)] mesh=4x2'
has 'draw many runs' '..(5000)'
for spec in 'f32[5,3]@[S(0),S(1)] mesh=2x2' 'f32[5]@[S(0),P(sum)] mesh=4x2' 'f32[0]@[R] mesh=2' \
    'f32[4096,4096,7]@[S(2),SS(0,1000),S(1)] mesh=8x4x4'; do
    run 0 draw "$spec" --svg "$dir/a.svg"
    python3 -c "import sys, xml.dom.minidom as x
d = x.parse(sys.argv[1]).documentElement
assert d.tagName == 'svg' and 'rank 0' in d.toxml()" "$dir/a.svg" 2>>"$dir/err" ||
        fail "draw --svg: $spec"
    has "draw svg $spec" written
done
run 0 draw 'f32[5,3]@[S(0),S(1)] mesh=2x2' --svg "$dir/a.svg"
run 0 draw 'f32[5,3]@[S(0),S(1)] mesh=2x2' --svg -
cmp -s "$dir/out" "$dir/a.svg" || fail 'draw --svg -: not what the file has'
ok 'draw svg to stdout'
bad 'two things to stdout' 'both write to the standard output' draw 'f32[5]@[S(0)] mesh=2' --svg - --json
json 'draw json' 'o["results"][3]["shape"] == [2, 1] and [r[0][:2] for r in
    o["results"][3]["runs"]] == [[3, 2], [2, 1]]' draw 'f32[5,3]@[S(0),S(1)] mesh=2x2'
bad 'draw: colour' '--color is "red"' draw 'f32[2]@[R] mesh=2' --color red

# ---- explain ----

run 0 explain 'redistribute f32[1024,1024]@[S(0),S(1)] -> [S(1),S(0)] mesh=2x2'
has 'explain' 'exchange  0,1' 'collectives only' 'replicate first' 'why: it has the least' \
    'one-shot exchange: is this plan'
run 0 explain 'f32[64]@[S(0),R]->[R,R]mesh=data=2,model=2'
has 'explain without blanks, named mesh dims' 'all-gather  data'
run 0 explain 'f32[64]@[S(0),P(sum)] -> [S(0)] mesh=2x4 to=4@4'
has 'explain onto another mesh' 'to mesh 4, 4 from rank 4 on'
run 0 explain 'f32[64,64]@[S(0)] -> [R] mesh=4 cost=latency=1,bandwidth=1e9'
has 'explain with given costs' '3.00 s'
run 1 explain 'f32[64]@[S(0)] -> [R] mesh=4 limit=100'
grep -q 'within the limit of 100' "$dir/err" || fail 'explain: limit'
SECONDS=0
run 0 explain 'f32[131072,16384]@[S(0),S(1),P(sum)] -> [S(1),R,S(0)] mesh=128x64x16 world=sim'
has 'explain 131072 ranks' '131072 ranks'
json 'explain json' '[w["way"] for w in o["results"]] == ["best", "collectives", "exchange",
    "replicate"] and o["results"][0]["steps"][0]["kind"] == "all-gather" and
    o["results"][0]["bytes"] == 16' explain 'f32[8]@[S(0)] -> [R] mesh=2'

# ---- verify ----

run 0 verify 'redistribute f32[5,3]@[S(0),S(0)] -> [R,R] mesh=2x2 world=thread cost=random:17'
has 'verify' PASS '4 ranks, 60 elements compared'
run 0 verify 'bf16[9,5]@[P(avg),P(sum),P(max)] -> [S(1),S(0),P(max)] mesh=3x2x2 seed=9'
has 'verify partials' PASS
for dtype in f32 f64 f16 bf16 i32 i64 u8; do
    run 0 verify "${dtype}[6,5]@[P(sum),P(prod)] -> [S(0),R] mesh=2x3"
    has "verify $dtype" PASS
done
for seed in 1 2 3 4 5 6; do
    run 0 verify "bool[7,4]@[SS(0,3),S(1)] -> [S(1),S(0)] mesh=3x2 cost=random:$seed"
    has "verify bool, cost=random:$seed" PASS
done
run 0 verify 'f32[9]@[S(0)] -> [S(0)] mesh=4 to=2@1'
has 'verify onto another mesh' PASS
run 0 verify 'f32[0,3]@[S(0)] -> [S(1)] mesh=2'
has 'verify no elements' PASS
run 1 verify 'f32[5,3]@[S(0),S(0)] -> [R,R] mesh=2x2' --spoil 2
has 'verify finds a difference' FAIL 'rank 2, index [0,0]: expected'
run 1 verify 'f32[5,3]@[S(0),S(0)] -> [R,P(sum)] mesh=2x2' --spoil 1
has 'verify finds a wrong term' FAIL
run 1 verify 'f32[9]@[S(0)] -> [R] mesh=4 limit=8'
grep -q 'within the limit of 8' "$dir/err" || fail 'verify: limit'
json 'verify json' 'o["pass"] and o["results"][0]["bytes"] == 48' \
    verify 'f32[5,3]@[S(0),S(0)] -> [R,R] mesh=2x2'
bad 'verify in the sim world' 'holds no data' verify 'f32[4]@[R] -> [S(0)] mesh=2 world=sim'

# ---- run ----

npy "$dir/x.npy" '<f4' '8, 12' 384
run 0 run '@[S(0),R] -> [S(1),R] mesh=2x2' --in "$dir/x.npy" --out "$dir/y.npy"
cmp -s "$dir/x.npy" "$dir/y.npy" || fail 'run: the file changed'
has 'run' 'redistribute f32[8,12]@[S(0),R] -> [S(1),R]' '96 B received'
run 0 run 'f32[8,12]@[S(0),S(0)] -> [S(1)] mesh=2x2 to=2@1' --in "$dir/x.npy" --out "$dir/z.npy"
cmp -s "$dir/x.npy" "$dir/z.npy" || fail 'run onto another mesh: the file changed'
has 'run onto another mesh' 'to=2@1'
json 'run json' 'o["results"][0]["bytes"] == 96' \
    run '[S(0),R] -> [S(1),R] mesh=2x2' --in "$dir/x.npy" --out "$dir/y.npy"
head -c 300 "$dir/x.npy" >"$dir/cut.npy"
bad 'run: truncated file' 'needs 384 bytes' \
    run '@[S(0)] -> [R] mesh=2' --in "$dir/cut.npy" --out "$dir/y.npy"
bad 'run: no file' 'No such file' run '@[S(0)] -> [R] mesh=2' --in "$dir/no" --out "$dir/y.npy"
bad 'run: another tensor' 'holds f32[8,12], not f32[8,13]' \
    run 'f32[8,13]@[S(0)] -> [R] mesh=2' --in "$dir/x.npy" --out "$dir/y.npy"
bad 'run: two files' 'No such file' \
    run 'f32[8,12]@[S(0)] -> [R] mesh=2' --in "$dir/x.npy,$dir/x.npy"
bad 'run: neither file nor shape' 'without --in FILE the text has to say dtype and shape' \
    run '@[S(0)] -> [R] mesh=2'
run 0 run 'f32[2,3]@[P(sum),S(1)] -> [S(0)] mesh=2x2 to=2@1 seed=3'
sed '/^  /d' "$dir/out" >"$dir/shown"
mv "$dir/shown" "$dir/out"
is 'run prints what it filled' \
    'redistribute f32[2,3]@[P(sum),S(1)] -> [S(0)] mesh=2x2 to=2@1 world=thread cost=default seed=3' \
    'f32[2,3]@[S(0)]' '[[ -7.  19.   4.]' ' [  1. -21.  11.]]'
run 0 run 'f32[4]@[R] -> [S(0)] mesh=2'
has 'run says what moved' 'fill  ' 'with seed=1' 'moves   in 1 step, at most 0 B received'
run 0 run 'f32[40,30]@[S(0)] -> [R] mesh=2'
has 'run prints a large result shortened' ' ... '
run 0 run '@[S(0)] -> [S(1)] mesh=2' --in "$dir/x.npy"
has 'run prints a file' "from $dir/x.npy" 'f32[8,12]@[S(1)]' '[['
run 0 run 'f32[8,12]@[S(0)] -> [S(1)] mesh=2' --out "$dir/z.npy"
has 'run saves what it filled' 'fill  ' 'output  f32[8,12]@[S(1)]' "to $dir/z.npy"
json 'run json of a file that was filled' \
    'o["results"][0]["out"] is None and len(o["results"][0]["values"][0]) == 8' \
    run '@[S(1)] -> [S(0)] mesh=2' --in "$dir/z.npy"
json 'run json, values' 'o["results"][0]["values"] == [[[-7, 19, 4], [1, -21, 11]]]
    and o["results"][0]["steps"] > 0' run 'f32[2,3]@[P(sum),S(1)] -> [S(0)] mesh=2x2 to=2@1 seed=3'
json 'run json, large' 'o["results"][0]["values"] == [None]' \
    run 'f32[40,30]@[S(0)] -> [R] mesh=2'
run 1 run '@[S(0)] -> [R] mesh=2' --in "$dir/x.npy" --out "$dir/no/y.npy"
grep -q 'No such file' "$dir/err" || fail 'run: output that cannot be written'

# ---- calibrate ----

run 0 calibrate mesh=2 --out "$dir/cost.txt"
has 'calibrate' latency 'predicted' 'measured' 'ratio' "cost=file:$dir/cost.txt"
run 0 explain "f32[64]@[S(0)] -> [R] mesh=2 cost=file:$dir/cost.txt"
has 'a calibrated cost file is read' 'all-gather'
json 'calibrate json' 'len(o["cost"]["latency"]) == 2 and len(o["results"]) == 8' calibrate mesh=2x2
bad 'calibrate one rank' 'at least 2 ranks' calibrate mesh=1

# ---- bad input, for every command that reads a problem ----

refuse() {
    local name=$1 sentence=$2 tensor=$3 target=$4 rest=$5
    ! sampled 3 || bad "draw: $name" "$sentence" draw "$tensor $rest"
    for command in explain verify; do
        ! sampled 3 || bad "$command: $name" "$sentence" $command "redistribute $tensor -> $target $rest"
    done
    ! sampled 3 || bad "run: $name" "$sentence" run "redistribute $tensor -> $target $rest" \
        --in "$dir/x.npy" --out "$dir/y.npy"
}
refuse 'unknown placement' 'unknown placement at "Q(0)]"' 'f32[8]@[Q(0)]' '[R]' mesh=2
refuse 'shard dim out of range' 'so no dim 2' 'f32[8,4]@[S(2)]' '[R]' mesh=2
refuse 'mesh that does not fit' 'has 1 placement, but mesh 2x2 has 2 dims' 'f32[8]@[S(0)]' '[R]' \
    mesh=2x2
refuse '9 mesh dims' 'has more than 8 dims' 'f32[8]@[R]' '[R]' mesh=1x1x1x1x1x1x1x1x2
refuse 'negative size' 'negative size -8' 'f32[-8]@[R]' '[R]' mesh=2
refuse 'negative mesh' 'size -2, expected 1' 'f32[8]@[R]' '[R]' mesh=-2
refuse 'overflow of a size' 'too large' 'f32[99999999999999999999]@[R]' '[R]' mesh=2
refuse 'overflow of the bytes' 'more than 2^63 bytes' 'f32[4000000000,4000000000]@[R]' '[R]' mesh=2
refuse 'partial of a bool' 'bool' 'bool[8]@[P(sum)]' '[R]' mesh=2
refuse 'unknown dtype' 'f33' 'f33[8]@[R]' '[R]' mesh=2
refuse 'no mesh' 'mesh= is missing' 'f32[8]@[R]' '[R]' ''
refuse 'unknown key' 'unknown option "msh="; did you mean mesh=?' 'f32[8]@[R]' '[R]' msh=2
refuse 'unknown world' 'expected world=auto, thread, mpi or sim' 'f32[8]@[R]' '[R]' \
    'mesh=2 world=moon'
refuse 'unknown cost' 'expected default' 'f32[8]@[R]' '[R]' 'mesh=2 cost=cheap'
refuse 'bad limit' 'expected a number of bytes' 'f32[8]@[R]' '[R]' 'mesh=2 limit=much'
refuse 'something behind it' 'unexpected text' 'f32[8]@[R]' '[R]' 'mesh=2 please'
refuse 'unclosed bracket' 'expected' 'f32[8' '[R' mesh=2
bad 'explain: no arrow' 'at column 14: expected ->' explain 'f32[8]@[S(0)][R] mesh=2'
bad 'explain: no target' 'expected the placements to go to' explain 'f32[8]@[S(0)] -> mesh=2'
bad 'explain: no tensor' 'expected a dtype and a shape' explain '@[S(0)] -> [R] mesh=2'
bad 'explain: nothing' 'expected a tensor' explain
bad 'explain: target of another rank count' 'has 2 placements, but mesh 2 has 1 dim' \
    explain 'f32[8]@[S(0)] -> [R,R] mesh=2'
bad 'calibrate: unknown key' 'unknown option' calibrate mash=2
TESSERA_COST=cheap bad 'TESSERA_COST' 'TESSERA_COST: cost "cheap"' explain 'f32[8]@[R] -> [R] mesh=2'
TESSERA_WORLD=moon bad 'TESSERA_WORLD' 'TESSERA_WORLD is "moon"' verify 'f32[8]@[R] -> [R] mesh=2'

echo "$n checks passed"
