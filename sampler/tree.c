/* SPDX-License-Identifier: MIT */
#include "sampler/tree.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/search.h"
#include "sampler/tail.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HASH_SIZE (4 * RUNNING_MAX)
#define TEXT_CAP 16384
#define NAMES_CAP 65536
#define DEPTH_MAX 256
#define NS_PER_PROCESS 20000	/* of opening and reading its smaps_rollup */
#define NS_PER_MIB 7000		/* until it was measured */

/* Places for processes whose delay was read: numbers of processes that live at the same time are
 * mostly consecutive. A process without a place is left out. */
#define DELAY_SETS 2048
#define DELAY_PLACES 4
#define DELAY_ROUNDS 8		/* then a process that was not seen has ended */
#define DELAY_READS 512		/* at a sample, some 3 us each */

/* If counting is switched off, the numbers are zeros, even of this process, which has run. */
static bool delay_is_counted(int proc_fd)
{
	char data[128];
	struct root_text text = { data, 0, sizeof data };
	struct pid_sched own;

	return !root_read_once(proc_fd, "self/schedstat", &text) && parse_pid_sched(&text, &own) && own.runs;
}

int tree_init(struct tree *t, int proc_fd)
{
	*t = (struct tree){ .proc_fd = proc_fd, .list_fd = -1, .ns_per_mib = NS_PER_MIB };
	t->page_kb = (uint64_t)sysconf(_SC_PAGESIZE) / 1024;
	t->blind = !root_is_ours(proc_fd);
	t->scans = !root_has(proc_fd, "thread-self/children");
	t->counts_delay = !t->blind && delay_is_counted(proc_fd);
	t->process = calloc(PROCESSES_MAX, sizeof *t->process);
	t->delay = calloc(t->counts_delay ? DELAY_SETS * DELAY_PLACES : 1, sizeof *t->delay);
	t->pid_key = calloc(HASH_SIZE, sizeof *t->pid_key);
	t->pid_slot = calloc(HASH_SIZE, sizeof *t->pid_slot);
	t->text = (struct root_text){ malloc(TEXT_CAP), 0, TEXT_CAP };
	t->names = (struct root_text){ malloc(NAMES_CAP), 0, NAMES_CAP };
	if (t->process && t->delay && t->pid_key && t->pid_slot && t->text.data && t->names.data)
		return 0;
	tree_release(t);
	return -ENOMEM;
}

void tree_release(struct tree *t)
{
	file_close(t->list_fd);
	free_all(t->process, t->delay, t->pid_key, t->pid_slot, t->text.data, t->names.data);
	*t = (struct tree){ .proc_fd = -1, .list_fd = -1 };
}

/* pid -> slot */

static size_t hash_place(const struct tree *t, int32_t pid)
{
	size_t i = (uint32_t)pid * 2654435761u % HASH_SIZE;

	while (t->pid_key[i] && t->pid_key[i] != pid)
		i = (i + 1) % HASH_SIZE;
	return i;
}

static void hash_tasks(struct tree *t, const struct running *r)
{
	memset(t->pid_key, 0, HASH_SIZE * sizeof *t->pid_key);
	for (size_t s = 0; s < r->top; s++) {
		size_t i;

		if (!r->task[s].inst[0] || !r->task[s].pid)
			continue;
		i = hash_place(t, r->task[s].pid);
		t->pid_key[i] = r->task[s].pid;
		t->pid_slot[i] = s;
	}
}

static size_t slot_of(const struct tree *t, int32_t pid)
{
	size_t i = hash_place(t, pid);

	return t->pid_key[i] ? t->pid_slot[i] : NO_SLOT;
}

/* One process */

static bool read_of(struct tree *t, int32_t pid, const char *name)
{
	return root_read_process(t->proc_fd, pid, name, &t->text);
}

static bool read_stat(struct tree *t, struct process *p)
{
	return read_of(t, p->pid, "stat") && parse_pid_stat(&t->text, &p->stat);
}

