/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "base/json.h"
#include "base/nearest.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/buildset.h"
#include "cli/output_file.h"
#include "compare/verdict_group.h"
#include "launch/notice.h"
#include "report/amount.h"
#include "report/source_log.h"
#include "report/words_change.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Notes about changes, stored with the build in which the change began. */

#define SECOND_NS 1000000000
#define METRICS_ALL (METRIC_BIT(METRICS) - 1)
#define ID_SHOWN 12
#define DIGITS_LEAST 7		/* of a commit */

struct accept_arguments {
	struct buildset_options buildset;
	bool known;		/* acknowledged, not accepted */
	bool total, changed;
	const char *build;
	const char *reason;
	const char *owner, *bug, *fixed_by;
	bool invalid, everywhere;
	bool list, undo, json;
};

#define OPTIONS struct accept_arguments
static const struct option options[] = {
	BUILDSET_REPO_OPTIONS(buildset),
	BUILDSET_REF_OPTION(buildset),
	{ OPT_SET(0, "metrics", buildset.metrics, metric_word, "LIST",
	  "metrics: wall,cpu,memory,peak,io,read,written,instructions (default: all)") },
	{ OPT_FLAG(0, "known", known, "acknowledge the change instead: check reports it but passes") },
	{ OPT_FLAG(0, "total", total, "apply to the whole build instead of TASK") },
	{ OPT_FLAG(0, "changed", changed,
	  "apply to the tasks that changed together under the name TASK, and to no others") },
	{ OPT_TEXT(0, "build", build, "BUILD",
	  "first build of the change, as git names its commit (default: of its newest change)") },
	{ OPT_TEXT(0, "message", reason, "REASON", "reason of the change") },
	{ OPT_TEXT(0, "owner", owner, "NAME", "who handles the change") },
	{ OPT_TEXT(0, "bug", bug, "URL", "its bug report: a URL of http or https") },
	{ OPT_FLAG(0, "invalid", invalid, "the change is no regression: --known, marked as invalid") },
	{ OPT_TEXT(0, "fixed-by", fixed_by, "REV",
	  "--known until builds have this revision of the sources; then check fails again") },
	{ OPT_FLAG(0, "everywhere", everywhere,
	  "in every series, from the first build with the same revision on") },
	{ OPT_FLAG(0, "list", list, "list accepted changes, or with --known acknowledged ones") },
	{ OPT_FLAG(0, "undo", undo, "withdraw the newest entry for TASK") },
	{ OPT_FLAG('j', "json", json, "print the list as JSON") },
	{ 0 }
};

static const char *const state_word[] = {
	[KNOWN_ACCEPTED] = "accepted", [KNOWN_ACKNOWLEDGED] = "acknowledged",
};

static const char *const command_words[] = {
	[KNOWN_ACCEPTED] = "accept", [KNOWN_ACKNOWLEDGED] = "accept --known",
};

static void add_metrics(struct buf *out, unsigned metrics)
{
	const char *comma = "";

	if ((metrics & METRICS_ALL) == METRICS_ALL)
		buf_adds(out, "all");
	for (enum metric m = 0; m < METRICS && (metrics & METRICS_ALL) != METRICS_ALL; m++) {
		if (metrics & METRIC_BIT(m)) {
			buf_addf(out, "%s%s", comma, metric_word[m]);
			comma = ",";
		}
	}
}

/* "core: main.o and 23 tasks that changed with it" */
static void add_list(struct buf *out, const char *list)
{
	struct buf first = BUF_PART_OF(out);
	size_t n = 0;

	buf_add(&first, list, strcspn(list, "\n"));
	text_add_name(out, buf_str(&first), 0);
	for (; *list; list++)
		n += *list == '\n';
	if (n > 1)
		buf_addf(out, " and %zu tasks that changed with it", n - 1);
	buf_release(&first);
}

/* "2026-11-20 1234567890ab  cpu,wall of core: main.o" */
static void add_known(struct buf *out, const struct builds *builds, const struct known *k)
{
	const struct build *build = &builds->build[k->build];

	amount_add_day(out, build->start_s);
	buf_addf(out, " %.*s  ", ID_SHOWN, build->id);
	add_metrics(out, k->metrics);
	buf_adds(out, " of ");
	if (rules_is_list(k->pattern))
		add_list(out, k->pattern);
	else if (*k->pattern)
		text_add_name(out, k->pattern, 0);
	else
		buf_adds(out, "the build");
}

