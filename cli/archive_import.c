/* SPDX-License-Identifier: MIT */
#include "cli/archive_import.h"

#include "analyse/listing.h"
#include "archive/import_oe.h"
#include "convert/convert.h"
#include "launch/notice.h"

#include <errno.h>
#include <sys/stat.h>

static int told(void *context, const char *ref, const char *id, bool added)
{
	const struct archive_import *i = context;

	return i->print(ref, id, added);
}

static void passed(void *context, const struct error *why)
{
	(void)context;
	notice_error(why);
}

static int import_archive(const struct archive_import *i, const char *path, struct error *err)
{
	const struct import_oe oe = {
		.to = i->to, .host = i->host, .branch = i->branch, .machine = i->machine,
		.told = told, .passed = passed, .context = (void *)i,
	};

	return import_oe(&oe, path, err);
}

/* What is wrong with it is not the end: there are others. */
static int add_entry(const struct archive_import *i, const char *dir,
		     const struct listing_entry *e, struct error *err)
{
	struct buf path = BUF_INIT;
	int r;

	if (e->damaged) {
		notice_error(&e->error);
		return 0;
	}
	buf_addf(&path, "%s/%s", dir, e->name);
	r = buf_error(&path) ? error_sys(err, buf_error(&path), dir, NULL) :
	    i->add(i->context, path.data, err);
	if (r == -EINVAL) {
		notice_error(err);
		r = 0;
	}
	buf_release(&path);
	return r;
}

static int import_directory(const struct archive_import *i, const char *path, struct error *err)
{
	struct listing l = LISTING_INIT;
	int r = listing_read(&l, path, &convert_formats, err);

	if (!r && !l.n)
		r = error_set(err, -EINVAL, path, 0, 0, "not an archive of "
			      "oe-build-perf-test or a directory of recordings");
	for (size_t k = 0; !r && k < l.n; k++)
		r = add_entry(i, path, &l.entry[k], err);
	listing_release(&l);
	return r;
}

static bool is_directory_of_more(const char *path)
{
	struct stat st;

	return !stat(path, &st) && S_ISDIR(st.st_mode) && !recording_is_here(path, &convert_formats);
}

int archive_import(const struct archive_import *i, const char *const *path, size_t n,
		   struct error *err)
{
	int r = 0;

	for (size_t k = 0; !r && k < n; k++) {
		if (import_oe_is(path[k]))
			r = import_archive(i, path[k], err);
		else if (is_directory_of_more(path[k]))
			r = import_directory(i, path[k], err);
		else
			r = i->add(i->context, path[k], err);
	}
	return r;
}
