/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "cli/command.h"
#include "tests/paths.h"
#include "tests/support.h"

/* The command line: help, messages, completion. */

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"

static int n_commands(void)
{
	int n = 0;

	while (commands[n])
		n++;
	return n;
}

static void assert_one_line(const struct run *r, const char *part)
{
	ck_assert_int_eq(r->status, EXIT_MISUSE);
	ck_assert_str_eq(r->out.data, "");
	ck_assert_msg(strstr(r->err.data, part) != NULL, "'%s' is not in: %s", part,
		      r->err.data);
	ck_assert_int_eq(strncmp(r->err.data, "buildbeat: ", 11), 0);
	ck_assert_ptr_eq(strchr(r->err.data, '\n'), r->err.data + r->err.len - 1);
}

TEST_LOOP(help_in_all_ways, n_commands())
{
	const char *name = commands[_i]->name;
	struct run one, two, three;

	support_run(&one, NULL, BUILDBEAT " help %s", name);
	support_run(&two, NULL, BUILDBEAT " %s --help", name);
	support_run(&three, NULL, BUILDBEAT " %s -h nonsense", name);
	ck_assert_int_eq(one.status, 0);
	ck_assert_int_eq(two.status, 0);
	ck_assert_int_eq(three.status, 0);
	ck_assert_str_eq(one.out.data, two.out.data);
	ck_assert_str_eq(one.out.data, three.out.data);
	ck_assert_ptr_nonnull(strstr(one.out.data, commands[_i]->summary));
	for (const struct option *o = commands[_i]->options; o && o->name; o++) {
		ck_assert_ptr_nonnull(strstr(one.out.data, support_path("--%s", o->name)));
		ck_assert_ptr_nonnull(strstr(one.out.data, o->help));
	}
}

/* A wrong option and a path that does not exist, or the status of a command that was not found; no output.
 * The page has the status; the help names a page that exists. */
TEST_LOOP(exit_statuses, n_commands())
{
	const char *name = commands[_i]->name;
	bool runs = !strcmp(name, "record") || !strcmp(name, "inspect run");
	struct run r;

	if (strcmp(name, "complete")) {
		support_run(&r, NULL, BUILDBEAT " %s --no-such-option", name);
		assert_one_line(&r, "no-such-option");
		support_run(&r, NULL, BUILDBEAT " %s /nonexistent/x </dev/null", name);
		ck_assert_msg(r.status == (runs ? 127 : 2), "%s: %d", name, r.status);
		ck_assert_str_eq(r.out.data, "");
	}
	support_expect(TOP_SRCDIR "/man", ANY_STATUS, "", "", "page=$(%s/buildbeat %s -h | "
		       "sed -n 's/^See \\(.*\\)(\\(.\\))\\.$/\\1.\\2/p'); ls $page >/dev/null; "
		       "[ $page = buildbeat.1 ] || sed -n '/^.Sh EXIT STATUS/,/^.Sh EX[^I]/p' $page | "
		       "grep -q '\\b2\\b' || echo no status in $page", TOP_BUILDDIR, name);
}

/* A surplus letter in the name of each option of each command. */
TEST_LOOP(typo_in_every_option, n_commands())
{
	const struct command *c = commands[_i];
	struct run r;

	for (const struct option *o = c->options; o && o->name; o++) {
		size_t n = strlen(o->name);

		support_run(&r, NULL, BUILDBEAT " %s --%s%c=1 x y", c->name, o->name,
			    o->name[n - 1]);
		assert_one_line(&r, support_path("did you mean '--%s'?", o->name));
	}
}

TEST_LOOP(typo_in_every_opposite, n_commands())
{
	const struct command *c = commands[_i];
	struct run r;

	for (const struct option *o = c->options; o && o->name; o++) {
		if (o->kind != OPTION_FLAG)
			continue;
		support_run(&r, NULL, BUILDBEAT " %s --no-%sx x y", c->name, o->name);
		assert_one_line(&r, support_path("did you mean '--no-%s'?", o->name));
	}
}