static void add_reason(struct buf *out, const struct known *k)
{
	struct buf handling = BUF_PART_OF(out);

	buf_adds(out, "\n  ");
	text_add_name(out, k->by, 0);
	buf_adds(out, ", ");
	amount_add_day(out, k->time_s);
	buf_adds(out, ": ");
	text_add_name(out, k->reason, 0);
	words_add_handling(&handling, k);
	if (k->invalid)
		buf_adds(out, " (invalid)");
	if (k->everywhere)
		buf_adds(out, " (in every series)");
	if (handling.len) {
		buf_adds(out, "\n  ");
		text_add_name(out, buf_str(&handling), 0);
	}
	buf_addc(out, '\n');
	buf_release(&handling);
}

static void json_time(struct json *j, const char *name, int64_t time_s)
{
	struct buf text = BUF_PART_OF(j->out);

	if (time_s < 0) {
		json_null(j, name);
		return;
	}
	clock_add_iso(&text, time_s * SECOND_NS);
	json_str(j, name, buf_str(&text));
	buf_release(&text);
}

static void json_add(struct json *j, const struct builds *builds, const struct known *k)
{
	const struct build *build = &builds->build[k->build];

	json_object(j, NULL);
	json_str(j, "build", build->id);
	json_time(j, "build_start", build->start_s);
	json_str(j, "task", *k->pattern ? k->pattern : NULL);
	json_array(j, "metrics");
	for (enum metric m = 0; m < METRICS; m++) {
		if (k->metrics & METRIC_BIT(m))
			json_str(j, NULL, metric_word[m]);
	}
	json_array_end(j);
	json_str(j, "by", k->by);
	json_time(j, "time", k->time_s);
	json_str(j, "reason", k->reason);
	json_str(j, "owner", k->owner);
	json_str(j, "bug", k->bug);
	json_str(j, "fixed_by", k->fixed_by);
	json_bool(j, "invalid", k->invalid);
	json_bool(j, "everywhere", k->everywhere != NULL);
	json_object_end(j);
}

/* Newest first. */
static int list(const struct buildset *n, enum known_kind kind, bool as_json, struct error *err)
{
	struct buf out = BUF_INIT;
	struct json j;

	json_init(&j, &out, false);
	if (as_json)
		json_array(&j, NULL);
	for (size_t i = n->known.n; i-- > 0; ) {
		const struct known *k = &n->known.known[i];

		if (k->kind != kind)
			continue;
		if (as_json) {
			json_add(&j, &n->builds, k);
			continue;
		}
		add_known(&out, &n->builds, k);
		add_reason(&out, k);
	}
	if (as_json)
		json_array_end(&j);
	return output_end(&out, 0, NULL, err);
}

static int named_build(struct buildset *n, const char *name, uint32_t *build, struct error *err)
{
	char id[ARCHIVE_ID_SIZE];
	int r = archive_build_id(n->archive, name, id, err);

	for (size_t i = 0; !r && i < n->builds.n; i++) {
		if (!strcmp(n->builds.build[i].id, id)) {
			*build = (uint32_t)i;
			return 0;
		}
	}
	return r ? r : error_say(err, -EINVAL, "'%s' is not a build of %s", name, n->builds.ref);
}

/* A mistyped name would be stored and never match. */
static int check_pattern(const struct builds *builds, const char *pattern, struct error *err)
{
	const char **name, *near;

	if (!*pattern)
		return 0;
	for (size_t i = 0; i < builds->n_tasks; i++) {
		if (builds_task_fits(builds, (uint32_t)i, pattern))
			return 0;
	}
	name = calloc(builds->n_tasks + 1, sizeof *name);
	for (size_t i = 0; name && i < builds->n_tasks; i++)
		name[i] = builds->task[i].name;
	near = name ? nearest_word(pattern, name) : NULL;
	error_say(err, -EINVAL, near ? "no task matches '%s'; did you mean '%s'?" :
		  "no task matches '%s'", pattern, near ? near : "");
	free(name);
	return -EINVAL;
}

/* "*" is about all tasks at once, too. */
static bool is_about(const struct known *what, const struct builds *builds, const struct verdict *v,
		     const struct verdict_finding *f)
{
	return f->state != FINDING_SUSPECT && verdict_known_fits(v, builds, f, what);
}

/* The first build of the newest change of the task that check reports, otherwise the newest
 * build. Returns whether there is a change. */
