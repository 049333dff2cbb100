/* SPDX-License-Identifier: MIT */
#include "cli/configfile.h"
#include "cli/inspect_config.h"
#include "inspect/archive_files.h"
#include "tests/made_inspection.h"
#include "tests/support.h"

static int parse(struct inspect_config *c, const char *text, struct error *err)
{
	inspect_config_init(c);
	return configfile_parse(&c->args, inspect_config_keys, c, text, strlen(text), "file.yaml",
				CONFIG_PROJECT, "/project", err);
}

static void add_words(struct buf *b, const char *name, const struct word_list *words)
{
	for (size_t i = 0; i < words->n; i++)
		buf_addf(b, "%s%s", i ? " " : name, words->item[i]);
}

/* What applies to a process: the file, the process as HOST:PROGRAM, and the result. */
static const struct {
	const char *text, *process, *result;
} uses[] = {
	{ "", "h:ld", "0 0 0" },
	{ "inspect: {}\n", "h:ld", "0 0 0" },
	{ "inspect: {keep: 5, days: 30, interval: 2s}\n", "h:ld", "2000000 5 30" },
	{ "inspect: {interval: 2}\n", "h:ld", "2000000 0 0" },
	{ "inspect: {symbols: debug}\n", "h:ld", "0 0 0 symbols=/project/debug" },
	{ "inspect: {symbols: [debug, /usr/lib/debug]}\n", "h:ld",
	  "0 0 0 symbols=/project/debug /usr/lib/debug" },
	{ "inspect: {rules: 'ld,rss>2G'}\n", "h:ld", "0 0 0 rules=ld,rss>2G" },
	{ "inspect: {rules: ['ld,rss>2G', 'cc1|cc1plus,heap']}\n", "h:ld",
	  "0 0 0 rules=ld,rss>2G cc1|cc1plus,heap" },
	/* the most special value of each key */
	{ "inspect: {keep: 5, days: 30, hosts: {h: {keep: 6}}, processes: {ld: {keep: 7}}}\n",
	  "h:ld", "0 7 30" },
	{ "inspect: {keep: 5, hosts: {h: {keep: 6, days: 1}}, processes: {ld: {interval: 1s}}}\n",
	  "h:ld", "1000000 6 1" },
	{ "inspect: {keep: 5, hosts: {h: {keep: 6}}, processes: {ld: {keep: 7}}}\n", "g:as", "0 5 0" },
	{ "inspect: {keep: 5, hosts: {h: {keep: 0}}}\n", "h:ld", "0 0 0" },
	{ "inspect: {rules: a, symbols: /a, hosts: {'builder-*': {rules: [b, c], symbols: [/b]}}}\n",
	  "builder-7:ld", "0 0 0 symbols=/b rules=b c" },
	/* names as in rules; the first that fits */
	{ "inspect: {processes: {'cc1|cc1plus': {keep: 1}, 'cc1*': {keep: 2}, '*': {keep: 3}}}\n",
	  "h:cc1plus", "0 1 0" },
	{ "inspect: {processes: {'cc1|cc1plus': {keep: 1}, 'cc1*': {keep: 2}, '*': {keep: 3}}}\n",
	  "h:cc1obj", "0 2 0" },
	{ "inspect: {processes: {'cc1|cc1plus': {keep: 1}, 'cc1*': {keep: 2}, '*': {keep: 3}}}\n",
	  "h:ld", "0 3 0" },
};

TEST_EACH(chosen, uses)
{
	RELEASED(inspect_config, c);
	struct inspect_choice choice;
	RELEASED(buf, got = BUF_INIT);
	struct error err = { 0 };
	char process[64], *program;

	strcpy(process, uses[_i].process);
	program = strchr(process, ':');
	*program++ = '\0';
	ck_assert_msg(!parse(&c, uses[_i].text, &err), "%s", err.message);
	inspect_config_choose(&choice, &c, process, program);
	buf_addf(&got, "%lld %lld %lld", (long long)choice.interval_us,
		 (long long)choice.retention.keep, (long long)choice.retention.days);
	add_words(&got, " symbols=", choice.symbols);
	add_words(&got, " rules=", choice.rules);
	ck_assert_str_eq(buf_str(&got), uses[_i].result);
}

