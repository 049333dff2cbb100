/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "convert/convert.h"
#include "convert/oe/oe.h"
#include "render/chart/panels.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* Panels of hand-written recordings, calculated by hand; and bins. */

#define BUILD "buildbeat build 1\nstart_wall_ns: 1000000000\nstart_mono_ns: 5\n"
#define STAT "buildbeat proc_stat 1 1000 user:10ms:c system:10ms:c running:1:g iowait:10ms:c " \
	"irq:10ms:c steal:10ms:c nice:10ms:c\n"
#define MEMINFO "buildbeat proc_meminfo 1 1000 free:1MiB:g available:1MiB:g cached:1MiB:g " \
	"buffers:1MiB:g slab:1MiB:g shmem:1MiB:g swap:1MiB:g total:1MiB:g\n"
#define DISK "buildbeat proc_diskstats 1 1000 a.written:1KiB:c a.busy:1ms:c a.read:1KiB:c "
#define TASKS "buildbeat tasks 1\n" \
	"open\t0\tm\t10\t0\t10,9\tmake\t4.3\t/src\tmake\n"
#define MIB 1048576LL

struct world {
	struct recording rec;
	struct summary sum;
	struct panels panels;
};

static void put(const char *dir, const char *file, const char *text)
{
	if (text)
		support_writes(support_path("%s/%s", dir, file), text);
}

static void read_world(struct world *w, const char *dir, bool oe)
{
	w->rec = (struct recording)RECORDING_INIT;
	recorded_open(&w->rec, dir, &convert_formats);
	if (oe)
		w->rec.source = oe_foreign.source;
	ck_assert_int_eq(summary_make(&w->sum, &w->rec), 0);
	ck_assert_int_eq(panels_make(&w->panels, &w->sum), 0);
}

static void release_world(struct world *w)
{
	panels_release(&w->panels);
	summary_release(&w->sum);
	recording_release(&w->rec);
}

static const struct band *find_band(const struct panel *p, const char *id)
{
	for (size_t i = 0; p && i < p->n_bands; i++) {
		if (!strcmp(p->band[i].id, id))
			return &p->band[i];
	}
	ck_abort_msg("no band %s", id);
}

/* "at 0 1000 4000!" (milliseconds, "!" a gap), then a line a band: its values, "." where
 * unknown, the largest and when, the mean and the total. */
static void dump(struct buf *b, const struct panel *p)
{
	buf_adds(b, "at");
	for (size_t i = 0; i < p->n; i++)
		buf_addf(b, " %lld%s", (long long)(p->time_us[i] / 1000), p->gap[i] ? "!" : "");
	buf_addc(b, '\n');
	for (size_t k = 0; k < p->n_bands; k++) {
		const struct band *band = &p->band[k];

		buf_addf(b, "%s%s", band->id, band->right ? ">" : "");
		for (size_t i = 1; i < p->n; i++) {
			if (band->value[i] == BAND_ABSENT)
				buf_adds(b, " .");
			else
				buf_addf(b, " %lld", (long long)band->value[i]);
		}
		buf_addf(b, "; %lld at %lld, %lld, %lld\n", (long long)band->max,
			 (long long)(band->max_us / 1000), (long long)band->mean,
			 (long long)band->total);
	}
	buf_addf(b, "%lld %lld %lld", (long long)p->ceiling, (long long)p->right_ceiling,
		 (long long)p->limit);
}

