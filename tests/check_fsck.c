/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/made_build.h"
#include "tests/support.h"

#include <ftw.h>
#include <git2.h>

/*
 * archive --fsck of damaged archives: after the repair every command works, and every build whose
 * objects are whole is there.
 */

#define BUILDS 4
#define TASKS 8
#define BUILDBEAT TOP_BUILDDIR "/buildbeat"

static struct build_objects {
	size_t n;
	git_oid id[64];
} objects[BUILDS];

static void add_object(struct build_objects *o, const git_oid *id)
{
	ck_assert_uint_lt(o->n, ARRAY_SIZE(o->id));
	o->id[o->n++] = *id;
}

static int add_entry(const char *root, const git_tree_entry *e, void *o)
{
	(void)root;
	add_object(o, git_tree_entry_id(e));
	return 0;
}

static void list_objects(void)
{
	git_repository *git;
	git_commit *c;
	git_tree *tree;
	git_oid id;

	ck_assert_int_eq(git_repository_open(&git, made_repo()), 0);
	ck_assert_int_eq(git_reference_name_to_id(&id, git, "refs/heads/" MADE_REF), 0);
	for (int i = BUILDS; i--;) {
		objects[i].n = 0;
		ck_assert_int_eq(git_commit_lookup(&c, git, &id), 0);
		ck_assert_int_eq(git_commit_tree(&tree, c), 0);
		add_object(&objects[i], &id);
		add_object(&objects[i], git_tree_id(tree));
		git_tree_walk(tree, GIT_TREEWALK_PRE, add_entry, &objects[i]);
		if (i)
			id = *git_commit_parent_id(c, 0);
		git_tree_free(tree);
		git_commit_free(c);
	}
	git_repository_free(git);
}

/* Two builds have notes. The dictionary grows once. */
static void make(void)
{
	struct archive *a = made_archive(made_repo());

	for (unsigned build = 0; build < BUILDS; build++)
		made_add_build(a, 0, TASKS + build / 3, build);
	archive_close(a);
	made_git("notes --ref=buildbeat add -m 'one' " MADE_REF);
	made_git("notes --ref=buildbeat add -m 'two' " MADE_REF "~2");
	list_objects();
}

/* The number of problems. */
static size_t problems;
static struct buf found_text;

static void found(void *context, const char *what)
{
	(void)context;
	buf_addf(&found_text, "%s\n", what);
}

static void fsck(bool repair, const char *what)
{
	struct archive_fsck f = { .repair = repair, .found = found };
	struct error err = { 0 };
	struct archive *a;

	buf_clear(&found_text);
	ck_assert_msg(!archive_open(&a, made_repo(), ARCHIVE_FSCK, &err), "%s: %s", what, err.message);
	ck_assert_msg(!archive_fsck(a, &f, &err), "%s: %s: %s", what, err.path, err.message);
	problems = f.n;
	archive_close(a);
}

/* A bit for each build that can be read. */
static unsigned read_builds(const char *what)
{
	struct builds builds = BUILDS_INIT;
	struct known_list known = { 0 };
	struct error err = { 0 };
	unsigned is = 0;
	struct archive *a;
	int r = archive_open(&a, made_repo(), ARCHIVE_READ, &err);

	if (!r)
		r = archive_builds(a, MADE_REF, 0, &builds, &err);
	ck_assert_msg(!r || r == -ENOENT, "%s: %s: %s\n%s", what, err.path, err.message,
		      buf_str(&found_text));
	for (size_t i = 0; !r && i < builds.n; i++) {
		unsigned number = (unsigned)strtoul(builds.build[i].run + strlen("night-"), NULL, 10);
		struct values f;

		ck_assert_msg(!is || number > (unsigned)(31 - __builtin_clz(is)), "%s: order", what);
		is |= 1u << number;
		ck_assert_msg(!archive_values(a, builds.build[i].id, &f, &err), "%s: %s", what,
			      err.message);
		ck_assert_uint_eq(f.n_tasks, TASKS + number / 3);
		values_release(&f);
	}
	if (!r)
		ck_assert_msg(archive_known(a, &builds, &known, &err) >= 0, "%s: %s", what,
			      err.message);
	free(known.known);
	builds_release(&builds);
	archive_close(a);
	return is;
}

