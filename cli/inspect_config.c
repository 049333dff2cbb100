/* SPDX-License-Identifier: MIT */
#include "cli/inspect_config.h"

#include "base/array.h"
#include "base/buf.h"
#include "base/clock.h"
#include "cli/configfile.h"
#include "inspect/rule.h"

#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <string.h>
#include <sys/utsname.h>

#define KEEP_MAX 1000000
#define DAYS_MAX 36500

#define KEY(is, type, key, member, text) OPT(is, type, 0, key, member, NULL, text), .config = true
#define ALL_KEYS(prefix) \
	{ KEY(OPTION_LIST, struct word_list, "symbols", prefix symbols, \
	      "directories with programs and their debug information") }, \
	{ KEY(OPTION_PATH, const char *, "classes", prefix classes, \
	      "file with the rules for classes of memory (default: built-in rules)") }, \
	{ KEY(OPTION_TIME, int64_t, "interval", prefix interval_us, \
	      "time between two snapshots (default: as often as 1 % of a CPU permits)") }, \
	{ KEY(OPTION_NUMBER, int64_t, "keep", prefix keep, \
	      "number of archives of each program that are kept (default: all)"), .max = KEEP_MAX }, \
	{ KEY(OPTION_NUMBER, int64_t, "days", prefix days, \
	      "age in days at which archives are removed (default: never)"), .max = DAYS_MAX }
#define RULE_KEYS(prefix) \
	{ KEY(OPTION_WORDS, struct word_list, "rules", prefix rules, \
	      "processes of a recorded build that are inspected (default: none)") }

#define OPTIONS struct inspect_config_keys
static const struct option process_keys[] = { ALL_KEYS(), { 0 } };
static const struct option host_keys[] = { ALL_KEYS(), RULE_KEYS(), { 0 } };

static void init_keys(struct inspect_config_keys *keys)
{
	*keys = (struct inspect_config_keys){ .interval_us = -1, .keep = -1, .days = -1 };
}

static void *add(void *list)
{
	struct inspect_config_list *l = list;
	struct inspect_config_keys *keys = array_add(&l->item, &l->n, sizeof *keys);

	if (keys)
		init_keys(keys);
	return keys;
}

static int check_keys(void *values, struct error *err)
{
	const struct inspect_config_keys *keys = values;
	struct inspect_rule rule;
	struct error why = { 0 };

	if (keys->interval_us >= 0 && (keys->interval_us < RULE_INTERVAL_MIN_US ||
				       keys->interval_us > RULE_INTERVAL_MAX_US))
		return error_say(err, -EINVAL, "interval: expected a time from 10ms to 24h");
	for (size_t i = 0; i < keys->rules.n; i++)
		if (rule_parse(&rule, keys->rules.item[i], &why))
			return error_say(err, -EINVAL, "rules: %s", why.message);
	return 0;
}

/* A process is named as in a rule: "cc1|cc1plus". */
static int names_of(struct inspect_rule *rule, const char *text, struct error *err)
{
	int r = strchr(text, ',') ? -EINVAL : rule_parse(rule, text, err);

	return r || *rule->names ? r : -EINVAL;
}

static int check_process(void *values, struct error *err)
{
	const struct inspect_config_keys *keys = values;
	struct inspect_rule rule;

	if (names_of(&rule, keys->name, err))
		return error_say(err, -EINVAL, "expected the file names of programs, such as "
				 "'cc1|cc1plus', not '%.100s'", keys->name);
	return check_keys(values, err);
}

static const struct option_map host_map = { host_keys, add, check_keys };
static const struct option_map process_map = { process_keys, add, check_process };

#undef OPTIONS
#define OPTIONS struct inspect_config_map
static const struct option map_keys[] = {
	ALL_KEYS(all.), RULE_KEYS(all.),
	{ OPT_KEY(OPTION_NAMED, struct inspect_config_list, "hosts", hosts), .map = &host_map },
	{ OPT_KEY(OPTION_NAMED, struct inspect_config_list, "processes", processes),
	  .map = &process_map },
	{ 0 }
};

static int check_map(void *values, struct error *err)
{
	struct inspect_config_map *map = values;

	return check_keys(&map->all, err);
}

static const struct option_map inspect_map = { map_keys, NULL, check_map };

#undef OPTIONS
#define OPTIONS struct inspect_config
const struct option inspect_config_keys[] = {
	{ OPT_KEY(OPTION_MAP, struct inspect_config_map, "inspect", inspect), .map = &inspect_map },
	{ 0 }
};

void inspect_config_init(struct inspect_config *c)
{
	*c = (struct inspect_config){ 0 };
	init_keys(&c->inspect.all);
}

