/* SPDX-License-Identifier: MIT */
/* Requests to a collector that answers well, badly, late or not at all. */
#include "base/array.h"
#include "base/clock.h"
#include "send/endpoint.h"
#include "send/partial.h"
#include "send/spool.h"
#include "tests/support.h"

#include <sys/prctl.h>
#include <sys/resource.h>

static pid_t collector;
static const char *dir;

static const char *file(const char *name)
{
	return support_path("%s/%s", dir, name);
}

static bool is_there(void *name)
{
	return support_exists(file(name));
}

/* A collector on a port, or on any free one ("0"). */
static const char *start_on(const char *port, const char *modes)
{
	unlink(file("port"));
	collector = fork();
	if (!collector) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		setenv("COLLECTOR_PORT", port, 1);
		execl("/bin/sh", "sh", "-c", support_path("exec python3 -B %s/tests/collector.py %s %s",
		      TOP_SRCDIR, dir, modes), (char *)NULL);
		_exit(127);
	}
	support_wait_until(is_there, (char[]){ "port" }, "the collector");
	return support_text(file("port"));
}

static const char *start(const char *modes)
{
	return start_on("0", modes);
}

static void stop(void)
{
	if (collector > 0) {
		kill(collector, SIGKILL);
		waitpid(collector, NULL, 0);
	}
	collector = 0;
}

/* A small recording, and short times. */
static void begin(void)
{
	static const char *const variables[] = {
		"OTEL_RESOURCE_ATTRIBUTES", "OTEL_SERVICE_NAME", "OTEL_EXPORTER_OTLP_ENDPOINT",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT",
		"OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_TRACES_HEADERS", "http_proxy",
		"OTEL_EXPORTER_OTLP_METRICS_HEADERS", "BUILDBEAT_SPOOL_SIZE", "all_proxy",
	};

	for (size_t i = 0; i < ARRAY_SIZE(variables); i++)
		unsetenv(variables[i]);
	dir = support_tmpdir();
	setenv("XDG_STATE_HOME", file("state"), 1);
	setenv("BUILDBEAT_SEND_WAIT", "20", 1);
	setenv("BUILDBEAT_SEND_TIME", "600000", 1);
	setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "600000", 1);
	mkdir(file("rec"), 0755);
	support_writes(file("rec/build"), "buildbeat build 1\nstart_wall_ns: 1000000000\n"
		       "start_mono_ns: 5\nhost: box\ncwd: /p\nend_us: 5000\nstatus: 0\n");
	support_writes(file("rec/tasks.log"), "buildbeat tasks 1\n"
		       "open\t1000\ta\t10\t0\t10\tmake\t4.3\t/p\tmake\n"
		       "start\t2000\ta.1\t11\t0\tcompile\tlib.o\t\tcc\n"
		       "done\t3000\ta.1\t0\t500\t600\t700\t1\t2\t3\t4\t5\t6\n");
	support_expect(dir, 0, NULL, "", "%s/buildbeat export --to otlp -o traces.pb rec", TOP_BUILDDIR);
	support_expect(dir, 0, NULL, "", "%s/buildbeat export --to otlp-metrics -o metrics.pb rec",
		       TOP_BUILDDIR);
}

/* The number of lines of a command's output. */
static int count(const char *command)
{
	struct run r;

	support_run(&r, dir, "%s | wc -l", command);
	return atoi(r.out.data);
}

static void same(const char *a, const char *b)
{
	support_expect(dir, 0, "", "", "cmp %s %s", a, b);
}

static void send_it(int status, const char *message, const char *port)
{
	support_expect(dir, status, "", message,
		       "%s/buildbeat export --to otlp -o http://127.0.0.1:%s/ rec", TOP_BUILDDIR,
		       port);
}

struct answers {
	const char *modes;
	int status, asked, accepted, waiting;
	const char *message;
	const char *time_ms;	/* BUILDBEAT_SEND_TIME; NULL: long */
	const char *timeout_ms;
};