static void check_repaired(unsigned whole, const char *what)
{
	unsigned is;

	fsck(true, what);
	ck_assert_msg(problems, "%s: not found", what);
	is = read_builds(what);
	ck_assert_msg(is == whole, "%s: builds %#x, expected %#x\n%s", what, is, whole,
		      found_text.data);
	fsck(false, what);
	ck_assert_msg(!problems, "%s: after the repair: %s", what, found_text.data);
}

/* Damaged objects */

static char *file[512];
static size_t n_files;

static int note_file(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)at;
	if (type == FTW_F && !strstr(path, "/info/")) {
		ck_assert_uint_lt(n_files, ARRAY_SIZE(file));
		file[n_files++] = strdup(path);
	}
	return 0;
}

static void list_files(void)
{
	for (size_t i = 0; i < n_files; i++)
		free(file[i]);
	n_files = 0;
	nftw(support_path("%s/objects", made_repo()), note_file, 8, FTW_PHYS);
	ck_assert_uint_gt(n_files, 0);
}

static void shell(const char *command)
{
	support_expect(support_tmpdir(), 0, NULL, NULL, "%s", command);
}

static void explode(void)
{
	shell("cd builds.git && mkdir x && mv objects/pack/* x && for p in x/*.pack; do "
	      "git unpack-objects -q <$p || exit 1; done && rm -rf x && cp -al . ../template.git");
}

static void restore(void)
{
	shell("rm -rf builds.git && cp -al template.git builds.git");
}

/* The builds that do not have the object of this file. */
static unsigned without(const char *path)
{
	unsigned whole = (1u << BUILDS) - 1;
	size_t n = strlen(path);
	char hex[GIT_OID_HEXSZ + 1];
	git_oid id;

	snprintf(hex, sizeof hex, "%.2s%s", path + n - 41, path + n - 38);
	ck_assert_int_eq(git_oid_fromstr(&id, hex), 0);
	for (int b = 0; b < BUILDS; b++) {
		for (size_t i = 0; i < objects[b].n; i++) {
			if (git_oid_equal(&objects[b].id[i], &id))
				whole &= ~(1u << b);
		}
	}
	return whole;
}

static void damage(const char *path, size_t how)
{
	RELEASED(buf, content);

	support_read(&content, path);
	unlink(path);
	if (how == 1)
		support_write(path, content.data, content.len / 2);
	content.data[content.len / 2] ^= 0x10;
	if (how == 2)
		support_write(path, content.data, content.len);
}

/* Missing, truncated or with another bit. Git can repack the repaired archive. */
TEST_LOOP(every_object, 2)
{
	make();
	explode();
	list_files();
	for (size_t i = 0; i < n_files; i++) {
		const char *what = support_path("%s, %s", file[i], _i ? "damaged" : "missing");

		damage(file[i], _i ? 1 + i % 2 : 0);
		check_repaired(without(file[i]), what);
		if (i % 16 == 0)
			made_git("repack -q -a -d");
		restore();
	}
}

/* Two of them at once. */
TEST(pairs_of_objects)
{
	make();
	explode();
	list_files();
	for (size_t i = 0; i < n_files; i += 3) {
		size_t other = (i * 7 + 3) % n_files;
		const char *what = support_path("%s and %s", file[i], file[other]);

		if (i == other)
			continue;
		damage(file[i], i % 3);
		damage(file[other], i / 3 % 3);
		check_repaired(without(file[i]) & without(file[other]), what);
		restore();
	}
}