void inspect_config_release(struct inspect_config *c)
{
	free_all(c->inspect.hosts.item, c->inspect.processes.item);
	options_release(&c->args);
	inspect_config_init(c);
}

int inspect_config_read(struct inspect_config *c, const char *file, struct error *err)
{
	inspect_config_init(c);
	return configfile_apply(&c->args, inspect_config_keys, c, file, err);
}

/* Listing */

/* "" if it is not set. */
static void add_value(struct buf *out, const struct option *key, const void *values)
{
	const void *value = (const char *)values + key->offset;
	const struct word_list *list = value;
	int64_t n;

	switch (key->kind) {
	case OPTION_LIST:
	case OPTION_WORDS:
		for (size_t i = 0; i < list->n; i++)
			buf_addf(out, "%s%s", i ? ", " : "", list->item[i]);
		break;
	case OPTION_PATH:
		buf_adds(out, *(const char *const *)value ? *(const char *const *)value : "");
		break;
	case OPTION_TIME:
		n = *(const int64_t *)value;
		if (n >= 0)
			buf_addf(out, "%gs", (double)n / 1e6);
		break;
	default:
		n = *(const int64_t *)value;
		if (n >= 0)
			buf_addf(out, "%" PRId64, n);
	}
}

static int list_keys(const char *of, const char *name, const struct option *keys, const void *values,
		     inspect_setting_function *f, void *context)
{
	struct buf path = BUF_INIT, value = BUF_INIT;
	int r = 0;

	for (; !r && keys->name; keys++) {
		if (keys->kind == OPTION_NAMED)
			continue;
		buf_clear(&path);
		buf_clear(&value);
		buf_addf(&path, "inspect.%s%s%s%s", of, name, *name ? "." : "", keys->name);
		add_value(&value, keys, values);
		r = buf_error(&path);
		r = r ? r : buf_error(&value);
		if (!r && (value.len || !*name))
			f(context, buf_str(&path), value.len ? buf_str(&value) : NULL, keys->help);
	}
	buf_release(&path);
	buf_release(&value);
	return r;
}

int inspect_config_each(const struct inspect_config *c, inspect_setting_function *f, void *context)
{
	const struct inspect_config_map *map = &c->inspect;
	int r = list_keys("", "", map_keys, map, f, context);

	for (size_t i = 0; !r && i < map->hosts.n; i++)
		r = list_keys("hosts.", map->hosts.item[i].name, host_keys, &map->hosts.item[i], f, context);
	for (size_t i = 0; !r && i < map->processes.n; i++)
		r = list_keys("processes.", map->processes.item[i].name, process_keys,
			      &map->processes.item[i], f, context);
	return r;
}

/* Choosing */

static void take(struct inspect_choice *out, const struct inspect_config_keys *keys)
{
	if (keys->symbols.n)
		out->symbols = &keys->symbols;
	if (keys->rules.n)
		out->rules = &keys->rules;
	if (keys->classes)
		out->classes = keys->classes;
	if (keys->interval_us >= 0)
		out->interval_us = keys->interval_us;
	if (keys->keep >= 0)
		out->retention.keep = keys->keep;
	if (keys->days >= 0)
		out->retention.days = keys->days;
}

static bool is_process(const char *names, const char *program)
{
	struct inspect_rule rule;
	struct error unused;

	return !names_of(&rule, names, &unused) && rule_has_name(&rule, program);
}

void inspect_config_choose(struct inspect_choice *out, const struct inspect_config *c,
			   const char *host, const char *program)
{
	const struct inspect_config_map *map = &c->inspect;
	struct utsname u = { .nodename = "" };

	*out = (struct inspect_choice){ .symbols = &map->all.symbols, .rules = &map->all.rules };
	take(out, &map->all);
	if (!host && map->hosts.n && !uname(&u))
		host = u.nodename;
	for (size_t i = 0; host && i < map->hosts.n; i++)
		if (!fnmatch(map->hosts.item[i].name, host, 0)) {
			take(out, &map->hosts.item[i]);
			break;
		}
	for (size_t i = 0; program && i < map->processes.n; i++)
		if (is_process(map->processes.item[i].name, program)) {
			take(out, &map->processes.item[i]);
			break;
		}
}

static void limits_of(struct inspect_retention *limits, void *context, const char *host,
		      const char *program)
{
	struct inspect_choice choice;

	inspect_config_choose(&choice, context, host, program);
	*limits = choice.retention;
}

int inspect_config_retain(struct inspect_config *c, const char *dir, size_t *removed,
			  struct error *err)
{
	return inspect_archive_retain(dir, limits_of, c, clock_wall_ns() / 1000, removed, err);
}
