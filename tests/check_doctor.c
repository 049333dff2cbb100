/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/make_host.h"
#include "tests/paths.h"
#include "tests/support.h"

/* `buildbeat doctor` on this machine, also with parts of it removed. */

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"

/* The line of a check: "state check text". */
static void assert_finding(const struct run *r, const char *state, const char *check,
			   const char *part)
{
	char head[64];
	const char *line;

	snprintf(head, sizeof head, "%-8s %-15s ", state, check);
	line = strstr(r->out.data, head);
	ck_assert_msg(line != NULL, "'%s' is not in:\n%s", head, r->out.data);
	line += strlen(head);
	ck_assert_msg(memmem(line, strcspn(line, "\n"), part, strlen(part)) != NULL,
		      "'%s' is not in:\n%s", part, r->out.data);
}

static void no_trace(void)
{
	support_expect(support_tmpdir(), ANY_STATUS, "", NULL, "ls -A");
}

TEST(all_is_well)
{
	struct run r;

	SKIP_IF(!make_host_can());
	support_run(&r, support_tmpdir(), BUILDBEAT " doctor");
	ck_assert_msg(r.status == 0, "%s", r.out.data);
	assert_finding(&r, "ok", "make", "its tasks are recorded");
	assert_finding(&r, "ok", "plugin", "buildbeat.so");
	assert_finding(&r, "ok", "proc_stat", "CPU: ");
	assert_finding(&r, "ok", "proc_meminfo", "memory: ");
	assert_finding(&r, "ok", "config", "no file");
	assert_finding(&r, "ok", "git", "no revision is recorded");
	if (support_has("remake"))
		assert_finding(&r, "ok", "remake", "its tasks are recorded");
	ck_assert_ptr_nonnull(strstr(r.out.data, "\nBuilds by make can be recorded here.\n"));
	ck_assert_str_eq(r.err.data, "");
	no_trace();
}

TEST(no_plugin)
{
	struct run r;

	support_run(&r, support_tmpdir(), BUILDBEAT " doctor --plugin /nonexistent.so");
	ck_assert_int_eq(r.status, 1);
	assert_finding(&r, "missing", "plugin", "/nonexistent.so");
	assert_finding(&r, "missing", "make", "but the plugin is missing");
	ck_assert_ptr_nonnull(strstr(r.out.data, "-> install all of buildbeat"));
}

TEST(not_a_plugin)
{
	struct run r;

	support_run(&r, support_tmpdir(), "echo text >x.so; " BUILDBEAT " doctor --plugin x.so; "
		    "e=$?; rm x.so; exit $e");
	ck_assert_int_eq(r.status, 1);
	assert_finding(&r, "missing", "plugin", "does not load");
}

TEST(no_make)
{
	struct run r;

	support_run(&r, support_tmpdir(), "PATH=/nonexistent " BUILDBEAT " doctor");
	ck_assert_int_eq(r.status, 1);
	assert_finding(&r, "missing", "make", "no make in PATH");
	assert_finding(&r, "ok", "proc_stat", "CPU: ");
	no_trace();
}

static const struct { const char *script, *state, *part; } makes[] = {
	{ "#!/bin/sh\nexit 1\n", "missing", "not a working GNU make" },
	{ "#!/bin/sh\necho version 3.81\necho features order-only\n", "missing",
	  "built without 'load'" },
	{ "#!/bin/sh\necho version 4.3\necho features overload preload\n", "missing",
	  "built without 'load'" },
	{ "#!/bin/sh\necho version 4.3\necho features load\n", "missing",
	  "the plugin does not work in it" },
};

TEST_EACH(other_makes, makes)
{
	const char *make = support_path("%s/make", support_tmpdir());
	struct run r;

	SKIP_IF(!make_host_can() && _i == 3);
	support_writes(make, makes[_i].script);
	chmod(make, 0755);
	support_run(&r, support_tmpdir(), "PATH=. " BUILDBEAT " doctor");
	ck_assert_int_eq(r.status, 1);
	assert_finding(&r, makes[_i].state, "make", makes[_i].part);
}

/* An empty element of PATH is the working directory. */
TEST(empty_path_element)
{
	const char *make = support_path("%s/make", support_tmpdir());
	struct run r;

	support_writes(make, "#!/bin/sh\nexit 1\n");
	chmod(make, 0755);
	support_run(&r, support_tmpdir(), "PATH=:/nonexistent " BUILDBEAT " doctor; rm make");
	assert_finding(&r, "missing", "make", "make: this is not a working GNU make");
}

/* The directory of the trial is removed if nothing can be written to it. */
TEST(full_disk)
{
	struct run r;

	support_run(&r, support_tmpdir(), "mkdir t; export TMPDIR=$PWD/t; trap '' XFSZ; "
		    "(ulimit -f 0; exec " BUILDBEAT " doctor) | cat; ls -A t; rmdir t");
	assert_finding(&r, "missing", "recording", "for the trial: File too large");
	ck_assert_ptr_null(strstr(r.out.data, "\nbuildbeat-doctor"));
	ck_assert_int_eq(r.status, 0);
	no_trace();
}

TEST(bad_places)
{
	struct run r;

	support_run(&r, support_tmpdir(), BUILDBEAT " doctor -d /proc/stats");
	ck_assert_int_eq(r.status, 1);
	assert_finding(&r, "missing", "output", "cannot be written below /proc");
	support_run(&r, support_tmpdir(), "ulimit -n 64; " BUILDBEAT " doctor");
	assert_finding(&r, "limited", "files", "64 files open");
	support_expect(support_tmpdir(), 2, NULL, "did you mean 'output'?",
		       "echo 'outptu: x' >buildbeat.yaml; "
		       BUILDBEAT " doctor; e=$?; rm buildbeat.yaml; exit $e");
	no_trace();
}

