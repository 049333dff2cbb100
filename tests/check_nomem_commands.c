/* SPDX-License-Identifier: MIT */
/*
 * Commands without memory at every allocation: the usual output, or exit status 2 and a
 * message; no partial output, and no crash.
 */
#include "tests/nomem.h"
#include "tests/support.h"

#define RECORDINGS TOP_SRCDIR "/tests/data/recordings"
#define NESTED RECORDINGS "/nested"
#define OE TOP_SRCDIR "/tests/data/oe/genuine"

static const struct {
	const char *argv[12];
	long least;		/* fewer allocations than that, so that all were tried */
} commands[] = {
	{ { "show", NESTED }, 60 },
	{ { "show", "-j", NESTED }, 60 },
	{ { "show", "--tasks", NESTED }, 60 },
	{ { "show", "-j", "--tasks", NESTED }, 60 },
	{ { "show", "--failed", NESTED }, 60 },
	{ { "show", "-j", "--failed", "-k", "link", NESTED }, 60 },
	{ { "show", "-F", "*p*", "-s", "io", "-t", "2", NESTED }, 60 },
	{ { "show", "-F", "app", "-s", "name", NESTED }, 60 },
	{ { "show", "-d", RECORDINGS }, 60 },
	{ { "show", "-d", RECORDINGS, "cut" }, 40 },
	{ { "show", RECORDINGS "/empty" }, 20 },
	{ { "show", OE }, 60 },
	{ { "show", "--by", "directory,target,program,kind,host", NESTED }, 60 },
	{ { "show", "-m", "--by", "directory", NESTED }, 60 },
	{ { "show", "-b", "directory", OE }, 60 },
	{ { "show", "--html", "/dev/null", NESTED }, 200 },
	{ { "list", RECORDINGS }, 20 },
	{ { "list", "-j", RECORDINGS }, 20 },
	{ { "export", "--to", "prometheus", "-o", "/dev/stdout", NESTED }, 60 },
	{ { "profile", NESTED }, 60 },
	{ { "profile", "-j", NESTED }, 60 },
	{ { "profile", "-b", "kind,dir", "-s", "p95,queue-p50", "-a", NESTED }, 60 },
	{ { "profile", "-F", "/a.*p/", "--columns", "name,p50,p95,sample,self", NESTED }, 60 },
	{ { "profile", "--threads", "--merge", "none", "--until", "2s", NESTED }, 60 },
	{ { "profile", "-s", "p95", RECORDINGS "/cut", NESTED }, 60 },
	{ { "profile", "-j", RECORDINGS "/cut", NESTED }, 60 },
	{ { "profile", "--html", "/dev/null", "--at", "1s", NESTED }, 60 },
	{ { "profile", OE }, 60 },
	{ { "chart", "-o", "-", NESTED }, 200 },
	{ { "chart", "-o", "-", "-b", "directory", NESTED }, 200 },
	{ { "chart", "-o", "-", "-b", "kind", "--compare", RECORDINGS "/cut", NESTED }, 200 },
	{ { "chart", "-o", "-", "-b", "recipe", "--compare", NESTED, OE }, 200 },
};

/* With an archive in the current directory. */
#define SERIES "nightly-1/master/x86_64"