static bool usual_build(struct known *what, const struct builds *builds, const struct verdict *v)
{
	bool found = false;

	for (size_t i = 0; i < v->n; i++) {
		const struct verdict_finding *f = &v->finding[i];

		if (!is_about(what, builds, v, f))
			continue;
		if (!found || f->since > what->build)
			what->build = f->since;
		found = true;
	}
	if (!found)
		what->build = (uint32_t)builds->n - 1;
	return found;
}

static bool covers(const struct verdict_finding *f, uint32_t build)
{
	return f->first <= build && build <= f->last;
}

/* Whether the total changed with tasks that the note is about. */
static bool is_moved(const struct verdict_finding *total, const struct known *what,
		     const struct builds *builds, const struct verdict *v)
{
	if (total->task != TASK_TOTAL || total->state != FINDING_CONFIRMED)
		return false;
	for (size_t i = 0; i < v->n; i++) {
		const struct verdict_finding *f = &v->finding[i];

		if (f->metric == total->metric && f->worse == total->worse &&
		    is_about(what, builds, v, f) && covers(f, what->build) && verdict_meet(f, total))
			return true;
	}
	return false;
}

/* A note about a task is not about the build as a whole. */
static void offer_total(struct buf *out, const struct buildset *n, const struct known *what,
			const struct verdict *v)
{
	struct command_line_archive archive = buildset_command_line(n);
	const struct verdict_finding *first = NULL;
	unsigned metrics = 0;

	for (size_t i = 0; i < v->n; i++) {
		const struct verdict_finding *f = &v->finding[i];

		if (!is_moved(f, what, &n->builds, v))
			continue;
		buf_addf(out, first ? ", %s " : "the build as a whole changed too: %s ",
			 metric_info[f->metric].title);
		amount_add_share(out, f->effect);
		first = first ? first : f;
		metrics |= METRIC_BIT(f->metric);
	}
	if (!first)
		return;
	buf_addf(out, "; to %s this too:\n  ", what->kind == KNOWN_ACCEPTED ? "accept" : "acknowledge");
	command_line_begin(out, command_words[what->kind], &archive);
	buf_adds(out, " --total");
	command_line_build(out, n->builds.build[first->since].id);
	command_line_metrics(out, metrics);
	command_line_option(out, "message", what->reason);
	if (what->owner)
		command_line_option(out, "owner", what->owner);
	if (what->bug)
		command_line_option(out, "bug", what->bug);
	if (what->fixed_by)
		command_line_option(out, "fixed-by", what->fixed_by);
	if (what->invalid)
		buf_adds(out, " --invalid");
	if (what->everywhere)
		buf_adds(out, " --everywhere");
	buf_addc(out, '\n');
}

/* SOURCE_DATE_EPOCH makes the stored bytes reproducible. */
static int64_t now_s(void)
{
	const char *epoch = getenv("SOURCE_DATE_EPOCH");
	uint64_t s;

	if (epoch && cursor_slice_u64(slice_of(epoch), &s) &&
	    s < INT64_MAX / SECOND_NS)
		return (int64_t)s;
	return clock_wall_ns() / SECOND_NS;
}

/* What an earlier note on the same build and task said, and this one does not, remains. */
static int keep_said(const struct buildset *n, struct known *what, struct error *err)
{
	const struct known *k = NULL;

	for (size_t i = n->known.n; i-- > 0 && !k; ) {
		k = &n->known.known[i];
		if (k->kind != what->kind || k->build != what->build || k->metrics != what->metrics ||
		    strcmp(k->pattern, what->pattern) != 0)
			k = NULL;
	}
	if (k) {
		what->owner = what->owner ? what->owner : k->owner;
		what->bug = what->bug ? what->bug : k->bug;
		what->invalid |= k->invalid && !what->fixed_by;
		what->fixed_by = what->fixed_by || what->invalid ? what->fixed_by : k->fixed_by;
		what->reason = what->reason ? what->reason : k->reason;
		what->home = k->home;
		what->everywhere = k->everywhere ? k->everywhere : what->everywhere;
	}
	return what->reason ? 0 : error_say(err, -EINVAL, "accept: the reason is missing: add option "
					    "'--message'");
}

