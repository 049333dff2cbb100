/* SPDX-License-Identifier: MIT */
#include "report/check_output.h"

#include "base/hash.h"
#include "base/index.h"
#include "report/amount.h"
#include "report/check_limits.h"
#include "report/words.h"
#include "write/markup.h"

#include <string.h>
#include <time.h>

/*
 * Collectors compare test cases by name. So a case keeps its name while its subject has one
 * change, and no two cases of a report have the same.
 */
struct junit {
	const struct check *c;
	struct markup s;
	struct index names;	/* by hash and length */
	int error;
};

/* Improvements, and what the machine did, have no case. */
static bool is_case(const struct verdict_finding *f)
{
	return f->worse && (f->task != TASK_HOST || f->fails || f->known);
}

static size_t count(const struct check *c, bool failed)
{
	size_t n = 0;

	for (size_t i = 0; i < c->groups->n; i++) {
		const struct verdict_finding *f = &c->groups->group[i].whole;

		n += is_case(f) && f->fails == failed;
	}
	return n;
}

static void attr_count(struct markup *s, const char *name, size_t n)
{
	struct buf text = BUF_PART_OF(s->out);

	buf_addu(&text, n);
	markup_attr(s, name, buf_str(&text));
	buf_release(&text);
}

static bool is_new(struct junit *j, const struct buf *name)
{
	uint64_t hash = hash_fnv64(name->data, name->len);
	uint32_t unused;

	if (index_find(&j->names, hash, name->len, &unused))
		return false;
	j->error = j->error ? j->error : index_put(&j->names, hash, name->len, 0);
	return true;
}

/* f: of the case, or NULL. Different names can be shown alike. */
static void begin_case(struct junit *j, const char *subject, const struct verdict_finding *f)
{
	struct buf name = BUF_PART_OF(j->s.out);
	bool is_unique;
	size_t len;

	text_add_name(&name, subject, 0);
	is_unique = is_new(j, &name);
	if (!is_unique && f) {
		buf_addc(&name, ' ');
		words_add_since(&name, j->c->builds, f);
		is_unique = is_new(j, &name);
	}
	len = name.len;
	for (unsigned n = 2; !is_unique && !buf_error(&name); n++) {
		buf_cut(&name, len);
		buf_addf(&name, " (%u)", n);
		is_unique = is_new(j, &name);
	}
	markup_begin(&j->s, "testcase");
	markup_attr(&j->s, "classname", j->c->builds->ref);
	markup_attr(&j->s, "name", buf_str(&name));
	markup_attr(&j->s, "time", "0");
	buf_release(&name);
}
static void add_skipped(struct junit *j, const char *why)
{
	markup_begin(&j->s, "skipped");
	markup_attr(&j->s, "message", why);
	markup_end(&j->s);
}

/* How the newest build ended. */
static void add_status(struct junit *j)
{
	const struct verdict *v = j->c->verdict;
	struct buf text = BUF_PART_OF(j->s.out);

	begin_case(j, "status of the build", NULL);
	words_add_end(&text, v->build_status);
	if (v->not_judged) {
		markup_begin(&j->s, "failure");
		markup_attr(&j->s, "message", buf_str(&text));
		markup_attr(&j->s, "type", "build");
		markup_end(&j->s);
	} else if (v->build_status) {
		add_skipped(j, "unknown");
	}
	markup_end(&j->s);
	buf_release(&text);
}

/* Why no metric was checked, or NULL. */
static const char *why_skipped(const struct verdict *v)
{
	return v->not_judged ? "not judged: the build failed" :
	       !v->enough ? "too few builds for a verdict" : NULL;
}

static void add_metrics(struct junit *j)
{
	const char *why = why_skipped(j->c->verdict);

	for (enum metric m = 0; m < METRICS; m++) {
		if (!(j->c->rules->metrics & METRIC_BIT(m)))
			continue;
		begin_case(j, metric_info[m].title, NULL);
		if (why)
			add_skipped(j, why);
		markup_end(&j->s);
	}
}

static void add_members(struct buf *text, const struct check *c, const struct verdict_group *g)
{
	size_t n = c->all || g->n < c->top ? g->n : c->top;

	for (size_t i = 0; i < n; i++) {
		const struct verdict_finding *f = check_member(c, g, i);

		buf_addf(text, "%s%s ", i ? ", " : "; ", words_task(c->builds, f->task));
		amount_add_share(text, f->effect);
	}
	if (n < g->n)
		buf_addf(text, ", and %zu more", g->n - n);
}