static const struct answers answers[] = {
	{ "ok", 0, 2, 2, 0, "", NULL, NULL },
	{ "503 429 502 504 408 ok", 0, 7, 2, 0, "", NULL, NULL },
	{ "wait ok", 0, 3, 2, 0, "", NULL, NULL },
	{ "close half ok", 0, 4, 2, 0, "", NULL, NULL },
	{ "garbage", 0, 2, 2, 0, "", NULL, NULL },
	{ "warn ok", 0, 2, 2, 0, "/v1/traces: the collector warns: use gRPC", NULL, NULL },
	{ "partial ok", 2, 2, 2, 0, "rejected 3 of the spans or points: too old", NULL, NULL },
	{ "400 ok", 2, 2, 1, 0, "HTTP status 400: said the collector; the request was deleted",
	  NULL, NULL },
	{ "413 ok", 2, 2, 1, 0, "the request was deleted", NULL, NULL },
	{ "401", 2, 2, 0, 2, "HTTP status 401: said the collector\n", NULL, NULL },
	{ "500 ok", 2, 2, 1, 1, "1 request waits in", NULL, NULL },
	{ "redirect", 2, 2, 0, 2, "redirections are not followed, use the URL http://127.0.0.2:9",
	  NULL, NULL },
	{ "redirect-controls", 2, 2, 0, 2, "use the URL http://127.0.0.2:9/\\x1b]0;owned\\x07",
	  NULL, NULL },
	{ "wait-long", 2, 2, 0, 2, "HTTP status 429", NULL, NULL },
	{ "503", 2, -1, 0, 2, "HTTP status 503", "100", NULL },
	{ "stall", 2, -1, 0, 2, "timed out", "1", "300" },
	{ "stall ok", 0, -1, 2, 0, "", NULL, "10000" },
	{ "close", 2, -1, 0, 2, "Empty reply from server", "100", NULL },
};

TEST_GROUP_WITH("collector", begin, stop);

TEST_EACH(answer, answers)
{
	const struct answers *a = &answers[_i];
	int64_t begun_ns;

	if (a->time_ms)
		setenv("BUILDBEAT_SEND_TIME", a->time_ms, 1);
	if (a->timeout_ms)
		setenv("OTEL_EXPORTER_OTLP_TIMEOUT", a->timeout_ms, 1);
	start(a->modes);
	begun_ns = clock_mono_ns();
	send_it(a->status, a->message, support_text(file("port")));
	/* as long as the collector asked for, not its own 20 ms */
	ck_assert(strcmp(a->modes, "wait ok") || clock_mono_ns() - begun_ns >= 1000000000);
	if (a->asked >= 0)
		ck_assert_int_eq(count("cat requests"), a->asked);
	ck_assert_int_eq(count("ls | grep '^[0-9].*pb'"), a->accepted);
	ck_assert_int_eq(count("find state -name '*.gz'"), a->waiting);
	if (a->accepted == 2) {
		same("1.pb", "traces.pb");
		same("2.pb", "metrics.pb");
	}
}

/* What waited is sent by the next export, once, and before the new requests. */
TEST(later)
{
	char port[16];

	snprintf(port, sizeof port, "%s", start("503"));
	setenv("BUILDBEAT_SEND_TIME", "1", 1);
	send_it(2, "1 request waits in", port);
	stop();
	send_it(2, "2 requests wait in", port);
	ck_assert_int_eq(count("find state -name '*.gz'"), 4);
	setenv("BUILDBEAT_SEND_TIME", "600000", 1);
	start_on(port, "ok");
	send_it(0, "", port);
	ck_assert_int_eq(count("ls | grep '^[0-9].*pb'"), 6);
	ck_assert_int_eq(count("find state -name '*.gz'"), 0);
	for (int i = 1; i <= 6; i++)
		same(support_path("%d.pb", i), i <= 3 ? "traces.pb" : "metrics.pb");
}

