/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/launched.h"
#include "tests/paths.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* No secret gets into a recording, and other users cannot read one: real builds, searched
 * byte by byte. */

/* The modes that `find` prints below a directory, each once. */
#define MODES "find '%s' -mindepth %d -not -type l -printf '%%y%%m\\n' | sort -u | tr '\\n' ' '"

static void ck_modes(const char *dir, int depth, const char *expected)
{
	struct run r;

	support_run(&r, support_tmpdir(), MODES, dir, depth);
	ck_assert_msg(!strcmp(r.out.data, expected), "%s: %s, expected %s", dir, r.out.data, expected);
}

static void ck_run(struct run *r, int status)
{
	ck_assert_msg(r->status == status, "%d: %s%s", r->status, r->out.data, r->err.data);
}

static const struct { const char *umask, *option, *modes, *base; } access_cases[] = {
	{ "022", "", "d700 f600 ", "755" },
	{ "000", "", "d700 f600 ", "755" },
	{ "077", "--access user", "d700 f600 ", "700" },
	{ "077", "--access group", "d750 f640 ", "750" },
	{ "000", "--access group", "d750 f640 ", "755" },
	{ "077", "--access all", "d755 f644 ", "755" },
	{ "002", "--access all", "d755 f644 ", "755" },
};

TEST_EACH(modes_of_recording, access_cases)
{
	const char *top = support_tmpdir(), *option = access_cases[_i].option;
	char base[PATH_MAX + 16];
	struct stat st;
	struct run r;

	SKIP_IF(!support_can_be_loaded());
	support_writes(support_path("%s/Makefile", top), "all:\n\t@true\n\t@ls >/dev/null\n");
	support_run(&r, top, "umask %s && %s record --no-git -o deep/stats %s --processes -n one -- "
		    "make -s", access_cases[_i].umask, BUILDBEAT, option);
	ck_run(&r, 0);
	snprintf(base, sizeof base, "%s/deep/stats", top);
	ck_modes(base, 1, access_cases[_i].modes);
	ck_assert_int_eq(stat(base, &st), 0);
	ck_assert_str_eq(support_path("%o", st.st_mode & 0777), access_cases[_i].base);
	ck_assert(support_exists(support_path("%s/latest/build", base)));

	/* compressed, in both layouts, and by import */
	support_run(&r, top, "umask %s && %s record --no-git -o two %s --layout both --compress zstd "
		    "-- make -s && %s import -o three %s two/latest/oe", access_cases[_i].umask,
		    BUILDBEAT, option, BUILDBEAT, option);
	ck_run(&r, 0);
	ck_modes(support_path("%s/two", top), 1, access_cases[_i].modes);
	ck_modes(support_path("%s/three", top), 1, access_cases[_i].modes);
	support_run(&r, top, "umask %s && %s record --no-git -o four %s --layout oe -- make -s",
		    access_cases[_i].umask, BUILDBEAT, option);
	ck_run(&r, 0);
	ck_modes(support_path("%s/four", top), 1, access_cases[_i].modes);
}

/* A make that records by itself. */
TEST(modes_without_launcher)
{
	const char *top = support_tmpdir();
	struct run r;

	SKIP_IF(!support_can_be_loaded());
	support_writes(support_path("%s/Makefile", top),
		       "-load " TOP_BUILDDIR "/plugin/buildbeat.so(buildbeat_gmk_setup)\n"
		       "all:\n\t@true --pin 123456 TOKEN=secret1\n");
	support_run(&r, top, "umask 000 && make -s");
	ck_run(&r, 0);
	ck_modes(support_path("%s/buildstats", top), 1, "d700 f600 ");
	support_run(&r, top, "umask 077 && make -s BUILDBEAT_OUTPUT=group BUILDBEAT_ACCESS=group "
		    "BUILDBEAT_REDACT='pin' && cat group/latest/tasks.log");
	ck_assert(strstr(r.out.data, "true --pin *** TOKEN=***"));
	ck_assert(!strstr(r.out.data, "123456") && !strstr(r.out.data, "secret1"));
	ck_run(&r, 0);
	ck_modes(support_path("%s/group", top), 1, "d750 f640 ");
}

/* An existing file keeps its mode. */
TEST(old_recording_is_kept)
{
	const char *top = support_tmpdir();
	struct run r;

	support_run(&r, top, "umask 022 && mkdir stats && chmod 775 stats && %s record --no-git -o "
		    "stats -n one -- true && chmod 755 stats/one && chmod 644 stats/one/* && %s task "
		    "--recording stats/one x -- true", BUILDBEAT, BUILDBEAT);
	ck_run(&r, 0);
	ck_modes(support_path("%s/stats", top), 0, "d755 d775 f644 ");
}

#define SECRET "hunter2swordfish"

