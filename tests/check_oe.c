/* SPDX-License-Identifier: MIT */
/*
 * Reading OpenEmbedded's buildstats: a real build, compared with awk on the same files; and
 * hand-made ones, each with one fault.
 */
#include "base/array.h"
#include "convert/convert.h"
#include "convert/oe/oe.h"
#include "recording/recipe.h"
#include "recording/recording.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

#define GENUINE TOP_SRCDIR "/tests/data/oe/genuine"

/* A directory of the files in text, each behind a line "== NAME". */
static const char *write_files(const char *text)
{
	static char dir[128];
	const char *next;

	snprintf(dir, sizeof dir, "%s/oe", support_tmpdir());
	ck_assert_int_eq(mkdir(dir, 0777), 0);
	for (const char *p = strstr(text, "== "); p; p = next) {
		const char *eol = strchr(p, '\n');
		char path[256], *slash;

		next = strstr(eol, "\n== ");
		next = next ? next + 1 : NULL;
		snprintf(path, sizeof path, "%s/%.*s", dir, (int)(eol - p - 3), p + 3);
		slash = strrchr(path, '/');
		*slash = '\0';
		ck_assert(!mkdir(path, 0777) || errno == EEXIST);
		*slash = '/';
		support_write(path, eol + 1, next ? (size_t)(next - eol - 1) : strlen(eol + 1));
	}
	return dir;
}

static void read_files(struct recording *rec, const char *text)
{
	struct error err = { 0 };
	int r = recording_read(rec, write_files(text), &convert_formats, &err);

	ck_assert_msg(!r, "%s: %s", err.path, err.message);
	ck_assert(rec->source.one_core && rec->source.recipe_keys);
}

/* Tasks as "recipe:name state start-end" in ms, without unknown values. */
static const char *tasks_shown(const struct recording *rec)
{
	static char text[8192];
	struct buf b;

	buf_init_fixed(&b, text, sizeof text);
	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		buf_addf(&b, "%s%s:%s %s %lld-%s", i ? "; " : "", t->key, t->name, recorded_state(t),
			 (long long)t->start_us / 1000, t->end_at_most ? "<=" : "");
		if (t->end_us >= 0)
			buf_addi(&b, t->end_us / 1000);
	}
	return buf_str(&b);
}

/* "series: column column; time level level; ..." */
static const char *series_shown(const struct recording *rec, const char *name)
{
	const struct series *s = recording_series(rec, name);
	static char text[8192];
	struct buf b;

	buf_init_fixed(&b, text, sizeof text);
	for (size_t i = 0; s && i < s->n_columns; i++)
		buf_addf(&b, "%s%s", i ? " " : "", s->column[i].name);
	for (size_t i = 0; s && i < s->n; i++) {
		buf_addf(&b, "; %s%lld", s->gap[i] ? "!" : "", (long long)s->time_ms[i]);
		for (size_t k = 0; k < s->n_columns; k++) {
			int64_t level = s->level[i * s->n_columns + k];

			if (level == SERIES_ABSENT)
				buf_adds(&b, " -");
			else
				buf_addf(&b, " %lld", (long long)level);
		}
	}
	return buf_str(&b);
}

static const char *warnings_shown(const struct recording *rec)
{
	static char text[4096];
	struct buf b;

	buf_init_fixed(&b, text, sizeof text);
	for (size_t i = 0; i < rec->n_warnings; i++)
		buf_addf(&b, "%s%s", i ? "; " : "", rec->warning[i].text);
	return buf_str(&b);
}

/* Pieces of files: times are seconds after 1000000000. */
#define T(s) "10000000" s
#define BEGUN "== build_stats\nHost Info: Linux node 6.1 #1 SMP @0 x86_64 \n" \
	"Build Started: " T("00.00") " \n"
#define BUILD BEGUN "Elapsed time: 90.00 seconds \nCPU usage: 59.3% \n"
#define STARTED(s) "Event: TaskStarted \nStarted: " T(s) " \n"
#define ENDED_AS(s, elapsed, status) "a-1-r0: do_compile\nElapsed time: " elapsed " seconds\n" \
	"utime: 2\nstime: 1\ncutime: 7\ncstime: 3\nStatus: " status " \nEnded: " T(s) " \n"
#define ENDED(s, elapsed) ENDED_AS(s, elapsed, "PASSED")
#define COMPILE "== a-1-r0/do_compile\n"
#define DONE COMPILE STARTED("10.00") ENDED("12.50", "2.50")

