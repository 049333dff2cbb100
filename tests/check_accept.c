/* SPDX-License-Identifier: MIT */
#include "archive/notes.h"
#include "base/array.h"
#include "tests/paths.h"
#include "tests/support.h"

/* accept: notes on builds, read by real git. */

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"
#define SERIES "nightly-1/master/x86_64"
#define TASK "recipe-00000: do_"

/* Twenty builds; in the last five the first five tasks take half as much memory more. */
#define ARCHIVE "cp -r $SEED a.git && "
#define SEED TOP_BUILDDIR "/tests/gen_archive --tasks 12 --builds 20 " \
	"--step 0-4/15/0.5/memory "
#define ACCEPT BUILDBEAT " accept --repo a.git "
#define ACK BUILDBEAT " accept --known --repo a.git "
#define NOTES "git -C a.git notes --ref=buildbeat "

static struct run r;
static char seed[256];

/* Once, before all tests. */
static void make_seed(void)
{
	snprintf(seed, sizeof seed, "%s/seed.git", support_tmpdir());
	support_run(&r, NULL, SEED "%s && git -C %s repack -adq", seed, seed);
	ck_assert_msg(!r.status, "%s", r.err.data);
}

static void begin(void)
{
	support_run(&r, support_tmpdir(), "mkdir home");
}

/* With an environment of its own; SOURCE_DATE_EPOCH is 2026-03-01. */
static void run_here(const char *command)
{
	support_run(&r, support_tmpdir(), "export SEED=%s HOME=$PWD/home XDG_CONFIG_HOME=$PWD/home "
		    "XDG_CACHE_HOME=$PWD/home GIT_CONFIG_NOSYSTEM=1 USER=somebody "
		    "SOURCE_DATE_EPOCH=1772323200 GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b "
		    "GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b; %s", seed, command);
}

