# SPDX-License-Identifier: GPL-2.0
# SMC for Linux: build, lab and tests.
#
#   make lab [KERNELS=...]      packages and lab kernels (fast debug)
#   make modules [KDIR=...]     our modules for a kernel build directory;
#                               SMC_KUNIT=1: the KUnit modules as well
#   make overlay KSRC=...       our directory in place of a kernel tree's own
#   make demo                   real programs over SMC-R in a guest
#   make check [SUITE=...]      every test suite, or one
#   make bench                  figures against the kernel's own module
#   make static                 static checks alone
#   make vm                     a shell in a guest with two connected hosts
#   make clean

SMC_LAB ?= $(HOME)/.cache/smc-lab
export SMC_LAB
TESTS := tools/testing/selftests/net/smc
LAB := $(TESTS)/lab
KERNELS ?= fast debug

# Which kernel the modules are for: one of the lab (KERNEL=fast|debug), or any
# build directory given as KDIR.
ifdef KDIR
MODOUT ?= $(CURDIR)/build/modules
else
KERNEL ?= fast
KDIR := $(SMC_LAB)/current/$(KERNEL)/build
MODOUT ?= $(CURDIR)/build/modules/$(KERNEL)
endif
JOBS ?= $(shell nproc)

# Our headers come before the kernel's of the same name.
KBUILD_ARGS = -C $(KDIR) M=$(CURDIR)/net/smc MO=$(MODOUT) \
	NOSTDINC_FLAGS="-nostdinc -I$(CURDIR)/include -I$(CURDIR)/include/uapi" \
	CONFIG_SMC=m CONFIG_SMC_DIAG=m $(if $(SMC_KUNIT),CONFIG_SMC_KUNIT_TEST=m)

OVERLAY_FILES := include/net/smc.h include/uapi/linux/smc.h include/uapi/linux/smc_diag.h
OVERLAY_DIRS := Documentation/networking/smc $(TESTS) tools/net/smc

.PHONY: all help lab vm modules tools tests overlay demo check bench static clean
all: modules

help:
	@sed -n 's/^#\( \{0,1\}.*\)/\1/p' Makefile | sed -n 2,13p

lab:
	@$(LAB)/build $(KERNELS)

vm:
	@$(LAB)/build fast
	@if [ -e net/smc/Makefile ]; then $(MAKE) -s modules tools; fi
	@$(LAB)/vm shell

$(SMC_LAB)/current/%/build:
	@$(LAB)/build $*

modules: $(if $(KERNEL),| $(KDIR))
	@mkdir -p $(MODOUT)
	$(MAKE) $(KBUILD_ARGS) -j$(JOBS) $(KFLAGS) modules

tools:
	@$(MAKE) -s -C tools/net/smc O=$(CURDIR)/build/tools

# programs of the selftests, against the headers of the lab's kernel
TEST_SRCS := $(wildcard $(TESTS)/*.c $(TESTS)/bench/*.c $(TESTS)/conformance/*.c)
TEST_HDRS := $(wildcard $(TESTS)/*.h $(TESTS)/*/*.h include/uapi/linux/*.h)
vpath %.c $(sort $(dir $(TEST_SRCS)))

tests: $(patsubst %.c,build/tests/%,$(notdir $(TEST_SRCS)))

build/tests/%: %.c $(TEST_HDRS) Makefile | $(SMC_LAB)/current/src
	@mkdir -p $(@D)
	@$(CC) -O2 -g -Wall -Wextra -Wno-unused-parameter -D_GNU_SOURCE \
		-Iinclude/uapi -I$(SMC_LAB)/current/src/tools/testing/selftests \
		-o $@ $< -lpthread

overlay:
	@test -n "$(KSRC)" -a -e "$(KSRC)/Kbuild" || \
		{ echo "usage: make overlay KSRC=<kernel source tree>"; exit 1; }
	rm -rf $(KSRC)/net/smc
	mkdir -p $(KSRC)/net/smc
	find net/smc $(OVERLAY_FILES) $(OVERLAY_DIRS) -type f -print0 | \
		cpio --quiet -0pdum $(KSRC)

demo:
	@$(LAB)/build fast
	@$(LAB)/demo

check:
	@$(LAB)/check $(SUITE)

bench:
	@$(LAB)/build fast
	@$(LAB)/bench

static:
	@$(LAB)/check static

clean:
	rm -rf build