static const struct {
	const char *what, *files, *tasks, *told;
	int64_t start_s;	/* after 1000000000 */
	const char *end_us, *status;
} cases[] = {
	{ "a task", BUILD DONE, "a-1-r0:do_compile done 10000-12500", "", 0, "90000000", "0" },
	{ "it failed", BEGUN "Failed at: a-1-r0 at task: do_compile \nElapsed time: 20.00 seconds \n"
	  COMPILE STARTED("10.00") ENDED_AS("12.50", "2.50", "FAILED"),
	  "a-1-r0:do_compile failed 10000-12500", "", 0, "20000000", "1" },
	{ "nothing ran", BUILD, "", "", 0, "90000000", "0" },
	{ "killed, or still running", BEGUN DONE, "a-1-r0:do_compile done 10000-12500", "", 0, NULL, NULL },
	{ "no build_stats", DONE "== b-1-r0/do_compile\n" STARTED("09.50"),
	  "a-1-r0:do_compile done 500-3000; b-1-r0:do_compile running 0-",
	  "build_stats: No such file or directory", 9, NULL, NULL },
	{ "build_stats is empty", "== build_stats\n" DONE, "a-1-r0:do_compile done 0-2500", "", 10,
	  NULL, NULL },
	{ "build_stats is torn", DONE "== build_stats\nHost Info: Linux node 6.1\nBuild Started: 10000000",
	  "a-1-r0:do_compile done 0-2500", "build_stats: its last line is truncated and was ignored", 10,
	  NULL, NULL },
	{ "a task before the build", BUILD "== a-1-r0/do_compile\n" "Event: TaskStarted \n"
	  "Started: 999999990.00 \n" ENDED("12.50", "22.50"), "a-1-r0:do_compile done 0-22500", "",
	  -10, "100000000", "0" },
	{ "a task of another year", BUILD DONE "== a-1-r0/do_fetch\nEvent: TaskStarted \nStarted: 1.00 \n",
	  "a-1-r0:do_compile done 10000-12500",
	  "1 task files are damaged, the first is a-1-r0/do_fetch", 0, "90000000", "0" },
	{ "two multiconfigs", BEGUN "Host Info: Linux other 5.0 #1 SMP @0 x86_64 \nBuild Started: "
	  T("00.50") " \nElapsed time: 90.75 seconds \nCPU usage: 1% \nElapsed time: 90.25 seconds \n"
	  COMPILE STARTED("10.00") ENDED("12.50", "2.50") STARTED("20.00") ENDED("21.00", "1.00"),
	  "a-1-r0:do_compile done 10000-12500; a-1-r0:do_compile done 20000-21000", "", 0,
	  "90750000", "0" },
	{ "two at once, the second ends first", BUILD COMPILE STARTED("10.00") STARTED("11.00")
	  ENDED("12.50", "1.50") ENDED("13.00", "3.00"),
	  "a-1-r0:do_compile done 10000-13000; a-1-r0:do_compile done 11000-12500", "", 0,
	  "90000000", "0" },
	{ "two at once, the first ends first", BUILD COMPILE STARTED("10.00") STARTED("10.50")
	  ENDED("12.50", "2.50") ENDED("13.00", "2.50"),
	  "a-1-r0:do_compile done 10000-12500; a-1-r0:do_compile done 10500-13000", "", 0,
	  "90000000", "0" },
	{ "two at once, one killed", BUILD COMPILE STARTED("10.00") STARTED("10.50")
	  ENDED("12.51", "2.01"),
	  "a-1-r0:do_compile running 10000-; a-1-r0:do_compile done 10500-12510",
	  "1 tasks neither passed nor failed, the first is a-1-r0/do_compile: killed, so the build "
	  "failed", 0, "90000000", "1" },
	{ "a start is lost", BUILD COMPILE "Event: TaskStarted \n" ENDED("12.50", "2.50"),
	  "a-1-r0:do_compile done 10000-12500", "", 0, "90000000", "0" },
	{ "killed while the build went on", BEGUN COMPILE STARTED("10.00"),
	  "a-1-r0:do_compile running 10000-", "", 0, NULL, NULL },
	{ "a setscene task failed silently", BUILD DONE "== a-1-r0/do_compile_setscene\n" STARTED("03.00"),
	  "a-1-r0:do_compile done 10000-12500; a-1-r0:do_compile_setscene failed 3000-<=10000", "", 0,
	  "90000000", "0" },
	{ "so did one, and another task of the recipe ran next", BUILD DONE
	  "== a-1-r0/do_fetch\n" STARTED("04.23") "Elapsed time: 1.00 seconds\nStatus: PASSED \nEnded: "
	  T("05.23") " \n== a-1-r0/do_package_setscene\n" STARTED("03.00")
	  "== a-1-r0/do_populate_lic_setscene\n" STARTED("03.50") "Elapsed time: 0.10 seconds\n"
	  "Status: PASSED \nEnded: " T("03.60") " \n",
	  "a-1-r0:do_compile done 10000-12500; a-1-r0:do_fetch done 4230-5230; "
	  "a-1-r0:do_package_setscene failed 3000-<=4230; a-1-r0:do_populate_lic_setscene done 3500-3600",
	  "", 0, "90000000", "0" },
	{ "so did one, and no task of the recipe ran later", BUILD "== b-1-r0/do_compile\n"
	  STARTED("10.00") "Elapsed time: 2.50 seconds\nStatus: PASSED \nEnded: " T("12.50") " \n"
	  "== a-1-r0/do_compile_setscene\n" STARTED("03.00"),
	  "a-1-r0:do_compile_setscene running 3000-; b-1-r0:do_compile done 10000-12500", "", 0,
	  "90000000", "0" },
	{ "failed before it started", BEGUN "Failed at: a-1-r0 at task: do_compile \n"
	  "Elapsed time: 90.00 seconds \n" COMPILE "Status: FAILED \nEnded: " T("10.00") " \n",
	  "a-1-r0:do_compile failed 10000-10000", "", 0, "90000000", "1" },
	{ "cut off behind the elapsed time", BUILD COMPILE STARTED("10.00")
	  "a-1-r0: do_compile\nElapsed time: 2.50 seconds\nutime: 2\nsti",
	  "a-1-r0:do_compile running 10000-12500",
	  "1 task files are damaged, the first is a-1-r0/do_compile", 0, "90000000", "0" },
	{ "cut off, then another run", BUILD COMPILE STARTED("10.00")
	  "a-1-r0: do_compile\nElapsed time: 2.50 seconds\n" STARTED("20.00") ENDED("21.00", "1.00"),
	  "a-1-r0:do_compile running 10000-12500; a-1-r0:do_compile done 20000-21000",
	  "1 task files are damaged, the first is a-1-r0/do_compile", 0, "90000000", "0" },
	{ "an empty file", BUILD "== a-1-r0/do_compile\n== b-1-r0/do_compile\n" STARTED("10.00")
	  ENDED("12.50", "2.50"), "b-1-r0:do_compile done 10000-12500",
	  "1 task files are damaged, the first is a-1-r0/do_compile", 0, "90000000", "0" },
	{ "files of others", BUILD DONE "== a-1-r0/notes\nx\n== a-1-r0/.hidden\n== old/x\nEvent\n== toolong\n",
	  "a-1-r0:do_compile done 10000-12500",
	  "1 files that are not bitbake's left out, the first is a-1-r0/notes", 0, "90000000", "0" },
	{ "two versions of a recipe", BUILD DONE "== a-1_2-r0/do_compile\n" STARTED("10.00"
	  ) "a-1_2-r0: do_compile\nElapsed time: 1.00 seconds\nStatus: PASSED \nEnded: " T("11.00") " \n",
	  "a-1-r0:do_compile done 10000-12500; a-1_2-r0:do_compile done 10000-11000", "", 0,
	  "90000000", "0" },
	{ "the clock was set back", BUILD COMPILE STARTED("10.00") ENDED("05.00", "-5.00"),
	  "a-1-r0:do_compile done 10000-10000",
	  "1 tasks end before they start, the first is a-1-r0/do_compile: the clock was set back; "
	  "their duration is 0", 0, "90000000", "0" },
	{ "an end without status", BUILD COMPILE STARTED("10.00") "Elapsed time: 1.00 seconds\nEnded: "
	  T("11.00") " \n", "a-1-r0:do_compile running 10000-11000",
	  "1 task files are damaged, the first is a-1-r0/do_compile", 0, "90000000", "0" },
	{ "lines of a later release", BUILD COMPILE STARTED("10.00") "a-1-r0: do_compile\n"
	  "Phase of the moon: 7\nElapsed time: 2.50 seconds\nrusage ru_new: 1\nStatus: PASSED \nEnded: "
	  T("12.50") " \n", "a-1-r0:do_compile done 10000-12500", "", 0, "90000000", "0" },
};

