/* SPDX-License-Identifier: MIT */
#include "base/arena.h"
#include "cli/command.h"
#include "cli/openrec.h"
#include "cli/output_file.h"
#include "convert/convert.h"
#include "report/profile_output.h"
#include "report/amount.h"
#include "report/profile_page.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define TOP_MAX 1000000000
#define WAIT_MAX_US 86400e6

struct profile_arguments {
	const char *config;
	const char *output;
	const char *group, *sort, *columns, *filter, *merge;
	int64_t top;
	bool all, reverse, threads, live, json;
	int64_t since, until, wait;	/* microseconds; -1: not given */
	struct word_list at;
	const char *html;
};

#define OPTIONS struct profile_arguments
static const struct option options[] = {
	OPENREC_OPTIONS(config, output),
	{ OPT_TEXT('b', "by", group, "COL,...", "group rows by these columns, or none (default rule or kind)"),
	  .choices = profile_key_word },
	{ OPT_TEXT('s', "sort", sort, "COL,...",
	  "sort by these columns (default run,count; tallies alone: count,run)"),
	  .choices = profile_column_word },
	{ OPT_FLAG('r', "reverse", reverse, "reverse the order of the first sorted column") },
	{ OPT_TEXT('F', "filter", filter, "TEXT",
	  "only rows with TEXT, or a match of /REGEX/, in any column") },
	{ OPT_TEXT(0, "columns", columns, "COL,...", "print these columns"),
	  .choices = profile_column_word },
	{ OPT_TEXT(0, "merge", merge, "COL,...",
	  "add up rows that differ only in these columns, or none (default pid)"),
	  .choices = profile_key_word },
	{ OPT_FLAG(0, "threads", threads, "keep threads apart whose names differ only in digits") },
	{ OPT_NUMBER('t', "top", top, 1, TOP_MAX, "N",
	  "print N groups and N rows of each (default 30 and 10; 30 rows without groups)") },
	{ OPT_FLAG('a', "all", all, "print all rows") },
	{ OPT(OPTION_TIME, int64_t, 0, "since", since, "TIME",
	  "only what ended later than TIME after the start, such as 90s") },
	{ OPT(OPTION_TIME, int64_t, 0, "until", until, "TIME",
	  "only what began earlier than TIME after the start, such as 5min") },
	{ OPT_FLAG(0, "live", live, "read tallies from the memory of running build tools") },
	{ OPT(OPTION_TIME, int64_t, 0, "wait", wait, "TIME",
	  "like --live, but only what is tallied within TIME from now") },
	{ OPT_FLAG('j', "json", json, "print JSON with the keys of Chromium's about:profiler") },
	{ OPT_PATH(0, "html", html, "FILE", "write an HTML page that groups, sorts and filters") },
	{ OPT_LIST(0, "at", at, "TIME", "add a snapshot at TIME after the start to the page") },
	{ 0 }
};

static const struct profile_arguments defaults = {
	.merge = "pid", .since = -1, .until = -1, .wait = -1,
};

/* A recording and what was computed from it. */
struct source {
	struct recording rec;
	struct summary summary;
	struct chain chain;
	bool read;
};

struct window {
	int64_t from_us, to_us;
};

static int misuse(const char *message, struct error *err)
{
	return error_say(err, -EINVAL, "profile: %s", message);
}

static int read_window(struct window *w, const struct profile_arguments *o, struct error *err)
{
	*w = (struct window){ o->since, o->until < 0 ? INT64_MAX : o->until };
	return w->to_us > w->from_us ? 0 : misuse("--until is not later than --since", err);
}

static int list(struct profile_list *l, const char *text, const char *option, bool keys_only,
		struct error *err)
{
	struct error why = { 0 };
	int r = text ? profile_list_parse(l, text, keys_only, &why) : 0;

	return r ? error_set(err, r, NULL, 0, 0, "profile: option '--%s': %s", option,
			     why.message) : 0;
}

