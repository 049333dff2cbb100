/* SPDX-License-Identifier: MIT */
#include "sampler/calibration.h"

#include "analyse/values.h"
#include "archive/archive.h"
#include "compare/builds.h"
#include "tests/launched.h"
#include "tests/make_host.h"
#include "tests/recorded.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The speed of the machine: measured, recorded and read. */

TEST(measured)
{
	struct calibration c = CALIBRATION_INIT;

	errno = EXDEV;
	calibration_run(&c);
	ck_assert_int_eq(errno, EXDEV);
	ck_assert_int_gt(c.least_ns, 0);
	ck_assert_int_gt(c.mhz, 0);
	/* of the shortest loop and of all of them */
	ck_assert_int_gt(c.mean_ns, c.least_ns / 2);
}

static const struct {
	struct calibration value;
	const char *lines;
} written[] = {
	{ { 25027, 27603, 3831 }, "calibration_end_least_ns: 25027\n"
		"calibration_end_mean_ns: 27603\ncalibration_end_mhz: 3831\n" },
	{ { 1, 2, -1 }, "calibration_end_least_ns: 1\ncalibration_end_mean_ns: 2\n" },
	{ CALIBRATION_INIT, "" },
	{ { 0, 0, 0 }, "" },
};

TEST_EACH(lines, written)
{
	struct buf b = BUF_INIT;

	calibration_add(&b, "end", &written[_i].value);
	ck_assert_str_eq(buf_str(&b), written[_i].lines);
	buf_release(&b);
}

/* Values of calibration_start_least_ns, and what is read. */
static const struct {
	const char *text;
	int64_t least_ns;
} values[] = {
	{ "25027", 25027 }, { "1", 1 }, { "1000000000", 1000000000 },
	{ "0", -1 }, { "-5", -1 }, { "1000000001", -1 }, { "9223372036854775807", -1 },
	{ "99999999999999999999999", -1 }, { "", -1 }, { "fast", -1 }, { "25027 ns", -1 },
	{ "2.5", -1 }, { "\t", -1 },
};

TEST_EACH(read_back, values)
{
	struct buf b = BUF_INIT;
	struct recorded r;
	struct values v;

	buf_addf(&b, "buildbeat build 1\nend_us: 5000\nstatus: 0\n"
		 "calibration_start_least_ns: %s\ncalibration_start_mean_ns: 7\n"
		 "calibration_start_mhz: %s\n", values[_i].text, values[_i].text);
	recorded_make(&r, buf_str(&b), NULL, NULL);
	ck_assert_int_eq(r.sum.host.start.least_ns, values[_i].least_ns);
	ck_assert_int_eq(r.sum.host.start.mean_ns, 7);
	ck_assert_int_eq(r.sum.host.start.mhz, values[_i].least_ns > 100000 ? -1 : values[_i].least_ns);
	ck_assert_int_eq(r.sum.host.end.least_ns, -1);
	ck_assert_int_eq(values_make(&v, &r.rec), 0);
	ck_assert_int_eq(v.total[TOTAL_HOST_CALIBRATION_START_US], values[_i].least_ns);
	ck_assert_int_eq(v.total[TOTAL_HOST_CALIBRATION_END_US], -1);
	values_release(&v);
	recorded_release(&r);
	buf_release(&b);
}

static unsigned lines_of(const char *path)
{
	unsigned n = 0;

	for (const char *p = support_text(path); (p = strstr(p, "\ncalibration_")); p++)
		n++;
	return n;
}

static void is_calibrated(const char *path)
{
	struct recorded r;

	ck_assert_uint_eq(lines_of(support_path("%s/build", path)), 6);
	recorded_read(&r, path);
	ck_assert_uint_eq(r.rec.n_warnings, 0);
	ck_assert_int_gt(r.sum.host.start.least_ns, 0);
	ck_assert_int_gt(r.sum.host.end.least_ns, 0);
	ck_assert_int_gt(r.sum.host.start.mean_ns, 0);
	ck_assert_int_gt(r.sum.host.end.mean_ns, 0);
	recorded_release(&r);
}

static const char makefile[] =
	"all: own sub; @" BUILDBEAT " task one -- true; " BUILDBEAT " record -- true\n"
	"own: ; @true\n"
	"sub: ; @$(MAKE) -s -f /dev/null --eval='x:;@true'\n";

/* By the process that began the recording, and by no other. */
TEST(launched)
{
	SKIP_IF(!make_host_can());
	support_writes(support_path("%s/Makefile", support_tmpdir()), makefile);
	support_expect(support_tmpdir(), 0, NULL, "", RECORD "-n one -- make");
	is_calibrated(support_path("%s/stats/one", support_tmpdir()));
}

TEST(loaded)
{
	SKIP_IF(!make_host_can());
	support_writes(support_path("%s/Makefile", support_tmpdir()), makefile);
	support_expect(support_tmpdir(), 0, NULL, "",
		       "make --eval='load %s/plugin/buildbeat.so'", TOP_BUILDDIR);
	is_calibrated(support_path("%s/buildstats/latest", support_tmpdir()));
}

