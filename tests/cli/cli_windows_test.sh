#!/bin/bash
# cli_windows_test.sh TOOL [mpi] - what the tool says of operands that are seen through windows, draw
# and explain, and what verify, run and explain do with ops that are composed of others. With "mpi":
# only what starts mpirun. One line per check; stops at the first that fails.
. "$(dirname "$0")/../support/cli_checks.sh"

backward='conv_backward f64[2,4,6,8]@[S(2)] f64[2,3,6,8]@[S(2)] f64[4,3,3,3] padding=1 mesh=2'
blur='conv f32[1,1,12,16]@[S(2),S(3)] f32[1,1,5,5] padding=2 mesh=2x2'

if [ "${2-}" = mpi ]; then
    run 0 verify "$backward world=mpi"
    has 'verify of a composed op under mpirun' PASS '2 ranks, 800 elements of 3 outputs compared'
    npy "$dir/x.npy" '1, 1, 4, 6' '[i % 5 for i in range(24)]'
    npy "$dir/w.npy" '1, 1, 1, 3' '[1, 2, 1]'
    run 0 run 'conv @[S(3)] @[R] padding=0,1 mesh=2@1 world=mpi' --in "$dir/x.npy,$dir/w.npy" \
        --out "$dir/y.npy"
    has 'run on a mesh without the first rank' 'output  f32[1,1,4,6]@[S(3)]' 'rank 1  16 B received'
    echo "$n checks passed"
    exit 0
fi

# ---- draw ----

run 0 draw "$blur"
has 'draw windows' '-2 │ .  . │ .  .  .  .  .  .  .  . │ .  .                   │' \
    '0 │ .  . │ 0  0  0  0  0  0  0  0 │(1)(1) 1  1  1  1  1  1 │' \
    '7 │ .  . │(2)(2)(2)(2)(2)(2)(2)(2)│(3)(3) 3  3  3  3  3  3 │' \
    '8 │      │ 2  2  2  2  2  2  2  2 │ 3  3  3  3  3  3  3  3 │' \
    '(r): rank 0 fetches it from rank r; 128 B from 3 ranks' '. is padding' \
    '0  (0,0)  0:6    0:8     2,0      0:8    0:10    2,0         128 B  1: 48 B, 2: 64 B, 3: 16 B'

run 0 draw "$blur" --rank 3 --color=always
has 'draw the window of a rank, in colour' 'window of rank 3' $'\033[38;5;16;48;5;150m'
LC_ALL=C run 0 draw 'conv f32[2,3,1080,1920]@[R,S(3)] f32[8,3,7,7] padding=3 stride=2 mesh=2x4'
has 'draw windows, scaled' '480' '(0,4)|' '(2,6)|' 'window of rank 1' \
    '1  (0,1)  480:960    477:962    0,0      126.6 KiB  0: 75.9 KiB, 2: 50.6 KiB'
run 0 draw 'conv f32[1,1,40]@[S(2)] f32[1,1,21] padding=10 mesh=8'
has 'windows over several neighbours' \
    '4  (4)    20:25  10:35   0,0          80 B  2: 20 B, 3: 20 B, 5: 20 B, 6: 20 B'
run 0 draw 'conv f32[1,1,5]@[S(2)] f32[1,1,3] padding=1 mesh=4' --rank 3
has 'an empty shard needs nothing' 'rank 3 needs nothing from other ranks' 'none'
run 0 draw 'conv_grad_input f32[2,64,6,8]@[S(2),S(3)] f32[64,2,3,3] padding=1 stride=2 input=12,16 mesh=2x2'
has 'draw windows that are filled' 'the output f32[2,2,12,16]@[S(2),S(3)], reverse halo window' \
    '(r): rank 3 computes a term of it, which rank r adds to its own; 240 B to 3 ranks' \
    '0  (0,0)  0:6    0:6     1,0      0:8    0:8     1,0         240 B  1: 96 B, 2: 128 B, 3: 16 B'
run 0 draw 'conv_grad_weight f32[2,4,8,8]@[S(2)] f32[2,3,8,8]@[S(2)] padding=1 kernel=3,3 mesh=2'
has 'draw the windows of a gradient of weights' 'x f32[2,3,8,8]@[S(2)], halo window'
run 0 draw 'conv f32[4,1,12,16]@[S(0)] f32[1,1,5,5] padding=2 mesh=2'
has 'draw where no windows are' 'no operand needs a halo under the cheapest strategy'
run 0 draw 'matmul f32[4,4]@[S(0)] f32[4,4] mesh=2'
has 'draw an op without windows' 'no operand needs a halo'
run 0 draw "$blur" --svg "$dir/a.svg"
python3 -c "import sys, xml.dom.minidom as x
d = x.parse(sys.argv[1]).documentElement
assert d.tagName == 'svg' and 'what rank 0 needs of x' in d.toxml() and 'gives 48 B' in d.toxml()" \
    "$dir/a.svg" 2>>"$dir/err" || fail 'draw --svg of windows'
has 'draw svg of windows' written
json 'draw json of windows' 'o["results"][0]["operand"] == "x" and not o["results"][0]["reverse"] and
    o["results"][0]["ranks"][3]["dims"][1] == {"dim": 3, "part": [8, 16], "window": [6, 16],
    "reach": [6, 18]} and o["results"][0]["ranks"][3]["from"][2] == {"rank": 2, "bytes": 48}' \
    draw "$blur"
