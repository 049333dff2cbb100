/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_SAMPLER_PRESSURE_H
#define BUILDBEAT_SAMPLER_PRESSURE_H

#include "sampler/parse.h"
#include "sampler/root.h"
#include "sampler/table.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The three pressure files of the machine or of a control group, and the columns that they fill:
 * cpu.some io.some io.full memory.some memory.full, as far as they exist. */

enum { PRESSURE_CPU, PRESSURE_IO, PRESSURE_MEMORY, PRESSURE_FILES };

#define PRESSURE_COLUMNS 5

struct pressure_set {
	struct root_file file[PRESSURE_FILES];
	bool full[PRESSURE_FILES];
	uint64_t last[2 * PRESSURE_FILES];
};

/* Open the files with these names and append their columns to column[*n]. coarse: in units of 10
 * ms. */
void pressure_set_open(struct pressure_set *p, int dir_fd, const char *const names[PRESSURE_FILES],
		       struct root_text *text, bool coarse, struct table_column *column, size_t *n);
void pressure_set_close(struct pressure_set *p);

/* Read them into the columns of t, from number first. False: none could be read. */
bool pressure_set_read(struct pressure_set *p, struct root_text *text, struct table *t,
		       size_t first);

#endif
