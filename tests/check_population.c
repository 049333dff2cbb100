/* SPDX-License-Identifier: MIT */
/* New, gone and renamed tasks of the newest build. */
#include "compare/diff.h"
#include "compare/follow_renames.h"
#include "compare/population.h"
#include "compare/presence.h"
#include "report/check_population.h"

#include "tests/made_tasks.h"
#include "tests/made_values.h"
#include "tests/noise.h"
#include "tests/support.h"

#define BUILDS 16
#define NAMES 80
#define MARKDOWN 1		/* no width of a terminal */

static const struct {
	const char *what;
	const char *build[BUILDS];
	/* before, now, then counts of SAME, NEW, RETURNED, GONE, IDLE and renamed */
	const char *counts;
} cases[] = {
	{ "one build", { "a b" }, "" },
	{ "only failed ones", { "!a", "!b" }, "" },
	{ "nothing", { "a b", "a b" }, "0 1: 2 0 0 0 0, 0" },
	{ "new and gone", { "a b c d", "a b c e.o" }, "0 1: 3 1 0 1 0, 0" },
	{ "renamed", { "a b c d/m.o", "a b c e/m.o f" }, "0 1: 4 1 0 0 0, 1" },
	{ "another name in a failed build", { "a b c d/m.o", "!e/m.o", "a b c f/m.o" },
	  "0 2: 4 0 0 0 0, 1" },
	{ "renamed before", { "a b c d/m.o", "a b c e/m.o", "a b c e/m.o" }, "1 2: 4 0 0 0 0, 0" },
	{ "the newest failed", { "a b c d", "a b c e.o", "!a" }, "0 1: 3 1 0 1 0, 0" },
	{ "returned", { "a b c d", "a b c", "a b c d" }, "1 2: 3 0 1 0 0, 0" },
	{ "incremental", { "a b c d", "a e" }, "0 1: 1 1 0 0 3, 0" },
	{ "incremental before", { "a b c d", "a", "a b c d e.o" }, "0 2: 4 1 0 0 0, 0" },
	{ "sometimes", { "a b c d e", "a b c d", "a b c d e", "a b c d" }, "2 3: 4 0 0 0 1, 0" },
};

static void follow(struct builds *builds, const char *const *build, size_t n)
{
	struct error err;

	made_tasks(builds, build, n);
	ck_assert_msg(!follow_renames(builds, &err), "%s", err.message);
}

TEST_EACH(counts, cases)
{
	RELEASED(builds, builds);
	RELEASED(population, p);
	struct error err;
	RELEASED(buf, text = BUF_INIT);
	size_t n = 0;

	while (n < BUILDS && cases[_i].build[n])
		n++;
	follow(&builds, cases[_i].build, n);
	ck_assert_int_eq(population_make(&p, &builds, &err), 0);
	if (p.known)
		buf_addf(&text, "%u %u: %zu %zu %zu %zu %zu, %zu", p.before, p.now, p.count[0],
			 p.count[1], p.count[2], p.count[3], p.count[4], p.n_renamed);
	ck_assert_msg(!strcmp(buf_str(&text), cases[_i].counts), "%s: %s", cases[_i].what,
		      buf_str(&text));
}

TEST(details)
{
	static const char *const build[] = {
		"a b c d e f g h x/m.o old", "a new", "a b c d e f g h y/m.o new small",
	};
	RELEASED(builds, builds);
	RELEASED(population, p);
	struct error err;

	follow(&builds, build, 3);
	ck_assert_int_eq(population_make(&p, &builds, &err), 0);
	ck_assert_uint_eq(p.n, 4);
	ck_assert_str_eq(p.task[0].was, "x/m.o");
	ck_assert_str_eq(builds.task[p.task[0].task].name, "y/m.o");
	ck_assert_int_eq(p.task[0].reason, RENAME_MOVED);
	ck_assert_uint_eq(p.task[0].since, 2);
	ck_assert_int_eq(p.task[1].kind, POPULATION_NEW);
	ck_assert_str_eq(builds.task[p.task[1].task].name, "small");
	ck_assert_uint_eq(p.task[1].since, 2);
	ck_assert_str_eq(builds.task[p.task[2].task].name, "new");
	ck_assert_uint_eq(p.task[2].since, 1);
	ck_assert_int_eq(p.task[3].kind, POPULATION_GONE);
	ck_assert_str_eq(builds.task[p.task[3].task].name, "old");
	ck_assert_uint_eq(p.task[3].since, 1);
	ck_assert_float_eq((float)p.task[3].value[1], 2 * made_tasks_value(9, 0));
}