static bool is_alive(const struct process *p)
{
	return p->stat.state != 'Z' && p->stat.state != 'X';
}

/* Run-queue delay */

/* The place of a process, or NULL: there is none. */
static struct tree_delay *find_delay(struct tree *t, const struct process *p)
{
	struct tree_delay *set = &t->delay[(uint32_t)p->pid % DELAY_SETS * DELAY_PLACES], *unused = NULL;

	for (size_t i = 0; i < DELAY_PLACES; i++) {
		struct tree_delay *d = &set[i];

		if (d->pid == p->pid && d->start_ticks == p->stat.start_ticks)
			return d;
		if (!d->pid || t->round - d->round > DELAY_ROUNDS)
			unused = d;
	}
	if (unused)
		*unused = (struct tree_delay){ .pid = p->pid, .start_ticks = p->stat.start_ticks };
	return unused;
}

struct delay_read {
	struct tree *tree;
	int32_t pid;
	uint64_t ns;
};

static bool read_thread_delay(void *ctx, const char *tid)
{
	struct delay_read *d = ctx;
	struct pid_sched sched;
	char name[64];

	if (tid[0] == '.')
		return true;
	if (!d->tree->delay_reads)
		return false;
	d->tree->delay_reads--;
	snprintf(name, sizeof name, "task/%s/schedstat", tid);
	if (read_of(d->tree, d->pid, name) && parse_pid_sched(&d->tree->text, &sched))
		d->ns += sched.wait_ns;
	return true;
}

/* Of all its threads. False: it cannot be read now. */
static bool read_delay(struct tree *t, const struct process *p, uint64_t *ns)
{
	struct delay_read d = { t, p->pid, 0 };
	struct pid_sched sched;

	if (p->stat.threads >= t->delay_reads)
		return false;
	if (p->stat.threads > 1) {
		root_list_threads(t->proc_fd, p->pid, &t->names, read_thread_delay, &d);
		*ns = d.ns;
		return t->delay_reads;
	}
	t->delay_reads--;
	if (!read_of(t, p->pid, "schedstat") || !parse_pid_sched(&t->text, &sched))
		return false;
	*ns = sched.wait_ns;
	return true;
}

/*
 * The kernel counts a delay when the thread gets a processor. So only processes that used one are
 * read again: they are few, whatever the number of processes. The delay of a thread that has ended is
 * missing in the sum, which may then be less than before.
 */
static void add_delay(struct tree *t, const struct process *p)
{
	struct tree_delay *d = t->counts_delay ? find_delay(t, p) : NULL;
	uint64_t ticks = p->stat.user_ticks + p->stat.system_ticks, ns;

	if (!d)
		return;
	d->round = t->round;
	if (ticks == d->cpu_ticks || !read_delay(t, p, &ns))
		return;
	if (ns > d->ns)
		t->sum[p->slot].delay_ns += ns - d->ns;
	d->ns = ns;
	d->cpu_ticks = ticks;
}

static void add_up(struct tree *t, const struct process *p)
{
	struct want io[] = { { .key = "read_bytes" }, { .key = "write_bytes" } };
	struct tree_sum *sum = &t->sum[p->slot];

	sum->cpu_ticks += p->stat.cpu_ticks;
	sum->rss_pages += p->stat.rss_pages;
	sum->processes += is_alive(p);
	if (read_of(t, p->pid, "io") && parse_keyed(&t->text, io, 2)) {
		sum->read_bytes += io[0].value;
		sum->written_bytes += io[1].value;
	}
	add_delay(t, p);
}

/* Is the task's own process still the one seen before? A thread of the kernel never is one. */
static bool confirm(struct running *r, const struct process *p, bool found)
{
	struct running_task *task = &r->task[p->slot];

	if (!found || p->stat.kernel || (task->start_ticks && task->start_ticks != p->stat.start_ticks)) {
		task->pid = 0;
		return false;
	}
	task->start_ticks = p->stat.start_ticks;
	return true;
}

/* Walk down from each task, if the kernel lists children */

