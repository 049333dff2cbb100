/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "live/reply.h"
#include "live/source.h"
#include "tests/support.h"

#include <stdlib.h>
#include <string.h>

/* Replies of the tracker, compared with `show` by a program that only reads JSON. */

static struct catalogue catalogue;
static struct source source;

/* A recording of 3,000 tasks with samples. */
static void start(void)
{
	struct error err;

	support_expect(NULL, 0, NULL, NULL,
		       "%s/tests/gen_recording %s/rec 3000", TOP_BUILDDIR, support_tmpdir());
	ck_assert_int_eq(catalogue_open(&catalogue, support_path("%s/rec", support_tmpdir()), &err), 0);
	ck_assert_int_eq(source_init(&source, &catalogue, catalogue.entry[0].id), 0);
}

static void stop(void)
{
	source_release(&source);
	catalogue_release(&catalogue);
	support_cleanup();
}

static int get(const char *path, const char *query, const char *to)
{
	struct reply reply = { .status = 0 };
	int status;

	reply_make(&reply, &source, path, query, strlen(query), false);
	status = reply.status;
	support_write(support_path("%s/%s", support_tmpdir(), to), reply.body.data, reply.body.len);
	buf_release(&reply.body);
	return status;
}

static void compare(const char *program)
{
	support_writes(support_path("%s/compare.py", support_tmpdir()), program);
	support_expect(support_tmpdir(), 0, "ok\n", "", "%s/buildbeat show --json rec > show.json && python3 -B compare.py",
		       TOP_BUILDDIR);
}

START_TEST(agrees_with_show)
{
	static const char *const metric[] = { "running", "waiting", "cpu", "memory", "read", "written" };
	static const char *const by[] = { "kind", "program", "recipe", "directory", "task" };

	for (size_t m = 0; m < ARRAY_SIZE(metric); m++) {
		for (size_t b = 0; b < ARRAY_SIZE(by); b++)
			ck_assert_int_eq(get("/api/tracker", support_path("metric=%s&by=%s&top=5", metric[m], by[b]),
					     support_path("%s-%s.json", metric[m], by[b])), 200);
	}
	compare("import json, glob\n"
		"show = json.load(open('show.json'))\n"
		"views = [json.load(open(f)) for f in sorted(glob.glob('*-*.json'))]\n"
		"assert len(views) == 30\n"
		"for v in views:\n"
		"    what = v['metric'], v['by']\n"
		"    assert len(v['total']) == v['points'] <= 300, what\n"
		"    own = [s for s in v['series'] if s['role'] != 'buildbeat']\n"
		"    for i, total in enumerate(v['total']):\n"
		"        parts = sum(s['values'][i] for s in own)\n"
		"        assert abs(parts - total) <= 6 + 1e-3 * total, (what, i, parts, total)\n"
		"    assert max(v['total']) == v['total'][v['peak']['point']], what\n"
		"    assert sum(s['role'] == 'group' for s in v['series']) <= 5, what\n"
		"    of = {s['name']: s['colour'] for s in v['series']}\n"
		"    assert v['by'] != 'kind' or of.get('compile', 0) == 0, of\n"
		"    assert v['by'] == 'kind' or all(c is None for c in of.values()), of\n"
		"    span = v['until_us'] - v['from_us']\n"
		"    if v['metric'] == 'memory':\n"
		"        assert v['peak']['total'] == show['memory']['tasks_peak_kb'] * 1024, v['peak']\n"
		"        assert v['peak']['time_us'] == show['memory']['tasks_peak_time_us'], v['peak']\n"
		"    if v['metric'] == 'running':\n"
		"        assert abs(v['mean'] * span - show['parallelism']['task_wall_us']) < span / 500, what\n"
		"    if v['metric'] == 'cpu':\n"
		"        assert abs(v['mean'] * span - show['totals']['cpu_us']) < span / 5000, what\n"
		"print('ok')\n");
}
END_TEST

