/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_OE_WRITE_H
#define BUILDBEAT_CONVERT_OE_WRITE_H

#include "base/buf.h"
#include "base/error.h"
#include "recording/recording.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A recording as a buildstats directory of OpenEmbedded: oe_write.c has the directory
 * and the tasks, oe_write_logs.c the samples, oe_names.c what things are called. Private
 * to convert/oe*.c.
 */
int oe_write(const struct recording *rec, const char *path, struct error *err);

/* One file of the directory, made. 0 or a negative errno; that of text comes first. */
int oe_write_file(int dir_fd, const char *name, const struct buf *text);

int oe_write_logs(int dir_fd, const struct recording *rec);

/* When the recording began on the wall clock; where that is not known some day. */
int64_t oe_wall_us(const struct recording *rec);

/* A task that is written: a part of the whole, no task around others. */
struct oe_entry {
	uint32_t task;
	char *dir;		/* of the recipe, and the file in it: names that are safe and */
	char *file;		/* that its readers understand */
};

struct oe_entries {
	size_t n;
	struct oe_entry *entry;	/* by dir, then file, then start */
	struct buf text;	/* where their names are */
	bool bitbake;		/* the tasks are bitbake's: several runs go into one file */
};

/* 0 or -ENOMEM. Always release. */
int oe_entries_make(struct oe_entries *e, const struct recording *rec);
void oe_entries_release(struct oe_entries *e);

#endif
