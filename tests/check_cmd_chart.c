/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/paths.h"
#include "tests/support.h"

/*
 * `buildbeat chart`: the files it writes, its messages, and what a failure leaves behind.
 * Other tests check the pictures.
 */

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"

static const char *dir;
static bool has_gnuplot;

/* A writable recording in ./buildstats. */
static void setup(void)
{
	dir = support_tmpdir();
	support_expect(dir, 0, NULL, NULL,
		       "mkdir buildstats && %s/tests/gen_recording buildstats/one 40 30 1 && "
		       "%s/tests/gen_recording buildstats/two 40 30 2", TOP_BUILDDIR, TOP_BUILDDIR);
}

static const struct {
	const char *arguments;
	const char *out;	/* what is printed */
	const char *files;	/* exists afterwards */
	bool gnuplot;
} places[] = {
	{ "--only bootchart one", "buildstats/one/bootchart.svg\n",
	  "buildstats/one/bootchart.svg", false },
	{ "one", "buildstats/one/bootchart.svg\nbuildstats/one/cpu.svg\n"
	  "buildstats/one/disk.svg\nbuildstats/one/memory.svg\n",
	  "buildstats/one/bootchart.svg buildstats/one/cpu.svg "
	  "buildstats/one/disk.svg buildstats/one/memory.svg", true },
	{ "-o new/ --only bootchart one", "new//bootchart.svg\n", "new/bootchart.svg", false },
	{ "-o some.svg one", "some.svg\n", "some.svg", false },
	{ "-o charts one --format png", "charts/bootchart.svg\ncharts/cpu.png\ncharts/disk.png\n"
	  "charts/memory.png\n", "charts/cpu.png", true },
	{ "-o kept --only disk --keep one", "kept/disk.svg\n",
	  "kept/disk.svg kept/disk.gnuplot kept/disk.data", true },
	{ "-o both.svg --compare two one", "both.svg\n", "both.svg", false },
	{ "-o kinds.svg --by kind one", "kinds.svg\n", "kinds.svg", false },
};

TEST_GROUP_ONCE("chart command", setup, NULL);

TEST_EACH(files, places)
{
	SKIP_IF(places[_i].gnuplot && !has_gnuplot);
	support_expect(dir, 0, places[_i].out, "", BUILDBEAT " chart %s", places[_i].arguments);
	support_expect(dir, ANY_STATUS, "", NULL,
		       "test -s /dev/null; for f in %s; do test -s $f || echo no $f; done",
		       places[_i].files);
}

/* A recording that is named through a link: each path that is printed is right after the next build. */
static const char *const through_link[] = {
	"chart --only bootchart", "chart --only bootchart latest", "chart --only bootchart buildstats",
	"chart --only bootchart buildstats/latest", "chart --only bootchart buildstats/latest//",
	"chart --only bootchart ./buildstats/latest/.", "chart --only bootchart \"$PWD/buildstats/latest\"",
	"chart --only bootchart link", "chart --only bootchart -o buildstats/latest two",
	"chart --only bootchart -o link one", "export --to chrome latest",
};

TEST_EACH(path_of_a_link, through_link)
{
	struct run r;
	char *end;

	support_expect(dir, 0, "", "", "ln -sfn one buildstats/latest; ln -sfn buildstats/latest link");
	support_run(&r, dir, BUILDBEAT " %s", through_link[_i]);
	ck_assert_msg(!r.status, "%s%s", through_link[_i], r.err.data);
	end = strchr(r.out.data, '\n');
	ck_assert_msg(end != NULL && strstr(r.out.data, "one"), "%s: %s",
		      through_link[_i], r.out.data);
	*end = '\0';
	support_expect(dir, 0, "", "", "rm link; ln -sfn two buildstats/latest; test -s '%s' && "
		       "rm buildstats/latest", r.out.data);
}

TEST(to_stdout)
{
	struct run r;

	support_run(&r, dir, BUILDBEAT " chart -o - one");
	ck_assert_int_eq(r.status, 0);
	ck_assert_ptr_nonnull(strstr(r.out.data, "<svg"));
	ck_assert_str_eq(r.out.data + r.out.len - 7, "</svg>\n");
}

TEST(in_the_terminal)
{
	struct run r;

	SKIP_IF(!has_gnuplot);
	support_run(&r, dir, "rm -rf before; cp -r buildstats before; COLUMNS=100 " BUILDBEAT
		    " chart --format term one && diff -r before buildstats");
	ck_assert_int_eq(r.status, 0);
	ck_assert_str_eq(r.err.data, "");
	ck_assert_uint_gt(r.out.len, 3000);
	ck_assert_ptr_null(strchr(r.out.data, '\033'));
	ck_assert_ptr_null(strstr(r.out.data, ".svg"));
}