/* For a terminal of 80 columns; wrapped help has the same words. */
TEST_LOOP(usage_fits, n_commands())
{
	support_expect(NULL, ANY_STATUS, "", NULL,
		       BUILDBEAT " help %s | sed '/^$/q' | awk 'length > 80'",
		       commands[_i]->name);
}

TEST_LOOP(typo_in_every_command, n_commands())
{
	const char *name = commands[_i]->name, *part = strchr(name, ' ');
	struct run r;

	if (commands[_i]->hidden)
		return;
	if (part)
		support_run(&r, NULL, BUILDBEAT " %.*s%c%s", (int)(part + 1 - name), name, part[1], part + 1);
	else
		support_run(&r, NULL, BUILDBEAT " %c%s", name[0], name);
	assert_one_line(&r, support_path("did you mean '%s'?", name));
	support_run(&r, NULL, BUILDBEAT " help %sx", name);
	assert_one_line(&r, support_path("did you mean '%s'?", name));
}

TEST(overview)
{
	struct run one, two, three;

	support_run(&one, NULL, BUILDBEAT);
	support_run(&two, NULL, BUILDBEAT " --help");
	support_run(&three, NULL, BUILDBEAT " help");
	ck_assert_int_eq(one.status | two.status | three.status, 0);
	ck_assert_str_eq(one.out.data, two.out.data);
	ck_assert_str_eq(one.out.data, three.out.data);
	for (int i = 0; commands[i]; i++)
		ck_assert_int_eq(strstr(one.out.data, support_path(" %s ", commands[i]->name)) == NULL,
				 commands[i]->hidden || strchr(commands[i]->name, ' ') != NULL);
	support_expect(NULL, ANY_STATUS, "buildbeat " PACKAGE_VERSION "\n", NULL,
		       BUILDBEAT " --version");
	support_run(&one, NULL, BUILDBEAT " --vresion");
	assert_one_line(&one, "unknown option '--vresion'; did you mean '--version'?");
	support_run(&one, NULL, BUILDBEAT " ''");
	assert_one_line(&one, "unknown command ''");
}

/* Each command is in one group, and the groups are in the same order in the help and the page. */
TEST(groups)
{
	const struct command_group *group = command_groups;
	struct run help, page;
	const char *in_help, *in_page;

	support_run(&help, NULL, BUILDBEAT " --help");
	support_run(&page, NULL, "mandoc -Tascii " TOP_SRCDIR "/man/buildbeat.1 | col -bx | "
		    "tr -s ' \\n' '  '");
	ck_assert_int_eq(page.status, 0);
	in_help = help.out.data;
	in_page = strstr(page.out.data, " The commands are");
	ck_assert_ptr_eq(commands[0], group->first);
	for (int i = 0; commands[i]; i++) {
		if (commands[i]->hidden || strchr(commands[i]->name, ' '))
			continue;
		if (commands[i] == group->first) {
			in_help = strstr(in_help, support_path("\n\n%s:\n", group->title));
			ck_assert_ptr_nonnull(in_page);
			in_page = strstr(in_page, support_path(" %s %s ", group->title, commands[i]->name));
			group++;
		}
		ck_assert_ptr_nonnull(in_help);
		in_help = strstr(in_help, support_path("\n  %-10s ", commands[i]->name));
		ck_assert_msg(in_help != NULL, "%s is not in its group", commands[i]->name);
		ck_assert_ptr_nonnull(in_page);
		in_page = strstr(in_page, support_path(" %s %.6s", commands[i]->name,
						       commands[i] == &cmd_help ? "[COMMAND...]" : commands[i]->summary));
		ck_assert_msg(in_page != NULL, "%s is not in its group", commands[i]->name);
	}
	ck_assert_ptr_null(group->first);
}