/* One line: the writer would escape line breaks. */
static void explain(struct buf *text, const struct check *c, const struct verdict_group *g)
{
	const struct verdict_finding *f = &g->whole;

	words_add_since(text, c->builds, f);
	buf_adds(text, "; ");
	words_add_ranges(text, c->builds, f);
	words_add_notes(text, f);
	if (g->n > 1)
		add_members(text, c, g);
}

static void add_message(struct buf *text, const struct builds *builds,
			const struct verdict_group *g)
{
	const struct verdict_finding *f = &g->whole;

	if (f->known)
		buf_adds(text, "known: ");
	else if (f->state == FINDING_SUSPECT)
		buf_adds(text, "suspect: ");
	if (g->n > 1) {
		words_add_count(text, g->n, "task", "tasks");
		buf_adds(text, ", ");
	} else if (f->task == TASK_HOST) {
		words_add_subject(text, builds, f);
		buf_adds(text, ", ");
	}
	buf_addf(text, "%s ", metric_info[f->metric].title);
	amount_add_share(text, f->effect);
	buf_adds(text, ", ");
	words_add_group_amounts(text, g);
}

static void add_group(struct junit *j, const struct verdict_group *g)
{
	struct buf text = BUF_PART_OF(j->s.out);
	const struct verdict_finding *f = &g->whole;

	if (f->task == TASK_TOTAL)
		buf_adds(&text, "the build as a whole");
	else
		words_add_group_name(&text, j->c->builds, g);
	buf_addf(&text, ": %s", metric_info[f->metric].title);
	begin_case(j, buf_str(&text), f);
	buf_clear(&text);
	markup_begin(&j->s, f->fails ? "failure" : "skipped");
	add_message(&text, j->c->builds, g);
	markup_attr(&j->s, "message", buf_str(&text));
	if (f->fails)
		markup_attr(&j->s, "type", "regression");
	buf_clear(&text);
	explain(&text, j->c, g);
	markup_text(&j->s, buf_str(&text));
	markup_end(&j->s);
	markup_end(&j->s);
	buf_release(&text);
}

/* "2026-11-20T02:00:00", in UTC. */
static void attr_time(struct markup *s, int64_t time_s)
{
	time_t t = (time_t)time_s;
	struct tm tm;
	char text[64];

	if (time_s >= 0 && gmtime_r(&t, &tm) && strftime(text, sizeof text, "%FT%T", &tm))
		markup_attr(s, "timestamp", text);
}

int check_junit(struct buf *out, const struct check *c)
{
	const struct verdict *v = c->verdict;
	size_t metrics = (size_t)__builtin_popcount(c->rules->metrics & (METRIC_BIT(METRICS) - 1));
	size_t failed = count(c, true), skipped = count(c, false);
	struct check_limits_cases limits;
	struct junit j = { .c = c, .names = INDEX_INIT };
	bool is_unknown = !v->not_judged && v->build_status;

	check_limits_cases(&limits, c->limits);
	markup_init(&j.s, out);
	buf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	markup_begin(&j.s, "testsuites");
	markup_begin(&j.s, "testsuite");
	markup_attr(&j.s, "name", "buildbeat check");
	attr_count(&j.s, "tests", 1 + metrics + limits.all + failed + skipped);
	attr_count(&j.s, "failures", limits.failed + failed + v->not_judged);
	attr_count(&j.s, "errors", 0);
	attr_count(&j.s, "skipped", limits.skipped + skipped + is_unknown +
		   (why_skipped(v) ? metrics : 0));
	attr_time(&j.s, c->builds->build[c->builds->n - 1].start_s);
	markup_attr(&j.s, "time", "0");
	add_status(&j);
	add_metrics(&j);
	check_limits_junit(&j.s, c->limits, c->builds->ref);
	for (size_t i = 0; i < c->groups->n; i++) {
		if (is_case(&c->groups->group[i].whole))
			add_group(&j, &c->groups->group[i]);
	}
	markup_end(&j.s);
	markup_end(&j.s);
	index_release(&j.names);
	return j.error ? j.error : buf_error(out);
}
