/* SPDX-License-Identifier: MIT */
/*
 * Writes a directory as BitBake leaves it after a large build: gen_oe DIRECTORY [RECIPES
 * [TASKS_A_RECIPE [SAMPLES]]]. The same arguments give the same files.
 */
#include "base/array.h"
#include "base/buf.h"
#include "base/cursor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define START 1795234744	/* seconds since 1970 */
#define SLOTS 16

static uint64_t state = 1;

/* splitmix64 */
static uint64_t random_below(uint64_t n)
{
	uint64_t z = state += 0x9e3779b97f4a7c15u;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return (z ^ z >> 31) % n;
}

static const char *const tasks[] = {
	"do_fetch", "do_unpack", "do_patch", "do_prepare_recipe_sysroot", "do_configure",
	"do_compile", "do_install", "do_package", "do_packagedata", "do_package_write_rpm",
	"do_package_qa", "do_populate_sysroot", "do_populate_lic", "do_create_spdx",
};

#define TASKS ARRAY_SIZE(tasks)

struct plan {
	int dir_fd;
	struct buf out;
	uint64_t n_tasks, written;
	uint64_t seconds;	/* duration of the build */
	uint64_t slot_ms[SLOTS];	/* when each worker is free again */
};

static int store(struct plan *p, int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	bool ok = fd >= 0 && !buf_error(&p->out) &&
		  write(fd, p->out.data, p->out.len) == (ssize_t)p->out.len;

	if (fd >= 0 && close(fd))
		ok = false;
	buf_clear(&p->out);
	return ok ? 0 : -1;
}

static void add_time(struct buf *b, const char *key, uint64_t ms)
{
	buf_addf(b, "%s: %llu.%02u \n", key, (unsigned long long)(START + ms / 1000),
		 (unsigned)(ms % 1000 / 10));
}

static void add_rusage(struct buf *b, const char *who, uint64_t cpu_ms)
{
	buf_addf(b, "%srusage ru_utime: %llu.%03u120\n%srusage ru_stime: 0.%06u\n"
		 "%srusage ru_maxrss: %u\n%srusage ru_minflt: %u\n%srusage ru_majflt: 0\n"
		 "%srusage ru_inblock: 160\n%srusage ru_oublock: 1928\n%srusage ru_nvcsw: %u\n"
		 "%srusage ru_nivcsw: %u\n", who, (unsigned long long)(cpu_ms / 1000),
		 (unsigned)(cpu_ms % 1000), who, (unsigned)random_below(999999), who,
		 30000 + (unsigned)random_below(400000), who, (unsigned)random_below(200000),
		 who, who, who, who, (unsigned)random_below(5000), who,
		 (unsigned)random_below(5000));
}

static void add_task(struct plan *p, const char *recipe, const char *task, unsigned slot)
{
	uint64_t wall_ms = p->seconds * 1000 * SLOTS / p->n_tasks;
	uint64_t start_ms = p->slot_ms[slot], cpu_ms;

	wall_ms = wall_ms / 2 + random_below(wall_ms + 1);
	cpu_ms = random_below(2 * wall_ms + 1);
	p->slot_ms[slot] += wall_ms;
	buf_adds(&p->out, "Event: TaskStarted \n");
	add_time(&p->out, "Started", start_ms);
	buf_addf(&p->out, "%s: %s\nElapsed time: %llu.%02u seconds\n", recipe, task,
		 (unsigned long long)(wall_ms / 1000), (unsigned)(wall_ms % 1000 / 10));
	buf_addf(&p->out, "utime: 2\nstime: 0\ncutime: %u\ncstime: 44\n", (unsigned)cpu_ms / 10);
	buf_addf(&p->out, "IO rchar: %u\nIO wchar: 869656\nIO syscr: 2741\nIO syscw: 544\n"
		 "IO read_bytes: 81920\nIO write_bytes: %u\nIO cancelled_write_bytes: 262144\n",
		 (unsigned)random_below(9999999), (unsigned)random_below(99999999));
	add_rusage(&p->out, "", 20);
	add_rusage(&p->out, "Child ", cpu_ms);
	buf_adds(&p->out, "Status: PASSED \n");
	add_time(&p->out, "Ended", start_ms + wall_ms);
}