static const struct { const char *words, *message; } typed[] = {
	{ "runme -j4 'a b'", "'runme' is not a command of buildbeat; to record it: "
	  "buildbeat record -- runme -j4 'a b'\n" },
	{ "bin/runme", "'bin/runme' is not a command of buildbeat; to record it: "
	  "buildbeat record -- bin/runme\n" },
	{ "bin", "unknown command 'bin'; see: buildbeat --help\n" },
	{ "xyzzyx -j4", "unknown command 'xyzzyx'; see: buildbeat --help\n" },
	{ "help xyzzyx", "unknown command 'xyzzyx'; see: buildbeat --help\n" },
	{ "chrat", "unknown command 'chrat'; did you mean 'chart'?\n" },
	{ "version", "unknown command 'version'; did you mean '--version'?\n" },
	{ "-V", "unknown option '-V'; did you mean '--version'?\n" },
	{ "-version", "unknown option '-version'; did you mean '--version'?\n" },
	{ "record", "record: too few operands; expected: [--] CMD..., such as: "
	  "buildbeat record -- make\n" },
	{ "task", "such as: buildbeat task NAME -- make\n" },
	{ "record -j4 -- make", "record: unknown option '-j'; see: buildbeat help record; "
	  "options of CMD follow it\n" },
	{ "attach http://127.0.0.1:1/", "attach: cannot connect to 127.0.0.1:1: Connection refused\n" },
	{ "attach unix:/nonexistent/x", "attach: cannot connect to /nonexistent/x: No such file or directory\n" },
	{ "export", "name a format: buildbeat export --to chrome; for a list" },
};

/* A message says what to type. */
TEST_EACH(says_what_to_type, typed)
{
	const char *dir = support_tmpdir();
	struct run r;

	support_run(&r, dir, "mkdir bin && echo : >bin/runme && chmod +x bin/runme && "
		    "PATH=$PWD/bin:$PATH " BUILDBEAT " %s", typed[_i].words);
	assert_one_line(&r, typed[_i].message);
}

static const struct { const char *words, *message; } moved[] = {
	{ "show -o out.txt", "show: unknown option '-o'; use -d DIR\n" },
	{ "list --output=out", "list: unknown option '--output'; use --dir DIR\n" },
	{ "bisect --dir=d true", "bisect: unknown option '--dir'; use --output DIR\n" },
	{ "log -t a", "log: unknown option '-t'; use -T TASK\n" },
	{ "export -t chrome", "export: unknown option '-t'; use --to FORMAT\n" },
	{ "show -f a", "show: unknown option '-f'; use -F TEXT\n" },
	{ "chart -f png", "chart: unknown option '-f'; use --format FORMAT\n" },
	{ "import -f oe x", "import: unknown option '-f'; use --from FORMAT\n" },
	{ "profile -g kind", "profile: unknown option '-g'; use -b COL,...\n" },
	{ "profile --group=kind", "profile: unknown option '--group'; use --by COL,...\n" },
	{ "profile -m none", "profile: unknown option '-m'; use --merge COL,...\n" },
	{ "profile -w 1s", "profile: unknown option '-w'; use --wait TIME\n" },
	{ "profile -l", "profile: unknown option '-l'; use --live\n" },
	{ "accept -m why x", "accept: unknown option '-m'; use --message REASON\n" },
	{ "accept -l", "accept: unknown option '-l'; use --list\n" },
	{ "ps -m x", "ps: unknown option '-m'; use --match REGEX\n" },
	{ "ps -p", "ps: unknown option '-p'; use --pss\n" },
	{ "ps -n 1", "ps: unknown option '-n'; use --count N\n" },
	{ "bisect -m cpu true", "bisect: unknown option '-m'; use --metric METRIC\n" },
	{ "diff -b a", "diff: unknown option '-b'; use --base REC ...\n" },
	{ "diff -n a", "diff: unknown option '-n'; use --new REC ...\n" },
	{ "prune -n", "prune: unknown option '-n'; use --dry-run\n" },
	{ "serve -l 0:0", "serve: unknown option '-l'; use --listen ADDR:PORT\n" },
	{ "history -p a", "history: unknown option '-p'; use --plot FILE\n" },
	{ "history -s a", "history: unknown option '-s'; use --series FILE\n" },
	{ "span -p begin a", "span: unknown option '-p'; use --print-id\n" },
	{ "task -r a b true", "task: unknown option '-r'; use --recording DIR\n" },
	{ "ack core.o why", "unknown command 'ack'; use: buildbeat accept --known\n" },
	{ "mmaps 1", "unknown command 'mmaps'; use: buildbeat inspect maps\n" },
	{ "stats", "unknown command 'stats'; use: buildbeat inspect stats\n" },
	{ "inspect --show a", "inspect: unknown option '--show'; use: buildbeat inspect show ARCHIVE\n" },
	{ "inspect -s", "inspect: unknown option '-s'; use: buildbeat inspect status\n" },
	{ "inspect --wait=1", "inspect: unknown option '--wait'; use: buildbeat inspect wait ID\n" },
	{ "inspect --cancel 1", "inspect: unknown option '--cancel'; use: buildbeat inspect cancel ID\n" },
	{ "inspect -l", "inspect: unknown option '-l'; use: buildbeat inspect list\n" },
	{ "inspect --delete a", "inspect: unknown option '--delete'; use: buildbeat inspect delete ARCHIVE\n" },
	{ "inspect --capabilities", "inspect: unknown option '--capabilities'; use: buildbeat inspect capabilities\n" },
	{ "inspect --settings", "inspect: unknown option '--settings'; use: buildbeat inspect settings\n" },
	{ "inspect --heap -- true", "inspect: unknown option '--heap'; use: buildbeat inspect run\n" },
	{ "inspect -- true", "inspect: unknown command 'true'; to run it: buildbeat inspect run -- true\n" },
	{ "inspect run --follow ld", "inspect run: unknown option '--follow'; use --every NAME\n" },
	{ "doctor -oout", "doctor: unknown option '-o'; use -d DIR\n" },
};

