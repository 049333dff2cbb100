/* SPDX-License-Identifier: MIT */
#include "analyse/runs.h"

#include "analyse/summary.h"
#include "base/array.h"
#include "base/cursor.h"
#include "base/readfile.h"
#include "recording/growing.h"
#include "recording/layout.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_MAX 65536
#define NUMBER_MAX 1000000
#define OUTLIER_SPREADS 3	/* a first run is that far from the others ... */
#define OUTLIER_SHARE 0.05	/* ... and slower by this part */
#define OUTLIER_RUNS 3

static void join(struct buf *out, const char *dir, const char *name)
{
	buf_adds(out, dir);
	if (*dir && dir[strlen(dir) - 1] != '/')
		buf_addc(out, '/');
	buf_adds(out, name);
}

bool runs_are_here(const char *path)
{
	struct buf file = BUF_INIT;
	struct stat st;
	bool here;

	join(&file, path, LAYOUT_SET);
	here = !buf_error(&file) && !stat(file.data, &st) && S_ISREG(st.st_mode);
	buf_release(&file);
	return here;
}

/* "1" to "999999", as a set names its recordings. */
static unsigned number_of(const char *name)
{
	int64_t n;

	return *name >= '1' && *name <= '9' && cursor_slice_i64(slice_of(name), &n) &&
	       n < NUMBER_MAX ? (unsigned)n : 0;
}

bool runs_have(const char *path)
{
	struct buf dir = BUF_INIT;
	bool have = false;
	const char *slash;

	buf_adds(&dir, path);
	while (dir.len > 1 && dir.data[dir.len - 1] == '/')
		buf_cut(&dir, dir.len - 1);
	slash = strrchr(buf_str(&dir), '/');
	if (number_of(slash ? slash + 1 : buf_str(&dir))) {
		buf_cut(&dir, slash ? (size_t)(slash - dir.data) : 0);
		have = runs_are_here(slash ? buf_str(&dir) : ".");
	}
	buf_release(&dir);
	return have;
}

void runs_add_path(struct buf *out, const char *path, const struct runs_run *run)
{
	join(out, path, "");
	buf_addu(out, run->number);
}

void runs_add_count(struct buf *out, const struct runs *r)
{
	if (r->asked > 0 && (int64_t)r->n_good != r->asked)
		buf_addf(out, "%zu good of ", r->n_good);
	buf_addf(out, "%lld run%s", (long long)(r->asked > 0 ? r->asked : (int64_t)r->n),
		 (r->asked > 0 ? r->asked : (int64_t)r->n) == 1 ? "" : "s");
}

/* `set`: "key: value" lines after the header. Unknown keys are skipped. */
static int read_file(struct runs *r, const char *path, struct error *err)
{
	struct buf file = BUF_INIT, text = BUF_INIT;
	struct slice line, key;
	struct cursor c, of;
	bool whole;
	int error;

	join(&file, path, LAYOUT_SET);
	error = buf_error(&file) ? buf_error(&file) : readfile_at(&text, AT_FDCWD, file.data, FILE_MAX);
	cursor_init(&c, text.data, text.len);
	if (!error && (!cursor_line(&c, &line, &whole) || line.len < strlen(LAYOUT_SET_NAME) ||
		       memcmp(line.p, LAYOUT_SET_NAME, strlen(LAYOUT_SET_NAME))))
		error = error_set(err, -EINVAL, file.data, 1, 0, "expected '" LAYOUT_SET_NAME
				  "1' in the first line");
	else if (error)
		error_sys(err, error, buf_str(&file), NULL);
	while (!error && cursor_line(&c, &line, &whole)) {
		cursor_init(&of, line.p, line.len);
		if (!whole || !cursor_until(&of, ':', &key))
			continue;
		cursor_blanks(&of);
		line = (struct slice){ of.p, (size_t)(of.end - of.p) };
		if (slice_is(key, "runs"))
			cursor_slice_i64(line, &r->asked);
		if (slice_is(key, "prepare") && !r->prepare && !(r->prepare = strndup(line.p, line.len)))
			error = error_sys(err, -ENOMEM, NULL, NULL);
	}
	buf_release(&file);
	buf_release(&text);
	return error;
}

static int by_number(const void *a, const void *b)
{
	const struct runs_run *x = a, *y = b;

	return (x->number > y->number) - (x->number < y->number);
}

