/* SPDX-License-Identifier: MIT */
#include "report/check_output.h"

#include "render/markup.h"
#include "report/amount.h"
#include "report/check_limits.h"
#include "report/words.h"

#include <string.h>
#include <time.h>

static size_t count(const struct verdict *v, bool failed)
{
	return failed ? v->n_confirmed : v->n_known + v->n_suspect;
}

static void attr_count(struct markup *s, const char *name, size_t n)
{
	struct buf text = BUF_PART_OF(s->out);

	buf_addu(&text, n);
	markup_attr(s, name, buf_str(&text));
	buf_release(&text);
}

static void begin_case(struct markup *s, const struct check *c, const char *name)
{
	markup_begin(s, "testcase");
	markup_attr(s, "classname", c->builds->ref);
	markup_attr(s, "name", name);
	markup_attr(s, "time", "0");
}

static void add_metrics(struct markup *s, const struct check *c)
{
	for (enum metric m = 0; m < METRICS; m++) {
		if (!(c->rules->metrics & METRIC_BIT(m)))
			continue;
		begin_case(s, c, metric_info[m].title);
		if (!c->verdict->enough) {
			markup_begin(s, "skipped");
			markup_attr(s, "message", "too few builds for a verdict");
			markup_end(s);
		}
		markup_end(s);
	}
}

/* One line: the writer would escape line breaks. */
static void explain(struct buf *text, const struct check *c, const struct verdict_finding *f)
{
	words_add_since(text, c->builds, f);
	buf_adds(text, "; ");
	words_add_ranges(text, c->builds, f);
	if (f->machine)
		buf_adds(text, "; the machine or its tools changed at that time");
	if (f->known)
		buf_addf(text, "; known: %s", f->known->reason);
}

static void add_finding(struct markup *s, const struct check *c, const struct verdict_finding *f)
{
	struct buf text = BUF_PART_OF(s->out);
	bool failed = f->state == FINDING_CONFIRMED;

	/* Collectors compare test cases by name: this one stays as it was. */
	buf_addf(&text, "%s: %s", f->task == TASK_TOTAL ? "the build as a whole" :
		 words_task(c->builds, f->task), metric_info[f->metric].title);
	begin_case(s, c, buf_str(&text));
	buf_clear(&text);
	markup_begin(s, failed ? "failure" : "skipped");
	if (f->state == FINDING_KNOWN)
		buf_adds(&text, "known: ");
	else if (!failed)
		buf_adds(&text, "suspect: ");
	buf_addf(&text, "%s ", metric_info[f->metric].title);
	amount_add_share(&text, f->effect);
	buf_adds(&text, ", ");
	words_add_amounts(&text, f);
	markup_attr(s, "message", buf_str(&text));
	if (failed)
		markup_attr(s, "type", "regression");
	buf_clear(&text);
	explain(&text, c, f);
	markup_text(s, buf_str(&text));
	markup_end(s);
	markup_end(s);
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
	struct check_limits_cases limits;
	struct markup s;

	check_limits_cases(&limits, c->limits);
	markup_init(&s, out);
	buf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
	markup_begin(&s, "testsuites");
	markup_begin(&s, "testsuite");
	markup_attr(&s, "name", "buildbeat check");
	attr_count(&s, "tests", metrics + limits.all + count(v, true) + count(v, false));
	attr_count(&s, "failures", limits.failed + count(v, true));
	attr_count(&s, "errors", 0);
	attr_count(&s, "skipped", limits.skipped + count(v, false) + (v->enough ? 0 : metrics));
	attr_time(&s, c->builds->build[c->builds->n - 1].start_s);
	markup_attr(&s, "time", "0");
	add_metrics(&s, c);
	check_limits_junit(&s, c->limits, c->builds->ref);
	for (size_t i = 0; i < v->n; i++) {
		if (v->finding[i].worse && v->finding[i].task != TASK_HOST)
			add_finding(&s, c, &v->finding[i]);
	}
	markup_end(&s);
	markup_end(&s);
	return buf_error(out);
}
