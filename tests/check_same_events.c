/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/support.h"

#include <time.h>

/* history and the page of report list the same events of generated archives. */

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"
#define GENERATOR TOP_BUILDDIR "/tests/gen_archive"
#define ARCHIVES 16

/* Few builds have suspects only, many have changes that later ones confirm. */
static const unsigned lengths[] = { 30, 5, 12, 3, 30, 8, 20, 2 };

static void add_event(struct buf *out, const char *day, bool worse, long changes)
{
	buf_addf(out, "%.10s %s %ld\n", day, worse ? "worse" : "better", changes);
}

/* Each event has one object "at" with the day of its build, and a list of changes. */
static void list_of_history(struct buf *out, const char *json)
{
	for (const char *at = json; (at = strstr(at, "\"start_s\": ")); at++) {
		const char *revisions = strstr(at, "\"revisions\""), *next, *c;
		time_t start_s = strtol(at + strlen("\"start_s\": "), NULL, 10);
		char day[16];
		long n = 0;

		at = strstr(at, "\"worse\": ");
		if (!at || !revisions)
			break;
		next = strstr(at, "\"start_s\": ");
		for (c = at; (c = strstr(c, "\"of\": ")) && (!next || c < next); c++)
			n++;
		strftime(day, sizeof day, "%F", gmtime(&start_s));
		add_event(out, day, !strncmp(at, "\"worse\": true", 13), n);
	}
}

static void list_of_page(struct buf *out, const char *page)
{
	static const char heading[] = "<summary><h3 class=\"";

	for (const char *at = page; (at = strstr(at, heading)); at++) {
		const char *class = at + strlen(heading), *day = strchr(class, '>') + 1;
		const char *end = strstr(day, "</h3>"), *more = strstr(day, " changes in all");
		long n = 1;

		if (more && more < end) {
			while (more[-1] >= '0' && more[-1] <= '9')
				more--;
			n = strtol(more, NULL, 10);
		}
		add_event(out, day, !strncmp(class, "worse", 5), n);
	}
}

/* Steps of some tasks, of which the last are in the newest builds. */
static void generate(unsigned seed)
{
	unsigned builds = lengths[seed % ARRAY_SIZE(lengths)];
	unsigned late = builds - 1 - seed % 5 % (builds - 1);

	support_expect(support_tmpdir(), 0, NULL, NULL, GENERATOR " --tasks 60 --builds %u --seed %u "
		       "--noise %u%% --host 5%% --spikes %u%% --step 3-9/%u/40%% --step 14-15/%u/60%% "
		       "--step 30-33/%u/-30%% --new 20-24/%u --gone 40-45/%u builds.git", builds, seed,
		       1 + seed % 4, seed % 3, (2 * builds + 4) / 5, late, 2 * builds / 3, builds / 2,
		       3 * builds / 5);
	if (seed % 4 == 1)
		support_expect(support_tmpdir(), 0, NULL, NULL, BUILDBEAT " accept --repo builds.git "
			       "--message 'as planned' '*'");
}

TEST_LOOP(same_events, ARCHIVES)
{
	RELEASED(buf, of_history = BUF_INIT, of_page = BUF_INIT);
	const char *metrics = _i % 3 == 2 ? "--metrics wall,memory" : "";
	struct run r;

	generate((unsigned)_i);
	support_run(&r, support_tmpdir(), BUILDBEAT " history --json -t 0 --repo builds.git %s", metrics);
	ck_assert_msg(!r.status, "%s", r.err.data);
	list_of_history(&of_history, r.out.data);
	support_expect(support_tmpdir(), 0, NULL, NULL, BUILDBEAT " report --repo builds.git -o "
		       "page %s", metrics);
	list_of_page(&of_page, support_text(support_path("%s/page/index.html", support_tmpdir())));
	if (lengths[(size_t)_i % ARRAY_SIZE(lengths)] >= 20)
		ck_assert_uint_gt(of_history.len, 0);
	ck_assert_str_eq(buf_str(&of_history), buf_str(&of_page));
}

TEST_MAIN(same_events);
