/* SPDX-License-Identifier: MIT */
#include "cli/configfile_open.h"

#include "archive/url.h"
#include "base/array.h"
#include "base/buf.h"
#include "base/nearest.h"
#include "base/readfile.h"
#include "base/trust.h"
#include "cli/buildset.h"
#include "cli/inspect_config.h"
#include "cli/messages_config.h"
#include "cli/settings_options.h"
#include "command/redact.h"
#include "launch/notice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <yaml.h>

#define CONFIG_MAX (64 * 1024)

/* The key trust is read from the user's and the system's file, in addition to any other file. */

struct trusted {
	struct word_list dirs;
};

#define OPTIONS struct trusted
static const struct option trust_keys[] = {
	{ OPT_KEY(OPTION_LIST, struct word_list, "trust", dirs), .personal = true },
	{ 0 }
};

/* Parsing */

/* Known keys, and a struct for values that are only checked. */
struct keys {
	const struct option *table;
	void *scratch;
	unsigned line[OPTIONS_MAX];	/* on which an option of table was set, 0: not yet */
};

#define TABLES 5

struct reader {
	yaml_parser_t yaml;
	yaml_event_t event;
	struct args *args;
	const char *path, *project_dir;
	struct slice text;
	enum configfile_place place;
	unsigned depth;
	struct error *err;
};

/* A mapping that is being read. */
struct level {
	struct keys keys[TABLES];	/* ended by one without a table if there are fewer */
	const struct option *table;	/* keys that the caller wants, or NULL */
	void *values;			/* the caller's struct */
};

static int wrong_at(struct reader *r, yaml_mark_t mark, const char *message)
{
	return error_set(r->err, -EINVAL, r->path, (unsigned)mark.line + 1,
			 (unsigned)mark.column + 1, "%s", message);
}

static int wrong(struct reader *r, const char *message)
{
	return wrong_at(r, r->event.start_mark, message);
}

/* Where the line of the mark has a tab in front of its text; libyaml only says that no token can
 * begin there. */
static bool find_tab(const struct reader *r, yaml_mark_t *mark)
{
	const char *p = r->text.p, *end = p + r->text.len;

	for (size_t line = 0; p && line < mark->line; line++) {
		p = memchr(p, '\n', (size_t)(end - p));
		p = p ? p + 1 : NULL;
	}
	if (!p)
		return false;
	mark->column = 0;
	for (; p < end && *p == ' '; p++)
		mark->column++;
	return p < end && *p == '\t';
}

/* Frees the event and reads the next one. */
static int next(struct reader *r)
{
	yaml_mark_t mark, tab;

	yaml_event_delete(&r->event);
	if (yaml_parser_parse(&r->yaml, &r->event))
		return 0;
	memset(&r->event, 0, sizeof r->event);
	mark = r->yaml.problem_mark;
	if (r->yaml.error == YAML_MEMORY_ERROR)
		return error_sys(r->err, -ENOMEM, r->path, NULL);
	if (r->yaml.error == YAML_READER_ERROR)
		return error_set(r->err, -EINVAL, r->path, 0, 0,
				 "expected text in UTF-8: %s at byte %zu",
				 r->yaml.problem, r->yaml.problem_offset);
	tab = mark;
	if (find_tab(r, &tab))
		return wrong_at(r, tab, "YAML does not allow a tab here: use spaces");
	return wrong_at(r, mark, r->yaml.problem ? r->yaml.problem : "invalid YAML");
}

static int duplicate(struct reader *r, const char *key, unsigned line)
{
	char message[sizeof r->err->message];

	snprintf(message, sizeof message, "duplicate key '%.64s' (first on line %u)", key, line);
	return wrong(r, message);
}

static int unknown_key(struct reader *r, const struct level *l, const char *key)
{
	const char *names[TABLES * OPTIONS_MAX + 1], *near;
	char message[sizeof r->err->message];
	size_t n = 0, len;

	for (int i = 0; i < TABLES; i++) {
		for (const struct option *o = l->keys[i].table; o && o->name; o++) {
			if (o->config)
				names[n++] = o->name;
		}
	}
	names[n] = NULL;
	near = nearest_word(key, names);
	if (near)
		snprintf(message, sizeof message,
			 "unknown key '%.64s'; did you mean '%s'?", key, near);
	if (near)
		return wrong(r, message);
	len = (size_t)snprintf(message, sizeof message, "unknown key '%.64s'; expected", key);
	for (size_t i = 0; i < n && len < sizeof message; i++)
		len += (size_t)snprintf(message + len, sizeof message - len, "%s %s",
					!i ? "" : i + 1 < n ? "," : " or", names[i]);
	return wrong(r, message);
}