/* What the machine did to a build */

#define WALL_US 100000000.

/* A build on four cores. */
struct mix {
	double own, others, stolen;	/* cores used by its tasks, other processes, and others
					   of the hypervisor */
	double waited;			/* share of the time in which some process waited */
	int tasks;			/* at once */
	double factor;			/* by which waiting for a core makes wall time longer */
};

static struct build mixed(const struct mix *m)
{
	struct build b = { .cores = 4 };

	for (enum total t = 0; t < TOTALS; t++)
		b.total[t] = -1;
	b.total[TOTAL_WALL_US] = (int64_t)WALL_US;
	b.total[TOTAL_USER_US] = (int64_t)(.8 * m->own * WALL_US);
	b.total[TOTAL_SYSTEM_US] = (int64_t)(.2 * m->own * WALL_US);
	b.total[TOTAL_HOST_USER_US] = b.total[TOTAL_USER_US] + (int64_t)(m->others * WALL_US);
	b.total[TOTAL_HOST_SYSTEM_US] = b.total[TOTAL_SYSTEM_US];
	b.total[TOTAL_HOST_STEAL_US] = (int64_t)(m->stolen * WALL_US);
	b.total[TOTAL_HOST_STALLED_CPU_US] = m->waited < 0 ? -1 : (int64_t)(m->waited * WALL_US);
	b.total[TOTAL_RUNNING_MAX] = m->tasks;
	b.total[TOTAL_HOST_CALIBRATION_START_US] = 25000;
	b.total[TOTAL_HOST_CALIBRATION_END_US] = 27000;
	return b;
}

static const struct mix quiet = { 3.5, 0, 0, 1, 4, 1 };

static void is_near(double value, double expected)
{
	ck_assert_msg(fabs(value - expected) < 1e-9, "%g, %g expected", value, expected);
}

/* The factor of wall time without that of CPU time. */
static double waiting(const struct build *b)
{
	return exp(build_machine(b, METRIC_WALL) - build_machine(b, METRIC_CPU));
}

TEST(speed)
{
	struct build b = mixed(&quiet);

	is_near(build_machine(&b, METRIC_CPU), log(26000));
	is_near(waiting(&b), 1);
	b.total[TOTAL_HOST_CALIBRATION_END_US] = -1;
	is_near(build_machine(&b, METRIC_CPU), log(25000));
	b.total[TOTAL_HOST_CALIBRATION_START_US] = -1;
	for (enum metric m = 0; m < METRICS; m++)
		ck_assert(isnan(build_machine(&b, m)));
	b.total[TOTAL_HOST_CALIBRATION_END_US] = 27000;
	is_near(build_machine(&b, METRIC_CPU), log(27000));
	ck_assert(isnan(build_machine(&b, METRIC_MEMORY)));
	ck_assert(isnan(build_machine(&b, METRIC_IO)));
}

static const struct mix mixes[] = {
	{ 3.5, 0, 0, 1, 4, 1 },
	{ 0, 0, 0, 0, 0, 1 },
	/* two of four cores are taken and needed; nobody waited; that is not known */
	{ 2, 2, 0, 1, 8, 2 },
	{ 2, 2, 0, 0, 8, 1 },
	{ 2, 2, 0, -1, 8, 2 },
	{ 2, 2, 0, .5, 4, 4 / 3. },
	/* one task at a time: three cores are free, or one, or a quarter of it */
	{ 1, 0, 0, 1, 1, 1 },
	{ 1, 2, 0, 1, 1, 1 },
	{ .25, 3.75, 0, 1, 1, 4 },
	/* one task with three threads, which were two and a half */
	{ 3, 1, 0, 1, 1, 1 },
	{ 2.5, 1.5, 0, 1, 3, 1.2 },
	/* the number of tasks is not known */
	{ 2, 1, 0, 1, -1, 4 / 3. },
	/* the hypervisor took one core; half of that from others */
	{ 3, 0, 1, 1, 4, 4 / 3. },
	{ 1, 1, 1, 0, 4, 8 / 7. },
	{ .8, 0, .2, 0, 1, 1.25 },
	/* more than there is */
	{ .01, 4, 0, 1, 4, 20 },
	{ 1, 8, 8, 1, 4, 20 },
};

TEST_EACH(neighbours, mixes)
{
	struct build b = mixed(&mixes[_i]);

	is_near(build_machine(&b, METRIC_CPU), log(26000));
	ck_assert_msg(fabs(waiting(&b) - mixes[_i].factor) < 1e-6, "%.9f", waiting(&b));
}

