/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "base/private_dir.h"
#include "base/trust.h"
#include "plugin/ticket.h"
#include "tests/hostile.h"
#include "tests/make_host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The ticket */

TEST_GROUP_WITH("ticket", hostile_begin, NULL);

/* Swapped for a directory with another ticket during the build of root. */
TEST(swapped)
{
	struct run r;
	pid_t hostile;

	SKIP_IF(!hostile_can() || !make_host_can());
	hostile_directory(support_path("%s/proj", hostile_base));
	support_writes(support_path("%s/Makefile", hostile_base),
		       "all:\n\t@touch proj/begun; i=0; until test -e proj/done || test $$i = 600; do "
		       "i=$$((i+1)); sleep 0.05; done; $(MAKE) -s sub\nsub:\n\t@/bin/echo built\n");
	support_run(&r, hostile_base, "touch out; chmod 666 out");
	hostile = hostile_start(
		"cd proj; mkdir rec; i=0; until test -e begun || test $i = 600; do i=$((i+1)); sleep 0.05;"
		"done; set -- rec/2*; mv rec old; mkdir -p $1; printf 'x := $(shell id > ../out)\\n' > "
		"$1/buildbeat.mk; cp -s /bin/true $1/buildbeat-preload.so; : > $1/tasks.log; touch done");
	hostile_trust(support_path("%s/proj", hostile_base));
	support_run(&r, hostile_base, BUILDBEAT " record --no-git -o proj/rec make");
	hostile_wait(hostile);
	ck_assert_str_eq(r.out.data, "built\n");
	ck_assert_int_eq(r.status, 0);
	support_expect(hostile_base, ANY_STATUS, "1\n", NULL,
		       "cat out; ls proj/old/2*/build | wc -l");
}

/* Other users cannot enter its directory, and the recording has nothing of it. */
TEST(private_place)
{
	SKIP_IF(!make_host_can());
	support_writes(support_path("%s/Makefile", hostile_base),
		       "all:\n\t@ls stats/one | grep -e mk -e so; "
		       "stat -c '%a %u' $(dir $(firstword $(MAKEFILES)))\n");
	support_expect(hostile_base, ANY_STATUS, support_path("700 %u\n", geteuid()), NULL,
		       "umask 0; " BUILDBEAT " record --no-git -o stats -n one make");
}

/* Places that others can write to are not used. */
static const struct { const char *make; bool used; } places[] = {
	{ "mkdir -m 700 place; export XDG_RUNTIME_DIR=$PWD/place", true },
	{ "mkdir -m 755 place; export XDG_RUNTIME_DIR=$PWD/place", false },
	{ "mkdir -m 700 'pl ace'; ln -s 'pl ace' place; export XDG_RUNTIME_DIR=\"$PWD/pl ace\"", false },
	{ "mkdir -m 755 place; export TMPDIR=$PWD/place", true },
	{ "mkdir -m 1777 place; export TMPDIR=$PWD/place", true },
	{ "mkdir -m 777 place; export TMPDIR=$PWD/place", false },
	{ "mkdir -m 777 up; mkdir up/place; ln -s up/place place; export TMPDIR=$PWD/place", false },
};

TEST_EACH(place, places)
{
	struct run r;

	support_run(&r, hostile_base, "%s; " BUILDBEAT " record --no-git -o stats -n one ls place", places[_i].make);
	ck_assert_int_eq(r.status, 0);
	ck_assert_int_eq(!strncmp(r.out.data, "buildbeat-", 10), places[_i].used);
	support_expect(hostile_base, ANY_STATUS, "", NULL, "ls place/");
}

/* The next recording removes the directory of a killed launcher, but not that of a running
 * one or of another user. */
TEST(left_over)
{
	support_expect(hostile_base, ANY_STATUS, "1\n3\n2\n", NULL,
		       "mkdir place; export TMPDIR=$PWD/place; rec='" BUILDBEAT " record --no-git -o stats'\n"
		       "$rec sh -c 'kill -9 $PPID'; ls place | wc -l\n"
		       "one=$(ls place); mkdir -m 755 place/${one%%-*}-other; mkdir place/other-1-x\n"
		       "$rec sh -c \"test -e place/$one && echo there; env -u MAKEFILES $rec -n two true; "
		       "ls place | wc -l\"; ls place | wc -l");
}

/* A path that nobody else can change */

