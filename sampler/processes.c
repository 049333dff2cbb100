/* SPDX-License-Identifier: MIT */
#include "sampler/processes.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/minmax.h"
#include "sampler/census.h"
#include "sampler/connector.h"
#include "sampler/cputime.h"
#include "sampler/family.h"
#include "sampler/taskstats.h"
#include "sampler/thread.h"

#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define EVENTS 1024		/* read at a time */
#define FLUSH_MS 1000
#define LAST_MS 200		/* how long to wait for the report of an end that was waited for */

/* Each wake costs more than the work after it. PROMPT_WAKES times a second the thread reads
 * events at once, to get the words of new processes. Otherwise it lets events gather, but not
 * more than the socket can keep. */
#define PROMPT_WAKES 100
#define NAP_MIN_US 500
#define NAP_MAX_US 10000
#define NAP_EVENTS 128

/* Polling /proc takes this part of the time. */
#define POLL_SHARE 50
#define POLL_MIN_US 10000
#define POLL_MAX_US 1000000

/* Numbers of threads grow: the report about a foreign thread is overwritten by that of a thread
 * that is born this many later. */
#define ENDS 16384

struct processes {
	int64_t start_ns;
	struct root root;
	int wake_fd;
	bool has_connector, has_taskstats;
	char why[96];
	struct connector connector;
	struct taskstats_listener taskstats;
	struct family family;
	struct census census;
	struct connector_event *event;	/* EVENTS */
	size_t n_events;
	struct taskstats_event *end;	/* ENDS, by number; tid 0: none */
	struct cputime cputime;
	int32_t first;			/* process of the build */
	uint64_t lost;			/* of the known losses, those in the log */
	int64_t flushed_us;
	int64_t wakes_until_us;	/* each wake uses its part of a second; the time up to here is
				   used */
	int64_t nap_us;
	bool napped;
	uint64_t polls;
	int64_t first_poll_us, last_poll_us;
	int64_t cpu_us;
	bool started;
	_Atomic bool stop;
	pthread_t thread;
};

static int64_t now_us(const struct processes *p)
{
	return (clock_mono_ns() - p->start_ns) / 1000;
}

static int64_t thread_cpu_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

/* Events of the connector */

static int64_t time_of(const struct processes *p, const struct connector_event *e)
{
	int64_t t_us = (e->time_ns - p->start_ns) / 1000;

	return MAX(t_us, 0);
}

static void take_fork(struct processes *p, const struct connector_event *e)
{
	struct member *m = family_find(&p->family, e->pid);
	bool ours = family_find(&p->family, e->parent);

	if (e->tid != e->pid) {
		if (m)
			m->threads++;
	} else if (m && time_of(p, e) <= m->adopted_us) {
		m->start_us = time_of(p, e);
		m->adopted_us = -1;
	} else if (ours) {
		family_birth(&p->family, e->pid, e->parent, time_of(p, e));
	}
}

/* A process that has ended has no words any more. */
static bool has_ended(const struct processes *p, const struct connector_event *e)
{
	for (const struct connector_event *later = e + 1; later < p->event + p->n_events; later++) {
		if (later->kind == CONNECTOR_EXIT && later->tid == e->pid)
			return true;
	}
	return false;
}

static void take_exec(struct processes *p, const struct connector_event *e)
{
	struct member *m = family_find(&p->family, e->pid);

	if (!m)
		return;
	p->census.text.len = 0;
	m->threads_late = m->threads > 1;
	if (m->threads_late || !has_ended(p, e))
		census_words(&p->census, e->pid);
	family_command(m, p->census.text.data, p->census.text.len);
	m->exec_us = time_of(p, e);
	m->threads = 1;
}

static void plus(int64_t *sum, int64_t n)
{
	if (n >= 0)
		*sum = *sum < 0 ? n : *sum > INT64_MAX - n ? INT64_MAX : *sum + n;
}

