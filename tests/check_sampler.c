/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/clock.h"
#include "tests/machine.h"
#include "tests/recorded.h"
#include "tests/support.h"

#include <sys/resource.h>
#include <time.h>

#define LEVEL(log, column) machine_level(&m, log, column)
#define HAS(log, column) machine_has(&m, log, column)

TEST_GROUP("machines");

TEST(old_kernel)
{
	RELEASED(machine, m);

	machine_init(&m, "proc-nopsi");
	machine_start(&m, (struct sampler_options){ 0 });
	machine_set(&m, "proc/stat", "cpu  200 6 52 1000 23 5 7\nprocs_running 5\n"
		    "procs_blocked 2\n");
	machine_set(&m, "proc/vmstat", "pgpgin 12287\npgpgout 20480\npswpin 11\n"
		    "pswpout 20\npgmajfault 107\n");
	machine_sample(&m);
	machine_read(&m);
	machine_is(&m, "proc_stat", "user=100 nice=1 system=2 iowait=3 irq=9 steal=0 running=4 "
		   "blocked=2 load=1234");
	machine_is(&m, "proc_meminfo", "total=2000 free=1000 buffers=10 cached=500 dirty=2 "
		   "slab=30 swap=512 swap_total=1024 !available !shmem");
	ck_assert(!HAS("proc_pressure", NULL));
	ck_assert(!HAS("proc_cgroup", NULL));
	ck_assert(!HAS("proc_cores", NULL));
	machine_is(&m, "proc_vmstat", "!oom_kill");
	ck_assert_int_eq(LEVEL("proc_vmstat", "pgpgin"), 1);	/* 2047 KiB: not 2 MiB yet */
	machine_is(&m, "proc_vmstat", "pgmajfault=100");
	ck_assert_int_eq(LEVEL("proc_vmstat", "pswpin"), sysconf(_SC_PAGESIZE) / 1024);
	machine_is(&m, "proc_diskstats", "sda.written !sda1.written !dm-0.written");
	machine_is(&m, "proc_net", "eth0.rx !lo.rx");
}

TEST(nvme_dm_md)
{
	static const char *const counted[] = { "nvme0n1", "sda", "sdb", "sr0", "nbd0", "cciss/c0d0" };
	static const char *const left_out[] = { "loop0", "nvme0c0n1", "nvme0n1p1", "nvme0n1p2",
		"sda1", "md127", "dm-0", "zram0" };
	RELEASED(machine, m);

	machine_init(&m, "proc-nvme");
	machine_start(&m, (struct sampler_options){ 0 });
	machine_set(&m, "proc/diskstats",
		    " 259       2 nvme0n1p1 10 0 800 1 0 0 0 0 0 1 1 0 0 0 0 0 0\n"
		    " 259       1 nvme0n1 1003 0 80007 100 5004 0 162000 200 0 350 300 0 0 0 0 0 0\n"
		    "   8      32 sdc 7 0 14 1 7 0 14 1 0 1 1 0 0 0 0 0 0\n"
		    "   8      16 sdb 10 0 80 1 100 0 8000 1 0 1 1 0 0 0 0 0 0\n"
		    "   8       0 sda 10 0 82 1 100 0 800 1 0 1 1 0 0 0 0 0 0\n");
	machine_set(&m, "sys/block/sdc/device/", "");
	machine_sample(&m);
	machine_set(&m, "proc/diskstats",
		    "   8      32 sdc 7 0 18 1 7 0 24 1 0 1 1 0 0 0 0 0 0\n"
		    " 259       1 nvme0n1 1003 0 80008 100 5004 0 164001 200 0 350 300 0 0 0 0 0 0\n"
		    "   8       0 sda 0 0 2 1 100 0 0 1 0 1 1 0 0 0 0 0 0\n");
	machine_sample(&m);
	machine_read(&m);
	for (size_t i = 0; i < ARRAY_SIZE(counted); i++)
		ck_assert(HAS("proc_diskstats", support_path("%s.busy", counted[i])));
	for (size_t i = 0; i < ARRAY_SIZE(left_out); i++)
		ck_assert_msg(!HAS("proc_diskstats", support_path("%s.busy", left_out[i])),
			      "%s", left_out[i]);
	machine_is(&m, "proc_diskstats", "nvme0n1.read=4 nvme0n1.written=2000 nvme0n1.reads=3 "
		   "nvme0n1.writes=4 nvme0n1.busy=50");
	/* plugged in: counts from its first sample */
	machine_is(&m, "proc_diskstats", "sdc.written=5 sdc.read=2");
	/* replaced: its counters started again */
	machine_is(&m, "proc_diskstats", "sda.read=1 sda.written=0");
}

