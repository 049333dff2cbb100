/* SPDX-License-Identifier: MIT */
/*
 * Readers and writers without memory at every allocation: -ENOMEM, or a correct recording;
 * no crash, and no leak (in a build with sanitizers).
 */
#include "base/array.h"
#include "compare/follow_renames.h"
#include "compare/population.h"
#include "convert/convert.h"
#include "convert/zstd.h"
#include "recording/follow.h"
#include "recording/growing.h"
#include "recording/recording.h"
#include "recording/recording_write.h"
#include "recording/tally.h"
#include "send/spool.h"
#include "tests/made_tasks.h"
#include "tests/nomem.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"
#include "trace/trace_formats.h"

#include <fcntl.h>

static const char tasks[] = "buildbeat tasks 1\n"
	"open\t10\ta1\t100\t0\t100,1\tmake\t4.3\t/src\tmake all\n"
	"start\t20\ta1.1\t200\t\t\tx\t\tgcc -c x.c\nafter\t20\ta1.1\tp\n"
	"start\t20\ta1.900\t201\t\t\ty\t\tmake\nafter\t20\ta1.900\tq\nafter\t20\ta1.1\tr\n"
	"open\t30\tb1\t201\t1\t201,100\tmake\nbegin\t31\tb1\t1\tphase\nnote\t32\tb1\ttext\n"
	"out\t33\ta1.1\to\nout\t33\ta1.900\to\nout\t34\ta1.1\to\nname\t35\ta1.1\tn\tk\tlink\n"
	"open\t36\tc1\t300\t1\t300\tmake\t4.3\nclose\t37\tc1\t3\n"	/* its tasks are missing */
	"damaged\n";

static void write_files(const char *dir)
{
	support_expect(NULL, 0, NULL, NULL, "%s/tests/gen_recording %s 5 20 7", TOP_BUILDDIR, dir);
	support_writes(support_path("%s/tasks-b.log", dir), tasks);
	support_writes(support_path("%s/proc_tasks.log", dir),
		"buildbeat proc_tasks 1 1000 rss:1MiB:g\n0=a1.1:5;40=a1.900:6\n+5 0-;40:1\n");
	support_writes(support_path("%s/proc_x.log", dir),
		"buildbeat proc_x 1 1000 a:1:g\n1\nbuildbeat proc_x 1 1000 b:1:c\n+5 1\nx\n");
}

/* The number of allocations. Some may fail without harm: room reserved early, or returned. Then all
 * is read, unchanged. */
static long fail_each(const char *dir, size_t n_tasks)
{
	RELEASED(buf, all = BUF_INIT);
	bool failed = true;
	long n = -1;

	for (; failed || !n; n++) {
		struct recording rec = RECORDING_INIT;
		struct error err = { 0 };
		int r;

		nomem_after(n);
		r = recording_read(&rec, dir, &convert_formats, &err);
		failed = n >= 0 && nomem_failed();
		nomem_after(-1);
		ck_assert_msg(r == 0 || r == -ENOMEM, "%ld: %d %s", n, r, err.message);
		ck_assert(failed || r == 0);
		if (r) {
			ck_assert_str_eq(err.message, "Cannot allocate memory");
		} else {
			RELEASED(buf, b = BUF_INIT);

			ck_assert_uint_ge(rec.n_tasks, n_tasks);
			recorded_dump(n < 0 ? &all : &b, &rec, 0);
			if (n >= 0)
				recorded_same(&b, &all, n);
		}
		recording_release(&rec);
	}
	return n;
}

TEST(nth_fails)
{
	char dir[128];

	snprintf(dir, sizeof dir, "%s/rec/x", support_tmpdir());
	write_files(dir);
	/* All of them were tried. */
	ck_assert_int_gt(fail_each(dir, 7), 80);
}

static const struct { const char *corpus; int64_t from_us, to_us; long least; } tallies[] = {
	{ "phases", -1, INT64_MAX, 20 }, { "phases", 1000, 2000, 20 }, { "all-threads", -1, INT64_MAX, 15 },
	{ "damaged", -1, INT64_MAX, 10 },
};