TEST(for_programs)
{
	SKIP_IF(!support_has("python3"));
	support_expect(support_tmpdir(), ANY_STATUS, "False ['missing'] True\n", NULL,
		       BUILDBEAT " doctor --json --plugin /nonexistent.so | "
		       "python3 -c 'import json, sys; d = json.load(sys.stdin); "
		       "print(d[\"able\"], [c[\"state\"] for c in d[\"checks\"] "
		       "if c[\"check\"] == \"plugin\"], "
		       "all(c[\"state\"] in (\"ok\", \"limited\", \"missing\") and c[\"finding\"] "
		       "for c in d[\"checks\"]))'");
}

/* Parts of the machine, hidden in a mount namespace; "" in the remedy: any. */
static const struct { const char *hide, *check, *part, *remedy; } hidden[] = {
	{ "mount -t tmpfs none /proc/pressure", "pressure", "is masked, as containers do",
	  "-> docker run --security-opt systempaths=unconfined, or podman run --security-opt unmask=" },
	{ "mount --bind /dev/null /proc/pressure/cpu", "pressure", "is masked, as containers do",
	  "-> docker run --security-opt systempaths=unconfined" },
	{ "mount -t tmpfs none proc && mkdir proc/empty && mount --bind proc/empty /proc/pressure",
	  "pressure", "is masked", "podman run" },
	{ "mount -t tmpfs none /sys/fs/cgroup && echo 50000 100000 >/sys/fs/cgroup/cpu.max && "
	  "echo 104857600 >/sys/fs/cgroup/memory.max", "limits", "may use 0.5 of ",
	  "-> give the build as many jobs as it has cores: make -j1, ninja -j1" },
	{ "mount -t tmpfs none /sys/fs/cgroup && mkdir /sys/fs/cgroup/cpu && "
	  "echo 50000 >/sys/fs/cgroup/cpu/cpu.cfs_quota_us && "
	  "echo 100000 >/sys/fs/cgroup/cpu/cpu.cfs_period_us", "limits", "may use 0.5 of ",
	  "make -j1" },
	/* a limit of a group above the process's own */
	{ "mount -t tmpfs none /sys/fs/cgroup && mkdir -p /sys/fs/cgroup/a/b && "
	  "echo max 100000 >/sys/fs/cgroup/a/b/cpu.max && echo 0::/a/b >proc/groups && "
	  "echo 50000 100000 >/sys/fs/cgroup/a/cpu.max && mount --bind proc/groups /proc/$$/cgroup",
	  "limits", "may use 0.5 of ", "make -j1" },
	{ "mount -t tmpfs none /sys/fs/cgroup && mkdir -p /sys/fs/cgroup/cpu/a && "
	  "cd /sys/fs/cgroup/cpu/a && echo 50000 >cpu.cfs_quota_us && echo 100000 >cpu.cfs_period_us && "
	  "cd - >/dev/null && echo 1:cpu,cpuacct:/a >proc/groups && "
	  "mount --bind proc/groups /proc/$$/cgroup", "limits", "may use 0.5 of ", "make -j1" },
};

TEST_EACH(hidden_parts, hidden)
{
	struct run r;

	support_run(&r, support_tmpdir(), "mkdir proc; unshare -m sh -c 'test -r /proc/pressure/cpu && "
		    "%s && echo done && exec " BUILDBEAT " doctor'; rm -r proc", hidden[_i].hide);
	SKIP_IF(strncmp(r.out.data, "done\n", 5));	/* not root, or a kernel without them */
	assert_finding(&r, "limited", hidden[_i].check, hidden[_i].part);
	ck_assert_msg(strstr(r.out.data, hidden[_i].remedy) != NULL, "%s", r.out.data);
}

TEST(unlimited)
{
	struct run r;

	support_run(&r, support_tmpdir(), "unshare -m sh -c 'mount -t tmpfs none /sys/fs/cgroup && "
		    "echo max 100000 >/sys/fs/cgroup/cpu.max && echo max >/sys/fs/cgroup/memory.max && "
		    "echo done && " BUILDBEAT " doctor'");
	SKIP_IF(strncmp(r.out.data, "done\n", 5));
	ck_assert_msg(strstr(r.out.data, "limits ") == NULL, "%s", r.out.data);
}

TEST(arrows)
{
	struct run r;

	SKIP_IF(!make_host_can());
	support_run(&r, support_tmpdir(), BUILDBEAT " doctor");
	assert_finding(&r, "ok", "arrows", "charts show what tasks of make and ninja waited for");
}

/* Whatever is limited or missing has a line that says what to type or to change. */
TEST(every_line_has_advice)
{
	static const char *const environments[] = {
		"PATH=/nonexistent", "ulimit -n 64;", "TMPDIR=/proc",
		/* works for root alone */
		"unshare -m sh -c 'mount -t tmpfs none /sys/fs/cgroup; exec \"$0\" \"$@\"'",
		"unshare -n ",
	};
	struct run r;

	for (size_t i = 0; i < ARRAY_SIZE(environments); i++) {
		int bad = 0;

		support_run(&r, support_tmpdir(), "%s " BUILDBEAT " doctor -d /proc/stats "
			    "--plugin /nonexistent.so", environments[i]);
		for (const char *line = r.out.data; *line; line = strchr(line, '\n') + 1) {
			const char *next = strchr(line, '\n') + 1;

			if (strncmp(line, "limited ", 8) && strncmp(line, "missing ", 8))
				continue;
			bad++;
			ck_assert_msg(next[0] == ' ' && memmem(next, strcspn(next, "\n"), "-> ", 3),
				      "no advice: %s", line);
		}
		ck_assert(bad > 0 || !r.out.len);
	}
}

TEST_MAIN(doctor);
