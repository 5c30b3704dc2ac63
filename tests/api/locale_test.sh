#!/bin/sh
# locale_test.sh TESSERA - the library and the tool in German locales, which have a decimal comma and,
# in ISO-8859-1, letters beyond ASCII. The locales are made here, the system needs to have none.
set -eu
tool=$1
program=$(dirname "$tool")/tests/test_locale
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
export LOCPATH="$dir"
# what the C library keeps of LOCPATH until exit is not our leak
export ASAN_OPTIONS="${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0"
unset LC_ALL

in_c=$(LC_ALL=C "$tool" explain "redistribute f32[64,64]@[S(0)] -> [S(1)] mesh=4")
# the order of words costs localedef most of its time, and is not looked at
sed '/^LC_COLLATE/,/^END LC_COLLATE/c\
LC_COLLATE\
copy "POSIX"\
END LC_COLLATE' /usr/share/i18n/locales/de_DE >"$dir/de_DE"
for charset in UTF-8 ISO-8859-1; do
    locale=de_DE.$charset
    localedef -i "$dir/de_DE" -f $charset "$dir/$locale"
    "$program" $locale
    export LC_ALL=$locale
    [ "$("$tool" explain "redistribute f32[64,64]@[S(0)] -> [S(1)] mesh=4")" = "$in_c" ] ||
        { echo "tessera explain prints other numbers in $locale" >&2; exit 1; }
    "$tool" draw "f32[8,8]@[S(0)] mesh=4" >"$dir/drawn"
    "$tool" verify "leaky_relu f32[8]@[S(0)] negative_slope=0.5 mesh=2 cost=latency=1.5e-6" >"$dir/verified"
    status=0
    "$tool" run "einsum f32[4] equation=$(printf '\344->\344') mesh=2" >"$dir/out" 2>"$dir/err" ||
        status=$?
    [ $status = 2 ] && grep -q 'axes are letters' "$dir/err" ||
        { echo "einsum takes a letter of $locale:" >&2; cat "$dir/err" >&2; exit 1; }
    unset LC_ALL
done
echo "2 locales"
