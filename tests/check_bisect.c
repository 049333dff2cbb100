/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/paths.h"
#include "tests/support.h"

/* `buildbeat bisect` over real histories and real builds. The metric is the same on any
 * machine, however busy: the memory that dd uses for one block. */

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"

/* Each line is a commit: its name, the memory its task hungry uses, and other changes. */
#define HISTORY(lines) \
	"git init -q -b main src && cd src && printf 'all: quick hungry\\nquick:\\n\\ttrue\\n" \
	"hungry:\\n\\tdd if=/dev/zero of=/dev/null bs=$$(cat size) count=1\\n" \
	"-include more.mk\\n' >Makefile && mkdir sub && echo 'all:;$(MAKE) -C ..' >sub/Makefile && " \
	"while read name size more; do echo $name >name; echo $size >size; echo \"$more\" >more.mk; " \
	"git add . && git commit -qm \"commit $name\" && git tag $name; done <<END\n" lines "END\n"

#define LINE_OF_SEVEN \
	"c0 8M\nc1 8M\nc2 8M all: nothing\nc3 8M\nc4 40M\nc5 40M\nc6 40M\n"

#define LINE_OF_THREE "c0 8M\nc1 8M\nc4 40M\n"

#define BISECT BUILDBEAT " bisect --good c0 --metric memory "

static struct run r;

static void in_src(const char *format, const char *rest)
{
	static const char environment[] =
		"export HOME=$PWD/home XDG_CACHE_HOME=$PWD/cache XDG_CONFIG_HOME=$PWD/home "
		"GIT_CONFIG_NOSYSTEM=1 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b "
		"GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b "
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z GIT_COMMITTER_DATE=2026-01-01T00:00:00Z; "
		"unset MAKEFLAGS MFLAGS MAKELEVEL MAKEFILES; mkdir -p home cache; ";

	support_run(&r, support_tmpdir(), "%s%s%s", environment, format, rest);
}

/* A search leaves no files in the cache or in the user's tree. */
static void check_untouched(const char *before)
{
	support_expect(support_tmpdir(), ANY_STATUS, before, NULL,
		       "ls -A cache; git -C src status --porcelain; "
		       "git -C src worktree list | wc -l; git -C src for-each-ref | wc -l; "
		       "git -C src symbolic-ref HEAD");
}

/* The culprit is c4 for every choice of metric. */
static const struct { const char *command; const char *tells; } found[] = {
	{ BISECT "-- make", "first bad commit: " },
	{ BISECT "--task hungry -- make -j2", "memory of the largest process of hungry: " },
	{ BISECT "--task hungry -T starving -- make", "memory of the largest process of hungry: " },
	{ BISECT "--task starving --task hungry -- make", "of starving: " },
	{ BISECT "--bad c4 make", "first bad commit: " },
	{ "cd sub && " BISECT "--prepare 'test -f ../name && test -f Makefile && touch new' -- "
	  "sh -c 'test -f new && test ! -f ../more.o && touch ../more.o && make'",
	  "compared with its parent: " },
	{ "export GIT_DIR=$PWD/.git GIT_WORK_TREE=$PWD; " BISECT "-- make", "first bad" },
};

TEST_EACH(finds_it, found)
{
	if (_i)
		in_src(HISTORY(LINE_OF_THREE), found[_i].command);
	else
		in_src(HISTORY(LINE_OF_SEVEN), found[_i].command);
	ck_assert_msg(r.status == 0, "%s%s", r.out.data, r.err.data);
	ck_assert_msg(strstr(r.out.data, found[_i].tells) != NULL, "%s", r.out.data);
	ck_assert_ptr_nonnull(strstr(r.out.data, "  commit c4\n"));
	ck_assert_ptr_nonnull(strstr(r.out.data, " sure\n"));
	ck_assert_ptr_nonnull(strstr(r.err.data, "buildbeat: build 1: "));
	check_untouched(_i ? "1\n4\nrefs/heads/main\n" : "1\n8\nrefs/heads/main\n");
}

/* The user works meanwhile; uncommitted changes are untouched. */
TEST(checkout_is_the_users)
{
	in_src(HISTORY(LINE_OF_THREE), "echo mine >name && git stash -q && echo mine >more.mk && "
	       "echo x >untracked && git checkout -q --detach c1 2>&1; git stash list >list; "
	       "git rev-parse HEAD >head; " BISECT "--bad c4 -- make >/dev/null 2>&1; echo $?; "
	       "git stash list | cmp list - && git rev-parse HEAD | cmp head -; cat untracked "
	       "more.mk; ls *.o 2>/dev/null");
	ck_assert_str_eq(r.out.data, "0\nx\nmine\n");
}

