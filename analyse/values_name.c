/* SPDX-License-Identifier: MIT */
#include "analyse/values_name.h"

#include "analyse/names.h"
#include "base/array.h"
#include "recording/recipe.h"

#include <stdbool.h>
#include <string.h>

/* Names of tasks that are commands may be long. */
#define NAME_MAX_BYTES 240

#define RANDOM_LEAST 6		/* letters that mktemp(3) makes up, at least */

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_upper(char c)
{
	return c >= 'A' && c <= 'Z';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t word_length(const char *s)
{
	size_t n = 0;

	while (is_lower(s[n]) || is_upper(s[n]) || is_digit(s[n]))
		n++;
	return n;
}

/* Words people choose are of one kind of letter, perhaps with a capital in front. */
static bool is_made_up(const char *s, size_t n)
{
	size_t lower = 0, upper = 0, digits = 0;

	for (size_t i = 0; i < n; i++) {
		lower += is_lower(s[i]);
		upper += i && is_upper(s[i]);
		digits += is_digit(s[i]);
	}
	return n >= RANDOM_LEAST && (digits || (lower && upper));
}

static const char *behind_temporary(const char *name)
{
	static const char *const dir[] = { "/tmp/", "/var/tmp/", "/dev/shm/" };

	for (size_t i = 0; i < ARRAY_SIZE(dir); i++) {
		if (!strncmp(name, dir[i], strlen(dir[i])))
			return name + strlen(dir[i]);
	}
	return NULL;
}

/* The first component below a directory for temporary files. */
static const char *add_temporary(struct buf *out, const char *s)
{
	size_t n;

	while (*s && *s != '/') {
		n = word_length(s);
		if (!n)
			buf_addc(out, *s++);
		else if (is_made_up(s, n))
			buf_addc(out, '*');
		else
			buf_add(out, s, n);
		s += n;
	}
	return s;
}

/* Up to where a path may begin. */
static const char *add_word(struct buf *out, const char *s)
{
	size_t begin = out->len, n = strcspn(s, " =");

	n += s[n] != '\0';
	buf_add(out, s, n);
	for (size_t i = begin; i < out->len; i++) {
		if ((unsigned char)out->data[i] < ' ')
			out->data[i] = ' ';
	}
	return s + n;
}

static void add_clean(struct buf *out, const char *s)
{
	while (*s) {
		const char *behind = behind_temporary(s);

		if (behind) {
			buf_add(out, s, (size_t)(behind - s));
			s = add_temporary(out, behind);
		}
		s = add_word(out, s);
	}
}

static size_t cut_at(const struct buf *b, size_t begin)
{
	size_t end = begin + NAME_MAX_BYTES;

	if (b->len <= end)
		return b->len;
	while (end > begin && ((unsigned char)b->data[end] & 0xc0) == 0x80)
		end--;
	return end;
}

bool values_is_recipe(const struct recording *rec, const struct task *t)
{
	const char *tool = rec->instance[t->instance].tool;

	return *t->key && tool && !strcmp(tool, "bitbake");
}

static void add_recipe_task(struct buf *out, const struct task *t)
{
	struct recipe recipe;

	recipe_parse(&recipe, t->key);
	buf_add(out, recipe.name.p, recipe.name.len);
	buf_add(out, ": ", 2);
	add_clean(out, t->name);
}

static void add_task(struct buf *out, const struct recording *rec, const struct task *t)
{
	struct buf name = BUF_PART_OF(out);

	name_add_task(&name, rec, t);
	add_clean(out, buf_str(&name));
	buf_release(&name);
}

void values_name(struct buf *out, const struct recording *rec, const struct task *t)
{
	size_t begin = out->len;

	if (values_is_recipe(rec, t))
		add_recipe_task(out, t);
	else
		add_task(out, rec, t);
	if (!buf_error(out))
		buf_cut(out, cut_at(out, begin));
}