/* The configured directory contains recordings; the charts go elsewhere. */
TEST(configured)
{
	support_expect(dir, ANY_STATUS, "x.svg\nbuildbeat.yaml\nx.svg\n", "",
		       "mkdir -p project && cd project && echo 'output: ../buildstats' "
		       ">buildbeat.yaml && " BUILDBEAT " chart -o x.svg one && ls");
}

static const struct {
	const char *command;	/* after "buildbeat chart" */
	const char *said;
} mistakes[] = {
	{ "--format jpg one", "jpg" },
	{ "--by colour one", "colour" },
	{ "--only dsik one", "disk" },
	{ "--compare", "compare" },
	{ "--compare nowhere one", "nowhere" },
	{ "nowhere", "nowhere" },
	{ "one two", "two" },
	{ "--ouput x one", "--output" },
	{ "-o x.svg --only cpu one", "directory" },
	{ "-o cpu.png --only cpu --format png one", "directory" },
	{ "-o x.svg --format term one", "--format is not for the bootchart" },
	{ "--only cpu --compare two one", "--compare is for the bootchart" },
	{ "--only bootchart --keep one", "--keep is not for the bootchart" },
	{ "-o /nonexistent/x.svg one", "/nonexistent/x.svg" },
	{ "-o buildstats/one/build one", "buildstats/one/build" },
};

TEST_EACH(mistake, mistakes)
{
	struct run r;

	support_run(&r, dir, BUILDBEAT " chart %s", mistakes[_i].command);
	ck_assert_int_eq(r.status, 2);
	ck_assert_ptr_nonnull(strstr(r.err.data, mistakes[_i].said));
	ck_assert_int_eq(strncmp(r.err.data, "buildbeat: ", 11), 0);
}

/* Without gnuplot the bootchart is still drawn, and a message names the missing charts. */
TEST(without_gnuplot)
{
	struct run r;

	static const char *const asked[] = { "--only cpu", "--format png", "--format term", "--keep" };

	support_run(&r, dir, "mkdir -p empty && PATH=$PWD/empty " BUILDBEAT " chart -o alone one");
	ck_assert_int_eq(r.status, 0);
	ck_assert_str_eq(r.err.data, "buildbeat: only the bootchart was drawn: gnuplot is not installed "
			 "(package gnuplot-nox)\n");
	ck_assert_str_eq(r.out.data, "alone/bootchart.svg\n");
	support_expect(dir, ANY_STATUS, "bootchart.svg\n", NULL, "ls alone");
	for (size_t i = 0; i < ARRAY_SIZE(asked); i++) {
		support_run(&r, dir, "PATH=$PWD/empty " BUILDBEAT " chart %s one", asked[i]);
		ck_assert_int_eq(r.status, 2);
		ck_assert_str_eq(r.err.data, "buildbeat: gnuplot is not installed (package gnuplot-nox)\n");
	}
	support_expect(dir, ANY_STATUS, NULL, NULL, "rm -f buildstats/one/bootchart.svg");
}

static const struct {
	const char *script;	/* instead of gnuplot */
	const char *said;
} broken[] = {
	{ "echo boo >&2; exit 3", "buildbeat: cpu: gnuplot failed: boo\n"
	  "buildbeat: disk: gnuplot failed: boo\nbuildbeat: memory: gnuplot failed: boo\n" },
	{ "kill -9 $$", "buildbeat: cpu: gnuplot failed: killed by SIGKILL\n"
	  "buildbeat: disk: gnuplot failed: killed by SIGKILL\n"
	  "buildbeat: memory: gnuplot failed: killed by SIGKILL\n" },
	{ "exit 0", "buildbeat: cpu: gnuplot failed: cpu.svg is not whole\n"
	  "buildbeat: disk: gnuplot failed: disk.svg is not whole\n"
	  "buildbeat: memory: gnuplot failed: memory.svg is not whole\n" },
};

static void put_gnuplot(const char *script)
{
	support_expect(dir, 0, NULL, NULL,
		       "rm -rf bin tmp; mkdir -p bin tmp && { echo '#!/bin/sh'; echo '%s'; } "
		       ">bin/gnuplot && chmod +x bin/gnuplot", script);
}