static const struct {
	const char *name;
	const char *build;	/* after BUILD */
	const char *file, *text;
	enum panel_id panel;
	const char *shown;	/* NULL: no such panel */
	bool oe;
	bool noted;
} cases[] = {
	{
		.name = "nice is user, interrupts are system; an unchanged stretch",
		.build = "cores: 2\nend_us: 4000000\n",
		.file = "proc_stat.log", .text = STAT "\n50,20,1,30,4,1,10\n+3 100\n",
		.panel = PANEL_CPU,
		.shown = "at 0 1000 3000 4000\n"
			 "user 3000 0 5000; 5000 at 3000, 2000, -1\n"
			 "system 1200 0 0; 1200 at 0, 300, -1\n"
			 "iowait 1500 0 0; 1500 at 0, 375, -1\n"
			 "steal 50 0 0; 50 at 0, 13, -1\n"
			 "10000 0 -1",
	}, {
		.name = "more ticks than time",
		.build = "cores: 1\nend_us: 2000000\n",
		.file = "proc_stat.log",
		.text = "buildbeat proc_stat 1 1000 user:10ms:c system:10ms:c\n\n70,60\n50,50\n",
		.panel = PANEL_CPU,
		.shown = "at 0 1000 2000\n"
			 "user 5384 5000; 5384 at 0, 5192, -1\n"
			 "system 4615 5000; 5000 at 1000, 4808, -1\n"
			 "10000 0 -1",
	}, {
		.name = "the last sample soon after another",
		.build = "cores: 1\nend_us: 1005000\n",
		.file = "proc_stat.log",
		.text = "buildbeat proc_stat 1 1000 user:10ms:c\n\n20\n@2000 10\n@2004 1\n",
		.panel = PANEL_CPU,
		.shown = "at 0 1000 2000\n"
			 "user 2000 1000; 2000 at 0, 1500, -1\n"
			 "10000 0 -1",
	}, {
		.name = "the last sample soon after another, build longer",
		.build = "cores: 1\nend_us: 2004000\n",
		.file = "proc_stat.log",
		.text = "buildbeat proc_stat 1 1000 user:10ms:c\n\n20\n@2000 10\n@2016 1\n",
		.panel = PANEL_CPU,
		.shown = "at 0 1000 2016\n"
			 "user 2000 1083; 2000 at 0, 1538, -1\n"
			 "10000 0 -1",
	}, {
		.name = "samples far beyond the end",
		.build = "cores: 1\nend_us: 1500000\n",
		.file = "proc_stat.log",
		.text = "buildbeat proc_stat 1 1000 user:10ms:c\n\n20\n30\n90\n90\n",
		.panel = PANEL_CPU,
		.shown = "at 0 1000 2000\n"
			 "user 2000 3000; 3000 at 1000, 2500, -1\n"
			 "10000 0 -1",
	}, {
		.name = "a gap",
		.build = "cores: 1\nend_us: 9000000\n",
		.file = "proc_stat.log",
		.text = "buildbeat proc_stat 1 1000 user:10ms:c\n\n20\n!8000 700\n40\n",
		.panel = PANEL_CPU,
		.shown = "at 0 1000 8000! 9000\n"
			 "user 2000 . 4000; 4000 at 8000, 3000, -1\n"
			 "10000 0 -1",
	}, {
		.name = "one sample", .build = "cores: 1\nend_us: 9000000\n",
		.file = "proc_stat.log", .text = STAT "20\n", .panel = PANEL_CPU,
	}, {
		.name = "nothing but a gap", .build = "cores: 1\nend_us: 9000000\n",
		.file = "proc_stat.log", .text = STAT "20\n!8000 1\n", .panel = PANEL_CPU,
	}, {
		.name = "no columns of ours", .build = "cores: 1\nend_us: 9000000\n",
		.file = "proc_stat.log",
		.text = "buildbeat proc_stat 1 1000 running:1:g\n1\n1\n1\n", .panel = PANEL_CPU,
	}, {
		.name = "200 cores",
		.build = "cores: 200\nend_us: 1000000\n",
		.file = "proc_stat.log",
		.text = "buildbeat proc_stat 1 1000 user:10ms:c\n\n19000\n", .panel = PANEL_CPU,
		.shown = "at 0 1000\nuser 9500; 9500 at 0, 9500, -1\n10000 0 -1",
	}, {
		.name = "cores not known: three were busy",
		.build = "end_us: 2000000\n",
		.file = "proc_stat.log",
		.text = "buildbeat proc_stat 1 1000 user:10ms:c system:10ms:c\n\n200,50\n30\n",
		.panel = PANEL_CPU, .noted = true,
		.shown = "at 0 1000 2000\n"
			 "user 6667 1000; 6667 at 0, 3834, -1\n"
			 "system 1667 0; 1667 at 0, 834, -1\n"
			 "10000 0 -1",
	}, {
		.name = "OpenEmbedded: shares as of one core",
		.build = "cores: 8\nend_us: 1000000\n", .oe = true,
		.file = "proc_stat.log",
		.text = "buildbeat proc_stat 1 1000 user:1ms:c system:1ms:c iowait:1ms:c\n\n"
			"600,200,100\n",
		.panel = PANEL_CPU,
		.shown = "at 0 1000\n"
			 "user 6000; 6000 at 0, 6000, -1\n"
			 "system 2000; 2000 at 0, 2000, -1\n"
			 "iowait 1000; 1000 at 0, 1000, -1\n"
			 "10000 0 -1",
	}, {
		.name = "a counter that starts anew with the sampler",
		.build = "cores: 1\nend_us: 4000000\n",
		.file = "proc_stat.log",
		.text = "buildbeat proc_stat 1 1000 user:10ms:c\n\n20\n30\n"
			"buildbeat proc_stat 1 1000 user:10ms:c\n@3000 \n10\n",
		.panel = PANEL_CPU,
		.shown = "at 0 1000 2000 3000 4000\n"
			 "user 2000 3000 0 1000; 3000 at 1000, 1500, -1\n"
			 "10000 0 -1",
	}, {
		/* used: 1000 - 600 - 250 - 20 - 30 + 50; cached: 250 - 50. Then 900 of 1000
		 * are free or cached twice, so that used is 0. */
		.name = "memory adds up; less than nothing is nothing",
		.build = "end_us: 3000000\n",
		.file = "proc_meminfo.log",
		.text = MEMINFO "600,700,250,20,30,50,,1000\n,,,,,,4\n300,-700,400,,,-50,-4\n",
		.panel = PANEL_MACHINE,
		.shown = "at 0 1000 2000\n"
			 "used 157286400 0; 157286400 at 0, 78643200, -1\n"
			 "cached 209715200 681574400; 681574400 at 2000, 445644800, -1\n"
			 "buffers 52428800 52428800; 52428800 at 0, 52428800, -1\n"
			 "available 734003200 0; 734003200 at 0, 367001600, -1\n"
			 "swap 4194304 0; 4194304 at 1000, 2097152, -1\n"
			 "1073741824 0 1048576000",
	}, {
		.name = "far more memory than is in use: what is available on the right",
		.build = "end_us: 1000000\n",
		.file = "proc_meminfo.log",
		.text = "buildbeat proc_meminfo 1 1000 free:1MiB:g available:1MiB:g cached:1MiB:g "
			"swap:1MiB:g total:1MiB:g\n900,980,60,,1000\n,,20\n",
		.panel = PANEL_MACHINE,
		.shown = "at 0 1000\n"
			 "used 20971520; 41943040 at 0, 20971520, -1\n"
			 "cached 83886080; 83886080 at 1000, 83886080, -1\n"
			 "available> 1027604480; 1027604480 at 0, 1027604480, -1\n"
			 "134217728 1073741824 1048576000",
	}, {
		.name = "OpenEmbedded's memory: slab, available unknown",
		.build = "end_us: 1000000\n", .oe = true,
		.file = "proc_meminfo.log",
		.text = "buildbeat proc_meminfo 1 1000 total:1KiB:g free:1KiB:g buffers:1KiB:g "
			"cached:1KiB:g\n2048,1024,128,256\n,-512\n",
		.panel = PANEL_MACHINE,
		.shown = "at 0 1000\n"
			 "used 1179648; 1179648 at 1000, 1179648, -1\n"
			 "cached 262144; 262144 at 0, 262144, -1\n"
			 "buffers 131072; 131072 at 0, 131072, -1\n"
			 "2097152 0 2097152",
	}, {
		.name = "the total alone shows nothing", .build = "end_us: 1000000\n",
		.file = "proc_meminfo.log",
		.text = "buildbeat proc_meminfo 1 1000 total:1KiB:g\n2048\n+2\n",
		.panel = PANEL_MACHINE,
	}, {
		.name = "disks come and go; the busiest; bytes in a gap count",
		.build = "end_us: 9000000\n",
		.file = "proc_diskstats.log",
		.text = DISK "b.written:1KiB:c b.busy:1ms:c b.read:1KiB:c\n\n"
			"100,200,10,50,300,1\n10,,,30,5\n"
			DISK "\n@3000 \n40,1500,2\n!8000 1000,1,\n@9000 1,,1\n",
		.panel = PANEL_DISK,
		.shown = "at 0 1000 2000 3000 4000 8000! 9000\n"
			 "read 11264 0 0 2048 . 1024; 11264 at 0, 2867, 14336\n"
			 "written 153600 40960 0 40960 . 1024; 153600 at 0, 47309, 1260544\n"
			 "busy> 3000 50 0 10000 . 0; 10000 at 3000, 2610, -1\n"
			 "196608 10000 -1",
	}, {
		.name = "OpenEmbedded's disks are corrected and said to be",
		.build = "end_us: 1000000\n", .oe = true, .noted = true,
		.file = "proc_diskstats.log",
		.text = "buildbeat proc_diskstats 1 1000 all.read:1KiB:c all.written:1KiB:c\n\n1,2\n",
		.panel = PANEL_DISK,
		.shown = "at 0 1000\nread 1024; 1024 at 0, 1024, 1024\n"
			 "written 2048; 2048 at 0, 2048, 2048\n3072 0 -1",
	}, {
		.name = "silence on the net is not drawn", .build = "end_us: 3000000\n",
		.file = "proc_net.log",
		.text = "buildbeat proc_net 1 1000 eth0.rx:1KiB:c eth0.tx:1KiB:c\n\n+3 \n",
		.panel = PANEL_NET,
	}, {
		.name = "pressure: 1.2 s of a second, and hardly any",
		.build = "end_us: 2000000\n",
		.file = "proc_pressure.log",
		.text = "buildbeat proc_pressure 1 1000 cpu.some:1ms:c io.some:1ms:c io.full:1ms:c "
			"memory.some:1ms:c memory.full:1ms:c\n\n1200,100,50\n300,10,1,1\n",
		.panel = PANEL_PRESSURE,
		.shown = "at 0 1000 2000\n"
			 "io_full 500 10; 500 at 0, 255, -1\n"
			 "cpu_some 10000 3000; 10000 at 0, 6500, -1\n"
			 "io_some 1000 100; 1000 at 0, 550, -1\n"
			 "memory_some 0 10; 10 at 1000, 5, -1\n"
			 "10000 0 -1",
	}, {
		.name = "low pressure is not drawn as if it were high",
		.build = "end_us: 1000000\n",
		.file = "proc_pressure.log",
		.text = "buildbeat proc_pressure 1 1000 cpu.some:1ms:c\n\n2\n", .panel = PANEL_PRESSURE,
		.shown = "at 0 1000\ncpu_some 20; 20 at 0, 20, -1\n1000 0 -1",
	}, {
		.name = "a control group on four cores",
		.build = "cores: 4\nend_us: 2000000\n",
		.file = "proc_cgroup.log",
		.text = "buildbeat proc_cgroup 1 1000 user:1ms:c system:1ms:c memory:1MiB:g "
			"throttled:1ms:c\n,,100\n1500,500,20\n100,,-40,400\n",
		.panel = PANEL_CGROUP,
		.shown = "at 0 1000 2000\n"
			 "memory 125829120 83886080; 125829120 at 1000, 104857600, -1\n"
			 "cpu> 5000 250; 5000 at 0, 2625, -1\n"
			 "throttled> 0 1000; 1000 at 1000, 500, -1\n"
			 "134217728 10000 -1",
	}, {
		.name = "a control group of which only memory is known",
		.build = "cores: 4\nend_us: 1000000\n",
		.file = "proc_cgroup.log",
		.text = "buildbeat proc_cgroup 1 1000 memory:1MiB:g\n100\n+1 \n",
		.panel = PANEL_CGROUP,
		.shown = "at 0 1000\nmemory 104857600; 104857600 at 0, 104857600, -1\n"
			 "134217728 0 -1",
	}, {
		.name = "numbers as large as they can be",
		.build = "cores: 1\nend_us: 1000000\n",
		.file = "proc_net.log",
		.text = "buildbeat proc_net 1 1000 a.rx:1GiB:c b.rx:1GiB:c a.tx:1B:c\n\n"
			"9223372036854775807,9223372036854775807,4503599627370496\n",
		.panel = PANEL_NET,
		.shown = "at 0 1000\n"
			 "rx 9223372036854775807; 9223372036854775807 at 0, 9223372036854775807, "
			 "9223372036854775807\n"
			 "tx 4503599627370496; 4503599627370496 at 0, 4503599627370496, "
			 "4503599627370496\n"
			 "9223372036854775807 0 -1",
	}, {
		.name = "running tasks: the one that hosts a make does not count",
		.build = "cores: 2\nend_us: 3000000\n",
		.file = "tasks.log",
		.text = TASKS
			"start\t500000\tm.1\t11\t\t\ta\t\tmake -C a\n"
			"open\t600000\tn\t12\t1\t12,11,10,9\tmake\t4.3\t/src/a\tmake\n"
			"start\t1000000\tn.1\t13\t\t\tb\t\tcc\n"
			"start\t1000000\tn.2\t14\t\t\tc\t\tcc\n"
			"start\t1500000\tn.3\t15\t\t\td\t\tcc\n"
			"done\t2000000\tn.1\t0\n"
			"done\t2000000\tn.2\t0\n"
			"done\t2500000\tn.3\t0\n"
			"close\t2600000\tn\n"
			"done\t2700000\tm.1\t0\n"
			"close\t2800000\tm\n",
		.panel = PANEL_RUNNING,
		.shown = "at 0 1000 1500 2000 2500 3000\n"
			 "tasks 0 200 300 100 0; 300 at 1500, 100, -1\n"
			 "300 0 200",
	}, {
		.name = "a task runs on beyond the end",
		.build = "end_us: 2000000\n",
		.file = "tasks.log",
		.text = TASKS "start\t0\tm.1\t11\t\t\ta\t\tcc\ndone\t5000000\tm.1\t0\n",
		.panel = PANEL_RUNNING,
		.shown = "at 0 2000\ntasks 100; 100 at 0, 100, -1\n100 0 -1",
	}, {
		.name = "no task", .build = "cores: 2\nend_us: 2000000\n",
		.file = "tasks.log", .text = TASKS "close\t2800000\tm\n", .panel = PANEL_RUNNING,
	}, {
		.name = "all in no time", .build = "cores: 2\nend_us: 0\n",
		.file = "tasks.log",
		.text = TASKS "start\t0\tm.1\t11\t\t\ta\t\tcc\ndone\t0\tm.1\t0\n",
		.panel = PANEL_RUNNING,
	},
};