/* Add what a thread used to its process. */
static void add_usage(struct event_end *sum, const struct event_end *e)
{
	plus(&sum->user_us, e->user_us);
	plus(&sum->system_us, e->system_us);
	if (e->max_rss_kb > sum->max_rss_kb)
		sum->max_rss_kb = e->max_rss_kb;
	if (e->max_rss_at_most_kb > sum->max_rss_at_most_kb)
		sum->max_rss_at_most_kb = e->max_rss_at_most_kb;
	plus(&sum->minor_faults, e->minor_faults);
	plus(&sum->major_faults, e->major_faults);
	plus(&sum->in_blocks, e->in_blocks);
	plus(&sum->out_blocks, e->out_blocks);
	plus(&sum->voluntary_switches, e->voluntary_switches);
	plus(&sum->involuntary_switches, e->involuntary_switches);
	plus(&sum->rchar, e->rchar);
	plus(&sum->wchar, e->wchar);
}

/* Without better counters in the kernel, only clock ticks are known. */
static void add_cpu(struct processes *p, struct member *m, const struct taskstats_event *end,
		    int64_t ended_us)
{
	bool is_first = end->tid == m->pid, exact = m->adopted_us < 0;
	int64_t wall_us = ended_us - m->start_us;
	int64_t age_us = is_first ? end->cpu.age_us : end->process_age_us;
	int64_t us = cputime_of_thread(&p->cputime, &end->cpu, is_first && exact ? wall_us : -1);
	int64_t kb = end->used.max_rss_kb;

	if (kb < 0)
		kb = end->used.max_rss_at_most_kb;
	if (us >= 0 && exact && age_us >= 0 && m->threads == 1)
		us += cputime_of_end(&p->cputime, wall_us - age_us, kb);
	plus(&m->cpu_us, us);
	plus(&m->delay_us, end->cpu.wait_us);
}

/* Only the first thread of a process is reported to be a copy of its parent. */
static void settle_memory(struct event_end *sum)
{
	if (sum->max_rss_at_most_kb < 0)
		return;
	if (sum->max_rss_kb > sum->max_rss_at_most_kb)
		sum->max_rss_at_most_kb = sum->max_rss_kb;
	sum->max_rss_kb = -1;
}

/* If the words were gone before they could be read, use the name at the end. */
static void take_end(struct processes *p, struct member *m, int32_t tid, int64_t t_us)
{
	struct taskstats_event *end = &p->end[(uint32_t)tid % ENDS];

	if (end->tid != tid)
		return;
	end->tid = 0;
	add_usage(&m->sum, &end->used);
	add_cpu(p, m, end, t_us);
	if (!m->command_len && tid == m->pid)
		family_command(m, end->name, strlen(end->name));
}

static void take_exit(struct processes *p, const struct connector_event *e)
{
	struct member *m = family_find(&p->family, e->pid);

	if (!m)
		return;
	if (p->has_taskstats)
		take_end(p, m, e->tid, time_of(p, e));
	if (e->tid == e->pid)
		m->sum.status = e->status;
	m->threads -= m->threads > 0;
	if (!m->threads && m->threads_late && census_lives(&p->census, m->pid))
		m->threads = 1;
	if (m->threads)
		return;
	settle_memory(&m->sum);
	family_death(&p->family, m, time_of(p, e), PROCESS_ENDED);
}

static void take_event(struct processes *p, const struct connector_event *e)
{
	if (e->kind == CONNECTOR_FORK)
		take_fork(p, e);
	else if (e->kind == CONNECTOR_EXEC)
		take_exec(p, e);
	else if (e->kind == CONNECTOR_EXIT)
		take_exit(p, e);
}

/* After lost events, and once all others are read, the family is compared with /proc. */
static void record_lost(struct processes *p)
{
	uint64_t lost = connector_lost(&p->connector);

	if (lost == p->lost)
		return;
	family_lost(&p->family, now_us(p), lost - p->lost);
	p->lost = lost;
	census_take(&p->census, &p->family, now_us(p), false, false);
}

/* Each end is reported by taskstats before the connector. So read the events first, then the
 * reports, and then combine them. True: there may be more. */
