/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "convert/convert.h"
#include "recording/event.h"
#include "recording/layout.h"
#include "recording/recording_write.h"
#include "recording/store.h"
#include "recording/store_create.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/same.h"
#include "tests/support.h"

#include <inttypes.h>

#define BUILD "buildbeat build 1\nstart_wall_ns: 1700000000000000000\nstart_mono_ns: 5\n" \
	"interval_ms: 1000\nend_us: 20000000\nstatus: 0\n"
#define DATA TOP_SRCDIR "/tests/data/"

/* A recording is read, written and read again, without a change. */
static void round_trip(const char *path)
{
	RELEASED(recording, rec, again);
	struct error err = { 0 };
	char to[PATH_MAX];

	recorded_open(&rec, path, &convert_formats);
	ck_assert_msg(!recording_write(&rec, STORE_ACCESS_USER, support_tmpdir(), NULL, to, &err), 
		      "%s", err.message);
	recorded_open(&again, to, &convert_formats);
	same_recordings(&rec, &again);
}

static const char *const recordings[] = {
	DATA "recordings/nested", DATA "recordings/cut", DATA "recordings/empty",
	DATA "chart/idle", DATA "chart/queued", DATA "oe/genuine",
};

TEST_EACH(recorded_ones, recordings)
{
	round_trip(recordings[_i]);
}

/* One recording of these files, named in pairs. */
static const char *make_recording(const char *const *file)
{
	static char dir[128];

	snprintf(dir, sizeof dir, "%s/rec", support_tmpdir());
	ck_assert_int_eq(mkdir(dir, 0777), 0);
	support_writes(support_path("%s/build", dir), BUILD);
	for (; file[0]; file += 2)
		support_writes(support_path("%s/%s", dir, file[0]), file[1]);
	return dir;
}

#define OPEN "open\t10\ta\t100\t0\t100,1\tmake\t4.3\t/src\tmake all\n"
#define STAT "buildbeat proc_stat 1 1000 user:10ms:c system:10ms:c running:1:g\n"
#define TASKS TASKS_HEADER OPEN

