#!/bin/bash
# cli_ops_test.sh TOOL [mpi] - what the tool does with ops: ops, explain, verify and run, their JSON,
# and that bad input is answered with one sentence and exit status 2. With "mpi": only what starts
# mpirun. One line per check; stops at the first that fails.
. "$(dirname "$0")/../support/cli_checks.sh"

product='[float(sum(((6 * i + k) % 5 - 2) * ((3 * k + j) % 7 - 3) for k in range(6)))
    for i in range(4) for j in range(3)]'
make_matrices() {
    npy "$dir/a.npy" '4, 6' '[i % 5 - 2 for i in range(24)]'
    npy "$dir/b.npy" '6, 3' '[i % 7 - 3 for i in range(18)]'
}

# nine tensors joined along their sharded dim: each moves a halo, all at once
nine_halos=$(printf 'f32[400000]@[S(0)] %.0s' 1 2 3 4 5 6 7 8 9)

mpi_checks() {
    run 0 verify "cat $nine_halos dim=0 mesh=4 world=mpi"
    has 'cat of many sharded tensors under mpirun' PASS '14400000 elements compared, equal'
    run 0 verify 'matmul f32[5,7]@[S(0),P(sum)] f32[7,3]@[R,S(1)] mesh=2x2 world=mpi'
    has 'verify starts mpirun' PASS '4 ranks, 60 elements compared, equal' 'world=mpi'
    run 0 verify 'add f32[5,7] f32[7] mesh=2x2 world=mpi cost=random:5' --all-placements
    has 'verify all placements under mpirun' PASS 'placements of the inputs'
    run 1 verify 'relu f32[5,7]@[S(0),R] mesh=2x2 world=mpi' --spoil 3
    has 'verify finds a difference under mpirun' FAIL 'index [3,0]: expected'
    [ "$(wc -l <"$dir/out")" = 2 ] || fail 'only the first rank prints'
    make_matrices
    run 0 run 'matmul @[S(0),R] @[R,S(1)] -> [R,R] mesh=2x2 world=mpi' \
        --in "$dir/a.npy,$dir/b.npy" --out "$dir/c.npy"
    holds "$dir/c.npy" '4, 3' "$product"
    has 'run under mpirun' 'output  f32[4,3]@[R,R]'
    run 0 run 'matmul f64[2,3]@[P(sum)] f64[3,2]@[S(0)] mesh=2 world=mpi'
    has 'run prints under mpirun' 'f64[2,2]@[' '[[-2. -6.]' ' [-4. -3.]]'
    for i in 1 2 3 4 5 6; do
        run 2 run 'one_hot i64[8]<9@[S(0)] classes=8 mesh=4 world=mpi'
    done
    ok 'an index that one rank finds bad is bad input, whichever rank ends first'
    printf '1\n2\n3\n' >"$dir/list"
    while read -r i; do
        "$tool" run 'neg f32[4]@[S(0)] mesh=2 world=mpi' >"$dir/out" 2>"$dir/err" || fail 'run in a loop'
        echo "$i" >>"$dir/read"
    done <"$dir/list"
    cmp -s "$dir/list" "$dir/read" || fail 'mpirun took the stdin of a loop'
    ok 'mpirun leaves stdin alone'
    echo "$n checks passed"
}

[ "${2-}" = mpi ] && { mpi_checks; exit 0; }

# ---- ops and help ----

run 0 ops
has 'ops' 'matmul                      a,b,bias?' '...mk,...kn,n->...mn' 'by function' 'embedding_backward'
run 0 ops sum matmul
has 'ops, some' 'attributes  dims:dims?, keepdim:bool=false' 'a*b+bias; max and min' \
    'tessera run "matmul f64[4,6]@[S(0)] f64[6,2]@[S(0)] mesh=2"'
run 0 ops fmod
has 'ops, an example of numbers, not NaN' 'tessera run "fmod f64[4,6]+@[S(0)] f64[4,6]+@[S(0)] mesh=2"'
run 0 ops --markdown
has 'ops as a page says what its words mean' 'How to read an entry' '`not implemented`' '`number`'
json 'ops as a page in JSON' 'o["command"] == "ops --markdown" and "How to read an entry" in
    o["results"][0] and "### matmul" in o["results"][0]' ops --markdown
bad 'ops as a page, but of one' '--markdown lists all ops' ops --markdown relu
run 0 ops --markdown
grep -q 'as its function says' "$dir/out" && fail 'ops as a page: says nothing of partial inputs'
run 0 ops mse_loss
has 'ops, choices' 'attributes  reduction:mean|sum|none=mean'
run 0 ops conv
has 'ops, a long line' 'sum and avg, linear in x*weight+bias; max and min, monotone in +bias'
json 'ops json' '{r["name"]: r for r in o["results"]}["softmax"]["attributes"] == "dim:dim=-1" and
    {r["name"]: r for r in o["results"]}["l1_loss"]["attributes"] == "reduction:mean|sum|none=mean" and
    {r["name"]: r for r in o["results"]}["add"]["axes"] == "...,...->..."' ops
json 'ops json, one' 'len(o["results"]) == 1 and o["results"][0]["inputs"] == "x*"' ops cat
bad 'ops: an unknown op' 'unknown op "matmult"; did you mean matmul?' ops matmult
run 0 kernels
has 'kernels' 'embedding        0  embedding ' 'bag_max_backward ' \
    'reference plain avx2 avx512' 'linalg           0  matmul' ' kernels. A SKU is'