/* Intervals of a second or more, and large memory, have coarser units, which the columns
 * name. Counters do not lose remainders. */
TEST(coarse_units)
{
	static const char *const headers[] = {
		("buildbeat proc_diskstats 1 1000 sda.written:4KiB:c sda.busy:10ms:c"
		 " sda.writes:1:c sda.read:4KiB:c sda.reads:1:c\n"),
		"buildbeat proc_pressure 1 1000 cpu.some:10ms:c\n",
		"buildbeat proc_meminfo 1 1000 free:4MiB:g swap:1MiB:g total:4MiB:g swap_total:1MiB:g\n",
	};
	static const char *const names[] = { "proc_diskstats", "proc_pressure", "proc_meminfo" };
	RELEASED(machine, m);
	struct buf text;

	machine_init(&m, NULL);
	machine_set(&m, "sys/block/sda/device/", "");
	machine_set(&m, "proc/diskstats", " 8 0 sda 1 0 0 0 1 0 0 0 0 0 0\n");
	machine_set(&m, "proc/pressure/cpu", "some avg10=0.00 total=0\n");
	machine_set(&m, "proc/meminfo", "MemTotal: 24685000 kB\nMemFree: 8189 kB\n"
		    "SwapTotal: 4096 kB\nSwapFree: 3072 kB\n");
	machine_start(&m, (struct sampler_options){ .interval_ms = 1000 });
	machine_set(&m, "proc/diskstats", " 8 0 sda 1 0 13 0 1 0 7 0 0 19 0\n");
	machine_set(&m, "proc/pressure/cpu", "some avg10=0.00 total=9999\n");
	machine_sample(&m);
	machine_set(&m, "proc/diskstats", " 8 0 sda 1 0 17 0 1 0 8 0 0 20 0\n");
	machine_set(&m, "proc/pressure/cpu", "some avg10=0.00 total=19999\n");
	machine_sample(&m);
	machine_read(&m);
	machine_is(&m, "proc_diskstats", "sda.written=1 sda.read=2 sda.busy=2");
	machine_is(&m, "proc_pressure", "cpu.some=1");
	machine_is(&m, "proc_meminfo", "free=2 total=6027 swap=1");
	for (size_t i = 0; i < 3; i++) {
		support_read(&text, support_path("%s/%s.log", m.store.path, names[i]));
		ck_assert_msg(!strncmp(text.data, headers[i], strlen(headers[i])), "%.*s",
			      (int)strcspn(text.data, "\n"), text.data);
		buf_release(&text);
	}
}

static const char *vmstat_text(const char *before, unsigned in, unsigned faults)
{
	return support_path("%snr_free_pages 1\npgpgin %u\nnr_x 2\npgmajfault %u\n%s", before, in,
			    faults, "drop_pagecache 0\ndrop_slab 0\n");
}

/* Lines are first searched at their old places, then elsewhere. */
TEST_LOOP(lines_that_move, 5)
{
	char long_lines[2048] = "";
	const char *befores[] = { "", "nr_new 1\n", "", long_lines, "pgpgin_not 7\n" };
	unsigned n = (unsigned)_i + 1;
	RELEASED(machine, m);

	for (unsigned i = 0; i < 60; i++)
		strcat(long_lines, "nr_some_other_pages 123456\n");
	machine_init(&m, NULL);
	machine_set(&m, "proc/vmstat", vmstat_text("", 0, 100));
	machine_set(&m, "proc/meminfo", "MemTotal: 4096000 kB\nMemFree: 1024 kB\n");
	machine_start(&m, (struct sampler_options){ 0 });
	for (unsigned i = 1; i <= n; i++) {
		machine_set(&m, "proc/vmstat", vmstat_text(befores[i - 1], i * 1024, 100 + i));
		machine_set(&m, "proc/meminfo", support_path("%sMemTotal: 4096000 kB\nMemFree: %u kB\n",
			    i % 2 ? "MemFreed: 9 kB\nZ: 1 kB\n" : "", (i + 1) * 1024));
		machine_sample(&m);
	}
	machine_read(&m);
	ck_assert_int_eq(LEVEL("proc_vmstat", "pgpgin"), n);
	ck_assert_int_eq(LEVEL("proc_vmstat", "pgmajfault"), n);
	ck_assert_int_eq(LEVEL("proc_meminfo", "free"), n + 1);
}

