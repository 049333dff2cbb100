/* SPDX-License-Identifier: MIT */
#include "analyse/chain.h"
#include "analyse/metric.h"
#include "base/text.h"
#include "live/reply.h"
#include "live/source.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* Each row of the table of values, in each output: sorted by it, and with the values themselves. The order and the
 * texts are found here. */

#define TASKS 4
#define NO_VALUES "\t\t\t\t\t\t" "\t\t\t\t\t\t\t"	/* of a process, up to its delay */

static const char *const name[TASKS] = { "one", "two", "three", "four" };
static struct recorded r;
static struct chain chain;
static struct { int64_t n; const char *name; } expected[TASKS];	/* largest first */

/* No value has the order of another one's tasks, or that of the starts. */
static void start(void)
{
	const char *dir = support_path("%s/rec", support_tmpdir());

	support_expect(NULL, 0, "", "", "mkdir %s", dir);
	support_writes(support_path("%s/build", dir), "buildbeat build 1\ncwd: /src\ncores: 2\nend_us: 60000000\n"
		       "status: 0\ncommand: make\n");
	support_writes(support_path("%s/tasks.log", dir),
		"buildbeat tasks 1\n"
		"open\t500\ta\t100\t0\t100,1\tmake\t4.3\t/src\tmake\n"
		"queue\t600\ta.1\t\tone\t\n"
		"queue\t700\ta.2\t\ttwo\t\n"
		"queue\t13999000\ta.3\t\tthree\t\n"
		"queue\t14100000\ta.4\t\tfour\t\n"
		"start\t1000\ta.1\t101\t\t\tone\t\tcc -c one.c -o one\n"
		"done\t3001000\ta.1\t0\t1000000\t50000\t90000\t700\t30\t16\t800\t1\t900\t-1\t-1\t\t\t\t\t\t80000\n"
		"start\t4000000\ta.2\t102\t\t\ttwo\t\tar rc two x\n"
		"done\t13000000\ta.2\t0\t600000\t5000\t40000\t9000\t2\t400\t8\t60\t40\t-1\t-1\t\t\t\t\t\t6000000\n"
		"start\t14000000\ta.3\t103\t\t\tthree\t\tcp x three\n"
		"done\t15500000\ta.3\t0\t5000000\t700\t70000\t8000\t5\t90\t60\t700\t3\t-1\t-1\t\t\t\t\t\t91234567890\n"
		"start\t16000000\ta.4\t104\t\t\tfour\t\tld -o four x\n"
		"done\t22000000\ta.4\t0\t2000000\t9000\t8000\t5000\t7\t24\t2400\t20\t6\t-1\t-1\t\t\t\t\t\t70000\n"
		"close\t23000000\ta\t4\n");
	support_writes(support_path("%s/results.log", dir), "buildbeat results 1\nfiles\ta.1\t51200\tone\n"
		"files\ta.2\t2048000\ttwo\nfiles\ta.3\t4096\tthree\nfiles\ta.4\t4096000\tfour\n");
	support_writes(support_path("%s/processes.log", dir), "buildbeat processes 1\n"
		       "done\t3001000\t101\t100\t3000000\t9\tcc\t0" NO_VALUES "70000\n"
		       "done\t13000000\t102\t100\t9000000\t9\tar\t0" NO_VALUES "1200000\n"
		       "done\t15500000\t103\t100\t1500000\t9\tcp\t0" NO_VALUES "30000\n"
		       "done\t22000000\t104\t100\t6000000\t9\tld\t0" NO_VALUES "4000000\n");
	recorded_read(&r, dir);
	ck_assert_int_eq(chain_make(&chain, &r.sum), 0);
	wait_add_queues(&r.sum, &chain.waits);
}

static void stop(void)
{
	chain_release(&chain);
	recorded_release(&r);
	support_cleanup();
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x < y) - (x > y);
}

