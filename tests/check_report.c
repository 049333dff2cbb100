/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "report/page.h"
#include "tests/made_series.h"
#include "tests/paths.h"
#include "tests/support.h"

/* The report: of an archive on the command line, and of builds with special characters in
 * names. */

#define GEN TOP_BUILDDIR "/tests/gen_archive "
#define REPORT TOP_BUILDDIR "/buildbeat report "

static void run_in(struct run *r, const char *command)
{
	support_run(r, support_tmpdir(), "HOME=$PWD XDG_CACHE_HOME=$PWD/cache && "
		    "export HOME XDG_CACHE_HOME && %s", command);
}

static void runs(const char *command)
{
	struct run r;

	run_in(&r, command);
	ck_assert_msg(!r.status, "%s: %s", command, r.err.data);
}

static void page_read(struct buf *page, const char *name)
{
	support_read(page, support_path("%s/%s", support_tmpdir(), name));
}

static bool has(const struct buf *page, const char *text)
{
	return memmem(page->data, page->len, text, strlen(text));
}

TEST(names_exceeded_limits)
{
	RELEASED(buf, page);

	runs("echo \"limits: {build: {wall: 1s}, '*': {cpu: 24h}}\" >l.yaml && "
	     GEN "--tasks 40 --builds 1 r.git && " REPORT "-c l.yaml --repo r.git -o o");
	page_read(&page, "o/index.html");
	ck_assert(has(&page, ">1 limit exceeded, too few builds for a verdict</h1>"));
	ck_assert(has(&page, ">the build: wall time "));
	ck_assert(has(&page, ", limit 1.00 s (x "));
	ck_assert(!has(&page, "24 h"));
}

TEST(names_the_change)
{
	RELEASED(buf, page);

	runs(GEN "--tasks 40 --builds 40 --step 0-9/30/0.4 --step 10-19/15/-0.3 r.git && "
	     REPORT "--repo r.git -o sub/out | grep -qx sub/out/index.html");
	page_read(&page, "sub/out/index.html");
	ck_assert(has(&page, " changes)</h1>"));
	ck_assert(has(&page, "40 builds, 2026-01-01 to 2026-02-09"));
	/* The first build with the change, the revisions on both sides, and the command that
	 * shows the commits between. */
	ck_assert(has(&page, "id=\"event-0\""));
	ck_assert(has(&page, "2026-01-31"));
	ck_assert(has(&page, "2026-01-16"));
	ck_assert(has(&page, "git log "));
	ck_assert(has(&page, "id=\"chart-0\""));
	ck_assert(has(&page, "id=\"chart-1\""));
	/* The page loads nothing from elsewhere. */
	ck_assert(!has(&page, "src=\"http"));
	ck_assert(!has(&page, "<link"));
}

/* The same change in another series of the branch, which may have it as a suspect or not at all. */
TEST(names_other_series)
{
	RELEASED(buf, page);
	RELEASED(buf, other_branch);

	runs("for s in 'farm1/main/x --noise 0.02' 'farm2/main/x --noise 0.03' 'farm3/rel/x --noise 0.01'; do "
	     GEN "--tasks 12 --builds 20 --step 3/15/0.5 --series $s farms.git; done; "
	     REPORT "--repo farms.git --ref farm2 -o o");
	page_read(&page, "o/index.html");
	ck_assert(has(&page, ">confirmed<small class=\"faint\">also in farm1/main/x (+"));
	ck_assert(!has(&page, "farm3"));
	runs("cd farms.git && mv objects/pack/*.pack . && for p in *.pack; do git unpack-objects -q <$p; done && "
	     "rm -f objects/pack/* && rm objects/$(git rev-parse farm1/main/x:columns/user_us | sed 's,..,&/,') && cd .. && "
	     "! " TOP_BUILDDIR "/buildbeat check --repo farms.git --ref farm1 2>&1 | grep -q confirmed && "
	     REPORT "--repo farms.git --ref farm2 -o o");
	runs(REPORT "--repo farms.git --ref farm3 -o o");
	page_read(&other_branch, "o/index.html");
	ck_assert(has(&other_branch, ">confirmed<"));
	ck_assert(!has(&other_branch, "also in "));
}

TEST(same_bytes)
{
	runs(GEN "--tasks 30 --builds 35 --step 7/30/0.4 r.git && " REPORT "--repo r.git -o a && "
	     "TZ=Asia/Tokyo LC_ALL=C taskset -c 0 " REPORT "--repo r.git -o b && cmp a/index.html b/index.html");
}

