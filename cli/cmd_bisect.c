/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/hash.h"
#include "base/outdir.h"
#include "base/text.h"
#include "base/trust.h"
#include "bisect/bisect.h"
#include "bisect/bisect_report.h"
#include "bisect/rebuild.h"
#include "cli/command.h"
#include "cli/configfile.h"
#include "cli/buildset.h"
#include "cli/output_file.h"
#include "launch/launch.h"
#include "launch/notice.h"
#include "report/amount.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct bisect_arguments {
	struct buildset_options buildset;
	const char *good, *bad;
	struct word_list tasks;
	int metric;
	struct amount amount;
	const char *prepare;
	int64_t repeat_max;
	const char *dir;
	bool json;
};

#define OPTIONS struct bisect_arguments
static const struct option options[] = {
	{ OPT_CONFIG(buildset.config) },
	{ OPT_TEXT(0, "good", good, "REV", "revision before the change") },
	{ OPT_TEXT(0, "bad", bad, "REV", "revision with the change (default HEAD)") },
	{ OPT_LIST('T', "task", tasks, "NAME",
	  "task that changed, and its former names (default: the build as a whole)") },
	{ OPT_CHOICE(0, "metric", metric, metric_word, "METRIC",
	  "metric: wall, cpu, memory, peak, io, read, written or instructions (default cpu)") },
	{ OPT(OPTION_AMOUNT, struct amount, 0, "amount", amount, "AMOUNT",
	  "ignore changes below AMOUNT, such as 2s or 16MiB (default: as check)") },
	{ OPT_TEXT(0, "prepare", prepare, "CMD",
	  "run a shell command before each build, unmeasured") },
	{ OPT_NUMBER(0, "repeat-max", repeat_max, BISECT_LEAST, 1000, "N",
	  "build a commit at most N times (default 10)") },
	{ OPT_PATH('o', "output", dir, "DIR", "work in DIR and keep the recordings there") },
	{ OPT_FLAG('j', "json", json, "print JSON, with every measured value") },
	{ 0 }
};

struct search {
	const struct bisect_arguments *arguments;
	struct checkout checkout;
	struct rebuild rebuild;
	struct bisect bisect;
	struct buf head, directory;
	char config[PATH_MAX];
	const char *id[2];	/* good and bad */
};

/* Callbacks of bisect_search() */

static int measure_revision(void *context, const char *id, double *value, const char **why,
			    struct error *err)
{
	struct search *s = context;
	struct buf text = BUF_INIT;
	bool known = s->rebuild.n < s->rebuild.n_known;
	int r = rebuild_measure(&s->rebuild, id, value, why, err);

	if (!r && !known) {
		if (*why)
			buf_adds(&text, *why);
		else
			amount_add(&text, metric_info[s->rebuild.metric].unit, *value);
		notice("build %zu: %.10s: %s", s->rebuild.n, id, buf_str(&text));
	}
	buf_release(&text);
	return r;
}

static int between(void *context, const struct bisect *b, const char ***id, size_t *n,
		   struct error *err)
{
	struct search *s = context;
	const char **good = malloc(b->n * sizeof *good);
	size_t n_good = 0;
	int r;

	if (!good)
		return error_sys(err, -ENOMEM, NULL, "bisect");
	for (size_t i = 0; i < b->n; i++) {
		if (b->commit[i].state == BISECT_GOOD)
			good[n_good++] = b->commit[i].id;
	}
	r = checkout_between(&s->checkout, good, n_good, b->nearest_bad, id, n, err);
	free(good);
	return r;
}

static int parent(void *context, const char *id, const char **before, struct error *err)
{
	struct search *s = context;
	const char *parents;
	int r = checkout_format(&s->checkout, id, "--format=%P", &parents, err);

	if (!r) {
		*before = arena_text(s->checkout.texts, parents, strcspn(parents, " "));
		r = *before ? 0 : error_sys(err, -ENOMEM, NULL, "bisect");
	}
	return r;
}