static void push(struct tree *t, int32_t pid, size_t slot)
{
	if (t->n < PROCESSES_MAX)
		t->process[t->n++] = (struct process){ .pid = pid, .slot = slot };
}

struct walk {
	struct tree *tree;
	size_t slot;
};

static void push_child(void *ctx, int32_t pid)
{
	struct walk *w = ctx;

	if (slot_of(w->tree, pid) == NO_SLOT)
		push(w->tree, pid, w->slot);
}

static void push_any(void *ctx, int32_t pid)
{
	push(((struct walk *)ctx)->tree, pid, NO_SLOT);
}

static void walk_down(struct tree *t, struct running *r, size_t slot)
{
	struct walk walk = { t, slot };
	size_t root = t->n;

	push(t, r->task[slot].pid, slot);
	for (size_t i = root; i < t->n; i++) {
		struct process *p = &t->process[i];
		bool found = read_stat(t, p);

		if (i == root && !confirm(r, p, found)) {
			t->n = root;
			return;
		}
		if (!found) {
			p->slot = NO_SLOT;
			continue;
		}
		add_up(t, p);
		if (is_alive(p))
			root_list_children(t->proc_fd, p->pid, p->stat.threads, &t->text, &t->names,
					   push_child, &walk);
	}
}

/* Otherwise read all processes */

static bool push_named(void *ctx, const char *name)
{
	struct tree *t = ctx;
	int32_t pid = root_pid_of(name);
	size_t i;

	if (!pid || t->n == PROCESSES_MAX)
		return true;
	/* kernels list them in order */
	for (i = t->n++; i && t->process[i - 1].pid > pid; i--)
		t->process[i] = t->process[i - 1];
	t->process[i] = (struct process){ .pid = pid, .slot = NO_SLOT };
	return true;
}

static const struct process *find_process(const struct tree *t, int32_t pid)
{
	struct search_range s = search_all(t->n);

	while (search_next(&s))
		search_past(&s, t->process[s.at].pid < pid);
	return s.at < t->n && t->process[s.at].pid == pid ? &t->process[s.at] : NULL;
}

static size_t climb(const struct tree *t, const struct process *p)
{
	for (unsigned depth = 0; p && depth < DEPTH_MAX; depth++) {
		size_t slot = slot_of(t, p->pid);

		if (slot != NO_SLOT)
			return slot;
		p = p->stat.parent ? find_process(t, p->stat.parent) : NULL;
	}
	return NO_SLOT;
}

static void scan(struct tree *t, struct running *r)
{
	if (t->list_fd < 0)
		t->list_fd = file_open_at(t->proc_fd, ".", O_RDONLY | O_DIRECTORY);
	if (t->list_fd < 0)
		return;
	root_list_names(t->list_fd, &t->names, push_named, t);
	for (size_t i = 0; i < t->n; i++)
		if (!read_stat(t, &t->process[i]))
			t->process[i].stat = (struct pid_stat){ .state = 'X' };
	for (size_t s = 0; s < r->top; s++) {
		struct process p = { .slot = s };
		const struct process *found = find_process(t, r->task[s].pid);

		if (found)
			p.stat = found->stat;
		if (r->task[s].pid)
			confirm(r, &p, found && found->stat.state != 'X');
	}
	hash_tasks(t, r);
	for (size_t i = 0; i < t->n; i++) {
		struct process *p = &t->process[i];

		p->slot = p->stat.state == 'X' ? NO_SLOT : climb(t, p);
		if (p->slot != NO_SLOT)
			add_up(t, p);
	}
}

/* Tasks of instances in other PID namespaces: their processes are below that of the instance. */

static bool read_numbers(struct tree *t, int32_t pid, struct pid_numbers *out)
{
	return read_of(t, pid, "status") && parse_pid_numbers(&t->text, out);
}

static bool is_wanted(const struct running_task *task, int32_t host)
{
	return task->inst[0] && !task->pid && task->inner_pid && task->host == host;
}