static int read_wish(struct profile_wish *w, struct profile_list *columns,
		     const struct profile_arguments *o, struct error *err)
{
	struct profile_list merged = { .n = 0 };
	bool groups = o->group && strcmp(o->group, "none");
	int r = list(&w->group, groups ? o->group : NULL, "by", true, err);

	if (!r)
		r = list(&w->sort, o->sort, "sort", false, err);
	if (!r)
		r = list(columns, o->columns, "columns", false, err);
	if (!r)
		r = list(&merged, strcmp(o->merge, "none") ? o->merge : NULL, "merge", true, err);
	w->filter = o->filter;
	w->reverse = o->reverse;
	w->similar = !o->threads;
	for (size_t i = 0; i < merged.n; i++)
		w->merged |= 1u << merged.column[i];
	for (size_t i = 0; i < w->group.n; i++)
		w->merged &= ~(1u << w->group.column[i]);
	return r;
}

/* Input */

static int open_source(struct source *s, const struct profile_arguments *o, const char *what,
		       struct error *err)
{
	int r = openrec(&s->rec, OPENREC_WAITS, o->output, what, err);

	s->read = true;
	if (r)
		return r;
	r = summary_make(&s->summary, &s->rec);
	if (!r)
		r = chain_make(&s->chain, &s->summary);
	return r ? error_sys(err, r, s->rec.path, NULL) : 0;
}

static void close_source(struct source *s)
{
	if (!s->read)
		return;
	chain_release(&s->chain);
	summary_release(&s->summary);
	recording_release(&s->rec);
}

static int add_live(struct profile *p, const struct source *s, const struct window *w,
		    struct error *err)
{
	struct tally_table tallies = { .merge_threads = p->merge_threads };
	const char *path = s->rec.path;
	size_t n_live = 0;
	int r = tally_read_live(&tallies, path, w->from_us, &convert_formats, &n_live, err);

	if (!r && !n_live)
		r = error_set(err, -ESRCH, path, 0, 0, "no host with tallies is running");
	if (!r)
		r = profile_add_tallies(p, &tallies, &s->rec);
	tally_release(&tallies);
	return r;
}

static int make_profile(struct profile *p, const struct source *s, const struct window *w,
			bool live, bool pairs, struct error *err)
{
	int r;

	if (!live)
		return profile_make(p, &s->summary, &s->chain.waits, pairs ? &s->chain : NULL, w->from_us,
				    w->to_us, &convert_formats, err);
	r = profile_add_tasks(p, &s->summary, &s->chain.waits, w->from_us, w->to_us);
	if (!r && pairs)
		r = profile_pair_tasks(p, &s->summary, &s->chain);
	return r ? error_sys(err, r, s->rec.path, NULL) : add_live(p, s, w, err);
}

/* What the hosts tallied from now on: what is written at the end, without what is read now. */
static int wait_for_news(struct profile *p, struct source *s, const struct profile_arguments *o,
			 struct error *err)
{
	struct profile before = PROFILE_INIT, after = PROFILE_INIT;
	const struct window all = { -1, INT64_MAX };
	struct timespec pause;
	int r = add_live(&before, s, &all, err);

	if (!r) {
		pause = (struct timespec){ o->wait / 1000000, o->wait % 1000000 * 1000 };
		nanosleep(&pause, NULL);
		r = add_live(&after, s, &all, err);
	}
	if (!r)
		r = profile_difference(p, &before, &after);
	p->seconds = (double)o->wait / 1e6;
	profile_release(&before);
	profile_release(&after);
	return r;
}

/* Output */

static int print(struct profile *p, const struct profile_arguments *o, const char *what,
		 const struct profile_wish *given, const struct profile_list *columns,
		 struct error *err)
{
	struct style style = output_style();
	struct profile_wish wish = *given;
	struct profile_view view = { .p = NULL };
	struct buf out = BUF_INIT;
	struct doc d;
	int r;

