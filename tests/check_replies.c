/* SPDX-License-Identifier: MIT */
#include "live/reply.h"
#include "live/source.h"
#include "tests/support.h"

#include <sys/stat.h>

/* Replies have what the commands print, of recordings of several kinds. */

static void same(const char *served, const char *pairs)
{
	support_expect(support_tmpdir(), 0, "", NULL,
		       "python3 -B " TOP_SRCDIR "/tests/replies.py " TOP_BUILDDIR
		       "/tests/ask " TOP_BUILDDIR "/buildbeat %s %s", served, pairs);
}

static const char of_recording[] =
	"/api/v1/show 'show {} --json' "
	"'/api/v1/show?tasks=1' 'show {} --json --tasks' "
	"'/api/v1/show?top=3&sort=memory' 'show {} --json --top 3 --sort memory' "
	"'/api/v1/show?failed=1&tasks=1' 'show {} --json --failed --tasks' "
	"'/api/v1/show?kind=compile' 'show {} --json --kind compile' "
	"'/api/v1/show?filter=*.o&tasks' 'show {} --json --filter *.o --tasks' "
	"'/api/v1/profile?pairs=1&processes=1&top=10000' 'profile {} --json' "
	"'/api/v1/profile?pairs=1&processes=1&top=10000&filter=o&reverse&sort=cpu' "
	"'profile {} --json --filter o --reverse --sort cpu'";

/* A build of make, a truncated one, one with processes, an example. */
static const char *const recordings[] = {
	TOP_SRCDIR "/tests/data/recordings/nested", TOP_SRCDIR "/tests/data/recordings/cut",
	TOP_SRCDIR "/tests/data/processes/make", TOP_SRCDIR "/tests/data/example/buildstats",
};

TEST_EACH(recording, recordings)
{
	same(recordings[_i], of_recording);
}

/* Of other tools: BitBake's directory and ninja's log. */
TEST(imported)
{
	struct run r;

	same(TOP_SRCDIR "/tests/data/oe/genuine", of_recording);
	/* without processes */
	support_expect(NULL, 0, "0 0\n", "", "for path in /api/v1/ps /api/v1/garbage; do echo $path; done | "
		       TOP_BUILDDIR "/tests/ask " TOP_SRCDIR "/tests/data/oe/genuine | python3 -c '"
		       "import json, sys; r = [json.loads(l) for l in sys.stdin if l[0] == \"{\"]\n"
		       "print(r[0][\"n_processes\"], r[1][\"processes\"][\"n_recorded\"])'");
	support_run(&r, NULL, "find " TOP_SRCDIR "/tests/data/convert/ninja -name '*ninja_log*' | sort | head -1");
	r.out.data[strcspn(r.out.data, "\n")] = '\0';
	same(r.out.data, of_recording);
}

TEST(generated)
{
	const char *dir = support_tmpdir();

	support_expect(dir, 0, NULL, "", TOP_BUILDDIR "/tests/gen_recording b/one 3000 && "
		       TOP_BUILDDIR "/tests/gen_recording b/two 3000 20 7");
	same("b/one", of_recording);
	same("b", "'/api/v1/compare?a=one&b=two&tasks=1' 'diff {}/one {}/two --json' "
	     "/api/v1/recordings 'list {} --json'");
}

TEST(archive)
{
	support_expect(support_tmpdir(), 0, NULL, NULL, TOP_BUILDDIR "/tests/gen_archive --tasks 40 "
		       "--builds 25 r.git");
	same("r.git", "/api/v1/history 'history --repo {} --json' "
	     "/api/v1/history?of=wall 'history --repo {} --json wall' "
	     "/api/v1/check 'check --repo {} --json'");
}