/* A former name is refused; the message has the present one. */
TEST_EACH(has_moved, moved)
{
	struct run r;

	support_run(&r, support_tmpdir(), BUILDBEAT " %s", moved[_i].words);
	assert_one_line(&r, moved[_i].message);
}

/* A letter is short for one long name in all commands, and an option with that name has it everywhere. */
/* Only -j of whatif is that of make. */
static bool is_exception(const struct command *c, const struct option *o)
{
	return c == &cmd_whatif && (!strcmp(o->name, "jobs") || !strcmp(o->name, "json"));
}

TEST(letters)
{
	const char *page = support_path("%s/man/buildbeat.1", TOP_SRCDIR);
	const struct option *of[256] = { NULL };

	for (int i = 0; commands[i]; i++) {
		for (const struct option *o = commands[i]->options; o && o->name; o++) {
			const struct option **first = &of[(unsigned char)o->letter];

			if (is_exception(commands[i], o))
				continue;
			if (o->letter && !*first)
				*first = o;
			if (o->letter)
				ck_assert_msg(!strcmp((*first)->name, o->name), "-%c is --%s and, in %s, --%s",
					      o->letter, (*first)->name, commands[i]->name, o->name);
		}
	}
	for (int i = 0; commands[i]; i++) {
		for (const struct option *o = commands[i]->options; o && o->name; o++) {
			for (int letter = 1; letter < 256; letter++)
				ck_assert_msg(is_exception(commands[i], o) || !of[letter] || o->letter || strcmp(of[letter]->name, o->name),
					      "%s --%s has no -%c", commands[i]->name, o->name, letter);
		}
	}
	for (int letter = 1; letter < 256; letter++) {
		if (of[letter])
			support_expect(NULL, 0, NULL, "", "grep -qx '.It Fl %c , -%s.*' %s", letter, of[letter]->name, page);
	}
}

/* What a message says can be typed; options of the build tool are its own. */
TEST(options_of_the_command)
{
	SKIP_IF(!support_can_be_loaded());
	support_expect(support_tmpdir(), 0, "-j4 --log -h --summary -- x\n", "",
		       BUILDBEAT " record --no-git echo -j4 --log -h --summary -- x");
	support_expect(support_tmpdir(), 0, "-j4 --version\n", "",
		       BUILDBEAT " record --no-git -- echo -j4 --version");
}

