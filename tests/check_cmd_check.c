/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/paths.h"
#include "tests/support.h"

/*
 * `buildbeat check` on generated archives: its exit status, its formats, and names of tasks
 * that need escapes.
 */

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"
#define GEN TOP_BUILDDIR "/tests/gen_archive"

#define VERDICTS "python3 -B " TOP_SRCDIR "/tests/verdicts.py"
#define EXCEEDED "limits: {build: {wall: 1h}, '*': {wall: 30s}, 'lnk:*': {cpu: 1s}}\n"

static const char *dir;

static void sh(const char *command)
{
	support_expect(dir, 0, NULL, NULL, "%s", command);
}

/* Archives: with a step of three builds and one of the newest; empty; with few builds; with
 * the worst names. */
static void make_archives(void)
{
	dir = support_tmpdir();
	setenv("HOME", dir, 1);
	setenv("XDG_CACHE_HOME", support_path("%s/cache", dir), 1);
	setenv("XDG_CONFIG_HOME", support_path("%s/config", dir), 1);
	sh(GEN " --tasks 60 --builds 40 --seed 3 --noise 0.02 --host 0.02 --step 3-4/37/0.5 "
	   "--step 9/39/0.8 --step 12/20/0.6/memory --step 20/36/-0.5 --new 30/39 step.git");
	sh(GEN " --tasks 60 --builds 40 --seed 3 --noise 0.02 --host 0.02 still.git");
	sh(GEN " --tasks 60 --builds 4 --seed 3 --noise 0.02 few.git");
	sh(GEN " --tasks 60 --builds 60 --repeats 3 --seed 3 --noise 0.02 --step 3-4/57/1 once.git");
	sh(GEN " --tasks 60 --builds 60 --repeats 3 --seed 3 --noise 0.02 --step 3-4/54/1 twice.git");
	support_writes(support_path("%s/exceeded.yaml", dir), EXCEEDED);
	support_writes(support_path("%s/kept.yaml", dir), "limits: {build: {wall: 1h}, '*': {io: 4GiB}}\n");
	sh(GEN " --tasks 60 --builds 1 --seed 3 --noise 0.02 one.git");
	sh(GEN " --tasks 60 --builds 9 --seed 3 --noise 0.15 short.git");
	sh(GEN " --tasks 60 --builds 40 --seed 3 --series 'a<b/c&d/e|f' --noise 0.02 --step 3/37/0.5 odd.git");
}