/* A sender that dies loses nothing. */
TEST(killed)
{
	char port[16];

	snprintf(port, sizeof port, "%s", start("stall ok"));
	support_expect(dir, 2, NULL, "ended by signal 9 (Killed); the next export",
		       "%s/buildbeat export --to otlp -o http://127.0.0.1:%s rec & pid=$!\n%s\n"
		       "until_true 'test -s requests'\nkill -9 $(ps -o pid= --ppid $pid)\nwait $pid", TOP_BUILDDIR, port, support_poll);
	ck_assert_int_eq(count("find state -name '*.gz'"), 2);
	send_it(0, "", port);
	ck_assert_int_eq(count("ls | grep '^[0-9].*pb'"), 4);
	ck_assert_int_eq(count("find state -name '*.gz'"), 0);
}

/* Exports at the same time: each request is sent once. */
TEST(together)
{
	support_expect(dir, ANY_STATUS, NULL, "",
		       "for i in 1 2 3 4 5; do %s/buildbeat export --to otlp "
		       "-o http://127.0.0.1:%s rec & done; wait", TOP_BUILDDIR, start("ok 503 ok"));
	ck_assert_int_eq(count("cat requests"), 11);
	ck_assert_int_eq(count("ls | grep '^[0-9].*pb'"), 10);
	ck_assert_int_eq(count("find state -name '*.gz'"), 0);
}

/* The oldest requests are deleted and counted; the count is reported once. */
TEST(full)
{
	char port[16];

	snprintf(port, sizeof port, "%s", start("401"));
	send_it(2, "1 request waits", port);
	setenv("BUILDBEAT_SPOOL_SIZE", "1", 1);
	send_it(2, "/v1/traces: 2 old requests were deleted because the spool was full", port);
	ck_assert_int_eq(count("find state -name '*.gz'"), 0);
	stop();
	start_on(port, "ok");
	unsetenv("BUILDBEAT_SPOOL_SIZE");
	send_it(0, "", port);
}

/* Headers reach the collector, and no command line. */
TEST(headers)
{
	const char *port = start("ok");
	struct run r;

	SKIP_IF(!support_has("strace"));
	setenv("OTEL_EXPORTER_OTLP_HEADERS", "Authorization=Bearer%20s3cret%2C, x-a = 1 ,bad=a%0ab,bad2=a%00b,:=1", 1);
	setenv("OTEL_EXPORTER_OTLP_METRICS_HEADERS", "x-only=m", 1);
	support_run(&r, dir, "strace -f -s 9999 -e execve -o log %s/buildbeat export --to otlp "
		    "-o http://127.0.0.1:%s rec", TOP_BUILDDIR, port);
	SKIP_IF(r.status);	/* strace is not allowed here */
	ck_assert_int_eq(count("grep '\"authorization\": \"Bearer s3cret,\"' requests"), 1);
	ck_assert_int_eq(count("grep '\"x-a\": \"1\"' requests"), 1);
	ck_assert_int_eq(count("grep '\"x-only\": \"m\"' requests"), 1);
	ck_assert_int_eq(count("grep 'bad' requests"), 0);
	ck_assert_int_eq(count("grep buildbeat-send log"), 1);
	ck_assert_int_eq(count("grep s3cret log"), 0);
	ck_assert_int_eq(count("grep -r s3cret state"), 0);
}

TEST(environment)
{
	char port[16];

	snprintf(port, sizeof port, "%s", start("ok"));
	setenv("OTEL_EXPORTER_OTLP_ENDPOINT", support_path("http://127.0.0.1:%s/base", port), 1);
	setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", support_path("http://127.0.0.1:%s/t", port), 1);
	support_expect(dir, 0, "", "", "%s/buildbeat export --to otlp -o http: rec", TOP_BUILDDIR);
	ck_assert_int_eq(count("grep '\"path\": \"/t\"' requests"), 1);
	ck_assert_int_eq(count("grep '\"path\": \"/base/v1/metrics\"' requests"), 1);
	support_expect(dir, 0, "", "", "%s/buildbeat export --to otlp-metrics -o https: rec", TOP_BUILDDIR);
	ck_assert_int_eq(count("cat requests"), 3);
}

