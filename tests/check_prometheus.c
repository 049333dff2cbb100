/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/recorded.h"
#include "tests/support.h"
#include "trace/trace_formats.h"

static struct recorded r;

static void without_settings(void)
{
	unsetenv("OTEL_RESOURCE_ATTRIBUTES");
}

static const char *file(const char *name)
{
	return support_path("%s/%s", support_tmpdir(), name);
}

/* The text that promtool finds good. */
static const char *write_text(void)
{
	struct error err = { 0 };

	ck_assert_msg(!prometheus_write(&r.rec, file("b.prom"), &err), "%s", err.message);
	if (support_has("promtool"))
		support_expect(support_tmpdir(), 0, "", "", "promtool check metrics <b.prom");
	return support_text(file("b.prom"));
}

/* The value of a series, -1 if there is none. */
static double value(const char *text, const char *series)
{
	const char *line = strstr(text, support_path("\n%s ", series));

	return line ? strtod(line + strlen(series) + 2, NULL) : -1;
}

TEST_GROUP_WITH("text", without_settings, NULL);

TEST(finished)
{
	static const struct { const char *series; double value; } expected[] = {
		{ "buildbeat_build_info{pipeline=\"pro\\\\j\\\"\",tool=\"make\",version=\"" PACKAGE_VERSION "\"}", 1 },
		{ "buildbeat_build_running{pipeline=\"pro\\\\j\\\"\"}", 0 },
		{ "buildbeat_build_success{pipeline=\"pro\\\\j\\\"\"}", 0 },
		{ "buildbeat_build_start_time_seconds{pipeline=\"pro\\\\j\\\"\"}", 1 },
		{ "buildbeat_build_wall_seconds{pipeline=\"pro\\\\j\\\"\"}", 9.000001 },
		{ "buildbeat_build_cpu_seconds{pipeline=\"pro\\\\j\\\"\",mode=\"user\"}", 3.5 },
		{ "buildbeat_active_tasks{pipeline=\"pro\\\\j\\\"\"}", 0 },
		{ "buildbeat_tasks{pipeline=\"pro\\\\j\\\"\",state=\"queued\"}", 1 },
		{ "buildbeat_tasks{pipeline=\"pro\\\\j\\\"\",state=\"running\"}", 0 },
		{ "buildbeat_tasks{pipeline=\"pro\\\\j\\\"\",state=\"unfinished\"}", 1 },
		{ "buildbeat_tasks{pipeline=\"pro\\\\j\\\"\",state=\"done\"}", 1 },
		{ "buildbeat_tasks{pipeline=\"pro\\\\j\\\"\",state=\"failed\"}", 1 },
		{ "buildbeat_tasks{pipeline=\"pro\\\\j\\\"\",state=\"killed\"}", 1 },
	};
	const char *text;

	recorded_make(&r, "cwd: /pro\\\\j\"\nend_us: 9000001\nstatus: 2\nuser_us: 3500000\nsystem_us: 1\n",
		      "open\t1000\ta\t10\t0\t10\tmake\t4.3\t/p\tmake\n"
		      "queue\t1000\ta.5\t\tlater\n"
		      "start\t2000\ta.1\t11\t\t\tone\t\tcc\ndone\t3000\ta.1\t0\t5\t6\t7\n"
		      "start\t2000\ta.2\t11\t\t\ttwo\t\tcc\nfail\t3000\ta.2\t1\n"
		      "start\t2000\ta.3\t11\t\t\tthree\t\tcc\nkill\t3000\ta.3\t9\n"
		      "start\t2000\ta.4\t11\t\t\tfour\t\tcc\n", NULL);
	text = write_text();
	for (size_t i = 0; i < ARRAY_SIZE(expected); i++)
		ck_assert_msg(value(text, expected[i].series) == expected[i].value, "%s in %s",
			      expected[i].series, text);
	recorded_release(&r);
}

/* BitBake without the class: the launcher saw its client alone. */
TEST(unknown_cpu_time)
{
	recorded_make(&r, "cwd: /p\nend_us: 9000000\nstatus: 0\nuser_us: 700000\nsystem_us: 1\n"
		      "command: /opt/bitbake/bin/bitbake core-image\n", NULL, NULL);
	ck_assert_ptr_null(strstr(write_text(), "build_cpu_seconds"));
	recorded_release(&r);
}

/* Tasks by state are all tasks, and all series have few labels. */
TEST_LOOP(random_ones, 4)
{
	static const char *const states[] = { "queued", "running", "unfinished", "done", "failed",
					      "killed" };
	const char *text;
	double n = 0;

	recorded_random(&r, 1 + (unsigned)_i * 60, (uint64_t)_i);
	text = write_text();
	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		n += value(text, support_path("buildbeat_tasks{pipeline=\"src\",state=\"%s\"}",
					      states[i]));
	if (n < 0)	/* another directory */
		ck_assert_ptr_nonnull(strstr(text, "pipeline=\"build\""));
	else
		ck_assert_int_eq((int)n, (int)r.sum.n_tasks);
	recorded_release(&r);
}

