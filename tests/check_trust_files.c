/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/hostile.h"
#include "tests/make_host.h"

#include <stdlib.h>
#include <string.h>

/* Files that are found or written without being named. */

/* Whether the attack of a test is possible. */
enum who { ANYBODY, ROOT };

/* Configuration files */

/* Whatever has this name: no command hangs, or continues as if it were missing. */
static const struct { enum who who; const char *make, *message; bool ignored; } files[] = {
	{ ANYBODY, "mkfifo buildbeat.yaml", "not a regular file", false },
	{ ANYBODY, "mkdir buildbeat.yaml", "not a regular file", false },
	{ ANYBODY, "ln -s /dev/tty buildbeat.yaml", "buildbeat.yaml: ", false },
	{ ANYBODY, "ln -s /dev/zero buildbeat.yaml", "not a regular file", false },
	{ ANYBODY, "python3 -c 'import socket; socket.socket(socket.AF_UNIX).bind(\"buildbeat.yaml\")'",
	  "cannot read the configuration: Invalid argument", false },
	{ ANYBODY, "ln -s buildbeat.yaml buildbeat.yaml", NULL, false },
	{ ANYBODY, "echo 'git: false' >buildbeat.yaml", NULL, false },
	{ ANYBODY, "echo 'git: false' >buildbeat.yaml; chmod o+w buildbeat.yaml", "everybody can write to it; to change that: chmod o-w ", false },
	{ ANYBODY, "echo 'git: false' >buildbeat.yaml; chmod o+w .", "everybody can write to it; to change that: chmod o-w ", true },
	{ ANYBODY, "echo 'git: false' >buildbeat.yaml; chmod 1777 .", NULL, false },
	{ ANYBODY, "echo 'git: false' >x; ln -s x buildbeat.yaml", NULL, false },
	{ ANYBODY, "mkdir -m 777 y; echo 'git: false' >y/x; ln -s y/x buildbeat.yaml", "/in/y: the configuration is not read: everybody can write", false },
	{ ROOT, "echo 'git: false' >buildbeat.yaml; chown 0:65534 buildbeat.yaml; chmod g+w buildbeat.yaml", "(gid 65534) can write to it; ", false },
	{ ROOT, "echo 'git: false' >buildbeat.yaml; chmod g+w buildbeat.yaml", NULL, false },
	{ ROOT, "echo 'git: false' >buildbeat.yaml; chown 65534 buildbeat.yaml", "(uid 65534), not to root (uid 0); if you trust its owner, list ", false },
	{ ROOT, "echo 'git: false' >buildbeat.yaml; chown 65534 .", "(uid 65534), not to root (uid 0); if you trust its owner, list ", true },
	{ ROOT, "echo 'git: false' >buildbeat.yaml; chown 65534 .; export SUDO_UID=65534", "(uid 65534)", true },
	{ ROOT, "chmod 1777 .; echo 'git: false' >x; ln -s x buildbeat.yaml; chown -h 65534 buildbeat.yaml", "(uid 65534)", true },
	/* as in /tmp */
	{ ROOT, "chmod 1777 .; echo 'x: 1' >buildbeat.yaml; chown 65534 buildbeat.yaml", "(uid 65534)", true },
	{ ANYBODY, "chmod 1777 .; mkfifo buildbeat.yaml", "not a regular file; it is ignored", true },
	{ ROOT, "echo 'x: 1' >buildbeat.yaml; chmod 1666 buildbeat.yaml", "everybody can write to it", false },
	{ ANYBODY, "echo 'plugin: /x.so' >buildbeat.yaml", "1:1: 'plugin' is not allowed in a project's file: set it in ~/.config/buildbeat/buildbeat.yaml or /", false },
	{ ANYBODY, "echo 'trust: [/]' >buildbeat.yaml", "1:1: 'trust' is not allowed in a project's file", false },
};

static const char *const commands[] = {
	"record --no-git -o out -- touch ran", "task --recording out/one x touch ran", "show", "list", "doctor",
	"chart", "check", "bisect --good x --bad y true",
};

/* Lines with this in a text. */
static unsigned lines_with(const char *text, const char *what)
{
	unsigned n = 0;

	while ((text = strstr(text, what))) {
		n++;
		text += strcspn(text, "\n");
	}
	return n;
}

TEST_GROUP_WITH("configuration", hostile_begin, NULL);