/* Killed during the fifth build, with a truncated line in the log. */
TEST(goes_on)
{
	static const char bisect[] =
		"cat >../bisect <<'END'\n" BISECT "--prepare 'echo x >>../../../count; "
		"test $(wc -l <../../../count) != 5 || kill -9 $PPID' -- make\nEND\n"
		"sed -i \"s,\\.\\./\\.\\./\\.\\./count,$PWD/../count,g\" ../bisect; "
		"sh ../bisect; echo $?; printf 'half a li' >>$(echo ../cache/buildbeat/*/runs); "
		"sh ../bisect; echo $?; wc -l <../count";
	const char *first, *builds;
	unsigned n = 0;

	in_src(HISTORY(LINE_OF_THREE), bisect);
	ck_assert_msg(!strncmp(r.out.data, "137\n", 4), "%s%s", r.out.data, r.err.data);
	ck_assert_ptr_nonnull(strstr(r.err.data, "buildbeat: continuing after 4 builds in "));
	first = strstr(r.out.data, "  commit c4\n");
	ck_assert_ptr_nonnull(first);
	/* only the killed build is built twice */
	for (builds = r.err.data; (builds = strstr(builds, "buildbeat: build ")); builds++)
		n++;
	ck_assert_msg(strstr(r.out.data, support_path("\n0\n%u\n", n + 1)) != NULL, "%u: %s", n,
		      r.out.data);
	check_untouched("1\n4\nrefs/heads/main\n");
}

/* The neighbours of the culprit do not build: the result names all of them. */
TEST(range)
{
	in_src(HISTORY("c0 8M\nc1 8M\nc2 8M all: nothing\nc3 40M all: nothing\nc4 40M\n"),
	       BISECT "--json -- make");
	ck_assert_int_eq(r.status, 1);
	ck_assert_ptr_nonnull(strstr(r.out.data, "\"result\": \"range\""));
	ck_assert_ptr_nonnull(strstr(r.out.data, "\"subject\": \"commit c2\""));
	ck_assert_ptr_nonnull(strstr(r.out.data, "\"subject\": \"commit c3\""));
	ck_assert_ptr_nonnull(strstr(r.out.data, "\"subject\": \"commit c4\""));
	ck_assert_ptr_null(strstr(r.out.data, "\"subject\": \"commit c1\""));
	ck_assert_ptr_nonnull(strstr(r.out.data, "\"reason\": \"the build failed with exit "
				     "status 2\""));
}

TEST(no_difference)
{
	in_src(HISTORY("c0 8M\nc1 8M\nc2 8M\n"), BISECT "-- make");
	ck_assert_int_eq(r.status, 1);
	ck_assert_ptr_nonnull(strstr(r.out.data, "good and bad do not differ by more than the thresholds\n"
				     "  the difference is below the amount of 16 MiB (key amount, "
				     "or option --amount)\n6 builds of 2 commits\n"));
	check_untouched("1\n4\nrefs/heads/main\n");
}

/* The threshold that hides 6 MiB, or that the option replaced. */
static const struct { const char *config, *options; int status; const char *says; } hidden[] = {
	{ "", "", 1, "below the amount of 16 MiB" },
	{ "", "--json", 1, "\"amount\": 16384,\n    \"floor\": 0\n  },\n  \"hidden_by\": \"amount\"," },
	{ "", "--amount 1MiB", 0, "first bad commit: " },
	{ "", "--amount 1MiB --json", 0, "\"hidden_by\": null" },
	{ "share: 500%", "--amount 1MiB", 1, "below the share of 500 %" },
	{ "floor: 1GiB", "", 1, "both are below the floor of 1.0 GiB" },
	{ "floor: 1GiB", "--amount 1MiB", 0, "first bad commit: " },
	{ "", "--amount 1s", 2, "bisect: option '--amount': the unit does not fit the metric 'memory'" },
	{ "", "--amount much", 2, "--amount" },
};

TEST_EACH(hidden_difference, hidden)
{
	if (*hidden[_i].config)
		support_writes(support_path("%s/x.yaml", support_tmpdir()), support_path(
			       "compare: {rules: [{%s, metrics: memory}]}\n", hidden[_i].config));
	in_src(HISTORY("c0 8M\nc1 14M\n"), support_path(BISECT "%s %s -- make",
	       *hidden[_i].config ? "--config ../x.yaml" : "", hidden[_i].options));
	ck_assert_msg(r.status == hidden[_i].status, "%d: %s%s", r.status, r.out.data, r.err.data);
	ck_assert_msg(strstr(r.status == 2 ? r.err.data : r.out.data, hidden[_i].says) != NULL, "%s%s",
		      r.out.data, r.err.data);
}

/* The culprit is on a merged branch, beside a branch without fault. */
TEST(merged_history)
{
	in_src(HISTORY("c0 8M\nc1 8M\n"),
	       "git checkout -qb side && echo a >a && git add a && git commit -qm 'side 1' && "
	       "echo 40M >size && git commit -qam 'side 2' && echo b >a && "
	       "git commit -qam 'side 3' && git checkout -q main && echo c >c && git add c && "
	       "git commit -qm 'main 1' && git merge -q --no-edit side && " BISECT "-- make");
	ck_assert_msg(r.status == 0, "%s%s", r.out.data, r.err.data);
	ck_assert_ptr_nonnull(strstr(r.out.data, "  side 2\n"));
}