/* A certificate that nobody signed is rejected, unless the user names it. */
TEST(certificate)
{
	const char *port;

	SKIP_IF(!support_has("openssl"));
	support_expect(dir, 0, NULL, NULL, "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem "
		       "-out cert.pem -days 2 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1 "
		       "2>&1");
	setenv("COLLECTOR_TLS", "1", 1);
	port = start("ok");
	/* a repetition would not end before the test does */
	setenv("BUILDBEAT_SEND_TIME", "3600000", 1);
	support_expect(dir, 2, "", "certificate", "%s/buildbeat export --to otlp "
		       "-o https://127.0.0.1:%s rec", TOP_BUILDDIR, port);
	ck_assert(!support_exists(file("requests")));
	setenv("BUILDBEAT_SEND_TIME", "600000", 1);
	setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", file("cert.pem"), 1);
	support_expect(dir, 0, "", "", "%s/buildbeat export --to otlp -o https://127.0.0.1:%s rec",
		       TOP_BUILDDIR, port);
	ck_assert_int_eq(count("cat requests"), 4);
	unsetenv("COLLECTOR_TLS");
	unsetenv("OTEL_EXPORTER_OTLP_CERTIFICATE");
}

/* A certificate that the user trusts, but of another host. */
TEST(certificate_of_another)
{
	const char *port;

	SKIP_IF(!support_has("openssl"));
	support_expect(dir, 0, NULL, NULL, "openssl req -x509 -newkey rsa:2048 -nodes -keyout key.pem "
		       "-out cert.pem -days 2 -subj /CN=other.example -addext "
		       "subjectAltName=DNS:other.example,IP:127.0.0.2 2>&1");
	setenv("COLLECTOR_TLS", "1", 1);
	setenv("OTEL_EXPORTER_OTLP_CERTIFICATE", file("cert.pem"), 1);
	port = start("ok");
	support_expect(dir, 2, "", "127.0.0.1", "%s/buildbeat export --to otlp "
		       "-o https://127.0.0.1:%s rec", TOP_BUILDDIR, port);
	ck_assert(!support_exists(file("requests")));
	unsetenv("COLLECTOR_TLS");
	unsetenv("OTEL_EXPORTER_OTLP_CERTIFICATE");
}

/* What can never be sent is not kept. */
TEST(malformed)
{
	setenv("BUILDBEAT_SEND_TIME", "3600000", 1);
	support_expect(dir, 2, "", "; the request was deleted", "%s/buildbeat export --to otlp "
		       "-o 'http://[::1' rec", TOP_BUILDDIR);
	ck_assert_int_eq(count("find state -name '*.gz'"), 0);
}

/* Logs are a third signal, if the recording has output. */
TEST(logs)
{
	const char *port = start("ok");

	setenv("OTEL_EXPORTER_OTLP_LOGS_HEADERS", "x-only=l", 1);
	support_writes(file("rec/output.log"), "one\ntwo\n");
	support_writes(file("rec/output_index.log"), "buildbeat output 1\n1500 0 1 8\n");
	support_expect(dir, 0, NULL, "", "%s/buildbeat export --to otlp-logs -o logs.pb rec", TOP_BUILDDIR);
	send_it(0, "", port);
	same("3.pb", "logs.pb");
	ck_assert_int_eq(count("grep '\"path\": \"/v1/logs\"' requests | grep '\"x-only\": \"l\"'"), 1);
	support_expect(dir, 0, "", "", "%s/buildbeat export --to otlp-logs -o http://127.0.0.1:%s rec",
		       TOP_BUILDDIR, port);
	ck_assert_int_eq(count("cat requests"), 4);
	unsetenv("OTEL_EXPORTER_OTLP_LOGS_HEADERS");
}

struct misuse {
	const char *arguments, *message;
};

static const struct misuse misuses[] = {
	{ "--to chrome -o http://localhost", "'--output': only otlp, otlp-metrics and otlp-logs can be sent to a URL, not chrome" },
	{ "--to otlp -o http://me:pw@localhost", "a URL with a password is rejected" },
	{ "--to otlp -o http:/localhost", "expected a URL such as http://localhost:4318, not 'http:/localhost'" },
	{ "--to otlp -o https://", "expected a URL such as" },
	{ "--to otlp -o ftp://localhost/", "expected a URL such as" },
	{ "--to otlp -o 'http://a b'", "only printable ASCII characters" },
};

