/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "launch/gitstamp.h"
#include "recording/store.h"
#include "recording/store_create.h"
#include "tests/support.h"

/* Trees made by real git, and their lines in `build`. */

static const char identity[] =
	"export GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b "
	"GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b "
	"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z GIT_COMMITTER_DATE=2026-01-01T00:00:00Z; "
	"git init -q -b main tree && cd tree && ";

static const char commit[] = "echo one >file && git add file && git commit -qm one";

/* TREE and REV in lines stand for the tree's path and its full revision. */
static const struct {
	const char *commands;
	const char *below;	/* stamped: directory below tree */
	const char *lines;
} cases[] = {
	{ "COMMIT", "", "source: TREE\nrevision: REV\nbranch: main\ndirty: no\n"
	  "describe: SHORT\n" },
	{ "COMMIT && mkdir -p a/b", "/a/b", "source: TREE\nrevision: REV\nbranch: main\n"
	  "dirty: no\ndescribe: SHORT\n" },
	{ "COMMIT && git tag v1", "", "source: TREE\nrevision: REV\nbranch: main\ndirty: no\n"
	  "describe: v1\n" },
	{ "COMMIT && git tag v1 && git commit -q --allow-empty -m two", "",
	  "source: TREE\nrevision: REV\nbranch: main\ndirty: no\ndescribe: v1-1-gSHORT\n" },
	{ "COMMIT && echo two >file", "", "source: TREE\nrevision: REV\nbranch: main\n"
	  "dirty: yes\ndescribe: SHORT\n" },
	{ "COMMIT && echo two >file && git add file", "",
	  "source: TREE\nrevision: REV\nbranch: main\ndirty: yes\ndescribe: SHORT\n" },
	{ "COMMIT && rm file", "", "source: TREE\nrevision: REV\nbranch: main\n"
	  "dirty: yes\ndescribe: SHORT\n" },
	{ "COMMIT && chmod +x file", "", "source: TREE\nrevision: REV\nbranch: main\n"
	  "dirty: yes\ndescribe: SHORT\n" },
	{ "COMMIT && touch -d yesterday file", "", "source: TREE\nrevision: REV\n"
	  "branch: main\ndirty: no\ndescribe: SHORT\n" },
	{ "COMMIT && echo x >untracked", "", "source: TREE\nrevision: REV\nbranch: main\n"
	  "dirty: no\ndescribe: SHORT\n" },
	{ "COMMIT && git checkout -q --detach", "", "source: TREE\nrevision: REV\n"
	  "dirty: no\ndescribe: SHORT\n" },
	{ "COMMIT && git checkout -q -b topic/x", "", "source: TREE\nrevision: REV\n"
	  "branch: topic/x\ndirty: no\ndescribe: SHORT\n" },
	{ "true", "", "source: TREE\nbranch: main\n" },
	{ "COMMIT && cd .. && mv tree real && git -C real worktree add -q ../tree && cd tree",
	  "", "source: TREE\nrevision: REV\nbranch: tree\ndirty: no\ndescribe: SHORT\n" },
	{ "COMMIT && cd .. && git clone -q --bare tree bare && rm -rf tree && mv bare tree && "
	  "cd tree", "", "source: TREE\nrevision: REV\nbranch: main\ndescribe: SHORT\n" },
	{ "COMMIT && git commit -q --allow-empty -m two && cd .. && mv tree full && "
	  "git clone -q --depth 1 file://$PWD/full tree && cd tree",
	  "", "source: TREE\nrevision: REV\nbranch: main\ndirty: no\ndescribe: SHORT\n" },
	{ "COMMIT && git commit -q --allow-empty -m two && git tag v2 && cd .. && "
	  "mv tree full && git clone -q --depth 1 file://$PWD/full tree && cd tree",
	  "", "source: TREE\nrevision: REV\nbranch: main\ndirty: no\ndescribe: v2\n" },
	{ "rm -rf .git", "", "" },
	{ "COMMIT && chown -R 12345:12345 . && chown 12345 .git",
	  "", "source: TREE\ngit_error: the repository belongs to another user and "
	  "safe.directory does not name it\n" },
	{ "COMMIT && printf '[broken' >.git/config", "", NULL },
	{ "COMMIT && : >.git/index", "", NULL },
	{ "COMMIT && rm -rf .git/objects/*", "", NULL },
};