TEST_EACH(with_another_gnuplot, broken)
{
	struct run r;

	put_gnuplot(broken[_i].script);
	support_run(&r, dir, "PATH=$PWD/bin:$PATH TMPDIR=$PWD/tmp " BUILDBEAT " chart -o other one; "
		    "echo $?; ls other; ls tmp");
	ck_assert_str_eq(r.err.data, broken[_i].said);
	ck_assert_str_eq(r.out.data, "other/bootchart.svg\n2\nbootchart.svg\n");
}

/* Ended by a signal: gnuplot ends too, no directory is left, and the parent sees the signal. */
static const struct {
	const char *signal;
	int status;
} endings[] = { { "INT", 130 }, { "TERM", 143 }, { "HUP", 129 }, { "QUIT", 131 } };

TEST_EACH(ended, endings)
{
	const char *sent = support_path("echo $$ >../../pid; kill -%s $PPID; exec sleep 600",
					endings[_i].signal);
	struct run r;

	put_gnuplot(sent);
	support_run(&r, dir, "ulimit -c 0; export TMPDIR=$PWD/tmp; PATH=$PWD/bin:$PATH " BUILDBEAT
		    " chart -o ended one; echo $?; ls ended tmp; ! kill -0 $(cat pid) 2>/dev/null");
	ck_assert_int_eq(r.status, 0);
	ck_assert_str_eq(r.out.data, support_path("ended/bootchart.svg\n%d\nended:\n"
			 "bootchart.svg\n\ntmp:\n", endings[_i].status));
	ck_assert_ptr_null(strstr(r.err.data, "buildbeat:"));
}

/* As under nohup. */
TEST(not_ended)
{
	SKIP_IF(!has_gnuplot);
	put_gnuplot("kill -HUP $PPID; PATH=${PATH#*:}; exec gnuplot \"$@\"");
	support_expect(dir, ANY_STATUS, "ignored/cpu.svg\n", "",
		       "trap \"\" HUP; PATH=$PWD/bin:$PATH " BUILDBEAT
		       " chart -o ignored --only cpu one");
}

/* Charts in OpenEmbedded's directory are not read as tasks or logs. */
TEST(beside_openembedded)
{
	SKIP_IF(!has_gnuplot);
	support_expect(dir, 0, "", "",
		       "cp -r %s/tests/data/oe/genuine oe && chmod -R u+w oe && "
		       BUILDBEAT " show oe >oe.before && for a in --keep \"--format png\" \"--format pdf\" "
		       "\"-o oe/charts --keep\"; do " BUILDBEAT " chart $a oe || exit; done >/dev/null && "
		       BUILDBEAT " show oe >oe.after && cmp oe.before oe.after && " BUILDBEAT
		       " chart -o - oe >again.svg && cmp again.svg oe/bootchart.svg", TOP_SRCDIR);
}

static const struct {
	const char *place;	/* command that makes it */
	const char *made;
	bool root;		/* it stops root too */
} closed[] = {
	{ "shut", "mkdir -p shut && chmod 500 shut", false },
	{ "full", "mkdir -p full && mount -t tmpfs -o size=8k none full", true },
};

/* No half-written and no temporary files. */
TEST_EACH(nowhere_to_write, closed)
{
	struct run r;

	support_run(&r, dir, "%s", closed[_i].made);
	SKIP_IF(r.status || (!closed[_i].root && !geteuid()));
	support_expect(dir, 2, "", "bootchart.svg: cannot write",
		       BUILDBEAT " chart -o %s one", closed[_i].place);
	support_expect(dir, ANY_STATUS, "", NULL,
		       "ls -A %s; umount full 2>/dev/null; chmod 700 %s",
		       closed[_i].place, closed[_i].place);
}

TEST(standard_output_full)
{
	support_expect(dir, 2, NULL, "No space left", BUILDBEAT " chart -o - one >/dev/full");
}

/* An existing file is replaced, through a link too, and keeps its mode. */
TEST(replaces)
{
	support_expect(dir, ANY_STATUS, "link.svg\n-rw----r--\nreal.svg\n</svg>\n", "",
		       "echo old >real.svg && chmod 604 real.svg && ln -sf real.svg link.svg && umask 027 && "
		       BUILDBEAT " chart -o link.svg one && stat -c %%A real.svg && "
		       "readlink link.svg && tail -c7 real.svg");
}

TEST_PROGRAM(cmd_chart)
{
	has_gnuplot = support_has("gnuplot");
	return support_main();
}
