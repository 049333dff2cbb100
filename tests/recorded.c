/* SPDX-License-Identifier: MIT */
#include "convert/convert.h"
#include "tests/recorded.h"

#include "recording/event.h"
#include "tests/paths.h"
#include "tests/support.h"

#include <sys/stat.h>

#define USAGE_HEADER "buildbeat proc_tasks 1 1000 rss:1MiB:g cpu:10ms:c pss:1MiB:g\n"

void recorded_open(struct recording *rec, const char *path, const struct recording_formats *formats)
{
	struct error err = { 0 };

	ck_assert_msg(!recording_read(rec, path, formats, &err), "%s: %s:%u: %s", path, err.path, err.line,
		      err.message);
}

void recorded_read(struct recorded *r, const char *path)
{
	*r = (struct recorded){ 0 };
	recorded_open(&r->rec, path, &convert_formats);
	ck_assert_int_eq(summary_make(&r->sum, &r->rec), 0);
}

const char *recorded_unpack(const char *corpus)
{
	const char *text = support_text(support_path(TOP_SRCDIR "/tests/corpus/recording/%s", corpus));
	const char *dir = support_path("%s/files", support_tmpdir());

	ck_assert_int_eq(mkdir(dir, 0777), 0);
	for (const char *next; (text = strstr(text, "== ")); text = next) {
		const char *eol = strchr(text, '\n');
		char name[64];

		next = strstr(eol, "\n== ");
		next = next ? next + 1 : eol + strlen(eol);
		snprintf(name, sizeof name, "%.*s", (int)(eol - text - 3), text + 3);
		support_write(support_path("%s/%s", dir, name), eol + 1, (size_t)(next - eol - 1));
	}
	return dir;
}

static void put(const char *dir, const char *file, const char *header, const char *text)
{
	RELEASED(buf, b = BUF_INIT);

	if (!text)
		return;
	buf_adds(&b, header);
	buf_adds(&b, text);
	support_write(support_path("%s/%s", dir, file), b.data, b.len);
}

void recorded_make(struct recorded *r, const char *build, const char *tasks, const char *usage)
{
	const char *dir = support_tmpdir();

	put(dir, "build", "buildbeat build 1\nstart_wall_ns: 1000000000\nstart_mono_ns: 5\n", build);
	put(dir, "tasks.log", TASKS_HEADER, tasks);
	put(dir, "proc_tasks.log", USAGE_HEADER, usage);
	recorded_read(r, dir);
}

void recorded_release(struct recorded *r)
{
	summary_release(&r->sum);
	recording_release(&r->rec);
}

uint32_t recorded_task(const struct recorded *r, const char *name)
{
	for (size_t i = r->sum.n_ran; i-- > 0; ) {
		if (!strcmp(r->rec.task[r->sum.order[i]].name, name))
			return r->sum.order[i];
	}
	ck_abort_msg("no task %s", name);
}

uint64_t random_below(uint64_t *state, uint64_t n)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (z ^ z >> 31) % n;
}

/* Random recordings */

#define TASK_PID 100000

struct plan {
	uint64_t state;
	struct buf tasks;
	unsigned n, n_instances;
	char (*inst)[INSTANCE_ID_MAX];
};

static void open_instances(struct plan *p)
{
	char ancestors[64], cwd[64];
	struct event_open o = { .ancestors = ancestors, .tool = "make", .version = "4.3",
				.cwd = cwd, .command = "make" };

	for (unsigned i = 0; i < p->n_instances; i++) {
		int64_t t = i ? (int64_t)random_below(&p->state, 1000000) : 0;

		o.pid = 10 + (int32_t)i;
		o.level = (int32_t)i % 5;
		snprintf(ancestors, sizeof ancestors, "%d,%d", (int)o.pid,
			 i ? TASK_PID + (int)random_below(&p->state, p->n) : 1);
		snprintf(cwd, sizeof cwd, "/src%s%.0u", i ? "/lib" : "", i % 4);
		event_instance_id(p->inst[i], o.pid, i);
		event_add_open(&p->tasks, t, p->inst[i], &o);
	}
}

static int64_t random_length_us(struct plan *p)
{
	static const uint64_t most[] = { 1, 2, 100, 5000, 100000, 2000000 };

	return (int64_t)random_below(&p->state, most[random_below(&p->state, 6)]);
}