json 'kernels json' 'len({r["sku"] for r in o["results"]}) == len(o["results"]) and
    sum(r["used"] for r in o["results"]) == len({tuple(r["sku"].split(".")[:-1]) for r in o["results"]}) and
    all(r["runs"] for r in o["results"] if r["used"]) and
    [r["value"] for r in o["results"] if r["sku"] == "embedding.bag_max.f16.i32.plain"] == [6] and
    [(r["index"], r["category_value"]) for r in o["results"] if r["sku"] == "pointwise.add.f32.plain"] ==
        [(None, 1)]' kernels
json 'kernels of a category' '{"sum", "mean", "max", "cumsum"} <= {r["op"] for r in o["results"]}' kernels reduction
json 'kernels of an op' '{r["category"] for r in o["results"]} == {"reduction", "pooling"}' kernels max
run 0 info
n_dtypes=$(sed -n 's/^dtypes *//p' "$dir/out" | wc -w)
json 'kernels of an op of a category' "len({r['sku'].split('.')[2] for r in o['results']}) == $n_dtypes" \
    kernels reduction.max
bad 'kernels: an unknown op' '"maximam" is neither a category nor an op' kernels maximam
run 0 --help
has 'help lists ops' '  ops        the ops'
for command in ops kernels explain verify run; do
    run 0 help $command
    mv "$dir/out" "$dir/help"
    run 0 $command --help
    cmp -s "$dir/help" "$dir/out" || fail "help $command and $command --help differ"
    has "help $command" "usage: tessera $command"
done
has 'help run says how ops are run' 'tessera run "OP TENSOR ...' 'a.npy,b.npy' 'seed= fills'

# ---- explain --rules ----

run 0 verify "cat $nine_halos dim=0 mesh=4"
has 'cat of many sharded tensors' PASS '14400000 elements compared, equal'
run 0 explain 'matmul f32[64,128]@[S(0),R] f32[128,32]@[R,S(1)] mesh=2x2' --rules
is 'rules of matmul' 'R,R -> R' 'P(sum),R -> P(sum)' 'R,P(sum) -> P(sum)' 'P(avg),R -> P(avg)' \
    'R,P(avg) -> P(avg)' 'S(0),R -> S(0)' 'S(1),S(0) -> P(sum)' 'R,S(1) -> S(1)'
run 0 explain 'matmul f32[64,128]@[R,R] f32[128,32]@[R,R] mesh=2x2' --rules
is 'rules of matmul, all replicated' 'R,R -> R' 'P(sum),R -> P(sum)' 'R,P(sum) -> P(sum)' \
    'P(avg),R -> P(avg)' 'R,P(avg) -> P(avg)'
run 0 explain 'matmul f32[64,128]@[S(0),R] f32[128,32]@[R,SS(1,4)] mesh=2x2' --rules
is 'rules of matmul, plain and strided' 'R,R -> R' 'P(sum),R -> P(sum)' 'R,P(sum) -> P(sum)' \
    'P(avg),R -> P(avg)' 'R,P(avg) -> P(avg)' 'S(0),R -> S(0)' 'SS(0,4),R -> SS(0,4)' \
    'S(1),S(0) -> P(sum)' 'SS(1,4),SS(0,4) -> P(sum)' 'R,S(1) -> S(1)' 'R,SS(1,4) -> SS(1,4)'
run 0 explain 'matmul f32[4,4]@[S(0)] f32[4,4] f32[4] mesh=2' --rules
has 'rules of matmul with a bias' 'S(0),R,R -> S(0)' 'S(1),S(0),P(sum) -> P(sum)' \
    'R,S(1),S(0) -> S(1)' 'P(sum),R,P(sum) -> P(sum)'
run 0 explain 'softmax f32[4,4] mesh=2' --rules
is 'rules without shards' 'R -> R'
run 0 explain 'softmax f32[4,4]@[SS(1,2)] mesh=2 dim=0' --rules
is 'rules with a strided shard' 'R -> R' 'SS(0,2) -> SS(0,2)' 'SS(1,2) -> SS(1,2)'
run 0 explain 'sum i32[4,5,6]@[S(0)] mesh=2 dims=0,-1 keepdim=true' --rules
is 'rules of sum' 'R -> R' 'P(sum) -> P(sum)' 'S(0) -> P(sum)' 'S(1) -> S(1)' 'S(2) -> P(sum)'
run 0 explain 'cat f32[4,5]@[S(1)] f32[2,5] f32[1,5] mesh=2' --rules
is 'rules of a list' 'R,R,R -> R' 'P(sum),P(sum),P(sum) -> P(sum)' \
    'P(avg),P(avg),P(avg) -> P(avg)' 'P(min),P(min),P(min) -> P(min)' \
    'P(max),P(max),P(max) -> P(max)' 'P(prod),P(prod),P(prod) -> P(prod)' \
    'S(0),S(0),S(0) -> S(0)' 'S(1),S(1),S(1) -> S(1)'