static const struct { const char *argv[12]; long least; } archived[] = {
	{ { "diff", "--repo", "r.git", SERIES "~1", SERIES }, 100 },
	{ { "diff", "--repo", "r.git", "-j", SERIES "~1", SERIES }, 100 },
	{ { "diff", "--repo", "r.git", "-m", "--base", SERIES "~8", SERIES "~9", "--new", SERIES, SERIES "~1" }, 100 },
	{ { "diff", "--repo", "r.git", "--html", "d.html", SERIES "~1", SERIES }, 100 },
	{ { "diff", "cut", "nested" }, 100 },
	{ { "check", "--repo", "r.git" }, 100 },
	{ { "check", "--repo", "r.git", "--json" }, 100 },
	{ { "check", "--repo", "r.git", "--junit" }, 100 },
	{ { "check", "--repo", "r.git", "--markdown" }, 100 },
	{ { "check", "--repo", "p.git", "--ref", "main", "-c", "limits.yaml" }, 100 },
	{ { "check", "--repo", "r.git", "--replay" }, 100 },
	{ { "check", "--repo", "r.git", "--replay", "--json" }, 100 },
	{ { "check", "--repo", "p.git", "--ref", "main", "--replay", "-c", "limits.yaml" }, 100 },
	{ { "check", "--repo", "p.git", "--ref", "topic", "--against", "main" }, 100 },
	{ { "check", "--repo", "p.git", "--ref", "topic", "--against", "main", "--json" }, 100 },
	{ { "check", "--repo", "p.git", "--ref", "topic", "--against", "mian" }, 50 },
	{ { "check", "--repo", "farms.git", "--everywhere", "--json" }, 100 },
	{ { "history", "--repo", "r.git" }, 100 },
	{ { "history", "--repo", "r.git", "-j" }, 100 },
	{ { "history", "--repo", "r.git", "recipe0: do_task1" }, 100 },
	{ { "report", "--repo", "r.git", "-o", "page" }, 100 },
	{ { "accept", "--repo", "r.git", "--list" }, 100 },
	{ { "profile", "tally" }, 100 },
	{ { "profile", "-j", "tally" }, 100 },
	{ { "profile", "-a", "-b", "phase", "-s", "queue-p95", "-F", "/r/", "tally" }, 100 },
	{ { "profile", "--since", "1ms", "nested", "tally" }, 100 },
	{ { "profile", "--html", "/dev/null", "--at", "2ms", "tally" }, 100 },
};

TEST_EACH(nth_fails_for_archive, archived)
{
	const char *dir = support_tmpdir();

	setenv("COLUMNS", "80", 1);
	setenv("HOME", "/nonexistent", 1);
	support_expect(dir, 0, NULL, NULL,
		       TOP_BUILDDIR "/tests/gen_archive --tasks 12 --builds 14 --seed 3 "
		       "--noise 0.02 --host 0.02 --step 1-2/9/0.5 --step 3/13/0.9 r.git && "
		       TOP_BUILDDIR "/tests/gen_archive --tasks 12 --builds 24 --repeats 2 --seed 3 "
		       "--series h/main/m p.git && "
		       TOP_BUILDDIR "/tests/gen_archive --tasks 12 --first 23 --builds 24 --repeats 2 "
		       "--cores 8 --step 1-2/0/0.9 --seed 3 --series h/topic/m p.git && "
		       "echo \"limits: {build: {wall: 1s}, '*': {cpu: 1s}}\" >limits.yaml && "
		       "for f in 1 2; do " TOP_BUILDDIR "/tests/gen_archive --tasks 12 --builds 14 --noise 0.0$f "
		       "--step 1-2/9/0.5 --step 3/13/0.9 --series farm$f/main/m farms.git || exit; done && "
		       TOP_BUILDDIR "/buildbeat accept --repo farms.git --ref farm1 --metrics cpu --everywhere --owner me "
		       "--bug https://b.example/1 --fixed-by 1234567 '*' why && "
		       "cp -r " RECORDINGS "/. . && cp -r nested tally && "
		       "cp " TOP_SRCDIR "/tests/corpus/tally/phases tally/tally.log");
	ck_assert_int_gt(nomem_command(dir, archived[_i].argv), archived[_i].least);
}

TEST_EACH(nth_fails, commands)
{
	setenv("COLUMNS", "80", 1);
	setenv("HOME", "/nonexistent", 1);
	ck_assert_int_gt(nomem_command("/", commands[_i].argv), commands[_i].least);
}

TEST_MAIN(nomem_commands);
