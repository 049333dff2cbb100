/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/launched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that exists and cannot be read is an error of every command that reads: exit status
 * 2, with the file and the reason. Otherwise an archive or a comparison would have other
 * values than the build. */

static const char *const commands[] = {
	"show", "show --json", "export --to oe -o out", "export --to chrome -o out",
	"chart -o out.svg", "archive --repo repo.git", "diff good",
};

/* In the place of a file: a directory (EISDIR), or a link (ELOOP), which could lead anywhere. */
static const struct { const char *file, *make, *why; } cases[] = {
	{ "tasks.log", "mkdir", "Is a directory" },
	{ "tasks.log", "ln -s /proc/self/mem", "Too many levels of symbolic links" },
	{ "proc_stat.log", "mkdir", "Is a directory" },
	{ "proc_stat.log", "ln -s /proc/self/mem", "Too many levels of symbolic links" },
	{ "proc_tasks.log", "mkdir", "Is a directory" },
	{ "proc_tasks.log", "ln -s /proc/self/mem", "Too many levels of symbolic links" },
	{ "processes.log", "mkdir", "Is a directory" },
	{ "proc_meminfo.log.zst", "mkdir", "Is a directory" },
};

#define N_COMMANDS (int)ARRAY_SIZE(commands)

static void ck_refused(const char *top, const char *recording, const char *file, const char *why)
{
	for (int i = 0; i < N_COMMANDS; i++) {
		const char *command = commands[i];
		struct run r;

		support_run(&r, top, "rm -rf out out.svg repo.git; %s %s %s", BUILDBEAT, command,
			    recording);
		ck_assert_msg(r.status == 2, "%s: %d\n%s%s", command, r.status, r.out.data, r.err.data);
		ck_assert_msg(strstr(r.err.data, file) && strstr(r.err.data, why), "%s: %s", command,
			      r.err.data);
	}
}

static void make_recordings(const char *top)
{
	support_writes(support_path("%s/Makefile", top), "all:\n\t@true\n\t@sleep 0.1\n");
	support_expect(top, 0, NULL, NULL,
		       "%s record --no-git --interval 20 -o . -n good -- make -s && cp -r good bad && "
		       "%s export --to oe -o oe good && cp -r oe oebad", BUILDBEAT, BUILDBEAT);
}

TEST_EACH(part_of_recording, cases)
{
	const char *top = support_tmpdir();

	make_recordings(top);
	support_expect(top, 0, NULL, NULL,
		       "cd bad && rm -f '%s' && %s '%s'", cases[_i].file, cases[_i].make,
		       cases[_i].file);
	ck_refused(top, "bad", cases[_i].file, cases[_i].why);
}

TEST(part_of_oe)
{
	const char *top = support_tmpdir();
	struct run r;

	make_recordings(top);
	support_run(&r, top, "cd oebad && rm -f *proc_stat.log && ln -s /proc/self/mem reduced_proc_stat.log");
	ck_refused(top, "oebad", "proc_stat.log", "Input/output error");
}

/* Modes do not stop root. */
TEST(modes)
{
	static const char *const hidden[] = {
		"bad/tasks.log", "bad/proc_vmstat.log", "oebad/build_stats", "oebad/[a-z]*/*",
	};
	const char *top = support_tmpdir();
	struct run r;

	SKIP_IF(!geteuid());
	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++) {
		make_recordings(top);
		support_run(&r, top, "chmod 000 %s", hidden[i]);
		ck_refused(top, i < 2 ? "bad" : "oebad", "", "Permission denied");
		support_run(&r, top, "chmod -R u+rwX . && rm -rf good bad oe oebad latest");
	}
}

/* A missing file is normal. */
TEST(missing_is_normal)
{
	const char *top = support_tmpdir();

	make_recordings(top);
	support_expect(top, 0, NULL, NULL,
		       "rm bad/proc_*.log && %s show bad && %s archive --repo repo.git bad", BUILDBEAT,
		       BUILDBEAT);
}

TEST_PROGRAM(unreadable)
{
	SKIP_PROGRAM_IF(!support_can_be_loaded());
	return support_main();
}
