/* SPDX-License-Identifier: MIT */
#include "cli/openrec.h"

#include "analyse/listing.h"
#include "analyse/runs.h"
#include "base/buf.h"
#include "base/heap.h"
#include "convert/convert.h"
#include "launch/notice.h"

#include <limits.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_file(const char *path)
{
	struct stat st;

	return path && !stat(path, &st) && !S_ISDIR(st.st_mode);
}

#define LINKS_MAX 8

/* Slashes and "." at the end name the same directory, not the link. */
static void drop_end(struct buf *path)
{
	while (path->len > 1 && (path->data[path->len - 1] == '/' ||
				 (path->len > 2 && !strcmp(path->data + path->len - 2, "/."))))
		buf_cut(path, path->len - 1);
}

int openrec_follow(struct buf *path)
{
	char target[PATH_MAX];

	buf_str(path);
	drop_end(path);
	for (int i = 0; i < LINKS_MAX && !buf_error(path); i++) {
		ssize_t n = readlink(path->data, target, sizeof target);
		const char *slash = strrchr(path->data, '/');

		if (n <= 0 || n == sizeof target)
			break;
		buf_cut(path, *target == '/' ? 0 : slash ? (size_t)(slash - path->data) + 1 : 0);
		buf_add(path, target, (size_t)n);
		buf_str(path);
		drop_end(path);
	}
	return buf_error(path);
}

/* Which run of a set the output is about. */
static int choose_run(struct buf *path, struct error *err)
{
	struct buf count = BUF_INIT, set = BUF_INIT;
	struct runs runs;
	int r;

	buf_adds(&set, path->data);
	r = runs_choose(&runs, path, &convert_formats, err);
	if (!r && runs.n) {
		const struct runs_run *run = &runs.run[runs.shown];

		runs_add_count(&count, &runs);
		notice("%s: a set of %s: this is run %u, %s", buf_str(&set), buf_str(&count),
		       run->number, run->running ? "which is not over yet" : run->good ?
		       "which has the median wall time" : "the last one");
	}
	runs_release(&runs);
	buf_release(&count);
	buf_release(&set);
	return r;
}

int openrec(struct recording *rec, int how, const char *base, const char *what,
	    struct error *err)
{
	const struct recording_options options = { .sums_only = how & OPENREC_SUMS,
						   .waits = how & OPENREC_WAITS };
	struct buf path = BUF_INIT;
	int r;

	heap_expect_much();
	/* a file of another tool, unless a recording has its name */
	r = listing_find_set(&path, base, what, &convert_formats, err);
	if (r && is_file(what)) {
		r = converter_read_any(rec, what, &options, err);
	} else {
		if (!r && (r = openrec_follow(&path)))
			r = error_sys(err, r, what, NULL);
		r = r ? r : choose_run(&path, err);
		if (!r)
			r = converter_read_any(rec, path.data, &options, err);
	}
	if (!r && how & OPENREC_WHOLE)
		r = recording_whole(rec, err);
	buf_release(&path);
	return r;
}
