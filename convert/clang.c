/* SPDX-License-Identifier: MIT */
#include "base/minmax.h"
#include "base/str.h"
#include "convert/builder.h"
#include "convert/clang_unit.h"
#include "convert/converters.h"

#include <string.h>

/* clang writes DIR/foo.json beside DIR/foo.o. */
static const char *object_of(struct builder *b, const char *path)
{
	struct buf name = BUF_INIT;
	const char *text;

	buf_add(&name, path, strlen(path) - (str_ends(path, ".json") ? 5 : 0));
	buf_adds(&name, ".o");
	text = buf_error(&name) ? path : builder_text(b, name.data, name.len);
	buf_release(&name);
	return text;
}

static void add_unit(struct builder *b, uint32_t instance, const struct clang_units *u,
		     const struct clang_unit *unit, int64_t start_us)
{
	struct builder_task task;
	uint32_t at;

	builder_task_init(&task);
	task.name = object_of(b, unit->path);
	task.kind = "compile";
	task.start_us = start_us;
	task.end_us = start_us + unit->length_us;
	at = builder_task(b, instance, &task);
	for (size_t i = 0; i < unit->n_phases; i++) {
		const struct clang_phase *p = &u->phase[unit->first_phase + i];

		builder_span(b, instance, at, start_us + p->begin_us, start_us + p->end_us,
			     p->name);
	}
}

/* When the first one began; -1 if a trace has no time of day. */
static int64_t first_wall_us(const struct clang_units *u)
{
	int64_t first = INT64_MAX;

	for (size_t i = 0; i < u->n; i++)
		first = MIN(u->unit[i].wall_us, first);
	return first;
}

static int build(struct recording *rec, const struct clang_units *u, const char *path)
{
	int64_t wall_us = first_wall_us(u);
	struct builder b;
	uint32_t instance;

	builder_init(&b, rec, path);
	builder_build(&b, "tool", u->unit[0].tool);
	if (wall_us >= 0)
		builder_start_wall(&b, wall_us * 1000);
	instance = builder_instance(&b, u->unit[0].tool, NULL, NULL, NO_INDEX);
	for (size_t i = 0; i < u->n; i++)
		add_unit(&b, instance, u, &u->unit[i],
			 wall_us < 0 ? 0 : u->unit[i].wall_us - wall_us);
	return builder_finish(&b);
}

int clang_read(struct recording *rec, const char *const *path, size_t n, struct error *err)
{
	struct clang_units u;
	int r = clang_units_read(&u, path, n, err);

	if (!r && (r = build(rec, &u, path[0])))
		error_sys(err, r, path[0], NULL);
	clang_units_release(&u);
	return r;
}
