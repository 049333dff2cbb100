#include "figures_name.h"

#include "names.h"
#include "oe.h"

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

	for (size_t i = 0; i < sizeof dir / sizeof *dir; i++) {
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

static void add_clean(struct buf *out, const char *s)
{
	const char *behind;
	bool begins = true;

	while (*s) {
		behind = begins ? behind_temporary(s) : NULL;
		if (behind) {
			buf_add(out, s, (size_t)(behind - s));
			s = add_temporary(out, behind);
		}
		begins = *s == ' ' || *s == '=';
		if (*s) {
			buf_addc(out, (unsigned char)*s < ' ' ? ' ' : *s);
			s++;
		}
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

static void add_recipe_task(struct buf *out, const struct task *t)
{
	struct oe_recipe recipe;

	oe_recipe_parse(&recipe, t->key);
	buf_add(out, recipe.name.p, recipe.name.len);
	buf_adds(out, ": ");
	buf_adds(out, t->name);
}

bool figures_is_recipe(const struct recording *rec, const struct task *t)
{
	const char *tool = rec->instance[t->instance].tool;

	return *t->key && tool && !strcmp(tool, "bitbake");
}

void figures_name(struct buf *out, const struct recording *rec, const struct task *t)
{
	struct buf name = BUF_INIT;
	size_t begin = out->len;

	if (figures_is_recipe(rec, t))
		add_recipe_task(&name, t);
	else
		name_add_task(&name, rec, t);
	add_clean(out, buf_str(&name));
	if (buf_error(&name))
		out->error = buf_error(&name);
	if (!buf_error(out))
		buf_cut(out, cut_at(out, begin));
	buf_release(&name);
}
