# SPDX-License-Identifier: GPL-2.0-or-later
# The front door: builds the modules, the userspace and the tests, and runs
# them in a VM. The modules' own build is kmod/Kbuild.
#
# KERNEL=release or KDIR=tree choose the kernel; the default is the newest
# installed one that has both headers and an image.

# The only place that has it: also dkms', the library's and the packages'.
VERSION := $(shell sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p' debian/changelog)

ifdef KERNEL
KDIR := /lib/modules/$(KERNEL)/build
endif
KDIR ?= $(shell scripts/find-kernel --kdir)
KVER = $(shell scripts/find-kernel --release-of $(KDIR))
STAGE = build/$(KVER)/kmod

# What the VM boots: the folder around a build tree that has its own image
# beside it, or else the installed kernel.
KFOLDER = $(patsubst %/,%,$(dir $(abspath $(KDIR))))
VM_KERNEL = $(if $(filter-out /lib/modules/%,$(wildcard $(KFOLDER)/vmlinuz)),$(KFOLDER),$(KVER))
VM = selftests/vm/run --kernel $(VM_KERNEL)
# The simulated machine of the demos and of the shell: a folder of events/
MACHINE ?= hswep

# kbuild gets a job a processor unless the caller has said how many.
JOBS_FLAG = $(if $(filter -j%,$(MAKEFLAGS)),,-j$(shell nproc))
KBUILD = $(MAKE) $(JOBS_FLAG) -C $(KDIR) M=$(CURDIR)/$(STAGE)

CFLAGS ?= -O2 -g
WARNINGS := -Wall -Wextra -Werror
SANITIZE := -fsanitize=address,undefined -fno-omit-frame-pointer

# CMake's folders name the tree in which they were made. In a copy of a built tree, or in
# one that was moved, they would compile the files of the other one.
FOREIGN := $(foreach cache,$(wildcard build/*/CMakeCache.txt build/sanitize/*/CMakeCache.txt),\
	$(if $(filter $(realpath .)/%,$(realpath $(shell \
		sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' $(cache)))),,$(dir $(cache))))

.DELETE_ON_ERROR:
.PHONY: all help deps modules userspace selftests test-modules model-test demo demo-web check check-generations check-debug check-hardware \
	sanitize fuzz soak soak-serve mutate bench vm lint abi install install-modules install-userspace dkms \
	deb check-kernels check-packages catalogues docs version clean do-demo do-demo-web do-check do-check-generations do-soak do-soak-serve do-fuzz do-mutate \
	do-bench do-vm kdir

all: modules userspace selftests test-modules model-test ## the modules, the userspace and the tests

help: ## this list
	@echo 'make [TARGET] [KERNEL=release | KDIR=tree]'
	@sed -n 's/^\([a-z-]*\):[^#]*## /\1\t/p' $(firstword $(MAKEFILE_LIST)) | \
		while IFS="$$(printf '\t')" read -r target text; do \
			printf '  %-18s %s\n' "$$target" "$$text"; \
		done

# --- what is generated from the event catalogue

CATALOGUE := events/generate.py $(wildcard events/*.json) \
	$(dir $(wildcard events/*/boxes.json)) \
	$(wildcard events/gen/*.py events/*/*.json)

# Those that the driver supports: the folders that name a processor.
GENERATIONS := $(patsubst events/%/boxes.json,%,$(shell grep -l '^  "Model":' events/*/boxes.json))

# The others' tests have their own catalogues.
OTHERS := $(filter-out hswep,$(GENERATIONS))

kmod/generated/stamp: $(CATALOGUE)
	@echo '  GEN     kmod/generated'
	@events/generate.py --kernel kmod/generated --generation all && touch $@

build/catalogue.tsv: $(CATALOGUE)
	@echo '  GEN     $@'
	@mkdir -p build && events/generate.py --tsv $@ && touch $@

build/catalogue-%.tsv: $(CATALOGUE)
	@echo '  GEN     $@'
	@mkdir -p build && events/generate.py --generation $* --tsv $@ && touch $@

# Not in the repository: every change of the catalogue would be there twice.
build/Documentation/events/index.rst: $(CATALOGUE)
	@echo '  GEN     $(@D)'
	@events/generate.py --docs $(@D) && touch $@

docs: build/Documentation/events/index.rst ## the event reference, into build/Documentation/events

catalogues: build/catalogue.tsv $(OTHERS:%=build/catalogue-%.tsv) build/machines.tsv

# --- the modules

kdir:
	@test -n '$(KDIR)'
	@test -e '$(KDIR)/include/generated/utsrelease.h' || { \
		echo "$(KDIR) is not a kernel's build tree: are its headers installed?" >&2; \
		exit 1; }

modules: kdir kmod/generated/stamp ## xeon_uncore.ko and xeon_uncore_sim.ko; C=2, W=1, V=1 as for any module
	@scripts/stage kmod $(STAGE)
	+@scripts/first-error $(STAGE)/errors.log '$(KVER)' $(KBUILD) modules

install: install-modules install-userspace ## install the driver for that kernel and userspace (DESTDIR=, PREFIX=)

# INSTALL_MOD_PATH is kbuild's name for a staging folder.
INSTALL_MOD_PATH ?= $(DESTDIR)
install-modules: modules ## install xeon_uncore.ko alone (INSTALL_MOD_PATH= for a staging folder)
	install -D -m 644 $(STAGE)/xeon_uncore.ko \
		$(INSTALL_MOD_PATH)/lib/modules/$(KVER)/updates/xeon_uncore.ko
	depmod $(if $(INSTALL_MOD_PATH),-b $(INSTALL_MOD_PATH)) $(KVER)

# --- the library and the command

PREFIX ?= /usr/local

userspace: build/userspace/Makefile ## libuncore and the uncore command
	+@$(MAKE) $(JOBS_FLAG) --no-print-directory -C build/userspace

build/userspace/Makefile: userspace/CMakeLists.txt $(if $(strip $(FOREIGN)),drop-foreign)
	@command -v cmake > /dev/null || { \
		echo "cmake is missing; scripts/install-deps --userspace gets what this needs" >&2; \
		exit 1; }
	@cmake -S userspace -B build/userspace -G 'Unix Makefiles' \
		-DCMAKE_INSTALL_PREFIX=$(PREFIX) -DUNCORE_VERSION=$(VERSION) > /dev/null

.PHONY: drop-foreign
drop-foreign:
	@echo '  RM      $(strip $(FOREIGN)) (made in another folder)'
	@rm -rf $(FOREIGN)

# Address and thread sanitizers exclude one another.
SANITIZED := address,undefined thread
comma := ,

sanitize_in = cmake -S userspace -B build/sanitize/$(1) -G 'Unix Makefiles' \
	-DUNCORE_VERSION=$(VERSION) -DUNCORE_SANITIZE=$(1) \
	-DUNCORE_LIBPERF=$(CURDIR)/build/userspace/libperf \
	-DCMAKE_BUILD_TYPE=None -DCMAKE_CXX_FLAGS='-O1 -g1' > /dev/null

sanitize: build/userspace/Makefile ## the library's unit tests under ASan, UBSan and TSan
	+@$(MAKE) --no-print-directory -C build/userspace libperf
	+@for kind in $(SANITIZED); do \
		$(call sanitize_in,$$kind) && \
		$(MAKE) $(JOBS_FLAG) --no-print-directory -C build/sanitize/$$kind unit-tests c-interface-test && \
		build/sanitize/$$kind/bin/unit-tests --gtest_brief=1 && \
		build/sanitize/$$kind/bin/c-interface-test || exit 1; \
	done

install-userspace: userspace ## install libuncore and the uncore command alone (DESTDIR=, PREFIX=/usr/local)
	cmake --install build/userspace --prefix $(PREFIX)
	$(if $(DESTDIR),,ldconfig)

# --- the tests' programs

# selftests/Makefile is kselftest's; what it makes is in build/selftests, and
# build/kselftest_install has it with the kernel's run_kselftest.sh. TESTS= names what is
# run, which is not what it calls so.
selftests: ## the tests' programs, and build/kselftest_install/run_kselftest.sh
	@echo '  MAKE    $@'
	+@$(MAKE) -s $(JOBS_FLAG) --no-print-directory -C selftests install USERCFLAGS=-Werror TESTS=

# Kernel modules that tests load, as for the kernel that the VM boots
TEST_STAGE = build/$(KVER)/modules

test-modules: kdir ## the tests' kernel modules
	@scripts/stage selftests/modules $(TEST_STAGE)
	+@scripts/first-error $(TEST_STAGE)/errors.log '$(KVER)' \
		$(MAKE) $(JOBS_FLAG) -C $(KDIR) M=$(CURDIR)/$(TEST_STAGE) modules

MODEL := $(patsubst kmod/sim/%.c,build/model/%.o,$(wildcard kmod/sim/model/*.c kmod/sim/hw/*.c))
MODEL_TESTS := $(patsubst selftests/sim/model/%.cpp,build/model/test/%.o,$(wildcard selftests/sim/model/*.cpp))
MODEL_HEADERS := $(wildcard kmod/sim/model/*.h kmod/sim/hw/*.h selftests/sim/model/*.h selftests/sim/model/*.hpp)
MODEL_FLAGS := -g $(WARNINGS) $(SANITIZE) -Ikmod -Ikmod/sim -Iselftests/sim/model

model-test: kmod/generated/stamp
	+@$(MAKE) $(JOBS_FLAG) --no-print-directory build/model-test

build/model-test: $(MODEL) $(MODEL_TESTS)
	@echo '  CXXLD   $@'
	@$(CXX) $(SANITIZE) -o $@ $^ -lgtest_main -lgtest -lpthread

# What the simulated machines have: the tests' table, printed from the simulator's own.
build/machines.tsv: selftests/sim/machines/machines.c $(MODEL) kmod/generated/stamp
	@echo '  GEN     $@'
	@$(CC) -std=gnu11 $(MODEL_FLAGS) -o build/machines $< $(MODEL) && build/machines > $@

$(MODEL): build/model/%.o: kmod/sim/%.c $(MODEL_HEADERS) kmod/generated/stamp
	@echo '  CC      $@'
	@mkdir -p $(@D)
	@$(CC) -std=gnu11 -O1 $(MODEL_FLAGS) -c -o $@ $<

$(MODEL_TESTS): build/model/test/%.o: selftests/sim/model/%.cpp $(MODEL_HEADERS) kmod/generated/stamp
	@echo '  CXX     $@'
	@mkdir -p $(@D)
	@$(CXX) -std=c++20 -O0 $(MODEL_FLAGS) -c -o $@ $<

# --- runs. What is missing is installed first; then a second make sees it.

deps: ## install the Debian packages that building, the tests and make lint need
	@scripts/install-deps --check
	@scripts/install-deps --lint

demo: ## watch perf stat count on every box type of a simulated machine (MACHINE=skx: on another than Haswell)
	@scripts/install-deps
	+@$(MAKE) --no-print-directory do-demo

demo-web: ## the same machine as a map in a browser, at PORT=10331 of this host, until Ctrl-C
	@scripts/install-deps --userspace
	+@$(MAKE) --no-print-directory do-demo-web

check: ## run all tests (TESTS="name..." for some, JOBS=1 for one VM at a time)
	@scripts/install-deps --check
	+@$(MAKE) --no-print-directory do-check

check-generations: ## the tests of generations other than Haswell, and repetitions of tests of check (TESTS="name..." for some)
	@scripts/install-deps --check
	+@$(MAKE) --no-print-directory do-check-generations

check-debug: ## the same under a debug kernel: DEBUG_KERNEL=folder or .tar.xz, or one is built
	@scripts/install-deps --check
	+@folder=$$(selftests/runner/debug-kernel $(DEBUG_KERNEL)) && \
		$(MAKE) --no-print-directory do-check KERNEL= KDIR=$$folder/build

check-hardware: userspace ## on a real Xeon, with the driver loaded: do its boxes do what the manual says? (REPORT=build/hardware-report.json)
	build/userspace/bin/uncore check --hardware --report $(or $(REPORT),build/hardware-report.json)

soak: ## random use for SECONDS=1800, then SCALE=100 times what check does of overflows, hotplug and reloads
	@scripts/install-deps --check
	+@$(MAKE) --no-print-directory do-soak

soak-serve: ## 100,000 scrapes of uncore serve and as many malformed requests, the same under ASan and UBSan
	@scripts/install-deps --check
	+@$(MAKE) --no-print-directory do-soak-serve

fuzz: ## libFuzzer with ASan and UBSan on all input of the library and the command, for FUZZ_SECONDS=60
	@scripts/install-deps --check
	+@$(MAKE) --no-print-directory do-fuzz

mutate: ## break the driver in some 80 ways, one at a time: a test must notice each (MUTATIONS="name..." for some)
	@scripts/install-deps --check
	+@$(MAKE) --no-print-directory do-mutate

bench: ## compare costs: this driver with the in-tree one, uncore stat with perf stat; what generations cost
	@scripts/install-deps --userspace
	+@$(MAKE) --no-print-directory do-bench

vm: ## a shell on the simulated machine, with the driver loaded
	@scripts/install-deps --userspace
	+@$(MAKE) --no-print-directory do-vm

do-demo: modules build/catalogue.tsv
	@$(VM) --machine $(MACHINE) --scenario mixed -- selftests/demo/demo.sh $(MACHINE)

PORT ?= 10331

do-demo-web: modules userspace
	@$(VM) --machine $(MACHINE) --scenario mixed --forward $(PORT) --timeout 1000000 -- selftests/demo/demo_web.sh $(PORT)

# VMs side by side, each of which keeps one processor busy, but when its tests wait.
JOBS ?= $(shell n=$$(nproc); echo $$((n > 5 ? 6 : n + 1)))

do-check: all
	@# for three tests, of which what needs it is skipped where there is none
	@selftests/runner/get-prometheus build/prometheus > /dev/null || true
	@selftests/runner/check --kernel $(VM_KERNEL) --jobs $(JOBS) $(TESTS)

do-check-generations: modules selftests test-modules userspace
	@selftests/runner/check --generations --kernel $(VM_KERNEL) --jobs $(JOBS) $(TESTS)

SECONDS ?= 1800
SCALE ?= 100
SOAK = $(VM) --driver none --no-sim --timeout 1000000

do-soak: modules selftests
	@$(SOAK) -- build/selftests/random_use --seconds $(SECONDS) $(if $(SEED),--seed $(SEED))
	@$(SOAK) -- build/selftests/soak --overflows $$((10000 * $(SCALE))) \
		--hotplugs $$((10 * $(SCALE)))
	@$(SOAK) --append slub_debug=F -- \
		build/selftests/reload --rounds $$((100 * $(SCALE)))

SOAK_SERVE := selftests/exporter/uncore_serve.py --malformed 100000 --scrapes 100000
ADDRESS_SANITIZED := build/sanitize/address,undefined

# ASan keeps what is freed out of use for a while; the memory would grow by that.
NO_QUARANTINE := quarantine_size_mb=0:thread_local_quarantine_size_kb=0

do-soak-serve: userspace
	@$(SOAK_SERVE)
	+@$(call sanitize_in,address$(comma)undefined) && \
		$(MAKE) $(JOBS_FLAG) --no-print-directory -C $(ADDRESS_SANITIZED) uncore-command
	@UNCORE_COMMAND=$(CURDIR)/$(ADDRESS_SANITIZED)/bin/uncore \
		ASAN_OPTIONS=$(NO_QUARANTINE) $(SOAK_SERVE)

do-fuzz: userspace
	@selftests/command/fuzz.sh

do-mutate: modules selftests
	@selftests/runner/mutate --kernel $(KVER) $(MUTATIONS)

do-bench: modules selftests userspace
	@$(VM) --no-sim --driver none -- sh -c \
		'build/selftests/bench_driver && selftests/bench/bench_uncore.py'
	@$(VM) --no-sim --driver none --machine icx -- build/selftests/bench_driver
	@selftests/bench/bench_load.sh '$(VM_KERNEL)' '$(STAGE)'
	@$(VM) --no-sim --driver none -- build/selftests/bench_sampling
	@$(VM) --no-sim --driver none -- selftests/bench/bench_attribution.py
	@$(VM) --no-sim --driver none --sockets 1 --cores 8 -- selftests/bench/bench_attribution.py --parallel
	@build/userspace/bin/bench-switches || test $$? = 4

do-vm: modules selftests
	@$(VM) --machine $(MACHINE) --scenario mixed --shell

# --- for developers and packagers

lint: kdir kmod/generated/stamp ## sparse, W=1, checkpatch, shellcheck, abidiff and wording, as far as this machine has them
	+@scripts/lint $(KDIR)

abi: build/userspace/Makefile ## store libuncore's interface as it is now, for make lint to compare
	@scripts/install-deps --lint
	+@$(MAKE) $(JOBS_FLAG) --no-print-directory -C build/userspace uncore-c uncore-shared
	@scripts/abi --update build/userspace/lib/libuncore.so
	@scripts/abi --update build/userspace/lib/libuncore++.so

DKMS := $(DESTDIR)/usr/src/xeon-uncore-$(VERSION)

dkms: kmod/generated/stamp ## install the driver's source for dkms, which builds it for each kernel
	install -d $(DKMS)/generated $(DKMS)/hw
	install -m 644 kmod/*.c kmod/*.h $(DKMS)
	install -m 644 kmod/hw/*.c kmod/hw/*.h $(DKMS)/hw
	install -m 644 kmod/generated/*.[ch] kmod/generated/Kbuild $(DKMS)/generated
	install -m 644 LICENSES/GPL-2.0 $(DKMS)/COPYING
	sed '/sim/d' kmod/Kbuild > $(DKMS)/Kbuild
	sed 's/@VERSION@/$(VERSION)/' kmod/dkms.conf.in > $(DKMS)/dkms.conf
	$(if $(DESTDIR),,dkms add -m xeon-uncore -v $(VERSION))

# DEB_BUILD_OPTIONS=nocheck leaves the unit tests out.
deb: ## Debian packages in build/deb: xeon-uncore-dkms, uncore, libuncore1, libuncore++0.1, libuncore-dev, python3-uncore
	@scripts/install-deps --packages
	@scripts/make-deb

check-kernels: ## the tests on Debian 12's and 13's kernels, each in its own root (TESTS="name..." for some; for root)
	@scripts/install-deps --check-packages
	@selftests/runner/check-kernels $(TESTS)

check-packages: ## build, install, use, upgrade and purge them in Debian 12 and 13 (ROOTS="bookworm"; for root)
	@scripts/install-deps --check-packages
	@selftests/packages/check $(ROOTS)

version:
	@echo $(VERSION)

clean: ## remove all that was built, except a debug kernel and roots
	find build -mindepth 1 -maxdepth 1 ! -name debug-kernel ! -name roots \
		-exec rm -rf {} + || true
	rm -rf kmod/generated