/* A path in a project's file is relative to that file, so that it does not depend on
 * the directory in which the build is started. */
static const char *kept_text(struct reader *r, const struct option *o, const char *text)
{
	bool is_path = o->kind == OPTION_PATH || o->kind == OPTION_LIST ||
		       (o->kind == OPTION_REPO && !url_is(text));
	struct buf full = BUF_INIT;
	const char *kept;

	if (!is_path || !r->project_dir || *text == '/' || !*text)
		return options_keep(r->args, text);
	buf_adds(&full, r->project_dir);
	buf_addc(&full, '/');
	buf_adds(&full, text);
	kept = buf_error(&full) ? NULL : options_keep(r->args, buf_str(&full));
	buf_release(&full);
	return kept;
}

/* An option has another name than its key where commands read what other commands write. */
static const struct option *find_key(const struct option *table, const char *key)
{
	while (table && table->name && !(table->config && !strcmp(option_key(table), key)))
		table++;
	return table && table->name ? table : NULL;
}

/* The option in the caller's table that this key sets, or NULL. */
static const struct option *wanted(struct reader *r, const struct level *l,
				   const struct option *o)
{
	const struct option *theirs = find_key(l->table, o->name);
	const struct option *typed = find_key(r->args->table, o->name);

	return theirs && theirs->kind == o->kind &&
	       !(typed && options_given(r->args, typed->name)) ? theirs : NULL;
}

/* The struct member for a mapping or list, which is checked while it is read. */
static void *place(struct reader *r, const struct level *l, const struct option *o, void *scratch)
{
	const struct option *theirs = wanted(r, l, o);

	return theirs ? (char *)l->values + theirs->offset : (char *)scratch + o->offset;
}

/* A project's file can come from anybody and must not name code, nor where data is sent. */
static int not_here(struct reader *r, const struct option *o)
{
	char message[sizeof r->err->message];
	bool is_repo = o->kind == OPTION_REPO, is_plugin = !strcmp(o->name, "plugin");

	snprintf(message, sizeof message, "'%s'%s is not allowed in a project's file: set it in "
		 "~/.config/buildbeat/buildbeat.yaml or " SYSCONFDIR "/buildbeat/buildbeat.yaml%s%s",
		 o->name, is_repo ? " with the URL of a server" : "",
		 is_repo || is_plugin ? ", or use --" : "", is_repo || is_plugin ? o->name : "");
	return wrong(r, message);
}

/* Checks a scalar for option o and sets the caller's value if it is wanted. */
static int set_scalar(struct reader *r, const struct level *l, const struct option *o,
		      void *scratch)
{
	const char *value = (const char *)r->event.data.scalar.value;
	const struct option *theirs = wanted(r, l, o);
	const struct option *typed = theirs ? find_key(r->args->table, o->name) : NULL;
	const char *text;
	struct error err;
	int result;

	if (strlen(value) != r->event.data.scalar.length)
		return wrong(r, "expected text without NUL bytes");
	if (theirs && o->kind == OPTION_REPO && r->place == CONFIG_PROJECT && url_is_remote(value))
		return not_here(r, o);
	if (o->personal && (o->kind == OPTION_PATH || o->kind == OPTION_LIST) &&
	    r->place == CONFIG_PERSONAL && *value != '/')
		return wrong(r, "expected an absolute path");
	text = kept_text(r, o, value);
	if (!text)
		return error_sys(r->err, -ENOMEM, r->path, NULL);
	result = option_set(o, scratch, text, &err);
	if (!result && theirs)
		result = option_set(theirs, l->values, text, &err);
	if (typed)
		r->args->configured |= UINT64_C(1) << (typed - r->args->table);
	return result ? wrong(r, err.message) : 0;
}

/* The error message for a value of the wrong type. */
static const char *expected(const struct option *o)
{
	switch (o->kind) {
	case OPTION_FLAG:
		return "expected true or false";
	case OPTION_NUMBER:
		return "expected a whole number";
	case OPTION_LIST:
		return "expected a path or a list of paths";
	case OPTION_SECRETS:
		return "expected a pattern or a list of patterns";
	case OPTION_REGEXES:
		return "expected a regular expression or a list of them";
	case OPTION_SET:
	case OPTION_WORDS:
		return "expected a word or a list of words";
	case OPTION_MAP:
	case OPTION_NAMED:
		return "expected a mapping of keys to values";
	case OPTION_MAPS:
		return "expected a list of mappings";
	default:
		return "expected a single value";
	}
}

