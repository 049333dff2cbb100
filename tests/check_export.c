/* SPDX-License-Identifier: MIT */
/* Recordings as traces of Chrome and Perfetto, read by strict readers of both. */
#include "base/json.h"
#include "recording/event.h"
#include "tests/recorded.h"
#include "tests/support.h"
#include "trace/trace_formats.h"

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"
#define PROTO TOP_SRCDIR "/tests/data/perfetto/perfetto.proto"
#define OPEN "open\t0\tx\t1\t0\t1\tninja\t1.12\t/src\tninja\n"

static const char *file(const char *name)
{
	return support_path("%s/%s", support_tmpdir(), name);
}

static void read_it(const char *what)
{
	support_expect(support_tmpdir(), 0, NULL, "", "python3 -B %s/tests/trace_reader.py %s",
		       TOP_SRCDIR, what);
}

static void write_both(const struct recording *rec, const char *name)
{
	RELEASED(buf, tasks = BUF_INIT);
	struct error err;
	struct json j;

	ck_assert(!tracefile_chrome(rec, support_path("%s/%s.json", support_tmpdir(), name), &err));
	ck_assert(!tracefile_perfetto(rec, support_path("%s/%s.pftrace", support_tmpdir(), name), &err));
	json_init(&j, &tasks, true);
	json_array(&j, NULL);
	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		if (t->start_us < 0)
			continue;
		json_array(&j, NULL);
		json_int(&j, NULL, t->instance + 1);
		json_int(&j, NULL, t->start_us);
		json_int(&j, NULL, recording_task_end_us(rec, t));
		json_str(&j, NULL, *t->name ? t->name : t->kind);
		json_array_end(&j);
	}
	json_array_end(&j);
	support_write(support_path("%s/%s.tasks", support_tmpdir(), name), tasks.data, tasks.len);
}

static void check_both(const struct recording *rec)
{
	write_both(rec, "x");
	read_it("both " PROTO " x");
}

static const char *const whole[] = { "nested", "cut" };

TEST_EACH(recordings, whole)
{
	RELEASED(recorded, r);

	recorded_read(&r, support_path("%s/tests/data/recordings/%s", TOP_SRCDIR, whole[_i]));
	check_both(&r.rec);
}

TEST(nothing)
{
	struct recorded r;

	recorded_make(&r, "", "", NULL);
	check_both(&r.rec);
	recorded_release(&r);
	recorded_make(&r, "", OPEN "queue\t1\tx.1\t\t\t\tnever\n", NULL);
	check_both(&r.rec);
	recorded_release(&r);
}

TEST_LOOP(random_tasks, 12)
{
	RELEASED(recorded, r);

	recorded_random(&r, 1 + (unsigned)_i * 17, (uint64_t)_i);
	check_both(&r.rec);
}

/* Spans that nest, overlap, outlive their task, begin before it or never end. */

static uint64_t seed;

static const char *const names[] = {
	"a", "\"", "\\", "\n", "\x7f", "</script>", "\xff\xfe", "caf\xc3\xa9", ("\xe2\x80\xae" "evil"),
	"{\"ph\":\"X\"}", "%s%n", "a name with more than forty characters, which is no short one", "",
};

static const char *any_name(void)
{
	return names[random_below(&seed, ARRAY_SIZE(names))];
}

static void add_spans(struct buf *b, uint64_t seq, int64_t from, int64_t until)
{
	uint64_t n = random_below(&seed, 6), length = (uint64_t)(until - from) + 3;

	for (uint64_t k = 1; k <= n; k++) {
		int64_t begin = from - 1 + (int64_t)random_below(&seed, length);
		int64_t end = begin + (int64_t)random_below(&seed, length);

		event_add_span_begin(b, begin > 0 ? begin : 0, "x", seq, k, any_name());
		if (random_below(&seed, 10))
			event_add_span_end(b, end > 0 ? end : 0, "x", seq, k);
	}
}

static void add_task(struct buf *b, uint64_t seq)
{
	int64_t start = (int64_t)random_below(&seed, 200), end = start + (int64_t)random_below(&seed, 30);
	struct event_task e = { .pid = 9, .slot = -1, .name = any_name(), .key = any_name(),
				.command = any_name() };
	const char *after[] = { "a", "other", any_name() }, *out[] = { "other" };
	struct event_end ended;

	event_end_init(&ended, 0);
	event_add_start(b, start, "x", seq, &e);
	event_add_after(b, start, "x", seq, after, random_below(&seed, 4));
	event_add_out(b, start, "x", seq, out, random_below(&seed, 5) == 0);
	add_spans(b, seq, start, end);
	if (random_below(&seed, 10))
		event_add_end(b, end, "x", seq, &ended);
	if (!random_below(&seed, 4))
		event_add_note(b, start, "x", seq, any_name());
}