TEST_EACH(nth_fails_for_tallies, tallies)
{
	const char *dir = support_tmpdir();
	size_t n_rows = 0;
	bool failed = true;
	struct buf text;
	long n = -1;

	support_read(&text, support_path(TOP_SRCDIR "/tests/corpus/tally/%s", tallies[_i].corpus));
	support_write(support_path("%s/tally.log", dir), text.data, text.len);
	buf_release(&text);
	for (; failed || !n; n++) {
		struct tally_table t = TALLY_TABLE_INIT;
		struct error err = { 0 };
		int r;

		nomem_after(n);
		r = tally_read(&t, dir, tallies[_i].from_us, tallies[_i].to_us, NULL, &err);
		failed = n >= 0 && nomem_failed();
		nomem_after(-1);
		ck_assert_msg(failed ? r == -ENOMEM : !r, "%ld: %d %s", n, r, err.message);
		if (r)
			ck_assert_str_eq(err.message, "Cannot allocate memory");
		else if (n < 0)
			n_rows = t.n_rows;
		else
			ck_assert_uint_eq(t.n_rows, n_rows);
		tally_release(&t);
	}
	ck_assert_int_gt(n, tallies[_i].least);
}

/* Recordings with lines of each kind, read, written and read while they grow. */

static const char *const corpus[] = {
	"damaged", "edges", "generated", "parts", "processes", "results", "scripts", "spans", "units",
};

static bool ran_out;		/* the chosen allocation failed */

static void end_failing(void)
{
	ran_out = nomem_failed();
	nomem_after(-1);
}

TEST_EACH(nth_fails_for_corpus, corpus)
{
	ck_assert_int_gt(fail_each(recorded_unpack(corpus[_i]), 0), 20);
}

/* What was begun is removed. */
TEST_EACH(nth_fails_for_writing, corpus)
{
	struct recording rec = RECORDING_INIT;
	struct error err = { 0 };
	char to[PATH_MAX], base[128];
	long n = 0;

	snprintf(base, sizeof base, "%s/base", support_tmpdir());
	recorded_open(&rec, recorded_unpack(corpus[_i]), &convert_formats);
	for (ran_out = true; ran_out; n++) {
		int r;

		nomem_after(n);
		r = recording_write(&rec, STORE_ACCESS_USER, base, "x", to, &err);
		end_failing();
		ck_assert_msg(r ? ran_out && r == -ENOMEM : support_exists(to), "%ld: %d %s", n, r, err.message);
		support_expect(base, 0, r ? "" : "latest\nx\n", "", "ls -A");
		if (!r)
			support_expect(base, 0, "", "", "rm -r x latest");
		else
			ck_assert_str_eq(err.message, "cannot write the recording: Cannot allocate memory");
	}
	ck_assert_int_gt(n, 4);
	recording_release(&rec);
}

static size_t delivered[4];

static int count_key(void *context, struct slice key, struct slice value)
{
	(void)context;
	delivered[0] += key.len && value.p;
	return 0;
}

static int count_event(void *context, struct event *e)
{
	(void)context;
	delivered[1] += e->inst.len > 0;
	return 0;
}

static int count_process(void *context, const struct process_line *l)
{
	(void)context;
	delivered[2] += l->time_us >= 0;
	return 0;
}

static int count_sample(void *context, const struct growing_sample *s)
{
	(void)context;
	delivered[3] += s->n_columns;
	return 0;
}

static int read_growing(const char *dir, long n, struct error *err)
{
	static const struct growing_to to = {
		.build = count_key, .event = count_event, .process = count_process, .sample = count_sample,
	};
	struct growing *g = NULL;
	int r;

	memset(delivered, 0, sizeof delivered);
	nomem_after(n);
	r = growing_open(&g, dir, &zstd_codec, &to, NULL, err);
	if (!r)
		r = growing_read(g, err);
	end_failing();
	if (g)
		growing_close(g);
	return r;
}

static void pack(const char *dir, const char *name)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY);
	struct error err;

	ck_assert_int_eq(zstd_pack(fd, name, NULL, NULL, &err), 0);
	close(fd);
}

