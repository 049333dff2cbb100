# SPDX-License-Identifier: MIT
# heap: the shared objects that count the memory of a process, loaded into that process
noinst_HEADERS += heap/image.h

# The call stack of an allocation. -O2: it runs inside malloc().
noinst_LIBRARIES += heap/libunwind.a
heap_libunwind_a_SOURCES = \
	heap/sandbox.c heap/sandbox.h heap/unwind.c heap/unwind.h heap/unwind_machine.h heap/unwind_module.c heap/unwind_rule.c heap/unwind_rule.h \
	heap/unwind_table.h

# What both objects and the launcher need.
noinst_LIBRARIES += heap/libheapenv.a
heap_libheapenv_a_SOURCES = heap/heap_env.c heap/heap_env.h

# The tables of the shim, which tests link too.
noinst_LIBRARIES += heap/libcount.a
heap_libcount_a_SOURCES = \
	heap/count.c heap/count.h heap/image_write.c heap/image_write.h heap/live_blocks.c heap/live_blocks.h \
	heap/lock.h heap/pages.h heap/ranges.c heap/ranges.h heap/sample.c heap/sample.h \
	heap/stacks.c heap/stacks.h
COUNT_LIBS = heap/libcount.a heap/libunwind.a heap/libheapenv.a

# builtin: the compiler must not take our malloc() for libc's.
module_PROGRAMS += heap/buildbeat-heap.so
heap_buildbeat_heap_so_SOURCES = heap/shim.c heap/shim.h heap/shim_map.c heap/shim_sandbox.c heap/bare.h
heap_buildbeat_heap_so_CFLAGS = $(AM_CFLAGS) -fno-builtin
heap_buildbeat_heap_so_LDFLAGS = $(LINK_MODULE) \
	-Wl,--version-script=$(srcdir)/heap/heap.map -Wl,-z,nodelete -Wl,-O1 -Wl,--gc-sections \
	-Wl,-z,noseparate-code -Wl,-z,now
heap_buildbeat_heap_so_LDADD = $(COUNT_LIBS)
EXTRA_heap_buildbeat_heap_so_DEPENDENCIES = heap/heap.map
EXTRA_DIST += heap/heap.map

# initfirst: before constructors of other objects, which would otherwise run twice. noseparate-code
# and norelro: it is loaded into each program of an armed build. hidden: it exports nothing.
# nostdlib, defs: it needs no library, and what it uses of glibc is weak.
module_PROGRAMS += heap/buildbeat-arm.so
heap_buildbeat_arm_so_SOURCES = heap/heap_arm.c heap/bare.c heap/bare.h heap/heap_env.c heap/heap_env.h
heap_buildbeat_arm_so_LDADD =
heap_buildbeat_arm_so_CFLAGS = -std=gnu11 -fPIC -ffunction-sections -fvisibility=hidden $(WARNINGS)
# after those of the user, which may harden what has libc
$(heap_buildbeat_arm_so_OBJECTS): override CFLAGS += -fno-builtin -fno-lto \
	-fno-stack-protector -fno-sanitize=all -U_FORTIFY_SOURCE -Wp,-U_FORTIFY_SOURCE
heap_buildbeat_arm_so_LDFLAGS = -shared -nostdlib -Wl,-z,defs \
	-Wl,-z,initfirst -Wl,-z,now -Wl,-O1 -Wl,--gc-sections -Wl,-z,noseparate-code -Wl,-z,norelro

# The object of each name of this machine, see heap/heap_env.h: links, where they are built and where
# they are installed. A 32-bit program gets an empty object, since for ours its loader prints an error.
ARM_LINKS = \
	link() { mkdir -p "$$dir/arm/$$1" && ln -sf "../../$$2" "$$dir/arm/$$1/buildbeat-arm.so"; } && \
	for name in $(ARM_PLATFORMS); do link $$name buildbeat-arm.so || exit; done && \
	for name in $(ARM_PLATFORMS_32); do link $$name buildbeat-arm32.so || exit; done
ARM_DIRECTORIES = $(ARM_PLATFORMS:%=$(moduledir)/arm/%) $(ARM_PLATFORMS_32:%=$(moduledir)/arm/%) \
	$(moduledir)/arm

EXTRA_DIST += heap/arm32.c
CLEANFILES += heap/buildbeat-arm32.so heap/arm.stamp
module_DATA =
if HAVE_ARM_32
module_DATA += heap/buildbeat-arm32.so
endif
heap/buildbeat-arm32.so: heap/arm32.c
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(CC) -m32 -shared -nostdlib -Wl,-z,noexecstack \
		-Wl,--build-id=none -o $@ $(srcdir)/heap/arm32.c

noinst_DATA = heap/arm.stamp
heap/arm.stamp: Makefile
	$(AM_V_GEN)dir=heap && rm -rf heap/arm && $(ARM_LINKS) && : >$@
clean-local: clean-arm
clean-arm:
	rm -rf heap/arm
install-exec-hook:
	@dir="$(DESTDIR)$(moduledir)" && $(ARM_LINKS)