/* Lines of the output, in pages and of a task, are those of `log`. */
TEST(output)
{
	const char *dir = support_tmpdir();

	support_writes(support_path("%s/Makefile", dir),
		       "all: a b\n"
		       "a:\n\t@printf 'one\\n\\033[31mtwo\\033[0m\\n'; sleep 0.05\n"
		       "b: a\n\t@echo three; false\n");
	support_expect(dir, 2, NULL, NULL, TOP_BUILDDIR "/buildbeat record --log -o s -- make");
	support_expect(dir, 0, "['one', 'three', 'two'] 4 True\n['two'] 4\n['one', 'two'] 2\n['three']\nTrue\n", "",
		       "ask() { echo \"$1\" | " TOP_BUILDDIR "/tests/ask s | sed 1d; }\n"
		       "ask /api/v1/log | python3 -c 'import json, sys; r = json.load(sys.stdin)\n"
		       "print(sorted(l[\"text\"] for l in r[\"lines\"])[1:], r[\"n_lines\"], r[\"recorded\"])'\n"
		       "ask '/api/v1/log?from=1&count=1' | python3 -c 'import json, sys; r = json.load(sys.stdin)\n"
		       "print([l[\"text\"] for l in r[\"lines\"]], r[\"n_lines\"])'\n"
		       "ask '/api/v1/log?task=a' | python3 -c 'import json, sys; r = json.load(sys.stdin)\n"
		       "print([l[\"text\"] for l in r[\"lines\"]], r[\"n_lines\"])'\n"
		       "ask '/api/v1/log?filter=THR' | python3 -c 'import json, sys; r = json.load(sys.stdin)\n"
		       "print([l[\"text\"] for l in r[\"lines\"]])'\n"
		       "ask /api/v1/overview | python3 -c 'import json, sys; print(json.load(sys.stdin)[\"output_recorded\"])'\n");
}

/* Windows of lines are the same wherever reading begins, also of two streams and long lines. Lines of a task,
 * of no known task and with a text are in the same order. */
TEST(windows)
{
	const char *dir = support_tmpdir();

	support_writes(support_path("%s/Makefile", dir),
		       "all: a b\n"
		       "a:\n\t@seq 3000; printf 'begun' >&2; seq 3001 3500; echo ' more' >&2; "
		       "head -c 200000 /dev/zero | tr '\\0' x; echo; printf '\\033[31mred\\0 \\377\\033[0m\\n'; sleep 0.05\n"
		       "b: a\n\t@seq 5000; echo 'b.c:1: error: b'; false\n");
	support_expect(dir, 2, NULL, NULL, TOP_BUILDDIR "/buildbeat record --log -o s -- make >out 2>err");
	support_expect(dir, 0, "same\n", "", "python3 -B " TOP_SRCDIR "/tests/replies_output.py "
		       TOP_BUILDDIR "/tests/ask s");
}

/* A task, and its state, are the same in all replies, while its build runs and later. */
#define STATES "python3 -B " TOP_SRCDIR "/tests/replies_states.py " TOP_BUILDDIR "/tests/ask "

TEST(states)
{
	const char *dir = support_tmpdir();

	support_writes(support_path("%s/Makefile", dir), "all: a d f b\na:\n\t@true\n.PHONY: d\nd: a\n\t@$(MAKE) -sC d\n"
		       "f: d\n\t@exit 3\nb: d\n\t@touch go; until [ -e stop ]; do sleep 0.02; done\n");
	mkdir(support_path("%s/d", dir), 0700);
	support_writes(support_path("%s/d/Makefile", dir), "x:\n\t@true\n");
	support_expect(dir, 0, "running done done done failed running\nended done done done failed done\n", "",
		       TOP_BUILDDIR "/buildbeat record -o s -- make -k 2>err & pid=$!\n"
		       "until [ -e go ]; do sleep 0.02; done\n"
		       STATES "s; touch stop; wait $pid; " STATES "s\n");
	support_expect(TOP_SRCDIR "/tests/data/recordings", 0,
		       "ended unfinished done unfinished unfinished\n", "", STATES "cut");
}

