/* SPDX-License-Identifier: MIT */
#include "analyse/idle.h"
#include "base/array.h"
#include "base/clock.h"
#include "report/idle_look.h"
#include "tests/recorded.h"
#include "tests/support.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>

/* Builds that hang, and builds that only seem to. */

#define MS(n) #n "000"
#define OPEN "open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake -j2\n"
#define START(n, at, name) "start\t" MS(at) "\tm." n "\t1" n "\t\t\t" name "\n"
#define DONE(n, at) "done\t" MS(at) "\tm." n "\n"
#define USAGE "buildbeat proc_tasks 1 1000 rss:1MiB:g cpu:10ms:c pss:1MiB:g processes:1:g written:1KiB:c read:1KiB:c\n"
#define STAT(until) "buildbeat proc_stat 1 1000 user:10ms:c\n@0 \n@" #until " 1\n"
#define INDEX "buildbeat output 1\n"

static const struct {
	const char *name;
	const char *build, *tasks, *usage, *stat, *index;
	const char *words;	/* "": not idle */
} cases[] = {
	{
		"sleeps", "", OPEN START("1", 1000, "hang"), USAGE "@1000 0=m.1:4,1,,1\n", STAT(61000), NULL,
		"Idle for 1m 00s: task hang uses no CPU time and no disk",
	}, {
		"not yet", "", OPEN START("1", 1000, "hang"), USAGE "@1000 0=m.1:4,1,,1\n", STAT(30900), NULL, "",
	}, {
		"it wrote something meanwhile", "", OPEN START("1", 1000, "hang"), USAGE "@1000 0=m.1:4,1,,1\n",
		STAT(91000), INDEX "2000000 0 1 5\n40000000 0 1 9\n",
		"Idle for 51.0 s: task hang uses no CPU time and no disk, and writes nothing",
	}, {
		"it writes", "", OPEN START("1", 1000, "hang"), USAGE "@1000 0=m.1:4,1,,1\n",
		STAT(61000), INDEX "2000000 0 1 5\n60000000 0 1 9\n", "",
	}, {
		"it polls: sleep 1 in a loop", "", OPEN START("1", 1000, "wait"),
		USAGE "@1000 0=m.1:4,1,,1\n@12000 0:,1\n@25000 0:,1\n@41000 0:,1\n@60000 0:,1\n", STAT(61000), NULL,
		"Idle for 1m 00s: task wait uses no CPU time and no disk",
	}, {
		"it computes, on a busy machine", "", OPEN START("1", 1000, "cc1"),
		USAGE "@1000 0=m.1:4,1,,1\n@12000 0:,10\n@25000 0:,12\n@41000 0:,14\n@60000 0:,15\n", STAT(61000), NULL, "",
	}, {
		"it reads slowly", "", OPEN START("1", 1000, "cp"),
		USAGE "@1000 0=m.1:4,1,,1\n@12000 0:,,,,,1\n@35000 0:,,,,,1\n@60000 0:,,,,,1\n", STAT(61000), NULL, "",
	}, {
		"it writes to a disk slowly", "", OPEN START("1", 1000, "cp"),
		USAGE "@1000 0=m.1:4,1,,1\n@12000 0:,,,,1\n@35000 0:,,,,1\n@60000 0:,,,,1\n", STAT(61000), NULL, "",
	}, {
		"it copies slowly", "", OPEN START("1", 1000, "cp"),
		USAGE "@1000 0=m.1:4,1,,1\n@12000 0:,,,,1,1\n@35000 0:,,,,1,1\n@60000 0:,,,,1,1\n", STAT(61000), NULL, "",
	}, {
		"it hangs after it computed", "", OPEN START("1", 1000, "link"),
		USAGE "@1000 0=m.1:4,1,,1\n@2000 0:,95\n@3000 0:,90\n", STAT(63000), NULL,
		"Idle for 1m 00s: task link uses no CPU time and no disk",
	}, {
		"two, and one has ended", "", OPEN START("1", 1000, "a") START("2", 1500, "b") START("3", 1600, "c")
		DONE("3", 20000), USAGE "@1000 0=m.1:4,1,,1\n@2000 1=m.2:4,1,,1\n", STAT(80000), NULL,
		"Idle for 1m 00s: task a and 1 other use no CPU time and no disk",
	}, {
		"the other one works", "", OPEN START("1", 1000, "a") START("2", 1500, "b"),
		USAGE "@1000 0=m.1:4,1,,1;1=m.2:4,1\n@79000 1:,99\n", STAT(80000), NULL, "",
	}, {
		"nobody knows what the other one does", "", OPEN START("1", 1000, "a") START("2", 1500, "b"),
		USAGE "@1000 0=m.1:4,1,,1\n", STAT(80000), NULL, "",
	}, {
		"no samples", "", OPEN START("1", 1000, "a"), NULL, STAT(80000), NULL, "",
	}, {
		"nothing runs", "", OPEN START("1", 1000, "a") DONE("1", 2000), USAGE "@1000 0=m.1:4,1,,1\n+1 0-\n",
		STAT(80000), NULL, "",
	}, {
		"a make in it, which does not count", "",
		OPEN START("1", 1000, "sub") "open\t" MS(1100) "\ts\t20\t1\t20,11,10\tmake\t4.3\t/src/sub\tmake\n"
		"start\t" MS(1200) "\ts.1\t30\t\t\thang\n", USAGE "@2000 1=s.1:4,1,,1\n", STAT(80000), NULL,
		"Idle for 1m 18s: task sub: hang uses no CPU time and no disk",
	}, {
		"killed", "status: 124\nend_us: 60500000\n",
		OPEN START("1", 1000, "hang") "kill\t" MS(60400) "\tm.1\t15\n", USAGE "@1000 0=m.1:4,1,,1\n@60000 0:,1\n",
		STAT(60000), INDEX "2000000 0 1 5\n60450000 0 1 9\n",
		"Idle for the last 58.5 s: task hang used no CPU time and no disk, and wrote nothing",
	}, {
		"ended well after a long sleep", "status: 0\nend_us: 60500000\n",
		OPEN START("1", 1000, "hang") DONE("1", 60400), USAGE "@1000 0=m.1:4,1,,1\n", STAT(60000), NULL, "",
	},
};