run 0 explain 'cat f32[4,5]@[S(1)] f32[2,5]@[SS(1,3)] mesh=2' --rules
has 'rules of a list, plain and strided' 'S(1),S(1) -> S(1)' 'SS(1,3),SS(1,3) -> SS(1,3)'
json 'rules json' 'o["results"][5] == {"inputs": ["S(0)", "R"], "output": "S(0)"}' \
    explain 'matmul f32[4,4]@[S(0)] f32[4,4] mesh=2' --rules
bad 'rules of a redistribution' '--rules is for ops' \
    explain 'f32[8]@[R] -> [S(0)] mesh=2' --rules

# ---- normalisation ----

run 0 verify 'batch_norm f32[6,4,5]@[S(0)] f32[4] - mesh=3'
has 'verify merges statistics' PASS 'equal within'
run 0 verify 'batch_norm f32[6,4] - - f32[4] f32[4]+@[S(0)] training=false mesh=2' --all-placements
has 'verify with positive numbers' PASS 'f32[4]+@[S(0)]'
run 0 verify 'mse_loss f32[6,4]@[S(0)] f32[6,4] reduction=none mesh=3' --all-placements
has 'verify a choice' PASS 'reduction=none'
run 0 explain 'mse_loss f32[6,4]@[S(0)] f32[6,4] reduction=sum mesh=3'
has 'explain a choice' 'reduction=sum'
bad 'verify: an output that is off' 'its first output is switched off' verify \
    'batch_norm_backward f32[4,6] f32[4,6] - f32[6] f32[6] output_mask=0,1,1 mesh=2'
bad 'verify: positive integers' 'only floating point numbers' verify 'relu i32[4]+ mesh=2'

# ---- explain ----

run 0 explain 'matmul f32[64,128]@[S(0),R] f32[128,32]@[R,S(1)] mesh=2x2'
has 'explain' 'a      f32[64,128]  [S(0),R]  [S(0),R]            0 B          0  nothing to do' \
    'output  f32[64,32]@[S(0),S(1)]' 'cost    0 for inputs + 0 pending = 0' \
    'R,R -> R' 'where the chosen strategy costs nothing' 'a [S(0),R] -> [P(sum),P(sum)] needs S -> P' \
    'search: trying all 64 strategies one by one gives the same'
run 0 explain 'mesh=data=2,model=2 matmul f32[64,128]@[S(1),R] f32[128,32]@[R,S(0)] -'
has 'explain, an absent input, settings first, named mesh dims' 'matmul f32[64,128]@[S(1),R]' \
    'exchange(data,model)' 'mesh data=2,model=2, 4 ranks'
run 0 explain matmul 'f32[64,128]@[S(0)]' 'f32[128,32]' - mesh=2 '->' '[R]'
has 'explain, words that are not quoted' '(output)  f32[64,32]   [S(0)]  [R]' 'then [R]' \
    'all-gather(0)'
run 0 explain 'matmul f32[64,128]@[S(0),S(1)] f32[128,32]@[R,S(0)] mesh=2x2 -> [S(0),R]'
has 'explain, placements asked for' 'all-reduce(1)' '[S(0),P(sum)], then [S(0),R]' \
    'times the cost'
run 0 explain 'transpose f32[8,8]@[S(0),R] -> [P(sum),R] mesh=2x2'
has 'explain, S -> P asked for' 'S(0) -> S(1)        6.40 ns' 'times the cost' 'to-partial(0)'
run 0 explain 'reshape f32[6,5]@[S(0),S(1)] shape=30 mesh=2x2'
has 'explain, a rule that does not fit' 'shard boundaries do not align'
run 0 explain 'matmul f32[64,128]@[P(sum)] f32[128,32]@[P(max)] mesh=2'
has 'explain, P -> other P' 'b [P(max)] -> [P(sum)] needs P -> other P'
run 0 explain 'sum f32[64,128]@[S(0),R] mesh=2x2 cost=random:17'
has 'explain with random costs' 'costs are random here'
run 0 explain 'neg f32[64]@[S(0)] mesh=2'
has 'explain, one rule is the chosen strategy' 'is the chosen strategy'
run 0 explain 'matmul f32[8,8]@[S(0),S(1),R,R,R] f32[8,8]@[R,R,R,S(0),P(sum)] mesh=2x2x2x2x2'
has 'explain, too many to try' 'too many to try one by one'
run 0 explain 'matmul f32[8192,8192]@[S(0),S(1)] f32[8192,8192]@[S(0),R] mesh=256x64 world=sim'
has 'explain 16384 ranks' '16384 ranks'
json 'explain json' 'o["output"] == "f32[64,32]@[S(0),S(1)]" and o["search_agrees"] and
    [i["to"] for i in o["inputs"]] == ["[S(0),R]", "[R,S(1)]"] and
    o["results"][0]["way"] == "chosen" and o["results"][1]["rule"] == "R,R -> R" and
    abs(o["results"][1]["inputs"] - o["results"][1]["seconds"]) < 1e-12 and
    not o["results"][5]["possible"]' \
    explain 'matmul f32[64,128]@[S(0),R] f32[128,32]@[R,S(1)] mesh=2x2'