TEST_EACH(worked_out_by_hand, cases)
{
	const char *dir = support_tmpdir();
	struct buf shown = BUF_INIT;
	const struct panel *p;
	struct world w;

	support_writes(support_path("%s/build", dir),
		       support_path("%s%s", BUILD, cases[_i].build));
	put(dir, cases[_i].file, cases[_i].text);
	read_world(&w, dir, cases[_i].oe);
	p = panels_find(&w.panels, cases[_i].panel);
	ck_assert_msg(!p == !cases[_i].shown, "%s", cases[_i].name);
	if (p) {
		dump(&shown, p);
		ck_assert_msg(!strcmp(buf_str(&shown), cases[_i].shown), "%s:\n%s\nnot\n%s",
			      cases[_i].name, buf_str(&shown), cases[_i].shown);
		ck_assert_int_eq(!!p->note, cases[_i].noted);
		ck_assert_int_eq(!!p->limit_label, p->limit >= 0);
	}
	buf_release(&shown);
	release_world(&w);
}

TEST(nothing_recorded)
{
	const char *dir = support_tmpdir();
	struct world w;

	put(dir, "build", "buildbeat build 1\n");
	read_world(&w, dir, false);
	ck_assert_uint_eq(w.panels.n, 0);
	release_world(&w);
}