static const struct {
	const char *arguments;
	int status;
	const char *out, *err;	/* in the output */
} uses[] = {
	{ "--repo step.git", 1, "regressions confirmed", "" },
	{ "--repo still.git", 0, "no regression", "" },
	{ "--repo still.git --json", 0, "\"verdict\": \"no_regression\"", "" },
	{ "--repo few.git", 0, "too few builds", "" },
	{ "--repo few.git --need-history", 3, "a verdict is possible in 3 more builds", "" },
	{ "--repo still.git --need-history", 0, "no regression", "" },
	{ "--repo short.git", 0, "the history is short: no change of the build or its longest tasks below +", "" },
	{ "--repo short.git --json", 0, "\"short_history\": true", "" },
	{ "--repo still.git --json", 0, "\"short_history\": false,\n  \"least_found\": null", "" },
	{ "--repo step.git --metrics io", 0, "no regression", "" },
	{ "--repo step.git --metrics memory --json", 1, "\"metric\": \"memory\"", "" },
	{ "--repo step.git --ref nowhere", 2, "", "nowhere" },
	{ "--repo none.git", 2, "", "none.git" },
	{ "--repo step.git --metrics speed", 2, "", "speed" },
	{ "--repo step.git --json --junit", 2, "", "exclude each other" },
	{ "--repo step.git -o x", 2, "", "--output" },
	{ "--repo step.git --junti", 2, "", "--junit" },
	{ "--repo step.git --junit -o none/x", 2, "", "none/x" },
	{ "-c broken.yaml --repo step.git", 2, "", "broken.yaml:2:" },
	{ "-c lax.yaml --repo step.git", 0, "no regression", "" },
	/* three recordings of a slow revision are one slow build */
	{ "--repo once.git", 0, ", 3 recordings)", "" },
	{ "--repo once.git --json", 0, "\"recordings\": 3", "" },
	{ "--repo twice.git", 1, "checked over 20 builds", "" },
	{ "-c exceeded.yaml --repo one.git", 1, "1 limit exceeded, too few builds", "" },
	{ "-c exceeded.yaml --repo one.git", 1, ", limit 30.0 s (+", "" },
	{ "-c exceeded.yaml --repo one.git", 1, "no value of this build: lnk:*: CPU time", "" },
	{ "-c exceeded.yaml --repo one.git --markdown", 1, "**1 limit exceeded, too few", "" },
	{ "-c exceeded.yaml --repo still.git", 1, "1 limit exceeded, no regression", "" },
	{ "-c exceeded.yaml --repo still.git --json", 1, "\"verdict\": \"limit_exceeded\"", "" },
	{ "-c exceeded.yaml --repo step.git", 1, "1 limit exceeded, ", "" },
	{ "-c exceeded.yaml --repo step.git --json", 1, "\"verdict\": \"regression\"", "" },
	{ "-c kept.yaml --repo one.git", 0, "too few builds", "" },
	{ "-c kept.yaml --repo one.git --need-history", 3, "too few builds", "" },
	{ "-c kept.yaml --repo still.git", 0, "no regression", "" },
	{ "-c unknown.yaml --repo one.git", 2, "", "unknown.yaml:2:12: unknown key 'wal'; did you mean" },
	{ "", 2, "", "--repo" },
	{ "--repo step.git extra", 2, "", "extra" },
};

TEST_GROUP_ONCE("check", make_archives, NULL);

TEST_EACH(use, uses)
{
	struct run r;

	support_writes(support_path("%s/broken.yaml", dir), "compare:\n  agree: many\n");
	support_writes(support_path("%s/lax.yaml", dir),
		       "compare:\n  rules:\n    - tasks: '*'\n      ignore: true\n");
	support_writes(support_path("%s/unknown.yaml", dir), "limits:\n  build: { wal: 1s }\n");
	support_run(&r, dir, BUILDBEAT " check %s", uses[_i].arguments);
	ck_assert_msg(r.status == uses[_i].status, "%s: %d: %s%s", uses[_i].arguments, r.status,
		      r.out.data, r.err.data);
	ck_assert_msg(strstr(buf_str(&r.out), uses[_i].out) != NULL, "%s: %s", uses[_i].arguments,
		      r.out.data);
	ck_assert_msg(strstr(buf_str(&r.err), uses[_i].err) != NULL, "%s: %s", uses[_i].arguments,
		      r.err.data);
	ck_assert_msg(*uses[_i].err || !r.err.len, "%s: %s", uses[_i].arguments, r.err.data);
	ck_assert_msg(!*uses[_i].err || !r.out.len, "%s: %s", uses[_i].arguments, r.out.data);
}

static const char *const forms[] = { "text", "json", "junit", "markdown" };

/* The report says of a short history what check says. */
TEST(short_history)
{
	static const char *const repos[] = { "short", "still" };
	struct run r;

	for (int i = 0; i < 2; i++) {
		support_run(&r, dir, BUILDBEAT " report --repo %s.git -o page%d >/dev/null; said=$(" BUILDBEAT
			    " check --repo %s.git | sed -n 's/^the history is short/The history is short/p'); "
			    "test -n \"$said\" && grep -c \"$said\" page%d/index.html || "
			    "grep -c 'history is short' page%d/index.html", repos[i], i, repos[i], i, i);
		ck_assert_str_eq(r.out.data, i ? "0\n" : "1\n");
	}
}

/* Exact output. */
TEST_EACH(golden, forms)
{
	const char *form = forms[_i];
	struct run r;

	support_run(&r, dir, BUILDBEAT " check --repo step.git %s%s", _i ? "--" : "", _i ? form : "");
	ck_assert_int_eq(r.status, 1);
	support_is_golden(&r.out, support_path("check/%s", form));
}

