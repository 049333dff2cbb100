/* SPDX-License-Identifier: MIT */
#include "analyse/tool_count.h"
#include "live/now.h"

#include "base/clock.h"
#include "recording/follow.h"
#include "recording/suspended.h"

#include "tests/recorded.h"
#include "tests/support.h"

#include <limits.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* The reader of whole recordings reads each prefix: the slow reference. */

struct follower {
	struct now *now;
	struct growing *growing;
	size_t n_sampled;
	int64_t sampled_ms;
};

static void begin(struct follower *f, const char *dir)
{
	struct error err = { 0 };

	*f = (struct follower){ .sampled_ms = -1 };
	ck_assert_int_eq(now_new(&f->now), 0);
	ck_assert_msg(!growing_open(&f->growing, dir, NULL, &now_growing, f->now, &err), "%s",
		      err.message);
}

static void on_sample(void *context, const struct now_sample *s)
{
	struct follower *f = context;

	ck_assert_int_gt(s->time_ms, f->sampled_ms);
	ck_assert_int_le(s->cpu_permille, 1000);
	f->sampled_ms = s->time_ms;
	f->n_sampled++;
}

static void more(struct follower *f)
{
	struct error err = { 0 };

	ck_assert_msg(growing_read(f->growing, &err) >= 0, "%s", err.message);
	now_settle(f->now, on_sample, f);
}

static void end(struct follower *f)
{
	growing_close(f->growing);
	now_free(f->now);
}

static bool is_running(const struct recording *rec, const struct task *t)
{
	return t->start_us >= 0 && t->end_us < 0 && t->state == TASK_UNFINISHED &&
	       rec->instance[t->instance].close_us < 0;
}

static const struct task *find(const struct now *n, const char *id)
{
	char of[NOW_ID_MAX];

	for (size_t i = 0; i < n->n_tasks; i++) {
		now_id(of, n, &n->rec->task[n->task[i]]);
		if (!strcmp(of, id))
			return &n->rec->task[n->task[i]];
	}
	return NULL;
}

static void same_task(const struct now *n, const struct recording *rec, const struct task *t)
{
	const struct task *found;
	char id[40];

	snprintf(id, sizeof id, "%s.%llu", rec->instance[t->instance].id, (unsigned long long)t->seq);
	found = find(n, id);
	ck_assert_msg(found != NULL, "%s does not run", id);
	ck_assert_int_eq(found->start_us, t->start_us);
	ck_assert_int_eq(found->queued_us, t->queued_us);
	ck_assert_int_eq(found->hosts, t->hosts);
	ck_assert_str_eq(found->kind, t->kind);
	ck_assert_str_eq(follow_name(found), follow_name(t));
	ck_assert_str_eq(n->rec->instance[found->instance].tool, rec->instance[t->instance].tool);
	ck_assert(follow_runs(n->rec, found));
}

static void same(const struct now *n, const char *dir)
{
	RELEASED(recording, rec);
	uint64_t state[TASK_KILLED + 1] = { 0 }, hosting = 0, running = 0, listed = 0;

	recorded_open(&rec, dir, NULL);
	for (size_t i = 0; i < rec.n_tasks; i++) {
		const struct task *t = &rec.task[i];

		/* where lines were lost, it counts as lost */
		if (rec.lost.tasks && t->start_us < 0 && t->queued_us < 0)
			continue;
		state[t->state]++;
		hosting += t->hosts;
		if (!is_running(&rec, t))
			continue;
		listed++;
		running += !t->hosts;
		same_task(n, &rec, t);
	}
	ck_assert_uint_eq(n->n_queued, state[TASK_QUEUED]);
	ck_assert_uint_eq(n->n_done, state[TASK_DONE]);
	ck_assert_uint_eq(n->n_failed, state[TASK_FAILED]);
	ck_assert_uint_eq(n->n_killed, state[TASK_KILLED]);
	ck_assert_uint_eq(n->n_unfinished, state[TASK_UNFINISHED]);
	ck_assert_uint_eq(n->n_hosting, hosting);
	ck_assert_uint_eq(n->n_running, running);
	ck_assert_uint_eq(n->n_tasks, listed);
	for (size_t i = 1; i < n->n_tasks; i++)
		ck_assert_int_le(n->rec->task[n->task[i - 1]].start_us, n->rec->task[n->task[i]].start_us);
	ck_assert_uint_eq(n->n_failures, state[TASK_FAILED] + state[TASK_KILLED] > NOW_FAILED_MAX ?
			  NOW_FAILED_MAX : state[TASK_FAILED] + state[TASK_KILLED]);
}

