# The front door: every target is one line of meson, ninja or a script in tools/.

PREFIX ?= /usr/local
LIBDIR ?= lib
DESTDIR ?=

.PHONY: build demo tour check check-full sanitize lint format ops docs symbols abi contract bench data install clean help

build: build/build.ninja     ## the library, the tool and the examples in build/ (default)
	@ninja -C build build.ninja >build/setup.log 2>&1 || { cat build/setup.log; exit 1; }
	@ninja -C build --quiet

build/build.ninja:
	@command -v meson >/dev/null || { echo 'meson is missing: run tools/install_packages'; exit 1; }
	@mkdir -p build
	@meson setup build >build/setup.log 2>&1 || { cat build/setup.log; exit 1; }

demo:                        ## install what is missing, build, train a network on a 2x2 mesh
	@tools/install_packages demo
	@$(MAKE) --no-print-directory build
	@tools/demo

tour:                        ## the same, and show what the tool does
	@tools/install_packages build
	@$(MAKE) --no-print-directory build
	@tools/tour

check:                       ## install what is missing, run every test in every kind of build
	@tools/install_packages check
	@tools/check all

check-full:                  ## check, all of it on MPI too, own kernels, aarch64, Debian 13; as root
	@tools/install_packages check
	@tools/check --full all

sanitize:                    ## only the address, undefined and thread sanitizer builds
	@tools/install_packages check
	@tools/check sanitize

lint:                        ## only the static checks
	@tools/install_packages check
	@tools/check lint

format:                      ## write all C files in the form .clang-format describes
	@tools/check_format --fix

ops: build                   ## write anew what follows from the rows of ops: C functions, lists, docs
	@tools/check_ops --fix build/print_ops
	@$(MAKE) --no-print-directory build
	@tools/check_docs --fix build/tessera
	@tools/check_symbols --update build/libtessera.so
	@$(MAKE) --no-print-directory contract abi

docs: build                  ## write the list of ops in docs/ops.md anew
	@tools/check_docs --fix build/tessera

symbols: build               ## accept the library's exported functions as the new contract
	@tools/check_symbols --update build/libtessera.so

abi:                         ## accept the functions and types of the headers as the new contract
	@tools/install_packages check
	@tools/check_abi --update

contract: build              ## accept what ops accept, infer and offer as the new contract
	@ninja -C build --quiet tests/test_op_contract
	@build/tests/test_op_contract update tests/data/op_contract.txt

bench:                       ## how fast it is: moving data, planning, calls; PEER=FILE of a peer
	@tools/install_packages build
	@$(MAKE) --no-print-directory build
	@for what in redistribute 'redistribute world=mpi' plan dispatch world; do \
		build/bench/tessera_bench $$what $(if $(PEER),--peer '$(PEER)') || exit 1; echo; done

data:                        ## the text that examples/words learns from, in build/data
	@tools/install_packages data
	@mkdir -p build/data
	@bible -f gen1:1-rev22:21 >build/data/words.txt

install: build/build.ninja   ## library, tool, headers, man page below PREFIX, staged in DESTDIR
	@meson configure build -Dprefix='$(PREFIX)' -Dlibdir='$(LIBDIR)'
	@$(MAKE) --no-print-directory build
	@meson install -C build --no-rebuild --quiet $(if $(DESTDIR),--destdir '$(abspath $(DESTDIR))')
	@if [ -z '$(DESTDIR)' ] && [ "$$(id -u)" = 0 ]; then ldconfig; fi

clean:                       ## remove all build directories
	@rm -rf build build-*

help:                        ## this list
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/\1|\2/p' Makefile | \
		while IFS='|' read -r name text; do printf '  make %-12s %s\n' "$$name" "$$text"; done
