/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/made_build.h"
#include "tests/paths.h"
#include "tests/support.h"

/*
 * `buildbeat archive` is killed at each system call that changes the repository or comes between
 * two such calls, found by strace. The next archive succeeds at once, nothing is left, and the build of
 * the killed one is in the archive completely or not at all.
 */

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"
#define NESTED TOP_SRCDIR "/tests/data/recordings/nested"
#define ADD BUILDBEAT " archive --repo L --host vm --branch main "

/* Reading calls outside of the window are not interesting: these change something or are locks. */
#define CALLS "openat,write,pwrite64,ftruncate,fsync,link,rename,renameat,unlink,unlinkat,mkdir," \
	      "flock,close,fchmod,chmod"

static const char *base;

static void sh(const char *command)
{
	support_expect(base, 0, NULL, NULL, "%s", command);
}

static void make_archive(void)
{
	base = support_tmpdir();
	sh("for i in 1 2 3; do cp -r " NESTED " $i && chmod -R u+w $i && "
	   "sed -i 's/: 179525419/: 179525'$i'19/' $i/build || exit; done");
	sh(ADD "1 && mv L first");
}

/* Prints "NAME N" for each call to kill at: the N-th call of that name in an undisturbed run. */
static char *list_calls(struct run *r)
{
	support_run(r, base, "cp -a first L && strace -o calls -e trace=" CALLS " " ADD "2 >/dev/null && "
		    "awk -F'(' '/O_CREAT/ { on = 1 } { n[$1]++; if (on) print $1, n[$1] }' calls");
	ck_assert_msg(!r->status && r->out.len, "%d %s", r->status, buf_str(&r->err));
	return r->out.data;
}

static const char left[] =
	"find L -name '*.lock' -o -name '*.keep' -o -name '*.new' | grep . && exit 1\n"
	"for p in L/objects/pack/*.pack; do test -e ${p%.pack}.idx || { echo $p; exit 1; }; done\n"
	"git -C L fsck --strict >/dev/null 2>fsck || { cat fsck; exit 1; }\n"
	"test $(git -C L rev-list --count vm/main/x86_64) = ";

TEST(next_archive_works)
{
	char *call, *rest;
	struct run list, r;
	unsigned killed = 0;

	SKIP_IF(!support_can_be_loaded());	/* nor does a sanitizer look for leaks under strace */
	make_archive();
	rest = list_calls(&list);
	while ((call = strsep(&rest, "\n")) && *call) {
		char *number = strchr(call, ' ');

		*number++ = '\0';
		support_run(&r, base, "rm -rf L && cp -a first L && exec strace -o /dev/null -e trace=%s "
			    "-e inject=%s:signal=KILL:when=%s " ADD "2", call, call, number);
		killed += r.status == 128 + 9;
		support_run(&r, base, "timeout 8 " ADD "2 && timeout 8 " ADD "3\n%s 3", left);
		ck_assert_msg(!r.status, "killed at %s number %s: %s%s", call, number,
			      buf_str(&r.out), buf_str(&r.err));
	}
	ck_assert_uint_ge(killed, 40);
}

/* The number of the fsync() of the lock of the branch. */
#define LOCKED "-e trace=fsync -e inject=fsync:signal="
#define WHEN ":when=4 "
#define REF_LOCK_FILE "L/refs/heads/vm/main/x86_64.lock"

static const char fsck[] = BUILDBEAT " archive --fsck --repair --repo L";

/* A stopped writer is alive, however old its lock is: --repair leaves it, and says so. */
TEST(lock_of_a_living_owner)
{
	struct run r;

	SKIP_IF(!support_can_be_loaded());
	make_archive();
	sh("mv first L");
	support_run(&r, base, "%s\nstrace -o /dev/null " LOCKED "STOP" WHEN ADD "2 >/dev/null & strace=$!\n"
		    "until_true 'test -s L/buildbeat-refs -a -e " REF_LOCK_FILE "' || exit 9\n"
		    "read writer rest </proc/$strace/task/$strace/children\n"
		    "trap 'kill -9 $writer 2>/dev/null' EXIT\n"
		    "until_true \"grep -q '^State:.[tT]' /proc/$writer/status\" || exit 9\n"
		    "touch -d '1 hour ago' " REF_LOCK_FILE "\n"
		    "%s; test $? = 1 || exit 8\ntest -e " REF_LOCK_FILE " || exit 7\n"
		    "kill -CONT $writer; wait $strace || exit 6\n"
		    "%s 2", support_poll, fsck, left);
	ck_assert_msg(!r.status && strstr(r.out.data, "x86_64.lock: a lock that is 36") &&
		      strstr(r.out.data, "; 1 lock remains"), "%d %s%s", r.status, r.out.data, r.err.data);
}

/* The note of another boot, or of another machine that shares the files, proves nothing: only age does. */
TEST(lock_of_another_machine)
{
	SKIP_IF(!support_can_be_loaded());
	make_archive();
	sh("mv first L; strace -o /dev/null " LOCKED "KILL" WHEN ADD "2; test -e " REF_LOCK_FILE " && "
	   "grep -q \"^boot $(cat /proc/sys/kernel/random/boot_id)\" L/buildbeat-refs && "
	   "sed -i 's/^boot .*/boot other/' L/buildbeat-refs");
	support_expect(base, 0, NULL, NULL, "timeout 8 " ADD "3; test $? = 124 && test -e " REF_LOCK_FILE);
	support_expect(base, 0, NULL, NULL, ADD "3 && %s 2", left);
}

/* A killed git leaves no note. */
TEST(lock_of_a_killed_git)
{
	make_archive();
	sh("mv first L; strace -f -o /dev/null -e trace=rename -e inject=rename:signal=KILL:when=1 "
	   "git -C L update-ref refs/heads/vm/main/x86_64 $(git -C L commit-tree -m x "
	   "$(git -C L rev-parse vm/main/x86_64^{tree})); test -e " REF_LOCK_FILE);
	support_expect(base, 0, NULL, NULL, ADD "3 && %s 2", left);
}

/* A power failure loses nothing that the branch names: each file is on the disk before. */
TEST(files_are_synced)
{
	static const char *const steps[] = {
		"pack-[^/]*.pack>", "pack-[^/]*.new>", "/objects/pack>", "x86_64.lock>", "/vm/main>",
	};

	SKIP_IF(!support_can_be_loaded());
	make_archive();
	sh("mv first L && strace -y -o calls -e trace=fsync,fdatasync " ADD "2");
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		sh(support_path("sed -n %zup calls | grep -q '%s'", i + 1, steps[i]));
}

TEST_PROGRAM(archive_killed)
{
	made_environment();
	SKIP_PROGRAM_IF(system("strace -o /dev/null true 2>/dev/null"));
	return support_main();
}