static int read_run(struct runs *r, const char *path, const char *name,
		    const struct recording_formats *formats)
{
	struct runs_run run = { .number = number_of(name), .wall_us = -1 }, *added;
	struct recording rec = RECORDING_INIT;
	struct buf file = BUF_INIT;
	struct error unused;
	int status, error;

	runs_add_path(&file, path, &run);
	error = buf_error(&file);
	if (!error && recording_is_here(file.data, formats) &&
	    !recording_read_build(&rec, file.data, formats, &unused)) {
		enum build_result result = summary_build_result(&rec, &status);

		run.good = build_is_good(result);
		run.running = result == BUILD_UNFINISHED && growing_runs(&rec);
		run.wall_us = rec.end_us;
	}
	added = error ? NULL : array_add(&r->run, &r->n, sizeof *added);
	if (added)
		*added = run;
	recording_release(&rec);
	buf_release(&file);
	return error ? error : added ? 0 : -ENOMEM;
}

static int by_wall(const void *a, const void *b)
{
	const struct runs_run *x = *(struct runs_run *const *)a, *y = *(struct runs_run *const *)b;

	if (x->wall_us != y->wall_us)
		return x->wall_us < y->wall_us ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* Caches that the first run filled make it slower than all others, which agree. */
static double slower(const struct runs *r, struct runs_run *const *sorted)
{
	const struct runs_run *first = &r->run[0];
	double rest, range;

	if (r->n_good < OUTLIER_RUNS || !first->good || sorted[r->n_good - 1] != first)
		return 0;
	rest = (double)sorted[(r->n_good - 2) / 2]->wall_us;
	range = (double)(sorted[r->n_good - 2]->wall_us - sorted[0]->wall_us);
	if ((double)first->wall_us - rest < OUTLIER_SPREADS * range ||
	    (double)first->wall_us < (1 + OUTLIER_SHARE) * rest || !(rest > 0))
		return 0;
	return (double)first->wall_us / rest - 1;
}

static void sum_up(struct runs *r)
{
	struct runs_run **sorted = array_new(r->n, sizeof *sorted);
	double mean = 0, squares = 0;
	size_t n = 0;

	r->shown = r->n ? r->n - 1 : 0;
	r->least_us = r->median_us = r->most_us = r->deviation_us = -1;
	for (size_t i = 0; sorted && i < r->n; i++) {
		if (r->run[i].good && r->run[i].wall_us >= 0)
			sorted[n++] = &r->run[i];
	}
	r->n_good = n;
	if (n) {
		qsort(sorted, n, sizeof(*sorted), by_wall);
		if (!r->run[r->n - 1].running)
			r->shown = (size_t)(sorted[(n - 1) / 2] - r->run);
		r->least_us = sorted[0]->wall_us;
		r->most_us = sorted[n - 1]->wall_us;
		r->median_us = sorted[(n - 1) / 2]->wall_us +
			(sorted[n / 2]->wall_us - sorted[(n - 1) / 2]->wall_us) / 2;
		r->first_slower = slower(r, sorted);
	}
	for (size_t i = 0; i < n; i++)
		mean += (double)sorted[i]->wall_us / (double)n;
	for (size_t i = 0; i < n; i++)
		squares += ((double)sorted[i]->wall_us - mean) * ((double)sorted[i]->wall_us - mean);
	if (n > 1)
		r->deviation_us = llround(sqrt(squares / (double)(n - 1)));
	free(sorted);
}

int runs_read(struct runs *r, const char *path, const struct recording_formats *formats,
	      struct error *err)
{
	struct dirent *entry;
	DIR *dir;
	int error;

	*r = (struct runs)RUNS_INIT;
	error = read_file(r, path, err);
	if (error)
		return error;
	dir = opendir(path);
	if (!dir)
		return error_sys(err, -errno, path, NULL);
	while (!error && (entry = readdir(dir))) {
		if (number_of(entry->d_name))
			error = read_run(r, path, entry->d_name, formats);
	}
	closedir(dir);
	if (error)
		return error_sys(err, error, path, NULL);
	if (r->n)
		qsort(r->run, r->n, sizeof *r->run, by_number);
	sum_up(r);
	return 0;
}

int runs_choose(struct runs *r, struct buf *path, const struct recording_formats *formats,
		struct error *err)
{
	struct buf set = BUF_INIT;
	int error = 0;

	*r = (struct runs)RUNS_INIT;
	if (!runs_are_here(buf_str(path)))
		return 0;
	buf_adds(&set, path->data);
	error = buf_error(&set) ? error_sys(err, -ENOMEM, NULL, NULL) :
		runs_read(r, set.data, formats, err);
	if (!error && !r->n)
		error = error_set(err, -ENOENT, set.data, 0, 0, "a set without any recording: record "
				  "the build again");
	if (!error) {
		buf_clear(path);
		runs_add_path(path, set.data, &r->run[r->shown]);
		error = buf_error(path) ? error_sys(err, -ENOMEM, NULL, NULL) : 0;
	}
	buf_release(&set);
	return error;
}

void runs_release(struct runs *r)
{
	free(r->prepare);
	free(r->run);
	*r = (struct runs)RUNS_INIT;
}