/* The kernel calculates it every 5 s, which are 6 samples here. */
TEST(load_is_read_in_time)
{
	RELEASED(machine, m);

	machine_init(&m, NULL);
	machine_set(&m, "proc/stat", "cpu  200 6 52 1000 23 5 7\n");
	machine_set(&m, "proc/loadavg", "1.00 0.00 0.00 1/1 1\n");
	machine_start(&m, (struct sampler_options){ 0 });
	machine_set(&m, "proc/loadavg", "2.00 0.00 0.00 1/1 1\n");
	for (unsigned i = 0; i < 6; i++)
		machine_sample(&m);
	machine_read(&m);
	machine_is(&m, "proc_stat", "load=200");
}

/* A single disk is read from its own file; the list is searched for more now and then, and
 * when that disk is removed. */
TEST(disk_read_directly)
{
	RELEASED(machine, m);

	machine_init(&m, NULL);
	machine_set(&m, "sys/block/vda/device/", "");
	machine_set(&m, "sys/block/vda/stat", "  10 0 100 1 10 0 200 1 0 5 5 0 0 0 0\n");
	machine_set(&m, "proc/diskstats", " 7 0 loop0 1 0 1 1 1 0 1 1 0 1 1\n"
		    " 254 0 vda 10 0 100 1 10 0 200 1 0 5 5\n");
	machine_start(&m, (struct sampler_options){ 0 });
	machine_set(&m, "sys/block/vda/stat", "  12 0 110 1 11 0 240 1 0 8 5 0 0 0 0\n");
	machine_sample(&m);
	/* loop0 is removed, sda added: their lines move */
	machine_set(&m, "sys/block/sda/device/", "");
	machine_set(&m, "sys/block/sda/stat", "1 0 10 1 1 0 20 1 0 5 5\n");
	machine_set(&m, "proc/diskstats", " 254 0 vda 12 0 110 1 11 0 240 1 0 8 5\n"
		    " 8 0 sda 1 0 10 1 1 0 20 1 0 5 5\n");
	for (unsigned i = 0; i < 20; i++)
		machine_sample(&m);
	machine_set(&m, "sys/block/vda/stat", "  12 0 110 1 12 0 260 1 0 8 5 0 0 0 0\n");
	machine_set(&m, "sys/block/sda/stat", "1 0 10 1 1 0 30 1 0 5 5\n");
	machine_sample(&m);
	/* vda's own file fails */
	machine_set(&m, "sys/block/vda/stat", "");
	machine_set(&m, "proc/diskstats", " 254 0 vda 12 0 110 1 12 0 280 1 0 8 5\n"
		    " 8 0 sda 1 0 10 1 1 0 40 1 0 5 5\n");
	machine_sample(&m);
	machine_read(&m);
	machine_is(&m, "proc_diskstats", "vda.read=5 vda.reads=2 vda.written=40 vda.writes=2 "
		   "vda.busy=3 sda.written=10 !loop0.read");
}

TEST(xen_without_sys_block)
{
	RELEASED(machine, m);

	machine_init(&m, "proc-xvda");
	machine_start(&m, (struct sampler_options){ 0 });
	/* a 32-bit kernel's counter overflows */
	machine_set(&m, "proc/net/dev", "  eth0:    2432 0 0 0 0 0 0 0 205824 0 0 0 0 0 0 0\n");
	machine_sample(&m);
	machine_read(&m);
	machine_is(&m, "proc_diskstats", "xvda1.written xvdb.written !xvdb1.written "
		   "!nvme1n1p1.written mmcblk0.written !mmcblk0p1.written");
	ck_assert_int_eq(LEVEL("proc_net", "eth0.rx"), (2432 + 4294967296 - 4294960000) / 1024);
	machine_is(&m, "proc_net", "eth0.tx=1 !vif1.0.rx");
}

TEST(control_group_v1)
{
	RELEASED(machine, m);

	machine_init(&m, "proc-cgroup1");
	machine_start(&m, (struct sampler_options){ 0 });
	machine_set(&m, "sys/fs/cgroup/cpu,cpuacct/build/cpuacct.stat", "user 200\nsystem 51\n");
	machine_set(&m, "sys/fs/cgroup/cpu,cpuacct/build/cpu.stat", "throttled_time 7000001\n");
	machine_set(&m, "sys/fs/cgroup/blkio/build/blkio.throttle.io_service_bytes",
		    "8:0 Read 1025024\n8:0 Write 2053120\n253:0 Read 1025024\nTotal 0\n");
	machine_sample(&m);
	machine_read(&m);
	machine_is(&m, "proc_cgroup", "user=1000 system=10 throttled=2 memory=100 peak=200 "
		   "swap=10 read=1 written=5 !cpu.some");
}

