#include "redact.h"
#include "configfile.h"

#include "buf.h"
#include "nightly.h"
#include "report.h"
#include "settings.h"
#include "url.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yaml.h>

#define CONFIG_NAME "buildbeat.yaml"
#define CONFIG_MAX (64 * 1024)

/* Finding */

static bool is_file(const char *path)
{
	struct stat st;

	return !stat(path, &st) && !S_ISDIR(st.st_mode);
}

static bool find_upwards(char path[PATH_MAX])
{
	char dir[PATH_MAX];
	char *slash;

	if (!getcwd(dir, sizeof dir) || strlen(dir) + sizeof CONFIG_NAME >= PATH_MAX)
		return false;
	for (;;) {
		snprintf(path, PATH_MAX, "%s/" CONFIG_NAME, dir[1] ? dir : "");
		if (is_file(path))
			return true;
		slash = strrchr(dir, '/');
		if (!slash || !dir[1])
			return false;
		slash[slash == dir ? 1 : 0] = '\0';
	}
}

static bool is_there(char path[PATH_MAX], const char *dir, const char *below)
{
	int n;

	if (!dir || *dir != '/')
		return false;
	n = snprintf(path, PATH_MAX, "%s%s/buildbeat/" CONFIG_NAME, dir, below);
	return n < PATH_MAX && is_file(path);
}

bool config_find(char path[PATH_MAX], bool *project)
{
	const char *xdg = getenv("XDG_CONFIG_HOME");

	*project = find_upwards(path);
	return *project || is_there(path, xdg && *xdg == '/' ? xdg : NULL, "") ||
	       (!(xdg && *xdg == '/') && is_there(path, getenv("HOME"), "/.config")) ||
	       is_there(path, SYSCONFDIR, "");
}

/* Parsing */

/* All keys there are, with somewhere for values that are checked and not wanted. */
struct keys {
	const struct option *table;
	void *scratch;
	uint64_t seen;
};

#define TABLES 2

struct reader {
	yaml_parser_t yaml;
	yaml_event_t event;
	struct args *args;
	const char *path, *project_dir;
	struct error *err;
};

/* A mapping that is being read. */
struct level {
	struct keys keys[TABLES];	/* the last may have no table */
	const struct option *table;	/* of those wanted elsewhere, NULL: none */
	void *values;			/* there */
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

/* The next event, of which the one before is freed. */
static int next(struct reader *r)
{
	yaml_mark_t mark;

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
	return wrong_at(r, mark, r->yaml.problem ? r->yaml.problem : "not YAML");
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
	near = report_nearest(key, names);
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

/* A path in a project's file is relative to that file, so that it means the same
 * wherever below it the build is started. */
static const char *kept_text(struct reader *r, const struct option *o, const char *text)
{
	bool is_path = o->kind == OPTION_PATH || o->kind == OPTION_LIST ||
		       (o->kind == OPTION_REPO && !url_is(text));
	struct buf full = BUF_INIT;
	const char *kept;

	if (!is_path || !r->project_dir || *text == '/' || !*text)
		return args_keep(r->args, text);
	buf_adds(&full, r->project_dir);
	buf_addc(&full, '/');
	buf_adds(&full, text);
	kept = buf_error(&full) ? NULL : args_keep(r->args, buf_str(&full));
	buf_release(&full);
	return kept;
}

/* The option of the caller's table that a key is for, NULL: none. */
static const struct option *wanted(struct reader *r, const struct level *l,
				   const struct option *o)
{
	const struct option *theirs = l->table ? option_find(l->table, o->name) : NULL;

	return theirs && theirs->config && theirs->kind == o->kind &&
	       !args_given(r->args, o->name) ? theirs : NULL;
}

/* Where a value goes that is checked while it is read. */
static void *place(struct reader *r, const struct level *l, const struct option *o, void *scratch)
{
	const struct option *theirs = wanted(r, l, o);

	return theirs ? (char *)l->values + theirs->offset : (char *)scratch + o->offset;
}

/* One scalar for option o, into the caller's value if it wants it. */
static int set_scalar(struct reader *r, const struct level *l, const struct option *o,
		      void *scratch)
{
	const char *value = (const char *)r->event.data.scalar.value;
	const struct option *theirs = wanted(r, l, o);
	const char *text;
	struct error err;
	int result;

	if (strlen(value) != r->event.data.scalar.length)
		return wrong(r, "expected a text without NUL bytes");
	text = kept_text(r, o, value);
	if (!text)
		return error_sys(r->err, -ENOMEM, r->path, NULL);
	result = option_set(o, scratch, text, &err);
	if (!result && theirs)
		result = option_set(theirs, l->values, text, &err);
	return result ? wrong(r, err.message) : 0;
}

/* What a plain value of one kind is called when something else stands there. */
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
	case OPTION_SET:
		return "expected a word or a list of words";
	case OPTION_MAP:
		return "expected keys and values of its own";
	case OPTION_MAPS:
		return "expected a list of keys and values";
	default:
		return "expected one text";
	}
}

static int read_map(struct reader *r, const struct option_map *map, void *values);

static int add_map(struct reader *r, const struct option *o, void *list)
{
	void *item;

	if (r->event.type != YAML_MAPPING_START_EVENT)
		return wrong(r, expected(o));
	item = o->map->add(list);
	return item ? read_map(r, o->map, item) : error_sys(r->err, -ENOMEM, r->path, NULL);
}

