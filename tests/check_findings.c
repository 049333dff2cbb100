/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "command/shell.h"
#include "report/check_output.h"
#include "report/words_change.h"
#include "tests/made_series.h"
#include "tests/noise.h"
#include "tests/paths.h"
#include "tests/support.h"

#include <fnmatch.h>

/*
 * What the outputs of check say about verdicts that were made by hand: groups, test cases of
 * JUnit, commands to be pasted, and builds that failed.
 */

#define BUILDS 20
#define NEWEST (BUILDS - 1)

/* Names that a shell, a terminal or a pattern reads in another way, and the name of a group. */
static const char *const odd_names[] = {
	"a b", "it's", "$HOME `id` \"x\"", "two\nlines", "ends\n", "tab\there", "[ab]*.o?", "-rf",
	"\\", "\x1b[31mred", ("\xe2\x80\xae" "exe.c"), "bad\xff\xc3utf", "\xe6\x97\xa5\xe6\x9c\xac/\xc3\xa9.o",
	"recipe recipe0", "all tasks", "the build as a whole", "a=b", "~", "#", "!!", "a;b&c|d>e",
	"two\\nlines",
};

static struct builds builds;
static struct rules rules;
static struct verdict verdict;
static struct verdict_groups groups;
static struct check check;

static void begin(size_t tasks)
{
	struct made made = { .seed = 3, .tasks = tasks, .builds = BUILDS };

	ck_assert_int_eq(made_series(&builds, &made), 0);
	rules_init(&rules);
	verdict = (struct verdict){
		.n_builds = BUILDS, .enough = true,
		.finding = calloc(METRICS * (tasks + 2) * 2 + 1, sizeof *verdict.finding),
	};
	ck_assert_ptr_nonnull(verdict.finding);
	for (enum metric m = 0; m < METRICS; m++)
		verdict.host[m] = NAN;
	check = (struct check){
		.builds = &builds, .rules = &rules, .verdict = &verdict, .groups = &groups,
		.top = 20, .archive.repo = "builds.git",
	};
}

static void end(void)
{
	verdict_groups_release(&groups);
	verdict_release(&verdict);
	builds_release(&builds);
}

static struct verdict_finding *add(uint32_t task, enum metric m, uint32_t since, double effect)
{
	struct verdict_finding *f = &verdict.finding[verdict.n++];

	*f = (struct verdict_finding){
		.task = task, .metric = m, .worse = effect > 0, .since = since, .first = since,
		.last = since, .builds = BUILDS - since, .before = 10e6, .now = 10e6 * (1 + effect),
		.effect = effect, .at = NEWEST, .newest = NAN, .low = effect - 0.01, .high = effect + 0.01, .rate = 0.001,
	};
	f->fails = f->worse && task != TASK_HOST;
	verdict.n_confirmed += f->fails;
	return f;
}

static void group(void)
{
	verdict_groups_release(&groups);
	ck_assert_int_eq(verdict_groups_make(&groups, &verdict, &builds), 0);
}

enum form { TEXT, JSON, JUNIT, MARKDOWN, FORMS };

static const char *printed(enum form form)
{
	static struct buf out[FORMS];
	struct style style = { 0 };
	struct doc d;
	int r;

	group();
	buf_clear(&out[form]);
	if (form == MARKDOWN)
		doc_init_people(&d, &out[form], NULL, true);
	else
		doc_init_terminal(&d, &out[form], &style);
	r = form == JSON ? check_json(&out[form], &check) :
	    form == JUNIT ? check_junit(&out[form], &check, 1) : check_doc(&d, &check);
	doc_release(&d);
	ck_assert_int_eq(r, 0);
	return buf_str(&out[form]);
}

static void has(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) != NULL, "'%s' is not in:\n%s", part, text);
}

static void lacks(const char *text, const char *part)
{
	ck_assert_msg(strstr(text, part) == NULL, "'%s' is in:\n%s", part, text);
}

/* Groups */

static size_t pick(struct noise *n, size_t most)
{
	return (size_t)(noise_uniform(n) * (double)most);
}