static const char *print(struct buf *text, unsigned width, const struct population *p,
			 const struct builds *builds)
{
	struct style style = { .width = width };
	struct doc d;

	buf_clear(text);
	if (width == MARKDOWN)
		doc_init_people(&d, text, NULL, true);
	else
		doc_init_terminal(&d, text, &style);
	check_population_add(&d, p, builds, 1);
	doc_release(&d);
	return buf_str(text);
}

/* The newest build failed; only one task of each kind is listed. */
TEST(printed)
{
	static const char *const build[] = {
		"a b c d e f g h i j k l x/m.o old older", "a b c d e f g h i j k l y/m.o new newer", "!a",
	};
	RELEASED(builds, builds);
	struct population p;
	struct error err;
	RELEASED(buf, text = BUF_INIT);
	struct json j;

	follow(&builds, build, 3);
	ck_assert_int_eq(population_make(&p, &builds, &err), 0);
	ck_assert_str_eq(print(&text, 0, &p, &builds), "\nNew, gone and renamed tasks\n"
		"  - (12345678) compared with - (12345678): 2 new, 2 gone, 1 renamed\n"
		"  CPU time of all tasks +18 ms: new +70 ms, gone -58 ms, in both builds +6.0 ms\n"
		"    newer                                     CPU time 36 ms, new\n"
		"    older                                     CPU time 30 ms, gone\n"
		"    y/m.o                                     CPU time 32 ms, "
		"renamed from x/m.o (moved)\n"
		"  and 2 more (--top lists them)\n");
	ck_assert(strstr(print(&text, 60, &p, &builds), "\n    y/m.o\n      CPU time 32 ms, renamed"));
	ck_assert(strstr(print(&text, MARKDOWN, &p, &builds), "| y/m.o | renamed from x/m.o (moved) | 32 ms |"));
	ck_assert(strstr(buf_str(&text), "\nand 2 more\n"));
	buf_clear(&text);
	json_init(&j, &text, true);
	json_object(&j, NULL);
	check_population_json(&j, &p, &builds);
	json_object_end(&j);
	ck_assert(strstr(buf_str(&text), "\"was\":\"x/m.o\"") ||
		  strstr(buf_str(&text), "\"was\": \"x/m.o\""));
	population_release(&p);

	/* Nothing to print. */
	ck_assert_str_eq(print(&text, 0, NULL, &builds), "");
	ck_assert_str_eq(print(&text, 0, &p, &builds), "");
	ck_assert_str_eq(print(&text, MARKDOWN, &p, &builds), "");
}

static void make_builds(struct builds *builds, struct noise *noise, double missing)
{
	struct buf text[BUILDS] = { BUF_INIT };
	const char *build[BUILDS];
	size_t n = 2 + (size_t)(noise_uniform(noise) * (BUILDS - 2));
	size_t names = 10 + (size_t)(noise_uniform(noise) * (NAMES - 10));

	for (size_t i = 0; i < n; i++)
		buf_adds(&text[i], noise_uniform(noise) < 0.1 ? "!" : "");
	for (size_t t = 0; t < names; t++) {
		unsigned directory = noise_uniform(noise) < 0.5;
		bool there = noise_uniform(noise) < 0.9;

		for (size_t i = 0; i < n; i++) {
			if (noise_uniform(noise) < 0.03)
				directory++;
			if (noise_uniform(noise) < 0.03)
				there = !there;
			if (there && noise_uniform(noise) >= missing)
				buf_addf(&text[i], " dir%u/name%zu.o", directory, t * t);
		}
	}
	for (size_t i = 0; i < n; i++)
		build[i] = buf_str(&text[i]);
	follow(builds, build, n);
	for (size_t i = 0; i < BUILDS; i++)
		buf_release(&text[i]);
}