static const struct { const char *command; int status; const char *out, *err; } cases[] = {
	/* The output has the id of the build with the change. */
	{ ACCEPT "--metrics memory '" TASK "compile' why >said; cut -d' ' -f1-3,5- said; "
	  "grep -c $(git -C a.git rev-parse --short=12 " SERIES "~4) said", 0,
	  "accepted since 2026-01-16  memory of recipe-00000: do_compile\n1\n", "" },
	/* A task that did not change is refused. */
	{ ACK "--metrics wall '" TASK "compile' why >said; sed 1q said | cut -d' ' -f1-3,5-; sed 1d said", 0,
	  "acknowledged since 2026-01-20  wall of recipe-00000: do_compile\n"
	  "the newest build, because check reports no change of it\n", "" },
	{ ACK "--total --build " SERIES "~3 --message 'a reason' | cut -d' ' -f1-3,5-; "
	  NOTES "show " SERIES "~3", 0, "acknowledged since 2026-01-17  all of the build\n"
	  "ack all total by \"somebody\" at 2026-03-01T00:00:00Z: a reason\n", "" },
	{ "git config --file home/.gitconfig user.name 'A \"B\"'; "
	  ACCEPT "--metrics io,cpu --build " SERIES " 'recipe-*' 'one\ntwo' >/dev/null; "
	  NOTES "show " SERIES, 0, "accept cpu,io \"recipe-*\" by \"A \\\"B\\\"\" at "
	  "2026-03-01T00:00:00Z: one\\ntwo\n", "" },
	/* listed, the newest build first */
	{ ACCEPT "--total --build " SERIES "~1 old >/dev/null; " ACCEPT "--total --build " SERIES
	  " new >/dev/null; " ACK "--total other >/dev/null; " ACCEPT "--list | sed -E 's/ [0-9a-f]{12} / /'",
	  0, "2026-01-20  all of the build\n  somebody, 2026-03-01: new\n"
	  "2026-01-19  all of the build\n  somebody, 2026-03-01: old\n", "" },
	{ ACK "--list; " ACK "--list --json", 0, "[]\n", "" },
	{ ACK "--build " SERIES " --metrics wall '*' x >/dev/null; " ACK "--list -j | grep -v '\"build\"'",
	  0, "[\n  {\n    \"build_start\": \"2026-01-20T02:00:00Z\",\n    \"task\": \"*\",\n"
	  "    \"metrics\": [\n      \"wall\"\n    ],\n    \"by\": \"somebody\",\n"
	  "    \"time\": \"2026-03-01T00:00:00Z\",\n    \"reason\": \"x\",\n    \"owner\": null,\n"
	  "    \"bug\": null,\n    \"fixed_by\": null,\n    \"invalid\": false,\n    \"everywhere\": false\n  }\n]\n", "" },
	/* What is not said again remains. */
	{ ACK "--total --owner 'A. B' --build " SERIES " slow >/dev/null; "
	  ACCEPT "--total --build " SERIES " --bug https://b.example/1 --fixed-by 1234abc >/dev/null; "
	  NOTES "show " SERIES " | sed 's/.*Z/Z/'; " ACCEPT "--total --build " SERIES " --invalid >/dev/null; "
	  ACK "--list | sed '1d;4,$d'; " ACK "--list | tail -2; " ACK "--list -j | sed -n '/owner/,/invalid/p' | "
	  "sed 4q", 0,
	  "Z: slow [owner: A. B]\nZ: slow [owner: A. B] [bug: https://b.example/1] [fixed by: 1234abc]\n"
	  "  somebody, 2026-03-01: slow (invalid)\n  owner A. B, https://b.example/1\n"
	  "  somebody, 2026-03-01: slow\n  owner A. B\n"
	  "    \"owner\": \"A. B\",\n    \"bug\": \"https://b.example/1\",\n"
	  "    \"fixed_by\": null,\n    \"invalid\": true,\n", "" },
	{ ACCEPT "--total --fixed-by master x", 2, "", "buildbeat: accept: 'master' is not a commit: give at "
	  "least 7 digits of its id, or its name in the repository of the working directory\n" },
	{ ACCEPT "--total --bug javascript:x x", 2, "", "buildbeat: accept: 'javascript:x' is not a URL: "
	  "expected http:// or https://, without spaces and control characters\n" },
	{ ACCEPT "--total --bug \"$(printf 'https://a/\\033')\" x", 2, "", NULL },
	{ ACCEPT "--total --bug 'https://a b' x", 2, "", NULL },
	{ ACCEPT "--total --bug https:// x", 2, "", NULL },
	{ ACCEPT "--total --owner \"$(printf 'a\\nb')\" x", 2, "", "buildbeat: accept: the owner has control "
	  "characters\n" },
	{ ACCEPT "--total --invalid --fixed-by 1234567 x", 2, "", "buildbeat: accept: --invalid and "
	  "--fixed-by exclude each other\n" },
	{ ACCEPT "--total --owner me", 2, "", "buildbeat: accept: the reason is missing: add option "
	  "'--message'\n" },
	/* Removing affects the last note, and only one of the same task. */
	{ ACCEPT "--total one --build " SERIES "~1 >/dev/null; " ACCEPT "--total two >/dev/null; "
	  ACK "--total --undo; echo $?; " ACCEPT "'*' --undo; echo $?; " ACCEPT "--undo --total "
	  "| cut -d' ' -f1-5,7-; " ACCEPT "--list | tail -1; " ACCEPT "--undo --total >/dev/null; "
	  NOTES "list | wc -l", 0, "1\n1\nno longer accepted since 2026-01-20  all of the build\n"
	  "  somebody, 2026-03-01: one\n0\n",
	  "buildbeat: accept: no such entry\nbuildbeat: accept: no such entry\n" },
	/* a note written by hand */
	{ NOTES "add -m 'a word' " SERIES "; " NOTES "append -m '# no word' " SERIES "; "
	  NOTES "append -m 'ack all total by \"me\" at 2026-02-01T00:00:00Z: by hand' " SERIES
	  "; " ACK "--list 2>&1 | sed 's/ [0-9a-f]\\{12\\}/ ID/'", 0,
	  "buildbeat: a.git: note on ID:1: skipped: not a note of buildbeat: a word\n"
	  "2026-01-20 ID  all of the build\n  me, 2026-02-01: by hand\n", "" },
	/* Notes of others stay, valid or not. */
	{ NOTES "add -m 'a word' " SERIES "; " ACK "--total why 2>/dev/null >&2; " NOTES "show "
	  SERIES " | cut -c1-13", 0, "a word\nack all total\n", "" },
	{ ACK "'" TASK "complie' why", 2, "", "buildbeat: no task matches 'recipe-00000: do_complie'; "
	  "did you mean 'recipe-00000: do_compile'?\n" },
	{ ACK "'x*' why", 2, "", "buildbeat: no task matches 'x*'\n" },
	{ ACK, 2, "", "buildbeat: accept: TASK or option '--total' is missing\n" },
	{ ACCEPT "'*'", 2, "", "buildbeat: accept: the reason is missing: add option '--message'\n" },
	{ ACCEPT "--total ''", 2, "", "buildbeat: accept: the reason is missing: add option '--message'\n" },
	{ ACCEPT "--total a b", 2, "", "buildbeat: accept: unexpected 'b'\n" },
	{ ACCEPT "--total --metrics colour x", 2, "", NULL },
	{ ACCEPT "--total --build nowhere x", 2, "", NULL },
	{ "git -C a.git update-ref refs/notes/buildbeat $(git -C a.git rev-parse " SERIES "^{tree}); "
	  ACK "--list", 2, "", NULL },
	{ "mkdir -p a.git/refs/notes; echo 0123456789012345678901234567890123456789 "
	  ">a.git/refs/notes/buildbeat; " ACK "--total x", 2, "", NULL },
};