/* tests/data/recordings/nested with the values of check_summary: show and the charts agree. */
TEST(as_in_the_summary)
{
	const struct panel *memory;
	const struct band *b;
	struct world w;
	struct bin all;

	read_world(&w, TOP_SRCDIR "/tests/data/recordings/nested", false);
	ck_assert_uint_eq(w.panels.n, PANEL_VOLUMES);
	for (size_t i = 0; i < w.panels.n; i++)
		ck_assert_int_eq(w.panels.panel[i].id, (enum panel_id)i);
	memory = panels_find(&w.panels, PANEL_MEMORY);
	b = find_band(memory, "task1");
	ck_assert_str_eq(b->label, "b");
	ck_assert_int_eq(b->max, 190 * MIB);
	panel_stack_bins(memory, 0, w.sum.wall_us, &all, 1);
	ck_assert_int_eq(all.max, 250 * MIB);
	b = find_band(panels_find(&w.panels, PANEL_DISK), "written");
	ck_assert_int_eq(b->total, (100 + 2000 + 500) * 1024);
	ck_assert_int_eq(find_band(panels_find(&w.panels, PANEL_DISK), "read")->total,
			 (50 + 24) * 1024);
	ck_assert_int_eq(find_band(panels_find(&w.panels, PANEL_CGROUP), "memory")->max, 900 * MIB);
	ck_assert_int_eq(find_band(panels_find(&w.panels, PANEL_RUNNING), "tasks")->max, 200);
	release_world(&w);
}