json 'draw json without windows' 'o["results"] == []' draw 'neg f32[4]@[S(0)] mesh=2'
bad 'draw: a rank that is not there' '--rank is "4"; the mesh has ranks 0 to 3' draw "$blur" --rank 4
bad 'draw: no rank' '--rank is "x"' draw "$blur" --rank x
bad 'draw: a rank of a tensor' '--rank is for ops' draw 'f32[4]@[S(0)] mesh=2' --rank 1
bad 'draw: colour of windows' '--color is "red"' draw "$blur" --color red
bad 'draw a composed op' 'is a composite op; explain lists its ops' draw "$backward"
bad 'draw: too many ranks' 'at most 4096' draw 'conv f32[1,1,9999]@[S(2)] f32[1,1,3] mesh=5000'
bad 'draw: an unknown op' 'unknown op "convv"; did you mean conv?' draw 'convv f32[4] mesh=2'

# what draw says is what comes to a rank
npy "$dir/x.npy" '1, 2, 7, 9' '[i % 5 for i in range(126)]'
npy "$dir/w.npy" '2, 2, 3, 4' '[i % 3 for i in range(48)]'
for call in 'conv @[S(2),S(3)] @[R,R] padding=2,1,1,2' 'conv @[R,S(3)] @[R,R] stride=2,1' \
    'conv @[S(3),S(2)] @[R,R] padding=1 dilation=2'; do
    run 0 run "$call mesh=2x2" --in "$dir/x.npy,$dir/w.npy" --out "$dir/y.npy" --json
    mv "$dir/out" "$dir/ran"
    shapes=${call/ @/ f32[1,2,7,9]@}
    run 0 draw "${shapes/ @/ f32[2,2,3,4]@} mesh=2x2" --json
    python3 -c "import json, sys
ran, drawn = (json.load(open(f)) for f in sys.argv[1:])
assert drawn['results'][0]['ranks'][0]['bytes'] == ran['results'][0]['bytes_in'] > 0" \
        "$dir/ran" "$dir/out" 2>>"$dir/err" || fail "draw and run differ: $call"
    ok "what draw says comes to a rank: $call"
done

# ---- explain ----

run 0 explain 'conv f32[2,64,64,64]@[S(2),S(3)] f32[64,64,3,3] padding=1 mesh=2x2'
has 'explain windows' '+ 6.66 us for halos + 0 pending' \
    'x fetched: 1 before and 1 after along dim 2, 1 and 1 along dim 3; rank 0 receives most, 32.5 KiB from 3 ranks'
run 0 explain 'conv f32[1,1,8]@[S(2)] f32[1,1,2] stride=2 mesh=2'
has 'explain windows that move nothing' 'x fetched: 0 before and 0 after along dim 2; nothing moves'
json 'explain json of windows' 'o["windows"][0]["operand"] == "x" and o["windows"][0]["bytes"] == 128
    and o["windows"][0]["peers"] == 3' explain "$blur"

# ---- ops that are composed of others ----

run 0 verify "$backward"
has 'verify of a composed op' PASS '2 ranks, 800 elements of 3 outputs compared, equal; a composite op'
run 1 verify "$backward output_mask=0,1,1" --spoil 1
has 'verify finds a difference in any output' FAIL 'output 1, index ['
run 0 verify 'conv_backward f32[2,2,5] f32[2,2,5] f32[2,2,3] padding=1 mesh=2' --all-placements
has 'verify of a composed op in all ways' PASS 'placements of the inputs'
run 0 verify 'bag_max f32[10,4]@[S(0)] i64[6,3]<10 mesh=2'
has 'verify of all outputs of an op' PASS '96 elements of 2 outputs compared, equal; output as planned'
run 0 explain "$backward"
has 'explain of a composed op' 'is a composite op; a simulated run calls' 'conv_grad_input' \
    'output 2  f64[4]@[P(sum)]' 'received by the busiest rank'
json 'explain json of a composed op' 'o["composed"] and [r["calls"] for r in o["results"]] == [1] * 3
    and o["outputs"][3] is None and o["bytes"] > 0' explain "$backward"
bad 'rules of a composed op' 'it has no rules of its own' explain "$backward" --rules
bad 'placements for a composed op' 'leave out -> [R]' \
    verify "$backward -> [R]"
bad 'a composed op that fails' 'the output has shape [2,4,4,6], its gradient is f64[2,4,6]' \
    explain 'conv_backward f64[2,4,6]@[S(2)] f64[2,3,6,8] f64[4,3,3,3] mesh=2'
npy "$dir/g.npy" '1, 2, 4' '[1, 2, 3, 4, 5, 6, 7, 8]'
npy "$dir/x.npy" '1, 1, 4' '[1, 0, 2, 1]'
npy "$dir/w.npy" '2, 1, 1' '[1, 10]'
run 0 run 'conv_backward @[S(2)] @[S(2)] @[R] mesh=2' --in "$dir/g.npy,$dir/x.npy,$dir/w.npy" \
    --out "$dir/a.npy,$dir/b.npy"
has 'run of a composed op' 'output  f32[1,1,4]@[S(2)]' 'not saved: --out names no file for it'
holds "$dir/a.npy" '1, 1, 4' '[51, 62, 73, 84]'
holds "$dir/b.npy" '2, 1, 1' '[11, 27]'
ok 'run saves all outputs that have files'
run 1 run 'neg @[S(0)] mesh=2' --in "$dir/g.npy" --out "$dir/a.npy,$dir/b.npy"
grep -q 'names 2 files, but neg gives 1 output$' "$dir/err" || fail 'too many files'
ok 'run with more files than outputs'
bad 'run with an empty file name' 'a file name of --out is empty' \
    run 'neg @[S(0)] mesh=2' --in "$dir/g.npy" --out "$dir/a.npy,"

echo "$n checks passed"