/* What check finds in a long history, if it has few tasks. */
TEST(names_what_is_found)
{
	static const char found[] = "<p class=\"facts\">Smallest changes that check finds within 3 builds: ";
	RELEASED(buf, calm);
	RELEASED(buf, noisy);
	RELEASED(buf, many);

	runs(GEN "--tasks 40 --builds 60 --noise 0.01 r.git && " REPORT "--repo r.git -o o");
	page_read(&calm, "o/index.html");
	ck_assert(has(&calm, support_path("%s+5 %% of the build, +5 %% ", found)));
	runs(GEN "--tasks 40 --builds 60 --noise 0.3 noisy.git && " REPORT "--repo noisy.git -o o");
	page_read(&noisy, "o/index.html");
	ck_assert(has(&noisy, support_path("%s+50 %% of the build, +100 %% of its longest tasks; check --power ", found)));
	runs(GEN "--tasks 501 --builds 40 many.git && " REPORT "--repo many.git -o o");
	page_read(&many, "o/index.html");
	ck_assert(!has(&many, found));
}

static const struct { const char *archive, *has[3], *lacks; } unchanged[] = {
	{ "--tasks 30 --builds 40 --noise 0.01",
	  { "<h1 class=\"verdict\">No regression</h1>", "No change exceeds the usual variation",
	    "No change was found." }, "Too few builds" },
	{ "--tasks 5 --builds 1",
	  { "Too few builds for a verdict", "1 build, 2026-01-01,", "id=\"chart-1\"" },
	  "id=\"chart-0\"" },
};

TEST_EACH(no_change, unchanged)
{
	RELEASED(buf, page);

	runs(support_path(GEN "%s r.git && " REPORT "--repo r.git -o o", unchanged[_i].archive));
	page_read(&page, "o/index.html");
	for (int i = 0; i < 3; i++)
		ck_assert_msg(has(&page, unchanged[_i].has[i]), "%s", unchanged[_i].has[i]);
	ck_assert(!has(&page, unchanged[_i].lacks));
}

static const struct { const char *arguments, *message; } refused[] = {
	{ "--repo r.git", "report: option '--output' is missing" },
	{ "-o o", "no archive: use --repo" },
	{ "--repo none.git -o o", "none.git" },
	{ "--repo r.git --ref other -o o", "other" },
	{ "--repo r.git --metrics nonsense -o o", "nonsense" },
	{ "--repo r.git -o o --source no/where", "no/where" },
	{ "--repo r.git -o file", "file" },
	{ "--repo r.git -o o more", "more" },
};

TEST_EACH(refuses, refused)
{
	struct run r;

	runs(GEN "--tasks 5 --builds 3 r.git && echo kept >file && mkdir o && echo kept >o/index.html");
	run_in(&r, support_path(REPORT "%s", refused[_i].arguments));
	ck_assert_int_eq(r.status, 2);
	ck_assert_msg(strstr(r.err.data, refused[_i].message), "%s", r.err.data);
	runs("echo kept | cmp - o/index.html && test $(ls o | wc -l) = 1");
}

/* Damaged builds have no bootchart (start times are one object for all of them); the report
 * is written. */
TEST(no_such_chart)
{
	RELEASED(buf, page);

	runs(GEN "--tasks 5 --builds 3 r.git && cd r.git && mv objects/pack/* . && "
	     "for p in *.pack; do git unpack-objects -q <$p; done && "
	     "o=$(git rev-parse nightly-1/master/x86_64:columns/start_us) && "
	     "f=objects/$(echo $o | cut -c1-2)/$(echo $o | cut -c3-) && chmod u+w $f && "
	     "head -c 20 /dev/zero >$f");
	runs(REPORT "--repo r.git -o o");
	page_read(&page, "o/index.html");
	ck_assert(!has(&page, "id=\"chart-0\""));
	ck_assert(!has(&page, "id=\"chart-1\""));
	ck_assert(has(&page, "id=\"columns\""));
}

/* Names that would be tags, end an attribute or the script, or change the direction of text. */

static const char *const hostile[] = {
	"<script>alert(1)</script>: a", "\" onclick=\"alert(2)", "'x' & <b>", "</script><!--",
	("\xe2\x80\xae" "exe.c"), "bad\xff\xc3utf", "\xe6\x97\xa5\xe6\x9c\xac: \xc3\xa9", "",
};

#define HOSTILE ARRAY_SIZE(hostile)

struct world {
	struct builds builds;
	struct rules rules;
	struct history history;
	struct verdict verdict;
	struct trends trends;
	struct culprits *culprits;
	struct buf out;
};

