/* SPDX-License-Identifier: MIT */
#include "analyse/answer.h"
#include "base/array.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* Small builds with a known answer. Times are in ms. */

#define MS(n) #n "000"
#define BUILD "cwd: /src\ncores: 4\nstatus: 0\nend_us: "
#define BUILD2 "cwd: /src\ncores: 2\nstatus: 0\nend_us: "
#define OPEN(command) "open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\t" command "\n"
#define NINJA(command) "open\t0\tm\t10\t\t10\tninja\t1.11\t/src\t" command "\n"
#define START(n, at, name) "start\t" MS(at) "\tm." n "\t1" n "\t\t\t" name "\n"
#define SHELL(n, at, command) "start\t" MS(at) "\tm." n "\t1" n "\t\tshell\t\t$(shell)\t" command "\n"
#define AFTER(n, at, what) "after\t" MS(at) "\tm." n "\t" what "\n"
#define TOOK(n, at, cpu) "done\t" MS(at) "\tm." n "\t0\t" MS(cpu) "\t0\n"
#define COMMAND(n, at, name, command) "start\t" MS(at) "\tm." n "\t1" n "\t\t\t" name "\t\t" command "\n"
#define DONE(n, at) "done\t" MS(at) "\tm." n "\n"
#define RUN(n, from, to, name, what) START(n, from, name) AFTER(n, from, what) DONE(n, to)
#define POOL(n) "place\t0\tm." n "\tbuild.ninja\t7\tlink\t1\n"
#define STAT "buildbeat proc_stat 1 1000 user:10ms:c system:10ms:c load:0.01:g iowait:10ms:c\n"
#define EVERY_SECOND(n) "@0 \n@1000 " #n "\n@2000 " #n "\n@3000 " #n "\n@4000 " #n "\n@5000 " #n "\n@6000 " #n \
	"\n@7000 " #n "\n@8000 " #n "\n@9000 " #n "\n@10000 " #n "\n"
#define USAGE "buildbeat proc_tasks 1 1000 rss:1MiB:g cpu:10ms:c delay:1ms:c\n"
#define PRESSURE "buildbeat proc_pressure 1 1000 io.some:10ms:c memory.some:10ms:c\n"
#define VMSTAT "buildbeat proc_vmstat 1 1000 pswpout:1MiB:c oom_kill:1:c\n"

