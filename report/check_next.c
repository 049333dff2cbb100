/* SPDX-License-Identifier: MIT */
#include "report/check_output.h"

#include "base/array.h"
#include "base/hash.h"
#include "base/index.h"
#include "command/shell.h"
#include "report/revisions.h"
#include "report/words_change.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SUBJECTS_MOST 2		/* whose commands are printed */
#define ID_DIGITS 12
#define BASE_MOST 10		/* builds of the target that diff compares */

/* Regressions of one event and of the same tasks: one entry of accept. */
struct subject {
	const struct check *c;
	const struct verdict_group *group;	/* the first one */
	unsigned metrics;	/* METRIC_BIT()s */
};

struct subjects {
	const struct check *c;
	struct subject *item;
	size_t n;
	struct index index;	/* by event and pattern */
};

/* The member with the largest change. */
static const struct verdict_finding *largest(const struct subject *s)
{
	return check_member(s->c, s->group, 0);
}

static void begin(struct buf *out, const char *why, const char *command,
		  const struct command_line_archive *archive)
{
	buf_addf(out, "    %s:\n      ", why);
	command_line_begin(out, command, archive);
}

/* With a target branch the builds before are the target's. */
static void add_history_of(struct buf *out, const struct check *c, uint32_t task, unsigned metrics)
{
	struct command_line_archive archive = c->archive;

	if (c->against)
		archive.ref = c->against->ref;
	begin(out, c->against ? "show the history of the target" : "show its history", "history",
	      &archive);
	command_line_metrics(out, metrics);
	command_line_operand(out, task == TASK_HOST ? "host" : task == TASK_TOTAL ? "total" :
			     c->builds->task[task].name);
	buf_addc(out, '\n');
}

static void add_ids(struct buf *out, const char *option, const struct builds *builds, size_t from,
		    size_t end)
{
	buf_addf(out, " --%s", option);
	for (size_t i = from; i < end; i++)
		buf_addf(out, " %.*s", ID_DIGITS, builds->build[i].id);
}

/* Of the newest builds of the target, and the recordings. */
static void add_diff(struct buf *out, const struct check *c, unsigned metrics)
{
	struct command_line_archive archive = c->archive;
	size_t first = c->against->first;

	archive.ref = NULL;
	begin(out, "compare its recordings with the target's newest builds", "diff", &archive);
	command_line_metrics(out, metrics);
	add_ids(out, "base", c->builds, first > BASE_MOST ? first - BASE_MOST : 0, first);
	add_ids(out, "new", c->builds, first, c->builds->n);
	buf_addc(out, '\n');
}

/* Of several tasks that changed together the one with the longest time. */
static uint32_t task_of(const struct subject *s)
{
	const struct verdict_finding *f = largest(s);

	return f->task == TASK_SHARED && f->n_moved ? s->c->verdict->moved[f->first_moved] : f->task;
}

static void add_history(struct buf *out, const struct subject *s)
{
	uint32_t task = task_of(s);

	add_history_of(out, s->c, task, s->metrics);
	if (s->c->against)
		add_diff(out, s->c, s->metrics);
}

/* The words of a command; false: it is not a single one. */
static bool add_words(struct buf *out, const char *command)
{
	struct buf word = BUF_PART_OF(out);
	struct slice quoted;
	struct cursor c;

	cursor_init(&c, command, strlen(command));
	while (shell_word(&c, &quoted)) {
		buf_clear(&word);
		shell_add_plain(&word, quoted);
		buf_addc(out, ' ');
		shell_add_shown(out, buf_str(&word));
	}
	buf_release(&word);
	return cursor_at_end(&c);
}

static void add_build_command(struct buf *out, const char *command)
{
	size_t len = out->len;

	if (!command || !*command || !add_words(out, command)) {
		buf_cut(out, len);
		buf_adds(out, " CMD");
	}
}

/* The first source tree whose revisions on both sides are known and differ. */
static bool find_range(struct revisions_range *range, const struct builds *builds,
		       const struct verdict_finding *f)
{
	size_t i = 0;

	while (revisions_range_next(range, builds, f->first, f->last, &i)) {
		if (range->from && strcmp(range->from->commit, range->to->commit) != 0)
			return true;
	}
	return false;
}

static void add_revision(struct buf *out, const char *option, const struct revision *r)
{
	buf_addf(out, " --%s %.*s", option, ID_DIGITS, r->commit);
}

