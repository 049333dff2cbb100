/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_CARRY_ELF_H
#define BUILDBEAT_PLUGIN_CARRY_ELF_H

#include "plugin/carry.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Can the preload be loaded into an executable? head: the first len bytes of the file in fd. The
 * file is not trusted: an inconsistent one gives CARRY_CANNOT.
 */
enum carry_fit carry_elf_fit(int fd, const char *head, size_t len);

/* Is it an ELF file? */
bool carry_elf_is(const char *head, size_t len);

/* Is it the file name of a sanitizer's runtime, which must be the first object in a program?
 * name may begin with directories. */
bool carry_is_runtime(const char *name, size_t len);

#endif
