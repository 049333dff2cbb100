/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/paths.h"
#include "tests/support.h"

/* `buildbeat check --replay` and `check --power` on generated archives. */

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"
#define GEN TOP_BUILDDIR "/tests/gen_archive"
#define REPLAY BUILDBEAT " check --replay "

static const char *dir;

static void sh(const char *command)
{
	support_expect(dir, 0, NULL, NULL, "%s", command);
}

/* A recording that failed, on the day after the generated builds. */
#define FAILED \
	"mkdir -p rec; printf 'buildbeat build 1\\nstart_wall_ns: 1770600000000000000\\n" \
	"start_mono_ns: 5\\ncommand: make\\ntool: make\\nmachine: x86_64\\nend_us: 5000\\nstatus: 2\\n' " \
	">rec/build; printf 'buildbeat tasks 1\\nopen\\t0\\tm\\t100\\t0\\t1,99\\tmake\\t4.3\\t/\\tmake\\n" \
	"close\\t5000\\tm\\n' >rec/tasks.log; " BUILDBEAT " archive --repo step.git " \
	"--host nightly-1 --branch master rec"

static void make_archives(void)
{
	dir = support_tmpdir();
	setenv("HOME", dir, 1);
	setenv("XDG_CACHE_HOME", support_path("%s/cache", dir), 1);
	setenv("XDG_CONFIG_HOME", support_path("%s/config", dir), 1);
	sh(GEN " --tasks 60 --builds 40 --seed 3 --noise 0.02 --host 0.02 --step 3-4/12/0.5 "
	   "--step 3/20/-0.34 --step 9/22/0.8 --step 12/20/0.6/memory --step 30/26/1 --step 30/34/-0.5 "
	   "--gone 9/38 --new 31/30 step.git");
	sh(FAILED);
	sh(BUILDBEAT " accept --repo step.git --build $(git -C step.git rev-list --reverse --all | "
	   "sed -n 27p) --metrics memory 'recipe-*' larger");
	sh(BUILDBEAT " accept --known --repo step.git --build $(git -C step.git rev-list --reverse --all | "
	   "sed -n 27p) 'recipe-00003: *' soon");
	sh(GEN " --tasks 60 --builds 30 --seed 4 --noise 0.02 --host 0.02 still.git");
	sh(GEN " --tasks 1 --builds 1 --seed 4 one.git");
	support_writes(support_path("%s/four.yaml", dir), "compare: { agree: 4 }\n");
	support_writes(support_path("%s/limit.yaml", dir), "limits: { '*': { memory: 100MiB } }\n");
}

TEST_GROUP_ONCE("cmd_replay", make_archives, NULL);

static const struct {
	const char *arguments;
	int status;
	const char *out, *err;	/* in the output */
} uses[] = {
	{ "--repo step.git", 0, "builds fail the check, ", "" },
	{ "--repo still.git", 0, "0 of 30 builds fail the check, 0 regressions: ", "" },
	{ "--repo one.git", 0, "0 of 1 build fails the check", "" },
	{ "--repo still.git --since 2026-01-29", 0, "0 of 2 builds fail", "" },
	{ "--repo still.git --since 2026-01-30", 0, "  2026-01-30  .\n", "" },
	{ "--repo still.git --since 2026-01-31", 2, "", "no build since 2026-01-31" },
	{ "--repo still.git --since yesterday", 2, "", "'yesterday' is no date: use YYYY-MM-DD" },
	{ "--repo still.git --since 2026-01-01x", 2, "", "no date" },
	{ "--repo still.git --junit", 2, "", "--replay excludes --junit" },
	{ "--repo still.git --everywhere", 2, "", "--replay excludes" },
	{ "--repo still.git --against main", 2, "", "--replay excludes" },
	{ "--repo step.git -c four.yaml", 0, "settings: agree 4, ", "" },
	{ "--repo step.git -t 1", 0, "more (--all lists them)", "" },
	{ "--repo step.git --since 2026-02-01", 0, "2026-02-01 (", "" },
	{ "--repo step.git -c limit.yaml", 0, "", "" },
	{ "--repo still.git --need-history --json", 0, "\"exit_status\": 3", "" },
};

TEST_EACH(use, uses)
{
	struct run r;

	support_run(&r, dir, REPLAY "%s", uses[_i].arguments);
	ck_assert_msg(r.status == uses[_i].status, "%s: %d: %s%s", uses[_i].arguments, r.status,
		      r.out.data, r.err.data);
	ck_assert_msg(strstr(buf_str(&r.out), uses[_i].out) != NULL, "%s: %s", uses[_i].arguments, r.out.data);
	ck_assert_msg(strstr(buf_str(&r.err), uses[_i].err) != NULL, "%s: %s", uses[_i].arguments, r.err.data);
	ck_assert(!*uses[_i].err == !r.err.len && !*uses[_i].err == (r.out.len > 0));
	support_run(&r, dir, BUILDBEAT " check --since 2026-01-01 --repo still.git");
	ck_assert_int_eq(r.status, 2);
	ck_assert(strstr(buf_str(&r.err), "'--since' requires --replay") != NULL);
}