/* Any verdict: findings of many tasks, some with odd names, that are alike or not. */
static void make_any(uint64_t seed)
{
	static const struct known note = { .reason = "bug 1", .by = "me" };
	struct noise n = { seed };
	size_t tasks = 1 + pick(&n, 60), share = 1 + pick(&n, 4);

	begin(tasks);
	for (size_t i = 0; i < tasks; i++) {
		builds.task[i].kind = pick(&n, 2) ? "compile" : "link";
		if (!pick(&n, 3))
			builds.task[i].name = odd_names[pick(&n, ARRAY_SIZE(odd_names))];
	}
	for (uint32_t i = 0; i < (tasks + 2) * METRICS; i++) {
		uint32_t task = i / METRICS < tasks ? i / METRICS : TASK_TOTAL - (uint32_t)(i / METRICS - tasks);
		double effect = pick(&n, 5) ? 0.3 + 0.05 * noise_uniform(&n) : 3 * noise_uniform(&n) - 0.9;

		for (size_t k = 0; k < 2 && !pick(&n, share); k++) {
			struct verdict_finding *f = add(task, i % METRICS,
							pick(&n, 3) ? 15 : (uint32_t)pick(&n, BUILDS), effect);

			f->first -= pick(&n, 3) && f->first ? 1 : 0;
			f->last += pick(&n, 3) && f->last < NEWEST ? 1 : 0;
			f->creep = !pick(&n, 9);
			f->state = pick(&n, 4) ? FINDING_CONFIRMED : pick(&n, 2) ? FINDING_KNOWN : FINDING_SUSPECT;
			f->known = f->state == FINDING_KNOWN ? &note : NULL;
			f->fails = f->worse && f->state == FINDING_CONFIRMED && (task != TASK_HOST || pick(&n, 2));
			f->tasks = task == TASK_HOST ? (uint32_t)tasks : 0;
			if (!pick(&n, 9)) {
				f->before = 0;
				f->now = f->worse ? 5e6 : 0;
				f->effect = f->low = f->high = f->worse ? INFINITY : 0;
			}
		}
	}
	verdict.not_judged = !pick(&n, 4);
	verdict.build_status = verdict.not_judged ? (int64_t)pick(&n, 515) - 1 : 0;
	verdict.n_confirmed = 0;
	for (size_t i = 0; i < verdict.n; i++)
		verdict.n_confirmed += verdict.finding[i].fails;
	group();
}

static bool is_alike(const struct verdict_finding *a, const struct verdict_finding *b)
{
	return a->state == b->state && a->worse == b->worse && a->fails == b->fails &&
	       a->metric == b->metric && a->creep == b->creep && a->known == b->known;
}

static void is_group(size_t i)
{
	const struct verdict_group *g = &groups.group[i];
	RELEASED(buf, pattern = BUF_INIT);
	double before = 0, now = 0;

	ck_assert(g->n == 1 || g->n >= GROUP_LEAST);
	ck_assert_int_eq(g->n == 1, g->of == GROUP_ONE);
	ck_assert_int_eq(g->n == 1, !g->name.len);
	verdict_group_add_pattern(&pattern, &groups, &verdict, &builds, g);
	for (size_t k = 0; k < g->n; k++) {
		const struct verdict_finding *f = check_member(&check, g, k);

		ck_assert_uint_eq(groups.of[groups.member[g->first + k]], i);
		ck_assert(is_alike(f, &g->whole));
		ck_assert(g->n == 1 || (f->task < builds.n_tasks && g->whole.low <= f->effect &&
					f->effect <= g->whole.high));
		ck_assert(f->first <= g->whole.since && g->whole.since <= f->last);
		ck_assert(rules_pattern_fits(buf_str(&pattern), f->task == TASK_HOST ? "any" :
					     builds_task_name(&builds, f->task)));
		before += f->before;
		now += f->now;
	}
	ck_assert(g->n == 1 || strcmp(buf_str(&pattern), "*") != 0);
	ck_assert_double_eq_tol(before, g->whole.before, 1e-6 * before + 1e-9);
	ck_assert_double_eq_tol(now, g->whole.now, 1e-6 * now + 1e-9);
}

TEST_GROUP("groups");

/* Each finding is in exactly one group, whose sums are those of its members. */
TEST_LOOP(any_groups, 200)
{
	size_t n = 0;
	bool *seen;

	make_any((uint64_t)_i + 1);
	seen = calloc(verdict.n + 1, sizeof *seen);
	for (size_t i = 0; i < groups.n; i++) {
		ck_assert_uint_eq(groups.group[i].first, n);
		n += groups.group[i].n;
		is_group(i);
	}
	ck_assert_uint_eq(n, verdict.n);
	for (size_t i = 0; i < n; i++) {
		ck_assert(!seen[groups.member[i]]);
		seen[groups.member[i]] = true;
	}
	free(seen);
	end();
}

