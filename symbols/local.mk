# SPDX-License-Identifier: MIT
# symbols: names of code addresses, in a program of its own, as only that uses libelf and libdw
noinst_LIBRARIES += symbols/libsymbols.a symbols/libsymbolizer.a
symbols_libsymbols_a_SOURCES = symbols/client.c symbols/client.h

symbols_libsymbolizer_a_SOURCES = \
	symbols/debug_info.c symbols/debug_info.h symbols/demangle.c symbols/demangle.h \
	symbols/eh_frame.c symbols/eh_frame.h symbols/elf_file.c symbols/elf_file.h \
	symbols/module_files.c symbols/module_files.h symbols/plt.c symbols/plt.h \
	symbols/segments.c symbols/segments.h symbols/stack.c symbols/stack.h \
	symbols/stack_source.c symbols/stack_source.h symbols/stack_threads.c symbols/stack_threads.h symbols/symbol_cache.c symbols/symbol_cache.h \
	symbols/symbolizer.c symbols/symbolizer.h symbols/symtab.c symbols/symtab.h \
	symbols/symtab_make.c

SYMBOLIZER_LIBS = symbols/libsymbolizer.a base/libbase.a $(ELF_LIBS) $(ZLIB_LIBS)

pkglibexec_PROGRAMS += symbols/buildbeat-symbols
symbols_buildbeat_symbols_SOURCES = symbols/main.c
symbols_buildbeat_symbols_LDADD = $(SYMBOLIZER_LIBS)