static const struct { const char *what; const char *file[9]; } cases[] = {
	{ "every state", { "tasks.log", TASKS
	  "queue\t20\ta.1\tlink\tq\tkey\n"
	  "start\t30\ta.2\t7\t3\tcompile\tx\tk\tcc -c x.c\nstart\t31\ta.3\t8\nfail\t50\ta.3\t2\t1\t2\n"
	  "start\t31\ta.4\t9\nkill\t60\ta.4\t9\nstart\t32\ta.5\ndone\t70\ta.5\t0\t1\t2\t3\t4\t5\t6\t7\t8\t9\t1\t2\n"
	  "start\t33\ta.6\ngone\t80\ta.6\nstart\t34\ta.7\nfail\t90\ta.7\nkill\t91\ta.1\n"
	  "done\t99\ta.8\t0\npid\t99\ta.9\t4\n" } },
	{ "an id again", { "tasks.log", TASKS "start\t20\ta.1\t7\t\t\tone\nclose\t30\ta\n"
	  "open\t40\ta\t5\nstart\t50\ta.1\t9\t\t\ttwo\nopen\t60\tx2\nopen\t61\ta\n"
	  "start\t70\ta.1\t\t\t\tthree\n", "proc_tasks.log",
	  "buildbeat proc_tasks 1 1000 rss:1MiB:g cpu:10ms:c\n0=a.1:4,2\n0:1\n" } },
	{ "parents", { "tasks.log", TASKS "start\t20\ta.1\t7\t\t\tsub\nopen\t30\tb\t8\t1\t8,7,100\n"
	  "start\t40\tb.1\t9\t\t\tin\nopen\t50\tc\t\t\t=b.1\tninja\nstart\t55\tc.1\t\t\t\tdeep\n"
	  "open\t60\td\t\t\t=x.9\nopen\t61\te\t\t\t=e.1\nstart\t62\te.1\n" } },
	{ "names, spans, notes", { "tasks.log", TASKS "start\t20\ta.1\t\t\t\t\t\tcc -c f.c -o f.o\n"
	  "name\t21\ta.1\tbetter\trule\tcompile\nafter\t22\ta.1\tp\tq\\tr\nout\t23\ta.1\ts\n"
	  "start\t24\ta.2\t\t\t\tz\nafter\t25\ta.2\ty\nafter\t26\ta.1\tagain\n"
	  "begin\t30\ta.1\t7\tphase\nbegin\t31\ta\t1\tall\nend\t35\ta.1\t7\nnote\t40\ta.2\tword\\nline\n"
	  "note\t41\ta\tb\n" } },
	{ "ends that were not seen, and a server", { "tasks.log", TASKS "start\t20\ta.1\nstart\t21\ta.2\n"
	  "done\t30\ta.1\t0\t1\t2\t3\t4\t5\t6\t7\t8\t9\t\t\t\t10\t11\t12\n"
	  "kill\t40\ta.2\t9" "\t\t\t\t\t" "\t\t\t\t\t" "\t\t\t\t\t" "\t1\n"
	  "used\t50\ta\t7\t8\t\t\t\t9\t10\n" } },
	{ "places and pools", { "tasks.log", TASKS "start\t20\ta.1\t\t\t\tone\nplace\t20\ta.1\tMakefile\t7\n"
	  "start\t24\ta.2\t\t\t\ttwo\nplace\t24\ta.2\tb\\tx.ninja\t9\tlink\t2\n"
	  "place\t25\ta.3\t\t\tlink\t3\nplace\t26\ta.2\tother\t1\tmore\t1\nopen\t30\tb\t8\n"
	  "place\t31\tb.1\tb\tx\tlink\t4\nplace\t32\tb.1\t\t\tbad\t0\n" } },
	{ "gaps and stretches", { "proc_stat.log", STAT "1,2,3\n,,1\n+5 4\n!9000 1,1\n+2 =3,3\n"
	  "~14000 5\n@14100 1\n~14200 \n!19000 \n\n" } },
	{ "unchanged to the end", { "proc_stat.log", STAT "@10 1\n+9 1\n+3 \n" } },
	{ "columns come and go", { "proc_disk.log",
	  "buildbeat proc_disk 1 1000 a.x:1:c b.x:1:c c.g:1:g\n1,1,7\n2,2\n"
	  "buildbeat proc_disk 1 1000 a.x:1:c d.x:1:c\n@5000 3,4\n1,1\n+4 1\n"
	  "buildbeat proc_disk 1 1000 b.x:1:c d.x:1:c c.g:1:g\n!15000 5,5,9\n1\n" } },
	{ "off the grid", { "proc_stat.log", STAT "@3 1\n@1010 1\n@1990 1\n@2003 1\n@2400 1\n"
	  "@2501 ,1\n1\n" } },
	{ "samples of tasks", { "tasks.log", TASKS "start\t20\ta.1\t7\nstart\t30\ta.2\t8\n"
	  "done\t5000000\ta.1\t0\nstart\t6000000\ta.3\n", "proc_tasks.log",
	  "buildbeat proc_tasks 1 1000 rss:1MiB:g cpu:10ms:c pss:1MiB:g processes:1:g\n"
	  "0=a.1:4,2\n1=a.2:7,,5,2\n+3 0:1,1\n0-;1:-2\n!9000 0=a.3:7\n=0=a.3:8;1=a.2:1,1\n" } },
	{ "delays of tasks", { "tasks.log", TASKS "start\t20\ta.1\t7\nstart\t30\ta.2\t8\n"
	  "done\t5000000\ta.1\t0\n", "proc_tasks.log",
	  "buildbeat proc_tasks 1 1000 rss:1MiB:g cpu:10ms:c delay:1ms:c\n"
	  "0=a.1:4,2\n1=a.2:7,,5\n+3 0:1,1,2\n0-;1:-2,,7\n" } },
};

TEST_EACH(written_ones, cases)
{
	round_trip(make_recording(cases[_i].file));
}

/* A long log has lines at which a reader can start. */
TEST(many_samples)
{
	RELEASED(buf, b = BUF_INIT);
	const char *file[] = { "proc_stat.log", NULL, NULL };

	buf_adds(&b, STAT);
	for (int i = 0; i < 5000; i++)
		buf_addf(&b, "%s%d,%d,%d\n", i % 7 ? "" : i % 5 ? "+2 " : "+1 ", i % 13,
			 i % 3, i % 2 ? 1 : -1);
	file[1] = buf_str(&b);
	round_trip(make_recording(file));
}