/* Commands that read a recording, with all that they need besides. */
static const char *const readers[] = {
	"show", "chart -o charts", "log", "profile", "export --to chrome -o out", "import -o new",
	"diff rec", "list", "archive --repo r.git",
};

static const struct { const char *path, *message; } wrong_paths[] = {
	{ "nowhere", "nowhere: " },
	{ "directory", "directory: " },
	{ "file", "file: " },
	{ "closed/rec", "closed/rec: " },
};

/* It names what it is about, and why. */
TEST_LOOP(wrong_path, ARRAY_SIZE(readers) * ARRAY_SIZE(wrong_paths))
{
	const char *reader = readers[_i / (int)ARRAY_SIZE(wrong_paths)];
	size_t path = (size_t)_i % ARRAY_SIZE(wrong_paths);
	const char *dir = support_tmpdir();
	struct run r;

	support_run(&r, dir, "cp -R " TOP_SRCDIR "/tests/data/recordings/nested rec; mkdir directory closed && echo text >file && chmod 755 . && chmod 0 closed && "
		    "%s " BUILDBEAT " %s %s", geteuid() ? "" : "setpriv --reuid 65534 --clear-groups",
		    reader, wrong_paths[path].path);
	SKIP_IF(strstr(r.err.data, "setpriv") || (!geteuid() && access(BUILDBEAT, X_OK)));
	if (!strcmp(reader, "list") && path == 1)
		return;		/* which has no recordings */
	assert_one_line(&r, wrong_paths[path].message);
}

static const char *const printing[] = {
	"", "--version", "--help", "help record", "record --help", "doctor", "doctor --json",
	"complete -- ''",
};

/* Failed output is an error of every command. */
TEST_EACH(full_output, printing)
{
	struct run r;

	support_run(&r, NULL, BUILDBEAT " %s >/dev/full", printing[_i]);
	assert_one_line(&r, "cannot write to standard output");
	support_run(&r, NULL, BUILDBEAT " %s >&-", printing[_i]);
	assert_one_line(&r, "cannot write to standard output");
}

/* Completion */

TEST_LOOP(every_option_is_completed, n_commands())
{
	const struct command *c = commands[_i];
	const char *part;
	struct run r;

	support_run(&r, NULL, BUILDBEAT " complete -- %s -", c->name);
	ck_assert_int_eq(r.status, 0);
	for (const struct option *o = c->options; o && o->name; o++)
		ck_assert_msg(strstr(r.out.data, support_path("--%s\t", o->name)) != NULL,
			      "%s --%s", c->name, o->name);
	part = strchr(c->name, ' ');
	support_run(&r, NULL, BUILDBEAT " complete -- %.*s''", part ? (int)(part + 1 - c->name) : 0, c->name);
	ck_assert_int_eq(strstr(r.out.data, support_path("%s\t", part ? part + 1 : c->name)) == NULL, c->hidden);
}

