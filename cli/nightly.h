/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_NIGHTLY_H
#define BUILDBEAT_CLI_NIGHTLY_H

#include "archive/archive.h"
#include "cli/options.h"
#include "cli/rules_config.h"
#include "report/amount_read.h"

/*
 * What the commands about many builds have in common: where the archive is, which
 * series of it is meant and what counts as a difference; from the command line, then
 * from buildbeat.yaml. A command's struct has a struct nightly_options, and its table
 * the rows that it wants:
 *
 *	struct check_arguments {
 *		struct nightly_options nightly;
 *		...
 *	};
 *
 *	static const struct option options[] = {
 *		NIGHTLY_REPO_OPTIONS(struct check_arguments, nightly),
 *		NIGHTLY_REF_OPTION(struct check_arguments, nightly),
 *		NIGHTLY_METRICS_OPTION(struct check_arguments, nightly),
 *		...
 *
 *	if (!options_parse(&a, c, &o, argc, argv))
 *		return a.status;
 *	r = nightly_open(&n, &a, &o.nightly, NIGHTLY_WINDOW, &err);
 *	...
 *	nightly_release(&n);
 */
struct nightly_options {
	const char *config;	/* NULL: the file that is found */
	const char *repo;	/* of the archive; NULL: none is named */
	const char *ref;	/* as for archive_choose() */
	unsigned metrics;	/* METRIC_BIT()s; 0: as configured */
};

#define NIGHTLY_REPO_OPTIONS(type, member) \
	{ .name = "config", .letter = 'c', .kind = OPTION_TEXT, .argument = "FILE", \
	  .help = "take settings from FILE, not from buildbeat.yaml", \
	  .offset = offsetof(type, member.config) }, \
	{ .name = "repo", .kind = OPTION_REPO, .argument = "REPO", \
	  .help = "the archive: a git repository, a path or URL", \
	  .offset = offsetof(type, member.repo), .config = true }

#define NIGHTLY_REF_OPTION(type, member) \
	{ .name = "ref", .kind = OPTION_TEXT, .argument = "NAME", \
	  .help = "the series HOST/BRANCH/MACHINE, or a part of it (the only one)", \
	  .offset = offsetof(type, member.ref) }

#define NIGHTLY_METRICS_OPTION(type, member) \
	{ .name = "metrics", .kind = OPTION_SET, .argument = "LIST", \
	  .help = "some of wall,cpu,memory,peak,io,read,written (wall,cpu,memory,io)", \
	  .offset = offsetof(type, member.metrics), .choices = metric_word }

struct nightly {
	const struct nightly_options *options;
	struct rules_config config;
	struct rules rules;		/* of it, with the metrics of the options */
	struct archive *archive;	/* NULL: not opened */
	struct buf ref;
	struct nights nights;
	struct known_list known;
};

#define NIGHTLY_INIT { 0 }

enum nightly_span {
	NIGHTLY_ALL,
	NIGHTLY_WINDOW,		/* as many of the newest as rules.window says */
};

/*
 * All that follows, one after the other: what a command does that judges the nights of
 * one series. The texts are args', which outlives n. 0 or a negative errno with err, as
 * all of these; always release, also if it fails.
 */
int nightly_open(struct nightly *n, struct args *args, struct nightly_options *options,
		 enum nightly_span span, struct error *err);
void nightly_release(struct nightly *n);

/* The options that were not given, and the rules, from the configuration. */
int nightly_settings(struct nightly *n, struct args *args, struct nightly_options *options,
		     struct error *err);

/* The archive, -EINVAL with err if none is named; the one series that is meant; its
 * nights with what is known of them. */
int nightly_archive(struct nightly *n, enum archive_use use, struct error *err);
int nightly_series(struct nightly *n, struct error *err);
int nightly_load(struct nightly *n, enum nightly_span span, struct error *err);

/* Their keys in the configuration. */
struct nightly_config {
	const char *repo;
	struct amount import_limit;	/* of import, which reads it itself */
	struct rules_config compare;
};

extern const struct option nightly_keys[];

#endif