TEST_GROUP_ONCE("accept", make_seed, NULL);

TEST_EACH(notes_are_stored, cases)
{
	begin();
	run_here(support_path("%s :", ARCHIVE));
	ck_assert_msg(!r.status, "%s", r.err.data);
	run_here(cases[_i].command);
	ck_assert_msg(r.status == cases[_i].status, "%d %s", r.status, r.err.data);
	ck_assert_str_eq(r.out.data, cases[_i].out);
	if (cases[_i].err)
		ck_assert_str_eq(r.err.data, cases[_i].err);
	else
		ck_assert_int_eq(strncmp(r.err.data, "buildbeat: ", 11), 0);
}

/* check reads the notes: three of the five tasks, a group, use so much more that it matters. */
#define CHECK BUILDBEAT " check --repo a.git >told; echo $?; head -1 told | sed 's/:.*//'; "

TEST(checked)
{
	begin();
	run_here(ARCHIVE CHECK ACK "--metrics memory '*' 'bug 1' >/dev/null; " CHECK
		 "grep -c 'known: bug 1 (somebody)' told; "
		 ACK "--metrics memory '*' --undo >/dev/null; " CHECK
		 ACCEPT "--metrics memory '*' meant >/dev/null; " CHECK);
	ck_assert_str_eq(r.out.data, "1\n1 regression confirmed (3 changes)\n"
			 "0\nno regression, 3 known\n1\n"
			 "1\n1 regression confirmed (3 changes)\n0\nno regression\n");
	ck_assert_str_eq(r.err.data, "");
}

/* What is no regression does not fail. What a revision was to fix fails again when more builds have it
 * than are needed to see that: the last two do not, the last three do. */
static const struct { const char *accept, *says; } states[] = {
	{ "--invalid --owner Ann --message 'full disk'", "0\nno regression, 3 known\n"
	  "      invalid: full disk (somebody)\n      owner Ann\n" },
	{ "--bug https://b.example/1 --fixed-by $(rev 1) --message 'bug 1'", "0\nno regression, 3 known\n"
	  "      known: bug 1 (somebody)\n      https://b.example/1, to be fixed by REV\n" },
	{ "--bug https://b.example/1 --fixed-by $(rev 2) --message 'bug 1'", "1\n1 regression confirmed (3 changes)\n"
	  "      not fixed by REV: bug 1; https://b.example/1\n" },
	{ "--fixed-by 1234567 --message 'bug 1'", "0\nno regression, 3 known\n"
	  "      known: bug 1 (somebody)\n      to be fixed by REV\n" },
};

TEST_EACH(states_are_checked, states)
{
	begin();
	run_here(support_path(ARCHIVE "rev() { git -C a.git log -1 --format=%%B " SERIES "~$1 | "
		 "sed -n 's/^Build-Rev: \\([0-9a-f]*\\).*/\\1/p'; }; " ACCEPT "--known --metrics memory %s '*' "
		 ">/dev/null; " CHECK "grep '^      [a-z]*:\\|owner\\|fixed by' told | "
		 "sed 's/fixed by [0-9a-f]*/fixed by REV/' | uniq; " BUILDBEAT " check --repo a.git --markdown | "
		 "grep -c 'full disk; owner Ann\\|bug 1'; " BUILDBEAT " check --repo a.git --junit | "
		 "grep -c 'full disk; owner Ann\\|bug 1'; " BUILDBEAT " report --repo a.git -o page >/dev/null; "
		 "grep -c 'owner Ann\\|fixed by' page/index.html; " BUILDBEAT " history --repo a.git --json | "
		 "grep -c '\"owner\": \"Ann\"\\|\"fixed_by\": \"'", states[_i].accept));
	ck_assert_msg(!strcmp(r.out.data, support_path("%s1\n1\n6\n3\n", states[_i].says)), "%s%s", r.out.data,
		      r.err.data);
}

