#!/bin/sh
# training_test.sh TOOL WAY PROGRAM - a program that trains, at the size of a test: with the same seed
# the same losses on every mesh; ctrl-C, bad data and, under mpirun, a killed rank. WAY: thread or mpi.
set -eu
way=$2 program=$3
model=$(basename "$program")
here=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0

# Builds that are slow take a few steps on one mesh, which is what their sanitizers want to see.
steps=100
meshes='2 4 1x2 2x2' # batches x what the model shares out
patience=20 # seconds to end after ctrl-C
[ "$way" = mpi ] || meshes="$meshes 1x4 data=3"
[ "$model$way" != fashionthread ] || meshes="$meshes space=2"
# A sample has one mesh of mpirun, and of threads every other one: in f64, the others in f32.
tried=${TESSERA_TEST_SEED-0}
every=1
[ -z "${TESSERA_TEST_SAMPLE-}" ] || every=2
[ "$every$way" != 2mpi ] || every=8
[ -z "${TESSERA_TEST_SLOW-}" ] || every=1 steps=6 meshes=2x2 patience=60

fail() {
    echo "FAILED: $model: $*"
    failed=1
}

# ---- data ----

# first FILE HEAD SAMPLES SIZE: the first samples of one of Debian's files, which has HEAD bytes before
# them; their number is the second word of it.
first() {
    file=$1 head=$2 n=$3
    zcat "/usr/share/datasets/fashion-mnist/$file" | head -c $((head + n * $4)) >"$scratch/whole"
    {
        head -c 4 "$scratch/whole"
        # shellcheck disable=SC2059
        printf "\\0\\0\\$(printf %o $((n / 256)))\\$(printf %o $((n % 256)))"
        tail -c +9 "$scratch/whole"
    } | gzip -1 >"$scratch/data/$file"
}

mkdir "$scratch/data"
case $model in
fashion)
    first train-images-idx3-ubyte.gz 16 2000 784
    first train-labels-idx1-ubyte.gz 8 2000 1
    first t10k-images-idx3-ubyte.gz 16 500 784
    first t10k-labels-idx1-ubyte.gz 8 500 1
    data=$scratch/data size='--batch 16'
    ;;
clicks) data=$here/examples/data size='--batch 320 --width 8' ;;
words) # lines of words of a language of its own, the same every time
    awk 'BEGIN {
        for (line = 0; line < 2500; line++) {
            text = "Ge" line ":1"
            for (k = 0; k < 12; k++) {
                s = (s * 75 + 74) % 65537
                text = text " " substr("andtheearthwaswithoutformandvoid", 1 + s % 25, 2 + s % 6)
            }
            print text
        }
    }' >"$scratch/data/text"
    data=$scratch/data/text
    size='--pieces 128 --length 32 --width 32 --layers 2 --batch 8 --sample 0'
    ;;
esac

# ---- running it ----

# with RANKS OPTION...: it takes the place of the shell; nothing in these options has blanks
with() {
    ranks=$1
    shift
    # shellcheck disable=SC2086
    set -- "$program" --data "$data" $size "$@"
    if [ "$ranks" = 1 ] || [ "$way" = thread ]; then
        exec "$@"
    fi
    # each process says who it is, for those who want to kill one
    # shellcheck disable=SC2016
    exec "$here/tools/mpirun" -n "$ranks" sh -c \
        'echo $$ >"$0/pid.$OMPI_COMM_WORLD_RANK"; exec "$@"' "$scratch" "$@"
}

run() { # run RANKS OPTION...
    (with "$@") >"$scratch/out" 2>"$scratch/err"
}

ranks_of() {
    case $1 in
    1 | 2) echo "$1" ;;
    1x2) echo 2 ;;
    *) echo 4 ;; # of threads it does not matter
    esac
}

# ---- the same losses ----

# losses NAME DTYPE MESH
losses() {
    rm -f "$scratch/$1"
    run "$(ranks_of "$3")" --steps $steps --dtype "$2" --mesh="$3" --losses "$scratch/$1" ||
        fail "on $3: $(cat "$scratch/err")"
    [ "$(wc -l <"$scratch/$1")" = $steps ] || fail "on $3: not $steps losses"
}

# compare LIMIT: of one rank and of many; also that 100 steps learn something, or it is easy to agree
compare() {
    paste "$scratch/one" "$scratch/many" | awk -v limit="$1" '
        { d = $1 - $2; if (d < 0) d = -d; if (!(d <= limit * $1)) bad = NR ": " $1 " and " $2 }
        NR == 1 { first = $1 }
        { last = $1 }
        END {
            if (bad) { print "step " bad; exit 1 }
            if (NR == 100 && !(last < first)) { print "from " first " to " last; exit 1 }
        }'
}