/* Is it the process of a task, by its number in the namespace of the host? */
static bool translate_one(struct running *r, int32_t host, int32_t number, int32_t pid)
{
	struct running_task *task = running_find_inner(r, host, number);

	if (task)
		running_set_pid(r, task, pid);
	return task;
}

static void translate_below(struct tree *t, struct running *r, int32_t host, size_t wanted)
{
	struct walk walk = { t, NO_SLOT };
	struct pid_numbers above, p;
	size_t first = t->n;

	if (!read_numbers(t, host, &above))
		return;
	push(t, host, NO_SLOT);
	for (size_t i = first; i < t->n && wanted; i++) {
		int32_t pid = t->process[i].pid;

		if (!read_numbers(t, pid, &p))
			continue;
		if (p.n >= above.n && pid != host)
			wanted -= translate_one(r, host, p.number[above.n - 1], pid);
		root_list_children(t->proc_fd, pid, 2, &t->text, &t->names, push_any, &walk);
	}
	t->n = first;
}

static void translate(struct tree *t, struct running *r)
{
	for (size_t s = 0; s < r->top; s++) {
		int32_t host = r->task[s].host;
		size_t wanted = 0;

		for (size_t k = 0; host && k < r->top; k++)
			wanted += is_wanted(&r->task[k], host);
		if (wanted && is_wanted(&r->task[s], host))
			translate_below(t, r, host, wanted);
	}
}

void tree_read(struct tree *t, struct running *r)
{
	bool any = false;

	memset(t->sum, 0, r->top * sizeof *t->sum);
	t->n = 0;
	t->round++;
	t->delay_reads = DELAY_READS;
	if (t->blind)
		return;
	if (!t->scans)
		translate(t, r);
	for (size_t s = 0; s < r->top && !any; s++)
		any = r->task[s].pid != 0;
	if (!any)
		return;
	if (t->scans) {
		scan(t, r);
		return;
	}
	hash_tasks(t, r);
	for (size_t s = 0; s < r->top; s++)
		if (r->task[s].pid)
			walk_down(t, r, s);
}

/* Proportional memory */

static int64_t rss_mib(const struct tree *t, size_t slot)
{
	return (int64_t)(t->sum[slot].rss_pages * t->page_kb / 1024);
}

static int64_t pss_cost(const struct tree *t, size_t slot)
{
	return (int64_t)t->sum[slot].processes * NS_PER_PROCESS +
	       rss_mib(t, slot) * t->ns_per_mib;
}

static void read_pss(struct tree *t, size_t slot)
{
	struct tree_sum *sum = &t->sum[slot];

	sum->has_pss = true;
	for (size_t i = 0; i < t->n; i++) {
		struct want pss = { .key = "Pss" };

		if (t->process[i].slot != slot || !is_alive(&t->process[i]))
			continue;
		if (!read_of(t, t->process[i].pid, "smaps_rollup"))
			sum->has_pss = false;
		else if (parse_keyed(&t->text, &pss, 1))
			sum->pss_kb += pss.value;
	}
}

/* A moving average: the new cost counts a quarter. */
static void learn_cost(struct tree *t, size_t slot, int64_t took_ns)
{
	int64_t mib = rss_mib(t, slot);
	int64_t rest = took_ns - (int64_t)t->sum[slot].processes * NS_PER_PROCESS;

	if (mib >= 16 && rest > 0)
		t->ns_per_mib += (rest / mib - t->ns_per_mib) / 4;
}

void tree_read_pss(struct tree *t, const struct running *r, int64_t budget_ns)
{
	for (size_t k = 0; k < r->top; k++) {
		size_t slot = (t->first_pss + k) % r->top;
		int64_t start;

		if (t->sum[slot].processes < 2)
			continue;
		if (pss_cost(t, slot) > budget_ns) {
			t->first_pss = slot;
			return;
		}
		start = clock_mono_ns();
		read_pss(t, slot);
		learn_cost(t, slot, clock_mono_ns() - start);
		budget_ns -= clock_mono_ns() - start;
	}
}
