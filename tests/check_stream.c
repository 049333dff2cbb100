/* SPDX-License-Identifier: MIT */
#include "live/stream.h"

#include "tests/recorded.h"
#include "tests/support.h"

/* One message of a stream, as text in its parts. */
struct message {
	unsigned long long lines, sample;
	const char *event, *data;
};

struct messages {
	struct buf text;
	size_t n;
	struct message *message;
};

static char *cut(char **p, const char *before, const char *end)
{
	char *begin = *p + strlen(before), *at;

	ck_assert_msg(!strncmp(*p, before, strlen(before)), "%.100s", *p);
	at = strstr(begin, end);
	ck_assert_ptr_nonnull(at);
	*at = '\0';
	*p = at + strlen(end);
	return begin;
}

static void split(struct messages *m)
{
	char *p = (char *)(uintptr_t)buf_str(&m->text);

	while (*p) {
		struct message *added = array_add(&m->message, &m->n, sizeof *added);

		ck_assert_ptr_nonnull(added);
		ck_assert_int_eq(sscanf(cut(&p, "id: ", "\n"), "%llu.%llu", &added->lines, &added->sample), 2);
		added->event = cut(&p, "event: ", "\n");
		added->data = cut(&p, "data: ", "\n\n");
	}
}

static void release(struct messages *m)
{
	buf_release(&m->text);
	free(m->message);
	*m = (struct messages){ .n = 0 };
}

static void read_until(const struct stream *s, struct channel_place *place, uint64_t offset,
		       struct buf *out)
{
	while (place->offset < offset)
		ck_assert_int_eq(channel_read(s->events, place, 1000, out), 0);
}

static void begin(struct stream **s, const char *dir)
{
	struct error err = { 0 };

	ck_assert_msg(!stream_new(s, dir, &err), "%s", err.message);
}

static void run_to_end(struct stream *s)
{
	while (stream_run(s) >= 0)
		usleep(100);
}

/* All of a recording that has ended. */
static void whole(struct messages *m, const char *dir)
{
	struct channel_place place = { 0 };
	struct stream *s;

	*m = (struct messages){ .n = 0 };
	begin(&s, dir);
	run_to_end(s);
	read_until(s, &place, channel_end(s->events), &m->text);
	split(m);
	ck_assert_str_eq(m->message[m->n - 1].event, "end");
	stream_free(s);
}

static bool is(const struct message *m, const char *event)
{
	return !strcmp(m->event, event);
}

static bool of_tasks(const struct message *m)
{
	return is(m, "task") || is(m, "note");
}

/* Both have the same lines and the same samples, each once and in their order. Values of a sample
 * may differ: they are in several files, which are not written at once. */
static void same(const struct messages *a, const struct messages *b)
{
	size_t i = 0, k = 0;

	for (;; i++, k++) {
		while (i < a->n && !of_tasks(&a->message[i]))
			i++;
		while (k < b->n && !of_tasks(&b->message[k]))
			k++;
		if (i == a->n || k == b->n)
			break;
		ck_assert_uint_eq(a->message[i].lines, b->message[k].lines);
		ck_assert_str_eq(a->message[i].data, b->message[k].data);
	}
	ck_assert(i == a->n && k == b->n);
	for (i = k = 0;; i++, k++) {
		while (i < a->n && !is(&a->message[i], "sample"))
			i++;
		while (k < b->n && !is(&b->message[k], "sample"))
			k++;
		if (i == a->n || k == b->n)
			break;
		ck_assert_uint_eq(a->message[i].sample, b->message[k].sample);
	}
	ck_assert(i == a->n && k == b->n);
	ck_assert_str_eq(a->message[a->n - 1].data, b->message[b->n - 1].data);
}

/* A recording that grows */

static const char *const names[] = {
	"build", "tasks.log", "proc_tasks.log", "proc_stat.log", "proc_meminfo.log",
	"proc_diskstats.log",
};

struct growth {
	char dir[256];
	struct { struct buf text; size_t done; } file[ARRAY_SIZE(names)];
};

static void append(struct growth *g, size_t i, size_t len)
{
	size_t left = g->file[i].text.len - g->file[i].done;
	int fd = open(support_path("%s/%s", g->dir, names[i]), O_WRONLY | O_APPEND | O_CREAT, 0600);

	len = len < left ? len : left;
	ck_assert_int_eq(write(fd, g->file[i].text.data + g->file[i].done, len), (ssize_t)len);
	close(fd);
	g->file[i].done += len;
}

static bool grown(const struct growth *g)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (g->file[i].done < g->file[i].text.len)
			return false;
	}
	return true;
}

/* It is another machine's, so it has not ended before it says so: with its last line. */
static const char begin_of_build[] = "buildbeat build 1\nstart_wall_ns: 1000000000\nstart_mono_ns: 1\n"
	"host: another\ncwd: /home/user/project\ncores: 4\ninterval_ms: 1000\nbuildbeat: 1\n";
static const char end_of_build[] = "end_us: 90000000\nstatus: 0\nimported: x\n";