TEST_EACH(misuse, misuses)
{
	support_expect(dir, 2, "", misuses[_i].message, "%s/buildbeat export %s rec", TOP_BUILDDIR,
		       misuses[_i].arguments);
	ck_assert_int_eq(count("find state -name '*.gz' 2>&1 | grep -v 'No such'"), 0);
}

/* The spool is private, and is not used if it is not. */
TEST(private)
{
	char port[16];

	snprintf(port, sizeof port, "%s", start("401"));
	send_it(2, "1 request waits", port);
	ck_assert_int_eq(count("find state/buildbeat/spool -type d ! -perm 700"), 0);
	ck_assert_int_eq(count("find state/buildbeat/spool -type f ! -perm 600"), 0);
	support_expect(dir, 0, "", "", "chmod 777 state/buildbeat/spool/*");
	send_it(2, "can write to it", port);
	ck_assert_int_eq(count("cat requests"), 2);
	setenv("XDG_STATE_HOME", "/proc/nowhere", 1);
	send_it(2, "/proc/nowhere: cannot make the directory", port);
	unsetenv("XDG_STATE_HOME");
	unsetenv("HOME");
	send_it(2, "set XDG_STATE_HOME or HOME", port);
}

/* record does not wait for the collector: it is started when the build has ended. */
TEST(after_the_build)
{
	char port[16];
	struct run r;

	snprintf(port, sizeof port, "%s", start("ok"));
	stop();
	support_run(&r, dir, "mkdir home; HOME=$PWD/home %s/buildbeat record --otlp http://127.0.0.1:%s "
		    "--no-git -o stats -- sh -c 'echo built; exit 3'", TOP_BUILDDIR, port);
	ck_assert_int_eq(r.status, 3);
	ck_assert_str_eq(r.out.data, "built\n");
	if (support_can_be_loaded())
		ck_assert_str_eq(r.err.data, "");
	start_on(port, "ok");
	support_wait_until(is_there, (char[]){ "2.pb" }, "the requests");
	ck_assert_int_eq(count("cat requests"), 2);
	ck_assert_int_eq(count("grep -a 'BUILD buildbeat-test' 1.pb"), 1);
	support_expect(dir, 0, "run_url: http://g/o/p/actions/runs/7\nrun_url: https://l/8\n", NULL,
		       "unset CI_JOB_URL BUILD_URL BUILDKITE_BUILD_URL CIRCLE_BUILD_URL; "
		       "export GITHUB_SERVER_URL=http://g GITHUB_REPOSITORY=o/p GITHUB_RUN_ID=7; "
		       "B='%s/buildbeat record --no-git -o stats'; $B -n u -- true; "
		       "CI_JOB_URL=https://l/8 $B -n v -- true; grep -h run_url stats/u/build stats/v/build",
		       TOP_BUILDDIR);
	support_run(&r, dir, "mkdir alone && cp %s/buildbeat alone && alone/buildbeat record --no-git "
		    "-o stats -n alone --otlp http://localhost -- echo built", TOP_BUILDDIR);
	ck_assert_int_eq(r.status, 0);
	ck_assert_str_eq(r.out.data, "built\n");
	if (!support_exists(PKGLIBEXECDIR "/buildbeat-send"))
		ck_assert_ptr_nonnull(strstr(r.err.data, "the recording will not be sent: "));
	support_expect(dir, 2, "", "a URL with a password", "%s/buildbeat record --otlp http://a:b@c -- "
		       "echo no", TOP_BUILDDIR);
	support_writes(file("buildbeat.yaml"), "otlp: http://localhost\n");
	support_expect(dir, 2, "", "buildbeat.yaml:1:", "%s/buildbeat record -- echo no", TOP_BUILDDIR);
	support_expect(dir, 0, "", NULL, "rm buildbeat.yaml; mkdir -p home/.config/buildbeat; "
		       "echo 'otlp: http://127.0.0.1:%s' >home/.config/buildbeat/buildbeat.yaml; "
		       "unset XDG_CONFIG_HOME; HOME=$PWD/home %s/buildbeat record -o stats -- true", port,
		       TOP_BUILDDIR);
	support_wait_until(is_there, (char[]){ "4.pb" }, "the requests");
}

