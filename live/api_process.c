/* SPDX-License-Identifier: MIT */
/* Replies about processes that run: the same JSON as that of ps, stats, mmaps and inspect. */
#include "base/clock.h"
#include "base/minmax.h"
#include "heap/heap_env.h"
#include "inspect/capabilities.h"
#include "inspect/look.h"
#include "inspect/whole_machine.h"
#include "launch/find_plugin.h"
#include "live/api_parts.h"
#include "live/process_facts.h"
#include "live/process_view.h"
#include "report/inspect/capabilities_view.h"
#include "report/inspect/maps.h"
#include "report/inspect/processes_doc.h"
#include "report/inspect/resident.h"
#include "report/inspect/inspect_stats.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

#define CHAIN_MAX 64
#define CHILDREN_MAX 1024
#define MAPS_COST 20		/* mappings are read for at most 1/20 of the time */
#define CAPABILITIES_US 5000000

/* What a request asks about, and the reply that is kept for others who ask the same. */
struct asked {
	struct process_view *view;
	const struct process_table *table;
	const struct process_row *row;
	bool control, pages;
};

struct kept {
	int64_t until_us;
	int32_t pid;
	uint64_t start_ticks;
	bool control, pages;
	struct buf text;
};

static int64_t now_us(void)
{
	return clock_mono_ns() / 1000;
}

static bool is_fresh(const struct kept *k, const struct asked *a)
{
	return k->text.len && k->pid == a->row->process->pid &&
	       k->start_ticks == a->row->process->start_ticks && k->control == a->control &&
	       k->pages == a->pages && now_us() < k->until_us;
}

static int reply_kept(struct reply *out, struct kept *k, const struct asked *a, int64_t cost,
		      int (*make)(struct buf *out, const struct asked *a, struct error *err),
		      struct error *err)
{
	int64_t began_us = now_us(), took_us;
	int r;

	if (!is_fresh(k, a)) {
		buf_clear(&k->text);
		r = make(&k->text, a, err);
		if (r) {
			buf_clear(&k->text);
			return r;
		}
		took_us = (now_us() - began_us) * cost;
		*k = (struct kept){
			.pid = a->row->process->pid, .start_ticks = a->row->process->start_ticks,
			.control = a->control, .pages = a->pages, .text = k->text,
			.until_us = now_us() + MAX(took_us, PROCESS_VIEW_FRESH_US),
		};
	}
	buf_add(&out->body, k->text.data, k->text.len);
	return buf_error(&out->body) ? error_sys(err, -ENOMEM, NULL, "no reply") : 0;
}

/* /api/v1/ps */

/* Command lines of processes outside the build are for those who may control it. */
static void hide_words(struct process_table *t)
{
	for (size_t i = 0; i < t->n; i++) {
		if (!t->row[i].of_build)
			t->row[i].words = "";
	}
}

static int reply_ps(struct reply *out, const struct request *q, struct error *err)
{
	bool all = query_flag(q->query, "all");
	struct process_view *v;
	struct process_table *t;
	struct processes p;
	int r = process_view_open(&v, q->source, err);

	if (!r)
		r = process_view_read(v, all, err);
	if (r)
		return r;
	if (!v->build && !all)
		return api_recorded_processes(out, q, err);
	t = &v->table[all];
	if (!q->control)
		hide_words(t);
	p = (struct processes){
		.recording = v->build ? v->path : NULL, .wall_ns = v->wall_ns[all],
		.tool = v->build ? live_build_tool(v->build) : "", .tasks = v->build != NULL,
		.n = t->n, .row = t->row,
	};
	r = processes_json(&out->body, &p, true);
	return r ? error_sys(err, r, NULL, "no reply") : 0;
}

/* /api/v1/stats */

/* Its shares are of the time since it was read before. */
static struct {
	struct whole_machine m;
	bool open;
} machine;

