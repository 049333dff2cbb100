# SPDX-License-Identifier: MIT
# symbols: names of code addresses, in a program of its own, as only that uses libelf and libdw
noinst_LTLIBRARIES += symbols/libsymbolizer.la
symbols_libsymbolizer_la_SOURCES = \
	symbols/debug_info.c symbols/debug_info.h symbols/demangle.c symbols/demangle.h \
	symbols/eh_frame.c symbols/eh_frame.h symbols/elf_file.c symbols/elf_file.h \
	symbols/plt.c symbols/plt.h symbols/segments.c symbols/segments.h \
	symbols/symtab.c symbols/symtab.h symbols/symtab_make.c
symbols_libsymbolizer_la_CPPFLAGS = $(AM_CPPFLAGS) $(ELF_CFLAGS)