static double sum_of(const struct builds *builds, uint32_t build, enum metric m)
{
	float *values = malloc((builds->n_tasks + 1) * sizeof *values);
	struct error err;
	double sum = 0;

	ck_assert_int_eq(builds->row(builds, build, m, values, &err), 0);
	for (size_t t = 0; t < builds->n_tasks; t++)
		sum += isnan(values[t]) ? 0 : values[t];
	free(values);
	return sum;
}

/* Every task of the two builds is counted once, and the sums are those of the builds. */
TEST_LOOP(adds_up, 400)
{
	static const double missing[] = { 0, 0, 0.02, 0.3 };
	struct noise noise = { (uint64_t)_i + 1 };
	size_t listed[POPULATION_KINDS] = { 0 };
	RELEASED(builds, builds);
	RELEASED(population, p);
	struct error err;

	make_builds(&builds, &noise, missing[_i % 4]);
	ck_assert_int_eq(population_make(&p, &builds, &err), 0);
	if (p.known) {
		const size_t *n = p.count;

		ck_assert_uint_eq(n[POPULATION_SAME] + n[POPULATION_GONE] + n[POPULATION_IDLE],
				  builds.presence->count[p.before]);
		ck_assert_uint_eq(n[POPULATION_SAME] + n[POPULATION_NEW] + n[POPULATION_RETURNED],
				  builds.presence->count[p.now]);
		ck_assert_uint_eq(p.n_before + n[POPULATION_NEW] + n[POPULATION_RETURNED] -
				  n[POPULATION_GONE] - n[POPULATION_IDLE], p.n_now);
		for (int m = 0; m < POPULATION_METRICS; m++) {
			ck_assert(fabs(sum_of(&builds, p.before, m ? METRIC_CPU : METRIC_WALL) -
				       p.total_before[m]) < 0.5);
			ck_assert(fabs(sum_of(&builds, p.now, m ? METRIC_CPU : METRIC_WALL) -
				       p.total_now[m]) < 0.5);
		}
	}
	for (size_t i = 0; i < p.n; i++) {
		const struct population_task *t = &p.task[i];

		listed[t->kind]++;
		ck_assert(!i || t[-1].kind < t->kind || (t[-1].kind == t->kind &&
							 t[-1].value[1] >= t->value[1]));
		ck_assert(t->since > p.before && t->since <= p.now);
		ck_assert((t->kind == POPULATION_SAME) == (t->was != NULL));
		ck_assert((t->kind == POPULATION_SAME) == (t->reason != RENAME_NONE));
	}
	ck_assert_uint_eq(listed[POPULATION_SAME], p.n_renamed);
	for (int k = POPULATION_NEW; k <= POPULATION_GONE; k++)
		ck_assert_uint_eq(listed[k], p.count[k]);
}

/* Two generated builds: files in directories and tasks of recipes, most of them in both. */
struct two {
	char name[2][NAMES][64];
	size_t n[2], n_recipes[2];
	char recipe[2][NAMES][32];
};