/* The output does not depend on the machine; a second format goes to a file. */
TEST_RANGE(same_elsewhere, 1, ARRAY_SIZE(forms))
{
	struct run a, b;

	support_run(&a, dir, BUILDBEAT " check --repo step.git --%s -o form; "
		    BUILDBEAT " check --repo step.git", _i ? forms[_i] : "json");
	support_run(&b, dir, "LC_ALL=tr_TR.UTF-8 TZ=Asia/Tokyo taskset -c $(taskset -pc $$ | "
		    "sed 's/.*: *//; s/[,-].*//') " BUILDBEAT " check --repo step.git --%s -o other; "
		    BUILDBEAT " check --repo step.git; cmp form other >&2", _i ? forms[_i] : "json");
	ck_assert_str_eq(b.err.data, "");
	ck_assert(strstr(a.out.data, b.out.data) != NULL);
}

/* Other programs parse the XML and JSON, which agree with the verdict. */
TEST_LOOP(read_by_others, 4)
{
	static const char *const repo[] = { "step", "still", "few", "odd" };
	struct run x, j;

	SKIP_IF(!support_has("python3"));
	support_run(&x, dir, BUILDBEAT " check --repo %s.git --junit >x.xml; " VERDICTS " junit x.xml",
		    repo[_i]);
	ck_assert_msg(x.status == 0, "%s", x.err.data);
	support_run(&j, dir, BUILDBEAT " check --repo %s.git --json >x.json; "
		    VERDICTS " json x.json", repo[_i]);
	ck_assert_msg(j.status == 0, "%s", j.err.data);
	if (strcmp(repo[_i], "few"))	/* the metrics were skipped too */
		ck_assert_str_eq(x.out.data, j.out.data);
}

/* A case of its own for each limit, and a list in JSON, which agree. */
TEST_LOOP(limits, 2)
{
	static const char *const repo[] = { "step", "one" };

	SKIP_IF(!support_has("python3"));
	support_expect(dir, 0, NULL, "", BUILDBEAT " check -c exceeded.yaml --repo %s.git --junit >l.xml; "
		       BUILDBEAT " check -c exceeded.yaml --repo %s.git --json >l.json; "
		       VERDICTS " junit l.xml", repo[_i], repo[_i]);
	support_expect(dir, 0, "[False, True, False]\n", "", VERDICTS " limits l.xml l.json");
}

/* Two builds fail in a row: both are reported as failed, with what was confirmed before. The next
 * good build is compared again. */
TEST_LOOP(failed_newest, 2)
{
	static const char record[] =
		"record() { mkdir -p rec; printf 'buildbeat build 1\\nstart_wall_ns: %s000000000\\n"
		"start_mono_ns: 5\\ncommand: make\\ntool: make\\nmachine: x86_64\\nend_us: 5000\\nstatus: %s\\n' "
		"$1 $2 >rec/build; printf 'buildbeat tasks 1\\nopen\\t0\\tm\\t100\\t0\\t1,99\\tmake\\t4.3\\t/\\tmake\\n"
		"close\\t5000\\tm\\n' >rec/tasks.log; " BUILDBEAT " archive --repo failed.git "
		"--host nightly-1 --branch master rec >/dev/null; }; "
		"check() { " BUILDBEAT " check --repo failed.git \"$@\"; }; ";
	struct run r;

	support_run(&r, dir, "%s cp -r %s.git failed.git; for i in 1 2; do record 177070000$i %s; "
		    "check >said; echo $?; head -1 said | sed 's/:[^:]*$//'; grep -c do_compile said; "
		    "check --junit | grep -c '<failure message=\"the build '; "
		    "check --json | sed -n 2p; done; check --markdown | head -1 | cut -c1-40; rm -r failed.git rec",
		    record, _i ? "still" : "step", _i ? "137" : "2");
	if (_i)
		ck_assert_msg(!strcmp(r.out.data, "3\nnot judged: the build failed (exit 137)\n0\n1\n"
				      "  \"verdict\": \"not_judged\",\n"
				      "3\nnot judged: the build failed (exit 137)\n0\n1\n"
				      "  \"verdict\": \"not_judged\",\n"
				      "**not judged: the build failed (exit 137\n"), "%s%s", r.out.data, r.err.data);
	else
		ck_assert_msg(strstr(r.out.data, "3\nnot judged: the build failed (exit 2), 3 regressions confirmed (5 changes)") ==
			      r.out.data, "%s%s", r.out.data, r.err.data);
}