	if (o->json) {
		wish.group = (struct profile_list){ 2, { PROFILE_PID, PROFILE_HOST } };
		wish.merged &= ~(1u << PROFILE_PID | 1u << PROFILE_HOST);
		wish.similar = false;
	}
	if (!o->group && !o->json)
		profile_group_usually(&wish, p);
	profile_sort_usually(&wish, p);
	r = profile_view_make(&view, p, &wish, err);
	doc_init_terminal(&d, &out, &style);
	if (!r)
		r = o->json ? profile_json_write(&out, &view, what, 0) :
		    profile_doc(&d, &view, columns, (size_t)o->top, o->all);
	doc_release(&d);
	r = r == -EINVAL ? r : output_end(&out, r, what, err);
	profile_view_release(&view);
	return r;
}

/* The page */

#define SNAPSHOTS_MAX 64

struct pages {
	struct arena *texts;
	size_t n;
	struct profile_snapshot snapshot[SNAPSHOTS_MAX];
	struct profile profile[SNAPSHOTS_MAX];
};

static const char *keep_text(struct pages *pages, const char *text)
{
	return text ? arena_text(pages->texts, text, strlen(text)) : NULL;
}

/* The absolute path of a file of a recording, NULL if it does not exist. */
static const char *keep_file(struct pages *pages, const char *dir, const char *name)
{
	struct buf path = BUF_INIT;
	const char *kept;
	char *whole;

	buf_addf(&path, "%s/%s", dir, name);
	whole = buf_error(&path) ? NULL : realpath(path.data, NULL);
	kept = keep_text(pages, whole);
	free(whole);
	buf_release(&path);
	return kept;
}

static int add_snapshot(struct pages *pages, const struct source *s, const struct window *w,
			const char *title, bool live, struct error *err)
{
	struct profile_snapshot *snapshot = &pages->snapshot[pages->n];
	struct buf name = BUF_INIT;
	int r;

	if (pages->n == SNAPSHOTS_MAX)
		return error_say(err, -E2BIG, "profile: more than %d snapshots", SNAPSHOTS_MAX);
	text_add_name(&name, title, 0);
	r = make_profile(&pages->profile[pages->n], s, w, live, false, err);
	*snapshot = (struct profile_snapshot){ .title = keep_text(pages, buf_str(&name)),
		.profile = &pages->profile[pages->n++],
		.dir = keep_text(pages, recording_build(&s->rec, "cwd")),
		.chart = keep_file(pages, s->rec.path, "bootchart.svg"),
		.log = keep_file(pages, s->rec.path, "output.log") };
	buf_release(&name);
	return r ? r : snapshot->title ? 0 : -ENOMEM;
}

static const char *name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

/* The moments, then all of it. */
static int add_source(struct pages *pages, const struct source *s, const struct window *w,
		      const struct profile_arguments *o, struct error *err)
{
	const char *whole = keep_file(pages, s->rec.path, ".");	/* not "latest" */
	const char *name = name_of(whole ? whole : s->rec.path);
	struct buf title = BUF_INIT;
	int r = 0;

	for (size_t i = 0; !r && i < o->at.n; i++) {
		struct window until = { w->from_us, 0 };

		if (!amount_read_time(&until.to_us, o->at.item[i]))
			r = error_say(err, -EINVAL, "profile: option '--at': expected a time such "
				      "as 90s, not '%s'", o->at.item[i]);
		buf_clear(&title);
		buf_addf(&title, "%s until %s", name, o->at.item[i]);
		if (!r)
			r = add_snapshot(pages, s, &until, buf_str(&title), false, err);
	}
	if (!r)
		r = add_snapshot(pages, s, w, name, o->live, err);
	buf_release(&title);
	return r;
}