TEST_LOOP(any_tasks, 8)
{
	RELEASED(recorded, r);
	RELEASED(recording, again);
	struct error err = { 0 };
	char to[PATH_MAX];

	recorded_random(&r, 300, (uint64_t)_i);
	ck_assert_int_eq(recording_write(&r.rec, STORE_ACCESS_USER, support_tmpdir(), "any", to, &err), 0);
	recorded_open(&again, to, &convert_formats);
	same_recordings(&r.rec, &again);
}

TEST(names_and_places)
{
	static const char *const bad[] = { "", ".", "..", ".x", "a/b", "/a", "../a" };
	const char *base = support_path("%s/a/b", support_tmpdir());
	RELEASED(recording, rec);
	struct error err = { 0 };
	char to[PATH_MAX], latest[64] = "";

	recorded_open(&rec, recordings[0], &convert_formats);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		ck_assert_int_eq(recording_write(&rec, STORE_ACCESS_USER, base, bad[i], to, &err), -EINVAL);
	ck_assert(!support_exists(base));
	ck_assert_int_eq(recording_write(&rec, STORE_ACCESS_USER, base, "one", to, &err), 0);
	ck_assert_int_eq(readlink(support_path("%s/latest", base), latest, sizeof latest - 1), 3);
	ck_assert_str_eq(latest, "one");
	ck_assert_int_eq(recording_write(&rec, STORE_ACCESS_USER, base, "one", to, &err), -EEXIST);
	ck_assert_int_eq(mkdir(support_path("%s/two", base), 0777), 0);
	ck_assert_int_eq(recording_write(&rec, STORE_ACCESS_USER, base, "two", to, &err), -EEXIST);
}

TEST(modes_are_as_asked)
{
	RELEASED(recording, rec);
	struct error err = { 0 };
	struct stat st;
	char to[PATH_MAX];

	umask(0);
	recorded_open(&rec, recordings[0], &convert_formats);
	ck_assert_int_eq(recording_write(&rec, STORE_ACCESS_GROUP, support_tmpdir(), "one", to,
					     &err), 0);
	ck_assert_int_eq(stat(to, &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0750);
	ck_assert_int_eq(stat(support_path("%s/tasks.log", to), &st), 0);
	ck_assert_uint_eq(st.st_mode & 0777, 0640);
}

/* What is read from small recordings with unusual lines, and what is written of it, as text. */

static void add_numbers(struct buf *b, const char *what, const int64_t *n, size_t count)
{
	buf_addf(b, "%s", what);
	for (size_t i = 0; i < count; i++)
		buf_addf(b, n[i] == -1 || n[i] == NO_INDEX ? " -" : " %" PRId64, n[i]);
}

#define NUMBERS(b, what, ...) \
	add_numbers(b, what, (const int64_t[]){ __VA_ARGS__ }, \
		    ARRAY_SIZE(((const int64_t[]){ __VA_ARGS__ })))

static void add_instances(struct buf *b, const struct recording *rec)
{
	for (size_t i = 0; i < rec->n_instances; i++) {
		const struct instance *x = &rec->instance[i];

		NUMBERS(b, "instance", x->open_us, x->close_us, x->pid, x->level, x->parent_task,
			x->parent_span, x->only_spans, x->serial, x->used_user_us, x->used_system_us,
			x->used_in_blocks, x->used_out_blocks, x->children_user_us,
			x->children_system_us, x->reaped);
		buf_addf(b, " %s|%s|%s|%s|%s|%s\n", x->id, x->ancestors, x->tool, x->version, x->cwd,
			 x->command);
	}
	for (size_t i = 0; i < rec->n_groups; i++) {
		NUMBERS(b, "group", rec->group[i].instance);
		buf_addf(b, " %s:", rec->group[i].name);
		for (uint32_t k = 0; k < rec->group[i].n_in; k++)
			buf_addf(b, " %s", rec->in[rec->group[i].first_in + k]);
		buf_addc(b, '\n');
	}
}

static void add_tasks(struct buf *b, const struct recording *rec)
{
	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		NUMBERS(b, "task", (int64_t)t->seq, t->instance, t->queued_us, t->start_us, t->end_us,
			t->end_at_most, t->state, t->status, t->pid, t->slot, t->named, t->hosts, t->line);
		NUMBERS(b, " values", t->user_us, t->system_us, t->max_rss_kb, t->max_rss_at_most_kb,
			t->minor_faults, t->major_faults, t->in_blocks, t->out_blocks,
			t->voluntary_switches, t->involuntary_switches, t->rchar, t->wchar, t->setup_us,
			t->setup_user_us, t->setup_system_us, t->instructions);
		NUMBERS(b, " samples", t->n_usage, t->peak_kb, t->peak_ms, t->cpu_ms, t->read_kb,
			t->written_kb);
		NUMBERS(b, " files", t->n_files, t->files_bytes, t->cache);
		NUMBERS(b, " in", rec->task_span ? rec->task_span[i] : NO_INDEX);
		buf_addf(b, " %s|%s|%s|%s|%s|%s|%s", t->name, t->kind, t->program, t->key, t->file,
			 t->pool == NO_INDEX ? "" : rec->pool[t->pool].name, recording_command(rec, t));
		for (uint32_t k = 0; k < t->n_after; k++)
			buf_addf(b, " <%s", rec->after[t->first_after + k]);
		for (uint32_t k = 0; k < t->n_out; k++)
			buf_addf(b, " >%s", rec->out[t->first_out + k]);
		for (uint32_t k = 0; k < t->n_files; k++)
			buf_addf(b, " %s=%" PRId64, rec->file[t->first_file + k].path,
				 rec->file[t->first_file + k].bytes);
		buf_addc(b, '\n');
	}
}