static void add_name(struct two *two, int side, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void add_name(struct two *two, int side, const char *format, ...)
{
	char *name = two->name[side][two->n[side]];
	va_list ap;

	va_start(ap, format);
	vsnprintf(name, sizeof two->name[side][0], format, ap);
	va_end(ap);
	for (size_t i = 0; i < two->n[side]; i++) {
		if (!strcmp(two->name[side][i], name))
			return;
	}
	two->n[side]++;
}

static void make_two(struct two *two, struct noise *noise)
{
	static const char *const kinds[] = { ".o", ".a", "" };
	size_t files = 20 + (size_t)(noise_uniform(noise) * 20), recipes = files / 10;

	*two = (struct two){ .n = { 0 } };
	for (size_t i = 0; i < files; i++) {
		unsigned base = (unsigned)(noise_uniform(noise) * 60) * 37, now = base;
		unsigned was = (unsigned)(noise_uniform(noise) * 4), is = was;
		const char *end = kinds[i % 3];

		if (noise_uniform(noise) < 0.2)
			is = (unsigned)(noise_uniform(noise) * 4);
		if (noise_uniform(noise) < 0.1)
			now = base + 1;
		if (noise_uniform(noise) < 0.95)
			add_name(two, 0, "dir%u/source%u%s", was, base, end);
		if (noise_uniform(noise) < 0.95)
			add_name(two, 1, "dir%u/source%u%s", is, now, end);
	}
	for (size_t i = 0; i < recipes; i++) {
		for (int side = 0; side < 2; side++) {
			unsigned version = noise_uniform(noise) < 0.3;

			snprintf(two->recipe[side][i], sizeof two->recipe[side][i],
				 "library%zu-1.%u", 7 * i, version);
			two->n_recipes[side]++;
			add_name(two, side, "%s: do_compile", two->recipe[side][i]);
			add_name(two, side, "%s: do_install", two->recipe[side][i]);
		}
	}
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* As values, for diff; and as a text for made_tasks(). */
static void make_side(struct values *values, struct buf *build, struct two *two, int side)
{
	RELEASED(buf, text = BUF_INIT);

	qsort(two->name[side], two->n[side], sizeof two->name[side][0], by_name);
	for (size_t i = 0; i < two->n[side]; i++) {
		char *name = two->name[side][i], *blank = strchr(name, ' ');

		buf_addf(&text, "%s|compile|wall_us=1000000\n", name);
		if (blank)
			*blank = '~';
		buf_addf(build, " %s", name);
	}
	for (size_t i = 0; i < two->n_recipes[side]; i++) {
		buf_addf(&text, "@%s=1\n", two->recipe[side][i]);
		buf_addf(build, " %s%s%s", i ? "" : "[", two->recipe[side][i],
			 i + 1 < two->n_recipes[side] ? "" : "]");
	}
	made_values(values, buf_str(&text));
}

static const char *was_of(const struct diff *d, const char *name)
{
	for (size_t i = 0; i < d->n_tasks; i++) {
		if (!strcmp(d->task[i].name, name))
			return d->task[i].was;
	}
	return NULL;
}

/* check and diff name the same tasks of the same two builds; the history has both names. */
TEST_LOOP(agrees_with_diff, 200)
{
	struct noise noise = { (uint64_t)_i + 1 };
	struct values values[2];
	struct buf text[2] = { BUF_INIT, BUF_INIT };
	const char *build[2];
	struct builds builds;
	struct population p;
	struct rules rules;
	struct diff_options options = { .rules = &rules };
	struct two two;
	struct diff d;
	struct error err;

	make_two(&two, &noise);
	for (int side = 0; side < 2; side++) {
		make_side(&values[side], &text[side], &two, side);
		build[side] = buf_str(&text[side]);
	}
	follow(&builds, build, 2);
	rules_init(&rules);
	ck_assert_int_eq(population_make(&p, &builds, &err), 0);
	ck_assert_int_eq(diff_make(&d, &values[0], 1, &values[1], 1, &options), 0);
	ck_assert(p.known && !p.partial);
	ck_assert_uint_eq(p.n_renamed, d.n_renamed);
	ck_assert_uint_eq(p.count[POPULATION_NEW], d.n_new);
	ck_assert_uint_eq(p.count[POPULATION_GONE], d.n_gone);
	ck_assert_uint_eq(builds.n_tasks, d.n_tasks);
	for (size_t i = 0; i < p.n_renamed; i++) {
		const char *name = builds_task_name(&builds, p.task[i].task);
		const char *was = was_of(&d, name);

		ck_assert_msg(was && !strcmp(was, p.task[i].was), "%s", name);
		ck_assert_uint_eq(builds_find(&builds, was), p.task[i].task);
	}
	diff_release(&d);
	population_release(&p);
	builds_release(&builds);
	for (int side = 0; side < 2; side++) {
		values_release(&values[side]);
		buf_release(&text[side]);
	}
}

TEST_MAIN(population);