static int write_page(struct pages *pages, const struct profile_arguments *o,
		      const struct profile_wish *wish, struct error *err)
{
	struct profile_page page = {
		.snapshot = pages->snapshot, .n_snapshots = pages->n, .wish = *wish,
		.title = pages->snapshot[pages->n - 1].title,
	};
	struct buf out = BUF_INIT;

	if (!o->group)
		profile_group_usually(&page.wish, pages->snapshot[pages->n - 1].profile);
	profile_sort_usually(&page.wish, pages->snapshot[pages->n - 1].profile);
	return output_file(&out, profile_page_write(&out, &page), o->html, err);
}

static void release_pages(struct pages *pages)
{
	for (size_t i = 0; i < pages->n; i++)
		profile_release(&pages->profile[i]);
	arena_free(pages->texts);
	free(pages);
}

static int run_page(const struct args *a, const struct profile_arguments *o,
		    const struct window *w, const struct profile_wish *wish, struct error *err)
{
	struct pages *pages = calloc(1, sizeof *pages);
	int i = 0, r;

	if (pages)
		pages->texts = arena_new();
	r = pages && pages->texts ? 0 : -ENOMEM;
	do {
		struct source s = { .read = false };

		if (!r)
			r = open_source(&s, o, a->operand[i], err);
		if (!r)
			r = add_source(pages, &s, w, o, err);
		close_source(&s);
	} while (!r && ++i < a->n);
	if (!r)
		r = write_page(pages, o, wish, err);
	if (pages)
		release_pages(pages);
	return r;
}

static int run_table(const struct args *a, const struct profile_arguments *o,
		     const struct window *w, const struct profile_wish *wish,
		     const struct profile_list *columns, struct error *err)
{
	struct profile one = PROFILE_INIT, two = PROFILE_INIT, change = PROFILE_INIT;
	struct source s = { .read = false }, t = { .read = false };
	int r = open_source(&s, o, a->operand[0], err);

	/* a filter can name one thread, and JSON has all */
	one.merge_threads = two.merge_threads = wish->similar && !wish->filter && !o->json;
	if (!r && o->wait >= 0)
		r = wait_for_news(&change, &s, o, err);
	else if (!r)
		r = make_profile(&one, &s, w, o->live, o->json && a->n < 2, err);
	if (!r && a->n > 1)
		r = open_source(&t, o, a->operand[1], err);
	if (!r && a->n > 1)
		r = make_profile(&two, &t, w, o->live, false, err);
	if (!r && a->n > 1)
		r = profile_difference(&change, &one, &two);
	if (!r)
		r = print(a->n > 1 || o->wait >= 0 ? &change : &one, o,
			  a->n > 1 ? t.rec.path : s.rec.path, wish, columns, err);
	profile_release(&one);
	profile_release(&two);
	profile_release(&change);
	close_source(&s);
	close_source(&t);
	return r;
}

static int run_profile(struct args *a, void *values, struct error *err)
{
	const struct profile_arguments *o = values;
	struct profile_list columns = { .n = 0 };
	struct profile_wish wish = { .filter = NULL };
	struct window window;
	int r = read_window(&window, o, err);

	if (!r)
		r = read_wish(&wish, &columns, o, err);
	if (r)
		return r;
	if (o->html && o->json)
		return misuse("--html and --json exclude each other", err);
	if (!o->html && o->at.n)
		return misuse("--at needs --html", err);
	if (!o->html && a->n > 2)
		return misuse("more than two recordings need --html", err);
	if (o->wait >= 0 && (o->html || a->n > 1))
		return misuse("--wait prints a table of one recording", err);
	if (o->wait > WAIT_MAX_US)
		return misuse("option '--wait': expected at most 24h", err);
	if ((o->live || o->wait >= 0) && window.to_us != INT64_MAX)
		return misuse("--live and --until exclude each other", err);
	return o->html ? run_page(a, o, &window, &wish, err) :
	       run_table(a, o, &window, &wish, &columns, err);
}

COMMAND(profile, "[REC...]", "Print run and queue times by rule, directory or source location",
	COMMAND_KEYS);
