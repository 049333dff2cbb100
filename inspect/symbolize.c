/* SPDX-License-Identifier: MIT */
#include "inspect/symbolize.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/index.h"
#include "base/sort.h"
#include "symbols/client.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DELETED " (deleted)"
#define MS_NS 1000000

struct work {
	struct inspection *in;
	struct symbolize_result *result;
	struct symbols_module *module;	/* of the inspection; texts from malloc() */
	size_t n;
	struct symbols_address *address;
	uint32_t *frame;	/* of each address */
	bool *named;		/* each address */
	struct index names;	/* frame names by their content */
};

/* The number of a frame name with this content. */
static int intern(struct work *w, const struct frame_name *f, uint32_t *number)
{
	uint64_t a = (uint64_t)f->function << 32 | f->source;
	uint64_t b = (uint64_t)f->line << 32 | f->inlined_in;
	struct frame_name *new;

	if (index_find(&w->names, a, b, number))
		return 0;
	new = array_add(&w->in->frame_name, &w->in->n_frame_names, sizeof *new);
	if (!new)
		return -ENOMEM;
	*new = *f;
	*number = (uint32_t)(w->in->n_frame_names - 1);
	return index_put(&w->names, a, b, *number);
}

static int add_text(struct work *w, const char *text, uint32_t *number)
{
	return name_table_add(&w->in->names, slice_of(text), number);
}

static int take_named(void *context, size_t address, const struct symbols_function *function,
		      size_t n_functions)
{
	struct work *w = context;
	uint32_t number = INSPECTION_NONE;
	int r = 0;

	for (size_t i = n_functions; i-- > 0 && !r;) {
		struct frame_name f = { .source = INSPECTION_NONE, .line = function[i].line,
					.inlined_in = number };

		r = add_text(w, function[i].name, &f.function);
		if (!r && *function[i].source)
			r = add_text(w, function[i].source, &f.source);
		if (!r)
			r = intern(w, &f, &number);
	}
	if (!r) {
		w->in->frame[w->frame[address]].name = number;
		w->named[address] = true;
	}
	return r;
}

/* "MODULE!0xSTART", or "MODULE!?" for 0. */
static int name_by_start(struct work *w, uint32_t frame, uint64_t start)
{
	const struct module *m = &w->in->module[w->in->frame[frame].module];
	struct slice path = w->in->names.name[m->file];
	const char *slash = memrchr(path.p, '/', path.len);
	struct frame_name f = { .source = INSPECTION_NONE, .inlined_in = INSPECTION_NONE };
	struct buf text = BUF_INIT;
	int r;

	if (slice_ends(path, DELETED))
		path.len -= strlen(DELETED);
	if (slash && slash + 1 < path.p + path.len)
		path = (struct slice){ slash + 1, (size_t)(path.p + path.len - slash - 1) };
	buf_add(&text, path.p, path.len);
	buf_adds(&text, "!?");
	if (start) {
		buf_cut(&text, text.len - 1);
		buf_addf(&text, "0x%" PRIx64, start);
	}
	r = buf_error(&text) ? buf_error(&text) : add_text(w, buf_str(&text), &f.function);
	buf_release(&text);
	return r ? r : intern(w, &f, &w->in->frame[frame].name);
}

static int take_unnamed(void *context, size_t address, uint64_t start)
{
	struct work *w = context;

	w->named[address] = false;
	return name_by_start(w, w->frame[address], start);
}

static void take_note(void *context, size_t module, const char *text)
{
	struct work *w = context;

	buf_addf(&w->result->notes, "%s: %s\n", w->module[module].path, text);
}

/* Modules */

/* The file that the process has mapped at this place: it may be deleted. */
static char *mapped_file(int32_t pid, uint64_t start)
{
	char dir[64], head[32];
	char *path = NULL;
	struct dirent *entry;
	DIR *d;

	snprintf(dir, sizeof dir, "/proc/%" PRId32 "/map_files", pid);
	snprintf(head, sizeof head, "%" PRIx64 "-", start);
	d = opendir(dir);
	while (d && !path && (entry = readdir(d))) {
		if (!strncmp(entry->d_name, head, strlen(head)) &&
		    asprintf(&path, "%s/%s", dir, entry->d_name) < 0)
			path = NULL;
	}
	if (d)
		closedir(d);
	return path;
}

static int describe_modules(struct work *w, int32_t pid)
{
	const struct inspection *in = w->in;

	w->module = array_new_zero(in->n_modules, sizeof *w->module);
	if (!w->module)
		return -ENOMEM;
	for (size_t i = 0; i < in->n_modules; i++) {
		struct slice path = in->names.name[in->module[i].file];
		struct symbols_module *m = &w->module[i];
		char *text;

		m->path = strndup(path.p, path.len);
		if (!m->path)
			return -ENOMEM;
		m->build_id = in->module[i].build_id;
		if (pid <= 0 || *m->path != '/')
			continue;
		if (asprintf(&text, "/proc/%" PRId32 "/root%s", pid, m->path) < 0)
			return -ENOMEM;
		m->other[0] = text;
		m->other[1] = mapped_file(pid, in->module[i].start);
	}
	return 0;
}

static void release_modules(struct work *w)
{
	for (size_t i = 0; w->module && i < w->in->n_modules; i++) {
		free((char *)w->module[i].path);
		for (size_t j = 0; j < ARRAY_SIZE(w->module[i].other); j++)
			free((char *)w->module[i].other[j]);
	}
	free(w->module);
}