TEST(container)
{
	RELEASED(machine, m);

	machine_init(&m, "proc-container");
	machine_start(&m, (struct sampler_options){ 0 });
	machine_set(&m, "sys/fs/cgroup/cpu.stat", "user_usec 2999999\nsystem_usec 1000999\n"
		    "throttled_usec 600000\n");
	machine_set(&m, "sys/fs/cgroup/memory.current", "536870912\n");
	machine_set(&m, "sys/fs/cgroup/io.stat", "8:0 rbytes=2097152 wbytes=3145728 rios=1\n"
		    "253:0 rbytes=2097152 wbytes=3145728 rios=1\n");
	machine_set(&m, "sys/fs/cgroup/io.pressure", "some avg10=0.00 total=12000\n"
		    "full avg10=0.00 total=7000\n");
	machine_set(&m, "proc/pressure/io", "some avg10=0.00 total=2001999\n"
		    "full avg10=0.00 total=2000999\n");
	machine_sample(&m);
	machine_read(&m);
	machine_is(&m, "proc_cgroup", "user=999 system=0 throttled=100 memory=512 peak=2048 "
		   "swap=0 read=1024 written=1024 io.some=10 io.full=5 memory.full");
	machine_is(&m, "proc_pressure", "io.some=1 io.full=0 !memory.some");
	machine_is(&m, "proc_net", "eth0.rx !docker0.rx !veth12ab.rx");
}

/* The same files without cgroup.type: those of the whole machine. */
TEST(root_group_is_not_ours)
{
	RELEASED(machine, m);

	machine_init(&m, "proc-container");
	ck_assert_int_eq(unlink(support_path("%s/sys/fs/cgroup/cgroup.type", m.dir)), 0);
	machine_start(&m, (struct sampler_options){ 0 });
	machine_read(&m);
	ck_assert(!HAS("proc_cgroup", NULL));
}

static int64_t own_us(void)
{
	struct timespec t;

	ck_assert_int_eq(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t), 0);
	return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* The CPU time is that of this process, since the sampler began. */
TEST(own_cost)
{
	RELEASED(machine, m);
	int64_t before_us = own_us(), begin_us, level;

	machine_init(&m, "proc-container");
	machine_set(&m, "proc/self/statm", "9000 2560 100 7 0 300 0\n");
	machine_start(&m, (struct sampler_options){ .own = own_open });
	begin_us = own_us();
	while (own_us() - begin_us < 50000)
		continue;
	machine_sample(&m);
	machine_read(&m);
	level = LEVEL("proc_own", "cpu") * 10;
	ck_assert_int_ge(level, 20000);
	ck_assert_int_le(level, own_us() - before_us);
	ck_assert_int_eq(LEVEL("proc_own", "memory"), 2560 * sysconf(_SC_PAGESIZE) >> 20);
}

TEST(all_interfaces)
{
	RELEASED(machine, m);

	machine_init(&m, "proc-container");
	machine_start(&m, (struct sampler_options){ .all_interfaces = true });
	machine_read(&m);
	machine_is(&m, "proc_net", "lo.tx veth12ab.tx");
}

static void add_cores(struct buf *b, unsigned n, unsigned busy)
{
	buf_addf(b, "cpu  %u 0 0 9000 0 0 0 0 0 0\n", busy * n);
	for (unsigned i = 0; i < n; i++)
		buf_addf(b, "cpu%u %u 0 %u 9000 7 0 0 5 0 0\n", i, busy, i);
	buf_adds(b, "intr 5000000");
	for (unsigned i = 0; i < 5000; i++)
		buf_addf(b, " %u", 1000000 + i);
	buf_adds(b, "\nctxt 1\nprocs_running 150\nprocs_blocked 3\nsoftirq 1 2 3\n");
}

static const unsigned core_counts[] = { 1, 200, 1024, 1500 };