/* Each revision is built with its commit of the submodule. */
TEST(submodule)
{
	in_src("git init -q -b main lib && cd lib && echo 8M >size && git add . && "
	       "git commit -qm one && echo 40M >size && git commit -qam two && cd .. && "
	       "git init -q -b main src && cd src && git -c protocol.file.allow=always submodule "
	       "--quiet add ../lib lib && git -C lib checkout -q HEAD~ && "
	       "printf 'all:\\n\\tdd if=/dev/zero of=/dev/null bs=$$(cat lib/size) count=1\\n' "
	       ">Makefile && git add . && git commit -qm one && git tag c0 && echo x >x && "
	       "git add . && git commit -qm two && git -C lib checkout -q main && "
	       "git commit -qam three && echo y >x && git commit -qam four && git remote add "
	       "origin $PWD; ", BISECT "-- make");
	ck_assert_msg(r.status == 0, "%s%s", r.out.data, r.err.data);
	ck_assert_ptr_nonnull(strstr(r.out.data, "  three\n"));
}

TEST(kept_recordings)
{
	in_src(HISTORY("c0 8M\nc1 40M\n"), BISECT "--output ../kept -- make >/dev/null && "
	       "ls ../kept && " BUILDBEAT " list ../kept/recordings | grep -c make; "
	       BISECT "--output ../kept --repeat-max 4 -- make");
	ck_assert_int_eq(r.status, 2);
	ck_assert_str_eq(r.out.data, "recordings\nruns\ntree\n6\n");
	ck_assert_ptr_nonnull(strstr(r.err.data, "/kept/runs: a different bisection is in progress here: "));
}

static const struct { const char *command, *says; } refused[] = {
	{ BUILDBEAT " bisect -- make", "bisect: option '--good' is missing\n" },
	{ BISECT, "bisect: too few operands" },
	{ BUILDBEAT " bisect --good nowhere -- make", "bisect: no revision 'nowhere' in " },
	{ "git clone -q --depth 1 file://$PWD shallow && cd shallow && " BUILDBEAT " bisect --good "
	  "$(git -C .. rev-parse c0) -- make", ", a shallow clone: complete it with git fetch "
	  "--unshallow\n" },
	{ BISECT "--bad c0 -- make", "bisect: good and bad are the same commit, " },
	{ BUILDBEAT " bisect --good c1 --bad c0 -- make", " is not an ancestor of " },
	{ BISECT "--metric colour -- make", "--metric" },
	{ BISECT "-- sh -c 'make >/dev/null 2>&1; test $(cat name) = c0'", "bisect: the bad revision " },
	{ BISECT "-- false", " cannot be measured: the build failed with exit status 1\n" },
	{ BISECT "-- /nowhere/make", "the build failed with exit status 127\n" },
	{ BISECT "--prepare false -- make", "the preparation failed with exit status 1\n" },
	{ BISECT "--task hungr -- make", "no such task; did you mean 'hungry'?\n" },
	{ "cd ../home && " BUILDBEAT " bisect --good c0 -- make", "not a git repository" },
	{ "echo 'compare: 1' >buildbeat.yaml; " BISECT "-- make", "buildbeat.yaml:1:" },
};

TEST_EACH(refuses, refused)
{
	in_src(HISTORY("c0 8M\nc1 8M\n"), refused[_i].command);
	ck_assert_msg(r.status == 2, "%d: %s", r.status, r.err.data);
	ck_assert_str_eq(r.out.data, "");
	ck_assert_msg(strstr(r.err.data, refused[_i].says) != NULL, "%s", r.err.data);
}

/* Two searches of c1 by a build that fails before $HOME/again exists. */
static void run_twice(const char *build, const char *out, const char *err)
{
	in_src(HISTORY("c0 8M\nc1 40M\n"),
	       support_path("cat >../bisect <<'END'\n" BISECT "-- sh -c 'test -e $HOME/again %s'\nEND\n"
			    "sh ../bisect; echo $?; touch $HOME/again; sh ../bisect | grep -c c1",
			    build));
	ck_assert_msg(!strcmp(r.out.data, out), "%s%s", r.out.data, r.err.data);
	ck_assert_ptr_nonnull(strstr(r.err.data, err));
}

/* An interrupted search ends with the interrupted build's status, and continues later. */
TEST(interrupted)
{
	run_twice("|| kill -TERM $$; make", "143\n1\n", "run the same command to continue\n");
}

/* Revisions that failed because of this machine are built again when it is repaired. */
TEST(mended)
{
	run_twice("&& make", "2\n1\n", "the logs of the builds are in ");
	check_untouched("1\n3\nrefs/heads/main\n");
}

TEST_PROGRAM(bisect)
{
	SKIP_PROGRAM_IF(!support_can_be_loaded() || !support_has("git") ||
		!support_has("make") || !support_has("dd"));
	return support_main();
}
