/* SPDX-License-Identifier: MIT */
/*
 * Whatever fails in the plugin, the build continues unchanged, and one line reports why
 * nothing is recorded.
 */
#include "base/array.h"
#include "plugin/ticket.h"
#include "recording/recording.h"
#include "recording/store_create.h"
#include "tests/make_host.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

#include <sys/mount.h>

static char base[4096];

static void setup(void)
{
	snprintf(base, sizeof base, "%s", support_tmpdir());
	support_writes(support_path("%s/Makefile", base),
		       "all: a b\n\t@echo all\na b:\n\t@echo $@; test ! -e gone || rm -rf rec\n"
		       "%::\n\t@echo any $@\n");
	support_writes(support_path("%s/Loading", base), "-load " PLUGIN "\ninclude Makefile\n");
}

static void make_prints(const char *out, const char *err, const char *command)
{
	struct run r;

	support_run(&r, base, "unset MAKEFLAGS MAKELEVEL MAKEFILES; %s", command);
	ck_assert_str_eq(r.out.data, out);
	ck_assert_str_eq(r.err.data, err);
	ck_assert_int_eq(r.status, 0);
}

/* Commands before make starts. */
static const struct { const char *what, *before; } broken[] = {
	{ "plugin missing", "rm plugin.so" },
	{ "plugin empty", "cp /dev/null plugin.so" },
	{ "plugin is no object", "echo text > plugin.so" },
	{ "plugin of another machine", "printf '\\001' | dd of=plugin.so bs=1 seek=4 conv=notrunc 2>&-" },
	{ "ticket missing", "rm $T; sed -i /any/d\\;/%/d Makefile" },
	{ "ticket empty", "cp /dev/null $T" },
	{ "ticket of another version", "sed -i 's/ticket 1/ticket 2/' $T" },
	{ "ticket for all to write", "chmod o+w $T" },
	{ "recording missing", "rm -r rec" },
	{ "directory removed midway", "touch gone" },
	{ "no descriptors", "ulimit -n 12" },
	{ "file size limit", "ulimit -f 0" },
};

TEST_GROUP_WITH("faults", setup, NULL);

TEST_EACH(launched_broken, broken)
{
	struct fixture f;
	struct ticket t;
	struct run r;

	support_run(&r, base, "cp " PLUGIN " plugin.so");
	fixture_begin(&f, base, "rec", 0, NULL, support_path("%s/plugin.so", base));
	make_prints("a\nb\nall\n", "", support_path("T=%s; %s; MAKEFILES='%s' make", f.ticket,
						     broken[_i].before, f.makefiles.data));
	strcpy(t.path, f.ticket);
	ticket_remove(&t);
	buf_release(&f.makefiles);
	store_close(&f.store);
}

/* No ticket is written for an object that would kill the process that loads it. */
static const struct { const char *make; int error; } bad_plugins[] = {
	{ "rm -f bad.so", -ENOENT },
	{ "cp /dev/null bad.so", -ENOEXEC },
	{ "echo text > bad.so", -ENOEXEC },
	{ "head -c 3000 " PLUGIN " > bad.so", -ENOEXEC },
	{ "head -c -1 " PLUGIN " > bad.so", -ENOEXEC },
	{ "cp " PLUGIN " bad.so; chmod o+w bad.so", -EPERM },
	{ "cp " PLUGIN " bad.so; chmod o-w bad.so", 0 },
};

TEST_EACH(bad_plugin, bad_plugins)
{
	struct ticket t;
	struct store s;

	support_expect(base, 0, NULL, NULL, "%s", bad_plugins[_i].make);
	ck_assert_int_eq(store_create(&s, base, "rec", NULL), 0);
	ck_assert_int_eq(ticket_write(&t, &s, support_path("%s/bad.so", base)), bad_plugins[_i].error);
	ck_assert(!support_exists(support_path("%s/buildbeat.mk", s.path)));
	ck_assert(bad_plugins[_i].error ? !t.path[0] : support_exists(t.path));
	ticket_remove(&t);
	store_close(&s);
}