static int read_item(struct reader *r, const struct level *l, const struct option *o,
		     void *scratch)
{
	if (o->kind == OPTION_MAPS)
		return add_map(r, o, place(r, l, o, scratch));
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
		       o->kind == OPTION_SECRETS;
	int result = next(r);

	if (result)
		return result;
	if (r->event.type == YAML_SEQUENCE_START_EVENT && is_list)
		return set_sequence(r, l, o, scratch);
	if (r->event.type == YAML_MAPPING_START_EVENT && o->kind == OPTION_MAP)
		return read_map(r, o->map, place(r, l, o, scratch));
	if (r->event.type != YAML_SCALAR_EVENT || o->kind == OPTION_MAP || o->kind == OPTION_MAPS)
		return wrong(r, expected(o));
	return set_scalar(r, l, o, scratch);
}

static int read_key(struct reader *r, struct level *l)
{
	const struct option *o = NULL;
	struct keys *k = l->keys;
	const char *name;
	uint64_t bit;

	if (r->event.type != YAML_SCALAR_EVENT)
		return wrong(r, "expected a key and its value");
	name = (const char *)r->event.data.scalar.value;
	while (k < l->keys + TABLES && k->table &&
	       !((o = option_find(k->table, name)) && o->config))
		k++;
	if (k == l->keys + TABLES || !k->table)
		return unknown_key(r, l, name);
	bit = UINT64_C(1) << (o - k->table);
	if (k->seen & bit)
		return wrong(r, "expected every key once; this one stands above already");
	k->seen |= bit;
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

/* A mapping within one; how deep they may go, the tables say. */
static int read_map(struct reader *r, const struct option_map *map, void *values)
{
	struct level l = { .keys = { { map->keys, values, 0 } } };
	yaml_mark_t begin = r->event.start_mark;
	struct error err;
	int result = read_mapping(r, &l);

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
		result = wrong(r, "expected lines of the form 'key: value'");
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
			return wrong(r, "expected one document only");
		had_one = true;
		result = read_document(r, top);
		if (result)
			return result;
	}
}

int config_parse(struct args *a, const struct option *table, void *values,
		 const char *text, size_t len, const char *path,
		 const char *project_dir, struct error *err)
{
	struct settings settings = { 0 };
	struct nightly_config nightly = { 0 };
	struct level top = {
		.keys = { { settings_options, &settings, 0 }, { nightly_keys, &nightly, 0 } },
		.table = table, .values = values,
	};
	struct reader r = {
		.args = a, .path = path, .project_dir = project_dir, .err = err,
	};
	int result;

	if (len > CONFIG_MAX)
		return error_set(err, -EFBIG, path, 0, 0, "expected at most %d bytes",
				 CONFIG_MAX);
	if (!yaml_parser_initialize(&r.yaml))
		return error_sys(err, -ENOMEM, path, NULL);
	rules_config_init(&nightly.compare);
	yaml_parser_set_input_string(&r.yaml, (const unsigned char *)text, len);
	result = read_stream(&r, &top);
	yaml_event_delete(&r.event);
	yaml_parser_delete(&r.yaml);
	rules_config_release(&nightly.compare);
	return result;
}

/* Reading */

static int read_text(struct buf *text, const char *path, struct error *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n = 1;
	int r = 0;

	if (fd < 0)
		return error_sys(err, -errno, path, "cannot read the configuration");
	while (n > 0 && text->len <= CONFIG_MAX && !buf_reserve(text, 8192)) {
		n = read(fd, text->data + text->len, 8192);
		if (n > 0)
			text->len += (size_t)n;
	}
	if (n < 0)
		r = -errno;
	else if (buf_error(text))
		r = buf_error(text);
	close(fd);
	return r ? error_sys(err, r, path, "cannot read the configuration") : 0;
}

/* A plugin is code: not from a file that somebody else could put above us. */
static int check_owner(const struct settings *scratch, const char *path, struct error *err)
{
	struct stat st;

	if (!scratch->plugin || stat(path, &st))
		return 0;
	if (st.st_uid == geteuid() || st.st_uid == 0)
		return 0;
	return error_set(err, -EPERM, path, 0, 0, "names a plugin, but belongs to somebody "
			 "else; if you trust it, use: --config %s", path);
}

int config_apply(struct args *a, const struct option *table, void *values,
		 const char *file, struct error *err)
{
	char path[PATH_MAX], dir[PATH_MAX];
	struct buf text = BUF_INIT;
	bool project = false;
	struct settings all = { 0 };
	int r;

	if (!file && !config_find(path, &project))
		return 0;
	r = read_text(&text, file ? file : path, err);
	if (!r && !file)
		r = config_parse(a, settings_options, &all, buf_str(&text), text.len,
				 path, NULL, err);
	if (!r && !file)
		r = check_owner(&all, path, err);
	strcpy(dir, file ? "" : path);
	if (project)
		*strrchr(dir, '/') = '\0';
	if (!r)
		r = config_parse(a, table, values, buf_str(&text), text.len,
				 file ? file : path, project ? dir : NULL, err);
	buf_release(&text);
	return r;
}
