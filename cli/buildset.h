/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_BUILDSET_H
#define BUILDBEAT_CLI_BUILDSET_H

#include "archive/archive.h"
#include "cli/limits_config.h"
#include "cli/options.h"
#include "cli/rules_config.h"
#include "report/amount.h"
#include "report/command_line.h"

/*
 * The common part of commands about many builds: the archive, the series in it and the
 * thresholds of a change, from the command line and from buildbeat.yaml. A command's
 * struct has a struct buildset_options, and its table the rows that it needs:
 *
 *	struct check_arguments {
 *		struct buildset_options buildset;
 *		...
 *	};
 *
 *	#define OPTIONS struct check_arguments
 *	static const struct option options[] = {
 *		BUILDSET_REPO_OPTIONS(buildset),
 *		BUILDSET_REF_OPTION(buildset),
 *		BUILDSET_METRICS_OPTION(buildset),
 *		...
 *
 *	r = buildset_open(&n, a, &arguments->buildset, BUILDSET_FRESH, err);
 *	...
 *	buildset_release(&n);
 */
struct buildset_options {
	const char *config;	/* NULL: the file that is found */
	const char *repo;	/* of the archive; NULL: not given */
	const char *ref;	/* as for archive_choose() */
	unsigned metrics;	/* METRIC_BIT()s; 0: those of the configuration */
};

#define BUILDSET_REPO_OPTIONS(member) \
	{ OPT_CONFIG(member.config) }, \
	{ OPT(OPTION_REPO, const char *, 0, "repo", member.repo, "REPO", \
	  "archive: path or URL of a git repository"), .config = true }

#define BUILDSET_REF_OPTION(member) \
	{ OPT_TEXT(0, "ref", member.ref, "NAME", \
	  "series HOST/BRANCH/MACHINE, or a part of it (default: the only one)") }

#define BUILDSET_METRICS_OPTION(member) \
	{ OPT_SET(0, "metrics", member.metrics, metric_word, "LIST", \
	  "metrics: wall,cpu,memory,peak,io,read,written,instructions (default wall,cpu,memory,io)") }

struct buildset {
	const struct buildset_options *options;
	struct rules_config config;
	struct limits_config limits;
	struct rules rules;		/* of config, with the metrics of the options */
	struct archive *archive;	/* NULL: not opened */
	struct buf ref;
	struct builds builds;
	struct known_list known;
	bool shares;			/* config and archive are those of another one */
	bool is_one_of_many;		/* commands need the name of the series */
};

#define BUILDSET_INIT { 0 }

enum buildset_span {
	BUILDSET_RECORDINGS,	/* all, with those that repeat a build (repeats.h) */
	BUILDSET_ALL,		/* all builds: repeats are one */
	BUILDSET_FRESH,		/* all builds, of an archive that is no old copy */
};

/*
 * Opens the archive and reads the settings and the builds of one series. Texts belong to
 * args, which must outlive n. 0 or a negative errno with err, like the functions below.
 * Always release n.
 */
int buildset_open(struct buildset *n, struct args *args, struct buildset_options *options,
		  enum buildset_span span, struct error *err);
void buildset_release(struct buildset *n);

/*
 * The same for every series of the archive that options->ref fits; NULL: all. They share what the
 * first has: release it last, and free *sets. -ENOENT with err if there is none.
 */
int buildset_open_every(struct buildset **sets, size_t *n, struct args *args,
			struct buildset_options *options, enum buildset_span span, struct error *err);
void buildset_release_every(struct buildset *sets, size_t n);

/* The options that name this archive and series in a command line. */
struct command_line_archive buildset_command_line(const struct buildset *n);

/* The first step alone: the settings that are not on the command line, and the rules. */
int buildset_settings(struct buildset *n, struct args *args, struct buildset_options *options,
		      struct error *err);

/* The second: the archive. -EINVAL if it has no name. */
int buildset_archive(struct buildset *n, enum archive_use use, struct error *err);

/* The same for reading; -ENOTCONN if a local copy may lack the newest build. */
int buildset_fresh_archive(struct buildset *n, struct error *err);

/* The third: n->ref becomes the only series that fits options->ref. */
int buildset_series(struct buildset *n, struct error *err);

/* The keys of archives in the configuration. */
struct buildset_config {
	const char *repo;
	struct amount import_limit;	/* of import, which reads it itself */
	struct rules_config compare;
	struct limits_config limits;
};

extern const struct option buildset_keys[];

#endif
