/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/hostile.h"
#include "tests/support.h"

#include <ftw.h>
#include <sys/xattr.h>

/*
 * A prepared directory as archive: it keeps its owner, mode and ACL, the repository follows them,
 * and the users of a group can write to it.
 */

#define RECORDINGS TOP_SRCDIR "/tests/data/recordings"
#define ARCHIVE BUILDBEAT " archive --repo builds.git " RECORDINGS "/nested --host "
#define GROUP 23456
#define ACL "system.posix_acl_default"

static void sh(const char *command)
{
	support_expect(hostile_base, 0, NULL, NULL, "%s", command);
}

static const struct { const char *mode; int umask; } modes[] = {
	{ "0700", 0022 }, { "0755", 0022 }, { "0755", 0077 }, { "0750", 0022 }, { "2770", 0022 },
	{ "2770", 0077 }, { "2770", 0002 }, { "2775", 0022 }, { "0770", 0022 },
};

TEST_GROUP_WITH("shared", hostile_begin, NULL);

TEST_EACH(mode_is_followed, modes)
{
	const char *path = support_path("%s/builds.git", hostile_base);
	struct stat prepared, st;

	sh(support_path("mkdir builds.git && { test $(id -u) != 0 || chgrp %d builds.git; } && "
			"chmod %s builds.git", GROUP, modes[_i].mode));
	ck_assert_int_eq(stat(path, &prepared), 0);
	sh(support_path("umask %04o && " ARCHIVE "a", modes[_i].umask));
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_uint_eq(st.st_ino, prepared.st_ino);
	ck_assert_uint_eq(st.st_mode, prepared.st_mode);
	ck_assert_uint_eq(st.st_gid, prepared.st_gid);
	sh(support_path("umask %04o && " ARCHIVE "b && git -C builds.git fsck --strict",
			modes[_i].umask));
	/* What the repository was made of follows the mode; later the umask takes rights from others. */
	sh(support_path("test -z \"$(find builds.git -maxdepth 1 -type d ! -perm %s)\"",
			modes[_i].mode));
	if (!(prepared.st_mode & S_IWGRP))
		return;
	sh("test $(git -C builds.git config core.sharedRepository) = group && "
	   "test -z \"$(find builds.git -type d ! -perm -070)\" && "
	   "test -z \"$(find builds.git -type f ! -perm -040)\"");
	if (prepared.st_mode & S_ISGID && !geteuid())
		sh(support_path("test -z \"$(find builds.git ! -group %d)\"", GROUP));
}

/* user::rwx, group::rwx, group GROUP:rwx, mask::rwx, other::--- */
static const struct {
	uint32_t version;
	struct { uint16_t tag, rights; uint32_t id; } entry[5];
} acl = { 2, { { 1, 7, UINT32_MAX }, { 4, 7, UINT32_MAX }, { 8, 7, GROUP }, { 16, 7, UINT32_MAX },
	       { 32, 0, UINT32_MAX } } };

static int check_acl(const char *path, const struct stat *st, int type, struct FTW *at)
{
	char is[sizeof acl];

	(void)at;
	if (type == FTW_D) {
		ck_assert_msg(getxattr(path, ACL, is, sizeof is) == sizeof is &&
			      !memcmp(is, &acl, sizeof is), "%s", path);
		ck_assert_msg((st->st_mode & 0777) == 0770, "%s: %o", path, st->st_mode);
	}
	return 0;
}

TEST(acl_is_followed)
{
	const char *path = support_path("%s/builds.git", hostile_base);

	sh("mkdir builds.git && chmod 2770 builds.git");
	SKIP_IF(setxattr(path, ACL, &acl, sizeof acl, 0));
	sh("umask 077 && " ARCHIVE "a && " ARCHIVE "b");
	nftw(path, check_acl, 8, FTW_PHYS);
}

/* Two users of a group, with the usual umask. */
TEST(users_of_a_group)
{
	SKIP_IF(geteuid() || !support_has("setpriv"));
	support_writes(support_path("%s/.gitconfig", hostile_base),
		       support_path("[safe]\n\tdirectory = %s/builds.git\n", hostile_base));
	sh(support_path("mkdir builds.git && chgrp %d builds.git && chmod 2770 builds.git && "
			"chmod 644 .gitconfig && cp -r " RECORDINGS "/nested rec && chmod -R a+rX rec",
			GROUP));
	for (int i = 0; i < 4; i++)
		sh(support_path("umask 022 && HOME=$PWD GIT_CONFIG_GLOBAL=$PWD/.gitconfig setpriv "
				"--reuid %d --regid %d --clear-groups " BUILDBEAT " archive "
				"--repo builds.git --host %d --branch %d rec", 1001 + i % 2, GROUP,
				i / 2, i));
	sh("test $(git -C builds.git for-each-ref | grep -c .) = 4 && git -C builds.git fsck --strict");
}

/* Many create it at once, beside what a killed one left. */
TEST(created_at_once)
{
	sh("mkdir -p builds.git/.buildbeat-new-left/objects builds.git/objects/pack && "
	   "for i in 1 2 3 4 5 6; do " ARCHIVE "$i & pids=\"$pids $!\"; done; "
	   "for p in $pids; do wait $p || exit 1; done; "
	   "test $(git -C builds.git for-each-ref | grep -c .) = 6 && "
	   "grep -q delta builds.git/info/attributes && git -C builds.git fsck --strict");
}

/* A directory with anything else in it is left alone. */
TEST(others_are_left_alone)
{
	sh("mkdir builds.git && echo x >builds.git/config && ! " ARCHIVE "a 2>err && "
	   "grep -q 'not a git repository' err && test \"$(ls -A builds.git)\" = config");
}

TEST_MAIN(archive_shared);