#define FARM(name, noise) TOP_BUILDDIR "/tests/gen_archive --tasks 12 --builds 20 --step 0-4/15/0.5/memory " \
	"--noise " noise " --series " name " a.git; "
#define TELL(name) BUILDBEAT " check --repo a.git --ref " name " | sed '1s/:.*//;1q'; "

/* Two machines build the same revisions. What holds in every series is one note, on one of them: the
 * other lists, changes and withdraws it. */
TEST(everywhere)
{
	begin();
	run_here(FARM("farm1/main/x", "0.02") FARM("farm2/main/x", "0.03") FARM("farm3/other/x", "0.01")
		 ACCEPT "--ref farm1 --metrics memory '*' one >/dev/null; " TELL("farm1") TELL("farm2")
		 ACCEPT "--ref farm1 --metrics memory --undo '*' >/dev/null; "
		 ACCEPT "--ref farm1 --everywhere --metrics memory '*' all | cut -d' ' -f1-6; "
		 TELL("farm1") TELL("farm2") TELL("farm3")
		 ACCEPT "--ref farm2 --list | sed 1d; " NOTES "list | wc -l; "
		 ACCEPT "--ref farm2 --metrics memory --build farm2/main/x~4 --owner me '*' >/dev/null; "
		 ACCEPT "--ref farm1 --list | sed '1d;4,$d'; "
		 ACCEPT "--ref farm2 --metrics memory --undo '*' >/dev/null; " NOTES "list | wc -l; "
		 TELL("farm1") TELL("farm2"));
	ck_assert_str_eq(r.out.data, "no regression\n1 regression confirmed (3 changes)\n"
			 "accepted in every series since 2026-01-16\n"
			 "no regression\nno regression\nno regression\n"
			 "  somebody, 2026-03-01: all (in every series)\n1\n"
			 "  somebody, 2026-03-01: all (in every series)\n  owner me\n0\n"
			 "1 regression confirmed (3 changes)\n1 regression confirmed (3 changes)\n");
	ck_assert_str_eq(r.err.data, "");
}

/* One task is most of the build, so both are regressions. accept of the task says how to accept
 * the build too. */
TEST(offers_the_total)
{
	begin();
	run_here("PATH=" TOP_BUILDDIR ":$PATH; " TOP_BUILDDIR "/tests/gen_archive --tasks 12 "
		 "--builds 20 --step 3/15/4 a.git; " CHECK
		 ACCEPT "'recipe-00000: do_configure' \"it's \\$HOME\" >said; sed -n '2s/[+].*%;/N;/p' said; "
		 CHECK "tail -1 said | sh | cut -d' ' -f1-3,5-; " CHECK ACCEPT "--list | grep -c \"it's [$]HOME\"");
	ck_assert_msg(!strcmp(r.out.data, "1\n1 regression confirmed (4 changes)\n"
			      "the build as a whole changed too: wall time N; to accept this too:\n"
			      "1\n1 regression confirmed (2 changes)\n"
			      "accepted since 2026-01-16  wall,cpu of the build\n"
			      "0\nno regression\n2\n"), "%s%s", r.out.data, r.err.data);
}

/* The commands that check prints do what they say: pasted into a shell, those of all regressions
 * make it pass. */
static const char *const suggested[] = { "accept --known", "accept --repo" };

TEST_EACH(suggestions_work, suggested)
{
	begin();
	run_here(support_path("%s export PATH=" TOP_BUILDDIR ":$PATH; git clone -q --bare a.git \"it's a.git\"; "
		 TOP_BUILDDIR "/tests/gen_archive --tasks 12 --builds 3 --series x/y/z \"it's a.git\"; "
		 "c='buildbeat check --repo \"it'\"'s\"' a.git\" --ref nightly-1'; "
		 "eval \"$c --all\" >said; echo $?; grep -c '^      buildbeat history ' said; "
		 "grep '^      buildbeat \\(history\\|%s\\) ' said >pasted; "
		 "sh -e pasted >out; echo $?; grep -c ' since ' out; eval \"$c\" >/dev/null; echo $?",
		 ARCHIVE, suggested[_i]));
	ck_assert_msg(!strcmp(r.out.data, "1\n1\n0\n1\n0\n"), "%s%s", r.out.data, r.err.data);
}