/* More of others, of the hypervisor and of waiting never makes the factor smaller. */
TEST_LOOP(monotonic, 4)
{
	uint64_t seed = (uint64_t)_i;

	for (int i = 0; i < 20000; i++) {
		struct mix m = {
			(double)random_below(&seed, 401) / 100, (double)random_below(&seed, 500) / 100,
			(double)random_below(&seed, 200) / 100, (double)random_below(&seed, 101) / 100,
			(int)random_below(&seed, 12) - 1, 0,
		};
		struct build b = mixed(&m);
		double before = waiting(&b);

		ck_assert(before >= 1 && before <= 20 + 1e-6);
		switch (random_below(&seed, 3)) {
		case 0:
			/* with others, less of what was stolen is the build's */
			m.stolen = 0;
			b = mixed(&m);
			before = waiting(&b);
			m.others += 1;
			break;
		case 1:
			m.stolen += .1;
			break;
		default:
			m.waited += .1;
		}
		b = mixed(&m);
		ck_assert_msg(waiting(&b) >= before - 1e-9, "%g < %g", waiting(&b), before);
	}
}

/* What others took is not known without samples: the speed of the machine alone is. */
static const enum total needed[] = {
	TOTAL_WALL_US, TOTAL_USER_US, TOTAL_SYSTEM_US, TOTAL_HOST_USER_US,
};

TEST_EACH(not_sampled, needed)
{
	struct build b = mixed(&quiet);

	b.total[needed[_i]] = -1;
	is_near(build_machine(&b, METRIC_WALL), log(26000));
	is_near(build_machine(&b, METRIC_CPU), log(26000));
	b = mixed(&quiet);
	b.cores = 0;
	is_near(build_machine(&b, METRIC_WALL), log(26000));
}

/* In an archive */

#define REPO "builds.git"

/* change: a command for sed, what another version of buildbeat would have written. */
static void record_and_archive(const char *name, const char *change)
{
	support_expect(support_tmpdir(), 0, NULL, "", RECORD "-n %s -- make", name);
	support_expect(support_tmpdir(), 0, NULL, "", "sed -i '%s' stats/%s/build", change, name);
	support_expect(support_tmpdir(), 0, NULL, NULL, BUILDBEAT " archive --repo " REPO
		       " --host h --branch b --machine m stats/%s", name);
}

static void read_builds(struct builds *builds)
{
	struct error err = { 0 };
	struct archive *a;
	int r = archive_open(&a, support_path("%s/" REPO, support_tmpdir()), ARCHIVE_READ, &err);

	if (!r)
		r = archive_builds(a, "h/b/m", 0, builds, &err);
	ck_assert_msg(!r, "%s: %s", err.path, err.message);
	archive_close(a);
}

/* As many processes that only compute as make the build wait, until they are stopped. */
static void be_busy(pid_t *pid, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		pid[i] = fork();
		ck_assert_int_ge(pid[i], 0);
		if (pid[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				__asm__ volatile("");
		}
	}
}

static void be_calm(const pid_t *pid, size_t n)
{
	for (size_t i = 0; i < n; i++)
		kill(pid[i], SIGKILL);
	for (size_t i = 0; i < n; i++)
		waitpid(pid[i], NULL, 0);
}

/*
 * Was the build's only task hardly ever without a core, and alone? Others with a low priority wait and do
 * not make it wait, which the pressure of the machine does not show.
 */
static bool had_the_machine(const struct build *b)
{
	double own = metric_total(b->total, METRIC_CPU), wall = metric_total(b->total, METRIC_WALL);
	double all = (double)(b->total[TOTAL_HOST_USER_US] + b->total[TOTAL_HOST_SYSTEM_US]);

	return own > .8 * wall && all - own < .5 * wall;
}

/* Others that need all cores make the build wait, and its CPU time hardly longer. */
TEST(archived)
{
	pid_t pid[512];
	size_t n = 8 * (size_t)sysconf(_SC_NPROCESSORS_ONLN);
	struct builds builds;
	double cpu[2];

	SKIP_IF(!make_host_can() || n > ARRAY_SIZE(pid));
	support_writes(support_path("%s/Makefile", support_tmpdir()), 
		       "all: ; @i=0; while [ $$i -lt 150000 ]; do i=$$((i+1)); done\n");
	record_and_archive("calm", "");
	be_busy(pid, n);
	record_and_archive("busy", "");
	be_calm(pid, n);
	record_and_archive("old", "/^calibration/d");
	record_and_archive("damaged", "/^calibration/s/: .*/: 0/");
	read_builds(&builds);
	ck_assert_uint_eq(builds.n, 4);
	for (size_t i = 2; i < 4; i++)
		ck_assert(isnan(build_machine(&builds.build[i], METRIC_CPU)));
	for (size_t i = 0; i < 2; i++) {
		const struct build *b = &builds.build[i];

		ck_assert_int_eq(b->cores, sysconf(_SC_NPROCESSORS_ONLN));
		cpu[i] = build_machine(b, METRIC_CPU);
		ck_assert(!isnan(cpu[i]));
		ck_assert(waiting(b) >= 1);
		if (had_the_machine(b))
			ck_assert_msg(waiting(b) < 1.5, "%g", waiting(b));
	}
	ck_assert_msg(waiting(&builds.build[1]) > 1.2, "%g", waiting(&builds.build[1]));
	ck_assert_msg(fabs(cpu[1] - cpu[0]) < log(5), "%g, %g", cpu[0], cpu[1]);
	builds_release(&builds);
}

TEST_MAIN(calibration);
