# SPDX-License-Identifier: MIT
# heap: the shared objects that count the memory of a process, loaded into that process
noinst_HEADERS += heap/heap_env.h heap/image.h

# The call stack of an allocation. -O2: it runs inside malloc().
noinst_LTLIBRARIES += heap/libunwind.la
heap_libunwind_la_SOURCES = \
	heap/unwind.c heap/unwind.h heap/unwind_module.c heap/unwind_rule.c heap/unwind_rule.h \
	heap/unwind_table.h