/* A make that cannot load objects has no "load" in .FEATURES, and must not read the line. */
TEST(without_load)
{
	struct fixture f;
	struct buf told;

	fixture_begin(&f, base, "rec", 0, NULL, NULL);
	support_expect(base, ANY_STATUS, "a\nb\nall\n", "",
		       "sed -i 's/filter load,/filter no-such-feature,/;s/^-load.*/$(error loaded)/'"
		       " %s; unset MAKEFLAGS MAKELEVEL; MAKEFILES='%s' make", f.ticket, f.makefiles.data);
	ck_assert(tasks_summary(&told, f.store.path));
	ck_assert_str_eq(told.data, "");
	buf_release(&told);
	fixture_end(&f);
}

/* Without a launcher: the top make reports the reason once. */
static const struct { const char *what, *before, *reason; } alone[] = {
	{ "unwritable", "touch buildstats", ": Not a directory" },
	{ "no descriptors", "exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-; ulimit -n 5", ": Too many open files" },
	{ "file size limit", "ulimit -f 0", ": File too large" },
};

TEST_EACH(alone_broken, alone)
{
	struct run r;
	const char *line;

	support_writes(support_path("%s/sub.mk", base),
		       "-load " PLUGIN "\nx:\n\t@echo sub\n\t@echo end\n");
	support_writes(support_path("%s/Loading", base),
		       "-load " PLUGIN "\nall:\n\t@echo top\n\t@$(MAKE) --no-print-directory -f sub.mk\n");
	support_run(&r, base, "unset MAKEFLAGS MAKELEVEL MAKEFILES; %s; exec make -f Loading",
		    alone[_i].before);
	ck_assert_str_eq(r.out.data, "top\nsub\nend\n");
	ck_assert_int_eq(r.status, 0);
	line = r.err.data;
	ck_assert_msg(!strncmp(line, "buildbeat: ", 11), "%s", line);
	ck_assert_msg(strstr(line, alone[_i].reason) != NULL, "%s", line);
	ck_assert_msg(strstr(line, "; this build is not recorded") != NULL, "%s", line);
	ck_assert_ptr_eq(strchr(line, '\n'), line + strlen(line) - 1);
}

/* The limit is reached during the build: make gets no SIGXFSZ, and the written lines are
 * whole. */
TEST(file_size_limit)
{
	RELEASED(recording, rec = RECORDING_INIT);

	support_writes(support_path("%s/Loading", base),
		       "-load " PLUGIN "\nall: $(shell seq 700)\n%:; @true\n");
	support_expect(base, 0, "", "lines lost (File too large)\n",
		       "unset MAKEFLAGS MAKELEVEL MAKEFILES; ulimit -f 64; exec make -f Loading");
	recorded_open(&rec, support_path("%s/buildstats/latest", base), NULL);
	ck_assert_uint_gt(rec.n_tasks, 100);
	ck_assert_uint_lt(rec.n_tasks, 700);
}

/* A closed standard error is no reason for make to end. */
TEST(nobody_listens)
{
	struct run r;

	support_run(&r, base, "unset MAKEFLAGS MAKELEVEL MAKEFILES; touch buildstats; mkfifo p;"
		    "{ sleep 0.2; make -f Loading; echo $? >status; } 2>p & exec 3<p 3<&-; wait; cat status");
	ck_assert_msg(strstr(r.out.data, "all\n0\n") != NULL, "%s", r.out.data);
}

TEST(disk_full)
{
	RELEASED(recording, rec = RECORDING_INIT);
	struct run r;
	const char *full = support_path("%s/full", base);

	ck_assert_int_eq(mkdir(full, 0777), 0);
	SKIP_IF(mount("none", full, "tmpfs", 0, "size=64k"));
	support_run(&r, base, "unset MAKEFLAGS MAKELEVEL MAKEFILES;"
		    "printf -- '-load %s\\nall: $(shell seq 700)\\n%%%%:; @true\\n' > Loading;"
		    "BUILDBEAT_OUTPUT=full make -f Loading; sh -c 'cp -rL full/latest copy'", PLUGIN);
	umount2(full, MNT_DETACH);
	ck_assert_int_eq(r.status, 0);
	ck_assert_str_eq(r.out.data, "");
	ck_assert_msg(strstr(r.err.data, "lines lost (No space left on device)\n") != NULL, "%s",
		      r.err.data);
	recorded_open(&rec, support_path("%s/copy", base), NULL);
	ck_assert_uint_gt(rec.n_tasks, 100);
}