static const char *subject(void *context, const char *id)
{
	struct search *s = context;
	struct error unused;
	const char *text;

	return checkout_format(&s->checkout, id, "--format=%s", &text, &unused) ? "" : text;
}

static void verdict(void *context, const struct bisect_commit *c, size_t left)
{
	static const char *const word[] = {
		[BISECT_UNKNOWN] = "unknown", [BISECT_GOOD] = "good", [BISECT_BAD] = "bad",
		[BISECT_FAILED] = "skipped", [BISECT_UNSURE] = "unsure",
	};
	struct buf text = BUF_INIT;

	text_add_name(&text, subject(context, c->id), 0);
	notice("%.10s is %s, %zu left: %s", c->id, word[c->state], left, buf_str(&text));
	buf_release(&text);
}

/* Beginning and end */

static int find_directory(struct search *s, struct error *err)
{
	char path[PATH_MAX];
	int r;

	if (s->arguments->dir) {
		r = file_absolute(path, s->arguments->dir);
		buf_adds(&s->directory, path);
		return r ? error_sys(err, r, s->arguments->dir, NULL) : trust_path(path, err);
	}
	r = file_add_cache_dir(&s->directory);
	if (r)
		return error_say(err, r, "bisect: --output is missing: neither XDG_CACHE_HOME nor "
				 "HOME names a cache directory");
	buf_addf(&s->directory, "/bisect-%016llx",
		 (unsigned long long)hash_fnv64(s->head.data, s->head.len));
	return trust_path(buf_str(&s->directory), err);
}

/* All revisions are built with the same file, even if they contain their own. */
static int find_config(struct search *s, struct error *err)
{
	const char *given = s->arguments->buildset.config;
	char found[PATH_MAX];
	bool project;
	int r;

	r = given ? 0 : configfile_find(found, &project, err);
	if (r)
		return r == -ENOENT ? 0 : r;
	r = file_absolute(s->config, given ? given : found);
	s->rebuild.config = s->config;
	return r ? error_sys(err, r, given ? given : found, NULL) : 0;
}

static int begin_search(struct search *s, struct args *args, struct error *err)
{
	const struct bisect_arguments *b = s->arguments;
	const char *const revision[2] = { b->good, b->bad };
	int r = checkout_init(&s->checkout, revision, s->id, err);

	if (!r && !strcmp(s->id[0], s->id[1]))
		r = error_say(err, -EINVAL, "bisect: good and bad are the same commit, %.10s",
			      s->id[0]);
	r = r ? r : checkout_order(&s->checkout, s->id[0], s->id[1], err);
	r = r ? r : find_config(s, err);
	if (r)
		return r;
	s->rebuild.checkout = &s->checkout;
	s->rebuild.task = b->tasks.item;
	s->rebuild.n_tasks = b->tasks.n;
	s->rebuild.metric = (enum metric)b->metric;
	s->rebuild.prepare = b->prepare;
	s->rebuild.build = args->operand;
	rebuild_add_head(&s->head, &s->rebuild, s->id[0], s->id[1], (size_t)b->repeat_max);
	r = find_directory(s, err);
	if (!r && (buf_error(&s->head) || buf_error(&s->directory)))
		r = error_sys(err, -ENOMEM, NULL, "bisect");
	s->rebuild.head = buf_str(&s->head);
	s->rebuild.directory = buf_str(&s->directory);
	return r;
}

/* The thresholds of check; an amount on the command line replaces its amount and floor. */
static int find_matters(struct search *s, struct args *args, struct buildset_options *o,
			struct error *err)
{
	const struct bisect_arguments *b = s->arguments;
	struct matters *matters = &s->bisect.matters;
	enum unit unit = metric_info[b->metric].unit;
	struct buildset n = BUILDSET_INIT;
	int r = buildset_settings(&n, args, o, err);
	struct gate gate;