/* NAME|KIND|EFFECT|BUILD, all of wall time; and the groups. */
static const struct { const char *what, *task[12], *group[8]; } grouped[] = {
	{ "recipes", { "a: do_x|x|.2|15", "a: do_y|y|.3|15", "a: do_z|z|.25|15", "b: do_x|x|.5|15",
		       "b: do_y|y|.5|15", "b: do_z|z|.5|15", "c: do_x|x|.5|15" },
	  { "recipe a: 3 tasks", "recipe b: 3 tasks", "c: do_x" } },
	{ "another size is another cause", { "a: do_x|x|.2|15", "a: do_y|y|2|15", "a: do_z|z|.25|15",
					     "a: do_u|u|.21|15" },
	  { "a: do_y", "recipe a: 3 tasks" } },
	{ "another build is another cause", { "a: do_x|x|.2|15", "a: do_y|y|.2|9", "a: do_z|z|.25|15" },
	  { "a: do_x", "a: do_y", "a: do_z" } },
	{ "directories of both forms", { "s: a.o|c|.2|15", "s: b.o|c|.2|15", "s: c.o|c|.2|15",
					 "t/a.o|d|.2|15", "t/b.o|d|.2|15", "t/c.o|d|.2|15",
					 "t/u/c.o|e|.2|15", "f|f|.2|15", "f2|c|0|15", "f3|c|0|15",
					 "f4|d|0|15", "f5|d|0|15" },
	  { "directory s: 3 tasks", "directory t: 3 tasks", "f", "t/u/c.o" } },
	{ "a kind in many directories", { "a/1.o|compile|.2|15", "b/2.o|compile|.2|15",
					  "c/3.o|compile|.2|15", "d/e|link|.2|15" },
	  { "kind compile: 3 tasks", "d/e" } },
	{ "not most of a kind", { "a/1.o|compile|.2|15", "b/2.o|compile|.2|15", "c/3.o|compile|.2|15",
				  "d/4.o|compile|0|15", "e/5.o|compile|0|15", "f/6.o|compile|0|15",
				  "g/7.o|compile|0|15" },
	  { "a/1.o", "b/2.o", "c/3.o" } },
	{ "a kind without a pattern", { "x|compile|.2|15", "y|compile|.2|15", "z|compile|.2|15" },
	  { "x", "y", "z" } },
	{ "the top directory", { "x.o|c|.2|15", "y.o|c|.2|15", "z.o|c|.2|15", "1|c|0|15", "2|c|0|15",
				 "3|c|0|15", "4|c|0|15" },
	  { "directory .: 3 tasks" } },
	{ "better and worse are two", { "a: do_x|x|-.3|15", "a: do_y|y|.3|15", "a: do_z|z|.3|15" },
	  { "a: do_x", "a: do_y", "a: do_z" } },
};

static void set_task(uint32_t task, char *text)
{
	char *part[4], *next = text;

	for (size_t i = 0; i < ARRAY_SIZE(part); i++)
		part[i] = strsep(&next, "|");
	builds.task[task].name = part[0];
	builds.task[task].kind = part[1];
	if (strtod(part[2], NULL) != 0)
		add(task, METRIC_WALL, (uint32_t)atoi(part[3]), strtod(part[2], NULL));
}

TEST_EACH(groups_alike, grouped)
{
	char text[12][64];
	uint32_t n = 0, n_groups = 0;

	while (n < 12 && grouped[_i].task[n])
		n++;
	begin(n);
	for (uint32_t i = 0; i < n; i++)
		set_task(i, strcpy(text[i], grouped[_i].task[i]));
	group();
	for (; n_groups < 8 && grouped[_i].group[n_groups]; n_groups++) {
		bool found = false;

		for (size_t i = 0; i < groups.n; i++) {
			struct buf name = BUF_INIT;

			words_add_group(&name, &builds, &groups.group[i]);
			found |= !strcmp(buf_str(&name), grouped[_i].group[n_groups]);
			buf_release(&name);
		}
		ck_assert_msg(found, "%s: %s", grouped[_i].what, grouped[_i].group[n_groups]);
	}
	ck_assert_msg(groups.n == n_groups, "%s: %zu groups", grouped[_i].what, groups.n);
	end();
}