/* While a build runs, after it, and after it was killed; the file is replaced whole. */
TEST(running)
{
	const char *dir = support_tmpdir();

	SKIP_IF(!support_can_be_loaded());
	support_writes(file("Makefile"), "all: ; @touch go; until test -e on; do sleep 0.02; done\n");
	support_expect(dir, ANY_STATUS, "b.prom\n1 1 1 b.prom\n0 1 0 0 b.prom\n0 0 0 0 1\n", NULL,
		       "%s\nunset MAKEFLAGS; B=%s/buildbeat\n"
		       "show() { $B export --to prometheus -o b.prom && "
		       "grep '_running{\\|active_tasks{\\|state=.running\\|success{' b.prom | sed 's/.*} //' | tr '\\n' ' '; }\n"
		       "$B record -- make -s & until_true 'test -e go && grep -q start buildstats/latest/tasks.log'\n"
		       "show; touch on; wait; show; rm on go\n"
		       "$B record --name second -- make -s & until_true 'test -e go && grep -q start buildstats/second/tasks.log'\n"
		       "kill -9 $!; until_true '! kill -0 $!'; show\n"
		       "touch on; ls -A | grep -c prom", support_poll, TOP_BUILDDIR);
}

/* A file that exists is replaced only if the user named it. */
TEST(replaced)
{
	const char *dir = support_tmpdir();

	recorded_make(&r, "end_us: 5\nstatus: 0\n", "", NULL);
	recorded_release(&r);
	support_expect(dir, 0, "x.prom\n", "", "B=%s/buildbeat; echo old >x.prom; $B export --to prometheus "
		       "-o x.prom . && grep -q HELP x.prom", TOP_BUILDDIR);
	support_expect(dir, 0, "", "", "%s/buildbeat export --to prometheus -o /dev/stdout . | "
		       "grep -v '^#\\|^buildbeat_[a-z_]*{.*} [0-9.]*$'; true", TOP_BUILDDIR);
	support_expect(dir, 2, "", "already exists", "mkdir d; cp build tasks.log d; "
		       "B=%s/buildbeat; $B export --to prometheus d >/dev/null; $B export --to prometheus d",
		       TOP_BUILDDIR);
}

/* What a real Prometheus makes of it. */
TEST(scraped)
{
	struct run run;

	SKIP_IF(!support_has("prometheus") || !support_has("python3"));
	recorded_make(&r, "cwd: /home/me/nightly\nend_us: 7500000\nstatus: 0\n", "", NULL);
	write_text();
	recorded_release(&r);
	support_run(&run, support_tmpdir(), "%s\n"
		    "mkdir www; mv b.prom www/metrics\n"
		    "cat >serve.py <<'E'\nimport http.server, functools\n"
		    "class H(http.server.SimpleHTTPRequestHandler):\n"
		    "    def guess_type(self, path):\n        return 'text/plain'\n"
		    "    def log_message(self, *a):\n        pass\n"
		    "s = http.server.ThreadingHTTPServer(('127.0.0.1', 0), functools.partial(H, directory='www'))\n"
		    "open('port', 'w').write(str(s.server_port))\ns.serve_forever()\nE\n"
		    "python3 -B serve.py & server=$!; trap 'kill -9 $server $prometheus' EXIT\n"
		    "until_true 'test -s port'\n"
		    "free=$(python3 -c 'import socket; s=socket.socket(); s.bind((\"127.0.0.1\",0)); print(s.getsockname()[1])')\n"
		    "printf 'scrape_configs:\\n- job_name: b\\n  scrape_interval: 100ms\\n  scrape_timeout: 100ms\\n"
		    "  static_configs:\\n  - targets: [\"127.0.0.1:%%s\"]\\n' $(cat port) >p.yml\n"
		    "prometheus --config.file=p.yml --storage.tsdb.path=data --web.listen-address=127.0.0.1:$free "
		    ">log 2>&1 & prometheus=$!\n"
		    "cat >ask.py <<'E'\nimport json, sys, urllib.request\n"
		    "u = 'http://127.0.0.1:' + sys.argv[1] + '/api/v1/query?query=buildbeat_build_wall_seconds'\n"
		    "x = json.load(urllib.request.urlopen(u, timeout=600))['data']['result'][0]\n"
		    "print(x['metric']['pipeline'], x['value'][1])\nE\n"
		    "until_true 'python3 -B ask.py $free >answer'; cat answer", support_poll);
	ck_assert_msg(!strcmp(run.out.data, "nightly 7.5\n"), "%s%s", run.out.data, run.err.data);
}

TEST_MAIN(prometheus);