/* Bits in packs and their indexes. An index can be made again. */
TEST_LOOP(every_pack, 2)
{
	make();
	if (_i)
		made_git("gc -q");
	shell("cp -al builds.git template.git");
	list_files();
	for (size_t i = 0; i < n_files; i++) {
		size_t n = strlen(file[i]);
		bool is_index = !strcmp(file[i] + n - 4, ".idx");
		struct buf content;

		if (!is_index && strcmp(file[i] + n - 5, ".pack"))
			continue;
		support_read(&content, file[i]);
		for (size_t at = i % 13; at < content.len; at += content.len / 4) {
			const char *what = support_path("%s, byte %zu", file[i], at);

			content.data[at] ^= (char)(1 << at % 8);
			unlink(file[i]);
			support_write(file[i], content.data, content.len);
			content.data[at] ^= (char)(1 << at % 8);
			if (is_index) {
				check_repaired((1u << BUILDS) - 1, what);
			} else {
				fsck(true, what);
				read_builds(what);
				fsck(false, what);
				ck_assert_msg(!problems, "%s: %s", what, found_text.data);
			}
			restore();
		}
		buf_release(&content);
	}
}

/* Other damage; what the command prints about it. */
static const struct { const char *damage, *says; unsigned builds; } others[] = {
	{ "printf garbage >refs/heads/" MADE_REF, "cannot be read", 15 },
	{ ": >refs/heads/" MADE_REF, "cannot be read", 15 },
	{ "echo more text than the name of an object has >refs/heads/" MADE_REF, "cannot be read", 15 },
	{ ": >refs/notes/buildbeat", "the notes are lost", 15 },
	{ "echo 1234567890123456789012345678901234567890 >refs/heads/" MADE_REF, "is lost", 15 },
	{ BUILDBEAT " archive --repo . --host o --branch p --machine q later && "
	  "git update-ref -d refs/heads/o/p/q && "	/* a newer build, but of another series */
	  "echo 1234567890123456789012345678901234567890 >refs/heads/" MADE_REF, "is lost", 15 },
	{ "git update-ref refs/heads/" MADE_REF " $(git commit-tree -m note -p " MADE_REF " " MADE_REF
	  "^{tree})", "is not a build", 15 },
	{ "touch -d '2020-01-01' refs/heads/" MADE_REF ".lock", "lock", 15 },
	{ "printf 'buildbeat: objects' >objects/pack/pack-1.keep; chmod 444 objects/pack/pack-1.keep",
	  "left by a killed writer", 15 },
	{ "set -- objects/pack/*.idx; chmod u+w $1; printf x | dd of=$1 bs=1 seek=1040 conv=notrunc status=none",
	  "the index of a pack is damaged", 15 },	/* in the name of an object */
	{ "git update-ref refs/buildbeat/replaced/heads/" MADE_REF " " MADE_REF,
	  "left by a killed buildbeat prune", 15 },
	{ "echo 'buildbeat column 1 3' >w; GIT_INDEX_FILE=x git read-tree " MADE_REF "; "
	  "GIT_INDEX_FILE=x git update-index --cacheinfo 100644,$(git hash-object -w w),columns/wall_us; "
	  "git update-ref refs/heads/" MADE_REF " $(git log -1 --format=%B " MADE_REF " | "
	  "git commit-tree -p " MADE_REF "~1 $(GIT_INDEX_FILE=x git write-tree))", "wall_us", 7 },
};

TEST_EACH(other_damage, others)
{
	struct run r;

	make();
	support_expect(made_repo(), 0, "", "", "cp -r " TOP_SRCDIR "/tests/data/recordings/nested later");
	support_expect(made_repo(), 0, "", "", "git symbolic-ref refs/heads/" MADE_REF "2 refs/heads/" MADE_REF);
	support_expect(made_repo(), 0, "0 problems\n", "", BUILDBEAT " archive --fsck --repo .");
	support_expect(made_repo(), 0, "", "", "git symbolic-ref -d refs/heads/" MADE_REF "2");
	support_expect(made_repo(), 0, NULL, NULL, "%s", others[_i].damage);
	support_run(&r, made_repo(), BUILDBEAT " archive --fsck --repo .");
	ck_assert_int_eq(r.status, 1);
	ck_assert_msg(strstr(r.out.data, others[_i].says) && strstr(r.out.data, "1 problem\n"), "%s",
		      r.out.data);
	support_run(&r, made_repo(), BUILDBEAT " archive --fsck --repair --repo .");
	ck_assert_msg(!r.status && strstr(r.out.data, "1 problem, repaired\n"), "%s%s", r.out.data,
		      r.err.data);
	ck_assert_uint_eq(read_builds(others[_i].damage), others[_i].builds);
	support_expect(made_repo(), 0, "0 problems\n", "", BUILDBEAT " archive --fsck --repo .");
	made_fsck();
}