/* The newest name, and the others that the revisions to build may have. */
static void add_names(struct buf *out, const struct builds *builds,
		      const struct verdict_finding *f)
{
	const struct builds_task *t = &builds->task[f->task];
	uint32_t first = f->first ? f->first - 1 : 0;
	const char *before = t->name;

	command_line_option(out, "task", t->name);
	for (size_t i = t->n_held; i-- > 1 && t->held[i].first > first; ) {
		const char *name = t->held[i - 1].name;

		if (t->held[i - 1].first <= f->last && strcmp(name, before) != 0 &&
		    strcmp(name, t->name) != 0)
			command_line_option(out, "task", name);
		before = name;
	}
}

/* Returns false if no revision differs. */
/* The amount of check --against, which bisect does not scale. */
static void add_amount(struct buf *out, const struct check *c, const struct verdict_finding *f)
{
	static const char *const unit[] = {
		[UNIT_US] = "us", [UNIT_KB] = "KiB", [UNIT_BYTES] = "B",
	};
	struct gate gate = rules_gate(c->rules, builds_task_name(c->builds, f->task), f->metric);

	if (c->against && !gate.chosen && !(gate.floor > 0) && gate.amount < metric_info[f->metric].least)
		buf_addf(out, " --amount %.0f%s", floor(gate.amount), unit[metric_info[f->metric].unit]);
}

static bool add_bisect(struct buf *out, const struct subject *s, const char *why)
{
	struct verdict_finding of = *largest(s), *f = &of;
	struct revisions_range range;

	f->task = task_of(s);
	if (!find_range(&range, s->c->builds, f))
		return false;
	buf_addf(out, "    %s, in ", why);
	text_add_name(out, range.source, 0);
	buf_adds(out, ":\n      ");
	command_line_begin(out, "bisect", NULL);
	if (s->c->archive.config)
		command_line_option(out, "config", s->c->archive.config);
	add_revision(out, "good", range.from);
	add_revision(out, "bad", range.to);
	if (f->task < s->c->builds->n_tasks)
		add_names(out, s->c->builds, f);
	command_line_option(out, "metric", metric_word[f->metric]);
	add_amount(out, s->c, f);
	buf_adds(out, " --");
	add_build_command(out, s->c->command);
	buf_addc(out, '\n');
	return true;
}

/* Another recording of the same revision joins the newest build, whose values are then medians. */
static void add_record(struct buf *out, const struct subject *s)
{
	buf_adds(out, "    no revision differs: record the newest one again:\n      ");
	command_line_begin(out, "record", NULL);
	if (s->c->archive.config)
		command_line_option(out, "config", s->c->archive.config);
	buf_adds(out, " --");
	add_build_command(out, s->c->command);
	buf_adds(out, " && ");
	command_line_begin(out, "archive", &(struct command_line_archive){
		.repo = s->c->archive.repo, .config = s->c->archive.config });
	buf_addc(out, '\n');
}

static void add_pattern(struct buf *pattern, const struct check *c, const struct verdict_group *g)
{
	verdict_group_add_pattern(pattern, c->groups, c->verdict, c->builds, g);
}

static void add_known(struct buf *out, const struct subject *s, const char *command,
		      const char *why)
{
	struct buf pattern = BUF_PART_OF(out);

	add_pattern(&pattern, s->c, s->group);
	begin(out, why, command, &s->c->archive);
	command_line_build(out, s->c->builds->build[s->group->whole.since].id);
	command_line_metrics(out, s->metrics);
	if (words_is_part(s->c->builds, &s->group->whole))
		buf_adds(out, " --changed");
	if (pattern.len)
		command_line_operand(out, buf_str(&pattern));
	else
		buf_adds(out, " --total");
	if (s->group->whole.also)
		buf_adds(out, " --everywhere");
	buf_adds(out, " REASON\n");
	buf_release(&pattern);
}

static void add_name(struct buf *out, const struct subject *s)
{
	struct buf name = BUF_PART_OF(out);

	buf_adds(out, "  ");
	words_add_group(&name, s->c->builds, s->group);
	text_add_name(out, buf_str(&name), 0);
	for (enum metric m = 0; m < METRICS; m++) {
		if (s->metrics & METRIC_BIT(m))
			buf_addf(out, ", %s", metric_info[m].title);
	}
	buf_addc(out, '\n');
	buf_release(&name);
}