static const struct {
	const char *name;
	const char *build, *tasks, *stat, *pressure, *vmstat;
	const char *answer;	/* "about: text\n" for each sentence */
} cases[] = {
	{
		"a task that sleeps", BUILD "3110000\n",
		OPEN("make") COMMAND("1", 5, "all", "sleep 3") TOOK("1", 3005, 1), NULL, NULL, NULL,
		"waited: all slept (sleep) for 3.00 s of 3.11 s; it used 0.03 % of a CPU.\n",
	}, {
		"a task that computes does not sleep", BUILD "3110000\n",
		OPEN("make") COMMAND("1", 5, "all", "sleep 3") AFTER("1", 5, "x") TOOK("1", 3005, 100), NULL, NULL, NULL,
		"dependencies: all takes 3.00 s of 3.11 s, so more workers would help little.\n",
	}, {
		"nor one that others keep from computing", BUILD "10000000\nuser_us: 100000\nsystem_us: 0\n",
		OPEN("make") RUN("1", 5, 100, "gen", "x") COMMAND("2", 105, "all", "gcc") AFTER("2", 105, "gen") TOOK("2", 9990, 90),
		STAT "@0 \n@10000 3990\n", NULL, NULL,
		"dependencies: all takes 9.88 s of 10.0 s, so more workers would help little.\n",
	}, {
		"several wait, one after the other", BUILD "10000000\n",
		OPEN("make") COMMAND("1", 5, "one", "curl x") AFTER("1", 5, "x") TOOK("1", 4000, 1) COMMAND("2", 4000, "two", "./probe")
		TOOK("2", 7000, 1) COMMAND("3", 7000, "three", "./probe") TOOK("3", 9990, 1), NULL, NULL, NULL,
		"waited: 3 tasks waited, one after the other, for 9.98 s of 10.0 s and used 0.03 % of a CPU; one "
		"waited for the network (curl) for 4.00 s.\n"
		"workers: Ready tasks waited for a free worker 70 % of the time, with one task at a time on 4 cores: "
		"more workers (-j) would help; the longest chain of dependencies takes 4.00 s.\n",
	}, {
		"the longest task begins late", BUILD2 "10000000\n",
		OPEN("make -j2") RUN("1", 5, 1000, "a", "a.c") RUN("2", 5, 1000, "b", "b.c")
		RUN("3", 1000, 2000, "c", "c.c") RUN("4", 1000, 2000, "d", "d.c") RUN("5", 2000, 3000, "e", "e.c")
		RUN("6", 2000, 3000, "f", "f.c") RUN("7", 3000, 4000, "g", "g.c") RUN("8", 3001, 9900, "lvm.o", "lvm.c")
		RUN("9", 9900, 9990, "lua", "lvm.o"), STAT EVERY_SECOND(190), NULL, NULL,
		"late: The longest task, lvm.o (6.90 s), started as 8th of 9, at 3.00 s; it ran for 6.00 s after all others "
		"had ended.\n",
	}, {
		"one of many equal tasks is always last", BUILD2 "10000000\n",
		OPEN("make -j2") RUN("1", 5, 2500, "a", "a.c") RUN("2", 5, 2500, "b", "b.c")
		RUN("3", 2500, 5000, "c", "c.c") RUN("4", 2500, 5000, "d", "d.c") RUN("5", 5000, 7500, "e", "e.c")
		RUN("6", 5000, 7500, "f", "f.c") RUN("7", 7500, 9990, "g", "g.c"), STAT EVERY_SECOND(190), NULL, NULL,
		"alone: g ran alone for 2.49 s of 10.0 s.\n",
	}, {
		"a short prerequisite runs late", BUILD2 "10000000\n",
		OPEN("make -j2") RUN("1", 5, 2000, "a", "a.c") RUN("2", 5, 2000, "b", "b.c")
		RUN("3", 2000, 4000, "c", "c.c") RUN("4", 2000, 4000, "d", "d.c") RUN("5", 4000, 6000, "e", "e.c")
		RUN("6", 4000, 6000, "f", "f.c") RUN("7", 6000, 7900, "g", "g.c") RUN("8", 6000, 6200, "browse_py.h", "browse.py")
		RUN("9", 6200, 9900, "browse.o", "browse_py.h") "start\t" MS(9900) "\tm.10\t110\t\t\tninja\n"
		"after\t" MS(9900) "\tm.10\ta\tg\tbrowse.o\n" "done\t" MS(9990) "\tm.10\n", STAT EVERY_SECOND(190), NULL, NULL,
		"late: browse_py.h (200 ms) was ready at 0 s and ran at 6.00 s; tasks that need it ran for 2.00 s after "
		"all others had ended.\n",
	}, {
		"a prerequisite that could not run earlier", BUILD2 "10000000\n",
		OPEN("make -j2") RUN("1", 5, 6000, "a", "a.c") RUN("2", 5, 6000, "b", "b.c")
		RUN("3", 6000, 6200, "gen.h", "a") RUN("4", 6200, 9900, "gen.o", "gen.h"), STAT EVERY_SECOND(190), NULL, NULL,
		"dependencies: The longest chain of dependencies takes 9.90 s of 10.0 s, so more workers would help little; a is 6.00 s of it.\n"
		"alone: gen.o ran alone for 3.70 s of 10.0 s.\n",
	}, {
		"nothing to do, soon", BUILD "80000\n", OPEN("make -j4"), NULL, NULL, NULL,
		"current: Nothing was out of date: make ran no tasks.\n",
	}, {
		"nothing to do, with a probe and a make", BUILD "80000\n",
		OPEN("make -j4") SHELL("1", 5, "uname") DONE("1", 10) START("2", 15, "sub")
		"open\t" MS(20) "\tl\t78\t1\t78,12\tmake\t4.3\t/src/l\tmake\nclose\t" MS(30) "\tl\n" DONE("2", 35),
		NULL, NULL, NULL, "current: Nothing was out of date: make ran only makes, and these ran no tasks.\n",
	}, {
		"make -n does nothing in any case", BUILD "80000\n", OPEN("make -sn"), NULL, NULL, NULL, "",
	}, {
		"make that failed before its first task", "cwd: /src\ncores: 4\nstatus: 2\nend_us: 80000\n", OPEN("make"),
		NULL, NULL, NULL, "failed: The build failed with exit status 2 after 80 ms.\n",
	}, {
		"interrupted", "cwd: /src\ncores: 4\nsignal: 2\nend_us: 12900000\n",
		OPEN("make -j2") START("1", 5, "chrono-test.cc.o") "kill\t" MS(12890) "\tm.1\t2\n"
		START("2", 10, "b.o") "kill\t" MS(12891) "\tm.2\t2\n", NULL, NULL, NULL,
		"failed: The build was interrupted after 12.9 s; chrono-test.cc.o and b.o had run for 12.9 s.\n",
	}, {
		"interrupted, and the build tool fails", "cwd: /src\ncores: 4\nstatus: 2\nend_us: 12900000\n",
		OPEN("make -j2") START("1", 5, "chrono-test.cc.o") "kill\t" MS(12890) "\tm.1\t2\n", NULL, NULL, NULL,
		"failed: The build was interrupted after 12.9 s; chrono-test.cc.o had run for 12.9 s.\n",
	}, {
		"killed otherwise", "cwd: /src\ncores: 4\nsignal: 15\nend_us: 12900000\n",
		OPEN("make -j2") START("1", 5, "a.o") "kill\t" MS(12890) "\tm.1\t15\n", NULL, NULL, NULL,
		"failed: The build was killed by SIGTERM after 12.9 s; a.o had run for 12.9 s.\n",
	}, {
		"serial link-time optimisation", BUILD "10000000\nuser_us: 12000000\nsystem_us: 0\n",
		OPEN("make -j2") RUN("1", 5, 3000, "a.o", "a.c") RUN("2", 5, 3000, "b.o", "b.c")
		"start\t" MS(3000) "\tm.3\t77\t\tlink\tapp\t\tgcc -O2 -flto -o app a.o b.o\n" AFTER("3", 3000, "a.o") TOOK("3", 9990, 6900),
		STAT EVERY_SECOND(120), NULL, NULL,
		"alone: app ran alone for 6.99 s of 10.0 s while 20 core-seconds were idle: its link-time optimisation is serial, -flto=auto "
		"lets it use all cores.\n"
		"dependencies: The longest chain of dependencies takes 9.99 s of 10.0 s, so more workers would help little.\n",
	}, {
		"parallel link-time optimisation", BUILD "10000000\nuser_us: 12000000\nsystem_us: 0\n",
		OPEN("make -j2") RUN("1", 5, 3000, "a.o", "a.c") RUN("2", 5, 3000, "b.o", "b.c")
		"start\t" MS(3000) "\tm.3\t77\t\tlink\tapp\t\tgcc -O2 -flto=2 -o app a.o b.o\n" AFTER("3", 3000, "a.o") TOOK("3", 9990, 6900),
		STAT EVERY_SECOND(120), NULL, NULL,
		"alone: app ran alone for 6.99 s of 10.0 s while 20 core-seconds were idle.\n"
		"dependencies: The longest chain of dependencies takes 9.99 s of 10.0 s, so more workers would help little.\n",
	}, {
		"a task that is a parallel script", BUILD "10000000\nuser_us: 30000000\nsystem_us: 0\n",
		OPEN("make") COMMAND("1", 5, "all", "./build.sh") TOOK("1", 9990, 30000), STAT "@0 \n@10000 3100\n", NULL, NULL, "",
	}, {
		"busy cores, and what for", BUILD "10000000\nuser_us: 36000000\nsystem_us: 0\n",
		OPEN("make -j4") COMMAND("1", 5, "a.o", "gcc -c a.c") TOOK("1", 9900, 9000) COMMAND("2", 5, "b.o", "gcc -c b.c") TOOK("2", 9900, 9000)
		COMMAND("3", 5, "c.o", "gcc -c c.c") TOOK("3", 9900, 9000) COMMAND("4", 5, "d", "./d") TOOK("4", 9990, 9000),
		STAT "@0 \n@10000 3700\n", NULL, NULL,
		"cores: The build used 90 % of 4 cores, 75 % of that in tasks of kind compile, so more workers would help little.\n",
	}, {
		"idle cores, and no dependencies", BUILD "10000000\n",
		"open\t0\tm\t10\t\t10\thost\t1\t/src\thost\n" START("1", 5, "a") DONE("1", 9990) START("2", 5, "b") DONE("2", 9990),
		STAT "@0 \n@10000 2000\n", NULL, NULL,
		"unused: The cores were idle 50 % of the time; 2.0 tasks ran at once on average, 2 at most.\n",
	}, {
		"idle cores explain more than disks", BUILD "10000000\n",
		"open\t0\tm\t10\t\t10\thost\t1\t/src\thost\n" START("1", 5, "a") DONE("1", 9990) START("2", 5, "b") DONE("2", 9990),
		STAT "@0 \n@10000 2400\n", PRESSURE "@0 \n@10000 110\n", NULL,
		"unused: The cores were idle 40 % of the time; 2.0 tasks ran at once on average, 2 at most.\n"
		"disk: Programs waited for disks 11 % of the time.\n",
	}, {
		"disks explain more than idle cores", BUILD "10000000\n",
		"open\t0\tm\t10\t\t10\thost\t1\t/src\thost\n" START("1", 5, "a") DONE("1", 9990) START("2", 5, "b") DONE("2", 9990),
		STAT "@0 \n@10000 2800\n", PRESSURE "@0 \n@10000 510\n", NULL, "disk: Programs waited for disks 51 % of the time.\n",
	}, {
		"busy cores, and no dependencies", BUILD "10000000\n",
		"open\t0\tm\t10\t\t10\thost\t1\t/src\thost\n" START("1", 5, "a") DONE("1", 9990) START("2", 5, "b") DONE("2", 9990),
		STAT "@0 \n@10000 3500\n", NULL, NULL, "",
	}, {
		"a short build", BUILD "1900000\n",
		OPEN("make -j4") RUN("1", 5, 100, "a", "a.c") RUN("2", 5, 1800, "b", "b.c"),
		NULL, NULL, NULL, "",
	}, {
		"nothing stands out: the work of four cores, on four cores",
		BUILD "10000000\nuser_us: 39000000\nsystem_us: 500000\n",
		OPEN("make -j4") RUN("1", 5, 9900, "a", "a.c") RUN("2", 5, 9950, "b", "b.c")
		RUN("3", 5, 9900, "c", "c.c") RUN("4", 5, 9900, "d", "d.c"),
		STAT "@0 \n@10000 3900,50\n", NULL, NULL,
		"cores: The build used 99 % of 4 cores, so more workers would help little.\n",
	}, {
		"alone, while cores are idle", BUILD "10000000\nuser_us: 15000000\nsystem_us: 0\n",
		OPEN("make -j4") RUN("1", 5, 2000, "a", "a.c") RUN("2", 5, 2000, "b", "b.c")
		RUN("3", 5, 2000, "c", "c.c") RUN("4", 5, 2000, "d", "d.c")
		RUN("5", 2000, 9000, "corpus.idx", "a") RUN("6", 9000, 9990, "prog", "corpus.idx"),
		STAT "@0 \n@2000 800\n@9000 700\n@10000 100\n", NULL, NULL,
		"alone: corpus.idx ran alone for 7.00 s of 10.0 s while 21 core-seconds were idle.\n"
		"dependencies: The longest chain of dependencies takes 9.99 s of 10.0 s, so more workers "
		"would help little.\n",
	}, {
		"a failure, early", "cwd: /src\ncores: 4\nstatus: 2\nend_us: 1200000\n",
		OPEN("make -j4") RUN("1", 5, 900, "a.o", "a.c") START("2", 10, "lib/bad.o")
		"fail\t" MS(1100) "\tm.2\t1\n" START("3", 10, "c.o") "kill\t" MS(1150) "\tm.3\t15\n",
		NULL, NULL, NULL,
		"failed: The build failed with exit status 2 after 1.20 s; bad.o failed (exit 1) after "
		"1.10 s.\n",
	}, {
		"a failure, late: what did not run is not known",
		"cwd: /src\ncores: 4\nstatus: 2\nend_us: 10000000\n",
		OPEN("make -j4") START("1", 5, "bad.o") "fail\t" MS(1100) "\tm.1\t1\n"
		RUN("2", 5, 9990, "b.o", "b.c"), NULL, NULL, NULL,
		"failed: The build failed with exit status 2 after 10.0 s; bad.o failed (exit 1) after "
		"1.10 s.\nalone: b.o ran alone for 8.89 s of 10.0 s.\n",
	}, {
		"a setscene task stops no build, and the end of a killed task is a bound",
		"cwd: /src\ncores: 4\nstatus: 1\nend_us: 1200000\n",
		"open\t0\tm\t9\t0\t9\tbitbake\t2.8\t/src\tbitbake\n"
		"start\t5000\tm.1\t11\t\tsetscene\tdo_a_setscene\nfail\t" MS(500) "\tm.1\t1\n"
		START("2", 10, "bad") "kill\t" MS(1100) "\tm.2\t9\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t1\n"
		START("3", 10, "c") "fail\t" MS(1150) "\tm.3\t1\n", NULL, NULL, NULL,
		"failed: The build failed with exit status 1 after 1.20 s; bad was killed (SIGKILL) "
		"after at most 1.10 s.\n",
	}, {
		"an answer of a probe is no failure", "cwd: /src\ncores: 4\nstatus: 2\nend_us: 1200000\n",
		OPEN("make") SHELL("1", 5, "grep x") "fail\t" MS(10) "\tm.1\t1\n"
		START("2", 10, "bad") "fail\t" MS(1150) "\tm.2\t1\n", NULL, NULL, NULL,
		"failed: The build failed with exit status 2 after 1.20 s; bad failed (exit 1) after 1.15 s.\n",
	}, {
		"unless make stopped because of it", "cwd: /src\ncores: 4\nstatus: 2\nend_us: 1200000\n",
		OPEN("make") RUN("1", 5, 1000, "a", "b") SHELL("2", 1010, "which gcc") "fail\t" MS(1150) "\tm.2\t3\n",
		NULL, NULL, NULL,
		"failed: The build failed with exit status 2 after 1.20 s; which gcc said no (exit 3) after 1.15 s.\n",
	}, {
		"one worker, one long task", BUILD "10000000\n",
		OPEN("make") RUN("1", 5, 9500, "a", "a.c") RUN("2", 9500, 9990, "b", "b.c"),
		NULL, NULL, NULL,
		"dependencies: a takes 9.49 s of 10.0 s, so more workers would help little.\n",
	}, {
		"one worker, idle cores", BUILD "10000000\nuser_us: 9000000\nsystem_us: 0\n",
		OPEN("make") RUN("1", 5, 2500, "a", "a.c") RUN("2", 2500, 5000, "b", "b.c")
		RUN("3", 5000, 7500, "c", "c.c") RUN("4", 7500, 9990, "d", "a"),
		STAT EVERY_SECOND(90), NULL, NULL,
		"workers: Ready tasks waited for a free worker 75 % of the time, with one task at a time "
		"while 3.1 of 4 cores were idle: more workers (-j) would help; the longest chain of "
		"dependencies takes 4.99 s.\n",
	}, {
		"busy cores", BUILD "10000000\nuser_us: 39000000\nsystem_us: 0\n",
		OPEN("make -j4") RUN("1", 5, 5000, "a", "a.c") RUN("2", 5, 5000, "b", "b.c")
		RUN("3", 5, 5000, "c", "c.c") RUN("4", 5, 5000, "d", "a.c")
		RUN("5", 5000, 9990, "e", "a.c") RUN("6", 5000, 9990, "f", "b.c")
		RUN("7", 5000, 9990, "g", "c.c") RUN("8", 5000, 9990, "h", "a.c"),
		STAT EVERY_SECOND(390), NULL, NULL, "cores: The build used 98 % of 4 cores, so more workers would help little.\n",
	}, {
		"busy cores, as the build counts them", BUILD "10000000\nuser_us: 39000000\nsystem_us: 0\n",
		OPEN("make -j2") RUN("1", 5, 5000, "a", "a.c") RUN("2", 5, 5000, "b", "b.c")
		RUN("3", 5000, 9990, "c", "c.c") RUN("4", 5000, 9990, "d", "a.c"),
		STAT EVERY_SECOND(90), NULL, NULL, "cores: The build used 98 % of 4 cores, so more workers would help little.\n",
	}, {
		"more workers than cores, which are busy", BUILD "10000000\nuser_us: 30000000\nsystem_us: 0\n",
		OPEN("make -j2") RUN("1", 5, 5000, "a", "a.c") RUN("2", 5, 5000, "b", "b.c")
		RUN("3", 5000, 9990, "c", "c.c") RUN("4", 5000, 9990, "d", "a.c"),
		STAT EVERY_SECOND(330), NULL, NULL, "",
	}, {
		"other processes", BUILD "10000000\nuser_us: 9000000\nsystem_us: 0\n",
		OPEN("make -j4") RUN("1", 5, 9990, "a", "a.c") RUN("2", 5, 9980, "b", "b.c"),
		STAT "@0 \n@10000 3500,490\n", NULL, NULL,
		"others: Other processes used 77 % of the CPU time, this build 22 %.\n"
		"dependencies: a takes 9.98 s of 10.0 s, so more workers would help little.\n",
	}, {
		"other processes, on a core that the build has no use for", BUILD2 "10000000\nuser_us: 9900000\nsystem_us: 0\n",
		OPEN("make -j2") RUN("1", 5, 9990, "a", "a.c"), STAT EVERY_SECOND(195), NULL, NULL,
		"dependencies: a takes 9.98 s of 10.0 s, so more workers would help little.\n",
	}, {
		"other processes, before the end", "cwd: /src\ncores: 4\n",
		OPEN("make -j4") START("1", 5, "a") "done\t" MS(9980) "\tm.1\t0\t4500000\t0\n"
		START("2", 5, "b") "done\t" MS(9990) "\tm.2\t0\t4000000\t500000\n",
		STAT "@0 \n@10000 3500,490\n", NULL, NULL,
		"others: Other processes used 77 % of the CPU time, this build 22 %.\n",
	}, {
		"other processes that take nothing from the build",
		BUILD "10000000\nuser_us: 9000000\nsystem_us: 0\n",
		OPEN("make -j4") RUN("1", 5, 4990, "a", "a.c") RUN("2", 5, 9980, "b", "b.c"),
		STAT "@0 \n@10000 2000,0\n", NULL, NULL,
		"dependencies: b takes 9.97 s of 10.0 s, so more workers would help little.\n",
	}, {
		"other processes, while the build sleeps",
		BUILD "10000000\nuser_us: 20000\nsystem_us: 0\n",
		OPEN("make -j4") RUN("1", 5, 4000, "a", "a.c") RUN("2", 5, 4000, "b", "b.c")
		RUN("3", 5, 4000, "c", "c.c") RUN("4", 5, 9990, "d", "d.c"),
		STAT "@0 \n@10000 3900,50\n", NULL, NULL,
		"dependencies: d takes 9.98 s of 10.0 s, so more workers would help little.\n",
	}, {
		"no dependencies, few tasks at the end", "cwd: /src\nstatus: 0\nend_us: 10000000\n",
		"open\t0\tm\t10\t\t10\thost\t1\t/src\thost\n" START("1", 5, "a") DONE("1", 5000)
		START("2", 5, "b") DONE("2", 5000) START("3", 5, "c") DONE("3", 5000)
		START("4", 5, "d") DONE("4", 7000) START("5", 5000, "e") DONE("5", 9000)
		START("6", 7000, "f") DONE("6", 9990), NULL, NULL, NULL,
		"few: At most 2 tasks ran at a time in the last 5.00 s of 10.0 s, e for 4.00 s of that; before that, up to 4.\n",
	}, {
		"no dependencies: nothing about workers", BUILD "10000000\n",
		"open\t0\tm\t10\t\t10\thost\t1\t/src\thost\n" START("1", 5, "a") DONE("1", 5000)
		START("2", 5, "b") DONE("2", 5000) START("3", 5000, "c") DONE("3", 9900)
		START("4", 5000, "d") DONE("4", 9900), NULL, NULL, NULL, "",
	}, {
		"a limit of the load", BUILD "10000000\n",
		OPEN("make -j8 -l2") RUN("1", 5, 9990, "a", "a.c") RUN("2", 5, 9990, "b", "b.c")
		RUN("3", 6000, 9000, "c", "a.c") RUN("4", 6000, 9000, "d", "b.c"),
		STAT "@0 ,,300\n@10000 ,,300\n", NULL, NULL,
		"dependencies: a takes 9.98 s of 10.0 s, so more workers would help little.\n"
		"load: Ready tasks waited for the limit of the load average (-l) 60 % of the time.\n",
	}, {
		"a pool of one", BUILD "10000000\n",
		NINJA("ninja -j8") RUN("1", 5, 5000, "a", "a.c") POOL("1") RUN("2", 5, 3000, "b", "b.c")
		RUN("3", 5001, 9990, "c", "c.c") POOL("3") RUN("4", 5, 9000, "d", "d.c"),
		NULL, NULL, NULL,
		"dependencies: d takes 8.99 s of 10.0 s, so more workers would help little.\n"
		"pool: Ready tasks waited for a pool 50 % of the time, longest for link (depth 1).\n",
	}, {
		"memory and disks", BUILD "20000000\nuser_us: 20000000\nsystem_us: 0\n",
		"open\t0\tm\t10\t\t10\thost\t1\t/src\thost\n" START("1", 5, "a") DONE("1", 19000)
		START("2", 5, "b") DONE("2", 19000),
		NULL, PRESSURE "@0 \n@20000 800,300\n", VMSTAT "@0 \n@20000 700\n",
		"disk: Programs waited for disks 40 % of the time.\n"
		"memory: Memory was short: 700 MiB were swapped out, and programs waited for memory 15 % "
		"of the time.\n",
	}, {
		"memory that ran out", BUILD "5000000\n",
		"open\t0\tm\t10\t\t10\thost\t1\t/src\thost\n" START("1", 5, "a") DONE("1", 4900)
		START("2", 5, "b") DONE("2", 4900), NULL, NULL, VMSTAT "@0 \n@5000 0,2\n",
		"memory: Memory ran out: the kernel killed 2 processes.\n",
	}, {
		"no task at all for long", BUILD "10000000\n",
		"open\t0\tm\t10\t\t10\thost\t1\t/src\thost\n" START("1", 4000, "a") DONE("1", 9900)
		START("2", 4000, "b") DONE("2", 9900), NULL, NULL, NULL,
		"nothing: No task ran for 4.10 s of 10.0 s, 4.00 s of that before the first one.\n",
	}, {
		"link-time optimisation",
		BUILD "10000000\nuser_us: 30000000\nsystem_us: 0\n",
		OPEN("make -j4") RUN("1", 5, 1000, "a.o", "a.c") RUN("2", 5, 1000, "b.o", "b.c")
		"start\t" MS(1000) "\tm.3\t77\t\tlink\tbin/app\n" AFTER("3", 1000, "a.o")
		"open\t" MS(2000) "\tl\t78\t1\t78,77\tmake\t4.3\t/src\tmake -f /tmp/x.mk -j4 all\n"
		"start\t" MS(2000) "\tl.1\t81\t\t\t/tmp/cc1.ltrans0.ltrans.o\ndone\t" MS(9500) "\tl.1\n"
		"start\t" MS(2000) "\tl.2\t82\t\t\t/tmp/cc1.ltrans1.ltrans.o\ndone\t" MS(9400) "\tl.2\n"
		"start\t" MS(2000) "\tl.3\t83\t\t\t/tmp/cc1.ltrans2.ltrans.o\ndone\t" MS(9500) "\tl.3\n"
		"close\t" MS(9500) "\tl\n" DONE("3", 9900),
		STAT "@0 \n@10000 3000\n", NULL, NULL,
		"lto: The link of app took 8.90 s of 10.0 s, in link-time optimisation (lto1).\n"
		"dependencies: The longest chain of dependencies takes 9.90 s of 10.0 s, so more workers "
		"would help little; the link of app is 7.50 s of it.\n",
	},
};

