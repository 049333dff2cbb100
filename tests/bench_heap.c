/* SPDX-License-Identifier: MIT */
/*
 * Cost of counting the heap of a compiler that compiles a large C++ file, in turn with the same
 * compilation alone: sampled, and each allocation; heaptrack beside them. CPU time and memory
 * are minima. And what of its peak memory the call stacks explain.
 */
#include "base/array.h"
#include "heap/heap_env.h"
#include "inspect/heap_image.h"
#include "inspect/symbolize.h"
#include "tests/spend.h"
#include "tests/support.h"

#include <dirent.h>

#define OBJECTS TOP_BUILDDIR "/heap/"
#define CLASSES 11
#define ROUNDS 3
#define PERIOD 524288

enum mode { NONE, SAMPLED, EXACT, HEAPTRACK, MODES };

static const struct {
	const char *name, *rules;
	double bar, bar_mb;	/* times the CPU time of none; 0: no bar */
} modes[] = {
	[SAMPLED] = { "sampled", "524288:cc1plus", 1.03, 10 },
	[EXACT] = { "exact", "0:cc1plus", 1.4, 0 },
	[HEAPTRACK] = { "heaptrack", "", 0, 0 },
};

static char compiler[PATH_MAX], input[PATH_MAX], images[PATH_MAX];

static bool prepare(const char *dir)
{
	struct run r;

	support_run(&r, dir, "g++ -print-prog-name=cc1plus | tr -d '\\n'");
	if (r.status || r.out.len >= sizeof compiler || access(r.out.data, X_OK))
		return false;
	strcpy(compiler, r.out.data);
	snprintf(input, sizeof input, "%s/large.ii", dir);
	snprintf(images, sizeof images, "%s/images", dir);
	support_run(&r, dir, "mkdir images; python3 -B " TOP_SRCDIR "/tests/gen_compile.py %d >large.cc && "
		    "g++ -std=c++17 -E large.cc -o large.ii", CLASSES);
	return !r.status;
}

static void remove_images(void)
{
	support_expect(NULL, 0, NULL, NULL, "rm -rf %s/* heaptrack.*", images);
}

static struct spent compile(enum mode mode)
{
	const char *argv[] = { "heaptrack", "--raw", "-o", support_path("%s/heaptrack", images), compiler, "-quiet",
			       "-O2", "-std=c++17", "-fpreprocessed", input, "-o", "/dev/null", NULL };
	struct spent s;

	remove_images();
	if (mode == SAMPLED || mode == EXACT) {
		setenv("LD_PRELOAD", OBJECTS HEAP_ENV_ARM, 1);
		setenv(HEAP_ENV_RULES, modes[mode].rules, 1);
		setenv(HEAP_ENV_DIR, images, 1);
	}
	s = spend(mode == HEAPTRACK ? argv : argv + 4);
	unsetenv("LD_PRELOAD");
	return s;
}

/* The image of the last compilation. */
static struct heap_image *open_image(struct inspection *in)
{
	DIR *d = opendir(images);
	struct heap_image *h = NULL;
	struct error err;

	ck_assert_ptr_nonnull(d);
	for (struct dirent *e; (e = readdir(d));) {
		if (e->d_name[0] != '.')
			ck_assert_int_eq(heap_image_open(&h, dirfd(d), e->d_name, in, &err), 0);
	}
	closedir(d);
	ck_assert_ptr_nonnull(h);
	return h;
}

/* Has a call of the stack the name of a function, not only its start (MODULE!0xSTART)? */
static bool is_named(const struct inspection *in, uint32_t stack)
{
	for (; stack != INSPECTION_NONE; stack = in->stack[stack].parent) {
		uint32_t name = in->frame[in->stack[stack].frame].name;
		const char *text = "!?";

		if (name != INSPECTION_NONE)
			text = in->names.name[in->frame_name[name].function].p;
		if (!strstr(text, "!0x") && !strstr(text, "!?"))
			return true;
	}
	return false;
}

/* MB at the peak whose stacks are named; events: how many were recorded. */
static double explained_mb(uint64_t *events)
{
	struct inspection in = { .arena = arena_new() };
	struct symbolize_settings symbols = {
		.program = TOP_BUILDDIR "/symbols/buildbeat-symbols", .names_only = true,
	};
	struct symbolize_result named = { .notes = BUF_INIT };
	struct heap_image_state state;
	struct snapshot s = { .n = 0 };
	struct heap_image *h = open_image(&in);
	struct error err;
	double bytes = 0;

	in.names.arena = in.arena;
	ck_assert_int_eq(heap_image_read(h, &in, &s, &state, &err), 0);
	ck_assert_int_eq(symbolize(&in, &symbols, &named, &err), 0);
	buf_release(&named.notes);
	for (size_t i = 0; i < s.n_sites; i++)
		bytes += is_named(&in, s.site[i].stack) ? (double)s.site[i].peak_bytes : 0;
	*events = state.events;
	heap_image_close(h);
	return bytes / 1048576;
}

static void print(enum mode mode, const struct spent *s, const struct spent *none, double explained,
		  uint64_t events)
{
	double ratio = s->cpu_ms / none->cpu_ms, mb = (double)s->max_rss_kb / 1024;
	double more = mb - (double)none->max_rss_kb / 1024;

	printf("  %.3fx CPU, %+.1f MB: heap of cc1plus, %s", ratio, more, modes[mode].name);
	if (modes[mode].bar > 0)
		printf("  (bar: <= %.2fx%s)", modes[mode].bar, modes[mode].bar_mb > 0 ? ", <= 10 MB" : "");
	if (mode != HEAPTRACK)
		printf("  %.1f %% of the peak RSS of %.0f MB in named stacks (bar: >= 90 %%), %llu recorded",
		       100 * explained / ((double)none->max_rss_kb / 1024),
		       (double)none->max_rss_kb / 1024, (unsigned long long)events);
	putchar('\n');
}

TEST_UNTIMED(bench_heap)
{
	struct spent best[MODES];
	double explained[MODES] = { 0 };
	uint64_t events[MODES] = { 0 };
	bool has_heaptrack = support_has("heaptrack");

	if (!support_can_be_loaded() || !prepare(support_tmpdir()))
		return;
	for (int i = 0; i < ROUNDS; i++) {
		for (int mode = NONE; mode < MODES; mode++) {
			struct spent s;

			if (mode == HEAPTRACK && (!has_heaptrack || i))
				continue;
			s = compile(mode);
			ck_assert_int_eq(s.status, 0);
			if (i)
				spent_keep_best(&best[mode], &s);
			else
				best[mode] = s;
			if (mode == SAMPLED || mode == EXACT)
				explained[mode] = explained_mb(&events[mode]);
		}
	}
	for (int mode = SAMPLED; mode < MODES; mode++) {
		if (mode != HEAPTRACK || has_heaptrack)
			print(mode, &best[mode], &best[NONE], explained[mode], events[mode]);
	}
	printf("  the compilation alone: %.2f s of CPU, %.0f MB\n", best[NONE].cpu_ms / 1000,
	       (double)best[NONE].max_rss_kb / 1024);
}

int main(void)
{
	return support_main();
}
