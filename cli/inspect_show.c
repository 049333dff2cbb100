/* SPDX-License-Identifier: MIT */
#include "base/cursor.h"
#include "base/hex.h"
#include "cli/class_rules.h"
#include "cli/command.h"
#include "cli/inspect.h"
#include "cli/inspect_config.h"
#include "cli/inspect_export.h"
#include "cli/inspect_symbols.h"
#include "cli/output_file.h"
#include "inspect/archive_files.h"
#include "inspect/archive_list.h"
#include "launch/notice.h"
#include "report/inspect/inspect_outputs.h"

#include <errno.h>
#include <string.h>

static int read_snapshot(void *from, size_t i, struct snapshot *s, struct error *err)
{
	return inspect_reader_snapshot(from, i, s, err);
}

static int wrong(struct error *err, const char *option, const char *expected, const char *text)
{
	return error_say(err, -EINVAL, "option '--%s': expected %s, not '%s'", option, expected,
			 text);
}

static bool read_number(const char *p, size_t len, size_t *number)
{
	int64_t n;

	if (!cursor_slice_i64((struct slice){ p, len }, &n) || n < 1)
		return false;
	*number = (size_t)n - 1;
	return true;
}

/* "N" or "N,M" */
static int read_snapshots(struct inspect_view_wish *wish, const char *text, struct error *err)
{
	size_t len = strcspn(text, ",");

	if (!read_number(text, len, &wish->shown) ||
	    (text[len] && !read_number(text + len + 1, strlen(text + len + 1), &wish->base)))
		return wrong(err, "snapshot", "one or two numbers such as 3 or 3,1", text);
	return 0;
}

static int read_options(struct inspect_view_wish *wish, struct inspect_show_options *show,
			const struct inspect_arguments *o, struct error *err)
{
	int r = 0;

	*wish = (struct inspect_view_wish){
		.file = o->file, .permissions = o->permissions, .stack = o->stack,
		.shown = INSPECT_VIEW_CHOOSE, .base = INSPECT_VIEW_CHOOSE,
	};
	*show = (struct inspect_show_options){
		.parts = o->view, .top = (size_t)o->top, .address_given = o->address,
	};
	if (!show->parts && (o->address || o->file || o->permissions))
		show->parts = 1U << INSPECT_MAPS;
	if (!show->parts)
		show->parts = 1U << INSPECT_OVERVIEW | 1U << INSPECT_CLASSES | 1U << INSPECT_GROWTH |
			      1U << INSPECT_SITES;
	if (o->snapshot)
		r = read_snapshots(wish, o->snapshot, err);
	if (o->address && !r)
		r = hex_text(o->address, &show->address) ? 0 :
			wrong(err, "address", "a hexadecimal number such as 7f3201a4", o->address);
	return r;
}

static int print(const struct inspection *in, struct inspect_reader *reader,
		 const struct inspect_view_wish *wish, const struct inspect_show_options *show,
		 const struct inspect_arguments *o, struct error *err)
{
	struct style style = output_style();
	struct buf text = BUF_INIT;
	struct inspect_view v;
	int r = inspect_view_make(&v, in, read_snapshot, reader, wish, err);

	if (!r)
		r = o->json || o->format == INSPECT_FORMAT_JSON ? inspect_json(&text, &v, show) :
			inspect_text(&text, &v, show, &style);
	else if (r == -ENOMEM)
		error_sys(err, r, NULL, "inspect");
	inspect_view_release(&v);
	if (r) {
		buf_release(&text);
		return r;
	}
	return o->output ? output_file(&text, 0, o->output, err) : output_end(&text, 0, NULL, err);
}

/* The rules of the option, of the configuration, or of the program. */
static int read_rules(struct class_rules_read *rules, const struct inspection *in,
		      const struct inspect_arguments *o, const struct inspect_config *config,
		      struct error *err)
{
	const char *program = in->program ? in->program : "";
	struct inspect_choice choice;

	inspect_config_choose(&choice, config, in->host, program);
	return class_rules_read(rules, o->rules ? o->rules : choice.classes, program, err);
}

/*
 * Open an archive, or the newest one below a directory such as a recording or ./inspect. *path is
 * then its path, which l has: release l after the last use of it.
 */
static int open_archive(struct inspect_reader **reader, const char **path, struct inspect_list *l,
			struct error *err)
{
	const char *dir = *path;
	int r = inspect_reader_open(reader, dir, err);
	struct error other;

	if (!r || inspect_list_below(l, dir, &other) || !l->n)
		return r;
	*path = l->entry[0].path;
	if (l->n > 1)
		notice("%s: %zu archives; showing the newest, %s", dir, l->n, l->entry[0].name);
	return inspect_reader_open(reader, *path, err);
}

int inspect_run_show(struct args *a, void *values, struct error *err)
{
	const struct inspect_arguments *o = values;
	struct class_rules_read rules = { .name = "" };
	struct inspect_reader *reader = NULL;
	struct inspect_show_options show;
	struct inspect_view_wish wish;
	struct inspect_list list = INSPECT_LIST_INIT;
	struct inspect_config config;
	const char *path = a->operand[0];
	struct inspection *in;
	int r = read_options(&wish, &show, o, err);

	r = r ? r : open_archive(&reader, &path, &list, err);
	if (r) {
		inspect_list_release(&list);
		return r;
	}
	in = (struct inspection *)inspect_reader_inspection(reader);
	if (inspect_reader_warning(reader))
		notice("%s: %s", path, inspect_reader_warning(reader));
	if (inspect_reader_fact(reader, "error"))
		notice("%s: the archive is incomplete: %s", path,
		       inspect_reader_fact(reader, "error"));
	show.look = inspect_reader_history(reader, &show.n_looks);
	r = inspect_config_read(&config, o->config, err);
	r = r ? r : read_rules(&rules, in, o, &config, err);
	if (!r)
		inspect_symbols(in, &config);
	if (!r && o->format > INSPECT_FORMAT_JSON) {
		r = inspect_export(reader, &rules.file, wish.shown == INSPECT_VIEW_CHOOSE ?
				   INSPECT_SNAPSHOT_CHOOSE : wish.shown, a, o, err);
	} else if (!r) {
		wish.rules = &rules.file;
		wish.rules_name = rules.name;
		r = print(in, reader, &wish, &show, o, err);
	}
	class_rules_release(&rules);
	inspect_config_release(&config);
	inspect_reader_close(reader);
	inspect_list_release(&list);
	return r;
}
