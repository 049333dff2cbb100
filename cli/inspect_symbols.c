/* SPDX-License-Identifier: MIT */
#include "cli/inspect_symbols.h"

#include "base/cursor.h"
#include "inspect/symbolize.h"
#include "launch/find_plugin.h"
#include "launch/notice.h"

#include <string.h>
#include <sys/utsname.h>

#define NOTES_MAX 5

static bool is_other_host(const struct inspection *in)
{
	struct utsname u;

	return uname(&u) || !in->host || strcmp(u.nodename, in->host) != 0;
}

static void print_notes(const struct symbolize_result *result)
{
	struct cursor c;
	struct slice line;
	unsigned n = 0;

	cursor_init(&c, result->notes.data, result->notes.len);
	while (n++ < NOTES_MAX && cursor_until(&c, '\n', &line))
		notice("%.*s", (int)line.len, line.p);
	if (!cursor_at_end(&c))
		notice("more modules have no names");
}

void inspect_symbols(struct inspection *in, const struct inspect_config *config)
{
	struct symbolize_result result = { .notes = BUF_INIT };
	struct inspect_choice choice;
	char program[PATH_MAX];
	struct error err;
	int r;

	if (!in->n_frames || in->n_frame_names)
		return;
	inspect_config_choose(&choice, config, in->host, in->program ? in->program : "");
	r = find_program(program, FIND_SYMBOLS, &err) ? 0 : -1;
	if (!r)
		r = symbolize(in, &(struct symbolize_settings){
				.program = program, .dirs = choice.symbols->item,
				.n_dirs = choice.symbols->n, .checked_only = is_other_host(in),
			}, &result, &err);
	if (r)
		notice("functions have no names: %s: %s", err.path, err.message);
	print_notes(&result);
	buf_release(&result.notes);
}
