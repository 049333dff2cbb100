/* SPDX-License-Identifier: MIT */
#include "cli/command.h"
#include "cli/buildset.h"
#include "cli/settings_options.h"
#include "convert/convert.h"
#include "live/route.h"
#include "tests/paths.h"
#include "tests/support.h"

/* The pages agree with the program. */

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"

static int n_commands(void)
{
	int n = 0;

	while (commands[n] && !commands[n]->hidden)
		n++;
	return n;
}

/* The page as plain text with single blanks. */
static void render(struct run *r, const char *page)
{
	support_run(r, NULL, "mandoc -Tascii %s/man/%s | col -bx | tr -s ' \\n' '  '",
		    TOP_SRCDIR, page);
	ck_assert_int_eq(r->status, 0);
}

/* The command has no page of its own; buildbeat(1) has it. */
static bool has_page(const struct command *c)
{
	return strcmp(c->name, "help") != 0;
}

/* A part is described in the page of its command. */
static const char *page_of(const struct command *c)
{
	return support_path("buildbeat-%.*s.1", (int)strcspn(c->name, " "), c->name);
}

TEST_LOOP(usage_is_synopsis, n_commands())
{
	const struct command *c = commands[_i];
	struct run page, help;
	const char *usage;
	char *synopsis;
	size_t n;

	if (!has_page(c))
		return;
	render(&page, page_of(c));
	support_run(&help, NULL, BUILDBEAT " help %s | sed '/^$/q' | tr -s ' \n' '  '", c->name);
	usage = help.out.data + strlen("usage: ");
	n = strlen(usage) - 1;
	help.out.data[strlen("usage: ") + n] = '\0';
	synopsis = strstr(page.out.data, "SYNOPSIS ");
	ck_assert_ptr_nonnull(synopsis);
	*strstr(synopsis, " DESCRIPTION ") = '\0';
	synopsis = strstr(synopsis, usage);
	ck_assert_msg(synopsis && (!synopsis[n] || !strncmp(synopsis + n, " buildbeat ", 11)), "page: %s\nhelp: %s",
		      strstr(page.out.data, "SYNOPSIS"), usage);
}

/* buildbeat-api(7) has every path of the server, with its parameters. */
TEST(paths_are_described)
{
	struct run page;

	render(&page, "buildbeat-api.7");
	for (size_t i = 0; routes_all[i]; i++) {
		for (const struct route *r = routes_all[i]; r->path; r++) {
			const char *entry = support_path("%s%s%s ", r->path,
							 *r->parameters ? " " : "", r->parameters);

			ck_assert_msg(strstr(page.out.data, entry), "no '%s'", entry);
		}
	}
}

/* buildbeat(1) lists each command with its summary, and the page of a command its parts. */
TEST_LOOP(commands_are_listed, n_commands())
{
	const struct command *c = commands[_i];
	struct run page;

	render(&page, strchr(c->name, ' ') ? page_of(c) : "buildbeat.1");
	if (strchr(c->name, ' '))
		ck_assert_msg(strstr(page.out.data, support_path(" %s %s", c->name, c->summary)) != NULL,
			      "%s is not described", c->name);
	else if (has_page(c))
		ck_assert_msg(strstr(page.out.data,
				     support_path(" %s %s: buildbeat-%s(1).", c->name,
						  c->summary, c->name)) != NULL,
			      "%s is not described", c->name);
	else
		ck_assert_ptr_nonnull(strstr(page.out.data, support_path(" %s ", c->name)));
}

/* References of pages exist. */
TEST(pages_exist)
{
	support_expect(TOP_SRCDIR "/man", ANY_STATUS, "x\n", NULL,
		       "sed -n 's/^\\.Xr \\(buildbeat[^ ]*\\) "
		       "\\([1-9]\\).*/\\1.\\2/p' *.[1-9] | sort -u | "
		       "while read f; do [ -f $f ] || echo $f; done; "
		       "sed -n 's/^\\.Xr \\(buildbeat[^ ]*\\).*/x/p' *.[1-9] | head -1");
}

TEST_LOOP(options_are_described, n_commands())
{
	const struct command *c = commands[_i];
	struct run page;
	const char *text;

	if (!has_page(c))
		return;
	render(&page, page_of(c));
	text = strstr(page.out.data, "DESCRIPTION");
	ck_assert_ptr_nonnull(text);
	for (const struct option *o = c->options; o && o->name; o++)
		ck_assert_msg(strstr(text, support_path("--%s", o->name)) != NULL,
			      "--%s is not described", o->name);
}

static void keys_are_in(const char *page, const struct option *o)
{
	for (; o->name; o++) {
		if (o->config)
			ck_assert_msg(strstr(page, support_path(" %s ", o->name)) != NULL,
				      "%s is not described", o->name);
		if (o->map)
			keys_are_in(page, o->map->keys);
	}
}

TEST(keys_are_described)
{
	struct run page;

	render(&page, "buildbeat.yaml.5");
	keys_are_in(page.out.data, settings_options);
	keys_are_in(page.out.data, buildset_keys);
}

/* Each format that import reads has a section. */
TEST(formats_are_described)
{
	for (size_t i = 0; converter_word[i]; i++)
		support_expect(TOP_SRCDIR "/man", 0, NULL, "", "grep -qx '.Ss %s' buildbeat-import.1", converter_word[i]);
}

/* Each check of doctor is in its page, also those that only other machines have. */
TEST(checks_are_described)
{
	support_expect(support_tmpdir(), ANY_STATUS, "", "", "{ sed -n 's/.*doctor_add(d, \"\\([a-z_-]*\\)\".*/\\1/p' "
		       TOP_SRCDIR "/cli/doctor*.c; " BUILDBEAT " doctor -j | sed -n 's/.*\"check\": \"\\(.*\\)\",/\\1/p'; } | "
		       "sort -u | while read c; do grep -qE \"^.It Cm (.* )?$c( |$)\" " TOP_SRCDIR "/man/buildbeat-doctor.1 || "
		       "echo $c; done");
}

TEST(lint)
{
	support_expect(TOP_SRCDIR "/man", 0, "", NULL, "mandoc -Tlint -Wwarning *.[1-9]");
}

TEST_PROGRAM(manual)
{
	SKIP_PROGRAM_IF(!support_has("mandoc") || !support_has("col"));
	return support_main();
}