/* One line a group; its members if there are few, or all were asked for. */
TEST(lists_members)
{
	static char name[60][32];
	size_t few = 0, all = 0;

	begin(60);
	for (uint32_t i = 0; i < 58; i++) {
		snprintf(name[i], sizeof name[i], "r%u: do_%u", i / 29, i % 29);
		builds.task[i].name = name[i];
		add(i, METRIC_WALL, 15, i < 29 ? 0.2 + 0.003 * i : 0.5);
	}
	for (const char *p = printed(TEXT); (p = strstr(p, "\n    re")); p++)
		few++;
	ck_assert_uint_eq(few, 2);
	has(printed(TEXT), "2 regressions confirmed (58 changes)");
	has(printed(TEXT), "    recipe r0: 29 tasks                       wall time +24 % (+20 % to +28 %), "
	    "+1m 10s in all\n");
	lacks(printed(TEXT), "      r0: do_3");
	has(printed(MARKDOWN), "| recipe r0: 29 tasks | wall time | +1m 10s in all | +24 % (+20 % to +28 %) |");
	has(printed(JUNIT), "tests=\"7\" failures=\"2\"");
	has(printed(JUNIT), "name=\"recipe r0: wall time\"");
	has(printed(JUNIT), ", and 9 more<");
	has(printed(JSON), "\"group\": 1,");
	has(printed(JSON), "\"findings\": 29,");
	check.all = true;
	for (const char *p = printed(TEXT); (p = strstr(p, "\n      r")); p++)
		all++;
	ck_assert_uint_eq(all, 58);
	end();
}

/* JUnit */

TEST_GROUP("junit");

/* The cases of any verdict have different names, and their counts are right. */
TEST_LOOP(any_junit, 60)
{
	const char *dir = support_tmpdir(), *text;

	SKIP_IF(!support_has("xmllint"));
	make_any((uint64_t)_i + 1000);
	text = printed(JUNIT);
	support_writes(support_path("%s/x.xml", dir), text);
	support_expect(dir, 0, NULL, NULL,
		       "xmllint --noout --schema %s/tests/data/junit.xsd x.xml && "
		       "test $(grep -o '<testcase ' x.xml | wc -l) = "
		       "$(sed -n 's/.* tests=\"\\([0-9]*\\)\".*/\\1/p' x.xml) && "
		       "test $(grep -o '<failure ' x.xml | wc -l) = "
		       "$(sed -n 's/.* failures=\"\\([0-9]*\\)\".*/\\1/p' x.xml) && "
		       "test $(grep -o '<skipped ' x.xml | wc -l) = "
		       "$(sed -n 's/.* skipped=\"\\([0-9]*\\)\" t.*/\\1/p' x.xml)", TOP_SRCDIR);
	end();
}

/* A build that failed */

static const struct { int64_t status; const char *text, *json; } ends[] = {
	{ 2, "not judged: the build failed (exit 2)", "\"exit_status\": 2,\n    \"signal\": null" },
	{ STATUS_KILLED + 9, "not judged: the build was killed (SIGKILL)",
	  "\"exit_status\": null,\n    \"signal\": 9" },
	{ STATUS_FAILED, "not judged: the build failed (unknown status)", "\"signal\": null" },
	{ STATUS_UNFINISHED, "not judged: the build did not finish", "\"unfinished\": true" },
	{ -1, "not judged: the build failed (unknown status)", "\"exit_status\": null" },
};

TEST_GROUP("status");

TEST_EACH(failed, ends)
{
	const char *text;

	begin(3);
	verdict.not_judged = true;
	verdict.build_status = ends[_i].status;
	builds.build[NEWEST].total[TOTAL_STATUS] = builds.build[NEWEST - 1].total[TOTAL_STATUS] = 2;
	text = printed(TEXT);
	has(text, support_path("%s: host/main/x86, build ", ends[_i].text));
	has(text, "the changes are those of the last good build, ");
	lacks(text, "no regression");
	has(printed(JSON), "\"verdict\": \"not_judged\"");
	has(printed(JSON), ends[_i].json);
	has(printed(JUNIT), "tests=\"5\" failures=\"1\" errors=\"0\" skipped=\"4\"");
	has(printed(JUNIT), "name=\"status of the build\" time=\"0\"><failure message=\"the build ");
	has(printed(MARKDOWN), "**not judged: the build ");
	/* What was confirmed stays listed. */
	add(0, METRIC_WALL, 10, 0.5);
	has(printed(TEXT), support_path("%s, 1 regression confirmed: ", ends[_i].text));
	has(printed(TEXT), "wall time +50 %");
	has(printed(TEXT), ", 8 builds\n");
	has(printed(JUNIT), "tests=\"6\" failures=\"2\" errors=\"0\" skipped=\"4\"");
	end();
}