TEST_LOOP(random_spans, 12)
{
	RELEASED(buf, b = BUF_INIT);
	RELEASED(recorded, r);

	seed = (uint64_t)_i;
	buf_adds(&b, OPEN);
	add_spans(&b, 0, 0, 200);
	for (uint64_t i = 1; i <= 40; i++)
		add_task(&b, i);
	recorded_make(&r, "host: forge\n", buf_str(&b), NULL);
	check_both(&r.rec);
}

/* A sub-make in each of 32 tasks. */
TEST(sub_makes)
{
	RELEASED(buf, b = BUF_INIT);
	RELEASED(recorded, r);

	buf_adds(&b, "open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake -j32\n");
	for (int i = 1; i <= 32; i++) {
		buf_addf(&b, "start\t%d\tm.%d\t%d\t\t\tall%d\n", i, i, 100 + i, i);
		buf_addf(&b, "open\t%d\ts%d\t%d\t1\t%d,%d,10\tmake\t4.3\t/src/%d\tmake\n", i + 50, i,
			 200 + i, 200 + i, 100 + i, i);
		buf_addf(&b, "start\t%d\ts%d.1\t%d\t\t\tx.o\ndone\t%d\ts%d.1\n", i + 60, i, 300 + i,
			 i + 90, i);
		buf_addf(&b, "close\t%d\ts%d\ndone\t%d\tm.%d\n", i + 100, i, i + 110, i);
	}
	recorded_make(&r, "", buf_str(&b), NULL);
	check_both(&r.rec);
	ck_assert_ptr_nonnull(strstr(support_text(file("x.json")), "\"pid\":33,"));
	ck_assert_ptr_nonnull(strstr(support_text(file("x.json")), "\"name\":\"child\""));
}

/* How many arrows of a kind. */
static unsigned arrows(const char *kind)
{
	const char *p = support_text(file("x.json"));
	const char *want = support_path("\"name\":\"%s\"}", kind);
	unsigned n = 0;

	while ((p = strstr(p, want))) {
		n++;
		p++;
	}
	return n;
}

TEST(kinds_of_arrows)
{
	RELEASED(recorded, r);

	recorded_make(&r, "", OPEN
		      "start\t0\tx.1\t\t\t\tparse.c\nout\t0\tx.1\tparse.h\ndone\t50\tx.1\n"
		      "start\t60\tx.2\t\t\t\tmain.o\nafter\t60\tx.2\tparse.h\tmain.c\ndone\t90\tx.2\n"
		      "start\t61\tx.3\t\t\t\tparse.o\nafter\t61\tx.3\tparse.c\tparse.h\ndone\t99\tx.3\n"
		      "start\t97\tx.4\t\t\t\tprog\nafter\t97\tx.4\tmain.o\tparse.o\tmain.o\ndone\t120\tx.4\n",
		      NULL);
	check_both(&r.rec);
	ck_assert_uint_eq(arrows("file"), 1);
	ck_assert_uint_eq(arrows("dependency"), 3);	/* prog began 2 us before parse.o had ended */
}

TEST(every_cut)
{
	RELEASED(recorded, r);

	recorded_make(&r, "cwd: /\"}\\n,\nsource: a\nsource: b\n", OPEN "start\t0\tx.1\t\t\t\ta},\ndone\t50\tx.1\n"
		      "start\t60\tx.2\t\t\t\tb]\nafter\t60\tx.2\ta},\ndone\t90\tx.2\n", NULL);
	check_both(&r.rec);
	read_it("cut x.json");
}

TEST(packed)
{
	const char *trace = TOP_SRCDIR "/tests/data/recordings/nested";

	support_expect(support_tmpdir(), 0, NULL, "",
		       "%s export --to chrome -o p.json.gz %s && %s export --to chrome -o p.json %s && "
		       "gzip -dc p.json.gz | cmp - p.json && "
		       "%s export --to perfetto -o p.pftrace.gz %s && %s export --to perfetto -o p.pftrace %s && "
		       "gzip -dc p.pftrace.gz | cmp - p.pftrace", BUILDBEAT, trace, BUILDBEAT, trace,
		       BUILDBEAT, trace, BUILDBEAT, trace);
}