TEST_EACH(nth_fails_for_growing, corpus)
{
	struct error err = { 0 };
	size_t whole[4];
	char dir[128];
	long n = 0;

	snprintf(dir, sizeof dir, "%s/rec", support_tmpdir());
	write_files(dir);
	support_expect(support_tmpdir(), 0, "", "", "cp %s/* rec", recorded_unpack(corpus[_i]));
	pack(dir, "proc_stat.log");
	pack(dir, "proc_x.log");
	ck_assert_int_ge(read_growing(dir, -1, &err), 0);
	memcpy(whole, delivered, sizeof whole);
	ck_assert(whole[0] && whole[1] && whole[3]);
	for (ran_out = true; ran_out; n++) {
		int r = read_growing(dir, n, &err);

		ck_assert_msg(r >= 0 || (ran_out && r == -ENOMEM), "%ld: %d %s", n, r, err.message);
		if (r < 0)
			ck_assert_msg(strstr(err.message, "Cannot allocate memory"), "%ld: %s", n, err.message);
		for (int i = 0; i < 4; i++)
			ck_assert_msg(r >= 0 ? delivered[i] == whole[i] : delivered[i] <= whole[i], "%ld: %d", n, i);
	}
	ck_assert_int_gt(n, 20);
}

TEST(nth_fails_for_openembedded)
{
	ck_assert_int_gt(fail_each(TOP_SRCDIR "/tests/data/oe/genuine", 237), 50);
}

/* Files of other tools, read and written. */

#define DATA TOP_SRCDIR "/tests/data/convert/"

static int read_foreign(const char *format, const char *path, long n)
{
	struct recording rec = RECORDING_INIT;
	struct error err = { 0 };
	int r;

	nomem_after(n);
	r = converter_read(converter_named(format), &rec, &path, 1, &err);
	end_failing();
	ck_assert(r ? r == -ENOMEM && *err.message && !rec.n_tasks : rec.n_tasks > 0);
	recording_release(&rec);
	return r;
}

/* Ways to write a trace; the same recording twice where several are possible. */

static int merge_chrome(const struct recording *rec, const char *path, struct error *err)
{
	const struct recording both[] = { *rec, *rec };

	return tracefile_merge_chrome(both, 2, path, err);
}

static int merge_perfetto(const struct recording *rec, const char *path, struct error *err)
{
	const struct recording both[] = { *rec, *rec };

	return tracefile_merge_perfetto(both, 2, path, err);
}

static int (*const traces[])(const struct recording *rec, const char *path, struct error *err) = {
	tracefile_chrome, tracefile_perfetto, merge_chrome, merge_perfetto,
};

TEST_EACH(nth_fails_for_traces, traces)
{
	static const char *const names[] = { "t.json", "t.pftrace.gz", "m.json", "m.tar" };
	const char *path = support_path("%s/%s", support_tmpdir(), names[_i]);
	RELEASED(recording, rec = RECORDING_INIT);
	struct error err = { 0 };
	RELEASED(buf, whole, text);
	long n = 0;

	recorded_open(&rec, TOP_SRCDIR "/tests/data/recordings/nested", NULL);
	ck_assert(!traces[_i](&rec, path, &err));
	support_read(&whole, path);
	for (ran_out = true; ran_out; n++) {
		int r;

		unlink(path);
		nomem_after(n);
		r = traces[_i](&rec, path, &err);
		end_failing();
		ck_assert_msg(r ? ran_out && r == -ENOMEM && *err.message && !support_exists(path) :
			      support_exists(path), "%ld", n);
	}
	support_read(&text, path);
	ck_assert(text.len == whole.len && !memcmp(text.data, whole.data, text.len));
	ck_assert_int_gt(n, 20);
}

static const struct { const char *format, *path; long least; } foreign[] = {
	{ "bazel", DATA "bazel/profile.json", 50 },
	{ "chrome", DATA "chrome/startup.json", 60 },
	{ "clang", DATA "clang/later.json", 50 },
};

TEST_EACH(nth_fails_for_foreign, foreign)
{
	long n = 0;

	for (ran_out = true; ran_out; n++) {
		int r = read_foreign(foreign[_i].format, foreign[_i].path, n);

		ck_assert_msg(ran_out || !r, "%ld", n);
	}
	ck_assert_int_gt(n, foreign[_i].least);
}