/* Three machines, two of which build the same branch; the change begins in build %d. */
#define FARMS "rm -rf farms.git; for s in 'farm1/main/x --noise 0.02' 'farm2/main/x --noise 0.03' " \
	"'farm3/rel/x --noise 0.01'; do " GEN " --tasks 12 --builds 20 --step 3/%d/0.5 --series $s farms.git; done; " \
	"check() { " BUILDBEAT " check --repo farms.git --everywhere \"$@\"; }; "

/* A confirmed change of two machines is one, and its note is about all that build the commit. Suspects
 * of two machines confirm each other; that of another branch remains one. */
#define SAME BUILDBEAT " check --repo long.git --json >now; [ $? = 1 ] && cmp now first"

/* Of a check as JSON, read by Python: the state of the change of "*", and its tasks in all metrics with those that
 * show the same alone. */
#define MOVED "import json, sys; found = json.load(sys.stdin)[\"findings\"]\n" \
	"when = lambda f: range(f[\"since_first\"][\"start_s\"], f[\"since_last\"][\"start_s\"] + 1)\n" \
	"meet = lambda a, b: a[0] <= b[-1] and b[0] <= a[-1]\n" \
	"shared = [f for f in found if f[\"pattern\"] == \"*\"]\n" \
	"alone = [f for f in found if f[\"of\"] == \"task\" and f[\"worse\"] and f[\"state\"] != \"suspect\"]\n" \
	"tasks = {t for s in shared for t in s[\"moved\"]} | {f[\"task\"] for f in alone for s in shared " \
	"if f[\"metric\"] == s[\"metric\"] and meet(when(f), when(s)) and meet(f[\"interval\"], s[\"interval\"])}\n" \
	"print(*[s[\"state\"] for s in shared][:1] or [\"none\"], *sorted(tasks), sep=\"\\n\")"

/* Of the last one many tasks are too short to matter alone. */
static const struct { const char *metrics, *archive; int lines; } of_many[] = {
	{ "wall", "--builds 40 --seed 3 --step 0-119/37/0.12", 1 },
	{ "wall,cpu", "--builds 40 --seed 3 --step 0-119/37/0.12", 2 },
	{ "wall,cpu", "--builds 34 --seed 7 --step 0-119/31/0.12", 2 },
};