static void make(struct recorded *r, size_t i)
{
	const char *dir = support_tmpdir();
	const struct { const char *name, *header, *text; } files[] = {
		{ "build", "buildbeat build 1\nstart_wall_ns: 1000000000\nstart_mono_ns: 5\n",
		  cases[i].build },
		{ "tasks.log", "buildbeat tasks 1\n", cases[i].tasks },
		{ "proc_stat.log", "", cases[i].stat },
		{ "proc_pressure.log", "", cases[i].pressure },
		{ "proc_vmstat.log", "", cases[i].vmstat },
	};

	for (size_t k = 0; k < ARRAY_SIZE(files); k++) {
		if (files[k].text)
			support_writes(support_path("%s/%s", dir, files[k].name),
				       support_path("%s%s", files[k].header, files[k].text));
	}
	recorded_read(r, dir);
}

static void answer(struct answer *a, const struct recorded *r)
{
	RELEASED(chain, c);
	struct idle idle;

	ck_assert_int_eq(chain_make(&c, &r->sum), 0);
	idle_find(&idle, &r->rec);
	ck_assert_int_eq(answer_make(a, &r->sum, &c, &idle), 0);
	for (size_t i = 0; i < a->n; i++) {
		const struct answer_sentence *s = &a->sentence[i];

		ck_assert_int_ge(s->explains_us, 0);
		ck_assert_int_le(s->explains_us, r->sum.wall_us);
		ck_assert_int_le(s->from_us, s->until_us);
		ck_assert_int_le(s->until_us, r->sum.wall_us);
		ck_assert(s->task == NO_INDEX || task_ran(&r->rec.task[s->task]));
		ck_assert(c.waits.has_dependencies || (s->about != ANSWER_WORKERS &&
						 s->about != ANSWER_DEPENDENCIES));
		if (i && a->sentence[i - 1].about != ANSWER_FAILED)
			ck_assert_int_le(s->explains_us, a->sentence[i - 1].explains_us);
		for (size_t k = 0; k < i; k++)
			ck_assert_int_ne(s->about, a->sentence[k].about);
	}
}