/* It is no repair if the file of the reference is still there: something is mounted on it. */
TEST(tip_that_cannot_be_removed)
{
	struct run r;

	make();
	support_expect(made_repo(), 0, NULL, NULL, "printf garbage >refs/heads/" MADE_REF);
	support_run(&r, made_repo(), "unshare -m sh -c 'cd refs/heads/host/main && mount --bind x86_64 x86_64 && "
		    "exec " BUILDBEAT " archive --fsck --repair --repo ../../../..'");
	SKIP_IF(strstr(r.err.data, "unshare: ") || strstr(r.err.data, "mount: "));
	ck_assert_int_eq(r.status, 2);
	ck_assert_msg(strstr(r.err.data, "refs/heads/" MADE_REF ": cannot remove: "), "%s", r.err.data);
	check_repaired((1u << BUILDS) - 1, "mounted");	/* at once, though lost builds are kept by their second */
}

/* The commits of a lost series are searched among all: not those of another series, nor what is no
 * build. */
TEST(lost_series_takes_no_others)
{
	struct run r;

	make();
	support_expect(made_repo(), 0, NULL, NULL, "git commit-tree -m 'no build' " MADE_REF "^{tree} && "
		       "mkdir -p refs/heads/o/p && "
		       "echo 1234567890123456789012345678901234567890 >refs/heads/o/p/q");
	support_run(&r, made_repo(), BUILDBEAT " archive --fsck --repair --repo .");
	ck_assert_msg(!r.status && strstr(r.out.data, "o/p/q: commit 123456789012 is lost") &&
		      strstr(r.out.data, "1 problem, repaired\n"), "%s%s", r.out.data, r.err.data);
	support_expect(made_repo(), 1, "", "", "git show-ref refs/heads/o/p/q");
	ck_assert_uint_eq(read_builds("lost series"), 15);
}

/* What can be read of a lost build is below refs/buildbeat/lost. */
TEST(lost_builds_are_kept)
{
	struct run r;

	make();
	explode();
	support_run(&r, made_repo(), "id=$(git rev-parse " MADE_REF "~1:columns/wall_us); "
		    "rm -f objects/$(echo $id | cut -c1-2)/$(echo $id | cut -c3-); "
		    "git rev-parse " MADE_REF "~1");
	ck_assert_int_eq(r.status, 0);
	fsck(true, "lost");
	support_expect(made_repo(), 0, NULL, NULL, "ref=$(git for-each-ref --format='%%(refname)' "
		       "refs/buildbeat/lost) && git cat-file -e $ref:%.40s/totals && "
		       "git cat-file -e $ref:%.40s/columns/runs && git gc -q --prune=now && "
		       "git cat-file -e $ref:%.40s/tasks && git show $ref:%.40s/message | grep -q ^Build-Start: ",
		       r.out.data, r.out.data, r.out.data, r.out.data);
	made_fsck();
}

static const char *const refused[] = {
	"--repair", "--fsck rec", "--fsck --import-oe x", "--fsck --repo none",
};

TEST_EACH(refusals, refused)
{
	support_refuses(support_tmpdir(), support_path("archive --repo x %s", refused[_i]), "");
}

TEST_PROGRAM(fsck)
{
	made_environment();
	git_libgit2_init();
	return support_main();
}
