/* SPDX-License-Identifier: MIT */
#include "tests/machine.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

#include "base/clock.h"
#include "base/cursor.h"
#include "recording/event.h"
#include "recording/store_create.h"

static void make_parents(const char *path)
{
	char parent[4096];

	for (const char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		snprintf(parent, sizeof parent, "%.*s", (int)(p - path), path);
		ck_assert(!mkdir(parent, 0777) || errno == EEXIST);
	}
}

static void put(const struct machine *m, struct slice path, const char *text, size_t len)
{
	const char *full = support_path("%s/%.*s", m->dir, (int)path.len, path.p);

	make_parents(full);
	if (path.p[path.len - 1] != '/')
		support_write(full, text, len);
}

static void unpack(const struct machine *m, const char *listing)
{
	RELEASED(buf, all);
	const char *p, *next;

	support_read(&all, support_path("%s/tests/data/%s", TOP_SRCDIR, listing));
	ck_assert(!strncmp(all.data, "==> ", 4));
	for (p = all.data; p; p = next) {
		const char *eol = strchr(p, '\n');
		struct slice path = { p + 4, (size_t)(eol - p - 4) };

		next = strstr(eol, "\n==> ");
		next = next ? next + 1 : NULL;
		put(m, path, eol + 1, (size_t)((next ? next : all.data + all.len) - eol - 1));
	}
}

void machine_init(struct machine *m, const char *listing)
{
	struct error err;

	memset(m, 0, sizeof *m);
	snprintf(m->dir, sizeof m->dir, "%s/machine", support_tmpdir());
	make_parents(support_path("%s/proc/", m->dir));
	make_parents(support_path("%s/sys/", m->dir));
	if (listing)
		unpack(m, listing);
	ck_assert_int_eq(store_create(&m->store, support_path("%s/out", m->dir), "rec", &err), 0);
}

void machine_release(struct machine *m)
{
	sampler_free(m->sampler);
	store_close(&m->store);
	recording_release(&m->rec);
	support_cleanup();
}

void machine_set(const struct machine *m, const char *path, const char *text)
{
	put(m, slice_of(path), text, strlen(text));
}

void machine_start(struct machine *m, struct sampler_options options)
{
	struct error err;

	options.proc_root = support_path("%s/proc", m->dir);
	options.sys_root = support_path("%s/sys", m->dir);
	/* less than a second: the finest units */
	if (!options.interval_ms)
		options.interval_ms = 900;
	ck_assert_int_eq(sampler_new(&m->sampler, m->store.dir_fd, m->store.start_ns,
				     &options, &err), 0);
	machine_sample(m);
}

void machine_start_here(struct machine *m)
{
	struct sampler_options options = { .interval_ms = 1000, .tasks = true };
	struct error err;

	machine_init(m, NULL);
	ck_assert_int_eq(sampler_new(&m->sampler, m->store.dir_fd, m->store.start_ns,
				     &options, &err), 0);
}

void machine_add_start(struct machine *m, const char *inst, uint64_t seq, pid_t pid)
{
	struct event_task e = { .pid = pid, .slot = -1, .name = "task" };
	RELEASED(buf, b = BUF_INIT);

	event_add_start(&b, store_now_us(&m->store), inst, seq, &e);
	store_append(&m->store, &b);
}

const struct task *machine_task(const struct machine *m, const char *inst, uint64_t seq)
{
	for (size_t i = 0; i < m->rec.n_tasks; i++)
		if (m->rec.task[i].seq == seq &&
		    !strcmp(m->rec.instance[m->rec.task[i].instance].id, inst))
			return &m->rec.task[i];
	ck_abort_msg("no task %s.%d", inst, (int)seq);
}

void machine_sample(struct machine *m)
{
	/* the reader joins two samples of one millisecond */
	usleep(2000);
	sampler_take(m->sampler, true);
}

void machine_read(struct machine *m)
{
	sampler_free(m->sampler);
	m->sampler = NULL;
	recording_release(&m->rec);
	recorded_open(&m->rec, m->store.path, NULL);
	for (size_t i = 0; i < m->rec.n_warnings; i++)
		ck_abort_msg("%s", m->rec.warning[i].text);
}

bool machine_has(const struct machine *m, const char *log, const char *column)
{
	const struct series *s = recording_series(&m->rec, log);

	return s && (!column || recording_series_column(s, column) >= 0);
}

int64_t machine_level(const struct machine *m, const char *log, const char *column)
{
	const struct series *s = recording_series(&m->rec, log);
	int i;

	ck_assert_msg(s != NULL, "no %s", log);
	i = recording_series_column(s, column);
	ck_assert_msg(i >= 0, "no %s in %s", column, log);
	ck_assert_uint_gt(s->n, 0);
	return s->level[(s->n - 1) * s->n_columns + (size_t)i];
}

void machine_is(const struct machine *m, const char *log, const char *columns)
{
	char *words = strdup(columns);

	for (char *rest = words, *column; (column = strsep(&rest, " ")); ) {
		char *value = strchr(column, '=');

		if (value)
			*value++ = '\0';
		if (value)
			ck_assert_msg(machine_level(m, log, column) == atoll(value), "%s: %s is %lld, not %s", log,
				      column, (long long)machine_level(m, log, column), value);
		else
			ck_assert_msg(machine_has(m, log, column + (*column == '!')) == (*column != '!'),
				      "%s: %s", log, column);
	}
	free(words);
}