TEST_EACH(quirk, cases)
{
	RELEASED(recording, rec = RECORDING_INIT);

	read_files(&rec, cases[_i].files);
	ck_assert_msg(!strcmp(tasks_shown(&rec), cases[_i].tasks), "%s: %s", cases[_i].what,
		      tasks_shown(&rec));
	ck_assert_msg(!strcmp(warnings_shown(&rec), cases[_i].told), "%s: %s", cases[_i].what,
		      warnings_shown(&rec));
	ck_assert_int_eq(rec.start_wall_ns / 1000000000 - 1000000000, cases[_i].start_s);
	ck_assert_pstr_eq(recording_build(&rec, "end_us"), cases[_i].end_us);
	ck_assert_pstr_eq(recording_build(&rec, "status"), cases[_i].status);
	ck_assert_int_eq(rec.end_us, recording_build_number(&rec, "end_us"));
	ck_assert_uint_eq((uint64_t)recording_build_number(&rec, "tasks"), rec.n_tasks);
	ck_assert_str_eq(rec.instance[0].tool, "bitbake");
}

/* All values of a task. */
#define SELF "rusage ru_utime: 0.023881\nrusage ru_stime: 5e-05\nrusage ru_maxrss: 41860\n" \
	"rusage ru_minflt: 2561\nrusage ru_majflt: 1\nrusage ru_inblock: 8\n" \
	"rusage ru_oublock: 24\nrusage ru_nvcsw: 14\nrusage ru_nivcsw: 9\n"
#define CHILD "Child rusage ru_utime: 6.068046\nChild rusage ru_stime: 0.446465\n" \
	"Child rusage ru_maxrss: 38248\nChild rusage ru_minflt: 111383\n" \
	"Child rusage ru_majflt: 2\nChild rusage ru_inblock: 160\nChild rusage ru_oublock: 1928\n" \
	"Child rusage ru_nvcsw: 542\nChild rusage ru_nivcsw: 3049\n"