/* Addresses */

static int sort_frames(struct work *w, struct keyed *key, bool checked_only)
{
	const struct inspection *in = w->in;
	int r;

	for (size_t i = 0; i < in->n_frames; i++) {
		uint32_t module = in->frame[i].module;

		if (module < in->n_modules && (!checked_only || *in->module[module].build_id))
			key[w->n++] = (struct keyed){ in->frame[i].address, (int64_t)i };
	}
	r = sort_keyed(key, w->n);
	for (size_t i = 0; i < w->n; i++)
		key[i].key = in->frame[key[i].value].module;
	return r ? r : sort_keyed(key, w->n);
}

static int collect_addresses(struct work *w, bool checked_only)
{
	const struct inspection *in = w->in;
	struct keyed *key = array_new(in->n_frames, sizeof *key);
	int r;

	w->address = array_new_zero(in->n_frames, sizeof *w->address);
	w->frame = array_new_zero(in->n_frames, sizeof *w->frame);
	w->named = array_new_zero(in->n_frames, sizeof *w->named);
	r = key && w->address && w->frame && w->named ? sort_frames(w, key, checked_only) : -ENOMEM;
	for (size_t i = 0; i < w->n && !r; i++) {
		const struct frame *f = &in->frame[key[i].value];

		w->frame[i] = (uint32_t)key[i].value;
		w->address[i] = (struct symbols_address){
			f->address - in->module[f->module].bias, f->module, true,
		};
	}
	free(key);
	return r;
}

/* Result */

/* Names that later answers replaced are left out. */
static int keep_used(struct inspection *in)
{
	uint32_t *number = array_new(in->n_frame_names, sizeof *number);
	size_t kept = 0;

	if (!number)
		return -ENOMEM;
	for (size_t i = 0; i < in->n_frame_names; i++)
		number[i] = INSPECTION_NONE;
	for (size_t i = 0; i < in->n_frames; i++) {
		for (uint32_t at = in->frame[i].name;
		     at != INSPECTION_NONE && number[at] == INSPECTION_NONE;
		     at = in->frame_name[at].inlined_in)
			number[at] = 0;
	}
	for (size_t i = 0; i < in->n_frame_names; i++) {
		struct frame_name f = in->frame_name[i];

		if (number[i] == INSPECTION_NONE)
			continue;
		if (f.inlined_in != INSPECTION_NONE)
			f.inlined_in = number[f.inlined_in];
		number[i] = (uint32_t)kept;
		in->frame_name[kept++] = f;
	}
	for (size_t i = 0; i < in->n_frames; i++) {
		if (in->frame[i].name != INSPECTION_NONE)
			in->frame[i].name = number[in->frame[i].name];
	}
	in->n_frame_names = kept;
	free(number);
	return 0;
}

static int finish(struct work *w)
{
	struct inspection *in = w->in;
	int r = 0;

	w->result->frames = in->n_frames;
	for (size_t i = 0; i < w->n; i++)
		w->result->named += w->named[i];
	for (size_t i = 0; i < in->n_frames; i++) {
		if (in->frame[i].module < in->n_modules && in->frame[i].name == INSPECTION_NONE)
			r = name_by_start(w, (uint32_t)i, 0);
		if (r)
			goto out;
	}
out:
	in->named_percent = in->n_frames ? (unsigned)(w->result->named * 100 / in->n_frames) : 0;
	return r ? r : keep_used(in);
}

static int ask_symbols(struct work *w, const struct symbolize_settings *s, struct error *err)
{
	int64_t budget_ms = s->budget_ms > 0 ? s->budget_ms : SYMBOLIZE_BUDGET_MS;
	struct symbols_request q = {
		.program = s->program, .dirs = s->dirs, .n_dirs = s->n_dirs,
		.names_only = s->names_only, .stop = s->stop,
		.deadline_ns = clock_mono_ns() + budget_ms * MS_NS,
		.n_modules = w->in->n_modules, .module = w->module,
		.n = w->n, .address = w->address,
		.context = w, .named = take_named, .unnamed = take_unnamed, .note = take_note,
	};
	int r = symbols_ask(&q, err);

	if (r == -ETIME)
		buf_addf(&w->result->notes, "symbols: not all were found within %" PRId64 " ms\n",
			 budget_ms);
	else if (r == -EIO)
		buf_adds(&w->result->notes, "symbols: buildbeat-symbols failed\n");
	return r == -ETIME || r == -EIO ? 0 : r;
}

int symbolize(struct inspection *in, const struct symbolize_settings *settings,
	      struct symbolize_result *result, struct error *err)
{
	struct work w = { .in = in, .result = result };
	int r, end;

	*result = (struct symbolize_result){ 0 };
	in->n_frame_names = 0;
	for (size_t i = 0; i < in->n_frames; i++)
		in->frame[i].name = INSPECTION_NONE;
	r = collect_addresses(&w, settings->checked_only);
	if (r)
		goto out;
	r = describe_modules(&w, settings->pid);
	if (r)
		goto out;
	r = ask_symbols(&w, settings, err);
	end = r == -ENOMEM ? r : finish(&w);
	r = r ? r : end;
out:
	release_modules(&w);
	index_release(&w.names);
	free_all(w.address, w.frame, w.named);
	return r ? r : buf_error(&result->notes);
}
