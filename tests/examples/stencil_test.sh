#!/bin/bash
# stencil_test.sh TOOL STENCIL - the example stencil on files: grey and coloured pictures, and what it
# says of bad ones. One line per check; stops at the first that fails.
. "$(dirname "$0")/../support/cli_checks.sh"
tool=$2 # run and bad are about the example here

# picture FILE HEAD BYTES: a head, and so many bytes
picture() {
    python3 -c "import sys
open(sys.argv[1], 'wb').write(sys.argv[2].encode() + bytes(i * 7 % 251 for i in range(int(sys.argv[3]))))" \
        "$1" "$2" "$3"
}

# refused NAME SENTENCE ARG...: exit status 1 and the sentence, no picture
refused() {
    local name=$1 sentence=$2
    shift 2
    rm -f "$dir/y.ppm"
    run 1 "$@"
    grep -qF -- "$sentence" "$dir/err" || fail "$name: no \"$sentence\" on stderr"
    [ "$(wc -l <"$dir/err")" = 1 ] || fail "$name: not one sentence"
    [ -e "$dir/y.ppm" ] && fail "$name: a picture was written"
    ok "$name"
}

picture "$dir/x.pgm" $'P5 # a comment\n# another\n47 31\n255\n' $((47 * 31))
run 0 "$dir/x.pgm" "$dir/y.ppm" 2
has 'a grey picture' 'the largest difference to one rank is 0 of 255' 'y.ppm: 29 x 13 pixels' \
    'rank  halo received'
[ "$(wc -c <"$dir/y.ppm")" = $((13 + 29 * 13)) ] || fail 'a grey picture: its size'
picture "$dir/x.ppm" $'P6\n23 40\n100\n' $((23 * 40 * 3))
run 0 "$dir/x.ppm" "$dir/y.ppm" 1
has 'a coloured picture' 'y.ppm: 13 x 30 pixels'
refused 'no file' 'nothing.ppm: No such file or directory' "$dir/nothing.ppm" "$dir/y.ppm"
picture "$dir/bad" $'P3\n4 4\n255\n' 48
refused 'another magic' 'it is neither a binary PGM (P5) nor a binary PPM (P6)' "$dir/bad" "$dir/y.ppm"
picture "$dir/bad" '' 0
refused 'an empty file' 'it is neither a binary PGM (P5) nor a binary PPM (P6)' "$dir/bad" "$dir/y.ppm"
picture "$dir/bad" $'P5\n47 31\n255\n' $((47 * 31 - 1))
refused 'a file that was cut off' 'it ends before the last pixel' "$dir/bad" "$dir/y.ppm"
for head in $'P5\n0 31\n255\n' $'P5\n47\n' $'P5\n-1 31\n255\n' $'P5\n99999999999 31\n255\n' $'P5 #'; do
    picture "$dir/bad" "$head" 0
    refused "a bad size" 'its head has no width and height of 1 to 32768' "$dir/bad" "$dir/y.ppm"
done
picture "$dir/bad" $'P5\n47 31\n65535\n' $((2 * 47 * 31))
refused 'two bytes a value' 'its largest value is not 1 to 255' "$dir/bad" "$dir/y.ppm"
refused 'a picture that is too small' '3 steps need a picture of more than 26 x 26 pixels' 20 \
    "$dir/y.ppm" 3
refused 'a picture that cannot be written' 'No such file or directory' 40 "$dir/none/y.ppm" 1
bad 'usage' 'usage: stencil [PICTURE|SIZE] [OUT] [STEPS]' 40 "$dir/y.ppm" 0

echo "$n checks passed"