static void begin_growth(struct growth *g, const char *source)
{
	*g = (struct growth){ .dir = "" };
	snprintf(g->dir, sizeof g->dir, "%s/copy", support_tmpdir());
	ck_assert(!mkdir(g->dir, 0700));
	for (size_t i = 1; i < ARRAY_SIZE(names); i++) {
		if (support_exists(support_path("%s/%s", source, names[i])))
			support_read(&g->file[i].text, support_path("%s/%s", source, names[i]));
	}
	buf_adds(&g->file[0].text, begin_of_build);
	append(g, 0, SIZE_MAX);
}

static void end_build(struct growth *g)
{
	buf_adds(&g->file[0].text, end_of_build);
	append(g, 0, SIZE_MAX);
}

static void end_growth(struct growth *g)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		buf_release(&g->file[i].text);
}

static const char *generated(unsigned tasks)
{
	static char dir[256];

	snprintf(dir, sizeof dir, "%s/generated", support_tmpdir());
	if (!support_exists(dir))
		support_expect(NULL, 0, NULL, NULL, "%s/tests/gen_recording %s %u 2000 3 && echo imported: x >>%s/build",
			       TOP_BUILDDIR, dir, tasks, dir);
	return dir;
}

/* What one client got, from server to server. */
struct client {
	struct messages got;
	struct channel_place place;
	unsigned server;
};

#define SERVERS 3

/* It goes on at another server behind the last message that it had, which may be half of what
 * that server has or more than it has yet. */
static void move(struct client *k, struct stream **s, uint64_t *state)
{
	char id[64] = "";

	if (k->got.text.len) {
		struct messages copy = { .n = 0 };

		buf_add(&copy.text, k->got.text.data, k->got.text.len);
		split(&copy);
		snprintf(id, sizeof id, "%llu.%llu", copy.message[copy.n - 1].lines,
			 copy.message[copy.n - 1].sample);
		release(&copy);
	}
	k->server = (unsigned)random_below(state, SERVERS);
	ck_assert_int_eq(stream_place(s[k->server], &k->place, id, true), 0);
}

static void take(struct client *k, struct stream **s, uint64_t *state)
{
	const struct stream *from = s[k->server];

	if (k->place.offset < channel_end(from->events))
		ck_assert_int_eq(stream_read(from, &k->place, 1 + random_below(state, 3000),
					     &k->got.text), 0);
}

/* Servers that began at different times, one of which begins again and again; a client moves between
 * them and gets each message once. */
TEST_LOOP(resume, 8)
{
	uint64_t state = (uint64_t)_i;
	struct stream *s[SERVERS];
	struct client k = { .server = 0 };
	struct messages once;
	struct growth g;

	begin_growth(&g, generated(150));
	for (size_t i = 0; i < SERVERS; i++)
		begin(&s[i], g.dir);
	move(&k, s, &state);
	while (!grown(&g)) {
		append(&g, random_below(&state, ARRAY_SIZE(names)), 1 + random_below(&state, 4000));
		stream_run(s[random_below(&state, SERVERS)]);
		take(&k, s, &state);
		if (!random_below(&state, 12))
			move(&k, s, &state);
		if (!random_below(&state, 30) && k.server) {
			stream_free(s[0]);
			begin(&s[0], g.dir);
		}
	}
	end_build(&g);
	for (size_t i = 0; i < SERVERS; i++)
		run_to_end(s[i]);
	move(&k, s, &state);
	while (k.place.offset < channel_end(s[k.server]->events))
		take(&k, s, &state);
	split(&k.got);
	whole(&once, g.dir);
	same(&k.got, &once);
	ck_assert_uint_gt(once.n, 300);
	release(&k.got);
	release(&once);
	for (size_t i = 0; i < SERVERS; i++)
		stream_free(s[i]);
	end_growth(&g);
}

/* Each task of the recording has its states in their order, the last of which is the recorded one. */
TEST(states)
{
	RELEASED(recorded, r);
	struct messages m;
	size_t ends = 0, runs = 0;

	recorded_read(&r, generated(200));
	whole(&m, generated(200));
	for (size_t i = 0; i < m.n; i++) {
		ends += is(&m.message[i], "task") && !strstr(m.message[i].data, "\"end_us\":null");
		runs += is(&m.message[i], "task") && strstr(m.message[i].data, "\"state\":\"running\"");
	}
	ck_assert_uint_eq(ends, r.sum.n_state[TASK_DONE] + r.sum.n_state[TASK_FAILED] +
			  r.sum.n_state[TASK_KILLED]);
	ck_assert_uint_ge(runs, r.sum.n_ran);
	release(&m);
}