TEST_EACH(configuration, files)
{
	const char *message = files[_i].message;
	bool ignored = files[_i].ignored;
	struct run r;

	SKIP_IF(files[_i].who == ROOT && !hostile_can());
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		bool ran, alone;

		support_run(&r, hostile_base, "rm -rf in; mkdir -m 755 in; cd in; %s; mkdir -m 755 sub; cd sub; "
			    "timeout 600 " BUILDBEAT " %s", files[_i].make, commands[i]);
		ran = support_exists(support_path("%s/in/sub/ran", hostile_base));
		/* the build runs without its recording if the file is not to be trusted */
		alone = !i && !!strstr(r.err.data, "the configuration is not read");
		ck_assert_msg(message || !strstr(r.err.data, "/in"), "%s", r.err.data);
		if (message)
			ck_assert_msg(lines_with(r.err.data, message), "%s:\n%s", commands[i], r.err.data);
		if (ignored)
			ck_assert_msg(lines_with(r.err.data, "; it is ignored\n") == 1, "%s", r.err.data);
		if (message && !ignored) {
			ck_assert_int_eq(r.status, alone ? 0 : 2);
			ck_assert_int_eq(ran, alone);
		} else if (i < 2) {
			ck_assert_msg(!r.status && ran, "%s", r.err.data);
		}
	}
}

/* The exceptions are in the user's file, never in the project's, however that is read. */
TEST(exceptions)
{
	struct run r;

	SKIP_IF(!hostile_can() || !support_can_be_loaded());
	support_run(&r, hostile_base, "mkdir -p in/sub; echo 'git: false' >in/buildbeat.yaml; chown -R 65534 in");
	hostile_trust(support_path("%s/other", hostile_base));
	support_expect(support_path("%s/in/sub", hostile_base), ANY_STATUS, "ran\n", "; it is ignored\n",
		       BUILDBEAT " record -- echo ran");
	hostile_trust(support_path("%s/in", hostile_base));
	support_expect(support_path("%s/in/sub", hostile_base), ANY_STATUS, "ran\n1\n", "",
		       BUILDBEAT " record -- echo ran; ls -d buildstats/2* | wc -l");
	support_expect(hostile_base, 0, NULL, "",
		       "chmod o+w in in/buildbeat.yaml; cd in/sub; "
		       BUILDBEAT " record -- echo ran");
	hostile_configure("trust: [relative]\n");
	support_expect(hostile_base, ANY_STATUS, NULL, ":1:9: expected an absolute path",
		       BUILDBEAT " list");
}

/* Code is named only in the user's own file or on the command line. */
TEST(personal_plugin)
{
	struct run r;

	SKIP_IF(!make_host_can());
	support_writes(support_path("%s/buildbeat.yaml", hostile_base), "git: false\noutput: stats\n");
	support_writes(support_path("%s/Makefile", hostile_base), "all:\n\t@echo $(findstring mine.so,$(file <$(firstword $(MAKEFILES))))\n");
	support_run(&r, hostile_base, "cp " PLUGIN " mine.so; chmod 755 mine.so");
	hostile_configure(support_path("plugin: %s/mine.so\n", hostile_base));
	support_expect(hostile_base, ANY_STATUS, "mine.so\n", NULL, BUILDBEAT " record make");
	hostile_configure("plugin: mine.so\n");
	support_expect(hostile_base, 2, NULL, "expected an absolute path",
		       BUILDBEAT " record make");
	hostile_configure("");
	support_expect(hostile_base, ANY_STATUS, "mine.so\n", NULL,
		       BUILDBEAT " record --plugin mine.so make");
}

/* However it is named: others can write neither to the object nor to its directory. */
static const struct { enum who who; const char *make, *message; } plugins[] = {
	{ ANYBODY, "chmod 757 p/buildbeat.so", "p/buildbeat.so: everybody can write to it" },
	{ ANYBODY, "chmod 757 p", "p: everybody can write to it" },
	{ ROOT, "chown 65534 p/buildbeat.so", "p/buildbeat.so: it belongs to " },
	{ ROOT, "chown 65534 p", "p: it belongs to " },
};