for dtype in f64 f32; do
    limit=1e-9
    [ $dtype = f64 ] || limit=1e-3
    losses one $dtype 1
    # other meshes in f32
    [ $every != 2 ] || [ $(($(echo "$meshes" | wc -w) % 2)) = 1 ] || tried=$((tried + 1))
    for mesh in $meshes; do
        tried=$((tried + 1))
        [ $((tried % every)) = 0 ] || continue
        losses many $dtype "$mesh"
        compare $limit || fail "losses in $dtype on $mesh"
    done
done

# ---- ctrl-C, and a rank that is killed ----

# start: a long run on 2x2 in the background, as process $!, until its first step is done
start() {
    : >"$scratch/err"
    (with 4 --steps 1000000 --mesh=2x2) >"$scratch/out" 2>"$scratch/err" &
    for _ in $(seq 300); do
        grep -q 'step 1 of' "$scratch/err" && break
        sleep 0.2
    done
    began=$(date +%s)
}

took() { # took WHAT: to end
    [ $(($(date +%s) - began)) -le $patience ] || fail "$1: $(($(date +%s) - began)) s to end"
}

# Of ctrl-C mpirun makes SIGTERM for each rank, and kills what has not ended soon after, without its
# output: a second later by Open MPI 4, 0.3 s by Open MPI 5. Ranks of this test have their time.
start
if [ "$way" = mpi ]; then
    # shellcheck disable=SC2046
    kill -TERM $(cat "$scratch"/pid.*)
else
    kill -INT $!
fi
status=0
wait $! || status=$?
took ctrl-C
[ "$way" = mpi ] || [ $status = 0 ] || fail "ctrl-C is no failure: $(cat "$scratch/err")"
grep -q 'steps .*, interrupted' "$scratch/out" || fail 'no table after ctrl-C'
grep -q 'time per step' "$scratch/out" || fail 'half a table after ctrl-C'

if [ "$way" = mpi ]; then
    start
    kill -KILL "$(cat "$scratch/pid.2")"
    wait $! && fail 'a killed rank is a failure'
    took 'a killed rank'
fi

# ---- bad data ----

# refused SENTENCE OPTION...: it fails, and says so in one sentence; each process does that finds it
refused() {
    sentence=$1
    shift
    run 4 --mesh=data=4 "$@" --steps 3 && fail "no error: $sentence"
    grep -qF -- "$sentence" "$scratch/err" || fail "no \"$sentence\": $(cat "$scratch/err")"
    [ "$way" = mpi ] || [ "$(wc -l <"$scratch/err")" = 1 ] || fail "more than one line: $sentence"
}

refused 'cannot open /nowhere' --data /nowhere
[ "$way" = mpi ] || refused 'a batch of 5 is smaller than the 8 ranks of mesh dim data' --batch 5 \
    --mesh=data=8
[ "$model" = fashion ] && [ $every -lt 8 ] || exit $failed
refused 'a batch of 1 is smaller than the 4 ranks of mesh dim data' --batch 1
images=$scratch/data/train-images-idx3-ubyte.gz
labels=$scratch/data/train-labels-idx1-ubyte.gz

# spoiled FILE SENTENCE COMMAND...: what the command makes of the unpacked file
spoiled() {
    file=$1 sentence=$2
    shift 2
    cp "$file" "$scratch/good"
    zcat "$file" | "$@" | gzip -1 >"$scratch/bad"
    cp "$scratch/bad" "$file"
    refused "$sentence"
    cp "$scratch/good" "$file"
}

cp "$images" "$scratch/good"
head -c 100000 "$scratch/good" >"$images"
refused "gz file $images is truncated: it ends after 100000 bytes, in the middle of its data"
{ head -c -8 "$scratch/good" && printf 'its sums'; } >"$images"
refused "gz file $images is corrupt near byte"
cp "$scratch/good" "$images"
spoiled "$images" 'is truncated: u8[2000,28,28] needs 1568000 bytes after the header, but there are' \
    head -c 1000000
spoiled "$images" "$images is not an IDX file: its first two bytes are not 0" tail -c +2
spoiled "$labels" "of $labels has label 11, which is not one of the 10 classes" tr '\5' '\13'
rm "$labels"
refused "cannot open $labels"
exit $failed