static void add_after(struct plan *p, int64_t t, const char *inst, uint64_t seq)
{
	static const char *const dirs[] = { "", "../", "lib/", "./", "/src/", "x/../" };
	char name[3][48];
	const char *after[3];

	for (unsigned i = 0; i < 3; i++) {
		snprintf(name[i], sizeof name[i], "%st%u", dirs[random_below(&p->state, 6)],
			 (unsigned)random_below(&p->state, p->n));
		after[i] = name[i];
	}
	event_add_after(&p->tasks, t, inst, seq, after, random_below(&p->state, 4));
}

/* Groups, some in circles, and tasks that wait for them. */
static void add_groups(struct plan *p)
{
	uint64_t state = p->state ^ 77;

	for (unsigned i = 0; i < p->n / 4; i++) {
		const char *inst = p->inst[random_below(&state, p->n_instances)], *in[4];
		char name[4][24], group[24];

		snprintf(group, sizeof group, "g%u", (unsigned)random_below(&state, p->n / 4));
		for (unsigned k = 0; k < 4; k++) {
			snprintf(name[k], sizeof name[k], "%c%u", k % 2 ? 't' : 'g',
				 (unsigned)random_below(&state, p->n / (k % 2 ? 1 : 4)));
			in[k] = name[k];
		}
		event_add_group(&p->tasks, 1, inst, group, in, 1 + random_below(&state, 4));
		in[0] = group;
		event_add_after(&p->tasks, 1, inst, 1 + random_below(&state, p->n), in, 1);
	}
}

static void add_random_task(struct plan *p, unsigned i)
{
	static const char *const kinds[] = { NULL, "compile", "link", "test" };
	const char *inst = p->inst[random_below(&p->state, p->n_instances)];
	int64_t t = 50000 * (int64_t)random_below(&p->state, 40);
	char name[48], key[16];
	struct event_task e = { .pid = TASK_PID + (int32_t)i, .slot = -1, .name = name,
				.kind = kinds[random_below(&p->state, 4)], .command = "cc" };
	struct event_end end;
	uint64_t fate = random_below(&p->state, 20);

	snprintf(name, sizeof name, "t%u", i / (1 + i % 3));
	snprintf(key, sizeof key, "r-%u-r0", i % 7);
	if (!random_below(&p->state, 4))
		e.slot = (int32_t)random_below(&p->state, 12);
	if (!random_below(&p->state, 3))
		e.key = key;
	if (random_below(&p->state, 2))
		t += random_length_us(p);
	if (fate == 1) {
		event_add_queue(&p->tasks, t, inst, i + 1, &e);
		return;
	}
	event_add_start(&p->tasks, t, inst, i + 1, &e);
	add_after(p, t, inst, i + 1);
	if (fate == 2)
		return;
	event_end_init(&end, fate == 3 ? 9 : fate == 4 ? 2 << 8 : 0);
	t += fate == 5 ? -(t > 0) : random_length_us(p);
	end.user_us = random_length_us(p);
	end.system_us = fate == 6 ? -1 : random_length_us(p);
	event_add_end(&p->tasks, t, inst, i + 1, &end);
}

void recorded_random(struct recorded *r, unsigned n, uint64_t seed)
{
	struct plan p = { .state = seed, .n = n, .n_instances = 1 + n / 30 };

	p.inst = calloc(p.n_instances, sizeof *p.inst);
	ck_assert_ptr_nonnull(p.inst);
	open_instances(&p);
	for (unsigned i = 0; i < n; i++)
		add_random_task(&p, i);
	add_groups(&p);
	ck_assert_int_eq(buf_error(&p.tasks), 0);
	recorded_make(r, "cores: 4\ncwd: /src\nend_us: 3000000\nstatus: 0\n",
		      buf_str(&p.tasks), NULL);
	buf_release(&p.tasks);
	free(p.inst);
}

const char *recorded_state(const struct task *t)
{
	static const char *const states[] = { "queued", "running", "done", "failed", "killed" };

	return states[t->state];
}

/* Dump */

static void put_time(struct buf *b, const char *what, int64_t time_us, int64_t zero_us)
{
	buf_addf(b, " %s=", what);
	if (time_us < 0)
		buf_addc(b, '-');
	else
		buf_addi(b, time_us - zero_us);
}

static void put_number(struct buf *b, const char *what, int64_t n)
{
	buf_addf(b, " %s=%lld", what, (long long)n);
}

static void put_names(struct buf *b, const char *what, const char *const *all, uint32_t first, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		buf_addf(b, " %s=%s", what, all[first + i]);
}

