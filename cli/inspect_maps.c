/* SPDX-License-Identifier: MIT */
#include "base/hex.h"
#include "base/json.h"
#include "cli/command.h"
#include "cli/inspect.h"
#include "cli/output_file.h"
#include "inspect/archive_files.h"
#include "inspect/look.h"
#include "report/inspect/maps.h"
#include "report/inspect/resident.h"

#include <errno.h>
#include <inttypes.h>

struct mmaps_arguments {
	const char *permissions, *file, *address;
	int64_t snapshot;
	bool pages, json;
};

#define OPTIONS struct mmaps_arguments
static const struct option options[] = {
	{ OPT_TEXT(0, "permissions", permissions, "REGEX",
	  "only mappings whose permissions match, such as 'x' or '^rw'") },
	{ OPT_TEXT(0, "file", file, "REGEX", "only mappings whose file matches") },
	{ OPT_TEXT(0, "address", address, "ADDRESS",
	  "the mapping of a hexadecimal address, and where in its file it is") },
	{ OPT_NUMBER(0, "snapshot", snapshot, 1, INT32_MAX, "N",
	  "snapshot N of an archive (default: the last one)") },
	{ OPT_FLAG(0, "pages", pages, "print the ranges of pages that are in memory instead") },
	{ OPT_FLAG('j', "json", json, "print JSON") },
	{ 0 }
};

static const struct mmaps_arguments defaults;

/* What is shown, of a process or of an archive. */
struct mmaps {
	struct name_table own;
	struct look look;
	bool looking;
	struct inspect_reader *reader;
	struct snapshot snapshot;
	struct pattern permissions, file;
	struct maps_wish wish;
};

static int read_process(struct mmaps *m, int32_t pid, bool pages, struct error *err)
{
	int r;

	m->own.arena = arena_new();
	if (!m->own.arena)
		return error_sys(err, -ENOMEM, NULL, NULL);
	m->looking = true;
	r = look_open(&m->look, pid, 0, &m->own, err);
	if (!r)
		r = look_read(&m->look, &m->snapshot, pages, err);
	m->wish.names = &m->own;
	return r;
}

static int read_archive(struct mmaps *m, const char *path, const struct mmaps_arguments *o,
			struct error *err)
{
	const struct inspection *x;
	int r = inspect_reader_open(&m->reader, path, err);

	if (r)
		return r;
	x = inspect_reader_inspection(m->reader);
	if (!x->n_snapshots)
		return error_set(err, -ENODATA, path, 0, 0, "it has no snapshots");
	if (o->snapshot > (int64_t)x->n_snapshots)
		return error_set(err, -EINVAL, path, 0, 0, "there is no snapshot %" PRId64 ": the "
				 "inspection has %zu", o->snapshot, x->n_snapshots);
	m->wish.names = &x->names;
	return inspect_reader_snapshot(m->reader, o->snapshot ? (size_t)o->snapshot - 1 :
				       x->n_snapshots - 1, &m->snapshot, err);
}

static int read_pattern(struct pattern *p, const struct pattern **out, const char *text,
			const char *option, struct error *err)
{
	struct error why = { 0 };
	int r = text ? pattern_init(p, text, &why) : 0;

	if (r)
		return error_say(err, r, "inspect maps: option '--%s': %s", option, why.message);
	*out = text ? p : NULL;
	return 0;
}

static int read_options(struct mmaps *m, const struct mmaps_arguments *o, struct error *err)
{
	int r = read_pattern(&m->permissions, &m->wish.permissions, o->permissions, "permissions",
			     err);

	if (!r)
		r = read_pattern(&m->file, &m->wish.file, o->file, "file", err);
	m->wish.address_given = o->address;
	m->wish.all_values = true;
	if (!r && o->address && !hex_text(o->address, &m->wish.address))
		r = error_say(err, -EINVAL, "inspect maps: option '--address': expected a "
			      "hexadecimal number such as 7f3201a4, not '%s'", o->address);
	return r;
}

static int show(struct mmaps *m, const struct mmaps_arguments *o, struct error *err)
{
	struct style style = output_style();
	struct buf out = BUF_INIT;
	struct json j;
	struct doc d;

	if (o->pages && !m->snapshot.has_pages)
		return error_say(err, -ENODATA, "inspect maps: it is not known which pages are in "
				 "memory%s", m->reader ? "; record them with: buildbeat inspect "
				 "run --pages" : "");
	doc_init_terminal(&d, &out, &style);
	if (o->json) {
		json_init(&j, &out, false);
		json_object(&j, NULL);
		json_str(&j, "format", "buildbeat mmaps 1");
		maps_json(&j, &m->snapshot, &m->wish);
		if (o->pages)
			resident_json(&j, &m->snapshot, &m->wish);
		json_object_end(&j);
	} else if (o->pages) {
		resident_table(&d, &m->snapshot, &m->wish);
	} else {
		maps_table(&d, &m->snapshot, &m->wish);
	}
	doc_release(&d);
	return output_end(&out, 0, NULL, err);
}

static int run_maps(struct args *a, void *values, struct error *err)
{
	const struct mmaps_arguments *o = values;
	struct slice what = slice_of(a->operand[0]);
	struct mmaps m = { .looking = false };
	uint64_t pid;
	int r = read_options(&m, o, err);

	if (!r && !what.len)
		r = error_say(err, -EINVAL, "inspect maps: expected PID or ARCHIVE, not an empty "
			      "text");
	else if (!r && cursor_slice_u64(what, &pid) && pid && pid <= INT32_MAX)
		r = o->snapshot ? error_say(err, -EINVAL, "inspect maps: option '--snapshot' needs "
					    "an archive") :
		    read_process(&m, (int32_t)pid, o->pages, err);
	else if (!r)
		r = read_archive(&m, a->operand[0], o, err);
	if (!r)
		r = show(&m, o, err);
	if (m.looking)
		look_close(&m.look);
	inspect_reader_close(m.reader);
	snapshot_release(&m.snapshot);
	pattern_release(&m.permissions);
	pattern_release(&m.file);
	name_table_release(&m.own);
	arena_free(m.own.arena);
	return r;
}

const struct command inspect_maps = {
	.name = "inspect maps", .operands = "PID|ARCHIVE", .run = run_maps,
	.options = options, COMMAND_DEFAULTS(defaults),
	.summary = "Show the memory mappings of a process",
};
