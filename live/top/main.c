/* SPDX-License-Identifier: MIT */
#include "live/top/terminal.h"

#include <errno.h>
#include <getopt.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define CPU_NS 300000000	/* how long CPU use is measured for a single screen */

static int print(const struct top_screen *s)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct buf *b = &s->line[i].text;
		size_t n = b->len;

		while (n && b->data[n - 1] == ' ')
			n--;
		fwrite(b->data, 1, n, stdout);
		putchar('\n');
	}
	return fflush(stdout) || ferror(stdout) ? -errno : 0;
}

static int print_once(struct top_model *m, struct error *err)
{
	const char *columns = getenv("COLUMNS");
	struct top_view v = { .order = { .sort = VALUE_CPU, .tree = true, .filter = "" } };
	struct top_screen s = { 0 };
	struct top_rows rows = { 0 };
	int r = 0;

	if (columns && atoi(columns) >= 20 && atoi(columns) <= 1000)
		v.width = (unsigned)atoi(columns);
	if (!m->ended) {
		if (!m->mirror)
			nanosleep(&(struct timespec){ .tv_nsec = CPU_NS }, NULL);
		r = top_model_read(m, true, err);
	}
	if (r)
		return r;
	r = top_rows_make(&rows, m, &v.order);
	if (!r)
		r = top_screen_make(&s, m, &rows, &v);
	if (!r)
		r = print(&s);
	if (r)
		error_sys(err, r, "standard output", NULL);
	free(rows.row);
	top_screen_release(&s);
	return r;
}

/* buildbeat-top [-1] [-a] PATH, or for a server [-1] [-C FILE] -s BUILDBEAT-SERVE with the URL in BUILDBEAT_ATTACH:
 * `buildbeat top`, which starts it, describes the options. */
int main(int argc, char **argv)
{
	bool once = false, control = false;
	struct error err = { 0 };
	const char *server = NULL, *ca_file = NULL;
	struct top_model m;
	int c, r;

	while ((c = getopt(argc, argv, "1aC:s:")) != -1) {
		if (c == '?')
			return 2;
		if (c == 'C')
			ca_file = optarg;
		if (c == 's')
			server = optarg;
		once = once || c == '1';
		control = control || c == 'a';
	}
	if (optind + !server != argc)
		return 2;
	setlocale(LC_CTYPE, "");
	once = once || !isatty(STDOUT_FILENO) || !isatty(STDIN_FILENO);
	r = server ? top_model_open_url(&m, server, ca_file, &err) : top_model_open(&m, argv[optind], !once, &err);
	if (!r)
		r = once ? print_once(&m, &err) : terminal_run(&m, control, &err);
	top_model_close(&m);
	if (!r)
		return 0;
	fprintf(stderr, "buildbeat: %s%s%s\n", err.path, *err.path ? ": " : "", err.message);
	return 2;
}