/* Values that differ; those of times begin with the first. */
static void expect(enum value v)
{
	for (size_t i = 0; i < TASKS; i++) {
		expected[i].n = value_get(v, &r.sum.nest[recorded_task(&r, name[i])].cost);
		expected[i].name = name[i];
		ck_assert_int_ge(expected[i].n, 0);
	}
	qsort(expected, TASKS, sizeof *expected, by_value);
	for (size_t i = 0; i < TASKS / 2 && v == VALUE_START; i++) {
		int64_t n = expected[i].n;
		const char *text = expected[i].name;

		expected[i] = expected[TASKS - 1 - i];
		expected[TASKS - 1 - i].n = n;
		expected[TASKS - 1 - i].name = text;
	}
	for (size_t i = 1; i < TASKS; i++)
		ck_assert_int_ne(expected[i].n, expected[i - 1].n);
}

static const char *show(struct run *out, const char *options, enum value v)
{
	support_run(out, support_tmpdir(), "COLUMNS=200 %s/buildbeat show %s --sort %s rec", TOP_BUILDDIR, options,
		    value_info[v].word);
	ck_assert_msg(!out->status, "%s", out->err.data);
	return out->out.data;
}

/* The line behind `title` has the column, the next ones the tasks in their order. */
static void check_list(const char *text, const char *title, enum value v)
{
	const char *at = strstr(text, title), *head;

	ck_assert_msg(at, "no '%s' in\n%s", title, text);
	head = at + strlen(title);
	at = strchr(head, '\n');
	ck_assert_msg(memmem(head, (size_t)(at - head), value_info[v].title, strlen(value_info[v].title)),
		      "no column %s in %s", value_info[v].title, head);
	for (size_t i = 0; i < TASKS; i++) {
		struct buf n = BUF_INIT;
		const char *row = strstr(at, expected[i].name), *end;

		ck_assert_msg(row, "%s is not at its place by %s:\n%s", expected[i].name, value_info[v].word, text);
		end = row;
		while (*row != '\n')
			row--;
		value_add(&n, v, expected[i].n);
		buf_addc(&n, ' ');
		at = memmem(row, (size_t)(end - row), n.data, n.len);
		ck_assert_msg(at && strchr(" \n", at[-(at > row)]), "%s without %s by %s:\n%s",
			      expected[i].name, buf_str(&n), value_info[v].word, text);
		at = end;
		buf_release(&n);
	}
}

TEST_GROUP_WITH("outputs", start, stop);

TEST_LOOP(texts, VALUES)
{
	const enum value v = (enum value)_i;
	char title[80];
	struct run out;

	expect(v);
	snprintf(title, sizeof title, "\n%s\n", value_info[v].list);
	check_list(show(&out, "", v), title, v);
	snprintf(title, sizeof title, "\n#### %s\n\n", value_info[v].list);
	check_list(show(&out, "--markdown", v), title, v);
	check_list(show(&out, "--tasks", v), "", v);
}

/* By the name, each task is a group. */
TEST_LOOP(groups, VALUES)
{
	const enum value v = (enum value)_i;
	struct run out;

	expect(v);
	check_list(show(&out, "--by target", v), "\nTime by target\n", v);
	check_list(show(&out, "--markdown --by target", v), "\n#### Time by target\n\n", v);
}

/* Objects of the tasks in their order, with the value. */
static void check_objects(const char *at, enum value v)
{
	for (size_t i = 0; i < TASKS; i++) {
		const char *key = support_path("\"%s\":%lld", value_info[v].key, (long long)expected[i].n);

		at = strstr(at, support_path("\"name\":\"%s\"", expected[i].name));
		ck_assert_msg(at, "%s is not at its place by %s", expected[i].name, value_info[v].word);
		at = strstr(at, key);
		ck_assert_msg(at && strchr(",}", at[strlen(key)]), "no %s", key);
	}
}

TEST_LOOP(json, VALUES)
{
	const enum value v = (enum value)_i;
	char text[80];
	struct run out;
	const char *at;

	expect(v);
	snprintf(text, sizeof text, "\"by_%s\": [", value_info[v].word);
	at = strstr(show(&out, "--json", v), text);
	ck_assert_msg(at, "no %s", text);
	check_objects(at, v);
}