static int read_map(struct reader *r, const struct option_map *map, void *values);

/* name: of an OPTION_NAMED. */
static int add_map(struct reader *r, const struct option *o, void *list, const char *name)
{
	void *item;

	if (r->event.type != YAML_MAPPING_START_EVENT)
		return wrong(r, name ? "expected a mapping of keys to values" : expected(o));
	item = o->map->add(list);
	if (!item)
		return error_sys(r->err, -ENOMEM, r->path, NULL);
	if (name)
		*(const char **)item = name;
	return read_map(r, o->map, item);
}

/* Names that the file invents, and the lines they are on. */
struct names {
	struct { const char *text; unsigned line; } *name;
	size_t n;
};

static int add_named(struct reader *r, const struct option *o, void *list, struct names *names)
{
	unsigned line = (unsigned)r->event.start_mark.line + 1;
	const char *text = (const char *)r->event.data.scalar.value;
	int result;

	if (r->event.type != YAML_SCALAR_EVENT || strlen(text) != r->event.data.scalar.length)
		return wrong(r, "expected a key, then its value");
	text = options_keep(r->args, text);
	for (size_t i = 0; text && i < names->n; i++) {
		if (!strcmp(names->name[i].text, text))
			return duplicate(r, text, names->name[i].line);
	}
	if (!text || !array_add(&names->name, &names->n, sizeof *names->name))
		return error_sys(r->err, -ENOMEM, r->path, NULL);
	names->name[names->n - 1].text = text;
	names->name[names->n - 1].line = line;
	result = next(r);
	return result ? result : add_map(r, o, list, text);
}

static int read_named(struct reader *r, const struct option *o, void *list)
{
	struct names names = { 0 };
	int result;

	while (!(result = next(r)) && r->event.type != YAML_MAPPING_END_EVENT &&
	       !(result = add_named(r, o, list, &names)))
		;
	free(names.name);
	return result;
}

static int read_item(struct reader *r, const struct level *l, const struct option *o,
		     void *scratch)
{
	if (o->kind == OPTION_MAPS)
		return add_map(r, o, place(r, l, o, scratch), NULL);
	if (r->event.type != YAML_SCALAR_EVENT)
		return wrong(r, expected(o));
	return set_scalar(r, l, o, scratch);
}

static int set_sequence(struct reader *r, const struct level *l, const struct option *o,
			void *scratch)
{
	for (size_t n = 0;; n++) {
		const struct option *theirs = wanted(r, l, o);
		int result = next(r);

		if (result || r->event.type != YAML_SEQUENCE_END_EVENT) {
			result = result ? result : read_item(r, l, o, scratch);
		} else if (!n && o->kind == OPTION_SECRETS && theirs) {
			return option_set(theirs, l->values, REDACT_NONE, r->err);
		} else {
			return 0;
		}
		if (result)
			return result;
	}
}

static int read_value(struct reader *r, const struct level *l, const struct option *o,
		      void *scratch)
{
	bool is_list = o->kind == OPTION_LIST || o->kind == OPTION_SET || o->kind == OPTION_MAPS ||
		       o->kind == OPTION_SECRETS || o->kind == OPTION_REGEXES ||
		       o->kind == OPTION_WORDS;
	int result = next(r);

	if (result)
		return result;
	if (r->event.type == YAML_SEQUENCE_START_EVENT && is_list)
		return set_sequence(r, l, o, scratch);
	if (r->event.type == YAML_MAPPING_START_EVENT && o->kind == OPTION_MAP)
		return read_map(r, o->map, place(r, l, o, scratch));
	if (r->event.type == YAML_MAPPING_START_EVENT && o->kind == OPTION_NAMED)
		return read_named(r, o, place(r, l, o, scratch));
	if (r->event.type != YAML_SCALAR_EVENT || o->kind == OPTION_MAP || o->kind == OPTION_MAPS ||
	    o->kind == OPTION_NAMED)
		return wrong(r, expected(o));
	return set_scalar(r, l, o, scratch);
}