static const struct {
	const char *text, *message;
} wrong[] = {
	{ "inspect: 5\n", "expected a mapping of keys to values" },
	{ "inspect: {keeep: 5}\n", "did you mean 'keep'?" },
	{ "inspect: {keep: many}\n", "expected a whole number" },
	{ "inspect: {keep: -1}\n", "expected" },
	{ "inspect: {days: 1000000}\n", "expected" },
	{ "inspect: {interval: 5x}\n", "expected" },
	{ "inspect: {interval: 0}\n", "interval: expected a time from 10ms to 24h" },
	{ "inspect: {interval: 1us}\n", "interval: expected a time from 10ms to 24h" },
	{ "inspect: {rules: 'ld,rs>2G'}\n", "rules: expected" },
	{ "inspect: {rules: ['ld', '']}\n", "expected" },
	{ "inspect: {rules: {a: b}}\n", "expected a word or a list of words" },
	{ "inspect: {hosts: {h: 5}}\n", "expected a mapping of keys to values" },
	{ "inspect: {hosts: {h: {hosts: {}}}}\n", "unknown key 'hosts'" },
	{ "inspect: {processes: {ld: {rules: [ld]}}}\n", "unknown key 'rules'" },
	{ "inspect: {processes: {'ld,heap': {keep: 1}}}\n", "expected the file names of programs" },
	{ "inspect: {processes: {'': {keep: 1}}}\n", "expected the file names of programs" },
	{ "inspect: {processes: {ld: {keep: 1}, ld: {keep: 2}}}\n", "duplicate key 'ld'" },
};

TEST_EACH(refused, wrong)
{
	RELEASED(inspect_config, c);
	struct error err = { 0 };

	ck_assert_int_eq(parse(&c, wrong[_i].text, &err), -EINVAL);
	ck_assert_str_eq(err.path, "file.yaml");
	ck_assert_uint_eq(err.line, 1);
	ck_assert_msg(strstr(err.message, wrong[_i].message) != NULL, "%s", err.message);
}

/* Each program has its own limits. */
TEST(retained)
{
	const char *base = support_path("%s/inspect", support_tmpdir());
	RELEASED(inspect_config, c);
	struct error err = { 0 };
	size_t removed;

	for (int i = 0; i < 6; i++) {
		struct made_inspection m;
		struct inspect_archive *a;

		made_inspection_compile(&m);
		m.inspection.program = i % 2 ? "ld" : "as";
		m.inspection.start_us += i;
		ck_assert_int_eq(inspect_archive_create(&a, base, NULL, &m.inspection,
							STORE_ACCESS_USER, &err), 0);
		ck_assert_int_eq(inspect_archive_end(a, "", &err), 0);
		made_inspection_release(&m);
	}
	ck_assert_int_eq(parse(&c, "inspect: {keep: 2, processes: {as: {keep: 1}}}\n", &err), 0);
	ck_assert_int_eq(inspect_config_retain(&c, base, &removed, &err), 0);
	ck_assert_uint_eq(removed, 3);
	ck_assert_int_eq(inspect_config_retain(&c, base, &removed, &err), 0);
	ck_assert_uint_eq(removed, 0);
}

/* A build is inspected by the rules of the file, and keeps what that says; a rule on the command
 * line replaces them. */
TEST(recorded)
{
	const char *dir = support_tmpdir();
	struct run r;

	support_writes(support_path("%s/buildbeat.yaml", dir),
		       "inspect: {rules: [sleep], keep: 1, interval: 50ms}\n");
	support_run(&r, dir, TOP_BUILDDIR "/buildbeat record -n one -- sh -c 'sleep 1 & sleep 1; wait'; "
		    TOP_BUILDDIR "/buildbeat record -n two --inspect nothing -- sleep 0.1; "
		    "ls buildstats/one/inspect | grep -c sleep; ls buildstats/two/inspect; "
		    TOP_BUILDDIR "/buildbeat record -n oe --layout oe -- sleep 1; ls inspect | grep -c sleep");
	ck_assert_msg(!strcmp(buf_str(&r.out), "1\n1\n"), "%s%s", buf_str(&r.out), buf_str(&r.err));
	support_writes(support_path("%s/buildbeat.yaml", dir), "inspect: {rules: ['a,b']}\n");
	support_expect(dir, 2, "", "rules: expected", TOP_BUILDDIR "/buildbeat record -- true");
	support_expect(dir, 2, "", "rules: expected", TOP_BUILDDIR "/buildbeat inspect run --heaviest");
}

TEST_MAIN(inspect_config);
