/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/paths.h"
#include "tests/server.h"
#include "tests/support.h"

/*
 * `buildbeat archive`: the name of the branch, refused arguments, a full disk, and missing
 * permission. Nothing is half written.
 */

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"
#define RECORDINGS TOP_SRCDIR "/tests/data/recordings"
#define NESTED RECORDINGS "/nested"
#define GENUINE TOP_SRCDIR "/tests/data/oe/genuine"

static const char *dir;

static void setup(void)
{
	dir = support_tmpdir();
	setenv("HOME", dir, 1);
	setenv("XDG_CACHE_HOME", support_path("%s/cache", dir), 1);
	setenv("XDG_CONFIG_HOME", support_path("%s/config", dir), 1);
	setenv("GIT_CONFIG_SYSTEM", "/dev/null", 1);
}

static void sh(struct run *r, const char *command)
{
	support_run(r, dir, "%s", command);
	ck_assert_msg(r->status == 0, "%s: %d: %s%s", command, r->status, r->out.data,
		      r->err.data);
}

/* A command prints exactly this. */
static void expect(const char *command, const char *out)
{
	struct run r;

	sh(&r, command);
	ck_assert_msg(!strcmp(buf_str(&r.out), out), "%s: %s", command, r.out.data);
}

#define BRANCHES "git -C builds.git for-each-ref --format='%(refname:short)'"
#define COUNT "git -C builds.git rev-list --all --count"

static const struct { const char *arguments, *branch; } names[] = {
	{ NESTED, "forge/main/x86_64\n" },
	{ "--host farm " NESTED, "farm/main/x86_64\n" },
	{ "--branch topic/new " NESTED, "forge/topic%2Fnew/x86_64\n" },
	{ "--machine qemuarm " NESTED, "forge/main/qemuarm\n" },
	{ "--host a --branch b --machine c " NESTED, "a/b/c\n" },
	{ "--branch 'a b~' --machine .x " NESTED, "forge/a%20b%7E/%2Ex\n" },
	{ "-d stats", "forge/main/x86_64\n" },
	{ "--dir stats last", "forge/main/x86_64\n" },
};

TEST_GROUP_WITH("archive", setup, NULL);

/* The branch comes from the recording or the option; a second run adds nothing. */
TEST_EACH(branch, names)
{
	const char *command = support_path(BUILDBEAT " archive --repo builds.git %s",
					   names[_i].arguments);
	struct run r, again;

	sh(&r, "mkdir -p stats && cp -r " NESTED " stats/last && ln -sfn last stats/latest");
	sh(&r, command);
	expect(BRANCHES, names[_i].branch);
	ck_assert_int_eq(strncmp(r.out.data, names[_i].branch, strlen(names[_i].branch) - 1), 0);
	sh(&again, command);
	ck_assert_ptr_nonnull(strstr(again.out.data, " (already archived)\n"));
	ck_assert_int_eq(strncmp(r.out.data, again.out.data, r.out.len - 1), 0);
	expect(COUNT, "1\n");
}

/* Settings; another series of the same repository; an existing repository. */
TEST(several)
{
	struct run r;

	support_writes(support_path("%s/buildbeat.yaml", dir), "repo: builds.git\n");
	sh(&r, "git init -q --bare builds.git && mkdir -p sub && cd sub && " BUILDBEAT " archive "
	   NESTED " && cd .. && " BUILDBEAT " archive " GENUINE " && " BUILDBEAT
	   " archive --host other " NESTED " && git -C builds.git fsck --strict 2>&1");
	expect(BRANCHES " | grep -c /", "3\n");
}