TEST(succeeded)
{
	begin(3);
	has(printed(TEXT), "no regression: ");
	has(printed(JUNIT), "tests=\"5\" failures=\"0\" errors=\"0\" skipped=\"0\"");
	has(printed(JUNIT), "name=\"status of the build\" time=\"0\"/>");
	verdict.build_status = -1;
	has(printed(JUNIT), "skipped=\"1\"");
	end();
}

/* What all tasks share, and slow changes */

TEST_GROUP("words");

TEST(shared)
{
	struct verdict_finding *f;

	begin(300);
	f = add(TASK_HOST, METRIC_CPU, 15, 0.25);
	f->before = 1;
	f->now = 1.25;
	f->tasks = 300;
	verdict.host_event[METRIC_CPU] = verdict.host_event[METRIC_WALL] = true;
	has(printed(TEXT), "all 300 tasks ");
	has(printed(TEXT), "all tasks: wall time ");
	lacks(printed(TEXT), "all tasks: CPU time ");
	lacks(printed(TEXT), "a flag");
	lacks(printed(JUNIT), "all tasks");
	f->fails = true;
	verdict.n_confirmed = 1;
	for (enum form form = TEXT; form < FORMS; form++) {
		if (form != JSON)
			has(printed(form), "a flag, header or tool that all tasks share, or the machine");
	}
	has(printed(TEXT), "1 regression confirmed");
	has(printed(TEXT), "src ");
	has(printed(TEXT), " accept --known --repo builds.git --build ");
	has(printed(TEXT), " --metrics cpu '*' REASON\n");
	has(printed(TEXT), "buildbeat history --repo builds.git --metrics cpu host\n");
	has(printed(MARKDOWN), "| all 300 tasks | CPU time |");
	has(printed(JUNIT), "name=\"all tasks: CPU time\"");
	has(printed(JUNIT), "message=\"all 300 tasks, CPU time +25 %");
	has(printed(JSON), "\"tasks\": 300,");
	has(printed(JSON), "\"fails\": true");
	f->tasks = 225;
	has(printed(TEXT), "    225 of 300 tasks ");
	end();
}

TEST(slowly)
{
	struct verdict_finding *f;

	begin(3);
	f = add(1, METRIC_CPU, 12, 0.25);
	f->creep = true;
	f->first = 4;
	has(printed(TEXT), "  slowly, between ");
	has(printed(TEXT), " and ");
	has(printed(MARKDOWN), "slowly, between ");
	has(printed(JUNIT), "slowly, between ");
	has(printed(JSON), "\"creep\": true");
	end();
}

/* Commands */

TEST_GROUP("commands");

/* What a shell passes on is what was meant, and a terminal obeys no byte of the text. */
TEST_EACH(shown_words, odd_names)
{
	RELEASED(buf, b = BUF_INIT);
	struct run r;

	shell_add_shown(&b, odd_names[_i]);
	for (size_t i = 0; i < b.len; i++)
		ck_assert(b.data[i] == '\n' || (unsigned char)b.data[i] >= ' ');
	support_run(&r, support_tmpdir(), "printf %%s. %s", buf_str(&b));
	ck_assert_uint_eq(r.out.len, strlen(odd_names[_i]) + 1);
	ck_assert_int_eq(memcmp(r.out.data, odd_names[_i], r.out.len - 1), 0);
}

