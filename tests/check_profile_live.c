/* SPDX-License-Identifier: MIT */
/* `buildbeat profile` of a host that tallies: while it runs, hangs, and after it was killed. */
#include "plugin/buildbeat_plugin.h"
#include "tests/make_host.h"
#include "tests/support.h"

static const struct buildbeat_api *api;
static char dir[512];

static void tally(uint32_t location, unsigned us)
{
	struct buildbeat_run run = { 0 };

	api->tally_queued(&run, location, 0);
	api->tally_started(&run, location);
	usleep(us);
	api->tally_finished(&run);
}

/* 100 runs of one(), which tally.log has; 50 of two(); then one of three() every millisecond. */
static void be_host(void)
{
	struct buildbeat_host host = { .size = sizeof host, .tool = "daemon", .interval_ms = -1 };
	struct buildbeat_tallies on = { .size = sizeof on, .status = BUILDBEAT_TALLY_ACTIVE };
	struct buildbeat_place place = { .size = sizeof place, .line = 7, .file = "lib/a.c" };
	static const char *const names[] = { "one()", "two()", "three()" };
	struct buildbeat_session *s;
	uint32_t location[3];

	host.dir = dir;
	s = api->open(&host);
	if (!s || api->tally_set(s, &on) < 0)
		_exit(1);
	api->tally_thread("main");
	for (int i = 0; i < 3; i++) {
		place.function = names[i];
		location[i] = api->tally_location(&place);
	}
	for (int i = 0; i < 100; i++)
		tally(location[0], 0);
	api->tally_phase(s, "compile");
	for (int i = 0; i < 50; i++)
		tally(location[1], 0);
	for (;;)
		tally(location[2], 1000);
}

static void profile(struct run *r, const char *options)
{
	support_run(r, NULL, "'%s/buildbeat' profile %s '%s'", TOP_BUILDDIR, options, dir);
}

/* The first number of the line of a function, 0: there is none. */
static long count_of(struct run *r, const char *name)
{
	for (char *line = strtok(r->out.data, "\n"); line; line = strtok(NULL, "\n")) {
		if (strstr(line, name))
			return strtol(line, NULL, 10);
	}
	return 0;
}

static bool has_news(void *data)
{
	struct run r;

	(void)data;
	profile(&r, "--live --columns count,name,born,died,file,line");
	return r.status == 0 && count_of(&r, "three()") > 0;
}

TEST(a_host)
{
	struct run r;
	pid_t pid;
	long n;

	SKIP_IF(!make_host_can());
	api = make_host_api();
	snprintf(dir, sizeof dir, "%s/rec/one", support_tmpdir());
	pid = fork();
	if (!pid)
		be_host();
	support_wait_until(has_news, NULL, "tallies of the host");

	/* since now: nothing of what was before */
	profile(&r, "--wait 200ms --columns count,name,max");
	ck_assert_msg(r.status == 0, "%s", r.err.data);
	ck_assert_ptr_nonnull(strstr(r.out.data, "0.2 seconds worth of data"));
	ck_assert_ptr_null(strstr(r.out.data, "one()"));
	n = count_of(&r, "three()");
	ck_assert_int_gt(n, 0);

	kill(pid, SIGSTOP);
	profile(&r, "--live --columns count,name,born,died,file,line,kind");
	ck_assert_msg(r.status == 0, "%s", r.err.data);
	ck_assert_ptr_nonnull(strstr(r.out.data, "lib/a.c"));
	ck_assert_ptr_nonnull(strstr(r.out.data, "tally"));
	/* the time of the tallies: this host takes no samples, and has not ended */
	ck_assert_double_gt(atof(strstr(r.out.data, "queue ") ? strrchr(strtok(r.out.data, "\n"), ';') + 1 :
				 "0"), .2);
	profile(&r, "--live --columns count,name");
	ck_assert_int_eq(count_of(&r, "two()"), 50);
	profile(&r, "--live -b phase --columns count,name");
	ck_assert_ptr_nonnull(strstr(r.out.data, "phase = compile"));

	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	profile(&r, "--live");
	ck_assert_int_eq(r.status, 2);
	ck_assert_ptr_nonnull(strstr(r.err.data, "no host with tallies is running"));
	profile(&r, "--columns count,name");
	ck_assert_int_eq(r.status, 0);
	ck_assert_ptr_nonnull(strstr(r.out.data, "\n1 unfinished host\n"));
	ck_assert_int_eq(count_of(&r, "one()"), 100);
	profile(&r, "--columns count,name");
	ck_assert_int_eq(count_of(&r, "two()"), 50);
	profile(&r, "--live --until 3s");
	ck_assert_int_eq(r.status, 2);
	profile(&r, "--wait 2x");
	ck_assert_ptr_nonnull(strstr(r.err.data, "expected a time"));
}

TEST_MAIN(profile_live);