TEST_EACH(plugin, plugins)
{
	struct run r;

	SKIP_IF(!make_host_can() || (plugins[_i].who == ROOT && !hostile_can()));
	support_writes(support_path("%s/Makefile", hostile_base), "all:\n\t@/bin/echo made\n");
	support_run(&r, hostile_base, "mkdir -m 755 p; cp " PLUGIN " p; chmod 755 p/buildbeat.so; %s; "
		    BUILDBEAT " record --no-git -o stats -n one --plugin p/buildbeat.so make; "
		    "grep -c ^start stats/one/tasks.log; " BUILDBEAT " doctor --plugin p/buildbeat.so | grep '^missing *plugin'",
		    plugins[_i].make);
	ck_assert_msg(!strncmp(r.out.data, "made\n0\nmissing ", 15), "%s", r.out.data);
	ck_assert_msg(strstr(r.out.data, plugins[_i].message) != NULL, "%s", r.out.data);
	ck_assert_msg(strstr(r.err.data, "buildbeat: no make's tasks will be recorded: ") &&
		      strstr(r.err.data, plugins[_i].message), "%s", r.err.data);
}

/* Directories of recordings */

static const struct { enum who who; const char *make, *message; } bases[] = {
	{ ANYBODY, "mkdir buildstats", NULL },
	{ ANYBODY, ":", NULL },
	{ ANYBODY, "mkdir -m 777 buildstats", "in/buildstats: everybody can write to it" },
	{ ANYBODY, "mkdir -m 1777 buildstats", NULL },
	{ ANYBODY, "chmod 777 .", "in: everybody can write to it" },
	{ ROOT, "mkdir buildstats; chown 65534 buildstats", "in/buildstats: it belongs to " },
	{ ROOT, "chown 65534 .", "in: it belongs to " },
	{ ROOT, "chmod 1777 .; mkdir real; ln -s real buildstats; chown -h 65534 buildstats", "in/buildstats: it belongs to " },
};

TEST_GROUP_WITH("recordings", hostile_begin, NULL);

TEST_EACH(output, bases)
{
	const char *message = bases[_i].message;
	struct run r;

	SKIP_IF((bases[_i].who == ROOT && !hostile_can()) || !support_can_be_loaded());
	support_run(&r, hostile_base, "mkdir -m 755 in; cd in; %s; " BUILDBEAT " record --no-git sh -c 'echo ran; exit 4'",
		    bases[_i].make);
	ck_assert_int_eq(r.status, 4);
	ck_assert_str_eq(r.out.data, "ran\n");
	ck_assert_msg(message ? strstr(r.err.data, "buildbeat: nothing is recorded: ") && strstr(r.err.data, message)
			      : !r.err.len, "%s", r.err.data);
	/* and imported and exported recordings */
	support_run(&r, hostile_base, BUILDBEAT " record --no-git -o good -n one true; cd in; "
		    BUILDBEAT " export --to oe -o exported ../good/one; ls exported");
	ck_assert_msg(!r.out.len == (message && !strstr(message, "buildstats")), "%s%s", r.out.data, r.err.data);
}

/* The default recording is not another user's. */
TEST(implied)
{
	static const char *const commands_of_one[] = { "show", "show one", "list", "chart", "export --to chrome -o x", "diff one one" };
	struct run r;

	SKIP_IF(!hostile_can());
	support_run(&r, hostile_base, "mkdir -p -m 755 in/sub; cd in; " BUILDBEAT " record --no-git -n one true; "
		    "chown -R 65534 buildstats");
	for (size_t i = 0; i < ARRAY_SIZE(commands_of_one); i++) {
		support_run(&r, support_path("%s/in/sub", hostile_base), BUILDBEAT " %s", commands_of_one[i]);
		ck_assert_msg(r.status == 2 && strstr(r.err.data, "in/buildstats: it belongs to "), "%s: %d\n%s",
			      commands_of_one[i], r.status, r.err.data);
	}
	/* a named directory is data, but its latest does not count */
	support_expect(hostile_base, 0, "0\n", NULL,
		       BUILDBEAT " record --no-git -o other -n two true; ln -sfn ../../other/two in/buildstats/latest; "
		       BUILDBEAT " show --json in/buildstats | grep -c '/two'; " BUILDBEAT " show in/buildstats >/dev/null");
}

/* A file written without being named replaces a link; a named link is followed. */
static const struct { const char *write, *name; bool followed, gnuplot; } targets[] = {
	{ "chart --only bootchart out/one", "out/one/bootchart.svg", false, false },
	{ "chart --only bootchart -o there out/one", "there/bootchart.svg", false, false },
	{ "chart --only bootchart -o there/b.svg out/one", "there/b.svg", true, false },
	{ "chart --only cpu out/one", "out/one/cpu.svg", false, true },
	{ "chart --only cpu --keep out/one", "out/one/cpu.gnuplot", false, true },
	{ "chart --only cpu --keep out/one", "out/one/cpu.data", false, true },
	{ "chart --only cpu --format png -o there out/one", "there/cpu.png", false, true },
	{ "diff --html there/d.html one one", "there/d.html", true, false },
	{ "report --repo builds -o there", "there/index.html", false, false },
	{ "check --repo builds --junit -o there/c", "there/c", true, false },
};

