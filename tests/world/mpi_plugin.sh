#!/bin/bash
# mpi_plugin.sh TOOL - where the MPI plugin is found: in a build directory, in an installation that
# was moved, in TESSERA_PLUGIN_DIR, and nowhere else; that ranks of another launcher are refused;
# that jobs of several threads are.
. "$(dirname "$0")/../support/cli_checks.sh"
unset TESSERA_PLUGIN_DIR LD_LIBRARY_PATH # meson test sets both
build=$(cd "$(dirname "$tool")" && pwd)
mpirun=$(cd "$(dirname "$0")/../../tools" && pwd)/mpirun

# works NAME TOOL: two ranks of this tool find their plugin
works() {
    (cd / && "$mpirun" -n 2 "$2" run 'neg f64[4]@[S(0)] mesh=2') >"$dir/out" 2>"$dir/err" </dev/null ||
        fail "$1"
    ok "$1"
}

works 'a build directory' "$build/tessera"
mkdir "$dir/first"
DESTDIR=$dir/first meson install -C "$build" --no-rebuild --quiet >"$dir/out" 2>&1 || fail 'meson install'
mv "$dir/first" "$dir/moved"
installed=$(find "$dir/moved" -path '*/bin/tessera')
works 'an installation that was moved' "$installed"
plugin=$(find "$dir/moved" -name libtessera_mpi.so)
mkdir "$dir/elsewhere"
mv "$plugin" "$dir/elsewhere"
cp "$dir/elsewhere/libtessera_mpi.so" "$dir/moved" # where it must not be found
tool=$installed
(cd "$dir/moved" && LD_LIBRARY_PATH=$dir/moved run 1 run 'neg f64[4] mesh=1 world=mpi') || exit 1
grep -q 'needs the plugin libtessera_mpi.so, which was not found' "$dir/err" || fail 'a plugin from elsewhere'
ok 'a plugin is not taken from the working directory or the path of libraries'
TESSERA_PLUGIN_DIR=$dir/elsewhere works 'TESSERA_PLUGIN_DIR' "$installed"
for file in "$installed" "$(find "$dir/moved" -name 'libtessera.so.*' -type f)"; do
    readelf -p .rodata "$file" | grep -F "$build" && fail "$file knows the build directory"
done
ok 'no build directory in programs'

tool=$build/tessera
PMI_SIZE=3 run 1 run 'neg f64[4]@[S(0)] mesh=1'
grep -qF '3 ranks were launched, but the MPI that Tessera was built with sees 1' "$dir/err" ||
    fail 'the launcher of another MPI'
ok 'the launcher of another MPI'

TESSERA_PLUGIN_DIR=$build timeout 100 "$mpirun" -n 2 "$build/tests/test_mpi" threads >"$dir/out" 2>"$dir/err" ||
    fail 'jobs of several threads'
ok 'jobs of several threads are refused'
echo "$n checks passed"