static void add_spans(struct buf *b, const struct recording *rec)
{
	for (size_t i = 0; i < rec->n_spans; i++) {
		const struct span *s = &rec->span[i];

		NUMBERS(b, "span", s->instance, s->task, s->begin_us, s->end_us, (int64_t)s->seq,
			(int64_t)s->number, s->parent, s->copy, s->faults);
		buf_addf(b, " %s|%s\n", s->name, s->place);
	}
	for (size_t i = 0; i < rec->n_notes; i++) {
		NUMBERS(b, "note", rec->note[i].time_us, rec->note[i].instance, rec->note[i].task);
		buf_addf(b, " %s\n", rec->note[i].text);
	}
	for (size_t i = 0; i < rec->n_programs; i++) {
		const struct program *p = &rec->program[i];

		NUMBERS(b, "program", (int64_t)p->n, (int64_t)p->n_measured, p->cpu_us, p->max_rss_kb,
			p->wall_us);
		buf_addf(b, " %s\n", p->name);
	}
}

static const char *const unusual[] = {
	"damaged", "edges", "generated", "many-first-lines", "parts", "processes", "results",
	"results-damaged", "scripts", "spans", "units",
};

TEST_EACH(unusual_ones, unusual)
{
	const char *dir = recorded_unpack(unusual[_i]);
	RELEASED(buf, b = BUF_INIT);
	struct recording rec;
	struct error err = { 0 };
	char to[PATH_MAX];

	recorded_open(&rec, dir, &convert_formats);
	NUMBERS(&b, "build", rec.start_wall_ns, rec.start_mono_ns, rec.end_us, rec.last_us,
		rec.interval_ms, rec.has_files, rec.has_cache, (int64_t)rec.n_processes,
		rec.process_events_lost, rec.lost.reason, (int64_t)rec.lost.tasks,
		(int64_t)rec.lost.lines);
	buf_addc(&b, '\n');
	for (size_t i = 0; i < rec.n_warnings; i++)
		buf_addf(&b, "warning %s\n", rec.warning[i].text);
	add_instances(&b, &rec);
	add_tasks(&b, &rec);
	add_spans(&b, &rec);
	ck_assert_msg(!recording_write(&rec, STORE_ACCESS_USER, support_tmpdir(), NULL, to, &err),
		      "%s", err.message);
	recording_release(&rec);
	support_expect(to, 0, NULL, NULL, "LC_ALL=C; for f in *; do echo \"== $f\" && cat $f; done >../written");
	buf_adds(&b, support_text(support_path("%s/written", support_tmpdir())));
	support_is_golden(&b, support_path("read/%s.txt", unusual[_i]));
}

TEST_MAIN(recording_write);
