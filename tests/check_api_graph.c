/* SPDX-License-Identifier: MIT */
#include "live/reply.h"
#include "live/source.h"
#include "tests/support.h"

#include <string.h>

/* Replies about dependencies and what a build need not have, of a real make. */

static struct catalogue catalogue;
static struct source source;

/* A cycle, a process that outlives its task, and a target that nobody needs. */
static const char makefile[] =
	"all: a unread\na: b\n\t@cp b a\nb: c\n\t@cp c b\nc: a d\n\t@cp d c\n"
	"d:\n\t@(sleep 1 > /dev/null 2>&1 &) ; echo > d\nunread: c\n\t@sleep 1.5 ; echo > unread\n.PHONY: all\n";

static void start(void)
{
	struct error err;

	support_writes(support_path("%s/Makefile", support_tmpdir()), makefile);
	support_expect(support_tmpdir(), 0, NULL, NULL,
		       "%s/buildbeat record --log --processes -n one -- "
		       "make all", TOP_BUILDDIR);
	ck_assert_int_eq(catalogue_open(&catalogue, support_path("%s/buildstats/one", support_tmpdir()), &err), 0);
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

static void holds(const char *program)
{
	support_writes(support_path("%s/holds.py", support_tmpdir()), program);
	support_expect(support_tmpdir(), 0, "ok\n", "", "python3 -B holds.py");
}

START_TEST(around_a_task)
{
	ck_assert_int_eq(get("/api/graph", "task=b&up=5&down=5", "b.json"), 200);
	ck_assert_int_eq(get("/api/graph", "task=b&up=1&down=0", "up.json"), 200);
	ck_assert_int_eq(get("/api/graph", "task=c&up=5&down=5&nodes=1", "one.json"), 200);
	holds("import json\n"
	      "g = json.load(open('b.json'))\n"
	      "names = [n['name'] for n in g['nodes']]\n"
	      "assert sorted(names) == ['a', 'b', 'c', 'd'], names\n"
	      "edges = {(names[e['from']], names[e['to']]) for e in g['edges'] if e['kind'] == 'target'}\n"
	      "assert edges == {('d', 'c'), ('c', 'b'), ('b', 'a')}, edges\n"
	      "layer = {n['name']: n['layer'] for n in g['nodes']}\n"
	      "assert layer['d'] < layer['c'] < layer['b'] < layer['a'], layer\n"
	      "assert {n['name']: n['distance'] for n in g['nodes']} == {'a': 1, 'b': 0, 'c': -1, 'd': -2}\n"
	      "assert (g['needs'], g['needed_by'], g['hidden']) == (1, 1, 0)\n"
	      "for n in g['nodes']:\n"
	      "    assert 0 <= n['x'] <= g['width'] - g['node_width'] and 0 <= n['y'] <= g['height'] - g['node_height']\n"
	      "    assert n['state'] == 'done' and n['task'] and n['wall_us'] >= 0\n"
	      "up = json.load(open('up.json'))\n"
	      "assert sorted(n['name'] for n in up['nodes']) == ['b', 'c']\n"
	      "one = json.load(open('one.json'))\n"
	      "tasks = [n for n in one['nodes'] if n['more'] is None]\n"
	      "assert [n['name'] for n in tasks] == ['c'] and one['hidden'] == 3, one\n"
	      "assert sorted((n['distance'], n['more']) for n in one['nodes'][1:]) == [(-1, 1), (1, 2)], one\n"
	      "print('ok')\n");
}
END_TEST

START_TEST(what_need_not_be)
{
	ck_assert_int_eq(get("/api/garbage", "", "garbage.json"), 200);
	ck_assert_int_eq(get("/api/graph", "cycle=0", "cycle.json"), 200);
	holds("import json\n"
	      "g = json.load(open('garbage.json'))\n"
	      "c = g['cycles']\n"
	      "assert c['has_output'] and c['count'] == 1 and c['reported'] == 1, c\n"
	      "i = c['items'][0]\n"
	      "assert sorted(i['names']) == ['a', 'b', 'c'] and i['objects'] == 3 and i['tasks'] == 3 and i['whole'], i\n"
	      "o = g['outputs']\n"
	      "assert o['known'] and sorted(x['name'] for x in o['items']) == ['a', 'unread'], o\n"
	      "cycle = json.load(open('cycle.json'))\n"
	      "names = [n['name'] for n in cycle['nodes']]\n"
	      "edges = {(names[e['from']], names[e['to']], e['kind']) for e in cycle['edges']}\n"
	      "assert edges == {('a', 'c', 'reported'), ('c', 'b', 'recorded'), ('b', 'a', 'recorded')}, edges\n"
	      "assert sum(e['upwards'] for e in cycle['edges']) == 1\n"
	      "p = g['processes']\n"
	      "assert p['recorded'] > 5, p\n"
	      "if p['count']:\n"
	      "    assert any(x['command'] == 'sleep 1' and x['of']['name'] == 'd' for x in p['items']), p\n"
	      "print('ok')\n");
}
END_TEST

static const struct { const char *path, *query, *message; int status; } refused[] = {
	{ "/api/graph", "task=zz", "zz", 404 },
	{ "/api/graph", "cycle=1", "there is no such cycle", 404 },
	{ "/api/graph", "cycle=x", "cycle", 400 },
	{ "/api/graph", "up=51", "up", 400 },
	{ "/api/graph", "nodes=0", "nodes", 400 },
	{ "/api/garbage", "limit=-1", "limit", 400 },
};

START_TEST(bad_parameters)
{
	const char *text;

	ck_assert_int_eq(get(refused[_i].path, refused[_i].query, "error"), refused[_i].status);
	text = support_text(support_path("%s/error", support_tmpdir()));
	ck_assert_msg(strstr(text, refused[_i].message) != NULL, "%s: %s", refused[_i].query, text);
}
END_TEST

TEST_PROGRAM(api_graph)
{
	SKIP_PROGRAM_IF(!support_can_be_loaded());
	return support_main("api_graph", TEST_GROUP_ONCE("replies", start, stop), TEST(around_a_task),
			    TEST(what_need_not_be), TEST_EACH(bad_parameters, refused));
}
