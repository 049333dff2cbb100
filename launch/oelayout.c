/* SPDX-License-Identifier: MIT */
#include "launch/oelayout.h"

#include "base/heap.h"
#include "base/outdir.h"
#include "convert/convert.h"
#include "launch/hold.h"
#include "recording/layout.h"
#include "recording/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/stat.h>

static int set_modes(char *dir, mode_t mode)
{
	FTS *tree = fts_open((char *const[]){ dir, NULL }, FTS_PHYSICAL | FTS_NOCHDIR | FTS_NOSTAT, NULL);
	int r = tree ? 0 : -errno;
	FTSENT *e;

	while (!r && (e = fts_read(tree))) {
		bool is_dir = e->fts_info == FTS_D;

		if (e->fts_info != FTS_DP && chmod(e->fts_accpath, is_dir ? mode : mode & 0666))
			r = -errno;
	}
	if (tree)
		fts_close(tree);
	return r;
}

/* The converter writes with the modes of the umask. The directory around it is private until
 * those who can read the recording, and nobody else, can read the files. */
static int write_with_mode(const struct recording *rec, const char *path, mode_t mode, struct error *err)
{
	char dir[PATH_MAX], inner[PATH_MAX + 8];
	int r = outdir_begin(dir, path, err);

	if (r)
		return r;
	snprintf(inner, sizeof inner, "%s/" LAYOUT_OE, dir);
	r = converter_named("oe")->write(rec, inner, err);
	if (!r)
		r = set_modes(inner, mode);
	if (!r)
		r = outdir_finish(inner, path, mode);
	outdir_discard(dir);
	return r ? error_sys(err, r, path, "cannot write") : 0;
}

static int write_oe(const char *recording, const char *path, struct error *err)
{
	struct recording rec = RECORDING_INIT;
	struct hold hold;
	struct stat st;
	int r;

	if (stat(recording, &st))
		return error_sys(err, -errno, recording, NULL);
	heap_expect_much();
	r = recording_read(&rec, recording, &convert_formats, err);
	if (!r)
		r = recording_whole(&rec, err);
	if (!r) {
		hold_begin(&hold);
		r = write_with_mode(&rec, path, st.st_mode & 0777, err);
		hold_end(&hold);
	}
	recording_release(&rec);
	return r;
}

static int path_with(char out[PATH_MAX], const char *path, const char *tail, struct error *err)
{
	if (snprintf(out, PATH_MAX, "%s%s", path, tail) < PATH_MAX)
		return 0;
	return error_sys(err, -ENAMETOOLONG, path, NULL);
}

int oelayout_beside(const char *path, struct error *err)
{
	char beside[PATH_MAX];
	int r = path_with(beside, path, "/" LAYOUT_OE, err);

	return r ? r : write_oe(path, beside, err);
}

/* If the two cannot be exchanged at once, rename one after the other. */
static int exchange(const char *fresh, const char *path)
{
	char old[PATH_MAX];
	int n;

	if (!renameat2(AT_FDCWD, fresh, AT_FDCWD, path, RENAME_EXCHANGE)) {
		outdir_discard(fresh);
		return 0;
	}
	n = snprintf(old, sizeof old, "%s-", fresh);
	if (n >= (int)sizeof old)
		return -ENAMETOOLONG;
	if (rename(path, old))
		return -errno;
	if (rename(fresh, path)) {
		n = -errno;
		rename(old, path);
		return n;
	}
	outdir_discard(old);
	return 0;
}

int oelayout_instead(const char *path, struct error *err)
{
	char fresh[PATH_MAX];
	struct hold hold;
	int r = path_with(fresh, path, "." LAYOUT_OE, err);

	if (!r)
		r = write_oe(path, fresh, err);
	if (r)
		return r;
	hold_begin(&hold);
	r = exchange(fresh, path);
	if (r)
		outdir_discard(fresh);
	hold_end(&hold);
	return r ? error_sys(err, r, path, "cannot replace") : 0;
}