static void replace(struct buf *out, const char *text, const char *from, const char *to)
{
	const char *at;

	while ((at = strstr(text, from))) {
		buf_add(out, text, (size_t)(at - text));
		buf_adds(out, to);
		text = at + strlen(from);
	}
	buf_adds(out, text);
}

static void collect(void *context, struct buf *lines)
{
	buf_add(context, lines->data, lines->len);
}

/* The tree of case i, and its revision. */
static void make_tree(int i, char *tree, char *revision)
{
	RELEASED(buf, script = BUF_INIT);
	struct run r;

	replace(&script, cases[i].commands, "COMMIT", commit);
	support_run(&r, support_tmpdir(), "%s%s && { git rev-parse -q --verify HEAD || :; }",
		    identity, buf_str(&script));
	ck_assert_msg(r.status == 0 || !cases[i].lines || !*cases[i].lines, "%s", r.err.data);
	snprintf(revision, 64, "%.*s", (int)strcspn(r.out.data, "\n"), r.out.data);
	sprintf(tree, "%s/tree", support_tmpdir());
}

TEST_EACH(trees, cases)
{
	volatile sig_atomic_t go_on = 0;
	char tree[256], revision[64], brief[8] = "";
	RELEASED(buf, lines = BUF_INIT, one = BUF_INIT, two = BUF_INIT, want = BUF_INIT);

	SKIP_IF(strstr(cases[_i].commands, "chown") && geteuid());
	make_tree(_i, tree, revision);
	gitstamp_tree(support_path("%s%s", tree, cases[_i].below), &go_on, collect, &lines);
	if (cases[_i].lines) {
		memcpy(brief, revision, 7);
		replace(&one, cases[_i].lines, "TREE", tree);
		replace(&two, buf_str(&one), "REV", revision);
		replace(&want, buf_str(&two), "SHORT", brief);
		ck_assert_str_eq(buf_str(&lines), buf_str(&want));
	} else {
		ck_assert_msg(strstr(buf_str(&lines), "git_error: ") != NULL, "%s",
			      buf_str(&lines));
	}
}

/* When stopped, it records that the rest is not known. */
TEST(out_of_time)
{
	volatile sig_atomic_t stop = 1;
	char tree[256], revision[64];
	RELEASED(buf, lines = BUF_INIT);

	make_tree(0, tree, revision);
	gitstamp_tree(tree, &stop, collect, &lines);
	ck_assert_ptr_nonnull(strstr(buf_str(&lines), revision));
	ck_assert_ptr_nonnull(strstr(lines.data, "out of time"));
	ck_assert_ptr_null(strstr(lines.data, "dirty:"));
	ck_assert_ptr_nonnull(strstr(lines.data, "describe: "));
}

/* Several trees, one of them missing, through the process that reads them. */
TEST(in_the_background)
{
	struct word_list list = { .n = 3 };
	struct gitstamp g;
	struct store s;
	struct error err;
	RELEASED(buf, build);
	char tree[256], revision[64];
	const char *first, *second;

	make_tree(2, tree, revision);
	list.item[0] = tree;
	list.item[1] = "/nonexistent";
	list.item[2] = tree;
	ck_assert_int_eq(store_create(&s, support_tmpdir(), "rec", &err), 0);
	gitstamp_begin(&g, &s, &list);
	gitstamp_head_start(&g);
	gitstamp_end(&g);
	ck_assert_int_eq(g.pid, 0);
	store_close(&s);
	support_read(&build, support_path("%s/rec/build", support_tmpdir()));
	first = strstr(build.data, "source: ");
	ck_assert_ptr_nonnull(first);
	second = strstr(first + 1, "source: ");
	ck_assert_ptr_nonnull(second);
	ck_assert_uint_eq(strlen(second), (size_t)(second - first));
	ck_assert_mem_eq(first, second, strlen(second));
}

TEST_PROGRAM(gitstamp)
{
	SKIP_PROGRAM_IF(!support_has("git"));
	return support_main();
}