/* The tasks of the newest change that check reports under this name, in all of its metrics. */
static int list_changed(struct buf *list, struct known *what, const struct builds *builds,
			const struct verdict *v, bool any_build, struct error *err)
{
	const struct verdict_finding *found = NULL;
	bool *added;

	for (size_t i = 0; i < v->n; i++) {
		const struct verdict_finding *f = &v->finding[i];

		if (f->n_moved && is_about(what, builds, v, f) && (any_build || covers(f, what->build)) &&
		    (!found || f->since > found->since))
			found = f;
	}
	if (!found)
		return error_say(err, -ENOENT, "accept: check reports no tasks that changed together as '%.200s'",
				 what->pattern);
	added = array_new_zero(builds->n_tasks + 1, sizeof *added);
	if (!added)
		return error_sys(err, -ENOMEM, NULL, NULL);
	verdict_add_changed(list, added, v, builds, found);
	for (size_t i = 0; i < v->n; i++) {
		const struct verdict_finding *f = &v->finding[i];

		if (f->n_moved && f->task == found->task && is_about(what, builds, v, f) &&
		    shared_is_same(builds, &f->group, &found->group) && verdict_meet(f, found))
			verdict_add_changed(list, added, v, builds, f);
	}
	free(added);
	what->pattern = buf_str(list);
	return buf_error(list) ? error_sys(err, buf_error(list), NULL, NULL) : 0;
}

static int add(struct buildset *n, const struct accept_arguments *s, struct known *what,
	       struct error *err)
{
	struct buf by = BUF_INIT, out = BUF_INIT, list = BUF_INIT;
	struct verdict v = { 0 };
	bool changed = true;
	int r = check_pattern(&n->builds, what->pattern, err), judged;

	judged = r ? r : verdict_make(&v, &n->builds, &n->rules, &n->known, err);
	if (!r && s->build)
		r = named_build(n, s->build, &what->build, err);
	else
		r = judged;
	if (!r && s->changed)
		r = judged ? judged : list_changed(&list, what, &n->builds, &v, !s->build, err);
	if (!r && !s->build)
		changed = usual_build(what, &n->builds, &v);
	if (s->everywhere)
		what->everywhere = n->builds.ref;
	r = r ? r : keep_said(n, what, err);
	r = r ? r : archive_user(n->archive, &by, err);
	what->by = buf_str(&by);
	what->time_s = now_s();
	r = r ? r : archive_say(n->archive, &n->builds, what, err);
	if (!r) {
		buf_addf(&out, "%s %ssince ", state_word[what->kind],
			 what->everywhere ? "in every series " : "");
		add_known(&out, &n->builds, what);
		buf_adds(&out, changed ? "\n" :
			 "\nthe newest build, because check reports no change of it\n");
		if (*what->pattern && !judged)
			offer_total(&out, n, what, &v);
		r = output_end(&out, 0, NULL, err);
	}
	verdict_release(&v);
	buf_release(&by);
	buf_release(&list);
	return r;
}

/* An entry of tasks that changed together has the name of the first one. */
static bool is_named(const struct accept_arguments *s, const struct known *k, const char *name)
{
	struct buf first = BUF_INIT;
	bool fits = !s->changed && !strcmp(k->pattern, name);

	if (s->changed && rules_is_list(k->pattern)) {
		buf_add(&first, k->pattern, strcspn(k->pattern, "\n"));
		fits = rules_pattern_fits(name, buf_str(&first));
	}
	buf_release(&first);
	return fits;
}

/* Removes the newest entry of the task. 1: there is no entry. */
static int undo(struct buildset *n, const struct accept_arguments *s, struct known *what,
		struct error *err)
{
	const struct known *entry = NULL;
	struct buf out = BUF_INIT;
	bool found;
	int r = s->build ? named_build(n, s->build, &what->build, err) : 0;

	for (size_t i = n->known.n; !r && !entry && i-- > 0; ) {
		const struct known *k = &n->known.known[i];

		if (k->kind == what->kind && is_named(s, k, what->pattern) &&
		    (!s->build || k->build == what->build) &&
		    (!s->buildset.metrics || k->metrics == what->metrics))
			entry = k;
	}
	if (r || !entry)
		return r ? r : 1;
	r = archive_unsay(n->archive, &n->builds, entry, &found, err);
	if (r || !found)
		return r ? r : 1;
	buf_addf(&out, "no longer %s since ", state_word[what->kind]);
	add_known(&out, &n->builds, entry);
	buf_addc(&out, '\n');
	return output_end(&out, 0, NULL, err);
}

