/* SPDX-License-Identifier: MIT */
/*
 * Memory of `buildbeat import` and `buildbeat show` for each event of a Chrome trace, nested and
 * flat: the difference of the peaks for two traces, divided by the difference of their events.
 */
#include "base/array.h"
#include "tests/paths.h"
#include "tests/spend.h"

#include <stdio.h>

#define FEW 100000
#define MANY 500000
#define THREADS 16
#define IMPORT_BAR 100		/* bytes an event */

static const struct { const char *what; int spans; } shapes[] = {
	{ "nested", 4 },	/* events inside each top-level event */
	{ "flat", 0 },
};

/* Tasks one after the other on each thread, with spans inside. */
static int write_trace(const char *path, int events, int spans)
{
	FILE *f = fopen(path, "w");

	if (!f)
		return 1;
	fputs("{\"traceEvents\":[\n", f);
	for (int i = 0; i < events; i++) {
		int depth = i % (spans + 1), task = i / (spans + 1);
		int begin = task / THREADS * 1000 + depth * 10;

		fprintf(f, "%s{\"ph\":\"X\",\"pid\":1,\"tid\":%d,\"ts\":%d,\"dur\":%d,\"cat\":\"compile\","
			"\"name\":\"%s%d\"}", i ? ",\n" : "", task % THREADS, begin, 900 - depth * 20,
			depth ? "phase" : "src/directory/file", depth ? i % 1000 : task);
	}
	fputs("\n]}\n", f);
	return ferror(f) | fclose(f);
}

static int peak_kb(const char *const *argv, long *kb)
{
	struct spent s = spend(argv);

	*kb = s.max_rss_kb;
	return s.status;
}

static int measure_shape(const char *dir, size_t i)
{
	static const int events[] = { FEW, MANY };
	long import_kb[2], show_kb[2];
	char path[128], base[128];
	const char *const import[] = { TOP_BUILDDIR "/buildbeat", "import", "-o", base, path, NULL };
	const char *const show[] = { TOP_BUILDDIR "/buildbeat", "show", path, NULL };

	for (size_t k = 0; k < ARRAY_SIZE(events); k++) {
		snprintf(path, sizeof path, "%s/%zu-%zu.json", dir, i, k);
		snprintf(base, sizeof base, "%s/%zu-%zu", dir, i, k);
		if (write_trace(path, events[k], shapes[i].spans) ||
		    peak_kb(import, &import_kb[k]) || peak_kb(show, &show_kb[k]))
			return 1;
	}
	printf("Chrome trace of 500,000 %s events, memory of each: import %.1f bytes (bar: %d), "
	       "show %.1f bytes\n", shapes[i].what,
	       (double)(import_kb[1] - import_kb[0]) * 1024 / (MANY - FEW), IMPORT_BAR,
	       (double)(show_kb[1] - show_kb[0]) * 1024 / (MANY - FEW));
	return 0;
}

static int measure(const char *dir)
{
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		if (measure_shape(dir, i))
			return 1;
	}
	return 0;
}

int main(void)
{
	return spend_in_tmpdir(measure, "bench_chrome: cannot make, import or show a trace");
}