/* A recording that grows */

static const char *const names[] = {
	"build", "tasks.log", "proc_tasks.log", "proc_stat.log", "proc_meminfo.log",
	"proc_diskstats.log",
};

struct file {
	struct buf text;
	size_t done;
};

static void append(const char *dir, const char *name, struct file *f, size_t len)
{
	int fd = open(support_path("%s/%s", dir, name), O_WRONLY | O_APPEND | O_CREAT, 0600);

	len = len < f->text.len - f->done ? len : f->text.len - f->done;
	ck_assert_int_eq(write(fd, f->text.data + f->done, len), (ssize_t)len);
	close(fd);
	f->done += len;
}

/* Whole lines of n bytes at least. */
static size_t lines_of(const struct file *f, size_t n)
{
	const char *from = f->text.data + f->done, *eol;
	size_t left = f->text.len - f->done;

	if (n >= left)
		return left;
	eol = memchr(from + n, '\n', left - n);
	return eol ? (size_t)(eol + 1 - from) : left;
}

/* Both read the same lines: a line waits for its newline, which the reader of whole recordings
 * does not do. */
static void grow_with(const char *source, uint64_t seed, size_t step, const char *late)
{
	char *dir = strdup(support_path("%s/copy", support_tmpdir()));
	struct file file[ARRAY_SIZE(names)] = { { .done = 0 } };
	struct follower f;
	bool left = true;

	ck_assert(!mkdir(dir, 0700));
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (support_exists(support_path("%s/%s", source, names[i])))
			support_read(&file[i].text, support_path("%s/%s", source, names[i]));
	}
	append(dir, names[0], &file[0], file[0].text.len);
	append(dir, names[1], &file[1], lines_of(&file[1], 0));
	begin(&f, dir);
	while (left) {
		left = false;
		for (size_t i = 1; i < ARRAY_SIZE(names); i++) {
			if (file[i].done < file[i].text.len)
				append(dir, names[i], &file[i],
				       lines_of(&file[i], random_below(&seed, step)));
			left |= file[i].done < file[i].text.len;
		}
		if (late && file[1].done > file[1].text.len / 2) {
			support_expect(dir, 0, NULL, NULL, "cat '%s' >>build", late);
			late = NULL;
		}
		more(&f);
		same(f.now, dir);
	}
	end(&f);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		buf_release(&file[i].text);
	support_expect(NULL, 0, NULL, NULL, "rm -r %s", dir);
	free(dir);
}

static void grow(const char *source, uint64_t seed, size_t step)
{
	grow_with(source, seed, step, NULL);
}

/* Random tasks, in the order in which a build would have written their lines. */
static const char *random_build(unsigned n, uint64_t seed)
{
	struct recorded r;
	const char *dir;

	recorded_random(&r, n, seed);
	recorded_release(&r);
	dir = support_tmpdir();
	support_expect(dir, 0, "", "", "(head -n 1 tasks.log; tail -n +2 tasks.log | sort -s -n -k 2,2) > t && "
		       "mv t tasks.log");
	return dir;
}

TEST_LOOP(random_builds, 8)
{
	grow(random_build(120, (uint64_t)_i), (uint64_t)_i, 300);
}

/* The build was suspended, and nothing happened meanwhile. The lines about it come when half of the
 * others were read, or before. */
TEST_LOOP(suspended, 6)
{
	const char *dir = random_build(120, (uint64_t)_i);
	char *late;

	support_expect(dir, 0, NULL, NULL, "awk 'NR > 2 && NR %% 5 == 0 && $2 - 1 > last { "
		       "print \"suspended:\", last, $2 - 1 } { last = $2 }' tasks.log >late && test -s late");
	if (_i % 2)
		support_expect(dir, 0, NULL, NULL, "cat late >>build");
	late = strdup(support_path("%s/late", dir));
	grow_with(dir, (uint64_t)_i, 300, _i % 2 ? NULL : late);
	free(late);
	support_cleanup();
}

