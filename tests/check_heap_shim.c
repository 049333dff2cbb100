/* SPDX-License-Identifier: MIT */
/*
 * The heap shim in processes whose allocations are known, that do unusual things, or that are
 * killed at any moment; and the reader of their images.
 */
#include "heap/image.h"
#include "inspect/heap_image.h"
#include "tests/support.h"

#include <sys/mount.h>

#define SHIM TOP_BUILDDIR "/heap/buildbeat-heap.so"
#define ACT TOP_BUILDDIR "/tests/heap_act"
#define KNOWN TOP_BUILDDIR "/tests/heap_known"

static char images[PATH_MAX];

/* Start a program with the shim, its output in a file. */
static pid_t start(uint64_t period, const char *const argv[], const char *preload)
{
	char now[64];
	pid_t pid;

	if (!images[0]) {
		snprintf(images, sizeof images, "%s/images", support_tmpdir());
		ck_assert_int_eq(mkdir(images, 0700), 0);
	}
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	snprintf(now, sizeof now, "%d:%llu", (int)getpid(), (unsigned long long)period);
	setenv("BUILDBEAT_HEAP_NOW", now, 1);
	setenv("BUILDBEAT_HEAP_DIR", images, 1);
	setenv("LD_PRELOAD", preload ? preload : SHIM, 1);
	if (!freopen(support_path("%s.out", images), "w", stdout))
		_exit(7);
	execv(argv[0], (char *const *)argv);
	_exit(7);
}

static pid_t run(uint64_t period, const char *const argv[])
{
	pid_t pid = start(period, argv, NULL);
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status), "%s %s: status %x", argv[0],
		      argv[1], (unsigned)status);
	return pid;
}

static pid_t act(uint64_t period, const char *what)
{
	return run(period, (const char *const[]){ ACT, what, NULL });
}

/* What a process had at its end. */
struct had {
	struct inspection in;
	struct snapshot snapshot;
	struct heap_image_state state;
	struct heap_image *image;
	uint64_t bytes[2], peak[2];	/* live and at the peak: by malloc(), by mmap() */
};

static void had_release(struct had *h)
{
	heap_image_close(h->image);
	snapshot_release(&h->snapshot);
	free(h->in.module);
	free(h->in.frame);
	free(h->in.stack);
	name_table_release(&h->in.names);
	arena_free(h->in.arena);
}

static int had_look(struct had *h)
{
	struct error err;
	bool sound = true;
	int r = heap_image_read(h->image, &h->in, &h->snapshot, &h->state, &err);

	memset(h->bytes, 0, sizeof h->bytes);
	memset(h->peak, 0, sizeof h->peak);
	for (size_t i = 0; !r && i < h->snapshot.n_sites; i++) {
		const struct site *s = &h->snapshot.site[i];

		sound &= s->stack < h->in.n_stacks;
		h->bytes[s->mapped] += s->live_bytes;
		h->peak[s->mapped] += s->peak_bytes;
	}
	for (size_t i = 0; i < h->in.n_stacks; i++) {
		sound &= h->in.stack[i].frame < h->in.n_frames;
		sound &= h->in.stack[i].parent == INSPECTION_NONE || h->in.stack[i].parent < i;
	}
	ck_assert(sound);
	return r;
}