static void dump_instance(struct buf *b, const struct instance *i, int64_t zero_us)
{
	buf_addf(b, "instance %s %s|%s|%s|%s|%s", i->id, i->ancestors, i->tool, i->version, i->cwd, i->command);
	put_time(b, "open", i->open_us, zero_us);
	put_time(b, "close", i->close_us, zero_us);
	buf_addf(b, " pid=%d level=%d task=%d span=%d %d%d said=%u/%u", (int)i->pid, (int)i->level,
		 (int)i->parent_task, (int)i->parent_span, i->only_spans, i->serial, i->said_done, i->said_total);
	put_number(b, "used", i->used_user_us);
	put_number(b, "system", i->used_system_us);
	put_number(b, "in", i->used_in_blocks);
	put_number(b, "out", i->used_out_blocks);
	put_number(b, "children", i->children_user_us);
	put_number(b, "system", i->children_system_us);
	put_number(b, "reaped", i->reaped);
}

static void dump_values(struct buf *b, const struct task *t)
{
	const int64_t values[] = {
		t->user_us, t->system_us, t->max_rss_kb, t->max_rss_at_most_kb, t->in_blocks, t->out_blocks,
		t->rchar, t->wchar, t->minor_faults, t->major_faults, t->voluntary_switches,
		t->involuntary_switches, t->setup_us, t->setup_user_us, t->setup_system_us,
		t->instructions,
	};

	buf_adds(b, " values=");
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		buf_addf(b, "%lld,", (long long)values[i]);
	buf_addf(b, " sampled=%u@%lld,%u,%u,%u,%u cache=%d files=%lld", t->peak_kb, (long long)t->peak_ms,
		 t->cpu_ms, t->read_kb, t->written_kb, t->still_ms, t->cache, (long long)t->files_bytes);
}

static void dump_task(struct buf *b, const struct recording *rec, const struct task *t, int64_t zero_us)
{
	buf_addf(b, "task %u.%llu %s|%s|%s|%s|%s", t->instance, (unsigned long long)t->seq, t->name, t->kind, t->key,
		 t->program, recording_command(rec, t));
	put_time(b, "queued", t->queued_us, zero_us);
	put_time(b, "start", t->start_us, zero_us);
	put_time(b, "end", t->end_us, zero_us);
	buf_addf(b, " %s %d pid=%d slot=%d %d%d%d%d pool=%s %s:%d", recorded_state(t), (int)t->status, (int)t->pid,
		 (int)t->slot, t->named, t->hosts, t->nameless, t->end_at_most,
		 t->pool == NO_INDEX ? "" : rec->pool[t->pool].name, t->file, (int)t->line);
	dump_values(b, t);
	put_names(b, "after", rec->after, t->first_after, t->n_after);
	put_names(b, "out", rec->out, t->first_out, t->n_out);
	for (uint32_t i = 0; i < t->n_files; i++)
		put_number(b, rec->file[t->first_file + i].path, rec->file[t->first_file + i].bytes);
	for (uint32_t i = 0; i < t->n_usage; i++) {
		const struct task_usage *u = &rec->usage[t->first_usage + i];

		buf_addf(b, " %lld:%u,%u,%u,%u,%u,%u", (long long)u->time_ms, u->rss_kb, u->pss_kb, u->cpu_ms,
			 u->read_kb, u->written_kb, u->processes);
	}
}

static void dump_spans(struct buf *b, const struct recording *rec, int64_t zero_us)
{
	for (size_t i = 0; i < rec->n_spans; i++) {
		const struct span *s = &rec->span[i];

		buf_addf(b, "span %u.%llu.%llu %s %s task=%d parent=%d thread=%d copy=%u faults=%x", s->instance,
			 (unsigned long long)s->seq, (unsigned long long)s->number, s->name, s->place, (int)s->task,
			 (int)s->parent, (int)s->thread, s->copy, s->faults);
		put_time(b, "begin", s->begin_us, zero_us);
		put_time(b, "end", s->end_us, zero_us);
		buf_addc(b, '\n');
	}
	for (size_t i = 0; i < SPAN_FAULTS; i++)
		put_number(b, recording_span_faults[i], (int64_t)rec->span_faults[i]);
	for (size_t i = 0; rec->task_span && i < rec->n_tasks; i++)
		put_number(b, "in", (int32_t)rec->task_span[i]);
	buf_addc(b, '\n');
}