static int read_machine(void)
{
	int r = machine.open ? 0 : whole_machine_init(&machine.m, NULL);

	if (r)
		return r;
	machine.open = true;
	return whole_machine_read(&machine.m, clock_mono_ns() / 1000);
}

void api_process_pressure(struct json *j)
{
	if (read_machine())
		json_null(j, "pressure");
	else
		stats_pressure_json(j, &machine.m);
}

static int reply_stats(struct reply *out, const struct request *q, struct error *err)
{
	int r = read_machine();

	(void)q;
	if (!r)
		r = stats_machine_json(&out->body, &machine.m, clock_wall_ns(), true);
	return r ? error_sys(err, r, "/proc", "cannot read") : 0;
}

/* /api/v1/process */

static int find_process(struct asked *a, const struct request *q, struct error *err)
{
	int64_t pid, start;
	int r = query_number(q->query, "pid", 1, INT32_MAX, 0, &pid, err);

	*a = (struct asked){ .control = q->control, .pages = query_flag(q->query, "pages") };
	if (!r)
		r = query_number(q->query, "start", 1, INT64_MAX, 0, &start, err);
	if (!r && !pid)
		r = error_say(err, -EINVAL, "the parameter pid is missing");
	if (!r)
		r = process_view_open(&a->view, q->source, err);
	return r ? r : process_view_find(a->view, (int32_t)pid, (uint64_t)start, q->control,
					 &a->row, &a->table, err);
}

/* A process beside that of the page. */
static void add_relative(struct json *j, const struct asked *a, const struct listed *p,
			 struct buf *text)
{
	const struct process_list *l = &a->table->list;
	const struct build_task *task = a->view->build ? live_build_task(a->view->build, l, p) : NULL;

	json_object(j, NULL);
	json_int(j, "pid", p->pid);
	json_int(j, "start_ticks", (int64_t)p->start_ticks);
	json_str(j, "program", p->name);
	json_str(j, "task", task ? task->name : NULL);
	json_str(j, "task_id", task ? task->id : NULL);
	buf_clear(text);
	if (a->row->of_build || a->control)
		process_list_add_words(l, p, text);
	json_str(j, "command", buf_str(text));
	json_object_end(j);
}

/* From the task to the process: a shell, a compiler's driver, the compiler. Those of the build, and
 * without one all ancestors. */
static void add_chain(struct json *j, const struct asked *a)
{
	const struct listed *chain[CHAIN_MAX], *p = a->row->process;
	struct buf text = BUF_PART_OF(j->out);
	size_t n = 0;

	while (p && n < CHAIN_MAX) {
		chain[n++] = p;
		p = p->parent ? process_list_find(&a->table->list, p->parent) : NULL;
		if (p && a->row->of_build && !p->selected)
			p = NULL;
	}
	json_array(j, "chain");
	while (n--)
		add_relative(j, a, chain[n], &text);
	json_array_end(j);
	buf_release(&text);
}

static void add_children(struct json *j, const struct asked *a)
{
	const struct process_list *l = &a->table->list;
	struct buf text = BUF_PART_OF(j->out);
	size_t n = 0;

	json_array(j, "children");
	for (size_t i = 0; i < l->n && n < CHILDREN_MAX; i++) {
		if (l->process[i].parent != a->row->process->pid)
			continue;
		add_relative(j, a, &l->process[i], &text);
		n++;
	}
	json_array_end(j);
	buf_release(&text);
}

static int make_process(struct buf *out, const struct asked *a, struct error *err)
{
	const struct listed *p = a->row->process;
	struct processes one = { .n = 1, .row = (struct process_row *)a->row };
	const struct recent *recent;
	struct json j;
	struct doc d;
	int r = process_view_sample(a->view, p, &recent, err);
	int fd = r ? r : process_facts_open(p->pid, p->start_ticks);

	if (r)
		return r;
	if (fd < 0)
		return error_say(err, fd == -ESRCH ? -ESTALE : fd, "process %d has ended",
				 (int)p->pid);
	json_init(&j, out, true);
	json_object(&j, NULL);
	json_str(&j, "format", "buildbeat process 1");
	json_bool(&j, "of_build", a->row->of_build);
	doc_init_json(&d, &j);
	processes_table(&d, &one);
	doc_release(&d);
	add_chain(&j, a);
	add_children(&j, a);
	stats_samples_json(&j, recent);
	process_facts_json(&j, fd);
	json_object_end(&j);
	close(fd);
	return buf_error(out);
}