json 'explain json, what it costs adds up' 'all(abs(sum(i["seconds"] for i in o["inputs"]) -
    o["results"][0]["inputs"]) < 1e-9 and abs(w["inputs"] + w["pending"] - w["seconds"]) < 1e-9 and
    w["seconds"] >= o["results"][0]["seconds"] * 0.999
    for w in o["results"] if w["possible"]) and o["asked"]["to"] == "[R,R]"' \
    explain 'matmul f32[64,96]@[S(1),R] f32[96,32]@[S(1),S(0)] f32[32]@[S(0),R] mesh=2x2 -> [R,R]'
for op in 'add f32[6,8]@[P(sum),S(0)] f32[8]@[S(0),R]' 'max f32[6,8]@[P(min),S(0)] dims=0' \
    'reshape f32[6,8]@[SS(1,2),S(0)] shape=48' 'slice f32[6,8]@[S(1),P(avg)] dim=1 stop=4' \
    'matmul f32[2,6,8]@[S(0),S(2)] f32[8,4]@[S(1),P(sum)]'; do
    for seed in 1 2 3; do
        sampled 4 || continue
        json "explain: search and trying all agree, $op, random:$seed" 'o["search_agrees"]' \
            explain "$op mesh=2x3 cost=random:$seed"
    done
done
run 1 explain 'sum f32[64]@[S(0)] -> [R] mesh=4 limit=1'
grep -q 'within the limit of 1' "$dir/err" || fail 'explain: limit'

# ---- verify ----

run 0 verify 'matmul f32[64,128]@[S(0),R] f32[128,32]@[R,S(1)] mesh=2x2 world=thread cost=random:17'
has 'verify' PASS '4 ranks, 8192 elements compared, equal; output as planned'
for dtype in f32 f64 f16 bf16; do
    run 0 verify "matmul ${dtype}[5,7]@[S(0),P(sum)] ${dtype}[7,3]@[P(avg),S(1)] mesh=2x2 seed=9"
    has "verify matmul $dtype" PASS
done
for dtype in f32 f64 f16 bf16 i32 i64 u8; do
    run 0 verify "add ${dtype}[5,7]@[P(sum),S(1)] ${dtype}[7]@[P(max),P(prod)] mesh=2x3"
    has "verify add $dtype" PASS 'equal; output'
done
run 0 verify 'transpose bool[5,7]@[S(0),S(1)] mesh=2x3'
has 'verify bool' PASS
for op in 'matmul f32[5,6] f32[6,3]' 'matmul f32[2,3,4] f32[4,2]' 'add f32[5,6] f32[6]' \
    'mul f32[5,6] f32[5,1]' 'neg f32[5,6]' 'relu f32[5,6]' 'sum f32[5,6,3] dims=0,2' 'sum f32[5]' \
    'mean f32[5,6] dims=1 keepdim=true' 'max f32[5,6] dims=0' 'softmax f32[5,6] dim=0' \
    'cat f32[5,3] f32[2,3] dim=0' 'transpose f32[5,6]' 'reshape f32[6,4] shape=2,-1' \
    'slice f32[5,6] dim=1 start=1 stop=-1 step=2'; do
    for set in 'mesh=2x2' 'mesh=1x2 cost=torch' 'mesh=3x1 cost=random:1' 'mesh=4 cost=random:2'; do
        sampled 14 || continue
        run 0 verify "$op $set" --all-placements
        has "verify all placements, $set, $op" PASS 'placements of the inputs'
    done
done
# along a mesh dim of size 1 a strided shard holds what any placement holds
for op in 'argmax f64[4,6]@[SS(0,2),S(0)] mesh=1x2' 'argmax f64[4,6]@[S(0),SS(0,2)] mesh=2x1' \
    'cross_entropy f32[64,8000]@[SS(1,2),S(1)] i64[64]<8000@[R,R] mesh=1x4' \
    'index_select f32[8000,64]@[SS(0,2),S(0)] i64[600]<8000@[R,S(0)] mesh=1x4' \
    'index_select f32[8000,64]@[S(0),SS(0,2)] i64[600]<8000@[S(0),SS(0,3)] mesh=4x1' \
    'bag_sum f32[800,64]@[SS(0,2),S(0)] i64[600]<800@[SS(0,2),S(0)] i64[100]/600@[SS(0,5),S(0)] mesh=1x4' \
    'bag_max f32[800,64]@[S(0),SS(0,2)] i64[600]<800@[S(0),SS(0,2)] i64[100]/600@[S(0),SS(0,5)] mesh=4x1'; do
    run 0 verify "$op"
    has "verify a strided shard on a mesh dim of size 1, ${op%% *}" PASS
done
run 0 verify 'softmax f32[5,7] mesh=2' --all-placements
has 'verify within eps' PASS 'all 6 placements' 'equal within 8 eps'
for dtype in f64 f32 bf16; do # what cancels in them, and f64 that was found with exponentials in f32
    for op in 'layer_norm D[50,70] D[70] D[70]' 'cross_entropy D[50,70]@[S(1),R] i64[50]<70'; do
        sampled 6 || continue
        run 0 verify "${op//D/$dtype} mesh=2x2" --all-placements
        has "verify within what rounding does, $dtype ${op%% *}" PASS 'outputs compared'
    done
done
run 1 verify 'layer_norm f32[50,70] f32[70] f32[70] mesh=2' --spoil 1
grep -qE 'expected -0.94.*, got 0, which is not within 1\.[0-9]*e-06' "$dir/out" ||
    fail 'verify of sums that cancel: a wrong number is found, and the tolerance is small'