TEST_EACH(known, cases)
{
	RELEASED(buf, text = BUF_INIT);
	RELEASED(recorded, r);
	RELEASED(answer, a);

	make(&r, (size_t)_i);
	answer(&a, &r);
	for (size_t i = 0; i < a.n; i++)
		buf_addf(&text, "%s: %s\n", answer_word[a.sentence[i].about], a.sentence[i].text);
	ck_assert_msg(!strcmp(buf_str(&text), cases[_i].answer), "%s:\n%s", cases[_i].name,
		      buf_str(&text));
}

/* A task that used next to no CPU waited for a core, or for something else. */
static const struct { const char *usage, *answer; } delays[] = {
	{ "@1000 0=m.1:1,0,10\n@2000 0:1,1,900\n@3000 0:1,1,900\n", NULL },
	{ "@1000 0=m.1:1,0,1\n@2000 0:1,1,2\n@3000 0:1,1,3\n", "all slept (sleep) for 3.00 s of 3.11 s; it used 0.33 % of a CPU." },
};

TEST_EACH(delay, delays)
{
	const char *dir = support_tmpdir();
	RELEASED(recorded, r);
	RELEASED(answer, a);

	support_writes(support_path("%s/build", dir), "buildbeat build 1\nstart_wall_ns: 1000000000\nstart_mono_ns: 5\n"
		       BUILD "3110000\n");
	support_writes(support_path("%s/tasks.log", dir), "buildbeat tasks 1\n" OPEN("make")
		       COMMAND("1", 5, "all", "sleep 3") AFTER("1", 5, "x") TOOK("1", 3005, 10));
	support_writes(support_path("%s/proc_tasks.log", dir), support_path(USAGE "%s", delays[_i].usage));
	recorded_read(&r, dir);
	answer(&a, &r);
	ck_assert_uint_eq(a.n, delays[_i].answer ? 1 : 0);
	if (a.n)
		ck_assert_str_eq(a.sentence[0].text, delays[_i].answer);
}

TEST(anything)
{
	for (unsigned i = 0; i < 60; i++) {
		struct recorded r;
		struct answer a;

		recorded_random(&r, 20u << i % 7, i);
		r.sum.wall_us *= 1 + i % 3;	/* as of a longer build */
		answer(&a, &r);
		answer_release(&a);
		recorded_release(&r);
	}
}

TEST_MAIN(answer);