TEST_EACH(many_cores_and_interrupts, core_counts)
{
	unsigned n = core_counts[_i];
	RELEASED(buf, before = BUF_INIT, after = BUF_INIT);
	RELEASED(machine, m);

	machine_init(&m, NULL);
	add_cores(&before, n, 10);
	add_cores(&after, n, 25);
	machine_set(&m, "proc/stat", before.data);
	machine_start(&m, (struct sampler_options){ .per_core = true });
	machine_set(&m, "proc/stat", after.data);
	machine_sample(&m);
	machine_read(&m);
	ck_assert_int_eq(LEVEL("proc_stat", "user"), 15 * n);
	machine_is(&m, "proc_stat", "running=149");
	machine_is(&m, "proc_cores", "cpu0=15");
	if (n > 1)
		machine_is(&m, "proc_cores", "cpu199=15");
	ck_assert(HAS("proc_cores", "others") == (n > 1024));
	if (n > 1024)
		ck_assert_int_eq(LEVEL("proc_cores", "others"), 15 * (n - 1024));
}

static void add_interfaces(struct buf *b, unsigned n, unsigned step)
{
	buf_adds(b, "Inter-| Receive | Transmit\n face |bytes\n");
	for (unsigned i = 0; i < n; i++)
		buf_addf(b, "p%us0:%u 1 0 0 0 0 0 0 %u 1 0 0 0 0 0 0\n", i,
			 i * 1024 + step * 2048, step * 1024);
}

TEST(many_interfaces)
{
	RELEASED(buf, before = BUF_INIT, after = BUF_INIT);
	RELEASED(machine, m);

	machine_init(&m, NULL);
	add_interfaces(&before, 500, 0);
	add_interfaces(&after, 500, 5);
	machine_set(&m, "proc/net/dev", before.data);
	machine_start(&m, (struct sampler_options){ 0 });
	machine_set(&m, "proc/net/dev", after.data);
	machine_sample(&m);
	machine_read(&m);
	/* the busiest ones have columns of their own */
	machine_is(&m, "proc_net", "p499s0.rx=10 p436s0.tx=5 !p435s0.rx");
	ck_assert_int_eq(LEVEL("proc_net", "others.rx"), (500 - 64) * 10);
	ck_assert_int_eq(LEVEL("proc_net", "others.tx"), (500 - 64) * 5);
}

TEST_GROUP("faults");

TEST(nothing_there)
{
	RELEASED(machine, m);

	machine_init(&m, NULL);
	machine_set(&m, "proc/stat", "nonsense\n");
	machine_set(&m, "proc/meminfo", "");
	machine_start(&m, (struct sampler_options){ .per_core = true, .tasks = true });
	ck_assert_int_eq(sampler_error(m.sampler), 0);
	machine_read(&m);
	ck_assert(!HAS("proc_stat", NULL));
	ck_assert(!HAS("proc_meminfo", NULL));
}

/* A file that fails for a while only loses its own samples. */
TEST(file_fails)
{
	RELEASED(machine, m);

	machine_init(&m, "proc-nopsi");
	machine_start(&m, (struct sampler_options){ 0 });
	machine_set(&m, "proc/stat", "");
	machine_sample(&m);
	machine_set(&m, "proc/stat", "cpu  150 5 50 1000 20 1 2\nprocs_running 3\n");
	machine_sample(&m);
	machine_read(&m);
	machine_is(&m, "proc_stat", "user=50");
	ck_assert_uint_eq(recording_series(&m.rec, "proc_stat")->n, 2);
	ck_assert_uint_eq(recording_series(&m.rec, "proc_meminfo")->n, 3);
}

/* A line that does not fit is removed again; later lines have levels. No assertion while the
 * limit applies: Check writes files, too. */
TEST(file_size_limit)
{
	struct sampler_options options = { .interval_ms = 1000 };
	struct rlimit old, small;
	struct buf text;
	RELEASED(machine, m);
	int r;

	machine_init(&m, "proc-nopsi");
	options.proc_root = support_path("%s/proc", m.dir);
	options.sys_root = support_path("%s/sys", m.dir);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	small = old;
	small.rlim_cur = 220;
	setrlimit(RLIMIT_FSIZE, &small);
	r = sampler_new(&m.sampler, m.store.dir_fd, m.store.start_ns, &options, NULL);
	for (unsigned i = 0; !r && i < 30; i++)
		machine_sample(&m);
	setrlimit(RLIMIT_FSIZE, &old);
	ck_assert_int_eq(r, 0);
	ck_assert_int_eq(sampler_error(m.sampler), -EFBIG);
	support_read(&text, support_path("%s/proc_stat.log", m.store.path));
	ck_assert_uint_gt(text.len, 150);
	ck_assert_uint_le(text.len, 220);
	ck_assert_int_eq(text.data[text.len - 1], '\n');
	buf_release(&text);
	machine_read(&m);
	ck_assert_uint_gt(recording_series(&m.rec, "proc_stat")->n, 2);
}

