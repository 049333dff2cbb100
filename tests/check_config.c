/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "cli/command.h"
#include "cli/configfile.h"
#include "cli/buildset.h"
#include "cli/settings_options.h"
#include "tests/paths.h"
#include "tests/support.h"

static const struct {
	const char *text;
	const char *result;	/* NULL: refused */
	const char *message;	/* "line:column: part of the message" */
} cases[] = {
	{ "", "buildstats 1000 false none -", NULL },
	{ "# only this\n", "buildstats 1000 false none -", NULL },
	{ "---\n", "buildstats 1000 false none -", NULL },
	{ "{}", "buildstats 1000 false none -", NULL },
	{ "output: x\ninterval: 50\n", "/project/x 50 false none -", NULL },
	{ "output: /abs\nper-core: yes\n", "/abs 1000 true none -", NULL },
	{ "{output: a b, compress: zstd}", "/project/a b 1000 false zstd -", NULL },
	{ "source: one\n", "buildstats 1000 false none - /project/one", NULL },
	{ "source:\n- one\n- /two\n", "buildstats 1000 false none - /project/one /two", NULL },
	{ "source: []\n", "buildstats 1000 false none -", NULL },
	{ "repo: r.git\n", "buildstats 1000 false none -", NULL },
	{ "\xef\xbb\xbfinterval: 70\n", "buildstats 70 false none -", NULL },

	{ "intervall: 500\n", NULL, "1:1: unknown key 'intervall'; did you mean 'interval'?" },
	{ "\n\nper_core: true\n", NULL, "3:1: unknown key 'per_core'; did you mean 'per-core'?" },
	{ "xyzzyx: 1\n", NULL, "1:1: unknown key 'xyzzyx'; expected output, access, redact, " },
	{ "config: x\n", NULL, "1:1: unknown key 'config'" },
	{ "name: x\n", NULL, "1:1: unknown key 'name'" },
	{ "interval: fast\n", NULL, "1:11: expected a whole number from 10 to 3600000, not 'fast'" },
	{ "interval: 5\n", NULL, "1:11: expected a whole number from 10" },
	{ "interval:\n", NULL, "1:10: expected a whole number from 10 to 3600000, not ''" },
	{ "interval: [1]\n", NULL, "1:11: expected a whole number" },
	{ "interval: 1.5\n", NULL, "1:11: expected a whole number" },
	{ "per-core: 1\n", NULL, "1:11: expected true or false, not '1'" },
	{ "per-core: {a: b}\n", NULL, "1:11: expected true or false" },
	{ "compress: gzip\n", NULL, "1:11: expected none or zstd, not 'gzip'" },
	{ "output: [a]\n", NULL, "1:9: expected a single value" },
	{ "repo: [a]\n", NULL, "1:7: expected a single value" },
	{ "rep: a\n", NULL, "1:1: unknown key 'rep'; did you mean 'repo'?" },
	{ "output: ''\n", NULL, "1:9: expected a text" },
	{ "source:\n  a: b\n", NULL, "2:3: expected a path or a list" },
	{ "source: [[a]]\n", NULL, "1:10: expected a path or a list" },
	{ "inspect:\n\trules: x\n", NULL, "2:1: YAML does not allow a tab here: use spaces" },
	{ "\toutput: x\n", NULL, "1:1: YAML does not allow a tab here: use spaces" },
	{ "output: x\n\n \tinterval: 5\n", NULL, "3:2: YAML does not allow a tab here: use spaces" },
	{ "interval: 50\noutput: x\ninterval: 60\n", NULL, "3:1: duplicate key 'interval' (first on line 1)" },
	{ "[a, b]\n", NULL, "1:1: expected lines such as" },
	{ "just words\n", NULL, "1:1: expected lines such as" },
	{ "? [a]\n: b\n", NULL, "1:3: expected a key" },
	{ "plugin: /p.so\n", NULL, "1:1: 'plugin' is not allowed in a project's file: set it in ~/.config/" },
	{ "interval: 50\ntrust: [/]\n", NULL, "2:1: 'trust' is not allowed in a project's file" },
	{ "output: &a x\nrepo: *a\n", NULL, "2:7: expected a single value" },
	{ "output: x\n---\noutput: y\n", NULL, "2:1: expected a single YAML" },
	{ "output: \"a\\0b\"\n", NULL, "1:9: expected text without NUL" },
	{ "output: 'open\n", NULL, "unexpected end of stream" },
	{ "output: a\n b: c: d\n", NULL, "2:" },
	{ "\toutput: x\n", NULL, "1:1: " },
	{ "output: \xff\xfe\n", NULL, "UTF-8" },
};