/* Many devices */

/* COUNT disks; in the second second, number i reads i KiB and is busy i ms. */
static void put_devices(const char *dir, unsigned count, const char *name, const char *columns[2])
{
	RELEASED(buf, b = BUF_INIT);

	buf_addf(&b, "buildbeat %s 1 1000", name);
	for (unsigned i = 0; i < count; i++)
		buf_addf(&b, " dev%u.%s dev%u.%s", i, columns[0], i, columns[1]);
	buf_adds(&b, "\n\n");
	for (unsigned i = 0; i < count; i++)
		buf_addf(&b, "%s%u,%u", i ? "," : "", i, i);
	buf_adds(&b, "\n");
	support_writes(support_path("%s/%s.log", dir, name), buf_str(&b));
}

TEST(many_devices)
{
	const char *dir = support_tmpdir();
	const struct panel *p;
	struct world w;

	put(dir, "build", BUILD "end_us: 1000000\ncores: 2\n");
	put_devices(dir, 60, "proc_diskstats", (const char *[]){ "read:1KiB:c", "busy:1ms:c" });
	put_devices(dir, 500, "proc_net", (const char *[]){ "rx:1KiB:c", "tx:1KiB:c" });
	read_world(&w, dir, false);
	p = panels_find(&w.panels, PANEL_DISK);
	ck_assert_int_eq(find_band(p, "read")->value[1], 60 * 59 / 2 * 1024);
	ck_assert_int_eq(find_band(p, "busy")->value[1], 590);
	p = panels_find(&w.panels, PANEL_NET);
	ck_assert_int_eq(find_band(p, "rx")->total, 500 * 499 / 2 * 1024);
	ck_assert_int_eq(find_band(p, "tx")->max, 500 * 499 / 2 * 1024);
	ck_assert_int_eq(p->ceiling, 256 * MIB);
	release_world(&w);
}