/* Another sampler continues the recording after a truncated line. */
TEST(second_sampler)
{
	RELEASED(machine, m);
	int fd;

	machine_init(&m, "proc-nopsi");
	machine_start(&m, (struct sampler_options){ 0 });
	machine_set(&m, "proc/stat", "cpu  200 5 50 1000 20 1 2\nprocs_running 1\n");
	machine_sample(&m);
	sampler_free(m.sampler);
	fd = open(support_path("%s/proc_stat.log", m.store.path), O_WRONLY | O_APPEND);
	ck_assert_int_eq(write(fd, "@99", 3), 3);
	close(fd);
	machine_start(&m, (struct sampler_options){ 0 });
	machine_set(&m, "proc/stat", "cpu  207 5 50 1000 20 1 2\nprocs_running 1\n");
	machine_sample(&m);
	sampler_free(m.sampler);
	m.sampler = NULL;
	recorded_open(&m.rec, m.store.path, NULL);
	machine_is(&m, "proc_stat", "user=107");
}

TEST(descriptors_run_out)
{
	struct rlimit old, few;
	RELEASED(machine, m);
	struct error err;
	struct sampler_options options = { .interval_ms = 1000, .tasks = true };

	machine_init(&m, "proc-nopsi");
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = old;
	few.rlim_cur = (rlim_t)dup(0) + 6;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	if (!sampler_new(&m.sampler, m.store.dir_fd, m.store.start_ns, &options, &err)) {
		sampler_take(m.sampler, true);
		ck_assert_int_eq(sampler_error(m.sampler), -EMFILE);
	}
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &old), 0);
}

/* A recording that began long ago, between two points of the clock's grid. */
TEST(grid)
{
	const int64_t interval_ns = 20000000;
	struct sampler_options options = { .interval_ms = 20 };
	RELEASED(machine, m);
	struct error err;
	int64_t start_ns, next_ns, last_ns = 0;

	machine_init(&m, "proc-nopsi");
	start_ns = m.store.start_ns - 1000000100;
	options.proc_root = support_path("%s/proc", m.dir);
	ck_assert_int_eq(sampler_new(&m.sampler, m.store.dir_fd, start_ns, &options, &err), 0);
	ck_assert_int_le(sampler_next_ns(m.sampler), clock_mono_ns());
	for (unsigned i = 0; i < 10; i++) {
		int64_t before_ns = clock_mono_ns();

		sampler_take(m.sampler, false);
		next_ns = sampler_next_ns(m.sampler);
		ck_assert_int_eq((next_ns - start_ns) % interval_ns, 0);
		ck_assert_int_gt(next_ns, before_ns);
		ck_assert_int_gt(next_ns, last_ns - 1);
		last_ns = next_ns;
		usleep(7000);
	}
}

/* Missed samples (the machine slept, the sampler was stopped): one log line has their time. */
TEST(gap)
{
	const struct series *s;
	RELEASED(machine, m);
	size_t gaps = 0;

	machine_init(&m, "proc-nopsi");
	machine_start(&m, (struct sampler_options){ .interval_ms = 10, .tasks = true });
	usleep(200000);
	machine_set(&m, "proc/stat", "cpu  200 5 50 1000 20 1 2\nprocs_running 1\n");
	sampler_take(m.sampler, false);
	machine_read(&m);
	s = recording_series(&m.rec, "proc_stat");
	for (size_t i = 0; i < s->n; i++)
		gaps += s->gap[i];
	ck_assert_uint_eq(gaps, 1);
	ck_assert(s->gap[s->n - 1]);
	machine_is(&m, "proc_stat", "user=100");
}

static const int64_t bad_intervals[] = { -1, 0, 9, 3600001 };

TEST_EACH(bad_interval, bad_intervals)
{
	struct sampler_options options = { .interval_ms = bad_intervals[_i] };
	struct sampler *s;
	struct error err;

	ck_assert_int_eq(sampler_new(&s, AT_FDCWD, 0, &options, &err), -EINVAL);
	ck_assert_ptr_null(s);
	sampler_free(s);
}

TEST_MAIN(sampler);