static const struct { const char *before, *arguments, *err; } refused[] = {
	{ "true", "--repo builds.git " RECORDINGS "/cut", "no end was recorded" },
	{ "true", "--repo builds.git none", "none" },
	{ "true", "--repo builds.git", "buildstats" },
	{ "true", NESTED, "--repo" },
	{ "true", "--repo builds.git " NESTED " " GENUINE, "expected one recording" },
	{ "true", "--repo builds.git --import-oe", "--import-oe requires a path" },
	{ "true", "--repo builds.git --hots x " NESTED, "--host" },
	{ "mkdir builds.git && echo x >builds.git/file", "--repo builds.git " NESTED,
	  "builds.git: not a git repository" },
	{ "echo x >builds.git", "--repo builds.git " NESTED, "builds.git: Not a directory" },
	{ "true", "--repo builds.git --host '' " NESTED, "'--host': expected a text" },
	{ "echo 'repo: [a' >bad.yaml", "-c bad.yaml --repo builds.git " NESTED, "bad.yaml:" },
	{ "git init -q --bare builds.git && git -C builds.git update-ref refs/heads/forge/main/x86_64 "
	  "$(git -C builds.git -c user.name=a -c user.email=a commit-tree -m x "
	  "$(git -C builds.git hash-object -wt tree /dev/null))", "--repo builds.git " NESTED,
	  "is not a build: nothing is added to it" },
};

/* The error is reported, and the archive is unchanged. */
TEST_EACH(refusal, refused)
{
	struct run r;

	sh(&r, refused[_i].before);
	sh(&r, "find . ! -name before | sort >before");
	support_run(&r, dir, BUILDBEAT " archive %s", refused[_i].arguments);
	ck_assert_msg(r.status == 2, "%s: %d", refused[_i].arguments, r.status);
	ck_assert_str_eq(buf_str(&r.out), "");
	ck_assert_msg(strstr(r.err.data, refused[_i].err) != NULL, "%s: %s", refused[_i].arguments,
		      r.err.data);
	sh(&r, "find . ! -name before | sort | diff - before");
}

/* Skipped for root, which can write anywhere. */
static const struct { const char *shut, *open; } rights[] = {
	{ "mkdir closed && chmod 555 closed", "closed/builds.git" },
	{ BUILDBEAT " archive --repo closed.git --host a " NESTED " >/dev/null && "
	  "chmod -R a-w closed.git", "closed.git" },
};

TEST_EACH(no_right_to_write, rights)
{
	struct run r;

	sh(&r, rights[_i].shut);
	if (geteuid()) {
		support_run(&r, dir, BUILDBEAT " archive --repo %s " NESTED, rights[_i].open);
		ck_assert_int_eq(r.status, 2);
		ck_assert_str_eq(buf_str(&r.out), "");
		ck_assert_ptr_nonnull(strstr(r.err.data, rights[_i].open));
	}
	sh(&r, "chmod -R u+w closed*; find closed* -name '*.lock' -o -name 'tmp_*'");
	ck_assert_str_eq(buf_str(&r.out), "");
}

/* The free kilobytes when the second build is written. */
static const int room_kb[] = { 0, 4, 8, 16 };

TEST_EACH(no_room, room_kb)
{
	struct run r;

	support_run(&r, dir, "unshare -m sh -c 'mkdir full && mount -t tmpfs -o size=1m,mode=700 "
		    "tmpfs full && cd full || exit 77; " BUILDBEAT " archive --repo builds.git "
		    NESTED " >/dev/null || exit 3; git -C builds.git for-each-ref >before; "
		    "dd if=/dev/zero of=fill bs=1k 2>/dev/null; truncate -s -%dk fill; "
		    BUILDBEAT " archive --repo builds.git " GENUINE "; s=$?; rm fill; "
		    "git -C builds.git for-each-ref | cmp - before || exit 4; "
		    "git -C builds.git fsck --strict >/dev/null 2>&1 || exit 5; "
		    "find . -name \"*.lock\"; "
		    BUILDBEAT " archive --repo builds.git " GENUINE " >../after || exit 6; "
		    "exit $s' 2>err; s=$?; cat err >&2; exit $s", room_kb[_i]);
	SKIP_IF(r.status == 77 || strstr(r.err.data, "unshare: ") || strstr(r.err.data, "mount: "));
	ck_assert_msg(r.status == 2, "%d: %s%s", r.status, r.out.data, r.err.data);
	ck_assert_str_eq(buf_str(&r.out), "");
	ck_assert_msg(strstr(r.err.data, "No space left on device") != NULL, "%s", r.err.data);
	expect("wc -l <after", "1\n");
}

