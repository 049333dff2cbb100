/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CLI_INSPECT_CONFIG_H
#define BUILDBEAT_CLI_INSPECT_CONFIG_H

#include "cli/options.h"
#include "inspect/archive_list.h"

/*
 * The key `inspect` of buildbeat.yaml: settings of inspections, for a host and for a process too.
 */
struct inspect_config_keys {
	const char *name;	/* the first member: OPTION_NAMED */
	struct word_list symbols, rules;	/* empty: not set */
	const char *classes;	/* file of class_rules.h, NULL: not set */
	int64_t interval_us;	/* -1: not set */
	int64_t keep, days;	/* -1: not set */
};

struct inspect_config_list {
	size_t n;
	struct inspect_config_keys *item;
};

struct inspect_config_map {
	struct inspect_config_keys all;
	struct inspect_config_list hosts, processes;
};

struct inspect_config {
	struct inspect_config_map inspect;
	struct args args;	/* owns the texts */
};

void inspect_config_init(struct inspect_config *c);
void inspect_config_release(struct inspect_config *c);

/* The table with that key, for a struct inspect_config. */
extern const struct option inspect_config_keys[];

/* Read it from a file as configfile_apply() does; always release. 0 or a negative errno with err. */
int inspect_config_read(struct inspect_config *c, const char *file, struct error *err);

/* Each key: those of a host or a process only if they are set. value NULL: not set. 0 or -ENOMEM. */
typedef void inspect_setting_function(void *context, const char *key, const char *value,
				      const char *description);
int inspect_config_each(const struct inspect_config *c, inspect_setting_function *f, void *context);

/* What applies to a process. The key of a process replaces that of a host, which replaces
 * the general one. */
struct inspect_choice {
	const struct word_list *symbols, *rules;
	const char *classes;	/* NULL: none was chosen */
	int64_t interval_us;	/* 0: none was chosen */
	struct inspect_retention retention;
};

/* host NULL: this machine; program NULL: no process, as for `rules`. */
void inspect_config_choose(struct inspect_choice *out, const struct inspect_config *c,
			   const char *host, const char *program);

/* inspect_archive_retain() by these settings. */
int inspect_config_retain(struct inspect_config *c, const char *dir, size_t *removed,
			  struct error *err);

#endif