TEST(nth_fails_for_renames)
{
	static const char *const build[] = {
		"a.o x/m.o k.o l.o lib-1:~do_build [lib-1]", "a.o y/m.o k.o l.o lib-2:~do_build [lib-2]",
		"a.o x/m.o k.o l.o lib-2:~do_build [lib-2]", "b.o z/m.o k.o l.o lib-2:~do_build [lib-2]",
	};
	long n = 0;

	for (ran_out = true; ran_out; n++) {
		struct population p = { 0 };
		struct builds builds;
		struct error err;
		int r;

		made_tasks(&builds, build, ARRAY_SIZE(build));
		nomem_after(n);
		r = follow_renames(&builds, &err);
		r = r ? r : population_make(&p, &builds, &err);
		ran_out = nomem_failed();
		nomem_after(-1);
		ck_assert_int_eq(r, ran_out ? -ENOMEM : 0);
		ck_assert(ran_out || (builds.n_tasks == 6 && p.n_renamed == 1));
		population_release(&p);
		builds_release(&builds);
	}
	ck_assert_int_gt(n, 20);
}

/* The interpreter of events that forgets tasks which ended. */
struct forgetful {
	struct follow follow;
	unsigned n_ended;
};

static int forget_ended(void *context, uint32_t task, enum follow_change what, struct slice command)
{
	struct forgetful *f = context;

	(void)command;
	if (what == FOLLOW_ENDED && f->follow.rec->task[task].start_us >= 0) {
		f->n_ended++;
		follow_forget(&f->follow, task);
	}
	return 0;
}

static int follow_all(struct forgetful *f, const char *log)
{
	static const struct follow_to to = { .changed = forget_ended };
	struct recording rec;
	struct slice line;
	struct event e;
	struct cursor c;
	bool complete;
	int r = follow_growing(&f->follow, &rec, &to, f);

	cursor_init(&c, log, strlen(log));
	while (!r && cursor_line(&c, &line, &complete)) {
		r = event_parse(line, &e) == EVENT_PARSED ? follow_line(&f->follow, &e) : 0;
		r = r == -EBADMSG ? 0 : r;
	}
	follow_release(&f->follow);
	recording_release(&rec);
	return r;
}

TEST_EACH(nth_fails_for_events, corpus)
{
	unsigned all = 0;
	struct run logs;
	long n = -1;

	support_run(&logs, recorded_unpack(corpus[_i]), "cat tasks*.log");
	for (ran_out = true; ran_out; n++) {
		struct forgetful f = { .n_ended = 0 };
		int r;

		nomem_after(n);
		r = follow_all(&f, buf_str(&logs.out));
		end_failing();
		ran_out |= n < 0;
		ck_assert_msg(r == (ran_out && n >= 0 ? -ENOMEM : 0), "%ld: %d", n, r);
		ck_assert_msg(r || n < 0 || f.n_ended == all, "%ld: %u", n, f.n_ended);
		all = n < 0 ? f.n_ended : all;
	}
	ck_assert_int_gt(n, 10);
}

/* All requests that wait, or an error. */
TEST(nth_fails_for_spool)
{
	RELEASED(buf, request = BUF_INIT);
	struct error err = { 0 };
	struct spool s;
	long n = 0;

	setenv("XDG_STATE_HOME", support_tmpdir(), 1);
	ck_assert_int_eq(spool_open(&s, "http://localhost/v1", &err), 0);
	buf_adds(&request, "request");
	for (int i = 0; i < 5; i++)
		ck_assert_int_eq(spool_add(&s, &request, &err), 0);
	for (ran_out = true; ran_out; n++) {
		struct spool_names all;
		int r;

		nomem_after(n);
		r = spool_list(&s, &all);
		end_failing();
		ck_assert_int_eq(r, ran_out ? -ENOMEM : 0);
		ck_assert(r || all.n == 5);
		spool_names_release(&all);
	}
	ck_assert_int_gt(n, 5);
	spool_close(&s);
}

TEST_MAIN(nomem);