/* Those that are no times of the queue or the run, which profile has in other columns. */
TEST_RANGE(profiles, VALUE_CPU, VALUES)
{
	const enum value v = (enum value)_i;
	struct run out;

	expect(v);
	support_run(&out, support_tmpdir(), "%s/buildbeat profile --by none --columns %s,name,line --sort %s rec", TOP_BUILDDIR,
		    value_info[v].word, value_info[v].word);
	check_list(strchr(out.out.data, '\n'), "\n", v);
	support_run(&out, support_tmpdir(), "%s/buildbeat profile --by none --json --sort %s rec | tr -d ' \n'", TOP_BUILDDIR,
		    value_info[v].word);
	for (size_t i = 0; i < TASKS; i++)
		ck_assert_ptr_nonnull(strstr(out.out.data, support_path("\"%s\":%lld", value_info[v].key,
									(long long)expected[i].n)));
}

static void get(struct buf *out, struct source *s, const char *path, const char *query)
{
	struct reply reply = { .status = 0 };

	reply_make(&reply, s, path, query, strlen(query), false);
	ck_assert_msg(reply.status == 200, "%s?%s: %s", path, query, buf_str(&reply.body));
	buf_clear(out);
	buf_add(out, reply.body.data, reply.body.len);
	buf_release(&reply.body);
}

/* The live pages: the table of tasks, a class of tasks (all: none has a recipe), and the columns of both. */
TEST_LOOP(replies, VALUES)
{
	const enum value v = (enum value)_i;
	RELEASED(catalogue, catalogue);
	const char *at;
	char query[80];
	RELEASED(buf, out = BUF_INIT);
	RELEASED(source, source);
	struct error err;

	expect(v);
	ck_assert_int_eq(catalogue_open(&catalogue, support_path("%s/rec", support_tmpdir()), &err), 0);
	ck_assert_int_eq(source_init(&source, &catalogue, catalogue.entry[0].id), 0);
	snprintf(query, sizeof query, "by=recipe&sort=%s%s", v == VALUE_START ? "" : "-", value_info[v].word);
	get(&out, &source, "/api/v1/table", strchr(query, '&') + 1);
	check_objects(strstr(buf_str(&out), "\"tasks\":"), v);
	get(&out, &source, "/api/v1/class", query);
	check_objects(strstr(buf_str(&out), "\"tasks\":"), v);
	if (v != VALUE_START)
		ck_assert_ptr_nonnull(strstr(out.data, support_path("\"%s\":{\"count\":%d,", value_info[v].key, TASKS)));
	get(&out, &source, "/api/v1/", "");
	ck_assert_ptr_nonnull(strstr(buf_str(&out), support_path("\"key\": \"%s\"", value_info[v].key)));
	at = strstr(out.data, "\"metrics\": [");
	for (enum metric m = 0; m < METRICS; m++) {
		at = strstr(at, support_path("\"title\": \"%s\"", metric_info[m].title));
		ck_assert_ptr_nonnull(at);
	}
}

TEST_GROUP("table");

/* What builds are compared by is a value of a task, with its word, name and unit; memory says of what. */
TEST(metrics)
{
	int n = 0;

	for (enum metric m = 0; m < METRICS; m++) {
		for (enum value v = 0; v < VALUES; v++) {
			if (strcmp(value_word[v], metric_word[m]))
				continue;
			ck_assert_int_eq(value_info[v].unit, metric_info[m].unit);
			ck_assert_int_eq(strncmp(value_info[v].name, metric_info[m].title,
						 strlen(value_info[v].name)), 0);
			n++;
		}
	}
	ck_assert_int_eq(n, METRICS - 1);	/* METRIC_PEAK is another one */
}

/* What is wanted of every row. */
TEST_LOOP(complete, VALUE_SORTS)
{
	const struct value_info *i = &value_info[_i];

	ck_assert(i->word && i->title && i->name && i->list && (_i == VALUE_NAME || (i->key && (i->of || _i >= VALUE_COUNTED))));
	ck_assert(_i == VALUE_NAME || (i->counts != NULL) == (_i >= VALUE_COUNTED));
	ck_assert_uint_le(strlen(i->title), 7);		/* columns of show */
	ck_assert_str_eq(value_word[_i], i->word);
	for (int k = 0; k < _i; k++)
		ck_assert(strcmp(i->word, value_info[k].word) && strcmp(i->title, value_info[k].title));
	ck_assert_ptr_null(value_word[VALUE_SORTS]);
}

TEST_MAIN(value);
