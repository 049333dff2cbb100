/* SPDX-License-Identifier: MIT */
#include "symbols/module_files.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>
#include <sys/auxv.h>

#define DEBUG_DIR "/usr/lib/debug"
#define DELETED " (deleted)"
#define VDSO_MAX (1 << 20)

static void add_reason(struct module_files *m, const char *what)
{
	if (m->note.len)
		return;
	buf_adds(&m->note, what);
}

/* Is this file the module's? */
static bool try_file(struct module_files *m, const char *path)
{
	int r = elf_file_open(&m->file, path);

	if (!r && m->build_id && *m->build_id && !elf_file_same_id(m->build_id, m->file.build_id)) {
		elf_file_close(&m->file);
		add_reason(m, "the file has another build-id: it was replaced");
		return false;
	}
	if (r == -EACCES)
		add_reason(m, "the file cannot be read");
	else if (r == -ENOEXEC)
		add_reason(m, "the file is not an ELF file");
	return !r;
}

static bool try_vdso(struct module_files *m)
{
	const char *vdso = (const char *)getauxval(AT_SYSINFO_EHDR);
	size_t size;

	if (!vdso)
		return false;
	if (sizeof(void *) == 8) {
		const Elf64_Ehdr *head = (const Elf64_Ehdr *)vdso;

		size = head->e_shoff + (size_t)head->e_shnum * head->e_shentsize;
	} else {
		const Elf32_Ehdr *head = (const Elf32_Ehdr *)vdso;

		size = head->e_shoff + (size_t)head->e_shnum * head->e_shentsize;
	}
	if (size > VDSO_MAX || elf_file_of_memory(&m->file, vdso, size))
		return false;
	if (!m->build_id || !*m->build_id || elf_file_same_id(m->build_id, m->file.build_id))
		return true;
	elf_file_close(&m->file);
	add_reason(m, "it is of another kernel");
	return false;
}

static const char *last_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static int find_file(struct module_files *m, const char *path)
{
	struct buf at = BUF_INIT;
	bool found;
	int r;

	if (!strcmp(path, "[vdso]")) {
		if (!try_vdso(m))
			add_reason(m, "it is not here");
		return 0;
	}
	found = *path == '/' && try_file(m, path);
	for (size_t i = 0; i < m->n_others && !found; i++)
		found = try_file(m, m->other[i]);
	for (size_t i = 0; i < 2 * m->n_dirs && !found && *path == '/'; i++) {
		buf_clear(&at);
		buf_adds(&at, m->dir[i / 2]);
		buf_adds(&at, i % 2 ? "/" : "");
		buf_adds(&at, i % 2 ? last_name(path) : path);
		if (!buf_error(&at))
			found = try_file(m, buf_str(&at));
	}
	if (found)
		buf_clear(&m->note);
	else
		add_reason(m, *path == '/' ? "no such file" : "it has no file");
	r = buf_error(&at);
	buf_release(&at);
	return r;
}

/* Debug information that has what the file itself lacks, of the same build. */
static bool try_debug(struct module_files *m, struct buf *path, const uint32_t *crc)
{
	uint32_t sum;
	bool same;

	if (buf_error(path) || elf_file_open(&m->debug, buf_str(path)))
		return false;
	if (*module_files_id(m))
		same = elf_file_same_id(module_files_id(m), m->debug.build_id);
	else
		same = crc && elf_file_crc(&m->debug, &sum) && sum == *crc;
	if (m->file.elf && m->debug.st.st_ino == m->file.st.st_ino &&
	    m->debug.st.st_dev == m->file.st.st_dev)
		same = false;
	else if (!same)
		add_reason(m, "its debug information is of another build");
	if (same && (elf_file_has_symbols(&m->debug) || elf_file_has_debug(&m->debug)))
		return true;
	elf_file_close(&m->debug);
	return false;
}

static bool is_hexadecimal(const char *id)
{
	while (isxdigit((unsigned char)*id))
		id++;
	return !*id;
}

static const char *dir_of(const struct module_files *m, size_t i)
{
	return i < m->n_dirs ? m->dir[i] : DEBUG_DIR;
}

static bool find_by_id(struct module_files *m, struct buf *at)
{
	const char *id = module_files_id(m);
	bool found = false;

	if (strlen(id) < 4 || !is_hexadecimal(id))
		return false;
	for (size_t i = 0; i <= m->n_dirs && !found; i++) {
		buf_clear(at);
		buf_addf(at, "%s/.build-id/%.2s/%s.debug", dir_of(m, i), id, id + 2);
		found = try_debug(m, at, NULL);
	}
	return found;
}

static bool find_by_link(struct module_files *m, const char *path, struct buf *at)
{
	const char *name;
	int length = (int)(last_name(path) - path);
	uint32_t crc;
	bool found = false;

	if (!m->file.elf || !elf_file_debuglink(&m->file, &name, &crc))
		return false;
	for (size_t i = 0; i < 2 + 2 * (m->n_dirs + 1) && !found; i++) {
		buf_clear(at);
		if (i < 2)
			buf_addf(at, "%.*s%s%s", length, path, i ? ".debug/" : "", name);
		else if (i % 2)
			buf_addf(at, "%s/%s", dir_of(m, i / 2 - 1), name);
		else
			buf_addf(at, "%s%.*s%s", dir_of(m, i / 2 - 1), length, path, name);
		found = try_debug(m, at, &crc);
	}
	return found;
}

int module_files_open(struct module_files *m)
{
	size_t length = strlen(m->path);
	struct buf path = BUF_INIT, at = BUF_INIT;
	int r;

	m->file.fd = m->debug.fd = -1;
	if (length > strlen(DELETED) && !strcmp(m->path + length - strlen(DELETED), DELETED))
		length -= strlen(DELETED);
	buf_add(&path, m->path, length);
	r = buf_error(&path);
	if (!r)
		r = find_file(m, buf_str(&path));
	if (!r && (!m->file.elf || !elf_file_has_symbols(&m->file) ||
		   !elf_file_has_debug(&m->file))) {
		if (!find_by_id(m, &at))
			find_by_link(m, buf_str(&path), &at);
		r = buf_error(&at);
	}
	if (m->debug.elf)
		buf_clear(&m->note);
	buf_release(&at);
	buf_release(&path);
	return r;
}

void module_files_close(struct module_files *m)
{
	elf_file_close(&m->file);
	elf_file_close(&m->debug);
	buf_release(&m->note);
}

const char *module_files_id(const struct module_files *m)
{
	if (m->build_id && *m->build_id)
		return m->build_id;
	return m->file.elf ? m->file.build_id : "";
}

const struct elf_file *module_files_debug(const struct module_files *m)
{
	if (m->file.elf && elf_file_has_debug(&m->file))
		return &m->file;
	return m->debug.elf && elf_file_has_debug(&m->debug) ? &m->debug : NULL;
}
