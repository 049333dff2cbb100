/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_CATALOGUE_H
#define BUILDBEAT_LIVE_CATALOGUE_H

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What a server serves: one recording (or file of another tool), the recordings of a directory, or
 * the builds of an archive. Requests name a recording by its id: its name in the directory, or the
 * id of the build's commit in the archive. Nothing else is opened.
 */
enum catalogue_kind { CATALOGUE_RECORDING, CATALOGUE_DIRECTORY, CATALOGUE_ARCHIVE };

struct catalogue_entry {
	char id[256];
	bool running;
	bool good;		/* it has ended, and succeeded */
	int64_t start_ns;	/* of the wall clock, -1: not known */
	int64_t changed_ns;	/* private: when `build` was, as it was read */
};

struct catalogue {
	enum catalogue_kind kind;
	char path[PATH_MAX];	/* absolute; or the URL of an archive */
	size_t n;		/* the newest first; running ones before all */
	struct catalogue_entry *entry;
	uint64_t generation;	/* grows when something else is there */
};

/* 0, or a negative errno with err: -EINVAL if path is something else. The entries of an archive
 * come with the first catalogue_update(), in a reader, because that reads objects of git. */
int catalogue_open(struct catalogue *c, const char *path, struct error *err);
void catalogue_release(struct catalogue *c);

/* Look again for recordings that came and went. */
int catalogue_update(struct catalogue *c, struct error *err);

/* NULL as id: the first. NULL if there is none with this id. */
const struct catalogue_entry *catalogue_find(const struct catalogue *c, const char *id);

/* The path of a recording, in a buffer of PATH_MAX: false for an archive's. */
bool catalogue_directory(const struct catalogue *c, const struct catalogue_entry *e, char *path);

#endif
