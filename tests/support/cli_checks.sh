# cli_checks.sh - what the tests of the tool share, to be sourced with the path of the tool as $1:
# running it, and one line per check of what it did; stops at the first that fails.
set -u
export LC_ALL=C.UTF-8
unset TESSERA_WORLD TESSERA_COST TESSERA_TIMEOUT TESSERA_LOG NO_COLOR
tool=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0

fail() {
    echo "not ok - $1"
    sed 's/^/    /' "$dir/out" "$dir/err"
    exit 1
}

# sampled MOST: is this case in the sample? As sample_quick() of sampling.h has it, but of MOST cases
# that follow each other one is. A number that has no factor in common with those of the loops around.
asked=0
sampled() {
    local step=${TESSERA_TEST_SAMPLE_QUICK:-1}
    [ "$step" -le "$1" ] || step=$1
    asked=$((asked + 1))
    [ $((asked % step)) = $((${TESSERA_TEST_SEED:-0} % step)) ]
}

# run STATUS ARG...: the output is left in $dir/out and $dir/err
run() {
    local want=$1 got=0
    shift
    "$tool" "$@" >"$dir/out" 2>"$dir/err" </dev/null || got=$?
    [ $got = "$want" ] || fail "exit status $got instead of $want: tessera $*"
}

# ok NAME: one more check held
ok() {
    n=$((n + 1))
    echo "ok $n - $1"
}

# has NAME TEXT...: stdout has each text in some line
has() {
    local name=$1
    shift
    for text in "$@"; do
        grep -qF -- "$text" "$dir/out" || fail "$name: no \"$text\" in the output"
    done
    ok "$name"
}

# is NAME LINE...: stdout is these lines
is() {
    local name=$1
    shift
    printf '%s\n' "$@" >"$dir/want"
    cmp -s "$dir/want" "$dir/out" || fail "$name: other lines"
    ok "$name"
}

# bad NAME SENTENCE ARG...: exit status 2, the sentence on stderr, nothing on stdout
bad() {
    local name=$1 sentence=$2
    shift 2
    run 2 "$@"
    grep -qF -- "$sentence" "$dir/err" || fail "$name: no \"$sentence\" on stderr"
    [ -s "$dir/out" ] && fail "$name: something on stdout"
    ok "$name"
}

# json NAME EXPRESSION ARG...: one object o, for which the Python expression holds
json() {
    local name=$1 expression=$2
    shift 2
    run 0 "$@" --json
    python3 -c "import json,sys
o = json.load(sys.stdin)
assert ($expression), o" <"$dir/out" 2>>"$dir/err" || fail "$name: JSON"
    ok "$name"
}

# npy FILE SHAPE PYTHON: f32 values of a Python expression that gives a list
npy() {
    python3 -c "import struct, sys
head = \"{'descr': '<f4', 'fortran_order': False, 'shape': ($2), }\".ljust(117) + '\n'
values = $3
open(sys.argv[1], 'wb').write(b'\x93NUMPY\x01\x00' + struct.pack('<H', 118) + head.encode() +
                              struct.pack('<%df' % len(values), *values))" "$1"
}

# holds FILE SHAPE PYTHON: a file is the one that npy would write, spelling of the header aside
holds() {
    python3 -c "import struct, sys
data = open(sys.argv[1], 'rb').read()
size = struct.unpack('<H', data[8:10])[0]
head, values = eval(data[10:10 + size]), $3
assert head == {'descr': '<f4', 'fortran_order': False, 'shape': ($2)}, head
got = list(struct.unpack('<%df' % len(values), data[10 + size:]))
assert got == values, got" "$1" 2>>"$dir/err" || fail "$1: other values"
}