static bool take_events(struct processes *p)
{
	struct taskstats_event end;

	p->n_events = 0;
	while (p->n_events < EVENTS && connector_next(&p->connector, &p->event[p->n_events]))
		p->n_events++;
	while (p->has_taskstats && taskstats_next(&p->taskstats, &end))
		p->end[(uint32_t)end.tid % ENDS] = end;
	for (size_t i = 0; i < p->n_events; i++)
		take_event(p, &p->event[i]);
	if (p->n_events == EVENTS)
		return true;
	record_lost(p);
	return false;
}

static void flush_in_time(struct processes *p)
{
	if (now_us(p) - p->flushed_us < FLUSH_MS * 1000)
		return;
	p->flushed_us = now_us(p);
	family_flush(&p->family);
}

static void wait_for_events(const struct processes *p, int timeout_ms)
{
	struct pollfd fds[] = { { .fd = p->connector.netlink.fd, .events = POLLIN },
				{ .fd = p->wake_fd, .events = POLLIN } };

	poll(fds, 2, timeout_ms);
}

static void take_all_events(struct processes *p)
{
	while (take_events(p))
		;
}

/* Return at once or, after too many wakes, let events gather first. */
static void nap(struct processes *p)
{
	int64_t now = now_us(p);
	struct timespec pause = { .tv_nsec = p->nap_us * 1000 };

	if (p->wakes_until_us < now - 1000000)
		p->wakes_until_us = now - 1000000;
	p->wakes_until_us += 1000000 / PROMPT_WAKES;
	if (p->wakes_until_us <= now)
		return;
	nanosleep(&pause, NULL);
	p->wakes_until_us = now + p->nap_us;
	p->napped = true;
}

/* The report of its birth, unless it is lost, corrects the start. */
static void adopt_first(struct processes *p)
{
	struct member *m = family_birth(&p->family, p->first, getpid(), now_us(p));

	if (!m)
		return;
	m->adopted_us = now_us(p);
	m->polls = 1;
}

static void follow_events(struct processes *p)
{
	thread_be_prompt();
	adopt_first(p);
	p->nap_us = NAP_MAX_US;
	p->wakes_until_us = now_us(p) - 1000000;
	while (!p->stop) {
		wait_for_events(p, FLUSH_MS);
		nap(p);
		take_all_events(p);
		if (p->napped && p->n_events > NAP_EVENTS && p->nap_us > NAP_MIN_US)
			p->nap_us /= 2;
		else if (p->napped && p->n_events < NAP_EVENTS / 4 && p->nap_us < NAP_MAX_US)
			p->nap_us *= 2;
		p->napped = false;
		flush_in_time(p);
	}
	for (int ms = 0; ms < LAST_MS && family_find(&p->family, p->first); ms += 10) {
		netlink_wait(&p->connector.netlink, 10);
		take_all_events(p);
	}
}

/* Without the connector: polling */

static void follow_polls(struct processes *p)
{
	struct pollfd wake = { .fd = p->wake_fd, .events = POLLIN };

	adopt_first(p);
	while (!p->stop) {
		int64_t before_us = thread_cpu_us(), pause_us;

		p->last_poll_us = now_us(p);
		if (!p->polls++)
			p->first_poll_us = p->last_poll_us;
		census_take(&p->census, &p->family, p->last_poll_us, false, true);
		flush_in_time(p);
		pause_us = (thread_cpu_us() - before_us) * POLL_SHARE;
		pause_us = pause_us < POLL_MIN_US ? POLL_MIN_US :
			   MIN(POLL_MAX_US, pause_us);
		poll(&wake, 1, (int)(pause_us / 1000));
	}
}

/* The thread */

static void *follow_processes(void *context)
{
	struct processes *p = context;

	if (p->has_connector)
		follow_events(p);
	else
		follow_polls(p);
	census_take(&p->census, &p->family, now_us(p), true, !p->has_connector);
	for (uint32_t i = 0; i < p->family.top; i++) {
		struct member *m = &p->family.member[i];

		if (m->pid)
			family_death(&p->family, m, now_us(p), PROCESS_RUNS);
	}
	family_flush(&p->family);
	p->cpu_us = thread_cpu_us();
	return NULL;
}