/* Through every host. */
TEST(no_secret_in_recording)
{
	const char *top = support_tmpdir();
	struct run r;

	SKIP_IF(!support_can_be_loaded());
	support_writes(support_path("%s/Makefile", top),
		       "all: sub\n"
		       "\t@true --password " SECRET " x\n"
		       "\t@true https://user:" SECRET "@host/\n"
		       "\t@sh ./script\n"
		       "\t@" BUILDBEAT " task 'deploy TOKEN=" SECRET "' -- true --api-key " SECRET "\n"
		       "\t@: $(shell echo TOKEN=" SECRET ")\n"
		       "sub:\n"
		       "\t@$(MAKE) -s -f other API_TOKEN=" SECRET "\n");
	support_writes(support_path("%s/other", top),
		       "all: ; @echo $(API_TOKEN) >/dev/null; sleep 0.1; API_TOKEN=" SECRET " true\n");
	support_writes(support_path("%s/script", top),
		       "sh -c 'true; true PASSWORD=" SECRET "'\n"
		       "env TOKEN=" SECRET " sleep 0.1\n");
	support_run(&r, top, "%s record --processes --interval 20 -o stats -n one -- "
		    "make -j2 -s TOKEN=" SECRET, BUILDBEAT);
	ck_run(&r, 0);
	/* except the one that the recipe prints without a key */
	support_expect(top, ANY_STATUS, "", NULL,
		       "grep -rah " SECRET " stats/one | grep -v 'echo " SECRET " >'");
	support_run(&r, top, "grep -rac '\\*\\*\\*' stats/one/tasks.log stats/one/build");
	ck_run(&r, 0);
}

/* An edge is found by the hash of its whole command. */
TEST(ninja_names_survive)
{
	const char *top = support_tmpdir();
	struct recording rec;
	bool found[2] = { false, false };
	struct run r;

	SKIP_IF(!support_has("ninja") || !support_can_be_loaded());
	support_writes(support_path("%s/build.ninja", top),
		       "rule run\n command = touch $out; true --password " SECRET " $extra\n"
		       "build out/first: run\n"
		       "build out/second: run\n extra = https://u:" SECRET "@h/\n");
	support_run(&r, top, RECORD "-n one ninja");
	ck_run(&r, 0);
	support_run(&r, top, "grep -ra " SECRET " stats");
	ck_run(&r, 1);
	launched_read(&rec, "one");
	for (size_t i = 0; i < rec.n_tasks; i++) {
		found[0] |= !strcmp(rec.task[i].name, "out/first");
		found[1] |= !strcmp(rec.task[i].name, "out/second");
	}
	ck_assert(found[0] && found[1]);
	recording_release(&rec);
}

TEST(imported_commands)
{
	const char *top = support_tmpdir();
	struct run r;

	support_writes(support_path("%s/trace.json", top),
		       "[{\"ph\":\"X\",\"pid\":1,\"tid\":1,\"ts\":0,\"dur\":5000,\"name\":"
		       "\"curl -u me:" SECRET " http://h\",\"args\":{\"detail\":\"TOKEN=" SECRET
		       "\",\"command\":\"x --token " SECRET "\"}}]");
	support_run(&r, top, "%s import -o stats -n one --from chrome trace.json", BUILDBEAT);
	ck_run(&r, 0);
	support_run(&r, top, "grep -ra " SECRET " stats");
	ck_run(&r, 1);
	support_run(&r, top, "grep -rah 'curl -u me:\\*\\*\\* http' stats");
	ck_run(&r, 0);
}

static const struct { const char *yaml, *shown; } config_cases[] = {
	{ "", "a TOKEN=*** vault=abc -k def" },
	{ "redact: none\n", "a TOKEN=xyz vault=abc -k def" },
	{ "redact: []\n", "a TOKEN=xyz vault=abc -k def" },
	{ "redact: vault\n", "a TOKEN=*** vault=*** -k def" },
	{ "redact: [vault, '-k (*)', '!token']\n", "a TOKEN=xyz vault=*** -k ***" },
	{ "redact: [none, '-k (*)']\n", "a TOKEN=xyz vault=abc -k ***" },
};

TEST_EACH(patterns_of_config, config_cases)
{
	const char *top = support_tmpdir();

	SKIP_IF(!support_can_be_loaded());
	support_writes(support_path("%s/buildbeat.yaml", top), config_cases[_i].yaml);
	support_writes(support_path("%s/Makefile", top), "all:\n\t@true a TOKEN=xyz vault=abc -k def\n");
	support_expect(top, ANY_STATUS, "3\n", NULL,
		       "%s record --no-git -n one -- make -s && %s task --recording buildstats/one t -- true "
		       "a TOKEN=xyz vault=abc -k def && grep -ch '%s' buildstats/one/tasks.log", BUILDBEAT,
		       BUILDBEAT, "true a .*");
	support_expect(top, ANY_STATUS, "3\n", NULL,
		       "grep -cFh -- '%s' buildstats/one/tasks.log", config_cases[_i].shown);
}

TEST(wrong_pattern)
{
	const char *top = support_tmpdir();
	struct run r;

	support_writes(support_path("%s/buildbeat.yaml", top), "redact:\n  - ok\n  - 'a b'\n");
	support_run(&r, top, "%s record -- true", BUILDBEAT);
	ck_assert_msg(strstr(r.err.data, "buildbeat.yaml:3:5: expected a name") != NULL, "%s", r.err.data);
	ck_run(&r, 2);
}

TEST(doctor_reports)
{
	const char *top = support_tmpdir();
	struct run r;

	support_writes(support_path("%s/buildbeat.yaml", top), "redact: ['-k (*)']\naccess: group\n");
	support_run(&r, top, "%s doctor", BUILDBEAT);
	ck_assert(strstr(r.out.data, "by their group"));
	ck_assert(strstr(r.out.data, "(built in), '-k (*)'"));
}

TEST_MAIN(secrets);
