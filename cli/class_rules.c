/* SPDX-License-Identifier: MIT */
#include "cli/class_rules.h"

#include "base/array.h"
#include "base/nearest.h"
#include "base/readfile.h"
#include "cli/configfile.h"
#include "inspect/shipped_rules.h"

#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FILE_MAX (64 * 1024)
#define SHIPPED_MAX 32

static const struct option_map rule_map;

#define OPTIONS struct class_rule
static const struct option rule_keys[] = {
	{ OPT_KEY(OPTION_TEXT, const char *, "name", name) },
	{ OPT_KEY(OPTION_REGEX, const char *, "file", file) },
	{ OPT_KEY(OPTION_REGEX, const char *, "permissions", permissions) },
	{ OPT_KEY(OPTION_REGEXES, struct word_list, "stack", stack) },
	{ OPT_KEY(OPTION_REGEX, const char *, "source", source) },
	{ OPT_KEY(OPTION_CHOICE, int, "split", split), .choices = class_split_words },
	{ OPT_KEY(OPTION_MAPS, struct class_rules, "rules", children), .map = &rule_map },
	{ 0 }
};

static void *add_rule(void *list)
{
	struct class_rules *rules = list;
	struct class_rule *rule = array_add(&rules->rule, &rules->n, sizeof *rule);

	if (rule)
		*rule = (struct class_rule){ 0 };
	return rule;
}

static int check_rule(void *values, struct error *err)
{
	const struct class_rule *rule = values;

	if (!rule->name)
		return error_say(err, -EINVAL, "expected a rule with a name");
	if (rule->split && rule->children.n)
		return error_say(err, -EINVAL, "'%.64s' has rules and split: only one of them can "
				 "divide it", rule->name);
	return 0;
}

static const struct option_map rule_map = { rule_keys, add_rule, check_rule };

#undef OPTIONS
#define OPTIONS struct class_rule_file
static const struct option file_keys[] = {
	{ OPT_KEY(OPTION_TEXT, const char *, "programs", programs) },
	{ OPT_KEY(OPTION_REGEX, const char *, "allocators", allocators) },
	{ OPT_KEY(OPTION_MAPS, struct class_rules, "rules", rules), .map = &rule_map },
	{ 0 }
};

static void free_rules(struct class_rules *rules)
{
	for (size_t i = 0; i < rules->n; i++)
		free_rules(&rules->rule[i].children);
	free(rules->rule);
}

void class_rules_release(struct class_rules_read *c)
{
	free_rules(&c->file.rules);
	options_release(&c->args);
	*c = (struct class_rules_read){ .name = "" };
}

int class_rules_parse(struct class_rules_read *c, const char *text, size_t len, const char *path,
		      struct error *err)
{
	*c = (struct class_rules_read){ .name = "" };
	snprintf(c->name, sizeof c->name, "%s", path);
	return configfile_parse_keys(&c->args, file_keys, &c->file, text, len, path, err);
}

/* Is the program one of those words? */
static bool is_for(const char *programs, const char *program)
{
	char word[128];
	size_t len;

	for (const char *p = programs + strspn(programs, " "); *p; p += strspn(p, " ")) {
		len = strcspn(p, " ");
		if (len < sizeof word) {
			memcpy(word, p, len);
			word[len] = '\0';
			if (!fnmatch(word, program, 0))
				return true;
		}
		p += len;
	}
	return false;
}

static int read_shipped(struct class_rules_read *c, const struct shipped_rules *s,
			struct error *err)
{
	return class_rules_parse(c, s->text, strlen(s->text), s->name, err);
}

static int for_program(struct class_rules_read *c, const char *program, struct error *err)
{
	for (const struct shipped_rules *s = shipped_rules;; s++) {
		int r = read_shipped(c, s, err);

		if (r || !s[1].name || (c->file.programs && is_for(c->file.programs, program)))
			return r;
		class_rules_release(c);
	}
}

static int no_such_rules(const char *wanted, struct error *err)
{
	const char *names[SHIPPED_MAX], *near;
	size_t n = 0;

	for (const struct shipped_rules *s = shipped_rules; s->name && n + 1 < SHIPPED_MAX; s++)
		names[n++] = s->name;
	names[n] = NULL;
	near = nearest_word(wanted, names);
	if (near)
		return error_say(err, -ENOENT, "there is no file and there are no shipped rules "
				 "'%s'; did you mean '%s'?", wanted, near);
	return error_say(err, -ENOENT, "there is no file and there are no shipped rules '%s'",
			 wanted);
}

int class_rules_read(struct class_rules_read *c, const char *wanted, const char *program,
		     struct error *err)
{
	struct buf text = BUF_INIT;
	int r;

	*c = (struct class_rules_read){ .name = "" };
	if (!wanted)
		return for_program(c, program, err);
	for (const struct shipped_rules *s = shipped_rules; s->name; s++) {
		if (!strcmp(s->name, wanted))
			return read_shipped(c, s, err);
	}
	r = readfile_at(&text, AT_FDCWD, wanted, FILE_MAX);
	if (r == -ENOENT && !strchr(wanted, '/'))
		r = no_such_rules(wanted, err);
	else if (r)
		r = error_sys(err, r, wanted, "cannot read the rules");
	else
		r = class_rules_parse(c, buf_str(&text), text.len, wanted, err);
	buf_release(&text);
	return r;
}