#define TICKS "utime: 2\nstime: 1\ncutime: 606\ncstime: 44\n"
#define IO "IO rchar: 2984780\nIO wchar: 869656\nIO syscr: 2741\nIO syscw: 544\n" \
	"IO read_bytes: 81920\nIO write_bytes: 999424\nIO cancelled_write_bytes: 262144\n"

static const struct { const char *what, *lines, *figures; } usages[] = {
	{ "all", TICKS IO SELF CHILD,
	  "6091927 446515 41860 113944 3 160 1952 556 3058 2984780 869656" },
	{ "no I/O accounting", TICKS SELF CHILD,
	  "6091927 446515 41860 113944 3 168 1952 556 3058 -1 -1" },
	{ "no rusage", TICKS IO, "6080000 450000 -1 -1 -1 160 1952 -1 -1 2984780 869656" },
	{ "only its own rusage", SELF IO, "-1 -1 41860 -1 -1 160 1952 -1 -1 2984780 869656" },
	{ "nothing", "", "-1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1" },
	{ "in another order", CHILD IO TICKS SELF,
	  "6091927 446515 41860 113944 3 160 1952 556 3058 2984780 869656" },
	{ "numbers that are none", "rusage ru_utime: x\nChild rusage ru_utime: 1.0\nIO rchar: -5\n"
	  "IO read_bytes: 99999999999999999999\nutime: 9e9\n", "-1 -1 -1 -1 -1 -1 -1 -1 -1 -1 -1" },
	{ "very large ones", "rusage ru_minflt: 2147483647\nChild rusage ru_minflt: 5\n"
	  "rusage ru_maxrss: 2305843009213693951\nutime: 2305843009213693951\ncutime: 1\n",
	  "-1 -1 2305843009213693951 2147483647 -1 -1 -1 -1 -1 -1 -1" },
};

TEST_EACH(usage, usages)
{
	RELEASED(recording, rec = RECORDING_INIT);
	char files[4096], text[512];
	const struct task *t;

	snprintf(files, sizeof files, "%s%s%s", BUILD COMPILE STARTED("10.00") "a-1-r0: do_compile\n"
		 "Elapsed time: 2.50 seconds\n", usages[_i].lines,
		 "Status: PASSED \nEnded: " T("12.50") " \n");
	read_files(&rec, files);
	ck_assert_uint_eq(rec.n_tasks, 1);
	t = rec.task;
	snprintf(text, sizeof text, "%lld %lld %lld %d %d %lld %lld %d %d %lld %lld",
		 (long long)t->user_us, (long long)t->system_us, (long long)t->max_rss_kb,
		 t->minor_faults, t->major_faults, (long long)t->in_blocks,
		 (long long)t->out_blocks, t->voluntary_switches, t->involuntary_switches,
		 (long long)t->rchar, (long long)t->wchar);
	ck_assert_msg(!strcmp(text, usages[_i].figures), "%s: %s", usages[_i].what, text);
	ck_assert_str_eq(t->kind, "compile");
}

/* A file truncated anywhere: the start counts once it is whole, the end once the elapsed
 * time is, the status once that is. */
TEST(cut_anywhere)
{
	static const char whole[] = STARTED("10.00") "a-1-r0: do_compile\nElapsed time: 2.50 seconds\n"
		TICKS IO SELF CHILD "Status: PASSED \nEnded: " T("12.50") " \n";
	const char *dir = write_files(BUILD DONE);
	const char *path = support_path("%s/a-1-r0/do_compile", dir);

	for (size_t n = 0; n < sizeof whole; n++) {
		size_t started = (size_t)(strstr(whole, "a-1-r0") - whole);
		size_t title = (size_t)(strstr(whole, "Elapsed") - whole);
		size_t elapsed = (size_t)(strstr(whole, "utime") - whole);
		size_t status = (size_t)(strstr(whole, "Ended") - whole);
		size_t child = (size_t)(strstr(whole, "Child rusage ru_stime") - whole);
		struct recording rec = RECORDING_INIT;

		support_write(path, whole, n);
		recorded_open(&rec, dir, &convert_formats);
		ck_assert_uint_eq(rec.n_tasks, n >= started);
		if (rec.n_tasks) {
			const struct task *t = rec.task;

			ck_assert_int_eq(t->start_us, 10000000);
			ck_assert_int_eq(t->end_us, n >= elapsed ? 12500000 : -1);
			ck_assert_int_eq(t->state, n >= status ? TASK_DONE : TASK_UNFINISHED);
			if (n >= child)
				ck_assert_int_eq(t->user_us, 6091927);
		}
		/* It is reported as damaged, except between two lines, and as unfinished. */
		ck_assert_uint_eq(rec.n_warnings, (n != started && n != title && n + 1 != sizeof whole) +
				  (n >= started && n < elapsed));
		recording_release(&rec);
	}
}

/* Logs */

#define LOG(name) BEGUN "Elapsed time: 8.40 seconds \n== reduced_proc_" name ".log\n"
#define AT(s) T("0" s) "\n"