/* A shell that is given the printed lines calls buildbeat with these words. */
TEST_EACH(pasted, odd_names)
{
	static const char *const want[] = { "history", "bisect", "accept", "accept" };
	const char *dir = support_tmpdir(), *name = odd_names[_i], *p;
	struct verdict_finding *f;
	struct run r;

	begin(2);
	builds.task[1].name = name;
	f = add(1, METRIC_CPU, 15, 0.25);
	f->first = 14;
	check.archive.repo = "my builds.git";
	check.archive.config = "my config.yaml";
	check.archive.ref = builds.ref;
	check.command = "make -j8 'CFLAGS=-O2 -g' \"it's\"";
	check.all = true;
	p = strstr(printed(TEXT), "    show its history:\n");
	ck_assert_ptr_nonnull(p);
	support_writes(support_path("%s/pasted", dir), p);
	/* Labels are words that end with ':', a line each. */
	support_run(&r, dir, "cat >run <<'EOF'\nbuildbeat() { for i; do printf '%%s\\0' \"$i\"; done; printf '\\1'; }\nEOF\n"
		    "grep -av '^    [a-z].*:$' pasted >>run; dash=$(command -v dash || echo sh); $dash run");
	ck_assert_msg(r.status == 0 && !r.err.len, "%s%s", p, r.err.data);
	p = r.out.data;
	for (size_t i = 0; i < ARRAY_SIZE(want); i++) {
		const char *stop = memchr(p, 1, (size_t)(r.out.data + r.out.len - p)), *pattern;
		bool task = false, config = false, command = false;

		ck_assert_ptr_nonnull(stop);
		ck_assert_str_eq(p, want[i]);
		for (; p < stop; p += strlen(p) + 1) {
			pattern = i > 1 ? p : NULL;
			task |= !strcmp(p, name) || (pattern && strcmp(p, "REASON") != 0 && !fnmatch(pattern, name, 0));
			config |= !strcmp(p, "my config.yaml");
			command |= !strcmp(p, "CFLAGS=-O2 -g");
		}
		ck_assert_msg(task && config && command == (i == 1), "%s: %d %d", want[i], task, config);
		p = stop + 1;
	}
	end();
}

/* A password in the archive's URL is not printed. */
TEST(secret)
{
	begin(2);
	add(1, METRIC_CPU, 15, 0.25);
	check.archive.repo = "https://me:hunter2@example.org/builds.git";
	lacks(printed(TEXT), "hunter2");
	has(printed(TEXT), "example.org/builds.git");
	end();
}

/* Without revisions or a command; and of the build as a whole. */
TEST(incomplete)
{
	begin(2);
	add(TASK_TOTAL, METRIC_WALL, 15, 0.25);
	has(printed(TEXT), " --metric wall -- CMD\n");
	has(printed(TEXT), " --total REASON\n");
	has(printed(TEXT), "--metrics wall total\n");
	verdict.finding[0].since = verdict.finding[0].first = verdict.finding[0].last = 0;
	lacks(printed(TEXT), "bisect");
	end();
}

/* Improvements, and what a machine did, are listed with the build that confirms them and the next two. */
TEST_LOOP(news_are_listed_once, 5)
{
	struct verdict_finding *f;

	begin(3);
	f = add(1, METRIC_CPU, 8, _i < 3 ? -0.25 : 0.25);
	if (_i == 3) {
		f->task = TASK_HOST;
		f->fails = false;
	}
	verdict.n_confirmed = f->fails;
	for (uint32_t ago = 0; ago < 5; ago++) {
		f->at = NEWEST - ago;
		check.all = _i == 1;
		f->known = _i == 2 ? &(struct known){ .reason = "why" } : NULL;
		if (_i == 0 || _i == 3)
			(ago < 3 ? has : lacks)(printed(TEXT), "\n    ");
		else
			has(printed(TEXT), "\n    ");	/* all, a note, a regression */
		(strstr(printed(TEXT), "\n    ") ? has : lacks)(printed(MARKDOWN), "CPU time |");
		has(printed(JSON), "\"of\": ");
	}
	end();
}

/* One cause is counted once, and one of its test cases fails. */
TEST(one_cause)
{
	begin(3);
	add(0, METRIC_WALL, 15, 0.25);
	add(0, METRIC_CPU, 15, 0.25);
	has(printed(TEXT), "1 regression confirmed (2 changes): ");
	has(printed(JSON), "\"causes\": 1,\n");
	has(printed(JUNIT), "failures=\"1\" ");
	has(printed(JUNIT), "; fails with recipe0: do_task0: wall time");
	add(1, METRIC_CPU, 15, 0.25);
	has(printed(TEXT), "2 regressions confirmed (3 changes): ");
	verdict.finding[1].fails = false;
	verdict.n_confirmed--;
	has(printed(TEXT), "2 regressions confirmed: ");
	has(printed(JUNIT), "failures=\"2\" ");
	lacks(printed(JUNIT), "; fails with ");
	end();
}