/* A bar for each listed regression, and the cells of all builds, in an SVG that other programs read. */
TEST(picture)
{
	struct run r;
	size_t bars = 0;

	support_expect(dir, 2, "", "'--svg' requires --replay", BUILDBEAT " check --repo step.git --svg x.svg");
	support_run(&r, dir, REPLAY "--repo step.git --svg p.svg >text; cat p.svg");
	ck_assert_int_eq(r.status, 0);
	support_is_golden(&r.out, "check/replay.svg");
	for (const char *p = buf_str(&r.out); (p = strstr(p, "class=\"fails\"")) != NULL; p++)
		bars++;
	support_run(&r, dir, "grep -c '  fails [0-9]' text; grep -o '!!*' text | wc -l");	/* with the legends */
	ck_assert_uint_eq(bars, strtoul(buf_str(&r.out), NULL, 10) + strtoul(strchr(buf_str(&r.out), '\n'), NULL, 10));
	support_run(&r, dir, REPLAY "--repo step.git -t 2 --svg p.svg >/dev/null; grep -c '>and [0-9]* more<' p.svg");
	ck_assert_str_eq(r.out.data, "1\n");
	SKIP_IF(!support_has("python3"));
	support_expect(dir, 0, "", "", "python3 -c 'import xml.etree.ElementTree as e; e.parse(\"p.svg\")'");
}

static const char *const forms[] = { "text", "json", "markdown" };

TEST_EACH(golden, forms)
{
	struct run r;

	support_run(&r, dir, REPLAY "--repo step.git %s%s", _i ? "--" : "", _i ? forms[_i] : "");
	ck_assert_int_eq(r.status, 0);
	support_is_golden(&r.out, support_path("check/replay.%s", forms[_i]));
}

static const struct {
	const char *arguments;
	int status;
	const char *out, *err;	/* in the output */
} power[] = {
	{ "--repo still.git", 0, "the changes that check finds: ", "" },
	{ "--repo one.git", 0, "too few builds to try what check finds: ", "" },
	{ "--repo one.git --json", 0, "\"tasks\": []", "" },
	{ "--repo still.git --metrics memory", 0, "  the build: +10 % is found after ", "" },
	{ "--repo still.git --metrics instructions", 0, "no task has values of these metrics: ", "" },
	{ "--repo still.git", 0, "; record --repeat 3 finds +5 % after ", "" },
	{ "--repo still.git --markdown", 0, "| task | now |", "" },
	{ "--repo still.git --replay", 2, "", "--replay and --power exclude each other" },
	{ "--repo still.git --everywhere", 2, "", "--power excludes" },
	{ "--repo still.git -c blunt.yaml", 0, "recipe-00001: do_package_write: +100 % is below the thresholds\n", "" },
};

TEST_EACH(use_power, power)
{
	struct run r;

	support_writes(support_path("%s/blunt.yaml", dir), "compare: { rules: [ { tasks: \"*\", metrics: [ wall, cpu ], amount: 1h } ] }\n");
	support_run(&r, dir, BUILDBEAT " check --power %s", power[_i].arguments);
	ck_assert_msg(r.status == power[_i].status && strstr(buf_str(&r.out), power[_i].out) &&
		      strstr(buf_str(&r.err), power[_i].err), "%s: %d: %s%s", power[_i].arguments, r.status,
		      r.out.data, r.err.data);
}

TEST_EACH(golden_power, forms)
{
	struct run r;

	support_run(&r, dir, BUILDBEAT " check --power --repo still.git %s%s", _i ? "--" : "", _i ? forms[_i] : "");
	ck_assert_int_eq(r.status, 0);
	support_is_golden(&r.out, support_path("check/power.%s", forms[_i]));
}

/* The commands that ran at each build, with notes, a failed build, a task that is gone, and other settings. */
static const struct {
	const char *arguments;
	bool fails;
} archives[] = {
	{ "step.git", true }, { "step.git -c four.yaml", true }, { "still.git --need-history", false },
	{ "step.git -c limit.yaml", true },
};

TEST_EACH(agrees, archives)
{
	struct run r;

	SKIP_IF(!support_has("python3"));
	support_run(&r, dir, "cp -r %.*s copy%d.git; set -- %s; shift; python3 -B " TOP_SRCDIR
		    "/tests/replay_command.py " BUILDBEAT " copy%d.git \"$@\"",
		    (int)strcspn(archives[_i].arguments, " "), archives[_i].arguments, _i,
		    archives[_i].arguments, _i);
	ck_assert_msg(r.status == 0 && !r.err.len, "%s: %s", archives[_i].arguments, r.err.data);
	ck_assert_msg(!archives[_i].fails == !strstr(buf_str(&r.out), "1:"), "%s", r.out.data);
}

TEST_MAIN(cmd_replay);
