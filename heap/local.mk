# SPDX-License-Identifier: MIT
# heap: the shared objects that count the memory of a process, loaded into that process
noinst_HEADERS += heap/image.h

# The call stack of an allocation. -O2: it runs inside malloc().
noinst_LTLIBRARIES += heap/libunwind.la
heap_libunwind_la_SOURCES = \
	heap/unwind.c heap/unwind.h heap/unwind_module.c heap/unwind_rule.c heap/unwind_rule.h \
	heap/unwind_table.h

# What both objects and the launcher need.
noinst_LTLIBRARIES += heap/libheapenv.la
heap_libheapenv_la_SOURCES = heap/heap_env.c heap/heap_env.h

# The tables of the shim, which tests link too.
noinst_LTLIBRARIES += heap/libcount.la
heap_libcount_la_SOURCES = \
	heap/count.c heap/count.h heap/image_write.c heap/image_write.h heap/live.c heap/live.h \
	heap/lock.h heap/pages.h heap/ranges.c heap/ranges.h heap/sample.c heap/sample.h \
	heap/stacks.c heap/stacks.h
heap_libcount_la_LIBADD = heap/libunwind.la heap/libheapenv.la

# builtin: the compiler must not take our malloc() for libc's.
pkglib_LTLIBRARIES += heap/buildbeat-heap.la
heap_buildbeat_heap_la_SOURCES = heap/shim.c heap/shim.h heap/shim_map.c
heap_buildbeat_heap_la_CFLAGS = $(AM_CFLAGS) -fno-builtin
heap_buildbeat_heap_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	-export-symbols $(srcdir)/heap/heap.sym -Wl,-z,nodelete -Wl,-O1 -Wl,--gc-sections \
	-Wl,-z,noseparate-code -Wl,-z,now
heap_buildbeat_heap_la_LIBADD = heap/libcount.la
EXTRA_heap_buildbeat_heap_la_DEPENDENCIES = heap/heap.sym
EXTRA_DIST += heap/heap.sym

# initfirst: before constructors of other objects, which would otherwise run twice. noseparate-code
# and norelro: it is loaded into each program of an armed build. hidden: it exports nothing.
pkglib_LTLIBRARIES += heap/buildbeat-arm.la
heap_buildbeat_arm_la_SOURCES = heap/arm.c heap/heap_env.c heap/heap_env.h
heap_buildbeat_arm_la_CFLAGS = $(AM_CFLAGS) -fvisibility=hidden
heap_buildbeat_arm_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared \
	-Wl,-z,initfirst -Wl,-z,now -Wl,-O1 -Wl,--gc-sections -Wl,-z,noseparate-code -Wl,-z,norelro