/* Values of the recording itself, which are there, equal those of a copy, which is read. */
TEST(trend)
{
	support_expect(support_tmpdir(), 0, "2 1 True\n2 1 True\n", "",
		       "mkdir b && cp -r " TOP_SRCDIR "/tests/data/recordings/nested b/one && cp -r b/one b/two\n"
		       "for i in 1 2; do echo '/api/v1/trend?task=sub.1'; done | " TOP_BUILDDIR "/tests/ask b |\n"
		       "grep -v '^200 ' | sed 's/}200 .*/}/' | python3 -c 'import json, sys\n"
		       "for line in sys.stdin.read().replace(\"}{\", \"}\\n{\").splitlines():\n"
		       "    b = json.loads(line)[\"builds\"]\n"
		       "    k = {tuple(v for key, v in x.items() if key != \"name\") for x in b}\n"
		       "    print(len(b), len(k), \"150000\" in line)'");
}

/* A part of the table is that part of the whole order, and a filter leaves the rest as it is. */
TEST(table)
{
	support_expect(support_tmpdir(), 0, "", "", TOP_BUILDDIR "/tests/gen_recording b/one 500 && "
		       "python3 -B " TOP_SRCDIR "/tests/replies_table.py " TOP_BUILDDIR "/tests/ask b/one");
}

/* Wrong requests */

static const struct {
	const char *path, *query;
	int status;
	const char *error;
} wrong[] = {
	{ "/api/v1/show", "top=0", 400, "parameter 'top': expected a number from 1 to 100000, not '0'" },
	{ "/api/v1/show", "top=x", 400, "parameter 'top': expected a number from 1 to 100000, not 'x'" },
	{ "/api/v1/show", "sort=up", 400, "parameter 'sort': unknown word 'up'" },
	{ "/api/v1/show", "task=none", 404, "no task has the name or id 'none'" },
	{ "/api/v1/show", "tpo=1", 400, "unknown parameter 'tpo'; /api/v1/show has rec, filter, kind, task, "
	  "failed, sort, top, tasks" },
	{ "/api/v1/show", "top=1&top=1", 400, "damaged, too long or repeated parameters" },
	{ "/api/v1/show", "top=%", 400, "damaged, too long or repeated parameters" },
	{ "/api/v1/task", "", 400, "parameter 'task' is missing: the id or the name of a task" },
	{ "/api/v1/task", "id=none", 400, "unknown parameter 'id'; /api/v1/task has rec, task" },
	{ "/api/v1/task", "task=none", 404, "no task has the name or id 'none'" },
	{ "/api/v1/log", "count=2001", 400, "parameter 'count': expected a number from 1 to 2000, not '2001'" },
	{ "/api/v1/profile", "sort=up", 400, "parameter 'sort'" },
	{ "/api/v1/profile", "filter=/(/", 400, "" },
	{ "/api/v1/compare", "a=1", 400, "parameter 'b' is missing" },
	{ "/api/v1/compare", "a=1&b=2", 404, "no recording '1'; /api/v1/recordings lists all" },
	{ "/api/v1/compare", "a=../nested&b=nested", 404, "no recording '../nested'" },
	{ "/api/v1/history", "", 404, "this is not an archive" },
	{ "/api/v1/none", "", 404, "no such path; /api/v1/ lists all" },
	{ "/api/v1/show/x", "", 404, "no such path; /api/v1/ lists all" },
	{ "/api/v1/log", "width=0", 400, "parameter 'width': expected a number from 1 to 65536, not '0'" },
	{ "/api/v1/log/tasks", "count=0", 400, "parameter 'count': expected a number from 1 to 2000, not '0'" },
	{ "/api/show", "", 404, "no such path: it is /api/v1/show now" },
	{ "/api/", "", 404, "no such path: it is /api/v1/ now" },
};

TEST_EACH(refused, wrong)
{
	RELEASED(catalogue, catalogue);
	RELEASED(source, source);
	struct reply reply;
	struct error err;

	ck_assert_int_eq(catalogue_open(&catalogue, TOP_SRCDIR "/tests/data/recordings/nested", &err), 0);
	ck_assert_int_eq(source_init(&source, &catalogue, "nested"), 0);
	reply_make(&reply, &source, wrong[_i].path, wrong[_i].query, strlen(wrong[_i].query), false);
	ck_assert_msg(reply.status == wrong[_i].status && strstr(buf_str(&reply.body), wrong[_i].error),
		      "%d %s", reply.status, buf_str(&reply.body));
	buf_release(&reply.body);
}

TEST_MAIN(replies);