/* Any recording */

static uint64_t state = 88172645463325252;

static uint64_t draw(uint64_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

enum { SAMPLES = 400 };

struct memory_sample {
	int64_t time_ms, free, cached, buffers, slab, shmem;
};

/* Levels at times when the sampler was late. */
static void put_memory(const char *dir, struct memory_sample *m)
{
	RELEASED(buf, b = BUF_INIT);

	buf_adds(&b, "buildbeat proc_meminfo 1 1000 free:1MiB:g cached:1MiB:g buffers:1MiB:g "
		     "slab:1MiB:g shmem:1MiB:g total:1MiB:g\n");
	for (int i = 0; i < SAMPLES; i++, m++) {
		*m = (struct memory_sample){ i * 1000 + (int64_t)draw(400), (int64_t)draw(4000),
			(int64_t)draw(3000), (int64_t)draw(500), (int64_t)draw(500),
			(int64_t)draw(100) };
		buf_addf(&b, "@%lld =%lld,%lld,%lld,%lld,%lld,8000\n", (long long)m->time_ms,
			 (long long)m->free, (long long)m->cached, (long long)m->buffers,
			 (long long)m->slab, (long long)m->shmem);
	}
	support_writes(support_path("%s/proc_meminfo.log", dir), buf_str(&b));
}

TEST(memory_is_that_of_the_log)
{
	const char *dir = support_tmpdir();
	static struct memory_sample m[SAMPLES];
	const struct panel *p;
	struct world w;

	put(dir, "build", BUILD "end_us: 400000000\n");
	put_memory(dir, m);
	read_world(&w, dir, false);
	p = panels_find(&w.panels, PANEL_MACHINE);
	ck_assert_uint_eq(p->n, SAMPLES);
	ck_assert_int_eq(p->ceiling, 8192 * MIB);
	for (size_t i = 0; i < SAMPLES; i++) {
		int64_t used = find_band(p, "used")->value[i];
		int64_t cached = find_band(p, "cached")->value[i];
		int64_t buffers = find_band(p, "buffers")->value[i];

		ck_assert_int_eq(p->time_us[i], m[i].time_ms * 1000);
		ck_assert_int_eq(buffers, (m[i].buffers + m[i].slab) * MIB);
		ck_assert_int_eq(cached, m[i].cached > m[i].shmem ?
				 (m[i].cached - m[i].shmem) * MIB : 0);
		if (m[i].cached >= m[i].shmem)
			ck_assert_int_eq(used + cached + buffers + m[i].free * MIB, 8000 * MIB);
	}
	release_world(&w);
}

/* The running tasks of a build too large to draw every step: the maximum is right, and the
 * sum is kept. */
TEST(a_large_build_keeps_peaks_and_sums)
{
	const char *dir = support_tmpdir();
	const struct panel *p;
	struct buf b = BUF_INIT;
	struct world w;
	double sum = 0;

	buf_adds(&b, TASKS);
	for (int i = 1; i <= 20000; i++) {
		int64_t start = i * 1000 + (int64_t)draw(1000);

		buf_addf(&b, "start\t%lld\tm.%d\t11\t\t\ta\t\tcc\ndone\t%lld\tm.%d\t0\n",
			 (long long)start, i, (long long)(start + 1 + (int64_t)draw(9000)), i);
	}
	put(dir, "build", BUILD "cores: 2\nend_us: 20100000\n");
	put(dir, "tasks.log", buf_str(&b));
	buf_release(&b);
	read_world(&w, dir, false);
	p = panels_find(&w.panels, PANEL_RUNNING);
	ck_assert_uint_gt(w.sum.running.n, 20000);
	ck_assert_uint_le(p->n, 8001);
	ck_assert_int_eq(p->band[0].max, w.sum.running_max * 100);
	ck_assert_int_eq(p->time_us[0], 0);
	ck_assert_int_eq(p->time_us[p->n - 1], 20100000);
	for (size_t i = 1; i < p->n; i++) {
		ck_assert_int_gt(p->time_us[i], p->time_us[i - 1]);
		sum += (double)p->band[0].value[i] *
		       (double)(p->time_us[i] - p->time_us[i - 1]) / 100;
	}
	ck_assert_double_eq_tol(sum / (double)w.sum.running_sum_us, 1, 0.001);
	/* The time of the maximum is right. */
	ck_assert_int_eq(curve_integral(&w.sum.running, p->band[0].max_us, p->band[0].max_us + 1) <= w.sum.running_max, 1);
	release_world(&w);
}

/* Bins */

enum { POINTS = 60, BINS = 41 };

struct random_panel {
	struct panel panel;
	int64_t time_us[POINTS], value[3][POINTS];
	bool gap[POINTS];
};

static void make_random(struct random_panel *r, int64_t step)
{
	int64_t time = (int64_t)draw(1000);

	r->panel = (struct panel){ .n = POINTS, .time_us = r->time_us, .gap = r->gap,
		.n_bands = 3 };
	for (size_t i = 0; i < POINTS; i++, time += 1 + (int64_t)draw((uint64_t)step)) {
		r->time_us[i] = time;
		r->gap[i] = !draw(8);
		for (size_t k = 0; k < 3; k++)
			r->value[k][i] = r->gap[i] || !draw(6) ? BAND_ABSENT : (int64_t)draw(1000);
	}
	for (size_t k = 0; k < 3; k++)
		r->panel.band[k] = (struct band){ .value = r->value[k],
			.mark = k == 1 ? MARK_LINE : MARK_STACK };
}

static int64_t stacked(const struct random_panel *r, size_t i)
{
	int64_t a = r->value[0][i], b = r->value[2][i];

	return a == BAND_ABSENT ? b : b == BAND_ABSENT ? a : a + b;
}

/* By the definition, microsecond by microsecond where that is short. */
static struct bin expected(const struct random_panel *r, int band, int64_t from, int64_t until)
{
	struct bin bin = { BAND_ABSENT, BAND_ABSENT, BAND_ABSENT };
	int64_t sum = 0, known = 0;

	for (size_t i = 1; i < POINTS; i++) {
		int64_t v = band < 0 ? stacked(r, i) : r->value[band][i];
		int64_t begin = r->time_us[i - 1] > from ? r->time_us[i - 1] : from;
		int64_t end = r->time_us[i] < until ? r->time_us[i] : until;
		bool inside = from == until && r->time_us[i - 1] <= from && from < r->time_us[i];

		if (v == BAND_ABSENT || (begin >= end && !inside))
			continue;
		bin.min = bin.max == BAND_ABSENT || v < bin.min ? v : bin.min;
		bin.max = v > bin.max ? v : bin.max;
		sum += inside ? v : v * (end - begin);
		known += inside ? 1 : end - begin;
	}
	bin.mean = known ? (2 * sum + known) / (2 * known) : BAND_ABSENT;
	return bin;
}

static void check_bins(const struct random_panel *r, int64_t from, int64_t until)
{
	struct bin bin[BINS];

	for (int band = -1; band < 3; band++) {
		if (band < 0)
			panel_stack_bins(&r->panel, from, until, bin, BINS);
		else
			panel_bins(&r->panel, (size_t)band, from, until, bin, BINS);
		for (int64_t i = 0; i < BINS; i++) {
			struct bin e = expected(r, band, from + (until - from) * i / BINS,
						from + (until - from) * (i + 1) / BINS);

			/* Check's assertions are too slow here. */
			if (bin[i].min != e.min || bin[i].max != e.max || bin[i].mean != e.mean)
				ck_abort_msg("band %d bin %d: %lld %lld %lld", band, (int)i,
					     (long long)bin[i].min, (long long)bin[i].mean,
					     (long long)bin[i].max);
		}
	}
}

TEST(bins_are_exact)
{
	static struct random_panel r;

	for (unsigned round = 0; round < 200; round++) {
		int64_t end, from;

		make_random(&r, (int64_t[]){ 1, 3, 100, 1000000 }[draw(4)]);
		end = r.time_us[POINTS - 1] + 100;
		from = (int64_t)draw((uint64_t)end);
		check_bins(&r, 0, end);
		check_bins(&r, from, from + (int64_t)draw((uint64_t)(2 * end)));
		check_bins(&r, from, from + (int64_t)draw(50));
		check_bins(&r, r.time_us[7], r.time_us[9]);
	}
}

TEST(no_stack_no_bins)
{
	static struct random_panel r;
	struct bin bin[3] = { { 1, 1, 1 }, { 1, 1, 1 }, { 1, 1, 1 } };

	make_random(&r, 5);
	r.panel.band[0].mark = r.panel.band[2].mark = MARK_AREA;
	panel_stack_bins(&r.panel, 0, 100, bin, 3);
	for (size_t i = 0; i < 3; i++) {
		ck_assert_int_eq(bin[i].min, BAND_ABSENT);
		ck_assert_int_eq(bin[i].max, BAND_ABSENT);
	}
}

TEST_MAIN(panel);