static int write_recipe(struct plan *p, unsigned number, unsigned n)
{
	char recipe[64];
	int fd, failed = 0;

	snprintf(recipe, sizeof recipe, "recipe%05u-1.%u+git0+abcdef%04x-r0", number,
		 number % 30, number & 0xffff);
	if (mkdirat(p->dir_fd, recipe, 0755))
		return -1;
	fd = openat(p->dir_fd, recipe, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	for (unsigned i = 0; !failed && i < n; i++) {
		char task[64];

		snprintf(task, sizeof task, i < TASKS ? "%s" : "%s_%u", tasks[i % TASKS], i);
		add_task(p, recipe, task, number % SLOTS);
		failed = store(p, fd, task);
	}
	close(fd);
	return failed;
}

static double part(void)
{
	return (double)random_below(1000000000000) / 1e12;
}

typedef void add_line(struct buf *b, uint64_t second);

static void add_stat(struct buf *b, uint64_t second)
{
	(void)second;
	buf_addf(b, "%.16g %.16g %.16g\n", 0.7 * part(), 0.25 * part(), 0.05 * part());
}

static void add_disk(struct buf *b, uint64_t second)
{
	(void)second;
	buf_addf(b, "%.16g %.16g %.16g\n", 9e6 * part(), 2e7 * part(), part() < 0.9 ? 1.0 : part());
}

static void add_memory(struct buf *b, uint64_t second)
{
	(void)second;
	buf_addf(b, "24684096 %u %u %u 1000000 %u\n", 2000000 + (unsigned)random_below(9000000),
		 (unsigned)random_below(90000), (unsigned)random_below(5000000),
		 (unsigned)random_below(1000000));
}

static void add_net(struct buf *b, uint64_t second)
{
	buf_addf(b, "lo: 1500865 1500865 0 0\nifb0: 0 0 0 0\neth0: %llu %llu 100 100\n",
		 187803249 + (unsigned long long)second * 100, 258440 + (unsigned long long)second);
}

static void add_pressure(struct buf *b, uint64_t second)
{
	(void)second;
	buf_addf(b, "25.96 43.57 27.31 %u\n", (unsigned)random_below(1000000));
}

static void add_volumes(struct buf *b, uint64_t second)
{
	buf_addf(b, "/dev/vda: %llu\ntmpfs: 102400\n", 20000000000ull + second * 1000003);
}

static int write_log(struct plan *p, const char *name, uint64_t samples, add_line *add)
{
	for (uint64_t i = 0; i < samples; i++) {
		uint64_t second = samples > 1 ? i * p->seconds / (samples - 1) : 0;

		buf_addf(&p->out, "%llu\n", (unsigned long long)(START + second));
		add(&p->out, second);
		buf_addc(&p->out, '\n');
	}
	return store(p, p->dir_fd, name);
}

static int write_logs(struct plan *p, uint64_t samples)
{
	return mkdirat(p->dir_fd, "reduced_proc_pressure", 0755) ||
	       write_log(p, "reduced_proc_stat.log", samples, add_stat) ||
	       write_log(p, "reduced_proc_diskstats.log", samples, add_disk) ||
	       write_log(p, "reduced_proc_meminfo.log", samples, add_memory) ||
	       write_log(p, "reduced_proc_net.log", samples, add_net) ||
	       write_log(p, "monitor_disk.log", samples, add_volumes) ||
	       write_log(p, "reduced_proc_pressure/cpu.log", samples, add_pressure) ||
	       write_log(p, "reduced_proc_pressure/io.log", samples, add_pressure) ||
	       write_log(p, "reduced_proc_pressure/memory.log", samples, add_pressure);
}

static int write_build(struct plan *p)
{
	uint64_t last_ms = 0;

	for (unsigned i = 0; i < SLOTS; i++)
		last_ms = p->slot_ms[i] > last_ms ? p->slot_ms[i] : last_ms;
	buf_adds(&p->out, "Host Info: Linux builder 6.1.0 #1 SMP PREEMPT_DYNAMIC x86_64 \n");
	add_time(&p->out, "Build Started", 0);
	buf_addf(&p->out, "Elapsed time: %llu.00 seconds \nCPU usage: 59.3%% \n",
		 (unsigned long long)(last_ms / 1000 + 1));
	return store(p, p->dir_fd, "build_stats");
}

/* The argument at a place, or its default. */
static uint64_t number(int argc, char **argv, int at, uint64_t usual)
{
	uint64_t n;

	return at < argc && cursor_slice_u64(slice_of(argv[at]), &n) ?
	       n : usual;
}

int main(int argc, char **argv)
{
	uint64_t recipes = number(argc, argv, 2, 10000), a_recipe = number(argc, argv, 3, 10);
	uint64_t samples = number(argc, argv, 4, 36000);
	struct plan p = { .out = BUF_INIT };
	int failed = 0;

	if (argc < 2 || mkdir(argv[1], 0755) ||
	    (p.dir_fd = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0) {
		perror(argc < 2 ? "gen_oe" : argv[1]);
		return 1;
	}
	p.n_tasks = recipes * a_recipe + 1;
	p.seconds = samples > 2 ? samples - 1 : 3600;
	for (unsigned i = 0; !failed && i < recipes; i++)
		failed = write_recipe(&p, i, (unsigned)a_recipe);
	failed = failed || write_build(&p) || (samples && write_logs(&p, samples));
	if (failed)
		perror(argv[1]);
	buf_release(&p.out);
	return failed ? 1 : 0;
}