ok 'verify of sums that cancel finds a wrong number'
run 1 verify 'cross_entropy f32[50,70] i64[50]<70 - reduction=none mesh=2' --spoil 1
has 'verify of exponentials finds a wrong number' 'expected 5.7008' 'not within 6.09e-06'
run 0 verify 'matmul f32[5,7] f32[7,3] f32[3] mesh=2x2' --all-placements
has 'verify samples of many ways' PASS '2000 of 20736 placements of the inputs, at random'
run 0 verify 'relu bool[5,7] mesh=2' --all-placements
has 'verify leaves out what has no meaning' PASS 'all 5 placements'
run 0 verify 'cat f32[5,7]@[S(0)] f32[0,7]@[S(1)] f32[2,7]@[P(sum)] mesh=3'
has 'verify a list, an empty one in it' PASS
run 0 verify 'sum f32[0,3]@[S(0)] dims=0 mesh=2'
has 'verify no elements' PASS
run 0 verify 'add f32[8]@[S(0)] f32[8]@[P(sum)] mesh=2@1 -> [R]'
has 'verify on a part of the world, placements asked for' PASS '3 ranks, 16 elements'
run 0 verify 'add i64[7]<10@[S(0),P(sum)] i64[7]@[P(max),R] mesh=2x2' --all-placements
has 'verify, indices' PASS 'add i64[7]<10@[S(0),P(sum)] i64[7]@[P(max),R] mesh=2x2' 'all 256 placements'
run 1 verify 'max i64[90]<10@[R] dims=0 mesh=1' --spoil 0
has 'verify, indices reach up to the limit' FAIL 'expected 9,'
run 1 verify 'relu i32[5]<1@[R] mesh=1' --spoil 0
has 'verify, indices below 1' FAIL 'relu i32[5]<1@[R]' 'index [0]: expected 0,'
run 1 verify 'max i64[90]/12@[R] dims=0 mesh=1' --spoil 0
has 'verify, offsets end at the limit' FAIL 'i64[90]/12@[R]' 'expected 12,'
run 1 verify 'neg i64[4]/12@[S(0)] mesh=2' --spoil 0
has 'verify, offsets begin with 0' FAIL 'index [0]: expected 0,'
run 1 verify 'add f32[8]@[S(0)] f32[8] mesh=2' --spoil 1
has 'verify finds a difference' FAIL 'rank 0, index [4]: expected'
for rank in 2 7 -1 x '' 1x; do
    sampled 5 || continue
    bad "--spoil '$rank' of an op" 'there are ranks 0 to 1' verify 'add f32[8]@[S(0)] f32[8] mesh=2' \
        "--spoil=$rank"
    bad "--spoil '$rank'" 'there are ranks 0 to 1' verify 'f32[8]@[S(0)] -> [R] mesh=2' "--spoil=$rank"
done
run 1 verify 'softmax f32[8,3]@[S(0)] mesh=2' --spoil 1 --all-placements
has 'verify finds differences in all ways' FAIL '6 fail, first softmax f32[8,3]@[R]' \
    'rank 1, index [0,0]' 'which is not within'
run 1 verify 'matmul f32[64,64]@[S(0)] f32[64,64]@[S(0)] mesh=4 limit=100'
grep -q 'within the limit of 100' "$dir/err" || fail 'verify: limit'
json 'verify json' 'o["pass"] and o["results"][0]["ways"] == 16 and o["results"][0]["exact"] and
    o["results"][0]["compared"] == 256' verify 'add f32[8] f32[8] mesh=2' --all-placements
bad 'verify in the sim world' 'holds no data' verify 'neg f32[4]@[R] mesh=2 world=sim'
bad 'all placements of a redistribution' '--all-placements is for ops' \
    verify 'f32[8]@[R] -> [S(0)] mesh=2' --all-placements

# ---- run ----

make_matrices
run 0 run 'matmul @[S(0),R] @[R,S(1)] mesh=2x2' --in "$dir/a.npy,$dir/b.npy" --out "$dir/c.npy"
holds "$dir/c.npy" '4, 3' "$product"
has 'run' 'matmul f32[4,6]@[S(0),R] f32[6,3]@[R,S(1)] mesh=2x2' 'output  f32[4,3]@[S(0),S(1)]'
run 0 run 'matmul @[S(1)] f32[6,3]@[S(0)] - -> [S(0)] mesh=3' --in "$dir/a.npy,$dir/b.npy" \
    --out "$dir/c.npy"
holds "$dir/c.npy" '4, 3' "$product"
has 'run, placements asked for, an absent input' 'output  f32[4,3]@[S(0)]'
run 0 run 'sum f32[4,6] mesh=2@1 dims=0 keepdim=true' --in "$dir/a.npy" --out "$dir/c.npy"
holds "$dir/c.npy" '1, 6' '[float(sum((6 * i + j) % 5 - 2 for i in range(4))) for j in range(6)]'
has 'run with attributes, on a part of the world' 'output  f32[1,6]'
json 'run json' 'o["results"][0]["output"] == "f32[6,4]@[S(1)]"' \
    run 'transpose @[S(0)] mesh=2' --in "$dir/a.npy" --out "$dir/c.npy"