static int read_key(struct reader *r, struct level *l)
{
	const struct option *o = NULL;
	struct keys *k = l->keys;
	const char *name;
	unsigned *line;

	if (r->event.type != YAML_SCALAR_EVENT)
		return wrong(r, "expected a key, then its value");
	name = (const char *)r->event.data.scalar.value;
	while (k < l->keys + TABLES && k->table &&
	       !((o = option_find(k->table, name)) && o->config))
		k++;
	if (k == l->keys + TABLES || !k->table)
		return unknown_key(r, l, name);
	if (o->personal && r->place == CONFIG_PROJECT)
		return not_here(r, o);
	line = &k->line[o - k->table];
	if (*line)
		return duplicate(r, name, *line);
	*line = (unsigned)r->event.start_mark.line + 1;
	return read_value(r, l, o, k->scratch);
}

static int read_mapping(struct reader *r, struct level *l)
{
	for (;;) {
		int result = next(r);

		if (result || r->event.type == YAML_MAPPING_END_EVENT)
			return result;
		result = read_key(r, l);
		if (result)
			return result;
	}
}

/* A nested mapping. A table can be its own. */
static int read_map(struct reader *r, const struct option_map *map, void *values)
{
	struct level l = { .keys = { { .table = map->keys, .scratch = values } } };
	yaml_mark_t begin = r->event.start_mark;
	struct error err;
	int result;

	if (r->depth == CONFIGFILE_DEPTH_MAX)
		return wrong(r, "the mappings are nested too deep");
	r->depth++;
	result = read_mapping(r, &l);
	r->depth--;
	if (!result && map->check && map->check(values, &err))
		result = wrong_at(r, begin, err.message);
	return result;
}

static bool is_empty(const yaml_event_t *e)
{
	return e->type == YAML_SCALAR_EVENT && !e->data.scalar.length &&
	       e->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
}

static int read_document(struct reader *r, struct level *top)
{
	int result = next(r);

	if (result)
		return result;
	if (r->event.type == YAML_MAPPING_START_EVENT)
		result = read_mapping(r, top);
	else if (!is_empty(&r->event))
		result = wrong(r, "expected lines such as 'key: value'");
	return result ? result : next(r);
}

static int read_stream(struct reader *r, struct level *top)
{
	bool had_one = false;

	for (;;) {
		int result = next(r);

		if (result || r->event.type == YAML_STREAM_END_EVENT)
			return result;
		if (r->event.type == YAML_STREAM_START_EVENT)
			continue;
		if (had_one)
			return wrong(r, "expected a single YAML document");
		had_one = true;
		result = read_document(r, top);
		if (result)
			return result;
	}
}

static int parse_settings(struct reader *r, struct level *top, const char *text, size_t len)
{
	int result;

	if (len > CONFIG_MAX)
		return error_set(r->err, -EFBIG, r->path, 0, 0, "the file is larger than %d bytes",
				 CONFIG_MAX);
	if (!yaml_parser_initialize(&r->yaml))
		return error_sys(r->err, -ENOMEM, r->path, NULL);
	yaml_parser_set_input_string(&r->yaml, (const unsigned char *)text, len);
	r->text = (struct slice){ .p = text, .len = len };
	result = read_stream(r, top);
	yaml_event_delete(&r->event);
	yaml_parser_delete(&r->yaml);
	return result;
}

int configfile_parse_keys(struct args *a, const struct option *table, void *values,
			  const char *text, size_t len, const char *path, struct error *err)
{
	struct level top = { .keys = { { .table = table, .scratch = values } } };
	struct reader r = { .args = a, .path = path, .place = CONFIG_NAMED, .err = err };

	return parse_settings(&r, &top, text, len);
}

/* What a caller wants of a file. */
struct target {
	struct args *args;
	const struct option *table;
	void *values;
	struct inspect_config *inspect;	/* NULL: only checked */
};

static int parse_for(const struct target *t, struct reader *r, const char *text, size_t len)
{
	struct settings settings = { 0 };
	struct buildset_config buildset = { 0 };
	struct inspect_config inspect;
	struct messages_config messages = { 0 };
	struct trusted trusted = { .dirs.n = 0 };
	struct level top = {
		.keys = { { .table = settings_options, .scratch = &settings },
			  { .table = buildset_keys, .scratch = &buildset },
			  { .table = inspect_config_keys,
			    .scratch = t->inspect ? t->inspect : &inspect },
			  { .table = messages_config_keys, .scratch = &messages },
			  { .table = trust_keys, .scratch = &trusted } },
		.table = t->table, .values = t->values,
	};
	int result;

	r->args = t->args;
	rules_config_init(&buildset.compare);
	inspect_config_init(&inspect);
	result = parse_settings(r, &top, text, len);
	rules_config_release(&buildset.compare);
	limits_config_release(&buildset.limits);
	inspect_config_release(&inspect);
	messages_config_release(&messages);
	return result;
}

