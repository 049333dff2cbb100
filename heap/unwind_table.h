/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_HEAP_UNWIND_TABLE_H
#define BUILDBEAT_HEAP_UNWIND_TABLE_H

#include "heap/unwind_rule.h"

/* The table of the module that has this address; 0, or -ENOENT if no module has it. */
int unwind_table_find(struct unwind_table *t, uintptr_t address);

/* Keep the path of the program for unwind_find_module(). */
void unwind_find_program(void);

#endif