/* make is killed: the lines it had written are there. */
TEST(killed)
{
	struct fixture f;
	struct buf told;

	support_writes(support_path("%s/Makefile", base),
		       "all: a\n\t@sleep 0.2; kill -9 $$PPID; sleep 0.1\na:\n\t@true\n");
	fixture_begin(&f, base, "rec", 0, NULL, NULL);
	support_expect(base, 128 + 9, NULL, NULL,
		       "unset MAKEFLAGS MAKELEVEL; MAKEFILES='%s' make", f.makefiles.data);
	ck_assert(tasks_summary(&told, f.store.path));
	ck_assert_str_eq(told.data, "a+ all?");
	buf_release(&told);
	fixture_end(&f);
}

/* Values are those of wait4(), and bytes those of /proc/PID/io. */
TEST(values_of_processes)
{
	struct recording rec = RECORDING_INIT;
	const struct task *t;
	struct fixture f;

	support_writes(support_path("%s/Makefile", base),
		       "all:\n\t@dd if=/dev/zero of=out bs=1M count=8 2>/dev/null; "
		       "dd if=out of=/dev/null bs=1M 2>/dev/null; sleep 0.1\n"
		       "\t@sh -c 'i=0; while [ $$i -lt 100000 ]; do i=$$((i+1)); done'\n");
	fixture_begin(&f, base, "rec", STORE_TASK_IO, NULL, NULL);
	support_expect(base, 0, NULL, NULL,
		       "unset MAKEFLAGS MAKELEVEL; MAKEFILES='%s' make", f.makefiles.data);
	recorded_open(&rec, f.store.path, NULL);
	ck_assert_uint_eq(rec.n_tasks, 2);
	t = &rec.task[0];
	ck_assert_int_ge(t->end_us - t->start_us, 100000);
	ck_assert_int_ge(t->rchar, 16 << 20);
	ck_assert_int_lt(t->rchar, 18 << 20);
	ck_assert_int_ge(t->wchar, 16 << 20);
	ck_assert_int_lt(t->wchar, 17 << 20);
	ck_assert_int_gt(t->max_rss_kb < 0 ? t->max_rss_at_most_kb : t->max_rss_kb, 1024);
	ck_assert_int_gt(t->minor_faults, 0);
	ck_assert_int_gt(rec.task[1].user_us + rec.task[1].system_us, 5000);
	recording_release(&rec);
	fixture_end(&f);
}

/* What each target waited for: a list of many lines, once a target. */
TEST(after)
{
	struct recording rec = RECORDING_INIT;
	struct buf text = BUF_INIT;
	const struct task *all;
	struct fixture f;

	buf_adds(&text, "L := $(addprefix a-prerequisite-with-a-long-name-,$(shell seq 400))\n"
			"all: $(L) | order\n\t@echo one\n\t@echo two\norder: in\n\t@echo o\n"
			"in:; @:\n$(L):\n");
	support_writes(support_path("%s/Makefile", base), text.data);
	buf_release(&text);
	fixture_begin(&f, base, "rec", 0, NULL, NULL);
	support_expect(base, ANY_STATUS, "o\none\ntwo\n", NULL,
		       "unset MAKEFLAGS MAKELEVEL; MAKEFILES='%s' make", f.makefiles.data);
	recorded_open(&rec, f.store.path, NULL);
	ck_assert_uint_eq(rec.n_tasks, 4);
	ck_assert_str_eq(rec.task[1].name, "order");
	ck_assert_uint_eq(rec.task[1].n_after, 1);
	ck_assert_str_eq(rec.after[rec.task[1].first_after], "in");
	all = &rec.task[2];
	ck_assert_str_eq(all->name, "all");
	ck_assert_uint_eq(all->n_after, 401);
	ck_assert_str_eq(rec.after[all->first_after + 399], "a-prerequisite-with-a-long-name-400");
	ck_assert_str_eq(rec.after[all->first_after + 400], "order");
	ck_assert_str_eq(rec.task[3].name, "all");
	ck_assert_uint_eq(rec.task[3].n_after, 0);
	recording_release(&rec);
	fixture_end(&f);
}