int processes_start(struct processes *p, pid_t pid)
{
	int r;

	p->first = pid;
	r = thread_start(&p->thread, follow_processes, p);
	p->started = !r;
	return r;
}

void processes_stop(struct processes *p, struct processes_result *result)
{
	uint64_t one = 1;

	p->stop = true;
	while (p->started && write(p->wake_fd, &one, sizeof one) < 0 && errno == EINTR)
		;
	if (p->started)
		pthread_join(p->thread, NULL);
	p->started = false;
	*result = (struct processes_result){
		.n = p->family.n_born,
		.n_lost = p->lost,
		.n_unrecorded = p->family.n_without_room,
		.look_us = p->polls < 2 ? 0 : (p->last_poll_us - p->first_poll_us) /
			(int64_t)(p->polls - 1),
		.cpu_us = p->cpu_us,
		.error = family_error(&p->family),
	};
}

/* Opening */

const char *processes_source(const struct processes *p)
{
	return !p->has_connector ? PROCESSES_LOOKS :
		p->has_taskstats ? "proc connector, taskstats" : "proc connector";
}

const char *processes_why(const struct processes *p)
{
	return p->why[0] ? p->why : NULL;
}

static void say_why(struct processes *p, const char *what, int r)
{
	snprintf(p->why, sizeof p->why, "%s: %s", what, strerror(-r));
}

static void open_sources(struct processes *p, const struct processes_options *o)
{
	int r = o->no_connector ? -ENOTSUP : connector_open(&p->connector, o->receive_bytes);

	p->has_connector = !r;
	if (r) {
		say_why(p, "proc connector", r);
		return;
	}
	r = o->no_taskstats ? -ENOTSUP : taskstats_open(&p->taskstats, o->receive_bytes);
	p->has_taskstats = !r;
	if (r)
		say_why(p, "taskstats", r);
}

static int open_all(struct processes *p, int dir_fd, const struct processes_options *o)
{
	int r = root_open(&p->root, NULL, NULL);

	if (!r && !root_is_ours(p->root.proc_fd))
		r = -ENOTSUP;
	if (!r)
		r = family_init(&p->family, dir_fd);
	if (!r)
		r = census_init(&p->census, p->root.proc_fd, p->start_ns);
	if (r)
		return r;
	p->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (p->wake_fd < 0)
		return -errno;
	open_sources(p, o);
	p->event = calloc(EVENTS, sizeof *p->event);
	p->end = calloc(p->has_taskstats ? ENDS : 1, sizeof *p->end);
	return p->event && p->end ? 0 : -ENOMEM;
}

int processes_new(struct processes **out, int dir_fd, int64_t start_ns,
		  const struct processes_options *options, struct error *err)
{
	static const struct processes_options none = { 0 };
	struct processes *p = calloc(1, sizeof *p);
	int r;

	*out = NULL;
	if (!p)
		return error_sys(err, -ENOMEM, NULL, "cannot record processes");
	p->start_ns = start_ns;
	cputime_init(&p->cputime);
	p->wake_fd = -1;
	p->root = (struct root)ROOT_INIT;
	p->family.log = (struct log)LOG_CLOSED;
	p->census.list_fd = -1;
	p->connector = (struct connector)CONNECTOR_CLOSED;
	p->taskstats = (struct taskstats_listener)TASKSTATS_CLOSED;
	r = open_all(p, dir_fd, options ? options : &none);
	if (r) {
		processes_free(p);
		return error_sys(err, r, NULL, "cannot record processes");
	}
	*out = p;
	return 0;
}

void processes_free(struct processes *p)
{
	struct processes_result unused;

	if (!p)
		return;
	processes_stop(p, &unused);
	if (p->has_connector)
		connector_close(&p->connector);
	if (p->has_taskstats)
		taskstats_close(&p->taskstats);
	census_release(&p->census);
	family_release(&p->family);
	root_close(&p->root);
	file_close(p->wake_fd);
	free_all(p->event, p->end, p);
}
