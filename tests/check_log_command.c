/* SPDX-License-Identifier: MIT */
#include "tests/launched.h"

#include <string.h>

/* `buildbeat log`: its options, and output that is large or strange. */

#define LOG BUILDBEAT " log -d stats "

static void setup(void)
{
	support_writes(support_path("%s/Makefile", support_tmpdir()),
		       "all: good bad\ngood: ; printf '\\033[31mred\\033[0m\\n'\n"
		       "bad: ; echo in bad; exit 3\n");
	support_expect(support_tmpdir(), 2, NULL, NULL, RECORD "--log -n one -- make -k -O -j2 2>&1");
}

static const struct { const char *options, *out; } selections[] = {
	{ "--task good", "printf '\\033[31mred\\033[0m\\n'\nred\n" },
	{ "--failed", "echo in bad; exit 3\nin bad\nmake: *** [Makefile:3: bad] Error 3\n" },
	{ "--grep '^r.d$'", "red\n" }, { "-g red -C 1 --task good", NULL },
	{ "--since 1h", "" }, { "--until 1h --failed --grep ^in", "in bad\n" },
};

TEST_GROUP_WITH("command", setup, NULL);

TEST_EACH(selects, selections)
{
	support_expect(support_tmpdir(), 0, selections[_i].out, NULL, LOG "%s",
		       selections[_i].options);
}

static const struct { const char *options, *message; } wrong[] = {
	{ "--task nothing", "no task is named 'nothing'" }, { "--since 5x", "expected a time such as 90s" },
	{ "--until 5KiB", "expected a time" }, { "--grep '('", "--grep" },
	{ "--json --html x", "--html" }, { "--follow --failed", "--follow" },
	{ "--html /no/such/x", "/no/such" },
};

TEST_EACH(refuses, wrong)
{
	support_expect(support_tmpdir(), 2, "", wrong[_i].message, LOG "%s", wrong[_i].options);
}

TEST(no_output)
{
	support_expect(support_tmpdir(), 0, NULL, NULL, RECORD "-n none -- true");
	support_expect(support_tmpdir(), 2, "", "record it with buildbeat record --log",
		       LOG "none");
}

/* show reports the size of the output, and nothing if there is none. */
TEST(shown)
{
	support_expect(support_tmpdir(), 0, "same\n", NULL, RECORD "-n none -- true; "
		       BUILDBEAT " show -a stats/one >shown; "
		       "grep -qx 'output  *[0-9]* B, see: buildbeat log' shown && "
		       BUILDBEAT " show -a stats/none >shown; ! grep '^output' shown && echo same");
}

/* A pipe gets all bytes of output without escape sequences. */
TEST(strange)
{
	support_expect(support_tmpdir(), 0, NULL, NULL, "head -c 100000 /dev/urandom | "
		       "tr -d '\\033' >data; " RECORD "--log -n bytes --redact none -- cat data >/dev/null; "
		       LOG "bytes | cmp - data");
}

/* A line of 100 MB, and a million lines; little memory. */
TEST_LOOP(large, 2)
{
	static const char *const command[] = {
		"head -c 100000000 /dev/zero | tr '\\\\000' x", "seq 1000000",
	};

	support_expect(support_tmpdir(), 0, "same\n", NULL, RECORD "--log -n large -- sh -c \"%s\" "
		       ">data; (ulimit -v 200000; " LOG "large) | cmp - data && echo same",
		       command[_i]);
}

/* The page escapes what it shows, and the chart and the page link to each other. */
TEST(page)
{
	support_expect(support_tmpdir(), 0, NULL, "", LOG "--html page.html; "
		       "grep -qx '<span class=\"k1\">red</span>' page.html && "
		       "grep -q 'bootchart.svg#task=' page.html && ! grep -q '\033' page.html");
	support_expect(support_tmpdir(), 0, NULL, "", BUILDBEAT " chart --only bootchart stats/one && "
		       "grep -q '<section' stats/one/log.html && "
		       "grep -q lines_task stats/one/bootchart.svg");
	support_expect(support_tmpdir(), 0, NULL, NULL, RECORD "--log -n evil -- "
		       "sh -c \"echo '<script>alert(1)</script>'\"; " LOG "--html evil.html evil; "
		       "! grep -q '<script>alert' evil.html");
}