/* More than a reason, which may be that of an earlier note. */
static bool says_more(const struct accept_arguments *s)
{
	return s->owner || s->bug || s->invalid || s->fixed_by;
}

static bool has_controls(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return true;
	}
	return false;
}

static bool is_hexadecimal(const char *text)
{
	size_t n = strspn(text, "0123456789abcdef");

	return n >= DIGITS_LEAST && n < SOURCE_ID_SIZE && !text[n];
}

/* The whole id, if the repository of the working directory has it. */
static int read_fix(struct known *what, struct accept_arguments *s, char *id, struct error *err)
{
	struct source_log *log = NULL;
	struct error unused;
	bool found;

	if (!s->fixed_by)
		return 0;
	found = !source_log_open(&log, ".", &unused) && source_log_find(log, s->fixed_by, id);
	source_log_close(log);
	what->fixed_by = found ? id : s->fixed_by;
	return found || is_hexadecimal(s->fixed_by) ? 0 :
	       error_say(err, -EINVAL, "accept: '%.200s' is not a commit: give at least %d digits of its "
			 "id, or its name in the repository of the working directory", s->fixed_by,
			 DIGITS_LEAST);
}

static int read_state(struct known *what, struct accept_arguments *s, char *id, struct error *err)
{
	if (s->owner && has_controls(s->owner))
		return error_say(err, -EINVAL, "accept: the owner has control characters");
	if (s->bug && !known_is_url(s->bug))
		return error_say(err, -EINVAL, "accept: '%.200s' is not a URL: expected http:// or "
				 "https://, without spaces and control characters", s->bug);
	if (s->invalid && s->fixed_by)
		return error_say(err, -EINVAL, "accept: --invalid and --fixed-by exclude each other");
	what->owner = s->owner;
	what->bug = s->bug;
	what->invalid = s->invalid;
	return read_fix(what, s, id, err);
}

static int read_operands(struct known *what, struct accept_arguments *s, const struct args *a,
			 struct error *err)
{
	int next = 0;

	what->metrics = s->buildset.metrics ? s->buildset.metrics : METRICS_ALL;
	what->pattern = "";
	if (!s->total && next < a->n)
		what->pattern = a->operand[next++];
	if (!s->reason && next < a->n)
		s->reason = a->operand[next++];
	what->reason = s->reason;
	if (next < a->n)
		return error_say(err, -EINVAL, "accept: unexpected '%s'", a->operand[next]);
	if (s->total && s->changed)
		return error_say(err, -EINVAL, "accept: --total and --changed exclude each other");
	if (!s->list && !s->total && !*what->pattern)
		return error_say(err, -EINVAL, "accept: TASK or option '--total' is missing");
	if (!s->list && !s->undo && (s->reason ? !*s->reason : !says_more(s)))
		return error_say(err, -EINVAL, "accept: the reason is missing: add option "
				 "'--message'");
	return 0;
}

static int accept_builds(struct buildset *n, const struct accept_arguments *s, struct known *what,
			 struct error *err)
{
	if (s->list)
		return list(n, what->kind, s->json, err);
	if (!n->builds.n)
		return error_say(err, -EINVAL, "the series has no builds");
	return s->undo ? undo(n, s, what, err) : add(n, s, what, err);
}

static const struct accept_arguments defaults;

static int run_accept(struct args *a, void *values, struct error *err)
{
	struct accept_arguments *s = values;
	bool known = s->known || s->invalid || s->fixed_by;
	struct known what = { .kind = known ? KNOWN_ACKNOWLEDGED : KNOWN_ACCEPTED };
	struct buildset n = BUILDSET_INIT;
	char id[SOURCE_ID_SIZE];
	int r = read_operands(&what, s, a, err);
	unsigned metrics = s->buildset.metrics;

	r = r ? r : read_state(&what, s, id, err);
	s->buildset.metrics = 0;	/* they are the entry's, not those to check */
	if (!r)
		r = buildset_open(&n, a, &s->buildset,
				  s->list || s->undo || s->build ? BUILDSET_RECORDINGS :
				  BUILDSET_FRESH, err);
	s->buildset.metrics = metrics;
	r = r ? r : accept_builds(&n, s, &what, err);
	if (r > 0)
		notice("accept: no such entry");
	buildset_release(&n);
	return r > 0 ? EXIT_FOUND : r;
}

COMMAND(accept, "[TASK] [REASON]", "Accept a change as the new normal, or as known",
	COMMAND_OPTIONS);