static const struct { const char *what, *files, *series, *shown, *told; } logs[] = {
	{ "stat: a late sample, decimals of all sorts",
	  LOG("stat") AT("1") "0.5 0.25 0.0\n\n" AT("2") "1.0 0.0 0.0\n\n" AT("5") "0.1 5e-05 0.2\n\n",
	  "proc_stat", "user system iowait; 0 0 0 0; 1000 500000 250000 0; 2000 1500000 250000 0; "
	  "5000 1800000 250150 600000", "" },
	{ "stat: when the sample before the first was, others know",
	  LOG("meminfo") AT("1") "9 8 1 2 4 3\n\n== reduced_proc_stat.log\n" AT("4") "0.5 0.25 0.0\n\n",
	  "proc_stat", "user system iowait; 1000 0 0 0; 4000 1500000 750000 0", "" },
	{ "stat: damage and a torn end", LOG("stat") "garbage\n" AT("2") "1.0 0.0 0.0\n\n" AT("3") "0.5\n\n"
	  AT("4") "0.5 0.0 0.0\n\n" AT("5") "0.5 0.0",
	  "proc_stat", "user system iowait; 1000 0 0 0; 2000 1000000 0 0; !4000 2000000 0 0",
	  "reduced_proc_stat.log:1: damaged lines left out: this and 1 more; "
	  "reduced_proc_stat.log: its last line is truncated and was ignored" },
	{ "stat: the clock was set back", LOG("stat") AT("4") "1.0 0.0 0.0\n\n" AT("2") "1.0 0.0 0.0\n\n"
	  AT("5") "0.5 0.0 0.0\n\n",
	  "proc_stat", "user system iowait; 3000 0 0 0; 4000 1000000 0 0; !5000 1500000 0 0",
	  "reduced_proc_stat.log: 1 samples are earlier than those before: the clock was set back; "
	  "left out" },
	{ "stat: rounding leads out of the build", LOG("stat") AT("8") "1.0 0.0 0.0\n\n" AT("9")
	  "1.0 0.0 0.0\n\n", "proc_stat", "user system iowait; 7000 0 0 0; 8000 1000000 0 0; "
	  "8400 1400000 0 0", "" },
	{ "stat: two samples in a second", LOG("stat") AT("2") "1.0 0.0 0.0\n\n" AT("2") "0.5 0.0 0.0\n\n",
	  "proc_stat", "user system iowait; 1000 0 0 0; 2000 1000000 0 0", "" },
	{ "stat: blocks without the line between", LOG("stat") AT("1") "1.0 0 0\n" AT("2") "1.0 0 0\n",
	  "proc_stat", "user system iowait; 0 0 0 0; 1000 1000000 0 0; 2000 2000000 0 0", "" },
	{ "disk: from the time of the block on, 100 times less",
	  LOG("diskstats") AT("1") "102400.0 204800.0 1.0\n\n" AT("3") "0.0 102400 0.5\n\n",
	  "proc_diskstats", "disk.written disk.read; 1000 0 0; 3000 4194304 2097152; "
	  "4000 5242880 2097152", "" },
	{ "disk: until the next sample there is",
	  LOG("meminfo") AT("1") "9 8 1 2 4 3\n\n" AT("6") "9 8 1 2 4 3\n\n== reduced_proc_diskstats.log\n"
	  AT("1") "0.0 102400.0 0.0\n\n",
	  "proc_diskstats", "disk.written disk.read; 1000 0 0; 6000 5242880 0", "" },
	{ "disk: not beyond the end", LOG("diskstats") AT("8") "0.0 102400.0 0.0\n\n",
	  "proc_diskstats", "disk.written disk.read; 8000 0 0; 8400 419430 0", "" },
	{ "memory", LOG("meminfo") AT("1") "9000 8000 100 200 40 30\n\n" AT("2") "9000 7000 100 200 0 0\n\n",
	  "proc_meminfo", "free buffers cached swap total swap_total; 1000 8000 100 200 10 9000 40; "
	  "2000 7000 100 200 0 9000 0", "" },
	{ "net: those that count, from where they were",
	  LOG("net") AT("1") "lo: 5 5 0 0\nifb0: 1 1 0 0\nveth12: 3 3 0 0\neth0: 1000 50 0 0\n\n" AT("2")
	  "lo: 9 9 0 0\neth0: 1700 60 700 10\nwlan0: 7 7 0 0\n\n" AT("3")
	  "eth0: 20 70 700 10\nwlan0: 8 8 0 0\n\n" AT("4") "wlan0: 9 7 0 0\n\n",
	  "proc_net", "eth0.rx eth0.tx wlan0.rx wlan0.tx; 1000 0 0 - -; 2000 700 10 0 0; "
	  "3000 720 20 1 1; 4000 - - 2 8", "" },
	{ "net: none but virtual ones", LOG("net") AT("1") "lo: 5 5 0 0\nveth12: 3 3 0 0\n\n",
	  "proc_net", "veth12.rx veth12.tx; 1000 0 0", "" },
	{ "net: only the loopback", LOG("net") AT("1") "lo: 5 5 0 0\n\n", "proc_net", "", "" },
	{ "net: torn", LOG("net") AT("1") "eth0: 1 1 0 0\neth1: 1 1 0 0\n\n" AT("2") "eth0: 2 2 0 0\net",
	  "proc_net", "eth0.rx eth0.tx eth1.rx eth1.tx; 1000 0 0 0 0",
	  "reduced_proc_net.log: its last line is truncated and was ignored" },
	{ "volumes: one comes later, one has two points, some lines are damaged",
	  BEGUN "== monitor_disk.log\n" AT("1") "/dev/vda: 23811424256\n\n" AT("2")
	  "/dev/vda: 23811424000\nserver:/x: 7\n\n" AT("3") "server:/x: 0\na b: 1\n: 4\n/dev/vda: -1\n\n",
	  "proc_volumes", "/dev/vda.used server:/x.used; 1000 23811424256 -; 2000 23811424000 7; "
	  "3000 - 0", "monitor_disk.log:10: damaged lines left out: this and 2 more" },
	{ "pressure: three logs, the last begins late",
	  LOG("pressure/cpu") AT("2") "0.00 0.00 0.00 500000\n\n" AT("3") "0.00 0.00 0.00 100\n\n"
	  "== reduced_proc_pressure/io.log\n== reduced_proc_pressure/memory.log\n" AT("3")
	  "0.00 0.00 0.00 7\n\n",
	  "proc_pressure", "cpu.some io.some memory.some; 1000 0 0 0; 2000 500000 0 0; "
	  "3000 500100 0 7", "" },
	{ "pressure: one alone", LOG("pressure/io") AT("2") "0.00 0.00 0.00 500000\n\n",
	  "proc_pressure", "io.some; 1000 0; 2000 500000", "" },
	{ "unreduced: processor time, of two", BEGUN "== proc_stat.log\n" AT("1")
	  "cpu  100 10 50 900 20 1 2 3 7 7\ncpu0 1 1 1\ncpu1 1 1 1\nintr 7\n\n" AT("3")
	  "cpu  300 10 70 950 25 2 3 5 7 7\ncpu0 1 1 1\ncpu1 1 1 1\n\n" AT("4") "cpu  1\n\n",
	  "proc_stat", "user system iowait steal; 1000 0 0 0 0; 3000 1000000 110000 25000 10000",
	  "proc_stat.log:14: damaged line left out" },
	{ "unreduced: memory", BEGUN "== proc_meminfo.log\n" AT("1") "MemTotal:  9000 kB\nMemFree:  8000 kB\n"
	  "MemAvailable: 8500 kB\nBuffers: 1 kB\nCached: 2 kB\nSwapCached: 9 kB\nSwapTotal: 40 kB\n"
	  "SwapFree: 30 kB\n\n" AT("2") "MemTotal: x\n\n",
	  "proc_meminfo", "free available buffers cached total swap_total swap; "
	  "1000 8000 8500 1 2 9000 40 10; 2000 - - - - - - -", "" },
	{ "unreduced: disks", BEGUN "== proc_diskstats.log\n" AT("1")
	  "   7 0 loop0 1 1 1 1 1 1 1 1 1 1 1\n   8 0 sda 5 0 100 9 6 0 200 9 0 50 18\n"
	  "   8 1 sda1 5 0 100 9 6 0 200 9 0 50 18\n 259 0 nvme0n1 1 1 1 1 1 1 1 1 1 1 1 0 0 0 0\n"
	  " 259 1 nvme0n1p1 1 1 1 1 1 1 1 1 1 1 1\n\n" AT("2")
	  "   8 0 sda 5 0 110 9 6 0 230 9 0 57 18\n\n",
	  "proc_diskstats", "sda.written sda.read sda.busy nvme0n1.written nvme0n1.read nvme0n1.busy; "
	  "1000 0 0 0 0 0 0; 2000 30 10 7 - - -", "" },
	{ "unreduced beside reduced", LOG("stat") AT("1") "0.5 0.5 0.0\n\n== proc_stat.log\n" AT("1")
	  "cpu  100 10 50 900 20 1 2 3 7 7\n\n",
	  "proc_stat", "user system iowait; 0 0 0 0; 1000 500000 500000 0", "" },
	{ "pressure: all empty", LOG("pressure/io") "== reduced_proc_pressure/cpu.log\n",
	  "proc_pressure", "", "" },
};

