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