/* Other ways to start a process, in a host linked with full RELRO. */
static const struct {
	const char *how;
	unsigned flags;
	bool tells_io;		/* a child of vfork() cannot open files for its parent */
} fakes[] = {
	{ "vfork", 0, false },
	{ "vfork", STORE_TASK_IO, false },
	{ "spawn", STORE_TASK_IO, true },
	{ "spawnp", 0, false },
};

TEST_EACH(fake_host, fakes)
{
	struct recording rec = RECORDING_INIT;
	struct fixture f;
	struct buf told;

	fixture_begin(&f, base, "rec", fakes[_i].flags, NULL, NULL);
	support_expect(base, 0, NULL, NULL,
		       "MAKEFILES='%s' " TOP_BUILDDIR "/tests/fake_make " PLUGIN " %s 6",
		       f.makefiles.data, fakes[_i].how);
	ck_assert(tasks_summary(&told, f.store.path));
	ck_assert_str_eq(told.data, "t0- t1- t2- t3- t4- t5-");
	recorded_open(&rec, f.store.path, NULL);
	for (size_t i = 0; i < rec.n_tasks; i++) {
		const struct task *t = &rec.task[i];

		ck_assert_int_eq(t->status, i == 4 ? 127 : 3);
		ck_assert_str_eq(recording_command(&rec, t), i == 4 ? "/nonexistent/program" : "exit 3");
		ck_assert_int_eq(t->n_after, 2);
		ck_assert_msg(t->rchar < 0 || (fakes[_i].tells_io && i != 4), "%s", t->name);
		/* only root can open the file of a child that has ended */
		if (fakes[_i].tells_io && i != 4 && geteuid() == 0)
			ck_assert_msg(t->rchar >= 0, "%s", t->name);
		ck_assert_msg(t->max_rss_kb > 0 || t->max_rss_at_most_kb > 0 || i == 4,
			      "no figures of %s", t->name);
	}
	buf_release(&told);
	recording_release(&rec);
	fixture_end(&f);
}

TEST(too_many_children)
{
	struct recording rec = RECORDING_INIT;
	struct fixture f;
	struct run r;

	fixture_begin(&f, base, "rec", 0, NULL, NULL);
	support_run(&r, base, "MAKEFILES='%s' " TOP_BUILDDIR "/tests/fake_make " PLUGIN " many 3078",
		    f.makefiles.data);
	if (r.status != 77) {
		ck_assert_int_eq(r.status, 0);
		recorded_open(&rec, f.store.path, NULL);
		ck_assert_uint_eq(rec.n_tasks, 3072);
		for (size_t i = 0; i < rec.n_tasks; i++)
			ck_assert_int_eq(rec.task[i].state, TASK_DONE);
		ck_assert_uint_eq(rec.n_notes, 1);
		ck_assert_str_eq(rec.note[0].text,
				 "buildbeat: 6 processes were not recorded: too many at once");
		recording_release(&rec);
	}
	fixture_end(&f);
}