bad 'run: too few files' '--in names 1 file, but matmul has 2 inputs in the text' \
    run 'matmul @[R] @[R] mesh=2' --in "$dir/a.npy" --out "$dir/c.npy"
bad 'run: no file' 'No such file' run 'neg @[S(0)] mesh=2' --in "$dir/no" --out "$dir/c.npy"
bad 'run: another tensor' 'holds f32[4,6], not f32[4,5]' \
    run 'neg f32[4,5]@[S(0)] mesh=2' --in "$dir/a.npy" --out "$dir/c.npy"
bad 'run: files that do not fit' 'matmul: inner sizes differ, f32[4,6]@[R] has 6, f32[4,6]@[R] has 4' \
    run 'matmul @[R] @[R] mesh=2' --in "$dir/a.npy,$dir/a.npy" --out "$dir/c.npy"
bad 'run: placements that do not fit a file' 'so no dim 2' \
    run 'neg @[S(2)] mesh=2' --in "$dir/a.npy" --out "$dir/c.npy"
bad 'run: an empty file name' 'a file name of --in is empty' \
    run 'matmul @[R] @[R] mesh=2' --in "$dir/a.npy," --out "$dir/c.npy"
bad 'run: neither file nor shape' \
    'without --in FILE,... the text has to say dtype and shape of b, like f32[5,3]@[R]' \
    run 'matmul f32[4,6] @[R] mesh=2'
run 0 run 'matmul f64[2,3]@[P(sum)] f64[3,2]@[S(0)] mesh=2 -> [R]'
sed -i '/fill\|  run\|  rank/d' "$dir/out"
is 'run prints what it filled' \
    'matmul f64[2,3]@[P(sum)] f64[3,2]@[S(0)] -> [R] mesh=2 world=thread cost=default' \
    '  moves   b to [R]' 'f64[2,2]@[R]' '[[-2. -6.]' ' [-4. -3.]]'
run 0 run 'matmul f64[2,3] f64[3,2] mesh=1'
has 'run fills the same on every mesh' '[[-2. -6.]' ' [-4. -3.]]'
run 0 run 'embedding f32[4,3]@[S(0)] i64[9]<4@[S(0)] mesh=2'
has 'run fills indices' 'f32[9,3]'
run 0 run 'neg @[S(0)] mesh=2' --in "$dir/a.npy"
has 'run prints the result of files' 'f32[4,6]@[S(0)]' '[['
run 0 run 'max f32[5,7]@[S(1)] dims=1 mesh=2' --out "$dir/c.npy"
has 'run saves the result of what it filled' 'fill  ' 'with seed=1' 'output  f32[5]'
json 'run json, values' '[r["values"] for r in o["results"]] == [[[[-2, -6], [-4, -3]]]]
    and o["results"][0]["in"] is None' run 'matmul f64[2,3]@[P(sum)] f64[3,2]@[S(0)] mesh=2'
json 'run json, all digits of numbers' 'abs(o["results"][0]["values"][0] - 3 ** -0.5) < 1e-15' \
    run 'rsqrt f64[]+ mesh=2 seed=1'
json 'run json, no numbers' '{"nan", "inf", "-inf"} & set(o["results"][0]["values"][0])' \
    run 'reciprocal f32[40]@[S(0)] mesh=2'
json 'run json, integers from 2^63 on' '2 ** 64 - 40 < max(int(v) for v in o["results"][0]["values"][0]) < 2 ** 64' \
    run 'neg u64[40]@[S(0)] mesh=2'
json 'run json, several outputs' 'len(o["results"][0]["values"]) == 2' \
    run 'topk f32[4,6]@[S(0)] k=2 mesh=2@1'
bad 'run in the sim world' 'holds no data' \
    run 'neg @[R] mesh=2 world=sim' --in "$dir/a.npy" --out "$dir/c.npy"
run 1 run 'neg @[S(0)] mesh=2' --in "$dir/a.npy" --out "$dir/no/c.npy"
grep -q 'No such file' "$dir/err" || fail 'run: output that cannot be written'
ok 'run: output that cannot be written'

# ---- seed= of random ops ----

first='[0.9546 0.7502 0.1142]'
run 0 run 'uniform f32[3] seed=7 mesh=1'
has 'run: seed= is the attribute of a random op' 'uniform f32[3]@[R] seed=7 mesh=1' "$first"
run 0 run 'seed=7 uniform f32[3]@[S(0)] mesh=2'
has 'run: seed= before the op, on another mesh' "$first"
run 0 run 'uniform f32[3] seed=123 mesh=1'
grep -qF -- "$first" "$dir/out" && fail 'run: another seed gives the same numbers'
ok 'run: another seed gives other numbers'
run 0 verify 'dropout f32[8]@[S(0)] seed=9 mesh=2'
has 'verify: seed= is said once' PASS 'dropout f32[8]@[S(0)] seed=9 mesh=2 world=thread cost=default'
grep -q 'seed=.*seed=' "$dir/out" && fail 'verify: seed= is said twice'
run 0 explain 'dropout f32[8]@[S(0)] seed=9 mesh=2'
has 'explain: seed= is the attribute' 'dropout f32[8]@[S(0)] seed=9'
run 0 help run
has 'help says what seed= is' 'and the attribute of random ops'

