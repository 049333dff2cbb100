/* SPDX-License-Identifier: MIT */
#include "launch/capture.h"

#include "launch/notice.h"
#include "recording/layout.h"
#include "sampler/processes.h"

#include <string.h>

static void add_source(struct capture *c)
{
	struct buf b = BUF_INIT;

	store_add_build(&b, "processes", processes_source(c->processes));
	if (processes_why(c->processes))
		store_add_build(&b, "processes_why", processes_why(c->processes));
	store_append_build(c->store, &b);
	buf_release(&b);
}

int capture_begin(struct capture *c, struct store *store, struct error *err)
{
	int r;

	*c = (struct capture){ .store = store };
	r = processes_new(&c->processes, store->dir_fd, store->start_ns, NULL, err);
	if (r)
		c->processes = NULL;
	else
		add_source(c);
	return r;
}

static void start_processes(void *context, pid_t pid)
{
	struct capture *c = context;
	int r = processes_start(c->processes, pid);

	c->started = !r;
	if (r)
		notice("no processes are recorded: %s", strerror(-r));
}

void capture_prepare(struct capture *c, struct launch *l)
{
	if (!c->processes)
		return;
	l->started = start_processes;
	l->context = c;
}

static void add_number(struct buf *b, const char *key, uint64_t n)
{
	if (n)
		buf_addf(b, "%s: %llu\n", key, (unsigned long long)n);
}

static void add_result(struct capture *c, const struct processes_result *r)
{
	struct buf b = BUF_INIT;

	add_number(&b, "processes_seen", r->n);
	add_number(&b, "process_events_lost", r->n_lost);
	add_number(&b, "processes_unrecorded", r->n_unrecorded);
	add_number(&b, "processes_look_us", (uint64_t)r->look_us);
	add_number(&b, "processes_cpu_us", (uint64_t)r->cpu_us);
	if (b.len)
		store_append_build(c->store, &b);
	buf_release(&b);
}

static void report_result(const struct capture *c, const struct processes_result *r)
{
	const char *why = processes_why(c->processes);

	if (r->n_lost)
		notice("processes are missing: %llu events were lost, more came at once than "
		       "there was room for", (unsigned long long)r->n_lost);
	if (r->n_unrecorded)
		notice("processes are missing: %llu found no room, so many lived at once",
		       (unsigned long long)r->n_unrecorded);
	if (!strcmp(processes_source(c->processes), PROCESSES_LOOKS))
		notice("short processes are missing: seen by looking into /proc%s%s%s",
		       why ? " (" : "", why ? why : "", why ? ")" : "");
}

int capture_end(struct capture *c, struct error *err)
{
	struct processes_result result;

	if (!c->processes)
		return 0;
	processes_stop(c->processes, &result);
	if (c->started) {
		add_result(c, &result);
		report_result(c, &result);
	}
	processes_free(c->processes);
	c->processes = NULL;
	if (result.error)
		error_sys(err, result.error, LAYOUT_PROCESSES, NULL);
	return result.error;
}

void capture_drop(struct capture *c)
{
	struct processes_result result;

	if (!c->processes)
		return;
	processes_stop(c->processes, &result);
	processes_free(c->processes);
	c->processes = NULL;
}
