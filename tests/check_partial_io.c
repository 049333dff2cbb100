/* SPDX-License-Identifier: MIT */
/* Commands with interrupted and partial reads and writes have the same results. */
#include "base/array.h"
#include "tests/support.h"

#define BUILDBEAT TOP_BUILDDIR "/buildbeat "
#define PRELOAD "LD_PRELOAD=" TOP_BUILDDIR "/tests/partial_io.so "
#define CONVERT TOP_SRCDIR "/tests/data/convert/"
#define NESTED TOP_SRCDIR "/tests/data/recordings/nested"
#define OE TOP_SRCDIR "/tests/data/oe/genuine"

/* $B is the program. */
static const char *const commands[] = {
	"$B import -n x " CONVERT "bazel/profile.json",
	"$B import -n x " CONVERT "callgrind/callgrind.out.4200",
	"$B import -n x " CONVERT "cargo/cargo-1.65.page",
	"$B import -n x " CONVERT "chrome/startup.json",
	"$B import -n x " CONVERT "clang/*.json",
	"$B import -n x --from cmake " CONVERT "cmake/data",
	"cp " CONVERT "ninja/scopes/build.ninja " CONVERT "ninja/scopes/*inc.ninja "
		CONVERT "ninja/scopes/sub.ninja . && cp " CONVERT "ninja/scopes/ninja_log.v6 "
		".ninja_log && $B import -n x .ninja_log",
	"$B import -n x " OE,
	"gzip -c " CONVERT "bazel/profile.json >p.gz && gzip -c /dev/null >>p.gz && "
		"$B import -n x p.gz",
	"cat " CONVERT "bazel/profile.json | $B import -n x --from bazel /dev/stdin",
	"gzip -c " CONVERT "bazel/profile.json | $B import -n x --from bazel /dev/stdin",
	"$B export --to chrome -o x " NESTED,
	"$B export --to oe -o x " NESTED,
	"$B export --to oe -o x " OE,
	"$B show -j " NESTED,
	"$B show " OE,
	"$B list " NESTED,
	"$B chart -o x.svg " NESTED,
	"$B diff " TOP_SRCDIR "/tests/data/diff/old-0 " TOP_SRCDIR "/tests/data/diff/new-0",
	"$B diff --html x.html " TOP_SRCDIR "/tests/data/diff/old-0 " TOP_SRCDIR
		"/tests/data/diff/new-0",
	/* The id of the commit, in o, depends on the time. */
	"git init -q --bare a.git && $B archive --repo a.git " NESTED " >o && rm -r a.git o",
};

TEST_EACH(the_same, commands)
{
	struct run r;

	support_run(&r, support_tmpdir(),
		    "mkdir work && (cd work && B=" BUILDBEAT "; %s) >out 2>&1; a=$?; mv work one; "
		    "mkdir work && (cd work && B='env " PRELOAD BUILDBEAT "'; %s) >2.out 2>&1; "
		    "b=$?; mv work two; cat 2.out; [ $a = $b ] && cmp out 2.out && diff -r one two; "
		    "s=$a$?; rm -rf one two; [ $s = 00 ]",
		    commands[_i], commands[_i]);
	ck_assert_msg(!r.status, "%s: %s%s", commands[_i], r.out.data, r.err.data);
}

TEST_PROGRAM(partial_io)
{
	SKIP_PROGRAM_IF(!support_can_be_loaded());
	return support_main();
}
