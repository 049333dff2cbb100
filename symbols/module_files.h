/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SYMBOLS_MODULE_FILES_H
#define BUILDBEAT_SYMBOLS_MODULE_FILES_H

#include "base/buf.h"
#include "symbols/elf_file.h"

/*
 * Where the file of a module and its debug information are. The file: at its path, without the
 * " (deleted)" of /proc, then at its other paths, then below each search directory at the whole
 * path and by its last name. The first whose build-id is that of the module is taken; without one,
 * the first that is an ELF file. "[vdso]" is that of this process.
 * Debug information, if the file has no .symtab or no .debug_info: by build-id below
 * DIRECTORY/.build-id, by .gnu_debuglink beside the file, in its .debug and below each directory.
 * The directories are the search directories and /usr/lib/debug.
 */
struct module_files {
	const char *path;
	const char *build_id;	/* hexadecimal, NULL or "": unknown */
	size_t n_others;
	const char *const *other;
	size_t n_dirs;
	const char *const *dir;
	/* what was found */
	struct elf_file file, debug;	/* .elf is NULL: none */
	struct buf note;	/* why not, or "" */
};

/* Open them. The fields before are set by the caller, the others are 0. 0 or -ENOMEM. */
int module_files_open(struct module_files *m);

void module_files_close(struct module_files *m);

/* The build-id of the module, of what is known of it; "" if it has none. */
const char *module_files_id(const struct module_files *m);

/* The one that has .debug_info, NULL if there is none. */
const struct elf_file *module_files_debug(const struct module_files *m);

#endif