TEST(partial)
{
	static const struct { const char *body; size_t len; int rejected; const char *message; } body[] = {
		{ "", 0, 0, "" },
		{ "\x0a\x00", 2, 0, "" },
		{ "\x0a\x03\x08\xac\x02", 5, 300, "" },
		{ "\x0a\x06\x08\x01\x12\x02h\xff", 8, 1, "h " },
		{ "\x10\x05\x0a\x02\x08\x07", 6, 7, "" },
		{ "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 11, 0, "" },
		{ "\x0a\x7f\x08\x01", 4, 0, "" },
		{ "\x08\x01", 2, 0, "" },
		{ "<html>", 6, 0, "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(body); i++) {
		struct partial p;

		partial_read(&p, body[i].body, body[i].len);
		ck_assert_int_eq(p.rejected, body[i].rejected);
		ck_assert_str_eq(p.message, body[i].message);
	}
}

static size_t n_files(const char *pattern)
{
	return (size_t)count(support_path("find state/buildbeat/spool -type f -name '%s'", pattern));
}

TEST_GROUP("spool");

/* The oldest requests are dropped and counted; a request that cannot be written leaves nothing. */
TEST(spooled)
{
	static const char *const text[] = { "one", "two and more", "three, which has a few more bytes" };
	struct rlimit limit = { 10, RLIM_INFINITY }, all_bytes = { RLIM_INFINITY, RLIM_INFINITY };
	struct buf request = BUF_INIT;
	struct spool_names all, left;
	struct error err = { 0 };
	struct stat st;
	struct spool s;
	int r;

	dir = support_tmpdir();
	setenv("XDG_STATE_HOME", file("state"), 1);
	ck_assert_int_eq(spool_trim(0), -ENOENT);
	ck_assert_int_eq(spool_open(&s, "http://localhost/v1", &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(text); i++) {
		buf_clear(&request);
		buf_adds(&request, text[i]);
		ck_assert_int_eq(spool_add(&s, &request, &err), 0);
	}
	ck_assert_int_eq(spool_list(&s, &all), 0);
	ck_assert_uint_eq(all.n, 3);
	ck_assert(strcmp(all.name[0], all.name[1]) < 0 && strcmp(all.name[1], all.name[2]) < 0);
	ck_assert_int_eq(fstatat(s.fd, all.name[2], &st, 0), 0);
	support_writes(support_path("%s/.1-new.gz", s.path), "");
	support_expect(s.path, 0, "", "", "touch -d '2 days ago' .2-old.gz");
	ck_assert_int_eq(spool_trim(UINT64_MAX), 0);
	ck_assert_uint_eq(n_files("[0-9]*.gz"), 3);
	ck_assert_uint_eq(n_files(".*"), 1);
	ck_assert_int_eq(spool_trim((uint64_t)st.st_size), 0);
	ck_assert_int_eq(spool_list(&s, &left), 0);
	ck_assert_uint_eq(left.n, 1);
	ck_assert_str_eq(left.name[0], all.name[2]);
	ck_assert_uint_eq(spool_take_dropped(&s), 2);
	ck_assert_uint_eq(spool_take_dropped(&s), 0);

	signal(SIGXFSZ, SIG_IGN);
	setrlimit(RLIMIT_FSIZE, &limit);
	r = spool_add(&s, &request, &err);
	setrlimit(RLIMIT_FSIZE, &all_bytes);	/* Check writes to a file, too */
	ck_assert_int_eq(r, -EFBIG);
	ck_assert_uint_eq(n_files(".*"), 1);
	ck_assert_uint_eq(n_files("[0-9]*.gz"), 1);
	spool_names_release(&all);
	spool_names_release(&left);
	buf_release(&request);
	spool_close(&s);
}

TEST_PROGRAM(send)
{
	SKIP_PROGRAM_IF(!support_has("python3"));
	return support_main();
}