/* Repositories that cannot be archives, made by git from one with builds. */
static const struct { const char *make, *says; } unusable[] = {
	{ "git clone -q --bare --depth 1 file://$PWD/builds.git x.git",
	  "a shallow clone, which lacks older builds: complete it with git -C DIRECTORY fetch "
	  "--unshallow" },
	{ "git init -q --bare --object-format=sha256 x.git", "the repository uses SHA-256, which" },
	{ "git init -q --object-format=sha256 x.git", "the repository uses SHA-256, which" },
};

static const char *const users[] = {
	"archive --repo x.git " NESTED, "archive --repo x.git --fsck", "check --repo x.git",
	"history --repo x.git", "report --repo x.git -o page.html", "prune --repo x.git --keep 1",
	"accept --repo x.git --message reason task", "archive --repo other.git --import-oe x.git",
};

TEST_EACH(unusable_repositories, unusable)
{
	struct run r;

	server_leaks(dir);
	sh(&r, "for rec in " NESTED " " GENUINE "; do " BUILDBEAT " archive --repo builds.git "
	   "--host a --branch b --machine m $rec || exit 1; done");
	sh(&r, "git -C builds.git symbolic-ref HEAD refs/heads/a/b/m");
	sh(&r, unusable[_i].make);
	/* The last one reads no archive of ours; that it is shallow is not why it is refused. */
	for (size_t i = 0; i < ARRAY_SIZE(users) - !_i; i++)
		support_refuses(dir, users[i], unusable[_i].says);
}

/* Standard output cannot be written to: the build is archived, and the error reported. */
/* C1 controls and characters that change the direction of writing are shown as escapes. */
TEST(controls)
{
	struct run r;

	sh(&r, BUILDBEAT " archive --repo controls.git --host h --branch '\302\233x\342\200\256' " NESTED);
	ck_assert_msg(strstr(r.out.data, "h/\\x9bx\\u202e/x86_64 "), "%s", r.out.data);
	sh(&r, "git -C controls.git update-ref refs/buildbeat/replaced/$(printf '\302\233') HEAD~0 2>/dev/null"
	   " || git -C controls.git update-ref refs/buildbeat/replaced/$(printf '\302\233') "
	   "$(git -C controls.git rev-list --all)");
	support_expect(dir, 1, NULL, NULL, BUILDBEAT " archive --fsck --repo controls.git >found");
	sh(&r, "cat found");
	ck_assert_msg(strstr(r.out.data, "replaced/\\x9b: left by"), "%s", r.out.data);
}

/* The other series are read, and the bad name is named. */
TEST(bad_name_in_packed_refs)
{
	static const char *const commands[] = { "history --ref h", "check --ref h", "report --ref h -o r.html" };
	struct run r;

	sh(&r, BUILDBEAT " archive --repo bad.git --host h " NESTED);
	sh(&r, "git -C bad.git pack-refs --all && "
	   "sed -i \"1s,$,\\n$(git -C bad.git rev-list --all) refs/heads/a//b,\" bad.git/packed-refs");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		support_expect(dir, ANY_STATUS, NULL, "the branch 'a//b' is skipped: not a valid name",
			       BUILDBEAT " %s --repo bad.git", commands[i]);
	support_expect(dir, 1, NULL, "", BUILDBEAT " archive --fsck --repo bad.git >found; "
		       "s=$?; grep a//b found >/dev/null && exit $s");
}

TEST(nobody_listens)
{
	support_expect(dir, 2, NULL, "No space left",
		       BUILDBEAT " archive --repo builds.git " NESTED " >/dev/full");
	expect(COUNT, "1\n");
}

TEST_MAIN(cmd_archive);
