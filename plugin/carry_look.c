/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "plugin/carry_elf.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The kind of a program, by the file that would be executed */

#define SCRIPTS_MAX 4		/* an interpreter may be a script */
#define CACHE_SLOTS 64
#define SCRIPT_LINE_MAX 256		/* the kernel reads no more of a script's first line */

/* The result for a file: a value of enum carry_fit, or this one. */
#define SCRIPT (CARRY_MUST_NOT + 1)
#define FOUND_MASK 3u

/*
 * The results, with a hash of everything that changes with the file. A ninja starts the same few
 * programs again and again; of two that have the same slot the later one gets it.
 */
static _Atomic uint64_t cache[CACHE_SLOTS];

static uint64_t mix_number(uint64_t h, uint64_t n)
{
	h = (h ^ n) * UINT64_C(0x9e3779b97f4a7c15);
	return h ^ h >> 29;
}

static uint64_t identity(const struct stat *st)
{
	uint64_t h = mix_number(1, st->st_dev);

	h = mix_number(h, st->st_ino);
	h = mix_number(h, (uint64_t)st->st_size);
	h = mix_number(h, (uint64_t)st->st_mtim.tv_sec << 30 ^ (uint64_t)st->st_mtim.tv_nsec);
	h = mix_number(h, (uint64_t)st->st_ctim.tv_sec << 30 ^ (uint64_t)st->st_ctim.tv_nsec);
	return h & ~(uint64_t)FOUND_MASK;
}

static unsigned read_file(struct carry_look *look, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	unsigned found = CARRY_CANNOT;
	size_t len;
	ssize_t n;

	if (fd < 0)
		return CARRY_CANNOT;
	n = pread(fd, look->head, CARRY_HEAD_MAX, 0);
	len = n > 0 ? (size_t)n : 0;
	look->head[len] = '\0';
	if (len > 2 && look->head[0] == '#' && look->head[1] == '!')
		found = SCRIPT;
	else if (carry_elf_is(look->head, len))
		found = carry_elf_fit(fd, look->head, len);
	close(fd);
	return found;
}

/* The first line of a script is then in look->head. */
static unsigned examine(struct carry_look *look, const char *path)
{
	_Atomic uint64_t *slot;
	uint64_t id, known;
	struct stat st;
	unsigned found;

	if (stat(path, &st) || !S_ISREG(st.st_mode) || (st.st_mode & (S_ISUID | S_ISGID)))
		return CARRY_CANNOT;
	id = identity(&st);
	slot = &cache[(id >> 32) % CACHE_SLOTS];
	known = atomic_load_explicit(slot, memory_order_relaxed);
	if ((known & ~(uint64_t)FOUND_MASK) == id && (known & FOUND_MASK) != SCRIPT)
		return known & FOUND_MASK;
	found = read_file(look, path);
	atomic_store_explicit(slot, id | found, memory_order_relaxed);
	return found;
}

/* Scripts */

static char *end_word(char *p)
{
	p += strcspn(p, " \t\r");
	if (*p)
		*p++ = '\0';
	return p + strspn(p, " \t\r");
}

/* The interpreter after "#!", terminated in place, and the rest of the line. */
static const char *interpreter(char *head, char **rest)
{
	char *p;

	head[SCRIPT_LINE_MAX] = '\0';
	head[strcspn(head, "\n")] = '\0';
	p = head + 2 + strspn(head + 2, " \t");
	*rest = end_word(p);
	return p;
}

/* The program that "env" with this rest of a line executes. */
static const char *program_of_env(char *rest)
{
	while (*rest) {
		char *word = rest;

		rest = end_word(rest);
		if (word[0] != '-' && !strchr(word, '='))
			return word;
	}
	return "";
}

/* What the script may start, by the first interpreter whose name is known. */
static enum carry script_leads(struct carry_look *look, const char *path)
{
	for (int i = 0; i < SCRIPTS_MAX && examine(look, path) == SCRIPT; i++) {
		char *rest;
		enum carry carry;

		path = interpreter(look->head, &rest);
		carry = carry_of_interpreter(path);
		if (!strcmp(carry_name(path), "env"))
			carry = carry_of_interpreter(program_of_env(rest));
		if (carry != CARRY_ASK)
			return carry;
	}
	return CARRY_NOWHERE;
}

static enum carry_fit fit(struct carry_look *look, const char *path)
{
	for (int i = 0; i < SCRIPTS_MAX; i++) {
		unsigned found = examine(look, path);
		char *rest;

		if (found != SCRIPT)
			return found;
		path = interpreter(look->head, &rest);
	}
	return CARRY_CANNOT;
}

static enum carry carry_if_fits(enum carry_fit f)
{
	return f == CARRY_FITS ? CARRY_HOST : f == CARRY_CANNOT ? CARRY_TICKET : CARRY_NOWHERE;
}

/* The program is a script, or a wrapper that may execute one. */
static enum carry ask_program(struct carry_look *look, char *const argv[])
{
	enum carry carry = script_leads(look, look->path);

	for (size_t i = 1; carry == CARRY_NOWHERE && carry_is_wrapper(look->path) && argv[i]; i++) {
		if (argv[i][0] != '-' && strchr(argv[i], '/'))
			carry = script_leads(look, argv[i]);
	}
	return carry;
}

enum carry carry_of(struct carry_look *look, const char *file, char *const argv[])
{
	enum carry carry = carry_leads(file, argv);

	if (carry == CARRY_NOWHERE || carry == CARRY_TICKET)
		return carry;
	if (!file_find_program(look->path, file))
		return CARRY_NOWHERE;
	if (carry == CARRY_ASK)
		carry = ask_program(look, argv);
	return carry == CARRY_HOST ? carry_if_fits(fit(look, look->path)) : carry;
}

enum carry carry_of_host(struct carry_look *look, const char *file)
{
	if (carry_reads_ticket(carry_name(file)))
		return CARRY_TICKET;
	return file_find_program(look->path, file) ? carry_if_fits(fit(look, look->path)) : CARRY_NOWHERE;
}

enum carry_fit carry_fit_of(const char *path)
{
	struct carry_look look;

	return fit(&look, path);
}