/* "-": what the file would have, and nothing else. */
TEST(standard_output)
{
	const char *dir = support_tmpdir();

	support_expect(dir, 0, "json 0\nlogs.json 0\nmetrics.json 0\notlp.json 0\npftrace 0\nprom 0\n", "",
		       "cp -r %s/tests/data/recordings/nested r; printf 'a\\n' >r/output.log; "
		       "printf 'buildbeat output 1\\n15 0 1 2\\n' >r/output_index.log; "
		       "for f in chrome perfetto otlp otlp-logs otlp-metrics prometheus; do "
		       "%s export --to $f r >name && mv $(cat name) a && %s export --to $f -o - r >b && "
		       "cmp a b; r=$?; echo $(cut -c 3- name) $r; done | sort",
		       TOP_SRCDIR, BUILDBEAT, BUILDBEAT);
	support_expect(dir, 0, NULL, "", "for f in chrome perfetto; do %s export --to $f -o m r r >name && "
		       "%s export --to $f -o - r r | cmp - m && rm m || exit; done; test ! -e -",
		       BUILDBEAT, BUILDBEAT);
	support_refuses(dir, "export --to oe -o - r", "cannot be written to standard output");
	support_expect(dir, 2, "", "standard output: cannot write: No space left on device",
		       "%s export --to chrome -o - r >/dev/full", BUILDBEAT);
}

/* Two machines and one with the name of the first: a common time line. */
TEST(several_machines)
{
	const char *dir = support_tmpdir();

	support_expect(dir, 0, NULL, "",
		       "for i in 1 2 3; do cp -r %s/tests/data/recordings/nested r$i; done && "
		       "sed -i 's/^host:.*/host: b/; s/^start_mono_ns:.*/start_mono_ns: 7000000000/; "
		       "s/^start_wall_ns: .*/start_wall_ns: 1795254192358544204/' r2/build && "
		       "%s export --to perfetto -o m.tar r1 r2 r3 && tar xf m.tar && "
		       "%s export --to chrome -o m.json r1 r2 r3", TOP_SRCDIR, BUILDBEAT, BUILDBEAT);
	read_it("chrome m.json");
	ck_assert_str_eq(support_text(file("perfetto_manifest.json")), "{\"perfetto_manifest\":"
		"{\"version\":1,\"trace_time\":{\"clock\":\"REALTIME\",\"file\":\"1-forge.pftrace\"},\"files\":[{\"path\":\"1-forge.pftrace\",\"machine\":{\"name\":\"forge\"}},"
		"{\"path\":\"2-b.pftrace\",\"machine\":{\"name\":\"b\"},\"clocks\":{\"clock\":\"BOOTTIME\","
		"\"sync_to\":{\"file\":\"1-forge.pftrace\",\"clock\":\"BOOTTIME\"},\"offset_ns\":3933221902654}},"
		"{\"path\":\"3-forge--2-.pftrace\",\"machine\":{\"name\":\"forge (2)\"},\"clocks\":{\"clock\":\"BOOTTIME\","
		"\"sync_to\":{\"file\":\"1-forge.pftrace\",\"clock\":\"BOOTTIME\"},\"offset_ns\":0}}]}}\n");
	support_expect(dir, 0, NULL, "", "%s export --to chrome -o 1.json r1 && grep -c '\"X\"' 1.json >n && "
		       "test $((3 * $(cat n))) = $(grep -c '\"X\"' m.json) && "
		       "grep -q '\"args\":{\"name\":\"forge (2) make\"}' m.json && "
		       "grep '\"X\"' 1.json | sed 's/.*\"ts\":\\([0-9]*\\).*/\\1/' | sort -n | awk '{print $1 + 50000}' >a && "
		       "grep '\"X\"' m.json | sed -n 's/.*\"pid\":[345],.*\"ts\":\\([0-9]*\\).*/\\1/p' | sort -n | cmp a -",
		       BUILDBEAT);
	support_expect(dir, 0, NULL, "", "for f in [123]-*.pftrace; do "
		       "protoc -I %s/tests/data/perfetto --decode=Trace perfetto.proto <$f >/dev/null || exit; done",
		       TOP_SRCDIR);
	support_refuses(dir, "export --to chrome r1 r2", "option '--output' is missing");
	support_refuses(dir, "export --to oe -o x r1 r2", "at most one recording");
	support_refuses(dir, "export --to chrome --follow -o x r1 r2", "at most one recording");
}

TEST_PROGRAM(export)
{
	SKIP_PROGRAM_IF(!support_has("protoc") || !support_has("python3"));
	return support_main();
}