static void dump_rest(struct buf *b, const struct recording *rec, int64_t zero_us)
{
	for (size_t i = 0; i < rec->n_groups; i++) {
		buf_addf(b, "group %u %s", rec->group[i].instance, rec->group[i].name);
		put_names(b, "in", rec->in, rec->group[i].first_in, rec->group[i].n_in);
		buf_addc(b, '\n');
	}
	for (size_t i = 0; i < rec->n_pools; i++)
		buf_addf(b, "pool %u %s %lld\n", rec->pool[i].instance, rec->pool[i].name, (long long)rec->pool[i].depth);
	for (size_t i = 0; i < rec->n_notes; i++) {
		buf_addf(b, "note %u %d %s", rec->note[i].instance, (int)rec->note[i].task, rec->note[i].text);
		put_time(b, "at", rec->note[i].time_us, zero_us);
		buf_addc(b, '\n');
	}
	for (size_t i = 0; i < rec->n_programs; i++) {
		const struct program *p = &rec->program[i];

		buf_addf(b, "program %s %llu %llu %lld %lld %lld\n", p->name, (unsigned long long)p->n,
			 (unsigned long long)p->n_measured, (long long)p->cpu_us, (long long)p->max_rss_kb,
			 (long long)p->wall_us);
	}
	for (size_t i = 0; i < rec->n_memory; i++)
		buf_addf(b, "memory %lld %u %u\n", (long long)rec->memory[i].time_ms, rec->memory[i].task,
			 rec->memory[i].kb);
	for (size_t i = 0; i < rec->n_warnings; i++)
		buf_addf(b, "warning %s\n", rec->warning[i].text);
}

static void dump_series(struct buf *b, const struct series *s)
{
	buf_addf(b, "series %s", s->name);
	for (size_t c = 0; c < s->n_columns; c++)
		buf_addf(b, " %s:%s:%d", s->column[c].name, s->column[c].unit, s->column[c].counter);
	for (size_t i = 0; i < s->n; i++) {
		buf_addf(b, " @%lld%s", (long long)s->time_ms[i], s->gap[i] ? "!" : "");
		for (size_t c = 0; c < s->n_columns; c++)
			buf_addf(b, ",%lld", (long long)s->level[i * s->n_columns + c]);
	}
	buf_addc(b, '\n');
}

void recorded_dump(struct buf *b, const struct recording *rec, int64_t zero_us)
{
	for (size_t i = 0; i < rec->n_build; i++) {
		if (strcmp(rec->build[i].key, "end_us") != 0)	/* a time: see below */
			buf_addf(b, "%s: %s\n", rec->build[i].key, rec->build[i].value);
	}
	for (size_t i = 0; i < rec->n_instances; i++) {
		dump_instance(b, &rec->instance[i], zero_us);
		buf_addc(b, '\n');
	}
	for (size_t i = 0; i < rec->n_tasks; i++) {
		dump_task(b, rec, &rec->task[i], zero_us);
		buf_addc(b, '\n');
	}
	dump_spans(b, rec, zero_us);
	dump_rest(b, rec, zero_us);
	for (size_t i = 0; i < rec->n_series; i++)
		dump_series(b, &rec->series[i]);
	buf_addf(b, "lost %llu %llu %d %d processes %llu %lld proof %d%d", (unsigned long long)rec->lost.lines,
		 (unsigned long long)rec->lost.tasks, rec->lost.parts != 0, rec->lost.reason,
		 (unsigned long long)rec->n_processes, (long long)rec->process_events_lost, rec->proof.ended,
		 rec->proof.known);
	if (rec->proof.known)
		buf_addf(b, " %lld/%lld %lld/%lld", (long long)rec->proof.cpu_us, (long long)rec->proof.of_us,
			 (long long)rec->proof.processes, (long long)rec->proof.of_processes);
	put_number(b, "unended", (int64_t)rec->proof.n_unended);
	put_number(b, "unclosed", (int64_t)rec->proof.n_unclosed);
	put_time(b, "end", rec->end_us, zero_us);
	put_time(b, "last", rec->last_us, zero_us);
	buf_addc(b, '\n');
	ck_assert_int_eq(buf_error(b), 0);
}

void recorded_same(struct buf *a, struct buf *b, int64_t which)
{
	const char *p = buf_str(a), *q = buf_str(b);
	size_t n = 0, line = 0;

	for (; p[n] && p[n] == q[n]; n++) {
		if (p[n] == '\n')
			line = n + 1;
	}
	ck_assert_msg(p[n] == q[n], "%lld:\n%.400s\n%.400s", (long long)which, p + line, q + line);
}