int configfile_parse(struct args *a, const struct option *table, void *values,
		     const char *text, size_t len, const char *path, enum configfile_place place,
		     const char *project_dir, struct error *err)
{
	struct target t = { .args = a, .table = table, .values = values };
	struct reader r = { .path = path, .place = place, .project_dir = project_dir, .err = err };

	return parse_for(&t, &r, text, len);
}

/* Reading */

/* Closes s. */
static int read_source(const struct target *t, struct configfile_source *s, struct error *err)
{
	struct reader reader = { .path = s->path, .place = s->place, .err = err };
	struct buf text = BUF_INIT;
	char dir[PATH_MAX];
	int r = readfile_fd(&text, s->fd, CONFIG_MAX + 1);

	close(s->fd);
	if (r && r != -EFBIG)
		configfile_cannot_read(s->path, r, err);
	else
		r = 0;	/* parse_settings() reports that it is too large */
	strcpy(dir, s->path);
	if (s->place == CONFIG_PROJECT) {
		*strrchr(dir, '/') = '\0';
		reader.project_dir = dir;
	}
	if (!r)
		r = parse_for(t, &reader, buf_str(&text), text.len);
	buf_release(&text);
	return r;
}

static int read_trust(int (*open_it)(struct configfile_source *, struct error *), struct error *err)
{
	struct trusted trusted = { .dirs.n = 0 };
	struct args a = { 0 };
	struct target t = { .args = &a, .table = trust_keys, .values = &trusted };
	struct configfile_source s;
	int r = open_it(&s, err);

	if (r == -ENOENT)
		return 0;
	if (!r)
		r = read_source(&t, &s, err);
	for (size_t i = 0; i < trusted.dirs.n && !r; i++) {
		r = trust_except(trusted.dirs.item[i]);
		if (r)
			error_sys(err, r, s.path, "trust");
	}
	options_release(&a);
	return r;
}

static int read_exceptions(struct error *err)
{
	int r = read_trust(configfile_open_users, err);

	return r ? r : read_trust(configfile_open_systems, err);
}

/* Finds and opens the file, like open_source(). Applies the exceptions (trust) first. */
static int open_found(struct configfile_source *s, struct error *err)
{
	int r = read_exceptions(err);

	r = r ? r : configfile_open_upwards(s, err);
	if (r == -ENOENT)
		r = configfile_open_users(s, err);
	return r == -ENOENT ? configfile_open_systems(s, err) : r;
}

int configfile_find(char path[PATH_MAX], bool *project, struct error *err)
{
	struct configfile_source s;
	int r = open_found(&s, err);

	if (r)
		return r;
	close(s.fd);
	strcpy(path, s.path);
	*project = s.place == CONFIG_PROJECT;
	return 0;
}

/* Personal options are not allowed in a project's file: read them from the user's or,
 * without one, from the system's file. The same for `repo` if the project has none. */
static int read_personal(const struct target *t, struct error *err)
{
	struct option personal[OPTIONS_MAX];
	struct target own = { .args = t->args, .table = personal, .values = t->values };
	struct configfile_source s;
	size_t n = 0;
	int r;

	for (const struct option *o = t->table; o && o->name; o++) {
		bool no_repo = o->kind == OPTION_REPO &&
			       !*(const char *const *)((char *)t->values + o->offset);

		if ((o->personal || no_repo) && n + 1 < OPTIONS_MAX)
			personal[n++] = *o;
	}
	if (!n)
		return 0;
	personal[n] = (struct option){ .name = NULL };
	r = configfile_open_users(&s, err);
	if (r == -ENOENT)
		r = configfile_open_systems(&s, err);
	if (r)
		return r == -ENOENT ? 0 : r;
	return read_source(&own, &s, err);
}

int configfile_apply(struct args *a, const struct option *table, void *values,
		     const char *file, struct error *err)
{
	return configfile_apply_both(a, table, values, NULL, file, err);
}

int configfile_apply_both(struct args *a, const struct option *table, void *values,
			  struct inspect_config *inspect, const char *file, struct error *err)
{
	struct target t = { .args = a, .table = table, .values = values, .inspect = inspect };
	struct configfile_source s;
	int r;

	if (file) {
		r = read_exceptions(err);
		r = r ? r : configfile_open_named(&s, file, err);
	} else {
		r = open_found(&s, err);
		if (r == -ENOENT)
			return 0;
	}
	if (!r)
		r = read_source(&t, &s, err);
	if (!r && s.place == CONFIG_PROJECT)
		r = read_personal(&t, err);
	return r;
}