TEST_EACH(log_of_samples, logs)
{
	RELEASED(recording, rec = RECORDING_INIT);

	read_files(&rec, logs[_i].files);
	ck_assert_msg(!strcmp(series_shown(&rec, logs[_i].series), logs[_i].shown), "%s: %s",
		      logs[_i].what, series_shown(&rec, logs[_i].series));
	ck_assert_msg(!strcmp(warnings_shown(&rec), logs[_i].told), "%s: %s", logs[_i].what,
		      warnings_shown(&rec));
}

/* The real build */

/* One number that awk calculates from its files. */
static double by_awk(const char *program, const char *files)
{
	struct run r;
	double n;

	support_run(&r, GENUINE, "awk '%s' %s", program, files);
	ck_assert_int_eq(r.status, 0);
	n = strtod(r.out.data, NULL);
	return n;
}

#define ALL_TASKS "*/do_*"
#define SUM(field) (double)sum_of(&rec, offsetof(struct task, field))
#define BY_FIELDS(pattern, factor) by_awk(pattern " { s += $NF * " factor " } END { printf \"%.0f\", s }", \
					  ALL_TASKS)

static int64_t sum_of(const struct recording *rec, size_t offset)
{
	int64_t sum = 0;

	for (size_t i = 0; i < rec->n_tasks; i++)
		sum += *(const int64_t *)(const void *)((const char *)&rec->task[i] + offset);
	return sum;
}