static int had_open(struct had *h, pid_t pid)
{
	int dir_fd = open(images, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;
	char name[NAME_MAX + 1];
	struct error err = { 0 };

	*h = (struct had){ 0 };
	h->in.arena = arena_new();
	h->in.names.arena = h->in.arena;
	r = heap_image_find(name, dir_fd, pid, 0);
	if (!r)
		r = heap_image_open(&h->image, dir_fd, name, &h->in, &err);
	close(dir_fd);
	return r;
}

static void had(struct had *h, pid_t pid)
{
	ck_assert_int_eq(had_open(h, pid), 0);
	ck_assert_int_eq(had_look(h), 0);
	ck_assert_int_eq(heap_image_pid(h->image), pid);
}

/* Known sites */

#define SITES 24

struct known {
	unsigned long long address, allocations, allocated, live, live_bytes, temporary, peak;
};

static void read_known(struct known *known)
{
	FILE *f = fopen(support_path("%s.out", images), "r");

	ck_assert_ptr_nonnull(f);
	for (int i = 0; i < SITES; i++) {
		struct known *k = &known[i];

		ck_assert_int_eq(fscanf(f, "%llu %llu %llu %llu %llu %llu %llu", &k->address,
					&k->allocations, &k->allocated, &k->live, &k->live_bytes,
					&k->temporary, &k->peak), 7);
	}
	fclose(f);
}

/* The known site that a stack is of, by its innermost call; SITES: none. */
static int known_site(const struct had *h, uint32_t stack, const struct known *known)
{
	uint64_t address = h->in.frame[h->in.stack[stack].frame].address;

	for (int i = 0; i < SITES; i++) {
		/* these functions are short */
		if (address - known[i].address < 16)
			return i;
	}
	return SITES;
}

/* Sum the sites of each known one. */
static void estimate_known(const struct had *h, struct site *sum, const struct known *known)
{
	memset(sum, 0, (SITES + 1) * sizeof *sum);
	for (size_t i = 0; i < h->snapshot.n_sites; i++) {
		const struct site *s = &h->snapshot.site[i];
		struct site *to = &sum[known_site(h, s->stack, known)];

		to->allocations += s->allocations;
		to->allocated += s->allocated;
		to->live += s->live;
		to->live_bytes += s->live_bytes;
		to->temporary += s->temporary;
		to->peak_bytes += s->peak_bytes;
		to->error_bytes = (uint64_t)sqrt((double)to->error_bytes * (double)to->error_bytes +
						 (double)s->error_bytes * (double)s->error_bytes);
	}
}

TEST_GROUP("sites");

TEST_LOOP(exact, 2)
{
	static const char *const threads[] = { "1", "4" };
	struct known known[SITES];
	struct site sum[SITES + 1];
	RELEASED(had, h);
	pid_t pid = run(0, (const char *const[]){ KNOWN, "5", "300", "70", threads[_i], NULL });

	had(&h, pid);
	read_known(known);
	estimate_known(&h, sum, known);
	ck_assert(h.state.ended && !h.state.forked && !h.state.other_malloc);
	ck_assert_int_eq(h.state.error, 0);
	ck_assert_uint_eq(h.state.lost, 0);
	for (int i = 0; i < SITES; i++) {
		ck_assert_uint_eq(sum[i].allocations, known[i].allocations);
		ck_assert_uint_eq(sum[i].allocated, known[i].allocated);
		ck_assert_uint_eq(sum[i].live, known[i].live);
		ck_assert_uint_eq(sum[i].live_bytes, known[i].live_bytes);
		ck_assert_uint_eq(sum[i].temporary, known[i].temporary);
		ck_assert_uint_eq(sum[i].error_bytes, 0);
		if (!_i)
			ck_assert_uint_eq(sum[i].peak_bytes, known[i].peak);
	}
	ck_assert_uint_eq(h.bytes[0] + h.bytes[1], h.state.live_bytes);
	ck_assert_uint_eq(h.peak[0] + h.peak[1], h.state.peak_bytes);
}

/* 1 GB by the default period. */
TEST(sampled)
{
	double differences = 0, variances = 0;
	int inside = 0, all = 0;

	for (int seed = 1; seed <= 4; seed++) {
		struct known known[SITES];
		struct site sum[SITES + 1];
		double total = 0, estimate = 0, variance = 0;
		const char *number = support_path("%d", seed);
		struct had h;

		had(&h, run(524288, (const char *const[]){ KNOWN, number, "1200", "80",
							   seed % 2 ? "1" : "3", NULL }));
		read_known(known);
		estimate_known(&h, sum, known);
		for (int i = 0; i < SITES; i++)
			total += (double)known[i].live_bytes;
		for (int i = 0; i < SITES; i++) {
			double difference = (double)sum[i].live_bytes - (double)known[i].live_bytes;
			double error = (double)sum[i].error_bytes;

			estimate += (double)sum[i].live_bytes;
			variance += error * error;
			if ((double)known[i].live_bytes < total / 100)
				continue;
			all++;
			inside += fabs(difference) <= 2 * error;
			ck_assert_msg(fabs(difference) <= 5 * error + 1, "site %d: %llu, not %llu, error %g",
				      i, (unsigned long long)sum[i].live_bytes, known[i].live_bytes, error);
		}
		ck_assert_double_gt(total, 900e6);
		/* 1.6 %; of each block at most its size times the period, which makes 2.3 % */
		ck_assert_double_gt(sqrt(variance), total / 100);
		ck_assert_double_lt(variance, total * 524288);
		ck_assert_msg(fabs(estimate - total) <= 5 * sqrt(variance), "%g of %g", estimate, total);
		differences += estimate - total;
		variances += variance;
		had_release(&h);
	}
	ck_assert_msg(fabs(differences) <= 4 * sqrt(variances), "%g, error %g", differences, sqrt(variances));
	/* 95 % are expected */
	ck_assert_msg(inside >= all * 0.85, "%d of %d", inside, all);
}

/* Functions */

TEST_GROUP("functions");

TEST(family)
{
	int blocks = 0;
	RELEASED(had, h);

	had(&h, act(0, "family"));
	for (size_t i = 0; i < h.snapshot.n_sites; i++) {
		const struct site *s = &h.snapshot.site[i];

		if (s->live_bytes % 100000)
			continue;
		blocks += (int)(s->live_bytes / 100000);
		ck_assert_uint_eq(s->live * 100000, s->live_bytes);
	}
	ck_assert_int_eq(blocks, 15);
}

TEST_LOOP(mappings, 2)
{
	RELEASED(had, h);
	uint64_t shown = 0;

	had(&h, act(_i ? 524288 : 0, "mappings"));
	/* and a part of a page */
	ck_assert_uint_eq(h.bytes[1] >> 20, 24);
	for (size_t i = 0; i < h.snapshot.n_ranges; i++) {
		const struct mapped_range *r = &h.snapshot.range[i];

		ck_assert(!i || r->start >= r[-1].end);
		ck_assert_uint_lt(r->stack, h.in.n_stacks);
		shown += r->end - r->start;
	}
	ck_assert_uint_eq(shown, h.bytes[1]);
}

/* Processes */

TEST_GROUP("processes");

TEST(children)
{
	struct had h;
	uint64_t big = 0;
	pid_t pid = act(0, "children"), child;

	had(&h, pid);
	ck_assert(!h.state.forked && h.state.ended);
	/* vfork()'s child has the same memory */
	for (size_t i = 0; i < h.snapshot.n_sites; i++)
		big += h.snapshot.site[i].live_bytes % 100000 ? 0 : h.snapshot.site[i].live_bytes;
	ck_assert_uint_eq(big, 300000);
	had_release(&h);
	child = (pid_t)strtol(support_text(support_path("%s.out", images)), NULL, 10);
	had(&h, child);
	ck_assert(h.state.forked && h.state.ended);
	ck_assert_uint_eq(h.bytes[0], 200000);
	ck_assert_uint_eq(h.bytes[1], 1 << 20);
	had_release(&h);
}

/* The shim is not in programs that the program executes, unless it is armed again. */
TEST(executes)
{
	RELEASED(had, h);

	had(&h, run(0, (const char *const[]){ ACT, "again", "family", NULL }));
	ck_assert(!h.state.ended);
	ck_assert_uint_lt(h.bytes[0], 100000);
}

TEST_LOOP(bomb, 2)
{
	RELEASED(had, h);

	had(&h, act(_i ? 1000 : 0, "bomb"));
	ck_assert_uint_eq(h.state.lost, 0);
}

TEST_LOOP(grows, 2)
{
	RELEASED(had, h);

	had(&h, act(0, _i ? "no sandbox" : "closed"));
	ck_assert_int_eq(h.state.error, 0);
	ck_assert_uint_ge(h.bytes[0], 20000 * 100);
	ck_assert_uint_gt(h.in.n_stacks, 20000);
}

/* The program's path is known nevertheless, although it was started by a relative one. */
TEST(no_descriptors)
{
	bool found = false;
	RELEASED(had, h);

	ck_assert_int_eq(chdir(TOP_BUILDDIR "/tests"), 0);
	had(&h, run(0, (const char *const[]){ "./heap_act", "no descriptors", NULL }));
	ck_assert_int_eq(h.state.error, 0);
	ck_assert_uint_ge(h.bytes[0], 100 * 100);
	for (size_t i = 0; i < h.in.n_modules; i++)
		found |= !strcmp(h.in.names.name[h.in.module[i].file].p, ACT);
	ck_assert(found);
}

TEST(limited)
{
	RELEASED(had, h);

	had(&h, act(0, "limited"));
	ck_assert_int_eq(h.state.error, EFBIG);
	/* what has no stack is still counted */
	ck_assert_uint_ge(h.bytes[0], 40000 * 100);
}

TEST(full_disk)
{
	struct had h;
	pid_t pid;

	act(0, "profiled");	/* makes the directory */
	SKIP_IF(mount("none", images, "tmpfs", 0, "size=512k,mode=700"));
	pid = start(0, (const char *const[]){ ACT, "closed", NULL }, NULL);
	ck_assert_int_eq(waitpid(pid, &(int){ 0 }, 0), pid);
	had(&h, pid);
	umount2(images, MNT_DETACH);
	ck_assert_int_eq(h.state.error, ENOSPC);
	ck_assert_uint_ge(h.bytes[0], 20000 * 100);
	ck_assert(h.state.ended);
	had_release(&h);
}

/* Without a place for the image, the program runs as without us. */
TEST_LOOP(no_image, 2)
{
	act(0, "profiled");
	support_run(&(struct run){ 0 }, NULL, "rm -r '%s'", images);
	act(_i ? 524288 : 0, "family");
	ck_assert(!support_exists(images));
}

TEST(signals)
{
	act(0, "profiled");
	act(100, "profiled");
}

TEST_LOOP(threads, 2)
{
	RELEASED(had, h);

	had(&h, act(_i ? 10000 : 0, "threads"));
	/* libc keeps what it needs for threads; of ours nothing remains */
	ck_assert_uint_lt(h.bytes[0], 20000);
	ck_assert_uint_eq(h.state.lost, 0);
}

/* Killed at any moment, and read while it runs. */
TEST_LOOP(killed, 2)
{
	for (int i = 0; i < 25; i++) {
		pid_t pid = start(_i ? 1000 : 0, (const char *const[]){ ACT, "forever", NULL }, NULL);
		uint64_t events = 0;
		int looks = 0, r;
		struct had h;

		do {
			r = had_open(&h, pid);
			if (!r)
				break;
			had_release(&h);
			ck_assert_int_eq(waitpid(pid, NULL, WNOHANG), 0);
		} while (r == -ENOENT || r == -EINVAL);
		ck_assert_int_eq(r, 0);
		while (looks < i || h.state.events < (unsigned)i * 100) {
			ck_assert_int_eq(had_look(&h), 0);
			ck_assert_uint_ge(h.state.events, events);
			events = h.state.events;
			looks++;
		}
		kill(pid, SIGKILL);
		ck_assert_int_eq(waitpid(pid, &(int){ 0 }, 0), pid);
		ck_assert_int_eq(had_look(&h), 0);
		ck_assert(!h.state.ended);
		/* at most one event is between the sites and their sum */
		if (!_i)
			ck_assert_uint_lt(h.bytes[0] + h.bytes[1] - h.state.live_bytes + (2 << 20), 4 << 20);
		had_release(&h);
	}
}

/* With other preloads, in any order. */
TEST_LOOP(other_preloads, 6)
{
	static const char *const other[] = {
		"/usr/lib/x86_64-linux-gnu/libjemalloc.so.2", "/lib/x86_64-linux-gnu/libdl.so.2",
		"/usr/lib/x86_64-linux-gnu/libtcmalloc_minimal.so.4",
	};
	const char *preload = support_path(_i % 2 ? "%s:%s" : "%2$s:%1$s", SHIM, other[_i / 2]);
	struct had h;
	int status;
	pid_t pid;

	SKIP_IF(access(other[_i / 2], R_OK));
	pid = start(0, (const char *const[]){ ACT, "threads", NULL }, preload);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	had(&h, pid);
	ck_assert_int_eq(h.state.other_malloc, _i / 2 != 1);
	had_release(&h);
}

/* Another preload's functions, through which a program enters a sandbox, are called. */
TEST(other_syscalls)
{
	const char *dir = support_tmpdir();
	int status;
	pid_t pid;

	SKIP_IF(!support_has("gcc"));
	support_writes(support_path("%s/other.c", dir),
		       "#include <stdarg.h>\n"
		       "long syscall(long n, ...) { va_list a; va_start(a, n); for (int i = 0; i < 5; i++) va_arg(a, long); return n == 10000 ? va_arg(a, long) : -1; }\n"
		       "int prctl(int n, ...) { va_list a; va_start(a, n); for (int i = 0; i < 3; i++) va_arg(a, long); return n + va_arg(a, long); }\n");
	support_writes(support_path("%s/calls.c", dir),
		       "long syscall(long, ...);\nint prctl(int, ...);\n"
		       "int main(void) { return syscall(10000, 1L, 2L, 3L, 4L, 5L, 6L) != 6 || prctl(10, 1L, 2L, 3L, 4L) != 14; }\n");
	support_expect(dir, 0, NULL, NULL, "gcc -w -shared -fPIC -o other.so other.c && gcc -w -o calls calls.c");
	pid = start(0, (const char *const[]){ support_path("%s/calls", dir), NULL },
		    support_path("%s:%s/other.so", SHIM, dir));
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

/* A program that is not position-independent may have an address for malloc(). */
TEST_LOOP(fixed_address, 3)
{
	static const char *const ways[] = { "-no-pie -fno-pie", "-static-pie -fpie", "-pie -fpie" };
	const char *dir = support_tmpdir(), *program = support_path("%s/fixed", dir);
	struct had h;
	pid_t pid;

	SKIP_IF(!support_has("gcc"));
	support_writes(support_path("%s.c", program),
		       "#include <stdlib.h>\nvoid *(*volatile f)(size_t) = malloc;\n"
		       "int main(void) { free(malloc(10)); return !f(5000000); }\n");
	support_expect(dir, 0, NULL, NULL, "gcc -w %s -o fixed fixed.c", ways[_i]);
	pid = run(0, (const char *const[]){ program, NULL });
	if (_i == 1) {
		/* its dynamic linker is its own */
		ck_assert_int_eq(had_open(&h, pid), -ENOENT);
		had_release(&h);
		return;
	}
	had(&h, pid);
	ck_assert(!h.state.other_malloc);
	ck_assert_uint_ge(h.bytes[0], 5000000);
	had_release(&h);
}

/* No data races in the tables, and they agree with what threads did. */
TEST(races)
{
	const char *dir = support_tmpdir();

	SKIP_IF(!support_has("gcc"));
	support_expect(dir, 0, NULL, NULL,
		       "gcc -w -g -O1 -std=gnu11 -D_GNU_SOURCE -fsanitize=thread -pthread "
		       "-I" TOP_SRCDIR " " TOP_SRCDIR "/tests/heap_race.c " TOP_SRCDIR "/heap/count.c "
		       TOP_SRCDIR "/heap/heap_env.c " TOP_SRCDIR "/heap/image_write.c "
		       TOP_SRCDIR "/heap/live_blocks.c " TOP_SRCDIR "/heap/ranges.c "
		       TOP_SRCDIR "/heap/sample.c " TOP_SRCDIR "/heap/sandbox.c "
		       TOP_SRCDIR "/heap/stacks.c "
		       TOP_SRCDIR "/heap/unwind*.c -o race");
	support_expect(dir, 0, NULL, NULL, "./race 0 '%s'", dir);
	support_expect(dir, 0, NULL, NULL, "./race 20000 '%s'", dir);
}

TEST_PROGRAM(heap_shim)
{
	SKIP_PROGRAM_IF(!support_can_be_loaded());
	return support_main();
}