# ---- bad input, for every command that reads an op ----

refuse() {
    local name=$1 sentence=$2 text=$3
    for command in explain verify; do
        ! sampled 4 || bad "$command: $name" "$sentence" $command "$text"
    done
    ! sampled 4 || bad "run: $name" "$sentence" run "$text" --in "${4-$dir/a.npy}" --out "$dir/c.npy"
}
two=$dir/a.npy,$dir/a.npy
refuse 'unknown op' 'at column 1: unknown op "matmull"; did you mean matmul?' \
    'matmull f32[64,128]@[S(0),R] mesh=2x2'
refuse 'op like no other' 'unknown op "frobnicate"; tessera ops lists them' \
    'frobnicate f32[4]@[R] mesh=2'
refuse 'a short op like no other' 'unknown op "foo"; tessera ops lists them' 'foo f32[4] mesh=2'
refuse 'letters swapped' 'unknown op "mena"; did you mean mean?' 'mena f32[4] mesh=2'
refuse 'too many numbers' 'sum: dims=0,1,2,3,4,5,6,7,8 has more than 8 numbers' \
    'sum f32[4,6] dims=0,1,2,3,4,5,6,7,8 mesh=2'
refuse 'a blank in a text' 'expected a shape like [5,3]; values have no blanks in them' \
    'einsum f32[2,3] f32[3,4] equation=ij, jk -> ik mesh=2'
refuse 'a blank before an arrow' 'like [R,R]; values have no blanks in them' \
    'einsum f32[2,3] f32[3,4] equation=ij,jk -> ik mesh=2'
refuse 'nearly redistribute' 'did you mean redistribute?' 'redistrbute f32[4]@[R] -> [R] mesh=2'
refuse 'nearly an attribute' 'at column 14: sum has no attribute "dms"; did you mean dims=?' \
    'sum f32[4,6] dms=1 mesh=2'
refuse 'nearly a setting' 'neg has no attribute "msh"; did you mean mesh=?' 'neg f32[4,6] msh=2'
refuse 'unknown attribute' 'sum has no attribute "zzzzz"; it has dims:dims?,keepdim:bool=false' \
    'sum f32[4,6] zzzzz=1 mesh=2'
refuse 'attribute of an op without any' 'neg has no attribute "zzzzz"; it has none' \
    'neg f32[4,6] zzzzz=1 mesh=2'
refuse 'value of an attribute' 'sum: keepdim=maybe is not of type bool' \
    'sum f32[4,6] keepdim=maybe mesh=2'
refuse 'an attribute twice' 'at column 21: attribute dims is given twice' \
    'sum f32[4,6] dims=0 dims=1 mesh=2'
refuse 'a setting twice' 'at column 21: mesh= is given twice' 'neg f32[4,6] mesh=2 mesh=3'
refuse 'no such choice' 'mse_loss: reduction is mean, sum or none, not max' \
    'mse_loss f32[4,6] f32[4,6] reduction=max mesh=2' "$two"
refuse 'a number for a choice' 'mse_loss: reduction is mean, sum or none, not 1' \
    'mse_loss f32[4,6] f32[4,6] reduction=1 mesh=2' "$two"
refuse 'dim out of range' 'softmax: dim 2 is out of range -2 to 1' 'softmax f32[4,6] dim=2 mesh=2'
refuse 'to=' 'to= is for redistributions only' 'neg f32[4,6] mesh=2 to=2'
refuse 'no mesh' 'mesh= is missing' 'neg f32[4,6]'
refuse 'bad mesh' 'size -2, expected 1' 'neg f32[4,6] mesh=-2'
refuse 'unknown world' 'expected world=auto, thread, mpi or sim' 'neg f32[4,6] mesh=2 world=moon'
refuse 'unknown cost' 'expected default' 'neg f32[4,6] mesh=2 cost=cheap'
refuse 'bad seed' 'expected a number of 0 to 2^64-1' 'neg f32[4,6] mesh=2 seed=x'
refuse 'negative seed' 'expected a number of 0 to 2^64-1' 'dropout f32[4,6] mesh=2 seed=-1'
refuse 'unknown dtype' 'unknown dtype "f33"' 'neg f33[4,6] mesh=2'
refuse 'unclosed shape' 'expected a shape like [5,3]' 'neg f32[4,6 mesh=2'
refuse 'unclosed placements' 'expected placements like [S(0),R]' 'neg f32[4,6]@[S(0) mesh=2'
refuse 'no shape' 'expected an input like f32[5,3]@[S(0),R]' 'neg [4,6] mesh=2'
refuse 'no limit' 'expected a limit like <10 or /12' 'neg i64[4]<@[R] mesh=2'
refuse 'limit 0' 'expected a limit like <10 or /12' 'neg i64[4]<0 mesh=2'
refuse 'range of a float' 'only i32 and i64 have a range' 'neg f32[4]<9 mesh=2'
refuse 'offsets of two dims' 'offsets have one dim' 'neg i64[4,6]/9 mesh=2'
refuse 'behind a limit' 'expected an input like' 'neg i64[4]<9/3 mesh=2'
refuse 'mesh that does not fit' 'has 1 placement, but mesh 2x2 has 2 dims' \
    'neg f32[4,6]@[S(0)] mesh=2x2'