static void describe(struct buf *b, const struct settings *s)
{
	buf_addf(b, "%s %lld %s %s %s", s->output, (long long)s->interval_ms,
		 s->per_core ? "true" : "false", s->compress ? "zstd" : "none",
		 s->plugin ? s->plugin : "-");
	for (size_t i = 0; i < s->source.n; i++)
		buf_addf(b, " %s", s->source.item[i]);
}

static void describe_error(struct buf *b, const struct error *err)
{
	ck_assert_str_eq(err->path, "file.yaml");
	if (err->line)
		buf_addf(b, "%u:%u: ", err->line, err->column);
	buf_adds(b, err->message);
}

TEST_EACH(texts, cases)
{
	const char *text = cases[_i].text;
	struct args a = { 0 };
	struct settings s;
	struct error err = { 0 };
	RELEASED(buf, got = BUF_INIT);
	int r;

	s = (struct settings)SETTINGS_INIT;
	r = configfile_parse(&a, settings_options, &s, text, strlen(text), "file.yaml",
			     CONFIG_PROJECT, "/project", &err);
	if (cases[_i].result) {
		ck_assert_msg(!r, "%s", err.message);
		describe(&got, &s);
		ck_assert_str_eq(buf_str(&got), cases[_i].result);
	} else {
		ck_assert_int_eq(r, -EINVAL);
		describe_error(&got, &err);
		ck_assert_msg(strstr(buf_str(&got), cases[_i].message) != NULL,
			      "'%s' is not in: %s", cases[_i].message, buf_str(&got));
	}
	options_release(&a);
}

/* remote: not in a project's file, unless the command line has --repo. */
static const struct { const char *text, *repo; bool remote; } repos[] = {
	{ "repo: builds.git\n", "/project/builds.git", false },
	{ "repo: ./a:b\n", "/project/./a:b", false },
	{ "repo: /srv/builds\n", "/srv/builds", false },
	{ "repo: https://host/builds.git\n", "https://host/builds.git", true },
	{ "repo: git@host:builds.git\n", "git@host:builds.git", true },
	{ "repo: git://host/b.git\n", "git://host/b.git", true },
	{ "repo: file:///srv/builds\n", "file:///srv/builds", false },
};

/* A path is relative to the project's directory; a URL is not. */
TEST_EACH(repository, repos)
{
	const char *text = repos[_i].text;
	struct buildset_config o = { 0 };
	struct args a = { 0 };
	struct error err;

	int r = configfile_parse(&a, buildset_keys, &o, text, strlen(text), "file.yaml",
				 CONFIG_PROJECT, "/project", &err);

	ck_assert_int_eq(r, repos[_i].remote ? -EINVAL : 0);
	if (repos[_i].remote) {
		ck_assert_str_eq(err.path, "file.yaml");
		ck_assert_msg(strstr(err.message, "'repo' with the URL of a server is not allowed in a "
				     "project's file: set it in ~/.config/") &&
			      strstr(err.message, ", or use --repo"), "%s", err.message);
		r = configfile_parse(&a, buildset_keys, &o, text, strlen(text), "file.yaml",
				     CONFIG_PERSONAL, NULL, &err);
		ck_assert_int_eq(r, 0);
	}
	ck_assert_str_eq(o.repo, repos[_i].repo);
	options_release(&a);
}

/* Deep, long, or with aliases inside an alias: refused quickly. */
TEST_LOOP(bombs, 5)
{
	static const char *const pieces[] = { "[", "{a: ", "- ", "a: &a [*a, ", "? " };
	RELEASED(buf, text = BUF_INIT);
	struct args a = { 0 };
	struct settings s;
	struct error err;

	s = (struct settings)SETTINGS_INIT;
	while (text.len < 60000)
		buf_adds(&text, pieces[_i]);
	ck_assert_int_eq(configfile_parse(&a, settings_options, &s, buf_str(&text), text.len,
					  "file.yaml", CONFIG_PROJECT, NULL, &err), -EINVAL);
	while (text.len < 70000)
		buf_adds(&text, pieces[_i]);
	ck_assert_int_eq(configfile_parse(&a, settings_options, &s, buf_str(&text), text.len,
					  "file.yaml", CONFIG_PROJECT, NULL, &err), -EFBIG);
	options_release(&a);
}