static const struct {
	const char *make;
	mode_t mode;
	int result;		/* of trust_path() */
} paths[] = {
	{ "mkdir a", 0755, 0 },
	{ "mkdir a", 0757, -1 },
	{ "mkdir a", 01777, 0 },
	{ "mkdir -p x; ln -s x a", 0755, 0 },
	{ "mkdir -p x; ln -s x a", 0757, -1 },
	{ "touch a", 0644, 0 },
	{ "touch a", 0646, -1 },
	{ "mkdir -m 777 x; mkdir x/y; ln -s x/y a", 0755, -1 },
	{ "mkdir -m 1777 x; mkdir x/y; ln -s x/../x/./y a", 0755, 0 },
	{ "ln -s a b; ln -s b a", 0, -1 },
};

TEST_GROUP_WITH("paths", hostile_begin, NULL);

TEST_EACH(path, paths)
{
	const char *a = support_path("%s/a", hostile_base);
	struct error err = { 0 };
	struct run r;

	support_run(&r, hostile_base, "%s", paths[_i].make);
	chmod(a, paths[_i].mode);
	ck_assert_int_eq(trust_path(a, &err) < 0, paths[_i].result < 0);
	ck_assert_int_eq(trust_path(support_path("%s/no/../a/..", hostile_base), NULL) < 0, paths[_i].result < 0);
	ck_assert_int_eq(trust_path(support_path("%s/not/there", hostile_base), NULL), 0);
}

/* A group with one member, as a private group, counts as that user. */
TEST(groups)
{
	const char *a = support_path("%s/a", hostile_base);

	SKIP_IF(!hostile_can());
	ck_assert_int_eq(mkdir(a, 0755), 0);
	chmod(a, 0775);
	ck_assert_int_eq(trust_path(a, NULL), 0);
	ck_assert_int_eq(chown(a, 0, NOBODY), 0);
	chmod(a, 0775);
	ck_assert_int_eq(trust_path(a, NULL), -EPERM);
	chmod(a, 0755);
	ck_assert_int_eq(trust_path(a, NULL), 0);
}

TEST(owners)
{
	const char *a = support_path("%s/a", hostile_base), *b = support_path("%s/a/b", hostile_base);
	struct error err = { 0 };

	SKIP_IF(!hostile_can());
	hostile_directory(a);
	ck_assert_int_eq(mkdir(b, 0755), 0);
	ck_assert_int_eq(trust_path(b, &err), -EPERM);
	ck_assert_str_eq(err.path, a);
	ck_assert_ptr_nonnull(strstr(err.message, "(uid 65534), not to root (uid 0);"));
	ck_assert_int_eq(trust_except(b), 0);
	ck_assert_int_eq(trust_path(a, &err), -EPERM);
	ck_assert_int_eq(trust_path(b, &err), 0);
	ck_assert_int_eq(trust_path(support_path("%s/new/c", b), &err), 0);
	/* who can write does not matter either, except where no exception applies */
	chmod(a, 0777);
	ck_assert_int_eq(trust_path(b, &err), 0);
	ck_assert_int_eq(trust_path(a, &err), -EPERM);
	ck_assert_int_eq(chown(a, 0, 0), 0);
	ck_assert_int_eq(trust_path(a, &err), -EPERM);
	ck_assert_ptr_nonnull(strstr(err.message, "everybody can write to it; to change that: chmod o-w "));
	ck_assert_ptr_nonnull(strstr(err.message, "under 'trust' in your own configuration"));
}

/* Another user made the directories of that name where anybody can: the next place is used, by those
 * who make and by those who look. */
TEST(squatted)
{
	const char *name = support_path("buildbeat-test-%d", (int)getpid());
	char made[PATH_MAX], found[PATH_MAX], *base = strdup(support_tmpdir());
	const char *tmp = support_path("/tmp/%s-%u", name, (unsigned)geteuid());
	const char *ours = support_path("%s/%s-%u", base, name, (unsigned)geteuid());
	int fd;

	unsetenv("XDG_RUNTIME_DIR");
	unsetenv("XDG_STATE_HOME");
	setenv("HOME", base, 1);
	setenv("TMPDIR", base, 1);
	ck_assert_int_eq(mkdir(ours, 0777), 0);
	ck_assert_int_eq(chmod(ours, 0777), 0);
	ck_assert_int_eq(mkdir(tmp, 0755), 0);
	ck_assert(private_dir_find(found, name, false, &fd) && fd < 0);
	ck_assert(private_dir_find(made, name, true, &fd) && fd >= 0);
	close(fd);
	rmdir(tmp);
	ck_assert_int_eq(mkdir(tmp, 0755), 0);
	ck_assert(private_dir_find(found, name, false, &fd) && fd >= 0);
	close(fd);
	rmdir(tmp);
	ck_assert_str_eq(found, made);
	ck_assert_str_eq(made, support_path("%s/.local/state/buildbeat/%s", base, name));
	free(base);
}

TEST_MAIN(trust);