refuse 'shard dim out of range' 'so no dim 2' 'neg f32[4,6]@[S(2)] mesh=2'
refuse 'no placements asked for' 'expected the placements of the output' 'neg f32[4,6] -> mesh=2'
refuse 'placements asked for that do not fit' 'has 2 placements, but mesh 2 has 1 dim' \
    'neg f32[4,6] -> [R,R] mesh=2'
refuse 'something behind it' 'unexpected text' 'neg f32[4,6] -> [R] f32[4,6] mesh=2'
refuse 'a missing input' 'matmul: input b is missing' 'matmul f32[4,6] mesh=2'
refuse 'an absent input that is needed' 'matmul: input b is missing' 'matmul f32[4,6] - mesh=2'
refuse 'too many inputs' 'neg: takes inputs x, but 2 were given' 'neg f32[4,6] f32[4,6] mesh=2' \
    "$two"
refuse 'inner sizes' \
    'matmul: inner sizes differ, f32[4,6]@[S(0)] has 6, f32[4,6]@[R] has 4' \
    'matmul f32[4,6]@[S(0)] f32[4,6]@[R] mesh=2' "$two"
bad 'inner sizes on 2x2' \
    'matmul: inner sizes differ, f32[64,128]@[S(0),R] has 128, f32[127,32]@[R,S(1)] has 127' \
    explain 'matmul f32[64,128]@[S(0),R] f32[127,32]@[R,S(1)] mesh=2x2'
bad 'dtypes differ' 'add: dtypes differ in f32[4]@[R] i32[4]@[R]' \
    explain 'add f32[4] i32[4] mesh=2'
bad 'not a float' 'softmax: needs a floating-point dtype, not i32[4]@[R]' \
    verify 'softmax i32[4] mesh=2'
bad 'reshape' 'reshape: f32[4,6]@[R] has 24 elements, which do not fit' \
    explain 'reshape f32[4,6] shape=5,5 mesh=2'
bad 'no inputs' 'takes inputs a,b,bias?, but 0 were given' explain 'matmul mesh=2'
bad '13 inputs' 'more than 12 inputs' explain "cat$(printf ' f32[2]%.0s' $(seq 13)) mesh=2"
bad 'dtype and shape left to a file' 'expected an input like' explain 'neg @[R] mesh=2'

# ---- tables ----

three='user:5000000x64:f32:4096:1 item:200000x64:f32:4096:20 tiny:10x16:f32:4096:1:none'
run 0 tables "$three" mesh=4 memory=400MiB
has 'tables' 'memory/rank' 'replicated does not fit' 'tiny      640 B  replicated        640 B' \
    'rank     memory  exchanged'
json 'tables json' 'len(o["results"]) == 3 and len(o["ranks"]) == 4 and
    all(r["memory"] <= 400 << 20 for r in o["ranks"]) and
    o["results"][0]["choice"] in ("by rows", "by columns") and
    set(o["results"][0]["could"]) == {"replicated", "by rows", "by columns", "one rank"}' \
    tables "$three" mesh=4 memory=400MiB train=false
printf '# name\n%s # no limit\n' "$three" >"$dir/tables.txt"
json 'tables of a file' 'all(r["choice"] == "replicated" for r in o["results"]) and
    o["ranks"][1]["bytes"] == 0' tables "$dir/tables.txt" mesh=2
json 'training moves gradients' 'o["training"] and o["results"][0]["choice"] != "replicated"' \
    tables "$three" mesh=2 train=true cost=latency=1e-6,bandwidth=1e9
bad 'tables at infinite prices' 'too large for a number' tables a:10x8:f32:64:inf mesh=4
bad 'a cost beyond all numbers' 'expected at most 1e100' tables "$three" mesh=4 cost=latency=1e308
printf 'a:10x8:f32:64:4 root:secret:0\n' >"$dir/other.txt"
bad 'a file is not quoted' "word 2 of $dir/other.txt is neither" tables "$dir/other.txt" mesh=2
grep -q secret "$dir/err" && fail 'a file is quoted'
run 1 tables "$three" mesh=4 memory=100MiB
grep -q '332800160 bytes per rank, 227942560 more than the 104857600' "$dir/err" ||
    fail 'tables that do not fit'
ok 'tables that do not fit'
bad 'tables without a mesh' 'mesh= is missing' tables "$three"
bad 'tables of several mesh dims' 'along one mesh dim' tables "$three" mesh=2x2
bad 'no tables' 'no tables' tables mesh=2
bad 'a word that is no table' 'neither a table nor a file' tables nothing mesh=2
bad 'a table without a length' 'is not NAME:ROWSxCOLUMNS' tables a:5x4:f32:3 mesh=2
bad 'a table of no type' 'unknown dtype "f31"' tables a:5x4:f31:3:1 mesh=2
bad 'a table of no pooling' 'not "most"' tables a:5x4:f32:3:1:most mesh=2
bad 'a negative table' 'table 0 of -5 rows' tables a:-5x4:f32:3:1 mesh=2
bad 'memory that is none' 'is not a number of bytes' tables a:5x4:f32:3:1 mesh=2 memory=lots
bad 'a setting that is none' 'unknown setting "mash=2"' tables a:5x4:f32:3:1 mash=2

echo "$n checks passed"