TEST_EACH(written, targets)
{
	struct run r;

	SKIP_IF((targets[_i].gnuplot && !support_has("gnuplot")) || !support_can_be_loaded());
	support_writes(support_path("%s/buildbeat.yaml", hostile_base), "output: out\n");
	support_run(&r, hostile_base, BUILDBEAT " record --no-git --interval 10 -n one sleep 0.2 && "
		    BUILDBEAT " archive --repo builds out/one >/dev/null && "
		    "mkdir there && echo mine >victim && chmod 640 victim && ln -s $PWD/victim %s && "
		    BUILDBEAT " %s >/dev/null; cat victim", targets[_i].name, targets[_i].write);
	ck_assert_msg(!r.err.len, "%s", r.err.data);
	ck_assert_int_eq(!!strcmp(r.out.data, "mine\n"), targets[_i].followed);
	/* and a file keeps its mode */
	support_expect(hostile_base, ANY_STATUS, "604 regular file\n640 regular file\n0\n0\n",
		       NULL,
		       "rm %s; echo old >%s; chmod 604 %s; " BUILDBEAT " %s >/dev/null; "
		       "stat -c '%%a %%F' %s victim; grep -cx old %s; ls -a $(dirname %s) | grep -c '^[.]b'",
		       targets[_i].name, targets[_i].name, targets[_i].name, targets[_i].write, targets[_i].name,
		       targets[_i].name, targets[_i].name);
}

/* A regular file of that name is not replaced. */
TEST(latest_is_a_file)
{
	support_expect(hostile_base, ANY_STATUS, "mine\n", NULL,
		       "mkdir out; echo mine >out/latest; " BUILDBEAT " record --no-git -o out true; cat out/latest");
}

/* A link of that name is replaced if it names a recording or nothing. */
static const struct { const char *make, *link; } links[] = {
	{ "mkdir 1.0; ln -s 1.0 latest", "1.0" }, { "ln -s ../other latest", "../other" },
	{ "ln -s / latest", "/" }, { "ln -s gone latest", "one" },
	{ "mkdir old; echo buildbeat build 1 >old/build; ln -s old latest", "one" },
	{ "mkdir old; echo buildbeat set 1 >old/set; ln -s old latest", "one" },
};

TEST_EACH(latest_is_a_link, links)
{
	support_expect(hostile_base, 0, support_path("%s\n", links[_i].link), NULL,
		       "mkdir out; cd out; %s; cd ..; " BUILDBEAT " record --no-git -o out -n one true; "
		       "readlink out/latest", links[_i].make);
}

/* A recording that is named needs no project file. */
TEST(named_recording)
{
	static const char *const shown[] = { "show", "chart --format svg -o out/x", "log", "profile", "export --to chrome" };

	support_expect(hostile_base, 0, NULL, NULL, BUILDBEAT " record --no-git --log -o out -n one echo x; "
		       "echo 'git: false' >buildbeat.yaml; chmod o+w buildbeat.yaml");
	for (size_t i = 0; i < ARRAY_SIZE(shown); i++)
		support_expect(hostile_base, 0, NULL, "the configuration is not read",
			       BUILDBEAT " %s out/one; test $? != 2", shown[i]);
	support_expect(hostile_base, 2, NULL, "the configuration is not read", BUILDBEAT " show");
}

/* Nothing is appended to the target of another user's link. */
TEST(joined)
{
	struct run r;

	SKIP_IF(!hostile_can());
	support_run(&r, hostile_base, "umask 022; " BUILDBEAT " record --no-git -o out -n one true; echo mine >mine; "
		    "ln -sf ../../mine out/one/tasks.log; " BUILDBEAT " task --recording out/one x echo ran; cat mine; "
		    "rm out/one/tasks.log; : >out/one/tasks.log; chown 65534 out/one; "
		    BUILDBEAT " task --recording out/one x echo ran; cat out/one/tasks.log");
	ck_assert_str_eq(r.out.data, "ran\nmine\nran\n");
	ck_assert_ptr_nonnull(strstr(r.err.data, "tasks will be recorded") ? NULL : strstr(r.err.data, "nothing is recorded: "));
	ck_assert_ptr_nonnull(strstr(r.err.data, "out/one: it belongs to "));
}

TEST_MAIN(trust_files);