static void judge(struct world *w)
{
	struct error err = { 0 };

	rules_init(&w->rules);
	ck_assert_int_eq(history_make(&w->history, &w->verdict, &w->builds, &w->rules, NULL, HISTORY_ALL,
				      &err), 0);
	ck_assert_int_eq(trends_make(&w->trends, &w->builds, &w->rules, &w->history, &w->verdict,
				     &err), 0);
	w->culprits = calloc(w->history.n_events + 1, sizeof *w->culprits);
	for (size_t i = 0; i < w->history.n_events; i++)
		ck_assert_int_eq(culprits_find(&w->culprits[i], &w->builds, &w->history,
					       &w->history.event[i], NULL, 0), 0);
}

static void write_page(struct world *w)
{
	struct page page = {
		.builds = &w->builds, .rules = &w->rules, .history = &w->history,
		.verdict = &w->verdict, .culprits = w->culprits,
		.n_culprits = w->history.n_events, .trends = &w->trends,
		.chart = { { 0, NULL, "<none> & \"why\"" }, { 0, NULL, "none" } },
	};

	ck_assert_int_eq(page_write(&w->out, &page), 0);
}

static void release(struct world *w)
{
	for (size_t i = 0; i < w->history.n_events; i++)
		culprits_release(&w->culprits[i]);
	free(w->culprits);
	trends_release(&w->trends);
	history_release(&w->history);
	verdict_release(&w->verdict);
	builds_release(&w->builds);
	buf_release(&w->out);
}

static size_t count(const struct buf *page, const char *text)
{
	size_t n = 0, len = strlen(text);
	const char *p = page->data, *end = p + page->len;

	for (; (p = memmem(p, (size_t)(end - p), text, len)); p += len)
		n++;
	return n;
}

TEST(names_that_bite)
{
	struct made_change change[HOSTILE];
	struct made made = { .seed = 3, .tasks = 40, .builds = 60, .noise = 0.02, .level_us = 30e6,
			     .n_changes = HOSTILE, .change = change };
	struct world w = { .out = BUF_INIT };

	for (size_t i = 0; i < HOSTILE; i++)
		change[i] = (struct made_change){ .task = i, .build = 40, .by = 0.5 };
	ck_assert_int_eq(made_series(&w.builds, &made), 0);
	for (size_t i = 0; i < HOSTILE; i++)
		w.builds.task[i].name = hostile[i];
	w.builds.ref = "<i>host</i>/main/x";
	for (size_t i = 0; i < w.builds.n; i++) {
		if (w.builds.build[i].n_revisions)
			w.builds.build[i].revision[0].source = "/src/<u>\"'";
	}
	judge(&w);
	ck_assert_uint_ge(w.verdict.n_confirmed, HOSTILE);
	write_page(&w);
	ck_assert(has(&w.out, "&lt;script&gt;alert(1)&lt;/script&gt;: a"));
	ck_assert(has(&w.out, "\\u202eexe.c"));
	ck_assert(has(&w.out, "\xe6\x97\xa5\xe6\x9c\xac: \xc3\xa9"));
	ck_assert(!has(&w.out, "<script>alert"));
	ck_assert(!has(&w.out, "\" onclick"));
	ck_assert(!has(&w.out, "<i>"));
	ck_assert(!has(&w.out, "<u>"));
	ck_assert(!has(&w.out, "<!--"));
	ck_assert(!has(&w.out, "\xff"));
	ck_assert_uint_eq(count(&w.out, "<script"), 3);
	ck_assert_uint_eq(count(&w.out, "</script>"), 3);
	release(&w);
}

/* A failed newest build heads the page, and what was confirmed stays. */
TEST(failed_build)
{
	struct made_change change = { .task = 1, .build = 40, .by = 0.5 };
	struct made made = { .seed = 1, .tasks = 20, .builds = 50, .noise = 0.02,
			     .change = &change, .n_changes = 1 };
	struct world w = { 0 };

	ck_assert_int_eq(made_series(&w.builds, &made), 0);
	judge(&w);
	ck_assert_uint_ge(w.verdict.n_confirmed, 1);
	w.builds.build[49].total[TOTAL_STATUS] = w.verdict.build_status = 2;
	w.verdict.not_judged = true;
	write_page(&w);
	ck_assert(has(&w.out, "<h1 class=\"verdict worse\">Not judged: the build failed (exit 2), "));
	ck_assert(has(&w.out, "The changes are those of the last good build, "));
	ck_assert(has(&w.out, "<table class=\"findings\">"));
	release(&w);
}

TEST_MAIN(report);