/* Tasks that started while it was suspended, as far as the launcher knew, start at one time. They have
 * indices of ended ones, the first of them the larger one. */
TEST(starts_within)
{
	const char *dir = support_tmpdir();
	struct follower f;

	support_writes(support_path("%s/build", dir), "buildbeat build 1\nstart_wall_ns: 1\nstart_mono_ns: 1\n");
	support_writes(support_path("%s/tasks.log", dir), "buildbeat tasks 1\n"
		       "open\t0\ta00\t10\t0\t\tmake\t4.3\t/src\tmake\nstart\t1\ta00.1\nstart\t2\ta00.2\n"
		       "done\t3\ta00.1\ndone\t4\ta00.2\nstart\t1000000\ta00.3\nstart\t1500000\ta00.4\n");
	begin(&f, dir);
	more(&f);
	support_expect(dir, 0, NULL, NULL, "echo suspended: 900000 2000000 >>build");
	more(&f);
	same(f.now, dir);
	support_expect(dir, 0, NULL, NULL, "printf 'done\\t3000000\\ta00.3\\nfail\\t3000001\\ta00.4\\t1\\n' >>tasks.log");
	more(&f);
	same(f.now, dir);
	ck_assert_uint_eq(f.now->n_tasks, 0);
	end(&f);
}

/* It runs on: the time until now without them. */
TEST(elapsed)
{
	const char *dir = support_tmpdir();
	struct follower f;

	support_writes(support_path("%s/build", dir), "buildbeat build 1\nstart_wall_ns: 1\n"
		       "start_mono_ns: 1000000000\nbuildbeat: 1\nsuspended: 1000000 2000000\nsuspended: 2000000 3000000\n"
		       "suspended: x\nsuspended: 2000000 5000000\nsuspended: 4000000 4500000\n");
	support_writes(support_path("%s/tasks.log", dir), "buildbeat tasks 1\n");
	begin(&f, dir);
	more(&f);
	ck_assert_int_eq(now_elapsed_us(f.now, 1500000000), 500000);
	ck_assert_int_eq(now_elapsed_us(f.now, 3000000000), 1000000);
	ck_assert_int_eq(now_elapsed_us(f.now, 7000000000), 3500000);
	ck_assert(!now_is_suspended(f.now));
	/* it is suspended again, and goes on */
	support_expect(dir, 0, NULL, NULL, "echo suspended: 6500000 >>build");
	more(&f);
	ck_assert_int_eq(now_elapsed_us(f.now, 7000000000), 3500000);
	ck_assert_int_eq(now_elapsed_us(f.now, 7500000000), 4000000);
	ck_assert_int_eq(now_elapsed_us(f.now, 90000000000), 4000000);
	ck_assert(now_is_suspended(f.now));
	support_expect(dir, 0, NULL, NULL, "echo suspended: 6500000 9000000 >>build");
	more(&f);
	ck_assert_int_eq(now_elapsed_us(f.now, 11000000000), 5000000);
	ck_assert(!now_is_suspended(f.now));
	end(&f);
}

/* A task that begins with the recording begins once. */
TEST(starts_twice)
{
	const char *dir = support_tmpdir();
	struct follower f;

	support_writes(support_path("%s/build", dir), "buildbeat build 1\nstart_mono_ns: 1\n");
	support_writes(support_path("%s/tasks.log", dir), "buildbeat tasks 1\n"
		       "open\t0\ta\t10\t0\t\tmake\nstart\t0\ta.1\nstart\t7\ta.1\n");
	begin(&f, dir);
	more(&f);
	ck_assert_uint_eq(growing_damage(f.growing)->lines, 1);
	ck_assert_uint_eq(f.now->n_tasks, 1);
	ck_assert_int_eq(f.now->rec->task[f.now->task[0]].start_us, 0);
	end(&f);
}