/* The lines of a build that this process records, so that it runs. */
static const char *running(void)
{
	char host[256];

	ck_assert(!gethostname(host, sizeof host));
	return support_path("buildbeat build 1\nstart_wall_ns: 1\nstart_mono_ns: %lld\ncwd: /src\nhost: %s\nboot_id: %s"
			    "sampler_pid: %d\nbuildbeat: 1\n", (long long)clock_mono_ns(), host,
			    support_text("/proc/sys/kernel/random/boot_id"), (int)getpid());
}

static void make(struct recorded *r, const char *build, size_t i)
{
	const char *dir = support_tmpdir();
	const struct { const char *name, *header, *text; } files[] = {
		{ "build", build, cases[i].build }, { "tasks.log", "buildbeat tasks 1\n", cases[i].tasks },
		{ "proc_tasks.log", "", cases[i].usage }, { "proc_stat.log", "", cases[i].stat },
		{ "output_index.log", "", cases[i].index }, { "output.log", "", cases[i].index ? "123456789" : NULL },
	};

	for (size_t k = 0; k < ARRAY_SIZE(files); k++) {
		if (files[k].text)
			support_writes(support_path("%s/%s", dir, files[k].name),
				       support_path("%s%s", files[k].header, files[k].text));
	}
	recorded_read(r, dir);
}

TEST_EACH(known, cases)
{
	RELEASED(buf, b = BUF_INIT);
	RELEASED(recorded, r);
	struct idle i;

	make(&r, running(), (size_t)_i);
	idle_find(&i, &r.rec);
	if (i.us)
		idle_words(&b, &i, &r.rec);
	ck_assert_msg(!strcmp(buf_str(&b), cases[_i].words), "%s: %s", cases[_i].name, buf_str(&b));
}

/* Nobody writes it any more, as after a crash of the machine. */
TEST(left_behind)
{
	RELEASED(recorded, r);
	RELEASED(buf, b = BUF_INIT);
	struct idle i;
	char host[256];

	ck_assert(!gethostname(host, sizeof host));
	make(&r, support_path("buildbeat build 1\nstart_wall_ns: 1\nstart_mono_ns: 5\nhost: %s\nboot_id: other\n", host), 0);
	idle_find(&i, &r.rec);
	idle_words(&b, &i, &r.rec);
	ck_assert_str_eq(buf_str(&b), "Idle for the last 1m 00s: task hang used no CPU time and no disk");
}

