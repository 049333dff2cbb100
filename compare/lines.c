/* SPDX-License-Identifier: MIT */
#include "base/json.h"
#include "compare/lines.h"

static void begin_line(struct json *j, struct buf *out, const struct line_id *id)
{
	json_init(j, out, true);
	json_object(j, NULL);
	if (id->is_number)
		json_int(j, "id", id->number);
	else
		json_strn(j, "id", id->text, id->len);
}

static void add_change(struct json *j, const struct change *c)
{
	json_object(j, NULL);
	json_int(j, "at", c->at);
	json_int(j, "first", c->first);
	json_int(j, "last", c->last);
	json_shortest(j, "before", c->before);
	json_shortest(j, "after", c->after);
	json_shortest(j, "effect", c->effect);
	json_shortest(j, "p", c->p);
	json_object_end(j);
}

void line_changes(struct buf *out, const struct line_id *id, const struct change *list, size_t n)
{
	struct json j;

	begin_line(&j, out, id);
	json_array(&j, "change_points");
	for (size_t i = 0; i < n; i++)
		json_int(&j, NULL, list[i].at);
	json_array_end(&j);
	json_array(&j, "changes");
	for (size_t i = 0; i < n; i++)
		add_change(&j, &list[i]);
	json_array_end(&j);
	json_object_end(&j);
}

static void add_interval(struct json *j, struct interval in)
{
	json_array(j, "interval");
	json_shortest(j, NULL, in.low);
	json_shortest(j, NULL, in.high);
	json_array_end(j);
}

static void add_side(struct json *j, const char *name, const struct side *side)
{
	json_object(j, name);
	json_int(j, "n", side->n);
	json_shortest(j, "median", side->median);
	add_interval(j, side->in);
	json_object_end(j);
}

void line_samples(struct buf *out, const struct line_id *id, const struct samples *s)
{
	struct json j;

	begin_line(&j, out, id);
	json_shortest(&j, "p", s->p);
	json_shortest(&j, "adjusted_p", s->adjusted_p);
	json_shortest(&j, "effect", s->effect);
	add_interval(&j, s->in);
	json_str(&j, "verdict", samples_verdict_word[s->verdict]);
	json_shortest(&j, "t_p", s->t_p);
	json_shortest(&j, "adjusted_t_p", s->adjusted_t_p);
	add_side(&j, "base", &s->base);
	add_side(&j, "new", &s->now);
	json_object_end(&j);
}