/* Samples that are taken while it is suspended have no time. */
TEST(samples_while_suspended)
{
	const char *dir = support_tmpdir();
	struct recording rec = RECORDING_INIT;
	struct follower f;
	struct error err;

	support_writes(support_path("%s/build", dir), "buildbeat build 1\nstart_wall_ns: 1\n"
		       "start_mono_ns: 1000000000\ninterval_ms: 1000\nbuildbeat: 1\n");
	support_writes(support_path("%s/tasks.log", dir), "buildbeat tasks 1\n");
	support_writes(support_path("%s/proc_loadavg.log", dir), "buildbeat proc_loadavg 1 1000 load1:0.01:g\n"
		       "@1000 100\n1\n1\n");
	begin(&f, dir);
	more(&f);
	ck_assert_int_eq(f.now->last_us, 3000000);
	support_expect(dir, 0, NULL, NULL, "echo suspended: 2500000 >>build; printf '1\\n1\\n1\\n' >>proc_loadavg.log");
	more(&f);
	ck_assert_int_eq(f.now->last_us, 2500000);
	ck_assert_int_eq(recording_read(&rec, dir, NULL, &err), 0);
	ck_assert_int_eq(rec.last_us, 2500000);
	ck_assert_uint_eq(rec.n_warnings, 1);
	recording_release(&rec);
	end(&f);
}

/* The launcher is stopped, too: the next sample was not taken. */
TEST(launcher_is_stopped)
{
	const char *dir = support_tmpdir();
	struct recording rec = RECORDING_INIT;
	int64_t now_ns = clock_mono_ns(), after_ns = now_ns + 900000000000;
	struct follower f;
	struct error err;
	bool stopped;
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		for (;;)
			pause();
	}
	support_expect(dir, 0, NULL, NULL, "{ echo buildbeat build 1; echo start_wall_ns: 1; echo start_mono_ns: %lld; "
		       "echo interval_ms: 2000; echo sampler_pid: %d; echo host: $(uname -n); "
		       "echo boot_id: $(cat /proc/sys/kernel/random/boot_id); echo buildbeat: 1; } >build; "
		       "printf 'buildbeat tasks 1\nopen\t3000000\ta\t10\t0\t10\tmake\n' >tasks.log",
		       (long long)now_ns, (int)pid);
	begin(&f, dir);
	for (int i = 0; i < 2; i++) {
		more(&f);
		f.now->stopped = growing_is_stopped(f.growing);
		ck_assert_int_eq(recording_read(&rec, dir, NULL, &err), 0);
		ck_assert_int_eq(now_is_suspended(f.now), i);
		ck_assert_int_eq(now_elapsed_us(f.now, after_ns), i ? 5000000 : 900000000);
		ck_assert_int_eq(suspended_since_start_us(&rec, after_ns), i ? 5000000 : 900000000);
		ck_assert_int_eq(suspended_elapsed_us(&rec, 900000000, &stopped), i ? 5000000 : 900000000);
		ck_assert_int_eq(stopped, i);
		ck_assert_int_eq(now_elapsed_us(f.now, now_ns + 4000000000), 4000000);
		recording_release(&rec);
		if (i)
			break;
		kill(pid, SIGSTOP);
		ck_assert_int_eq(waitpid(pid, &status, WUNTRACED), pid);
	}
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	end(&f);
}

TEST_LOOP(nested, 3)
{
	grow(TOP_SRCDIR "/tests/data/recordings/nested", (uint64_t)_i, 200);
}

static const char *generated(void)
{
	static char dir[PATH_MAX];

	snprintf(dir, sizeof dir, "%s/generated", support_tmpdir());
	support_expect(NULL, 0, NULL, NULL, "%s/tests/gen_recording %s 300 2000 3", TOP_BUILDDIR, dir);
	return dir;
}

TEST(large)
{
	grow(generated(), 3, 20000);
}

/* The end */

static long long key_of(const char *json, const char *key)
{
	const char *at = strstr(json, support_path("\"%s\":", key));

	ck_assert_msg(at != NULL, "no key %s in %.300s", key, json);
	return strtoll(at + strlen(key) + 3, NULL, 10);
}

