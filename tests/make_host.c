/* SPDX-License-Identifier: MIT */
#include "tests/make_host.h"

#include "base/cursor.h"
#include "plugin/buildbeat_plugin.h"
#include "plugin/ticket.h"
#include "recording/event.h"
#include "recording/layout.h"
#include "recording/recording.h"
#include "recording/store_create.h"
#include "tests/support.h"

#include <dlfcn.h>

bool make_host_can(void)
{
	return support_can_be_loaded() && support_has("make");
}

const struct buildbeat_api *make_host_api(void)
{
	const struct buildbeat_api *(*get)(uint32_t), *api;
	void *so = dlopen(PLUGIN, RTLD_NOW | RTLD_LOCAL);

	ck_assert_msg(so != NULL, "%s", dlerror());
	*(void **)&get = dlsym(so, "buildbeat_get_api");
	ck_assert_ptr_nonnull(get);
	ck_assert_ptr_null(get(0));
	ck_assert_ptr_null(get(99));
	api = get(BUILDBEAT_API_MAJOR);
	ck_assert_ptr_nonnull(api);
	unsetenv("MAKEFILES");
	return api;
}

struct buildbeat_session *make_host_open(const struct buildbeat_api *api, const char *dir,
					 unsigned flags)
{
	struct buildbeat_host host = {
		.size = sizeof host, .tool = "host", .dir = dir, .interval_ms = -1, .flags = flags,
	};
	struct buildbeat_session *s = api->open(&host);

	ck_assert_ptr_nonnull(s);
	return s;
}

int32_t make_host_tally(const struct buildbeat_api *api, struct buildbeat_session *s, int32_t status)
{
	struct buildbeat_tallies t = { .size = sizeof t, .status = status };

	return api->tally_set(s, &t);
}

uint32_t make_host_location(const struct buildbeat_api *api, int line)
{
	struct buildbeat_place place = {
		.size = sizeof place, .line = line, .function = "function", .file = "a/directory/file.c",
	};

	return api->tally_location(&place);
}

void fixture_begin(struct fixture *f, const char *base, const char *name, unsigned flags,
		   const char *user, const char *plugin)
{
	struct error err = { 0 };
	struct ticket t;

	ck_assert_msg(!store_create(&f->store, base, name, &err), "%s: %s", err.path, err.message);
	f->store.flags = flags;
	ck_assert_int_eq(ticket_write(&t, &f->store, plugin ? plugin : PLUGIN), 0);
	strcpy(f->ticket, t.path);
	buf_init(&f->makefiles);
	ticket_add_makefiles(&f->makefiles, &t, user);
}

void fixture_end(struct fixture *f)
{
	struct ticket t;

	strcpy(t.path, f->ticket);
	ticket_remove(&t);
	ck_assert(!support_exists(f->ticket));
	buf_release(&f->makefiles);
	store_close(&f->store);
}

static int by_start(const void *a, const void *b)
{
	const struct task *x = a, *y = b;

	return (x->start_us > y->start_us) - (x->start_us < y->start_us);
}

bool tasks_summary(struct buf *out, const char *dir)
{
	static const char ends[] = {
		[TASK_QUEUED] = '.', [TASK_UNFINISHED] = '?', [TASK_DONE] = '+',
		[TASK_FAILED] = '-', [TASK_KILLED] = 'x',
	};
	struct recording rec = RECORDING_INIT;
	struct error err = { 0 };

	buf_init(out);
	buf_adds(out, "");
	if (!support_exists(dir))
		return false;
	ck_assert_msg(!recording_read(&rec, dir, NULL, &err), "%s: %s", err.path, err.message);
	qsort(rec.task, rec.n_tasks, sizeof *rec.task, by_start);
	for (size_t i = 0; i < rec.n_tasks; i++) {
		const struct task *t = &rec.task[i];

		buf_addf(out, "%s%s%s%c", i ? " " : "", t->name, task_is_shell(t) ? "!" : "",
			 task_said_no(t) ? '-' : ends[t->state]);
	}
	recording_release(&rec);
	return true;
}

void tasks_count(const char *dir, size_t *lines, size_t *bad)
{
	struct cursor c;
	struct slice line;
	struct buf text;
	bool complete;

	support_read(&text, support_path("%s/" LAYOUT_TASKS, dir));
	cursor_init(&c, text.data, text.len);
	*lines = *bad = 0;
	if (!cursor_literal(&c, TASKS_HEADER))
		++*bad;
	while (cursor_line(&c, &line, &complete)) {
		struct event e;

		++*lines;
		*bad += !complete || event_parse(line, &e) != EVENT_PARSED;
	}
	buf_release(&text);
}
