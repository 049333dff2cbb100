/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "render/plot/gnuplot.h"
#include "tests/plotted.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Failures of gnuplot. */

static void fake_gnuplot(const char *script)
{
	const char *bin = support_path("%s/bin", support_tmpdir());
	const char *path = support_path("%s/gnuplot", bin);

	ck_assert_int_eq(mkdir(bin, 0755), 0);
	if (script) {
		support_writes(path, script);
		ck_assert_int_eq(chmod(path, 0755), 0);
	}
	setenv("PATH", script ? support_path("%s:%s", bin, getenv("PATH")) : bin, 1);
}

static const struct {
	const char *script;	/* instead of gnuplot; NULL: no gnuplot */
	int result;
	const char *says;
} faults[] = {
	{ NULL, -ENOENT, "gnuplot is not installed (package gnuplot-nox)" },
	{ "#!/bin/sh\necho >&2; echo plot x >&2; echo '     ^' >&2\n"
	  "echo '\"cpu.gnuplot\" line 7: no such thing' >&2; exit 1\n", -EIO,
	  "gnuplot failed: \"cpu.gnuplot\" line 7: no such thing" },
	{ "#!/bin/sh\nprintf 'gnuplot: \\033[31mcannot\\n' >&2; exit 3\n", -EIO,
	  "gnuplot failed: gnuplot: \\x1b[31mcannot" },
	{ "#!/bin/sh\nexit 1\n", -EIO, "gnuplot failed: it did not say why" },
	{ "#!/bin/sh\nkill -9 $$\n", -EIO, "gnuplot failed: killed by SIGKILL" },
	{ "#!/bin/sh\nexec sleep 100\n", -EIO, "gnuplot did not end within 300 ms" },
	{ "#!/bin/sh\nexec sleep 100 >&- 2>&-\n", -EIO, "gnuplot did not end within 300 ms" },
	{ "#!/bin/sh\ntrue\n", -EIO, "cpu.svg is not whole" },
	{ "#!/bin/sh\necho '<?xml version=\"1.0\"?><svg>' > cpu.svg\n", -EIO,
	  "cpu.svg is not whole" },
	{ "#!/bin/sh\nyes | head -c 1000000; yes | head -c 1000000 >&2; exit 1\n", -EIO,
	  "gnuplot failed: y" },
};

TEST_EACH(faults_are_reported, faults)
{
	struct plot p = { .chart = PLOT_CPU };
	char *path = strdup(getenv("PATH"));
	struct plotted d;

	plotted_read(&d, NESTED);
	fake_gnuplot(faults[_i].script);
	ck_assert_int_eq(plotted_within(&d, &p, strstr(faults[_i].says, "within") ? 300 : LONG_MS),
			 faults[_i].result);
	/* The clean-up runs a program too. */
	setenv("PATH", path, 1);
	free(path);
	ck_assert_msg(strstr(d.err.message, faults[_i].says) != NULL, "%s", d.err.message);
	plotted_left(&d, 0);
	plotted_release(&d);
}

TEST(old_picture_stays)
{
	struct plot p = { .chart = PLOT_CPU };
	struct plotted d;
	struct buf svg;

	plotted_read(&d, NESTED);
	support_writes(support_path("%s/cpu.svg", d.dir), "old");
	fake_gnuplot("#!/bin/sh\nexit 1\n");
	ck_assert_int_eq(plotted_within(&d, &p, LONG_MS), -EIO);
	plotted_file(&d, &svg, "cpu.svg");
	ck_assert_str_eq(svg.data, "old");
	buf_release(&svg);
	plotted_left(&d, 1);
	plotted_release(&d);
}

static const struct { const char *directory, *tmpdir; bool keep; } places[] = {
	{ "/proc/self", NULL, false }, { "/proc/self", NULL, true },
	{ "/no/such/directory", NULL, false }, { "/dev/null", NULL, true },
	{ NULL, "/no/such/directory", false }, { NULL, "/proc/self", true },
};

TEST_EACH(unfit_places, places)
{
	struct plot p = { .chart = PLOT_CPU, .directory = places[_i].directory,
			  .keep = places[_i].keep };
	const char *tmpdir;
	struct plotted d;

	plotted_read(&d, NESTED);
	tmpdir = strdup(getenv("TMPDIR"));
	if (places[_i].tmpdir)
		setenv("TMPDIR", places[_i].tmpdir, 1);
	ck_assert_int_lt(plotted_within(&d, &p, LONG_MS), 0);
	ck_assert_str_ne(d.err.message, "");
	ck_assert_str_ne(d.err.path, "");
	setenv("TMPDIR", tmpdir, 1);
	plotted_left(&d, 0);
	free((char *)tmpdir);
	plotted_release(&d);
}

/* A full disk before the script is written, or while gnuplot draws. */
static const rlim_t sizes[] = { 100, 12000 };

TEST_EACH(no_room, sizes)
{
	struct rlimit limit = { sizes[_i], RLIM_INFINITY };
	struct plot p = { .chart = PLOT_CPU };
	struct plotted d;

	plotted_read(&d, NESTED);
	signal(SIGXFSZ, SIG_IGN);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert_int_lt(plotted_within(&d, &p, LONG_MS), 0);
	limit.rlim_cur = RLIM_INFINITY;
	setrlimit(RLIMIT_FSIZE, &limit);
	ck_assert_str_ne(d.err.message, "");
	plotted_left(&d, 0);
	plotted_release(&d);
}

TEST(who_ignores_children)
{
	struct plot p = { .chart = PLOT_CPU };
	struct plotted d;

	plotted_read(&d, NESTED);
	signal(SIGCHLD, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	plotted_draw(&d, &p);
	plotted_left(&d, 1);
	plotted_release(&d);
}

TEST_PROGRAM(plot_faults)
{
	SKIP_PROGRAM_IF(!plotted_begins());
	return support_main();
}
