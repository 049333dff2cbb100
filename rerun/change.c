/* SPDX-License-Identifier: MIT */
#include "rerun/change.h"

#include "analyse/names.h"
#include "base/array.h"
#include "base/cursor.h"
#include "base/minmax.h"

#include <errno.h>
#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FACTOR_MOST 1e6

struct words {
	const char *kind;	/* NULL: any */
	const char *name;	/* NULL: any */
	bool pattern;
	double number;		/* behind '=', NAN: none */
	struct buf text;	/* without the number */
};

/* Of another case or unknown: a name may have a colon, too. */
static const char *kind_of(const struct recording *rec, const char *word, size_t len)
{
	for (size_t i = 0; i < rec->n_tasks; i++) {
		const char *kind = rec->task[i].kind;

		if (strlen(kind) == len && !memcmp(kind, word, len))
			return kind;
	}
	return NULL;
}

static void words_read(struct words *w, const struct recording *rec, const char *text, bool number)
{
	const char *equals = number ? strrchr(text, '=') : NULL, *colon;

	*w = (struct words){ .number = NAN, .text = BUF_INIT };
	buf_add(&w->text, text, equals ? (size_t)(equals - text) : strlen(text));
	if (equals && equals[1]) {
		char *end;
		double value = strtod(equals + 1, &end);

		w->number = *end ? NAN : value;
	}
	w->name = buf_str(&w->text);
	colon = strchr(w->name, ':');
	if (colon)
		w->kind = kind_of(rec, w->name, (size_t)(colon - w->name));
	if (w->kind)
		w->name = colon + 1;
	if (!*w->name && w->kind)
		w->name = NULL;
	w->pattern = w->name && strpbrk(w->name, "*?[");
}

static bool name_fits(const struct words *w, const char *name)
{
	const char *slash = strrchr(name, '/');

	if (w->pattern)
		return !fnmatch(w->name, name, 0) || (slash && !fnmatch(w->name, slash + 1, 0));
	return !strcmp(w->name, name) || (slash && !strcmp(w->name, slash + 1));
}

static bool fits(const struct words *w, const struct recording *rec, const struct task *t, struct buf *scratch)
{
	if (w->kind && strcmp(w->kind, t->kind))
		return false;
	if (!w->name || (*t->name && name_fits(w, t->name)))
		return true;
	buf_clear(scratch);
	name_add_task(scratch, rec, t);
	return name_fits(w, buf_str(scratch));
}

enum what { SPEEDUP, WITHOUT, SPLIT, FIRST };

static void apply(struct rerun_effect *e, enum what what, double number)
{
	switch (what) {
	case SPEEDUP:
		e->factor = (float)((double)e->factor / number);
		break;
	case WITHOUT:
		e->factor = 0;
		break;
	case SPLIT:
		e->parts = (uint16_t)number;
		break;
	case FIRST:
		e->first = true;
		break;
	}
}

static int apply_all(struct rerun_effect *effect, enum what what, const char *option, const struct word_list *list,
		     const struct summary *s, struct error *err)
{
	bool number = what == SPEEDUP || what == SPLIT;
	struct buf scratch = BUF_INIT;
	int r = 0;

	for (size_t k = 0; k < list->n && !r; k++) {
		size_t n = 0;
		struct words w;

		words_read(&w, s->rec, list->item[k], number);
		r = buf_error(&w.text);
		if (!r && what == SPEEDUP && !(w.number > 0 && w.number <= FACTOR_MOST))
			r = error_say(err, -EINVAL, "--%s: expected PATTERN=FACTOR with a factor above 0, such as "
				      "link:=2, not '%.200s'", option, list->item[k]);
		else if (!r && what == SPLIT && !(w.number >= 2 && w.number <= RERUN_PARTS_MAX &&
					    floor(w.number) == w.number))
			r = error_say(err, -EINVAL, "--%s: expected PATTERN=PARTS with 2 to %d parts, not '%.200s'",
				      option, RERUN_PARTS_MAX, list->item[k]);
		for (size_t i = 0; i < s->n_ran && !r; i++) {
			if (!fits(&w, s->rec, &s->rec->task[s->order[i]], &scratch))
				continue;
			apply(&effect[s->order[i]], what, w.number);
			n++;
		}
		r = r ? r : buf_error(&scratch);
		if (!r && !n)
			r = error_say(err, -EINVAL, "--%s: no task of the recording is called '%.200s'", option,
				      buf_str(&w.text));
		buf_release(&w.text);
	}
	buf_release(&scratch);
	return r;
}

static uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;	/* splitmix64 */

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

static void hit_some(struct rerun_effect *effect, const struct rerun_change *change, const struct summary *s)
{
	uint64_t state = change->seed;

	for (size_t i = 0; i < s->n_ran; i++) {
		uint32_t t = s->order[i];

		if (!strcmp(s->rec->task[t].kind, "compile"))
			effect[t].hit = (double)(random_next(&state) >> 11) / 0x1p53 < change->cache_hit;
	}
}

int rerun_change_effects(struct rerun_effect **effect, const struct rerun_change *change,
			  const struct summary *s, struct error *err)
{
	struct rerun_effect *e = array_new(s->rec->n_tasks + 1, sizeof *e);
	int r = e ? 0 : -ENOMEM;

	*effect = e;
	for (size_t i = 0; e && i < s->rec->n_tasks; i++)
		e[i] = (struct rerun_effect){ .factor = 1, .parts = 1 };
	if (!r)
		r = apply_all(e, SPEEDUP, "speedup", &change->speedup, s, err);
	if (!r)
		r = apply_all(e, SPLIT, "split", &change->split, s, err);
	if (!r)
		r = apply_all(e, FIRST, "first", &change->first, s, err);
	if (!r)
		r = apply_all(e, WITHOUT, "without", &change->without, s, err);
	if (!r && change->cache_hit >= 0)
		hit_some(e, change, s);
	/* with a task, all that runs in it is gone */
	for (size_t i = 0; !r && i < s->n_ran; i++) {
		uint32_t parent = s->nest[s->order[i]].parent;

		if (parent != NO_INDEX && e[parent].factor <= 0)
			e[s->order[i]].factor = 0;
	}
	return r;
}
