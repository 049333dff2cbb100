/* SPDX-License-Identifier: MIT */
#include "analyse/names.h"

#include "base/array.h"
#include "command/command_name.h"
#include "recording/recipe.h"

/* Names of tasks that are commands may be long. */
#define NAME_MAX_BYTES 240

#define RANDOM_LEAST 6		/* letters that mktemp(3) makes up, at least */

const char *name_relative(const struct recording *rec, const char *path)
{
	const char *cwd;
	size_t n;

	if (*path != '/')
		return path;
	cwd = recording_build(rec, "cwd");
	n = cwd ? strlen(cwd) : 0;
	if (n < 2 || strncmp(path, cwd, n))
		return path;
	if (!path[n])
		return ".";
	return path[n] == '/' && path[n + 1] ? path + n + 1 : path;
}

const char *name_place(const struct recording *rec, const struct task *t)
{
	const struct instance *i = &rec->instance[t->instance];
	const char *dir;

	if (name_is_recipe(rec, t))
		return t->key;
	if (!i->cwd || !recording_build(rec, "cwd"))
		return "";
	dir = name_relative(rec, i->cwd);
	return strcmp(dir, ".") ? dir : "";
}

void name_add_bare(struct buf *b, const struct recording *rec, const struct task *t)
{
	const char *command;

	if (*t->name) {
		buf_adds(b, t->name);
		return;
	}
	/* the name that the reader gives it when it reads more than sums */
	command = recording_command(rec, t);
	command_name_add(b, command, strlen(command));
}

void name_add_task(struct buf *b, const struct recording *rec, const struct task *t)
{
	const char *place = name_place(rec, t);
	size_t before;

	if (*place) {
		buf_adds(b, place);
		buf_adds(b, ": ");
	}
	before = b->len;
	if (*t->name)
		buf_adds(b, name_relative(rec, t->name));
	else
		name_add_bare(b, rec, t);
	if (b->len == before)
		buf_addc(b, '?');
}

void name_add_file(struct buf *b, const struct recording *rec, const struct task *t)
{
	const char *slash = strrchr(t->name, '/');

	if (name_is_recipe(rec, t) || !*t->name)
		name_add_task(b, rec, t);
	else
		buf_adds(b, slash && slash[1] ? slash + 1 : t->name);
}

/* Stable names */

static size_t word_length(const char *s)
{
	return strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
}

/* Words that people choose have letters of one case, perhaps after a capital, and no digits. */
static bool is_made_up(const char *s, size_t n)
{
	size_t lower = 0, upper = 0, digits = 0;

	for (size_t i = 0; i < n; i++) {
		lower += s[i] >= 'a' && s[i] <= 'z';
		upper += i && s[i] >= 'A' && s[i] <= 'Z';
		digits += s[i] >= '0' && s[i] <= '9';
	}
	return n >= RANDOM_LEAST && (digits || (lower && upper));
}

/* If a directory for temporary files is at s, copy it and the component in it. */
static const char *add_temporary(struct buf *out, const char *s)
{
	static const char *const dir[] = { "/tmp/", "/var/tmp/", "/dev/shm/" };
	size_t i = 0, n;

	while (i < ARRAY_SIZE(dir) && strncmp(s, dir[i], strlen(dir[i])))
		i++;
	if (i == ARRAY_SIZE(dir))
		return s;
	buf_adds(out, dir[i]);
	for (s += strlen(dir[i]); *s && *s != '/'; s += n) {
		n = word_length(s);
		if (is_made_up(s, n))
			buf_addc(out, '*');
		else
			buf_add(out, s, n ? n : 1);
		n += !n;
	}
	return s;
}

/* A path may begin after a blank or an equals sign. */
static void add_clean(struct buf *out, const char *s)
{
	while (*s) {
		size_t begin, n;

		s = add_temporary(out, s);
		begin = out->len;
		n = strcspn(s, " =");
		n += s[n] != '\0';
		buf_add(out, s, n);
		for (size_t i = begin; i < out->len; i++) {
			if ((unsigned char)out->data[i] < ' ')
				out->data[i] = ' ';
		}
		s += n;
	}
}

void name_add_stable(struct buf *out, const struct recording *rec, const struct task *t)
{
	size_t begin = out->len, end = begin + NAME_MAX_BYTES;
	struct buf name = BUF_PART_OF(out);

	if (name_is_recipe(rec, t)) {
		struct recipe recipe;

		recipe_parse(&recipe, t->key);
		buf_add(out, recipe.name.p, recipe.name.len);
		buf_add(out, ": ", 2);
		add_clean(out, t->name);
	} else {
		name_add_task(&name, rec, t);
		add_clean(out, buf_str(&name));
		buf_release(&name);
	}
	if (buf_error(out) || out->len <= end)
		return;
	while (end > begin && ((unsigned char)out->data[end] & 0xc0) == 0x80)
		end--;
	buf_cut(out, end);
}
