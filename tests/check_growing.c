/* SPDX-License-Identifier: MIT */
#include "convert/zstd.h"
#include "recording/growing.h"
#include "tests/recorded.h"
#include "tests/support.h"

#include <limits.h>

/* What was delivered. */
struct seen {
	struct buf build, events, processes;	/* as lines */
	size_t n_series;
	struct { char name[64]; struct buf samples; } series[16];	/* as lines */
	int64_t memory_ms, memory_kb;	/* newest */
	size_t n_memory;
	struct growing *growing;
};

static int on_build(void *context, struct slice key, struct slice value)
{
	struct seen *s = context;

	buf_addf(&s->build, "%.*s: %.*s\n", (int)key.len, key.p, (int)value.len, value.p);
	return 0;
}

static int on_event(void *context, struct event *e)
{
	struct seen *s = context;

	buf_addf(&s->events, "%.*s %d %lld %llu ", (int)e->inst.len, e->inst.p, (int)e->kind,
		 (long long)e->time_us, (unsigned long long)e->seq);
	buf_add(&s->events, e->rest.p, (size_t)(e->rest.end - e->rest.p));
	buf_addc(&s->events, '\n');
	return 0;
}

static int on_process(void *context, const struct process_line *l)
{
	struct seen *s = context;

	buf_addf(&s->processes, "%d %lld %d %lld %.*s\n", (int)l->word, (long long)l->time_us,
		 (int)l->pid, (long long)l->wall_us, (int)l->command.len, l->command.p);
	return 0;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The values of a sample, in the order of the columns' names. Counters that did not change are
 * left out: the reader of a whole recording also repeats columns that are gone. */
static void add_values(struct buf *out, size_t n, const struct series_column *column,
		       const int64_t *level, const int64_t *before)
{
	char **text = calloc(n + 1, sizeof *text);
	size_t known = 0;

	for (size_t i = 0; i < n; i++) {
		bool rate = column[i].counter;

		if (level[i] == SERIES_ABSENT || (rate && (!before || before[i] == SERIES_ABSENT ||
							   before[i] == level[i])))
			continue;
		ck_assert_int_gt(asprintf(&text[known++], " %s=%lld", column[i].name,
					  (long long)(rate ? level[i] - before[i] : level[i])), 0);
	}
	qsort(text, known, sizeof *text, by_text);
	for (size_t i = 0; i < known; i++) {
		buf_adds(out, text[i]);
		free(text[i]);
	}
	free(text);
	buf_addc(out, '\n');
}

static struct buf *samples_of(struct seen *s, const char *name)
{
	for (size_t i = 0; i < s->n_series; i++) {
		if (!strcmp(s->series[i].name, name))
			return &s->series[i].samples;
	}
	ck_assert_uint_lt(s->n_series, ARRAY_SIZE(s->series));
	strcpy(s->series[s->n_series].name, name);
	return &s->series[s->n_series++].samples;
}

/* A sample that has the time of the one before replaces it. */
static int on_sample(void *context, const struct growing_sample *t)
{
	struct buf *b = samples_of(context, t->series);

	if (t->again) {
		b->len--;
		while (b->len && b->data[b->len - 1] != '\n')
			b->len--;
	}
	buf_addf(b, "%lld %lld", (long long)t->time_ms, (long long)t->before_ms);
	add_values(b, t->n_columns, t->column, t->level, t->before_ms < 0 ? NULL : t->before);
	return 0;
}

static int on_memory(void *context, int64_t time_ms, int64_t kb)
{
	struct seen *s = context;

	ck_assert_int_ge(kb, 0);
	s->memory_ms = time_ms;
	s->memory_kb = kb;
	s->n_memory++;
	return 0;
}

static const struct growing_to to = { .build = on_build, .event = on_event, .process = on_process, .sample = on_sample,
					 .memory = on_memory };

static void begin(struct seen *s, const char *dir)
{
	struct error err = { 0 };

	*s = (struct seen){ .memory_ms = -1 };
	ck_assert_msg(!growing_open(&s->growing, dir, &zstd_codec, &to, s, &err), "%s", err.message);
}

static int more(struct seen *s)
{
	static const uint64_t most[] = { 1, 1000, 100000, UINT64_MAX };
	static unsigned n;
	struct error err = { 0 };
	int r;

	/* in pieces of some length; the end is known with the last one only */
	do
		r = growing_read_some(s->growing, most[n++ % ARRAY_SIZE(most)], &err);
	while (r > 0 && growing_is_behind(s->growing));

	ck_assert_msg(r >= 0, "%s: %s", err.path, err.message);
	return r;
}

static void end(struct seen *s)
{
	growing_close(s->growing);
	buf_release(&s->build);
	buf_release(&s->events);
	buf_release(&s->processes);
	for (size_t i = 0; i < s->n_series; i++)
		buf_release(&s->series[i].samples);
}

/* Texts are long. */
static void same_text(struct buf *a, struct buf *b)
{
	const char *x = buf_str(a), *y = buf_str(b);
	size_t at = 0;

	while (x[at] && x[at] == y[at])
		at++;
	if (!x[at] && !y[at])
		return;
	while (at && x[at - 1] != '\n')
		at--;
	ck_abort_msg("from byte %zu: \"%.200s\" is not \"%.200s\"", at, x + at, y + at);
}

static void same(struct seen *a, struct seen *b)
{
	same_text(&a->build, &b->build);
	same_text(&a->events, &b->events);
	same_text(&a->processes, &b->processes);
	ck_assert_uint_eq(a->n_series, b->n_series);
	for (size_t i = 0; i < a->n_series; i++)
		same_text(&a->series[i].samples, samples_of(b, a->series[i].name));
	ck_assert_int_eq(a->memory_ms, b->memory_ms);
	ck_assert_int_eq(a->memory_kb, b->memory_kb);
	ck_assert_uint_eq(a->n_memory, b->n_memory);
}

/* Files that grow */

#define FILES_MAX 16

struct source_files {
	size_t n;
	struct {
		char name[64];
		struct buf text;
		size_t done;
	} file[FILES_MAX];
	char dir[PATH_MAX];
};

static void take(struct source_files *g, const char *dir, const char *name)
{
	const char *path = support_path("%s/%s", dir, name);

	if (!support_exists(path))
		return;
	ck_assert_uint_lt(g->n, FILES_MAX);
	strcpy(g->file[g->n].name, name);
	support_read(&g->file[g->n++].text, path);
}

static void take_all(struct source_files *g, const char *dir)
{
	static const char *const names[] = {
		"build", "tasks.log", "tasks-a.log", "tasks-b.log", "processes.log",
		"proc_tasks.log", "proc_stat.log", "proc_meminfo.log", "proc_diskstats.log",
		"proc_net.log", "proc_pressure.log", "proc_vmstat.log", "proc_cgroup.log", "proc_x.log",
	};

	*g = (struct source_files){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		take(g, dir, names[i]);
	ck_assert_uint_gt(g->n, 1);
}

static void begin_copy(struct source_files *g)
{
	static unsigned n;

	snprintf(g->dir, sizeof g->dir, "%s/copy%u", support_tmpdir(), n++);
	ck_assert(!mkdir(g->dir, 0700));
	for (size_t i = 0; i < g->n; i++)
		g->file[i].done = 0;
	support_writes(support_path("%s/build", g->dir), "");
}

static void append(struct source_files *g, size_t at, size_t n)
{
	size_t left = g->file[at].text.len - g->file[at].done;
	int fd = open(support_path("%s/%s", g->dir, g->file[at].name),
		      O_WRONLY | O_APPEND | O_CREAT, 0600);

	n = n < left ? n : left;
	ck_assert_int_eq(write(fd, g->file[at].text.data + g->file[at].done, n), (ssize_t)n);
	close(fd);
	g->file[at].done += n;
}

static bool grown(const struct source_files *g)
{
	for (size_t i = 0; i < g->n; i++) {
		if (g->file[i].done < g->file[i].text.len)
			return false;
	}
	return true;
}

static void release(struct source_files *g)
{
	for (size_t i = 0; i < g->n; i++)
		buf_release(&g->file[i].text);
}

static void read_at_once(struct seen *s, const char *dir)
{
	begin(s, dir);
	more(s);
}

/* The samples as the reader of whole recordings has them. */
static void same_as_recorded(struct seen *seen, const char *dir)
{
	RELEASED(recording, rec);

	recorded_open(&rec, dir, NULL);
	ck_assert_uint_eq(seen->n_series, rec.n_series);
	for (size_t k = 0; k < rec.n_series; k++) {
		const struct series *s = &rec.series[k];
		struct buf b = BUF_INIT;

		for (size_t i = 0; i < s->n; i++) {
			const int64_t *level = s->level + i * s->n_columns;
			bool rate = i && !s->gap[i];

			buf_addf(&b, "%lld %lld", (long long)s->time_ms[i],
				 rate ? (long long)s->time_ms[i - 1] : -1LL);
			add_values(&b, s->n_columns, s->column, level,
				   rate ? level - s->n_columns : NULL);
		}
		same_text(samples_of(seen, s->name), &b);
		buf_release(&b);
	}
}

/* The lines of a file by the parser alone. */
static void as_lines(struct buf *out, const char *path)
{
	struct seen s = { 0 };
	struct slice line;
	struct cursor c;
	RELEASED(buf, text = BUF_INIT);
	bool whole;

	support_read(&text, path);
	cursor_init(&c, text.data, text.len);
	while (cursor_line(&c, &line, &whole)) {
		struct event e;

		if (whole && event_parse(line, &e) == EVENT_PARSED)
			on_event(&s, &e);
	}
	*out = s.events;
}

/* A recording in pieces */

enum { NESTED, GENERATED, RANDOM, SOURCES };

static const char *source(int which)
{
	static char dir[PATH_MAX];
	struct recorded r;

	if (which == NESTED)
		return TOP_SRCDIR "/tests/data/recordings/nested";
	snprintf(dir, sizeof dir, "%s/source", support_tmpdir());
	if (which == GENERATED) {
		if (!support_exists(dir))
			support_expect(NULL, 0, NULL, NULL, "%s/tests/gen_recording %s 300 700 3",
				       TOP_BUILDDIR, dir);
		return dir;
	}
	recorded_random(&r, 300, 7);
	recorded_release(&r);
	return support_tmpdir();
}

TEST_GROUP("pieces");

TEST_LOOP(pieces, SOURCES)
{
	static const size_t sizes[] = { 1, 7, 60, 1000, 30000, 400000 };
	struct buf lines = BUF_INIT;
	uint64_t state = (uint64_t)_i;
	struct source_files g;
	struct seen once;

	take_all(&g, source(_i));
	read_at_once(&once, source(_i));
	same_as_recorded(&once, source(_i));
	as_lines(&lines, support_path("%s/tasks.log", source(_i)));
	same_text(&once.events, &lines);
	for (size_t k = _i == GENERATED ? 2 : 0; k < ARRAY_SIZE(sizes); k++) {
		struct seen s;

		begin_copy(&g);
		begin(&s, g.dir);
		while (!grown(&g)) {
			append(&g, random_below(&state, g.n), 1 + random_below(&state, sizes[k]));
			if (!random_below(&state, 3))
				more(&s);
		}
		more(&s);
		same(&s, &once);
		ck_assert(!growing_damage(s.growing)->lines);
		end(&s);
	}
	buf_release(&lines);
	end(&once);
	release(&g);
}

/* Cut at every byte, and then complete. */
TEST(every_byte)
{
	struct source_files g;
	struct seen once;

	take_all(&g, source(RANDOM));
	buf_cut(&g.file[1].text, 600);
	begin_copy(&g);
	while (!grown(&g)) {
		append(&g, 0, 1000);
		append(&g, 1, 1000);
	}
	read_at_once(&once, g.dir);
	for (size_t at = 0; at <= 600; at++) {
		struct seen s;

		begin_copy(&g);
		append(&g, 0, 1000);
		append(&g, 1, at);
		begin(&s, g.dir);
		more(&s);
		append(&g, 1, 1000);
		more(&s);
		same(&s, &once);
		end(&s);
	}
	end(&once);
	release(&g);
}

/* Columns come and go; some lines are damaged, too long or not a text. */
TEST(damage)
{
	static const char series[] =
		"buildbeat proc_x 1 1000 a:ms:c b:KiB:g\n1,2\n3,4\n+4 5\n\n@9100 1,1\n"
		"buildbeat proc_x 1 1000 b:KiB:g c:1:c a:ms:c\n@10000 9,8,7\n1,1,1\n"
		"garbage\n1,1,1\n!20000 =3,4,5\n~30000 1,1,1\n@30001 ,,1\n@30001 2,2,2\n,,\n+x\n"
		"@40000 =1,2,3,4\n@41000 =1,2,3\nbuildbeat\n1\n"
		"buildbeat proc_x 1 500 a:ms:c\n5\n1\n";
	RELEASED(buf, text = BUF_INIT);
	const char *dir = support_tmpdir();
	uint64_t state = 5;
	struct source_files g;
	struct seen once;

	buf_adds(&text, "buildbeat tasks 1\nopen\t1\tabc\t7\nfuture\t2\tabc.1\nnoise\n");
	for (int i = 0; i < 300000; i++)
		buf_adds(&text, "longline");
	buf_adds(&text, "\nstart\t5\tabc.1\t8\ndone\t6\tabc.1");
	buf_add(&text, "\0\n\0\n", 4);
	buf_adds(&text, "note\t9\tabc\tlast line");
	support_writes(support_path("%s/build", dir), "buildbeat build 1\nimported: x\nx\n");
	support_write(support_path("%s/tasks.log", dir), text.data, text.len);
	support_writes(support_path("%s/proc_x.log", dir), series);
	read_at_once(&once, dir);
	same_as_recorded(&once, dir);
	ck_assert_uint_gt(growing_damage(once.growing)->lines, 5);
	ck_assert_uint_eq(growing_damage(once.growing)->unknown, 1);
	ck_assert_int_eq(more(&once), 0);
	ck_assert(growing_damage(once.growing)->torn);
	take_all(&g, dir);
	for (int i = 0; i < 20; i++) {
		struct seen s;

		begin_copy(&g);
		begin(&s, g.dir);
		while (!grown(&g)) {
			append(&g, random_below(&state, g.n), i ? random_below(&state, 500000) : 200000);
			more(&s);
			append(&g, 2, 1 + random_below(&state, 20));
			more(&s);
		}
		more(&s);
		same(&s, &once);
		ck_assert_uint_eq(growing_damage(s.growing)->lines, growing_damage(once.growing)->lines);
		end(&s);
	}
	end(&once);
	release(&g);
}

/* Files that go */

static void pack(const char *dir, const char *name)
{
	struct error err = { 0 };
	int fd = open(dir, O_RDONLY | O_DIRECTORY);

	ck_assert_msg(!zstd_pack(fd, name, NULL, NULL, &err), "%s", err.message);
	close(fd);
}

static void grow_half(struct source_files *g, int parts)
{
	for (size_t i = 0; i < g->n; i++)
		append(g, i, parts == 2 ? g->file[i].text.len : g->file[i].text.len / 2);
}

TEST_GROUP("files");

/* The files are packed while the reader has read nothing, a part, or everything of them; before one
 * was opened; and after a part was left plain beside. */
TEST_LOOP(packed, 4)
{
	struct seen once, s;
	struct source_files g;

	take_all(&g, source(NESTED));
	read_at_once(&once, source(NESTED));
	begin_copy(&g);
	for (int parts = 0; parts < _i; parts++)
		grow_half(&g, parts + 1);
	begin(&s, g.dir);
	more(&s);
	grow_half(&g, 2);
	if (_i == 3)
		end(&s);
	for (size_t i = 1; i < g.n; i++)
		pack(g.dir, g.file[i].name);
	if (_i == 3)
		begin(&s, g.dir);
	more(&s);
	more(&s);
	same(&s, &once);
	end(&s);
	/* a reader that comes between the two steps of packing */
	for (size_t i = 1; i < g.n; i++) {
		g.file[i].done = 0;
		append(&g, i, SIZE_MAX);
	}
	read_at_once(&s, g.dir);
	same(&s, &once);
	end(&s);
	end(&once);
	release(&g);
}

TEST_LOOP(removed, 2)
{
	struct source_files g;
	struct seen s;

	take_all(&g, source(NESTED));
	begin_copy(&g);
	grow_half(&g, 1);
	begin(&s, g.dir);
	if (_i)
		more(&s);
	support_expect(NULL, 0, NULL, NULL, "rm -r %s", g.dir);
	more(&s);
	while (more(&s))
		usleep(10000);
	ck_assert_int_eq(s.events.len > 0, _i);
	end(&s);
	release(&g);
}

/* tasks-ID.log: a file of each writer, more than are kept open. */
TEST(writers)
{
	const char *dir = support_tmpdir();
	unsigned lines = 0;
	struct seen s;

	support_writes(support_path("%s/build", dir), "buildbeat build 1\nstart_mono_ns: 1\n");
	begin(&s, dir);
	for (int round = 0; round < 4; round++) {
		for (int i = 0; i < 250; i++) {
			FILE *f = fopen(support_path("%s/tasks-w%d.log", dir, i), "a");

			fprintf(f, "%snote\t%d\tw%d\tround %d\n", round ? "" : "buildbeat tasks 1\n",
				round, i, round);
			fclose(f);
			if (i == 100)
				more(&s);
		}
	}
	pack(dir, "tasks-w3.log");
	pack(dir, "tasks-w249.log");
	more(&s);
	for (size_t i = 0; i < s.events.len; i++)
		lines += s.events.data[i] == '\n';
	ck_assert_uint_eq(lines, 1000);
	end(&s);
}

/* A file that comes when the others were known for long. */
TEST(late_file)
{
	const char *dir = support_tmpdir();
	struct seen s;

	support_writes(support_path("%s/build", dir), "buildbeat build 1\nstart_mono_ns: 1\n");
	support_expect(dir, 0, NULL, NULL, "touch -d '1 hour ago' .");
	begin(&s, dir);
	more(&s);
	ck_assert_uint_eq(s.events.len, 0);
	support_writes(support_path("%s/tasks.log", dir), "buildbeat tasks 1\nnote\t1\ta\tx\n");
	more(&s);
	ck_assert_uint_gt(s.events.len, 0);
	end(&s);
}

/* A name without a file, as of one that was removed since the directory was read, is no error. */
TEST(file_is_gone)
{
	const char *dir = support_tmpdir();
	struct seen s;

	support_writes(support_path("%s/build", dir), "buildbeat build 1\nstart_mono_ns: 1\n");
	support_expect(dir, 0, NULL, NULL, "ln -s none tasks.log && touch -d '1 hour ago' build .");
	begin(&s, dir);
	ck_assert_int_eq(more(&s), 0);
	end(&s);
}

TEST(refused)
{
	const char *dir = support_tmpdir();
	struct error err = { 0 };
	struct seen s = { 0 };

	ck_assert_int_eq(growing_open(&s.growing, dir, NULL, &to, &s, &err), -EINVAL);
	ck_assert_str_eq(err.message, "not a recording");
	growing_close(s.growing);
	ck_assert_int_eq(growing_open(&s.growing, support_path("%s/none", dir), NULL, &to, &s, &err),
			 -ENOENT);
	growing_close(s.growing);
	support_writes(support_path("%s/build", dir), "buildbeat build 1\n");
	support_writes(support_path("%s/tasks.log.zst", dir), "no frame");
	begin(&s, dir);
	ck_assert_int_lt(growing_read(s.growing, &err), 0);
	ck_assert(strstr(err.path, "/tasks.log"));
	end(&s);
}

TEST_MAIN(growing);