/* Every place it is searched in, the nearest first. */
TEST(search)
{
	const char *top = support_tmpdir();
	char path[PATH_MAX];
	bool project;
	struct run r;

	support_run(&r, top, "mkdir -p work/a/b home/.config/buildbeat xdg/buildbeat");
	setenv("HOME", support_path("%s/home", top), 1);
	unsetenv("XDG_CONFIG_HOME");
	ck_assert_int_eq(chdir(support_path("%s/work/a/b", top)), 0);

	ck_assert(configfile_find(path, &project, NULL) == -ENOENT);
	support_writes(support_path("%s/home/.config/buildbeat/buildbeat.yaml", top), "{}");
	ck_assert(!configfile_find(path, &project, NULL) && !project);
	ck_assert_str_eq(path, support_path("%s/home/.config/buildbeat/buildbeat.yaml", top));
	setenv("XDG_CONFIG_HOME", support_path("%s/xdg", top), 1);
	ck_assert(configfile_find(path, &project, NULL) == -ENOENT);
	support_writes(support_path("%s/xdg/buildbeat/buildbeat.yaml", top), "{}");
	ck_assert(!configfile_find(path, &project, NULL) && !project);
	ck_assert_str_eq(path, support_path("%s/xdg/buildbeat/buildbeat.yaml", top));
	support_writes(support_path("%s/work/buildbeat.yaml", top), "{}");
	ck_assert(!configfile_find(path, &project, NULL) && project);
	ck_assert_str_eq(path, support_path("%s/work/buildbeat.yaml", top));
	support_writes(support_path("%s/work/a/b/buildbeat.yaml", top), "{}");
	ck_assert(!configfile_find(path, &project, NULL) && project);
	ck_assert_str_eq(path, support_path("%s/work/a/b/buildbeat.yaml", top));
	ck_assert_int_eq(chdir("/"), 0);
}

/* The command line overrides the file. An invalid file stops before the build. */
TEST(with_record)
{
	const char *top = support_tmpdir();
	struct run r;

	support_run(&r, top, "mkdir -p project/sub");
	support_writes(support_path("%s/project/buildbeat.yaml", top),
		       "output: stats\ngit: false\ninterval: 500\n");
	support_run(&r, support_path("%s/project/sub", top),
		    TOP_BUILDDIR "/buildbeat record --interval 70 -n one -- true; "
		    "cat ../stats/one/build");
	ck_assert_int_eq(r.status, 0);
	ck_assert_ptr_nonnull(strstr(r.out.data, "\ninterval_ms: 70\n"));
	ck_assert_ptr_null(strstr(r.out.data, "source:"));

	support_writes(support_path("%s/project/buildbeat.yaml", top), "output: x\ngot: 1\n");
	support_run(&r, support_path("%s/project/sub", top),
		    TOP_BUILDDIR "/buildbeat record -- touch ran");
	ck_assert_int_eq(r.status, EXIT_MISUSE);
	ck_assert_str_eq(r.err.data, support_path("buildbeat: %s/project/buildbeat.yaml:2:1: "
		"unknown key 'got'; did you mean 'git'?\n", top));
	ck_assert(!support_exists(support_path("%s/project/sub/ran", top)));

	support_expect(support_path("%s/project/sub", top), EXIT_MISUSE, NULL,
		       "nowhere.yaml: cannot read",
		       TOP_BUILDDIR "/buildbeat record -c nowhere.yaml -- touch ran");
}

/* Code named in another user's file is not loaded. */
TEST(foreign_plugin)
{
	const char *top = support_tmpdir();

	SKIP_IF(geteuid());
	support_expect(top, 0, NULL, "it belongs to uid 12345, not to root (uid 0)",
		       "mkdir foreign && cd foreign && echo 'plugin: /tmp/x.so' "
		       ">buildbeat.yaml && chown 12345 buildbeat.yaml && "
		       TOP_BUILDDIR "/buildbeat record -- touch ran");
	ck_assert(support_exists(support_path("%s/foreign/ran", top)));
	ck_assert(!support_exists(support_path("%s/foreign/buildstats", top)));
}

TEST_MAIN(config);