START_TEST(classes_and_instances)
{
	ck_assert_int_eq(get("/api/classes", "metric=running&by=kind", "classes.json"), 200);
	ck_assert_int_eq(get("/api/class", "by=kind&name=compile&limit=1000", "a.json"), 200);
	ck_assert_int_eq(get("/api/class", "by=kind&name=compile&limit=1000&offset=1000&metric=running", "b.json"), 200);
	ck_assert_int_eq(get("/api/class", "by=kind&name=compile&limit=7&sort=-wall", "c.json"), 200);
	compare("import json, statistics\n"
		"show = json.load(open('show.json'))\n"
		"kinds = {k['kind']: k for k in show['kinds']}\n"
		"classes = json.load(open('classes.json'))\n"
		"assert abs(sum(c['share'] for c in classes['classes']) - 1) < 1e-3\n"
		"assert {c['name'] for c in classes['classes']} <= set(kinds)\n"
		"a, b, c = (json.load(open(f + '.json')) for f in 'abc')\n"
		"tasks = a['instances'] + b['instances']\n"
		"assert len({t['task'] for t in tasks}) == len(tasks) == min(2000, a['count'])\n"
		"assert a['count'] == kinds['compile']['tasks'], a['count']\n"
		"assert a['values']['wall_us']['count'] == a['count']\n"
		"starts = [t['start_us'] for t in tasks]\n"
		"assert starts == sorted(starts)\n"
		"if len(tasks) == a['count']:\n"
		"    walls = sorted(t['wall_us'] for t in tasks)\n"
		"    w = a['values']['wall_us']\n"
		"    assert (w['min'], w['max'], w['sum']) == (walls[0], walls[-1], sum(walls))\n"
		"    assert w['sum'] == kinds['compile']['wall_us'], w\n"
		"    assert w['median'] == int(statistics.median(walls)) and w['mean'] == sum(walls) // len(walls)\n"
		"    assert [t['wall_us'] for t in c['instances']] == walls[:-8:-1]\n"
		"mean = next(k for k in classes['classes'] if k['name'] == 'compile')['total']\n"
		"over = [p['total'] for p in b['over_time']]\n"
		"assert abs(sum(over) / len(over) - mean) < 1e-2, (sum(over) / len(over), mean)\n"
		"print('ok')\n");
}
END_TEST

static const struct { const char *path, *query, *message; int status; } refused[] = {
	{ "/api/tracker", "metric=colour", "metric: there is no 'colour'", 400 },
	{ "/api/tracker", "by=", "by: there is no ''", 400 },
	{ "/api/tracker", "from_us=9&until_us=8", "from_us is after until_us", 400 },
	{ "/api/tracker", "from_us=9&until_us=9", "there is no time", 400 },
	{ "/api/tracker", "from_us=-1", "from_us", 400 },
	{ "/api/tracker", "points=1001", "points", 400 },
	{ "/api/tracker", "top=0", "top", 400 },
	{ "/api/classes", "limit=1001", "limit", 400 },
	{ "/api/class", "by=kind", "no task has the kind ''", 404 },
	{ "/api/class", "by=kind&name=%3Cb%3E", "no task has the kind '<b>'", 404 },
	{ "/api/class", "by=kind&name=compile&sort=wall_us", "sort: there is no 'wall_us'", 400 },
	{ "/api/class", "by=kind&name=compile&sort=-", "sort: there is no '-'", 400 },
};

START_TEST(bad_parameters)
{
	const char *text;

	ck_assert_int_eq(get(refused[_i].path, refused[_i].query, "error"), refused[_i].status);
	text = support_text(support_path("%s/error", support_tmpdir()));
	ck_assert_msg(strstr(text, refused[_i].message) != NULL, "%s: %s", refused[_i].query, text);
}
END_TEST

START_TEST(times_beyond_the_build)
{
	ck_assert_int_eq(get("/api/tracker", "from_us=999999999999&until_us=1999999999999", "x"), 200);
	ck_assert_int_eq(get("/api/classes", "from_us=999999999999&until_us=999999999999", "x"), 200);
	ck_assert_int_eq(get("/api/tracker", "from_us=0&until_us=1&points=1000", "x"), 200);
	ck_assert_int_eq(get("/api/class", "by=kind&name=compile&offset=4000000000", "x"), 200);
}
END_TEST

TEST_PROGRAM(api_tracker)
{
	return support_main("api_tracker",
		TEST_GROUP_WITH("replies", start, stop),
		TEST(agrees_with_show),
		TEST(classes_and_instances),
		TEST_EACH(bad_parameters, refused),
		TEST(times_beyond_the_build));
}