	if (!r) {
		gate = rules_gate(&n.rules, b->tasks.n ? b->tasks.item[0] : "",
				  (enum metric)b->metric);
		*matters = (struct matters){ gate.share, gate.amount, gate.floor };
	}
	buildset_release(&n);
	if (r || isnan(b->amount.value))
		return r;
	matters->floor = 0;
	if (!amount_in(&matters->amount, &b->amount, unit))
		return error_say(err, -EINVAL, "bisect: option '--amount': the unit does not fit "
				 "the metric '%s'", metric_word[b->metric]);
	return 0;
}

static int print(struct search *s, struct error *err)
{
	const struct bisect_view outcome = {
		.bisect = &s->bisect, .metric = s->rebuild.metric,
		.task = s->rebuild.n_tasks ? s->rebuild.task[0] : NULL, .subject = subject, .context = s,
	};
	struct buf out = BUF_INIT;

	return output_end(&out, s->arguments->json ? bisect_json(&out, &outcome) :
			  bisect_text(&out, &outcome), "bisect", err);
}

/* Removes everything, except in a directory that the user named. */
static void clean_up(struct search *s)
{
	struct buf cache = BUF_INIT;

	if (s->arguments->dir || file_add_cache_dir(&cache))
		return;
	outdir_discard(s->rebuild.directory);
	rmdir(buf_str(&cache));	/* fails if other files are in it */
	buf_release(&cache);
}

/* The builds stay, so that the same command continues. If good or bad could not be built,
 * their result is removed: the next attempt builds them again. */
static void give_up(struct search *s, int r)
{
	if (r == -EBUSY || r == -EEXIST)
		return;
	if (r == -EINVAL) {
		rebuild_forget(&s->rebuild);
		notice("the logs of the builds are in %s/recordings", s->rebuild.directory);
	} else {
		notice("%zu builds are in %s; run the same command to continue", s->rebuild.n,
		       s->rebuild.directory);
	}
}

static int search_and_print(struct search *s, struct error *err)
{
	int r = rebuild_open(&s->rebuild, err);

	if (!r && s->rebuild.n_known)
		notice("continuing after %zu builds in %s", s->rebuild.n_known,
		       s->rebuild.directory);
	r = r ? r : bisect_search(&s->bisect, s->id[0], s->id[1], err);
	r = r ? r : print(s, err);
	if (r && r != -EINTR)
		notice_error(err);
	if (r)
		give_up(s, r);
	else
		clean_up(s);
	rebuild_close(&s->rebuild);
	return r;
}

static int search(struct bisect_arguments *b, struct args *args, struct error *err)
{
	struct search s = {
		.arguments = b,
		.bisect = { .measure = measure_revision, .between = between, .parent = parent,
			    .verdict = verdict, .most = (size_t)b->repeat_max },
	};
	int r, status = EXIT_MISUSE;

	s.bisect.context = &s;
	r = find_matters(&s, args, &b->buildset, err);
	r = r ? r : begin_search(&s, args, err);
	if (r && r != -EINTR)
		notice_error(err);
	r = r ? r : search_and_print(&s, err);
	if (!r)
		status = s.bisect.end == BISECT_FOUND ? EXIT_GOOD : EXIT_FOUND;
	bisect_release(&s.bisect);
	buf_release(&s.head);
	buf_release(&s.directory);
	checkout_release(&s.checkout);
	return r == -EINTR ? launch_exit_status(s.checkout.status) : status;
}

static const struct bisect_arguments defaults = {
	.bad = "HEAD", .metric = METRIC_CPU, .amount = { .value = NAN }, .repeat_max = 10,
};

static int run_bisect(struct args *a, void *values, struct error *err)
{
	struct bisect_arguments *b = values;

	if (!b->good)
		return error_say(err, -EINVAL, "bisect: option '--good' is missing");
	return search(b, a, err);
}

COMMAND(bisect, "[--] CMD...", "Find the commit that changed a metric, by building revisions",
	.runs = true, COMMAND_OPTIONS);