TEST(ids)
{
	struct channel_place place;
	struct stream *s;

	begin(&s, generated(20));
	run_to_end(s);
	ck_assert_int_lt(stream_place(s, &place, "x", true), 0);
	ck_assert_int_lt(stream_place(s, &place, "1", true), 0);
	ck_assert_int_lt(stream_place(s, &place, "1.2.3", true), 0);
	ck_assert_int_lt(stream_place(s, &place, "1.-2", true), 0);
	ck_assert_int_eq(stream_place(s, &place, "1.2", true), 0);
	ck_assert_int_eq(stream_place(s, &place, "", false), 0);
	ck_assert_uint_eq(place.offset, channel_end(s->events));
	ck_assert_int_eq(stream_place(s, &place, NULL, true), 0);
	ck_assert_uint_eq(place.offset, 0);
	stream_free(s);
}

TEST(deleted)
{
	struct channel_place place = { 0 };
	struct messages m = { .n = 0 };
	struct growth g;
	struct stream *s;

	begin_growth(&g, generated(50));
	append(&g, 1, 2000);
	begin(&s, g.dir);
	stream_run(s);
	support_expect(NULL, 0, NULL, NULL, "rm -r %s", g.dir);
	run_to_end(s);
	read_until(s, &place, channel_end(s->events), &m.text);
	split(&m);
	ck_assert_uint_gt(m.n, 5);
	ck_assert_ptr_nonnull(strstr(m.message[m.n - 1].data, "\"reason\":\"deleted\""));
	release(&m);
	stream_free(s);
	end_growth(&g);
}

/* Left out, counted, and reported once. */
TEST(damage)
{
	const char *dir = support_tmpdir();
	struct messages m;
	size_t told = 0;

	support_writes(support_path("%s/build", dir), "buildbeat build 1\nimported: x\nbuildbeat: 1\n");
	support_writes(support_path("%s/tasks.log", dir), "buildbeat tasks 1\nopen\t1\ta\t5\nnoise\n"
		       "start\t2\ta.1\t9\t\tcompile\tx.o\n\1\2\3\nnote\t2\ta.1\t<b>\\n\"x\ndone\t3\ta.1\t0\nx\n");
	whole(&m, dir);
	for (size_t i = 0; i < m.n; i++)
		told += is(&m.message[i], "note") && strstr(m.message[i].data, "damaged lines");
	ck_assert_uint_eq(told, 1);
	ck_assert_uint_eq(m.n, 5);
	ck_assert_ptr_nonnull(strstr(m.message[1].data, "\"text\":\"<b>\\n\\\"x\""));
	ck_assert_ptr_nonnull(strstr(m.message[4].data, "\"damaged_lines\":3"));
	ck_assert_ptr_nonnull(strstr(m.message[2].data, "\"state\":\"done\""));
	release(&m);
}

TEST(lines)
{
	RELEASED(buf, text = BUF_INIT, out = BUF_INIT);

	buf_adds(&text, "id: 1.2\nevent: gap\ndata: {}\n\nid: 3.4\nevent: task\ndata: {\"id\":\"a\"}\n\n");
	stream_as_lines(&text, &out);
	ck_assert_str_eq(buf_str(&out), "{\"event\":\"gap\",\"at\":\"1.2\"}\n"
			 "{\"event\":\"task\",\"at\":\"3.4\",\"id\":\"a\"}\n");
}

/* The trace ends anywhere between two messages, and its events are those of the whole recording. */
TEST(trace)
{
	struct channel_place place = { 0 };
	struct buf text = BUF_INIT, ends = BUF_INIT;
	struct error err = { 0 };
	struct growth g;
	struct stream *s;
	uint64_t state = 1;

	begin_growth(&g, generated(300));
	begin(&s, g.dir);
	for (size_t n = 0; !grown(&g); n++) {
		append(&g, random_below(&state, ARRAY_SIZE(names)), 1 + random_below(&state, 4000));
		if (n == 10)
			ck_assert_int_eq(stream_want_trace(s, &err), 0);
		stream_run(s);
	}
	end_build(&g);
	run_to_end(s);
	ck_assert(stream_is_over(s, true));
	while (place.offset < channel_end(s->trace)) {
		ck_assert_int_eq(channel_read(s->trace, &place, 1 + random_below(&state, 20000), &text), 0);
		buf_addf(&ends, "%zu\n", text.len);
	}
	support_write(support_path("%s/trace", support_tmpdir()), text.data, text.len);
	support_write(support_path("%s/ends", support_tmpdir()), ends.data, ends.len);
	support_expect(support_tmpdir(), 0, "300\n", "", "python3 -c '\n"
		       "import json\nt = open(\"trace\", \"rb\").read()\n"
		       "ends = [int(x) for x in open(\"ends\")]\n"
		       "for e in ends[:-1]: json.loads(t[:e] + b\"]\")\n"
		       "for a, b in zip(ends, ends[1:]): assert t[a:a + 2] in (b\",\\n\", b\"\\n]\"), t[a:a + 9]\n"
		       "print(sum(1 for x in json.loads(t) if x[\"ph\"] == \"E\" and x[\"tid\"] > 1))'");
	buf_release(&text);
	buf_release(&ends);
	stream_free(s);
	end_growth(&g);
}

TEST_MAIN(stream);