/* At the end the numbers are those of `show --json`. */
static void as_shown(const char *dir)
{
	static const char *const keys[] = { "tasks_done", "tasks_failed", "tasks_killed",
		"tasks_unfinished", "tasks_queued", "tasks_hosting", "cores", "start_wall_ns" };
	RELEASED(buf, text = BUF_INIT);
	struct follower f;
	struct json j;
	struct run run;

	begin(&f, dir);
	more(&f);
	json_init(&j, &text, true);
	json_object(&j, NULL);
	now_json(&j, f.now, &(struct tool_count){ -1, -1 }, 0);
	json_object_end(&j);
	support_run(&run, NULL, "%s/buildbeat show --json %s", TOP_BUILDDIR, dir);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		long long now = key_of(buf_str(&text), keys[i]), shown = key_of(run.out.data, keys[i]);

		ck_assert_msg(now == shown, "%s: %.400s", keys[i], buf_str(&text));
	}
	ck_assert_int_eq(key_of(buf_str(&text), "elapsed_us"), key_of(run.out.data, "wall_us"));
	end(&f);
}

/* Ends of each kind without a start, where others were lost. */
TEST(lost)
{
	const char *dir = support_tmpdir();

	support_writes(support_path("%s/build", dir), "buildbeat build 1\nstart_wall_ns: 1\nstart_mono_ns: 1\n"
		       "cores: 1\nend_us: 90\nstatus: 0\n");
	support_writes(support_path("%s/tasks.log", dir), "buildbeat tasks 1\n"
		       "open\t0\ta00\t10\t0\t\tmake\t4.3\t/src\tmake\nstart\t1\ta00.1\ndone\t2\ta00.1\n"
		       "done\t3\ta00.2\nfail\t4\ta00.3\t1\nkill\t5\ta00.4\t9\ngone\t6\ta00.5\nclose\t90\ta00\t7\n");
	as_shown(dir);
}

TEST(shown)
{
	as_shown(TOP_SRCDIR "/tests/data/recordings/nested");
	as_shown(generated());
	support_cleanup();
	as_shown(random_build(300, 9));
}

/* Samples: by time, each once, values in their units. */
TEST(samples)
{
	const char *dir = support_tmpdir();
	const struct now_sample *s;
	struct follower f;

	support_writes(support_path("%s/build", dir), "buildbeat build 1\ncores: 2\ninterval_ms: 1000\n"
		       "buildbeat: 1\nimported: x\n");
	support_writes(support_path("%s/tasks.log", dir), "buildbeat tasks 1\n");
	support_writes(support_path("%s/proc_stat.log", dir), "buildbeat proc_stat 1 1000 user:10ms:c "
		       "system:10ms:c iowait:10ms:c load:0.01:g\n,,,150\n50,50,100\n100,100,,50\n");
	support_writes(support_path("%s/proc_meminfo.log", dir), "buildbeat proc_meminfo 1 1000 "
		       "available:4MiB:g total:4MiB:g\n10,20\n-1\n");
	support_writes(support_path("%s/proc_diskstats.log", dir), "buildbeat proc_diskstats 1 1000 "
		       "a.read:4KiB:c b.read:1KiB:c a.written:4KiB:c\n\n3,1,2\n");
	begin(&f, dir);
	more(&f);
	ck_assert_uint_eq(f.n_sampled, 3);
	s = &f.now->sample[1];
	ck_assert_int_eq(s->cpu_permille, 500);
	ck_assert_int_eq(s->load_centi, 150);
	ck_assert_int_eq(s->memory_kb, 20 * 4096);
	ck_assert_int_eq(s->available_kb, 9 * 4096);
	ck_assert_int_eq(s->read_kb_s, 13);
	ck_assert_int_eq(s->written_kb_s, 8);
	ck_assert_int_eq(s->tasks_kb, -1);
	s = now_newest(f.now);
	ck_assert_int_eq(s->cpu_permille, 1000);
	ck_assert_int_eq(s->load_centi, 200);
	ck_assert_int_eq(s->read_kb_s, 0);
	ck_assert_int_eq(s->available_kb, 9 * 4096);
	end(&f);
}

TEST_MAIN(now);
