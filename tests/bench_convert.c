/* SPDX-License-Identifier: MIT */
/*
 * CPU time of `buildbeat import` of OpenEmbedded's directory of 10,000 tasks, a file each,
 * and 3,600 samples, and of `buildbeat export --to oe` of the recording, beside copying the
 * same files.
 */
#include "tests/paths.h"
#include "tests/spend.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"
#define ROUNDS 7
#define IMPORT_BAR_MS 80
#define EXPORT_BAR_MS 500

struct copied {
	char from[512], to[512];	/* "": only read */
};

static int copy_file(int from, int to, const char *name)
{
	static char text[65536];
	int in = openat(from, name, O_RDONLY | O_CLOEXEC), out;
	ssize_t n = in < 0 ? -1 : read(in, text, sizeof text);

	if (in >= 0)
		close(in);
	if (n < 0 || to < 0)
		return n < 0;
	out = openat(to, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	if (out < 0 || write(out, text, (size_t)n) != n)
		return 1;
	return close(out);
}

static int copy_files(const struct copied *c, const char *recipe)
{
	char path[1024];
	DIR *dir;
	struct dirent *e;
	int to = -1, failed = 0;

	snprintf(path, sizeof path, "%s/%s", c->to, recipe);
	if (*c->to && (mkdir(path, 0777) || (to = open(path, O_RDONLY | O_DIRECTORY)) < 0))
		return 1;
	snprintf(path, sizeof path, "%s/%s", c->from, recipe);
	dir = opendir(path);
	while (dir && !failed && (e = readdir(dir)))
		failed = e->d_type == DT_REG && copy_file(dirfd(dir), to, e->d_name);
	if (dir)
		closedir(dir);
	if (to >= 0)
		close(to);
	return failed;
}

static int copy_all(void *context)
{
	const struct copied *c = context;
	DIR *dir = opendir(c->from);
	struct dirent *e;
	int failed = !dir || (*c->to && mkdir(c->to, 0777));

	while (!failed && (e = readdir(dir)))
		failed = e->d_type == DT_DIR && e->d_name[0] != '.' && copy_files(c, e->d_name);
	if (dir)
		closedir(dir);
	return failed;
}

/* One round of all four; the first one only fills the caches. */
struct round {
	struct spent import, export, reading, copying;
};

static int measure(const char *dir, int i, struct round *best)
{
	struct copied c = { .to = "" };
	char base[512], name[32], rec[1024], out[512];
	const char *const import[] = { BUILDBEAT, "import", "-o", base, "-n", name, c.from, NULL };
	const char *const export[] = { BUILDBEAT, "export", "--to", "oe", "-o", out, rec, NULL };
	struct round r;

	snprintf(c.from, sizeof c.from, "%s/oe", dir);
	snprintf(base, sizeof base, "%s/st", dir);
	snprintf(name, sizeof name, "%d", i);
	snprintf(rec, sizeof rec, "%s/%s", base, name);
	snprintf(out, sizeof out, "%s/out%d", dir, i);
	r.reading = spend_here(copy_all, &c);
	r.import = spend(import);
	snprintf(c.to, sizeof c.to, "%s/copy%d", dir, i);
	r.copying = spend_here(copy_all, &c);
	r.export = spend(export);
	if (r.reading.status || r.import.status || r.copying.status || r.export.status)
		return 1;
	if (i < 2) {
		*best = r;
		return 0;
	}
	spent_keep_best(&best->reading, &r.reading);
	spent_keep_best(&best->import, &r.import);
	spent_keep_best(&best->copying, &r.copying);
	spent_keep_best(&best->export, &r.export);
	return 0;
}

int main(void)
{
	char dir[] = "/tmp/buildbeat-bench-XXXXXX", oe[sizeof dir + 8];
	const char *const generate[] = {
		TOP_BUILDDIR "/tests/gen_oe", oe, "1000", "10", "3600", NULL
	};
	const char *const clean[] = { "/bin/rm", "-rf", dir, NULL };
	struct round best;
	int failed;

	if (!mkdtemp(dir))
		return 1;
	snprintf(oe, sizeof oe, "%s/oe", dir);
	failed = spend(generate).status;
	for (int i = 0; !failed && i <= ROUNDS; i++)
		failed = measure(dir, i, &best);
	spend(clean);
	if (failed) {
		fprintf(stderr, "bench_convert: cannot import or export\n");
		return 1;
	}
	printf("import of 10,000 OpenEmbedded task files + 3,600 samples: %.2f x opening and reading "
	       "them; %.0f ms CPU (bar: %d)\n", best.import.cpu_ms / best.reading.cpu_ms,
	       best.import.cpu_ms, IMPORT_BAR_MS);
	printf("export of the same: %.2f x copying the files; %.0f ms CPU (bar: %d)\n",
	       best.export.cpu_ms / best.copying.cpu_ms, best.export.cpu_ms, EXPORT_BAR_MS);
	return 0;
}