static void add_suspect(struct buf *out, const struct subject *s)
{
	add_name(out, s);
	if (!add_bisect(out, s, "decide: record the last good and the first bad revision again"))
		add_record(out, s);
}

static void add_subject(struct buf *out, const struct subject *s)
{
	add_name(out, s);
	add_history(out, s);
	add_bisect(out, s, "find the commit");
	add_known(out, s, "accept --known", "acknowledge it, if it will be fixed");
	add_known(out, s, "accept", "accept it as normal");
}

static uint64_t event_hash(const struct verdict_finding *f)
{
	return hash_mix(hash_mix(hash_mix(f->since) + f->first) + f->last);
}

/* Adds a group to the subject of its event and pattern. Returns 0 or -ENOMEM. */
static int add_group(struct subjects *s, const struct verdict_group *g)
{
	uint64_t event = event_hash(&g->whole), hash;
	struct buf pattern = BUF_INIT;
	struct subject *subject;
	uint32_t i;
	int r;

	add_pattern(&pattern, s->c, g);
	hash = hash_fnv64(buf_str(&pattern), pattern.len);
	r = buf_error(&pattern);
	buf_release(&pattern);
	if (!r && index_find(&s->index, event, hash, &i)) {
		s->item[i].metrics |= METRIC_BIT(g->whole.metric);
		return 0;
	}
	r = r ? r : index_put(&s->index, event, hash, (uint32_t)s->n);
	if (r)
		return r;
	subject = array_add(&s->item, &s->n, sizeof *subject);
	if (!subject)
		return -ENOMEM;
	*subject = (struct subject){ s->c, g, METRIC_BIT(g->whole.metric) };
	return 0;
}

void check_add_undecided(struct buf *out, const struct check *c)
{
	const struct against_list *list = &c->against->undecided;
	size_t shown = c->all || list->n < SUBJECTS_MOST ? list->n : SUBJECTS_MOST;

	if (list->more) {
		buf_adds(out, "  record this revision again, ");
		words_add_count(out, list->more, "time", "times");
		buf_adds(out, ":\n      buildbeat record --");
		add_build_command(out, c->command);
		buf_adds(out, "\n      ");
		command_line_begin(out, "archive", &(struct command_line_archive){
			.repo = c->archive.repo, .config = c->archive.config });
		buf_addc(out, '\n');
	}
	for (size_t i = 0; i < shown; i++) {
		const struct against_undecided *u = &list->item[i];

		buf_adds(out, "  ");
		text_add_name(out, words_task(c->builds, u->task), 0);
		buf_addf(out, ", %s\n", metric_info[u->metric].title);
		add_history_of(out, c, u->task, METRIC_BIT(u->metric));
		add_diff(out, c, METRIC_BIT(u->metric));
	}
	if (shown < list->n)
		buf_addf(out, "  and commands for %zu more (--all lists them)\n", list->n - shown);
}

static bool fails(const struct verdict_finding *f)
{
	return f->fails;
}

static bool is_suspect(const struct verdict_finding *f)
{
	return f->state == FINDING_SUSPECT && f->worse && f->task != TASK_HOST;
}

/* Adds the commands of the groups that are of this kind. Returns 0 or -ENOMEM. */
static int add_all(struct buf *out, const struct check *c,
		   bool (*is)(const struct verdict_finding *f),
		   void (*add)(struct buf *out, const struct subject *s))
{
	struct subjects s = { .c = c, .index = INDEX_INIT };
	size_t shown;
	int r = 0;

	for (size_t i = 0; !r && i < c->groups->n; i++) {
		if (is(&c->groups->group[i].whole) && check_like(c, i) == i)
			r = add_group(&s, &c->groups->group[i]);
	}
	shown = c->all || s.n < SUBJECTS_MOST ? s.n : SUBJECTS_MOST;
	for (size_t i = 0; !r && i < shown; i++)
		add(out, &s.item[i]);
	if (!r && shown < s.n)
		buf_addf(out, "  and commands for %zu more (--all lists them)\n", s.n - shown);
	free(s.item);
	index_release(&s.index);
	return r;
}

int check_add_next(struct buf *out, const struct check *c)
{
	int r = add_all(out, c, fails, add_subject);

	/* A target branch has its own commands. */
	return r || c->against ? r : add_all(out, c, is_suspect, add_suspect);
}