/* A build as one file: a hostile line is text, no script lacks the nonce, and of a long output the beginning, the
 * lines of failed tasks and the end are there. */
TEST(saved)
{
	const char *dir = support_path("%s/saved", support_tmpdir());

	support_expect(support_tmpdir(), 0, NULL, NULL, "mkdir saved");
	support_writes(support_path("%s/Makefile", dir), "all: a b c\n"
		       "a:\n\techo '<script>alert(1)</script>'; seq 1000000 1400000\n"
		       "b: a\n\tseq 2000000 2000100; false\n"
		       "c: a\n\tseq 3000000 3400000; echo last of all\n");
	support_expect(dir, 2, NULL, NULL, BUILDBEAT " record --no-git --log -o s -n one -- make -k -j1");
	support_expect(dir, 0, "f.html\n", "", BUILDBEAT " show -d s --html f.html one");
	support_expect(dir, 1, "0\n", "", "grep -c '<script>alert' f.html");
	support_expect(dir, 0, "2\n", "", "grep -o '<script[^>]*>' f.html | grep -v type= | grep -c 'nonce=\"[0-9a-f]*\"'");
	support_expect(dir, 1, "0\n", "", "grep -o '<script[^>]*>' f.html | grep -v type= | grep -vc nonce=");
	support_expect(dir, 0, "", "", "for line in 1000001 2000100 'last of all'; do grep -qx \"$line\" f.html || echo no $line; done; "
		       "for part in 'script-src .nonce-' 'lines are left out here' 'of b (exit 1)'; do "
		       "grep -q \"$part\" f.html || echo no $part; done; grep -x 3200000 f.html; "
		       "[ $(stat -c %%s f.html) -lt 9000000 ]");
	support_expect(dir, 0, "g.html\n", "", BUILDBEAT " log -d s --html g.html one");
	support_expect(dir, 0, "yes\n", "", "grep -qx 1000001 g.html && grep -qx 2000100 g.html && grep -qx 'last of all' g.html && "
		       "! grep -qx 3200000 g.html && grep -q 'lines are left out here' g.html && echo yes");
	support_expect(dir, 2, "", NULL, BUILDBEAT " show -d s --html f.html --failed one");
	support_expect(dir, 2, "", NULL, BUILDBEAT " show -d s --html /no/such/f.html one");
}

/* The command for the lines that a failed task may have written can be run as it is printed. */
TEST(no_known_line)
{
	SKIP_IF(!support_has("make"));
	support_expect(support_tmpdir(), 0, "same\n", NULL,
		       /* both run when they write, and until both lines are recorded; make's output is not a pipe of
			* the relay, so they have none of their own */
		       "printf 'all: a b\\n.SILENT:\\na b:\\n\\t: >$@.on; until test -e a.on && test -e b.on; do sleep 0.02; done; "
		       "echo in $@; until grep -q \"in a\" $(LOG) && grep -q \"in b\" $(LOG); do sleep 0.02; done; exit 3\\n"
		       "LOG := \"stats/two words/output.log\"\\n' >silent.mk; "
		       RECORD "--log -n 'two words' -- sh -c 'make -j2 -kf silent.mk 2>&1 | cat' >/dev/null 2>&1; "
		       LOG "--failed 'two words' 2>&1 >/dev/null | sed -n '1s/.*while it ran: //p' >command; "
		       "PATH=%s:$PATH; . ./command | grep -q 'in a' && echo same", TOP_BUILDDIR);
}

/* Lines appear while the build runs; the command ends with the build. */
TEST(follows)
{
	support_expect(support_tmpdir(), 0, "one\ntwo\n", NULL, "%s " RECORD "--log -n live -- sh -c "
		       "'echo one; until test -e go; do sleep 0.02; done; echo two' >/dev/null & "
		       "until_true 'test -s stats/live/output_index.log'; " LOG "-f live >got & p=$!; "
		       "until_true 'grep -q one got'; : >go; wait $p; cat got", support_poll);
}

TEST(compressed)
{
	support_expect(support_tmpdir(), 0, "1\n2\n", NULL, RECORD "--log --compress zstd -n packed -- "
		       "seq 2 >/dev/null; test -e stats/packed/output.log.zst && " LOG "packed");
}

TEST_PROGRAM(log_command)
{
	/* otherwise record reports that it cannot observe the commands */
	SKIP_PROGRAM_IF(!support_can_be_loaded());
	return support_main();
}