/* A new machine is one line with all metrics of all tasks; another change of the build has its own. */
TEST(one_line_of_a_machine)
{
	begin(3);
	add(TASK_HOST, METRIC_WALL, 15, -0.2);
	add(TASK_TOTAL, METRIC_WALL, 15, -0.15);
	add(TASK_TOTAL, METRIC_CPU, 15, -0.16);
	add(TASK_HOST, METRIC_CPU, 15, -0.19);
	add(TASK_TOTAL, METRIC_IO, 17, -0.3);
	verdict.n_confirmed = 0;
	has(printed(TEXT), "    all tasks                                 wall time -20 % (-21 % to -19 %), "
	    "x 10000000.00 -> x 8000000.00, CPU time -19 %, the build 10.0 s -> 8.50 s\n");
	lacks(printed(TEXT), "-16 %");
	has(printed(TEXT), "    the build                                 ");
	has(printed(MARKDOWN), ", CPU time -19 %, the build 10.0 s -\\> 8.50 s |");
	check.all = true;
	has(printed(TEXT), "-16 %");
	end();
}

/* The tasks that changed with all of them are listed if they are few, or with --all. */
TEST_LOOP(moved_tasks, 2)
{
	struct verdict_finding *f;
	size_t n = _i ? 12 : 4;

	begin(20);
	verdict.moved = calloc(n, sizeof *verdict.moved);
	for (uint32_t i = 0; i < n; i++)
		verdict.moved[i] = 2 + i;
	f = add(TASK_HOST, METRIC_WALL, 15, 0.2);
	f->fails = true;
	f->tasks = (uint32_t)n;
	f->n_moved = n;
	(_i ? lacks : has)(printed(TEXT), support_path("\n      %s\n", builds.task[5].name));
	check.all = true;
	has(printed(TEXT), support_path("\n      %s\n", builds.task[5].name));
	lacks(printed(TEXT), support_path("\n      %s\n", builds.task[1].name));
	has(printed(MARKDOWN), "do\\_task5");
	has(printed(JSON), support_path("\"moved\": [\n        \"%s\",\n", builds.task[2].name));
	end();
}

/* The newest value beside the level. */
TEST(newest_value)
{
	struct verdict_finding *f;

	begin(3);
	f = add(1, METRIC_WALL, 15, 0.2);
	f->newest = 11.5e6;
	has(printed(TEXT), "10.0 s -> 12.0 s, newest 11.5 s\n");
	lacks(printed(TEXT), "is back");
	f->back = true;
	f->newest = 10.1e6;
	f->fails = false;
	verdict.n_confirmed = 0;
	has(printed(TEXT), "      the newest build is back at 10.1 s\n");
	has(printed(MARKDOWN), "; the newest build is back at 10.1 s");
	has(printed(JSON), "\"back\": true");
	end();
}

static void add_suspect(uint32_t task, enum metric m, uint32_t since)
{
	struct verdict_finding *f = add(task, m, since, 0.25);

	f->state = FINDING_SUSPECT;
	f->fails = false;
	verdict.n_confirmed--;
	verdict.n_suspect++;
}

/* What decides a suspect is to record both revisions again; better ones need no decision. */
TEST(suspects_are_decided)
{
	begin(3);
	check.command = "make -j8";
	check.archive.config = "x.yaml";
	add_suspect(1, METRIC_CPU, NEWEST);
	has(printed(TEXT), "    decide: record the last good and the first bad revision again, in ");
	has(printed(TEXT), "      buildbeat bisect --config x.yaml --good ");
	has(printed(TEXT), " --metric cpu -- make -j8\n");
	lacks(printed(TEXT), "accept");
	lacks(printed(TEXT), "record --config");
	lacks(printed(MARKDOWN), "buildbeat bisect");

	/* the same revision on both sides */
	builds.build[NEWEST].revision = builds.build[NEWEST - 1].revision;
	has(printed(TEXT), "    no revision differs: record the newest one again:\n      buildbeat record "
	    "--config x.yaml -- make -j8 && buildbeat archive --config x.yaml --repo builds.git\n");
	lacks(printed(TEXT), "bisect");
	verdict.finding[0].worse = false;
	lacks(printed(TEXT), "record --config");
	verdict.finding[0].worse = true;
	check.against = &(struct check_against){ .ref = "h/main/m", .first = NEWEST };
	lacks(printed(TEXT), "record --config");
	end();
}

TEST_MAIN(findings);
