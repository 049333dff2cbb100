/* SPDX-License-Identifier: MIT */
#include "symbols/symbolizer.h"

#include "symbols/symbol_cache.h"

#include "base/trust.h"

/* Is this table of the cache as good as one made now? */
static bool is_current(const struct symtab *t, const struct module_files *m)
{
	const struct symtab_head *head = t->memory;
	const struct stat *st = &m->file.st;

	if (!m->file.elf)
		return true;
	return head->source.device == st->st_dev && head->source.inode == st->st_ino &&
	       head->source.size == (uint64_t)st->st_size &&
	       head->source.mtime_ns == st->st_mtim.tv_sec * INT64_C(1000000000) + st->st_mtim.tv_nsec &&
	       head->source.ctime_ns == st->st_ctim.tv_sec * INT64_C(1000000000) + st->st_ctim.tv_nsec &&
	       (head->complete || !m->debug.elf || !elf_file_has_symbols(&m->debug));
}

static int make_table(struct symbolizer *s, int cache_fd, const char *id)
{
	const struct module_files *m = &s->files;
	int r;

	if (m->file.elf)
		r = symtab_make(&s->symtab, &m->file, m->debug.elf ? &m->debug : NULL);
	else	/* its debug information alone has the symbols too */
		r = m->debug.elf ? symtab_make(&s->symtab, &m->debug, NULL) : 0;
	if (!r && cache_fd >= 0 && *id && m->file.elf && m->file.fd >= 0 &&
	    trust_is_private(&m->file.st))
		symbol_cache_store(cache_fd, id, &s->symtab);
	return r;
}

int symbolizer_open(struct symbolizer *s, int cache_fd)
{
	int r = module_files_open(&s->files);
	const char *id = module_files_id(&s->files);

	if (r)
		return r;
	if (s->files.file.elf)	/* an archive keeps only a part of a long one */
		id = s->files.file.build_id;
	if (cache_fd >= 0 && *id && symbol_cache_load(&s->symtab, cache_fd, id)) {
		if (is_current(&s->symtab, &s->files)) {
			if (!s->files.file.elf)
				buf_clear(&s->files.note);
			return 0;
		}
		symtab_release(&s->symtab);
	}
	return make_table(s, cache_fd, id);
}

void symbolizer_close(struct symbolizer *s)
{
	debug_info_free(s->debug);
	symtab_release(&s->symtab);
	module_files_close(&s->files);
}

bool symbolizer_has_debug(struct symbolizer *s)
{
	const struct elf_file *f = module_files_debug(&s->files);

	if (!s->debug_asked && f) {
		s->debug = debug_info_new(f);
		s->debug_shift = s->files.file.elf ? s->files.file.load - f->load : 0;
	}
	s->debug_asked = true;
	return s->debug != NULL;
}

static size_t find_debug(struct symbolizer *s, uint64_t address, struct symbolizer_frame *frame)
{
	struct debug_frame found[DEBUG_FRAMES_MAX];
	size_t n = debug_info_find(s->debug, address - s->debug_shift, found);

	for (size_t i = 0; i < n; i++)
		frame[i] = (struct symbolizer_frame){ found[i].name, found[i].source, found[i].line };
	/* the symbol says more than a name without its class */
	if (n && !found[n - 1].linkage) {
		uint64_t start;
		const char *name = symtab_find(&s->symtab, address, &start);

		frame[n - 1].name = name ? name : frame[n - 1].name;
	}
	return n;
}

size_t symbolizer_find(struct symbolizer *s, uint64_t address, bool debug,
		       struct symbolizer_frame *frame, uint64_t *start)
{
	size_t n = debug && symbolizer_has_debug(s) ? find_debug(s, address, frame) : 0;

	*start = 0;
	if (n && frame[n - 1].name)
		return n;
	*frame = (struct symbolizer_frame){ .name = symtab_find(&s->symtab, address, start) };
	return frame->name ? 1 : 0;
}