static int64_t grown(const struct recording *rec, const char *series, const char *column)
{
	const struct series *s = recording_series(rec, series);
	int at;

	ck_assert_ptr_nonnull(s);
	at = recording_series_column(s, column);
	ck_assert_int_ge(at, 0);
	return s->level[(s->n - 1) * s->n_columns + (size_t)at] - s->level[at];
}

static void read_genuine(struct recording *rec)
{
	recorded_open(rec, GENUINE, &convert_formats);
	ck_assert_str_eq(warnings_shown(rec), "");
}

TEST(genuine_tasks)
{
	RELEASED(recording, rec = RECORDING_INIT);
	size_t image = 0;

	read_genuine(&rec);
	ck_assert_double_eq((double)rec.n_tasks, by_awk("/^Event/ { n++ } END { print n }", ALL_TASKS));
	ck_assert_double_eq(SUM(user_us), BY_FIELDS("/ru_utime/", "1e6"));
	ck_assert_double_eq(SUM(system_us), BY_FIELDS("/ru_stime/", "1e6"));
	ck_assert_double_eq(SUM(in_blocks), BY_FIELDS("/ read_bytes/", "1 / 512"));
	ck_assert_double_eq(SUM(out_blocks), BY_FIELDS("/ write_bytes/", "1 / 512"));
	ck_assert_double_eq(SUM(rchar), BY_FIELDS("/rchar/", "1"));
	ck_assert_double_eq_tol(SUM(end_us) - SUM(start_us),
		by_awk("/^Ended/ { s += $2 - 1795235111 } /^Started/ { s -= $2 - 1795235111 } "
		       "END { printf \"%.0f\", s * 1e6 }", ALL_TASKS), 100);
	ck_assert_double_eq_tol(SUM(start_us),
		by_awk("/^Started/ { s += $2 - 1795235111.24 } END { printf \"%.0f\", s * 1e6 }",
		       ALL_TASKS), 100);
	for (size_t i = 0; i < rec.n_tasks; i++) {
		ck_assert_int_eq(rec.task[i].state, TASK_DONE);
		ck_assert_uint_eq(rec.task[i].seq, i + 1);
		image += !strcmp(rec.task[i].kind, "image");
	}
	ck_assert_uint_eq(image, 1);
	ck_assert_str_eq(rec.task[0].key, "epoch-native-1_2.3+git0+abcdef1234-r0");
	ck_assert_str_eq(rec.task[0].name, "do_compile");
}

/* Seconds until the time in the first field of the next block, within the build. */
#define BLOCKS(sum) "NF == 1 { t = $1 - 1795235111.24; if (t < 0) t = 0; if (t > 44.49) t = 44.49; next } " \
	"NF { " sum " } END { printf \"%.0f\", s }"

TEST(genuine_samples)
{
	RELEASED(recording, rec = RECORDING_INIT);

	read_genuine(&rec);
	ck_assert_double_eq_tol((double)grown(&rec, "proc_stat", "user"),
		by_awk(BLOCKS("s += $1 * (t - last) * 1e6; last = t"), "reduced_proc_stat.log"), 50);
	ck_assert_double_eq_tol((double)grown(&rec, "proc_stat", "system"),
		by_awk(BLOCKS("s += $2 * (t - last) * 1e6; last = t"), "reduced_proc_stat.log"), 50);
	/* The rate of a block applies until the next block, the last one until the last
	 * sample. */
	ck_assert_double_eq_tol((double)grown(&rec, "proc_diskstats", "disk.written"),
		by_awk("NF == 1 { t = $1 - 1795235111.24; if (t < 0) t = 0; s += rate * (t - last); "
		       "last = t; next } NF { rate = $2 * 1024 / 100 } "
		       "END { printf \"%.0f\", s + rate * (44.49 - last) }",
		       "reduced_proc_diskstats.log"), 100);
	ck_assert_double_eq((double)grown(&rec, "proc_pressure", "cpu.some"),
		by_awk(BLOCKS("s += $4"), "reduced_proc_pressure/cpu.log"));
	ck_assert_double_eq((double)grown(&rec, "proc_pressure", "io.some"),
		by_awk(BLOCKS("s += $4"), "reduced_proc_pressure/io.log"));
	ck_assert_int_eq(grown(&rec, "proc_pressure", "memory.some"), 0);
	ck_assert_int_eq(grown(&rec, "proc_net", "eth0.rx"), 0);
	ck_assert_uint_eq(recording_series(&rec, "proc_net")->n_columns, 2);
	ck_assert_double_eq((double)grown(&rec, "proc_meminfo", "free"),
		by_awk("NF == 6 { if (!first) first = $2; s = $2 - first } END { print s }",
		       "reduced_proc_meminfo.log"));
}