/* The command that check prints for tasks that changed together is about these, and no others. */
TEST_EACH(accept_changed, of_many)
{
	struct run r;

	SKIP_IF(!support_has("python3"));
	support_run(&r, dir, "m=%s; rm -rf few_of.git; " GEN " --tasks 300 --noise 0.03 --host 0.02 %s few_of.git; "
		    "check() { " BUILDBEAT " check --repo few_of.git --metrics $m \"$@\"; }; "
		    "accept() { " BUILDBEAT " accept --repo few_of.git --metrics $m --changed \"$@\"; }; "
		    "moved() { check --json | python3 -c '" MOVED "'; }; "
		    "listed() { accept '*' --list --json $1 | python3 -c 'import json, sys; c = json.load(sys.stdin); "
		    "print(*sorted(c[0][\"task\"].split(\"\\n\")[:-1]), sep=\"\\n\")'; }; "
		    "moved >changed; sed 1q changed; sed -i 1d changed; "
		    "check | grep -c \"accept .*--metrics $m --changed '[*]' REASON\"; "
		    "check | grep -c 'of .* tasks  .* in all, and [0-9]* more that each show it alone, +[0-9]'; "
		    "check --all | grep -c 'show it alone'; "
		    "accept --known '*' why | sed 's/.*  [acluwp,]* of recipe-0.* and [1-9][0-9]* tasks/tasks/'; "
		    "listed --known | cmp - changed; moved | sed 1q; "
		    "accept --known --undo '*' | sed 's/ [0-9]* tasks .*//; s/since.*and/since and/'; moved | sed 1q; "
		    "accept '*' why >/dev/null; listed | cmp - changed; moved; "
		    "accept --list '*' | sed 's/.*of recipe-.* and [0-9]* tasks/tasks/' | sed 1q; "
		    "accept '*' again 2>&1; accept --total why 2>&1; accept --undo '*.o' 2>&1; accept nothing why 2>&1", of_many[_i].metrics, of_many[_i].archive);
	ck_assert_msg(!strcmp(r.out.data, support_path("confirmed\n2\n%d\n0\ntasks that changed with it\nknown\n"
			      "no longer acknowledged since and\nconfirmed\nnone\n"
			      "tasks that changed with it\n"
			      "buildbeat: accept: check reports no tasks that changed together as '*'\n"
			      "buildbeat: accept: --total and --changed exclude each other\n"
			      "buildbeat: accept: no such entry\n"
			      "buildbeat: no task matches 'nothing'\n", of_many[_i].lines)), "%s%s", r.out.data, r.err.data);
}

/* What a check keeps for the next one changes nothing, whatever became of it. */
TEST(what_is_kept)
{
	static const char *const damages[] = {
		"for f in long.git/buildbeat/*; do : >$f; done",
		"for f in long.git/buildbeat/*; do dd if=/dev/urandom of=$f bs=1 count=40 seek=$at "
		"conv=notrunc status=none; done",
		"for f in long.git/buildbeat/*; do dd if=/dev/zero of=$f bs=1 count=1 seek=$at "
		"conv=notrunc status=none; done",
		"for f in long.git/buildbeat/*; do truncate -s $at $f; done",
		"cd long.git/buildbeat && for f in *; do ln -sf /dev/zero $f; done",
		"cd long.git/buildbeat && for f in *; do rm $f && mkdir $f; done",
		"rm -r long.git/buildbeat && ln -s /dev long.git/buildbeat",
		"rm long.git/buildbeat && touch long.git/buildbeat", "rm -f long.git/buildbeat",
	};

	sh("rm -rf long.git && " GEN " --tasks 40 --builds 130 --seed 3 --noise 0.02 --host 0.02 --step 5/20/0.4 "
	   "--step 9/70/0.3 --step 9/100/-0.25 --step 7/125/0.5 --step 11/127/-0.4 long.git");
	sh("cp -r long.git without.git && touch without.git/buildbeat");
	support_expect(dir, 1, NULL, NULL, BUILDBEAT " check --repo without.git --json >first");
	for (int i = 0; i < 2; i++) {
		sh(SAME);
		support_expect(dir, 0, "2\n", NULL, "ls long.git/buildbeat | wc -l");
	}
	sh("grep -q 'do_install' first && grep -q 'do_populate_sysroot' first");
	for (size_t i = 0; i < ARRAY_SIZE(damages); i++) {
		sh(support_path("at=%d; %s", 30 + 500 * (int)i, damages[i]));
		sh(SAME);
		sh(SAME);
	}
	/* Other options have their own, and the archive has no problem. */
	sh(BUILDBEAT " check --repo long.git --metrics memory >/dev/null && ls long.git/buildbeat | wc -l | grep -qx 4");
	sh(BUILDBEAT " archive --repo long.git --fsck && git -C long.git fsck --strict 2>&1");
	sh(SAME);
}