static int reply_process(struct reply *out, const struct request *q, struct error *err)
{
	static struct kept kept;
	struct asked a;
	int r = find_process(&a, q, err);

	return r ? r : reply_kept(out, &kept, &a, 0, make_process, err);
}

/* /api/v1/maps */

static void write_maps(struct json *j, const struct snapshot *s, const struct name_table *names,
		       bool pages)
{
	struct maps_wish wish = { .names = names };

	json_object(j, NULL);
	json_str(j, "format", "buildbeat mmaps 1");
	maps_json(j, s, &wish);
	if (pages && s->has_pages)
		resident_json(j, s, &wish);
	json_object_end(j);
}

static int make_maps(struct buf *out, const struct asked *a, struct error *err)
{
	const struct listed *p = a->row->process;
	struct name_table names = NAME_TABLE_INIT;
	struct snapshot snapshot = { .n = 0 };
	struct look look;
	struct json j;
	int r;

	names.arena = arena_new();
	if (!names.arena)
		return error_sys(err, -ENOMEM, NULL, NULL);
	r = look_open(&look, p->pid, p->start_ticks, &names, err);
	if (!r)
		r = look_read(&look, &snapshot, a->pages, err);
	json_init(&j, out, true);
	if (!r)
		write_maps(&j, &snapshot, &names, a->pages);
	snapshot_release(&snapshot);
	look_close(&look);
	name_table_release(&names);
	arena_free(names.arena);
	r = r ? r : buf_error(out);
	return r == -ESRCH ? -ESTALE : r == -EACCES ? -EPERM : r;
}

static int reply_maps(struct reply *out, const struct request *q, struct error *err)
{
	static struct kept kept;
	struct asked a;
	int r = find_process(&a, q, err);

	return r ? r : reply_kept(out, &kept, &a, MAPS_COST, make_maps, err);
}

/* /api/v1/capabilities */

static int reply_capabilities(struct reply *out, const struct request *q, struct error *err)
{
	static struct buf kept;
	static int64_t until_us;
	struct error why = { 0 };
	struct capabilities c;
	char shim[PATH_MAX];
	int r = 0;

	if (!kept.len || now_us() >= until_us) {
		bool heap = find_heap(shim, HEAP_ENV_SHIM, &why);

		buf_clear(&kept);
		r = capabilities_find(&c, q->source->catalogue->path, q->source->catalogue->path,
				      heap ? NULL : why.message);
		r = r ? r : capabilities_view_json(&kept, &c);
		capabilities_release(&c);
		until_us = now_us() + CAPABILITIES_US;
	}
	buf_add(&out->body, kept.data, kept.len);
	return r || buf_error(&out->body) ? error_sys(err, -ENOMEM, NULL, "no reply") : 0;
}

const struct route api_process_routes[] = {
	{ "/api/v1/ps", "rec, all, outlived", "The processes of a build that runs, or with all of the machine; of "
	  "a build that has ended, those that were recorded.", reply_ps },
	{ "/api/v1/stats", "", "What the machine does: processors, memory, disks and pressure.",
	  reply_stats },
	{ "/api/v1/process", "rec, pid, start", "All about a process that runs: status, limits, "
	  "environment, open files, threads, and its last 120 samples.", reply_process },
	{ "/api/v1/maps", "rec, pid, start, pages", "The mappings of a process that runs.", reply_maps },
	{ "/api/v1/capabilities", "", "What can be inspected on this machine, and with which rights.",
	  reply_capabilities },
	{ 0 }
};