/* Every recipe line has the name of its target, with others in parallel. */
TEST(names_side_by_side)
{
	struct recording rec = RECORDING_INIT;
	struct fixture f;

	fixture_begin(&f, base, "rec", 0, NULL, NULL);
	support_writes(support_path("%s/Many", base),
		       "T := $(foreach i,0 1 2 3 4 5 6 7 8 9,$(foreach j,0 1 2 3 4,t$i$j.))\n"
		       "all: $(T)\n$(T):\n\t@expr $@ : .\n\t@:\n\t@sleep 0.001; echo $@\n"
		       "\t-@nosuch $@\n\t@expr $(shell echo $@) : .\n\t@$(MAKE) -f Sub $@ N=$@\n"
		       "\t-@./Many $@\n\t@test -n $@$(MAKEFILES)\n");
	support_writes(support_path("%s/Sub", base), "$(N):\n\t@expr $@ : .\n\t@expr $@ : .\n");
	support_expect(base, 0, NULL, NULL,
		       "unset MAKEFLAGS MAKELEVEL; MAKEFILES='%s' make -j7 -f Many",
		       f.makefiles.data);
	recorded_open(&rec, f.store.path, NULL);
	ck_assert_uint_eq(rec.n_tasks, 50 * 10);
	for (size_t i = 0; i < rec.n_tasks; i++) {
		const struct task *t = &rec.task[i];
		const char *command = recording_command(&rec, t);

		ck_assert_msg(t->name[0] == 't', "\"%s\" has the name %s", command, t->name);
		ck_assert_msg(!*command || strstr(command, t->name), "\"%s\" has the name %s",
			      command, t->name);
	}
	recording_release(&rec);
	fixture_end(&f);
}

/* A make that remakes its makefiles and restarts continues its recording: it samples, and
 * writes the end. */
TEST(alone_again)
{
	RELEASED(recording, rec = RECORDING_INIT);

	support_writes(support_path("%s/Loading", base),
		       "-load " PLUGIN "\n-include gen.mk\nall:\n\t@sleep 0.3; exit 3;\n"
		       "gen.mk:\n\t@echo 'X := 1' > $@\n");
	support_expect(base, 2, NULL, NULL,
		       "mkdir tmp; export TMPDIR=$PWD/tmp; "
		       "unset MAKEFLAGS MAKELEVEL MAKEFILES; make -f Loading");
	recorded_open(&rec, support_path("%s/buildstats/latest", base), NULL);
	ck_assert_uint_eq(rec.n_instances, 2);
	ck_assert_int_eq(rec.instance[0].pid, rec.instance[1].pid);
	ck_assert_int_ge(rec.instance[0].close_us, 0);
	ck_assert_uint_eq(rec.n_tasks, 2);
	ck_assert_int_ge(rec.end_us, rec.task[1].end_us);
	ck_assert_int_eq(recording_build_number(&rec, "status"), 2);
	ck_assert_ptr_nonnull(recording_series(&rec, "proc_stat"));
	support_expect(base, ANY_STATUS, "1\n", NULL, "ls -d buildstats/2* tmp/* 2>&- | wc -l");
}

/* A failed restart is the end of the build, and is recorded. */
TEST_LOOP(never_again, 2)
{
	static const char *const loads[] = { "-load " PLUGIN "\n", "" };
	RELEASED(recording, rec = RECORDING_INIT);
	struct run plain, with;

	for (int i = 0; i < 2; i++) {
		support_writes(support_path("%s/Loading", base), support_path(
			       "%s-include gen.mk\nall:\n\t@exit 3;\n"
			       "gen.mk:\n\t@echo 'X := 1' > $@; rm mymake\n", i ? loads[_i] : ""));
		support_run(i ? &with : &plain, base, "unset MAKEFLAGS MAKELEVEL MAKEFILES; rm -f gen.mk;"
			    "cp $(which make) mymake; %s ./mymake -f Loading", i && _i ? TOP_BUILDDIR
			    "/buildbeat record --no-git -o buildstats" : "");
	}
	ck_assert_int_eq(with.status, plain.status);
	ck_assert_str_eq(with.out.data, plain.out.data);
	ck_assert_str_eq(with.err.data, plain.err.data);
	recorded_open(&rec, support_path("%s/buildstats/latest", base), NULL);
	ck_assert_uint_eq(rec.n_warnings, 0);
	ck_assert_uint_eq(rec.n_instances, 1);
	ck_assert_uint_eq(rec.n_tasks, 1);
	ck_assert_int_ge(rec.instance[0].close_us, rec.task[0].end_us);
	ck_assert_int_eq(recording_build_number(&rec, "status"), with.status);
}

TEST_PROGRAM(make_faults)
{
	SKIP_PROGRAM_IF(!make_host_can());
	return support_main();
}