static const struct { const char *words, *answer; } cursor_cases[] = {
	{ "rec", "record\tRun a build and record it\n" },
	{ "record --comp", "--compress\tcompress the finished recording: none or zstd (default: none)\n" },
	{ "record --compress z",
	  "zstd\tcompress the finished recording: none or zstd (default: none)\n" },
	{ "record --compress = z",
	  "zstd\tcompress the finished recording: none or zstd (default: none)\n" },
	{ "check --metrics wall,me", "wall,memory\tmetrics: wall,cpu,memory,peak,io,read,written,"
	  "instructions (default wall,cpu,memory,io)\n" },
	{ "check --repo ''", ":dirs\n" },
	{ "record -o ''", ":dirs\n" },
	{ "record -c ''", ":files\n" },
	{ "record ''", ":command 2\n" },
	{ "record make -", ":command 2\n" },
	{ "record -n x -- mak", ":command 5\n" },
	{ "record --git -- -", ":command 4\n" },
	{ "task name -- mak", ":command 4\n" },
	{ "task name mak", ":command 3\n" },
	{ "task nam", "" },
	{ "span b", "begin\tbegin a span of this shell\n" },
	{ "span begin --p", "--print-id\twith begin, print an id for 'buildbeat span end ID'\n" },
	{ "span begin ''", "" },
	{ "span name mak", ":command 3\n" },
	{ "profile --by kind,na", "kind,name\tgroup rows by these columns, or none (default rule or kind)\n" },
	{ "profile --columns name,queue-s", "name,queue-sample\tprint these columns\n" },
	{ "export --to perf", "perfetto\tformat: chrome, oe, otlp, otlp-logs, otlp-metrics, "
	  "perfetto or prometheus\n" },
	{ "list ''", ":dirs\n" },
	{ "help doc", "doctor\tCheck what this machine can record and how to enable the rest\n" },
	{ "inspect st", "status\tPrint inspections in the background, or the progress of one\n"
	  "stats\tShow what the machine or a process uses, repeatedly\n" },
	{ "inspect run -- mak", ":command 4\n" },
	{ "nonsense ''", "" },
};

TEST_EACH(at_the_cursor, cursor_cases)
{
	support_expect(support_tmpdir(), 0, cursor_cases[_i].answer, NULL,
		       BUILDBEAT " complete -- %s",
		       cursor_cases[_i].words);
}

/* Recordings by name, from the configured directory. */
TEST(recordings)
{
	struct run r;

	support_run(&r, support_tmpdir(),
		    "echo 'output: stats' >buildbeat.yaml && "
		    BUILDBEAT " record --no-git -n one true && mkdir stats/other && "
		    BUILDBEAT " complete -- show o; " BUILDBEAT " show one");
	ck_assert_int_eq(strncmp(r.out.data, "one\ta recording\n:files\n", 23), 0);
	ck_assert_int_eq(r.status, 0);
}

TEST(in_bash)
{
	struct run r;

	SKIP_IF(!support_has("bash"));
	support_run(&r, support_tmpdir(), "bash -c '. %s/cli/completion/buildbeat; "
		    "complete -p buildbeat; compopt() { :; }; "
		    "try() { COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); _buildbeat; "
		    "echo \"${COMPREPLY[*]}\"; }; "
		    "try %s rec; try %s record --comp; try %s record --compress = z; "
		    "mkdir -p somewhere; try %s record -o some; try %s record -- sh; '",
		    TOP_SRCDIR, BUILDBEAT, BUILDBEAT, BUILDBEAT, BUILDBEAT, BUILDBEAT);
	ck_assert_int_eq(strncmp(r.out.data, "complete -F _buildbeat buildbeat\nrecord\n"
				 "--compress\nzstd\nsomewhere\n", 63), 0);
	ck_assert_ptr_nonnull(strstr(r.out.data, "sh"));
	ck_assert_str_eq(r.err.data, "");
}

TEST(in_zsh)
{
	SKIP_IF(!support_has("zsh"));
	support_expect(support_tmpdir(), ANY_STATUS, "record:Run a build and record it\n"
		       "--compress:compress the finished recording: none or zstd (default: none)\n"
		       "files\nzstd:compress the finished recording: none or zstd (default: none)\n"
		       "command ls -l\n", "",
		       "zsh -fc '_describe() { print -l -- "
		       "${(P)2}; }; _files() { print files; }; _normal() { print command $words; }; "
		       "_try() { . %s/cli/completion/_buildbeat; }; "
		       "words=(%s rec); CURRENT=2; _try; "
		       "words=(%s record --comp); CURRENT=3; _try; "
		       "words=(%s record -c x); CURRENT=4; _try; "
		       "compset() { :; }; words=(%s record --compress=z); CURRENT=3; _try; "
		       "words=(%s record -- ls -l); CURRENT=5; _try'",
		       TOP_SRCDIR, BUILDBEAT, BUILDBEAT, BUILDBEAT, BUILDBEAT, BUILDBEAT);
}

TEST_MAIN(cli);