TEST(by_its_link)
{
	RELEASED(recorded, r);
	RELEASED(recorded, linked);
	const char *latest;
	struct idle i;

	make(&r, running(), 0);
	latest = support_path("%s/latest", support_tmpdir());
	ck_assert(!symlink(r.rec.path, latest));
	recorded_read(&linked, latest);
	idle_find(&i, &linked.rec);
	ck_assert_int_gt(i.us, 0);
	ck_assert(!i.ended);
}

/* Real processes. Their recording says that they were idle for an hour, which is over in no time. */

static void sleeps(const char *dir)
{
	(void)dir;
	execlp("sleep", "sleep", "1000", (char *)NULL);
}

static void reads_fifo(const char *dir)
{
	const char *path = support_path("%s/fifo", dir);
	char c;
	int fd;

	mkfifo(path, 0600);
	fd = open(path, O_RDWR);
	if (read(fd, &c, 1) < 0)
		_exit(2);
}

static void waits_for_lock(const char *dir)
{
	int fd = open(support_path("%s/lock", dir), O_RDWR | O_CREAT, 0600);

	flock(fd, LOCK_EX);
}

static void is_stopped(const char *dir)
{
	(void)dir;
	raise(SIGSTOP);
}

/* The process of the task waits for one of its own. */
static void waits_for_child(const char *dir)
{
	pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		sleeps(dir);
	}
	waitpid(pid, NULL, 0);
}

static void computes(const char *dir)
{
	(void)dir;
	for (;;)
		__asm__ volatile("");
}

static const struct {
	void (*run)(const char *dir);
	const char *words, *or;	/* where the system call may not be read; NULL: not idle */
} real[] = {
	{ sleeps, "its process sleep is in clock_nanosleep()", "its process sleep waits in hrtimer_nanosleep() of the kernel" },
	{ reads_fifo, "is in read() of /", "waits in " }, { waits_for_lock, "is in flock() of /", "waits in " },
	{ is_stopped, "is stopped by a signal", "" },
	{ waits_for_child, "its process sleep is in clock_nanosleep()", "its process sleep waits in " },
	{ computes, NULL, NULL },
};

static void look(struct buf *words, const char *dir, pid_t pid)
{
	RELEASED(recorded, r);
	struct idle i;

	support_writes(support_path("%s/build", dir), running());
	support_writes(support_path("%s/tasks.log", dir),
		       support_path("buildbeat tasks 1\n" OPEN "start\t1\tm.1\t%d\t\t\thang\n", (int)pid));
	support_writes(support_path("%s/proc_tasks.log", dir), USAGE "@1000 0=m.1:4,1,,1\n");
	support_writes(support_path("%s/proc_stat.log", dir), STAT(3601000));
	recorded_read(&r, dir);
	idle_look(&i, &r.rec);
	if (i.us)
		idle_words(words, &i, &r.rec);
}

struct asked {
	const char *dir;
	pid_t pid;
	size_t i;
};

static bool is_said(void *data)
{
	const struct asked *a = data;
	RELEASED(buf, b = BUF_INIT);

	look(&b, a->dir, a->pid);
	if (!real[a->i].words)
		return !b.len;
	return strstr(buf_str(&b), real[a->i].words) || (*real[a->i].or && strstr(buf_str(&b), real[a->i].or));
}

TEST_EACH(real_process, real)
{
	struct asked a = { .dir = support_tmpdir(), .i = (size_t)_i };
	int lock = open(support_path("%s/lock", a.dir), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	ck_assert(!flock(lock, LOCK_EX));
	a.pid = fork();
	ck_assert_int_ge(a.pid, 0);
	if (!a.pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		real[a.i].run(a.dir);
		_exit(0);
	}
	support_wait_until(is_said, &a, real[a.i].words ? real[a.i].words : "not idle");
	kill(a.pid, SIGKILL);
	waitpid(a.pid, NULL, 0);
	close(lock);
}

TEST_MAIN(idle);