/* The same for a change of all tasks, which is about the pattern "*", and of the build. */
TEST_EACH(suggestions_for_all_tasks, suggested)
{
	begin();
	run_here(support_path("PATH=" TOP_BUILDDIR ":$PATH; " TOP_BUILDDIR "/tests/gen_archive --tasks 60 "
		 "--builds 30 --noise 0.02 --step 0-59/26/0.3 a.git; "
		 "buildbeat check --repo a.git --all >said; echo $?; "
		 "grep -c '^    all 60 tasks  *wall time' said; "
		 "grep '^      buildbeat \\(history\\|%s\\) ' said >pasted; sh -e pasted >out; echo $?; "
		 "grep -c '^ac.*wall,cpu of [*]$' out; " BUILDBEAT " check --repo a.git >/dev/null; echo $?",
		 suggested[_i]));
	ck_assert_msg(!strcmp(r.out.data, "1\n1\n0\n1\n0\n"), "%s%s", r.out.data, r.err.data);
}

/* Many writers at the same time; no note is lost. */
TEST(all_at_once)
{
	begin();
	run_here(ARCHIVE "for i in 1 2 3 4 5 6 7 8; do (for k in 1 2 3; do " ACK
		 "--total --build " SERIES "~$k \"$i.$k\" >/dev/null || echo failed; done) & done; "
		 "wait; " ACK "--list | grep -c somebody; git -C a.git fsck --strict >/dev/null 2>&1; "
		 "echo $?");
	ck_assert_msg(!strcmp(r.out.data, "24\n0\n"), "%s%s", r.out.data, r.err.data);
}

/* The same notes at the same time are the same bytes. */
TEST(same_bytes)
{
	begin();
	run_here(ARCHIVE "cp -r a.git b.git; for i in 1 2; do for k in 1 2 3; do " ACCEPT "--total "
		 "--build " SERIES "~$k $k >/dev/null; done; git -C a.git rev-parse "
		 "refs/notes/buildbeat; mv a.git c.git; mv b.git a.git; mv c.git b.git; done | "
		 "sort -u | wc -l");
	ck_assert_str_eq(r.out.data, "1\n");
}

static void notes_id(git_oid *id, git_repository *repo, const char *ref)
{
	ck_assert_int_eq(git_reference_name_to_id(id, repo, ref), 0);
}

/* Two copies with different notes, as two builders have them. The merge has both notes,
 * without those removed in one copy, and is the same commit for both. */
TEST(merged)
{
	git_oid ours, theirs, one, other, again;
	struct error err = { 0 };
	git_repository *repo;
	git_reference *ref;

	begin();
	run_here(ARCHIVE ACK "--total 'to be taken back' >/dev/null; cp -r a.git b.git; "
		 ACCEPT "--total ours >/dev/null; " ACCEPT "--total --build " SERIES "~2 apart "
		 ">/dev/null; mv a.git c.git; mv b.git a.git; "
		 ACCEPT "--total theirs >/dev/null; " ACK "--total --undo >/dev/null; "
		 "mv a.git b.git; mv c.git a.git; git -C a.git fetch -q ../b.git "
		 "refs/notes/buildbeat:refs/notes/other");
	ck_assert_msg(!r.status, "%s", r.err.data);
	git_libgit2_init();
	ck_assert_int_eq(git_repository_open(&repo, support_path("%s/a.git", support_tmpdir())),
			 0);
	notes_id(&ours, repo, NOTES_REF);
	notes_id(&theirs, repo, "refs/notes/other");
	ck_assert_msg(!notes_merge(&one, repo, &ours, &theirs, &err), "%s", err.message);
	ck_assert_int_eq(notes_merge(&other, repo, &theirs, &ours, &err), 0);
	ck_assert(git_oid_equal(&one, &other));
	/* one copy has all notes of the other */
	ck_assert_int_eq(notes_merge(&again, repo, &one, &theirs, &err), 0);
	ck_assert(git_oid_equal(&again, &one));
	ck_assert_int_eq(git_reference_create(&ref, repo, NOTES_REF, &one, 1, NULL), 0);
	git_reference_free(ref);
	git_repository_free(repo);
	git_libgit2_shutdown();
	run_here(ACCEPT "--list | grep somebody | sort; " ACK "--list; " NOTES "list | wc -l; "
		 "git -C a.git log -1 --format=%P refs/notes/buildbeat | wc -w");
	ck_assert_str_eq(r.out.data, "  somebody, 2026-03-01: apart\n  somebody, 2026-03-01: ours\n"
			 "  somebody, 2026-03-01: theirs\n2\n2\n");
	ck_assert_str_eq(r.err.data, "");
}

TEST_PROGRAM(accept)
{
	SKIP_PROGRAM_IF(!support_has("git"));
	return support_main();
}