TEST(everywhere)
{
	struct run r;

	SKIP_IF(!support_has("python3"));
	support_run(&r, dir, FARMS "check >said; echo $?; head -1 said; grep -c 'also in farm2/main/x (+' said; "
		    "sed -n '/ reported with /s/:.*//p' said; check --junit | grep -c '<failure'; "
		    "check --json | python3 -c 'import json, sys; c = json.load(sys.stdin); "
		    "print(c[\"confirmed\"], [len(s[\"findings\"]) for s in c[\"series\"]], "
		    "[len(f[\"also\"]) for f in c[\"series\"][0][\"findings\"]], c[\"series\"][1][\"confirmed\"])'; "
		    "check --markdown | grep -c '; also in farm2/main/x'; "
		    "grep ' accept .* --everywhere REASON' said | sed 's/REASON/why/;s|buildbeat|" BUILDBEAT "|' | "
		    "grep known >pasted; sh -e pasted >/dev/null; check | head -1", 15);
	ck_assert_msg(!strcmp(r.out.data, "1\n2 regressions confirmed (8 changes): 3 series\n4\n"
			      "no other regression, 4 changes reported with another series\n2\n"
			      "8 [4, 0, 4] [1, 1, 1, 1] 0\n4\nno regression, 8 known: 3 series\n"),
		      "%s%s", r.out.data, r.err.data);
	support_run(&r, dir, FARMS "check >said; echo $?; sed -n 1p said; "
		    "grep -c 'confirmed by the same suspect in farm2/main/x (+' said; check --ref farm1 | head -1; "
		    "check --ref rel >/dev/null; echo $?; check --ref none 2>&1", 19);
	ck_assert_msg(!strcmp(r.out.data, "1\n1 regression confirmed (2 changes), 2 suspected: 3 series\n2\n"
			      "no regression, 2 suspected: 1 series\n0\n"
			      "buildbeat: farms.git: has no series 'none'\n"), "%s%s", r.out.data, r.err.data);
}

/* Many tasks become an eighth slower, most of them by less than the thresholds of one: one regression in
 * every output, with the list of the tasks. */
TEST(shared)
{
	struct run r;

	SKIP_IF(!support_has("python3"));
	support_run(&r, dir, GEN " --tasks 300 --builds 40 --seed 3 --noise 0.03 --host 0.02 --step 0-119/37/0.12 "
		    "shared.git; check() { " BUILDBEAT " check --repo shared.git --metrics wall \"$@\"; }; "
		    "check >said; echo $?; sed -n '1s/ (.*//p' said; "
		    "grep -c '^    [0-9]* of [0-9]* tasks  *wall time +1[0-9] %% (+.*, +[0-9.]* s in all' said; "
		    "check --json | python3 -c 'import json, sys; c = json.load(sys.stdin); "
		    "f = [f for f in c[\"findings\"] if f[\"pattern\"] == \"*\"][0]; "
		    "print(f[\"of\"], len(f[\"moved\"]) == f[\"tasks\"] < f[\"of_tasks\"], "
		    "f[\"interval\"][0] < .12 < f[\"interval\"][1], c[\"causes\"])'; "
		    "check --all | sed -n '/^    [0-9]* of [0-9]* tasks /,/^    [^ ]* .*time/p' | grep -c '^      recipe-000' | "
		    "sed 's/[5-9][0-9]/many/'; "
		    "check --junit --all | grep -c 'name=\"tasks: .* time\".*tasks, .* time +1.*; recipe-000'; "
		    "check --markdown | grep -c '^| [0-9]* of [0-9]* tasks | '; "
		    BUILDBEAT " history --metrics wall --repo shared.git | grep -c 'wall  *[0-9]* of [0-9]* tasks$'; "
		    BUILDBEAT " report --metrics wall --repo shared.git -o shared >/dev/null && "
		    "grep -o '>[0-9]* of [0-9]* tasks</th>' shared/index.html | sort -u | wc -l; "
		    "sed -n \"s|^  *buildbeat\\( accept --repo .* '[*]' \\)REASON|" BUILDBEAT "\\1why|p\" said | "
		    "sh -e >/dev/null; check | grep -c ' of [0-9]* tasks '");
	ck_assert_msg(!strcmp(r.out.data, "1\n1 regression confirmed\n1\ntasks True True 1\nmany\n1\n1\n1\n1\n0\n"), "%s%s",
		      r.out.data, r.err.data);
}

TEST_MAIN(cmd_check);