TEST(genuine_build)
{
	static const struct { const char *key, *value; } keys[] = {
		{ "tool", "bitbake" }, { "host", "vm" }, { "kernel", "6.18.44-fc-v595" },
		{ "machine", "x86_64" }, { "memory_kb", "24684096" }, { "interval_ms", "1000" },
		{ "start_wall_ns", "1795235111240000000" }, { "start", "2026-11-21T04:25:11Z" },
		{ "end_us", "44490000" }, { "status", "0" }, { "tasks", "237" },
		{ "command", NULL }, { "cores", NULL },
	};
	RELEASED(recording, rec = RECORDING_INIT, build = RECORDING_INIT);
	struct error err;

	read_genuine(&rec);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		ck_assert_pstr_eq(recording_build(&rec, keys[i].key), keys[i].value);
	ck_assert_int_eq(rec.last_us, 44490000);
	ck_assert_int_eq(recording_read_build(&build, GENUINE, &convert_formats, &err), 0);
	ck_assert_int_eq(build.start_wall_ns, rec.start_wall_ns);
	ck_assert_int_eq(build.end_us, rec.end_us);
	ck_assert_str_eq(recording_build(&build, "status"), "0");
	ck_assert_uint_eq(build.n_tasks, 0);
}

/* Recognising */

static const struct { const char *files; bool here; } places[] = {
	{ BUILD, true },
	{ DONE, true },
	{ "== build_stats\nBuild Started: 1.00 \n", true },
	{ "== build_stats\n" DONE, true },
	{ "== build_stats\nsomething\n", false },
	{ "== a/b\nx\n", false },
	{ "== toasterstatlist\n{}\n", false },
	{ "== 20261121042511/build_stats\nHost Info: Linux\n", false },
	{ "== build\nbuildbeat build 2\n" DONE, false },
	{ "== a/x\n== b/x\nEvent: TaskStart\n", false },
};

TEST_EACH(recognised, places)
{
	const char *dir = write_files(places[_i].files);
	RELEASED(recording, rec = RECORDING_INIT);
	struct error err;
	int r = recording_read(&rec, dir, &convert_formats, &err);

	ck_assert_int_eq(!r && rec.source.one_core, places[_i].here);
	ck_assert_int_eq(recording_is_here(dir, &convert_formats), places[_i].here ||
			 strstr(places[_i].files, "buildbeat build") != NULL);
}

static const struct { const char *text, *name, *epoch, *version, *revision; } recipes[] = {
	{ "lib07-1.2-r0", "lib07", "", "1.2", "r0" },
	{ "epoch-native-1_2.3+git0+abcdef1234-r0", "epoch-native", "1", "2.3+git0+abcdef1234", "r0" },
	{ "gcc-cross-x86_64-13.2.0-r0.1", "gcc-cross-x86_64", "", "13.2.0", "r0.1" },
	{ "linux-yocto-6.6.21+git0+0d0_1-r12", "linux-yocto", "", "6.6.21+git0+0d0_1", "r12" },
	{ "a-_1-r0", "a", "", "_1", "r0" },
	{ "a-1_-r0", "a", "", "1_", "r0" },
	{ "a-r0", "a-r0", "", "", "" },
	{ "a-1-0", "a-1-0", "", "", "" },
	{ "-1-r0", "-1-r0", "", "", "" },
	{ "a--r0", "a--r0", "", "", "" },
	{ "recipe", "recipe", "", "", "" },
	{ "", "", "", "", "" },
};

TEST_EACH(recipe, recipes)
{
	struct recipe r;

	recipe_parse(&r, recipes[_i].text);
	ck_assert(slice_is(r.name, recipes[_i].name) && slice_is(r.epoch, recipes[_i].epoch) &&
		  slice_is(r.version, recipes[_i].version) &&
		  slice_is(r.revision, recipes[_i].revision));
}

/* Other files are skipped, except one in the place of a log. */
TEST(odd_files)
{
	const char *dir = write_files(BUILD DONE);
	struct recording rec = RECORDING_INIT;
	struct error err;

	support_expect(dir, 0, NULL, NULL,
		       "mkfifo a-1-r0/do_fetch && mkdir a-1-r0/do_install reduced_proc_stat.log"
		       " && ln -s /nonexistent a-1-r0/do_patch && ln -s . loop"
		       " && mkdir empty charts many-1-r0 && touch charts/cpu.svg && cd many-1-r0 && seq 500 | xargs touch");
	ck_assert_int_eq(recording_read(&rec, dir, &convert_formats, &err), -EISDIR);
	ck_assert_str_eq(err.path, support_path("%s/reduced_proc_stat.log", dir));
	recording_release(&rec);
	ck_assert_int_eq(rmdir(support_path("%s/reduced_proc_stat.log", dir)), 0);
	recorded_open(&rec, dir, &convert_formats);
	ck_assert_str_eq(tasks_shown(&rec), "a-1-r0:do_compile done 10000-12500");
	ck_assert_str_eq(warnings_shown(&rec), "64 files that are not bitbake's left out, the first "
			 "is many-1-r0/1");
	recording_release(&rec);
}

TEST_MAIN(oe);
