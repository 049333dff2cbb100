/* SPDX-License-Identifier: MIT */
#include "cli/buildset.h"
#include "cli/command.h"
#include "cli/numberlines.h"
#include "cli/output_file.h"
#include "compare/verdict.h"
#include "report/history_output.h"

#include <errno.h>
#include <langinfo.h>
#include <locale.h>
#include <stddef.h>
#include <string.h>

struct history_arguments {
	struct buildset_options buildset;
	const char *series;
	const char *plot;
	int64_t top;
	bool json;
};

#define OPTIONS struct history_arguments
static const struct option options[] = {
	BUILDSET_REPO_OPTIONS(buildset),
	BUILDSET_REF_OPTION(buildset),
	BUILDSET_METRICS_OPTION(buildset),
	{ OPT_NUMBER('t', "top", top, 0, INT32_MAX, "N",
	  "list the N largest changes of each event (default 5; 0: all)") },
	{ OPT_FLAG('j', "json", json, "print JSON") },
	{ OPT_TEXT(0, "plot", plot, "FILE",
	  "draw the levels to FILE (.svg, .png or .pdf; -: in the terminal)") },
	{ OPT_TEXT(0, "series", series, "FILE",
	  "find the change points of the series in FILE, one JSON object a line") },
	{ 0 }
};

/* One run of the command: about all changes, those of one metric, or of one task. */
struct query {
	struct buildset n;
	struct history history;
	struct verdict verdict;
	struct history_view view;
};

static uint32_t find_task(const struct builds *builds, const char *name)
{
	uint32_t task;

	if (!strcmp(name, "total"))
		return TASK_TOTAL;
	if (!strcmp(name, "host"))
		return TASK_HOST;
	task = builds_find(builds, name);
	return task < builds->n_tasks ? task : HISTORY_ALL;
}

/* The only task whose name contains part. */
static int find_part(const struct builds *builds, const char *part, uint32_t *task,
		     struct error *err)
{
	size_t n = 0, other = 0;

	for (size_t i = 0; i < builds->n_tasks; i++) {
		if (!strstr(builds->task[i].name, part))
			continue;
		other = n ? i : other;
		*task = n++ ? *task : (uint32_t)i;
	}
	if (!n)
		return error_set(err, -ENOENT, builds->ref, 0, 0,
				 "no task or metric is named '%s'", part);
	if (n > 1)
		return error_set(err, -EINVAL, builds->ref, 0, 0, "'%s' is part of the names of %zu "
				 "tasks, as '%s' and '%s'", part, n, builds->task[*task].name,
				 builds->task[other].name);
	return 0;
}

static int choose(struct query *a, const char *what, struct error *err)
{
	enum metric m = what ? metric_find(what) : METRICS;

	a->view.task = HISTORY_ALL;
	if (m < METRICS)
		a->n.rules.metrics = METRIC_BIT(m);
	else if (what)
		a->view.task = find_task(&a->n.builds, what);
	if (what && m == METRICS && a->view.task == HISTORY_ALL)
		return find_part(&a->n.builds, what, &a->view.task, err);
	return 0;
}

static int find_changes(struct query *a, const char *what, struct error *err)
{
	int r = choose(a, what, err);

	if (!r)
		r = history_make(&a->history, &a->verdict, &a->n.builds, &a->n.rules, &a->n.known,
				 a->view.task, err);
	if (r)
		return r;
	return history_view_fill(&a->view, &a->history, &a->n.builds, a->n.rules.metrics, err);
}

static void release(struct query *a)
{
	history_view_release(&a->view);
	verdict_release(&a->verdict);
	history_release(&a->history);
	buildset_release(&a->n);
}

/* Asks the locale of the environment, because our own is always C. */
static bool is_ascii(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool ascii = !locale || strcmp(nl_langinfo_l(CODESET, locale), "UTF-8");

	if (locale)
		freelocale(locale);
	return ascii;
}

static int print(struct query *a, const struct history_arguments *h, struct error *err)
{
	struct style style = output_style();
	struct trend_output o = {
		.columns = style.width, .colour = style.colour,
		.path = h->plot && strcmp(h->plot, "-") ? h->plot : NULL,
	};
	struct buf out = BUF_INIT;
	struct doc d;
	int r;

	a->view.ascii = is_ascii();
	if (h->plot) {
		r = history_trend(&out, &a->view, &o, err);
		if (!r)
			return output_end(&out, 0, NULL, err);
		buf_release(&out);
		return r;
	}
	doc_init_terminal(&d, &out, &style);
	r = h->json ? history_json(&out, &a->view) : history_doc(&d, &a->view);
	doc_release(&d);
	return output_end(&out, r, a->n.builds.ref, err);
}

static const struct history_arguments defaults = { .top = 5 };

static int run_history(struct args *args, void *values, struct error *err)
{
	struct history_arguments *h = values;
	struct query a = { .n = BUILDSET_INIT, .view.top = (size_t)h->top };
	int r;

	if (h->series)
		return args->n ? error_say(err, -EINVAL, "history: option '--series' takes no "
					   "TASK") :
		       numberlines_history(h->series, err);
	r = buildset_open(&a.n, args, &h->buildset, BUILDSET_ALL, err);
	if (!r)
		r = find_changes(&a, args->operand[0], err);
	if (!r)
		r = print(&a, h, err);
	release(&a);
	return r;
}

COMMAND(history, "[TASK|METRIC]", "Show when each metric changed", COMMAND_OPTIONS);
