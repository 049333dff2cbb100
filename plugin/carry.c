/* SPDX-License-Identifier: MIT */
#include "plugin/carry.h"

#include "base/array.h"
#include "base/cursor.h"
#include "base/search.h"
#include "command/build_tool.h"

#include <endian.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

/* Which build tools a program may start, by its name and arguments */

enum word {
	PLAIN,
	MAKE,			/* finds the recording by MAKEFILES, as buildbeat and bitbake */
	TOOL,			/* is, or runs, a host of the preload */
	HOST,			/* the same, and its children are tasks */
	SCRIPTED,		/* a shell or an interpreter: runs the file that the next word
				   names */
	WRAPPER,		/* executes the command after its own options */
	CMAKE,			/* a tool, except for cmake -E */
	QUIET,			/* a script that starts no build tool */
	COMPILER,
};

#define WORD_MAX 18

#define P(name, kind, called, carried) ROW_##carried(name)
#define ROW_NONE(name)
#define ROW_MAKE(name) { name, MAKE },
#define ROW_TOOL(name) { name, TOOL },
#define ROW_HOST(name) { name, HOST },
#define ROW_SCRIPTED(name) { name, SCRIPTED },
#define ROW_WRAPPER(name) { name, WRAPPER },
#define ROW_CMAKE(name) { name, CMAKE },
#define ROW_QUIET(name) { name, QUIET },
#define ROW_COMPILER(name) { name, COMPILER },

/* Pointers would have to be relocated by the loader. */
static const struct {
	char name[WORD_MAX + 1];
	unsigned char word;
} words[] = {
#include "command/programs.def"
};

/* The first eight bytes of a name as a number: numbers are in the order of the names. */
static uint64_t head_of(const char *name)
{
	uint64_t head;

	memcpy(&head, name, sizeof head);
	return be64toh(head);
}

/* Every process that a make starts is looked up: hence numbers, and names only if these are
 * equal. */
static enum word find_word(struct slice s)
{
	struct search_range search = search_all(ARRAY_SIZE(words));
	char name[WORD_MAX + 1] = "";
	uint64_t head;

	if (!s.len || s.len > WORD_MAX)
		return PLAIN;
	memcpy(name, s.p, s.len);
	head = head_of(name);
	while (search_next(&search)) {
		uint64_t other = head_of(words[search.at].name);

		search_past(&search, head > other || (head == other &&
			    memcmp(name, words[search.at].name, sizeof name) > 0));
	}
	return search.at < ARRAY_SIZE(words) && !memcmp(name, words[search.at].name, sizeof name) ?
	       words[search.at].word : PLAIN;
}

/* python3.11, make-4.4 */
static struct slice without_version(struct slice s)
{
	size_t n = s.len;

	while (n && ((s.p[n - 1] >= '0' && s.p[n - 1] <= '9') || s.p[n - 1] == '.'))
		n--;
	if (n && n < s.len && s.p[n - 1] == '-')
		n--;
	return (struct slice){ s.p, n };
}

static enum word word_of_name(struct slice s)
{
	enum word word = find_word(s);
	char last = s.len ? s.p[s.len - 1] : 'x';

	if (word == PLAIN && last >= '0' && last <= '9')
		word = find_word(without_version(s));
	return word;
}

static enum word word_of(const char *name)
{
	return word_of_name(slice_of(name));
}

/* x86_64-linux-gnu-gcc-12 */
static bool is_compiler(const char *name)
{
	struct slice s = slice_of(name);
	const char *dash;

	if (word_of_name(s) == COMPILER)
		return true;
	s = without_version(s);
	dash = memrchr(s.p, '-', s.len);
	if (!dash)
		return false;
	s = (struct slice){ dash + 1, (size_t)(s.p + s.len - dash - 1) };
	return find_word(s) == COMPILER;
}

static bool is_script_name(struct slice s)
{
	return s.len > 3 && (slice_ends(s, ".sh") || slice_ends(s, ".py") || slice_ends(s, ".pl") ||
			     slice_ends(s, ".rb") || slice_ends(s, ".bash"));
}

/* The result of all words so far, and the state after the last one. */
struct scan {
	enum carry found;
	enum word open;		/* SCRIPTED or CMAKE */
};

static void lead_to(struct scan *s, enum carry carry)
{
	if (carry > s->found)
		s->found = carry;
}

static void close_word(struct scan *s)
{
	if (s->open != PLAIN)
		lead_to(s, CARRY_HOST);
	s->open = PLAIN;
}

/* text is one word, name its part after the last slash. */
static void take_word(struct scan *s, struct slice text, struct slice name)
{
	enum word word = word_of_name(name);
	bool option = text.p[0] == '-';

	if (s->open == CMAKE && slice_is(text, "-E"))
		s->open = PLAIN;
	else if (s->open == SCRIPTED && word == QUIET)
		s->open = PLAIN;
	else if (!option)
		close_word(s);
	if (word == MAKE)
		lead_to(s, CARRY_TICKET);
	else if (word == TOOL || word == HOST || is_script_name(name))
		lead_to(s, CARRY_HOST);
	else if (word == SCRIPTED || word == CMAKE)
		s->open = word;
}

/* The bytes of words; all others separate words. */
static const bool in_word[256] = {
	['a' ... 'z'] = true, ['A' ... 'Z'] = true, ['0' ... '9'] = true, ['_'] = true,
	['.'] = true, ['+'] = true, ['-'] = true, ['/'] = true, ['@'] = true, ['%'] = true,
	['~'] = true, [0x80 ... 0xff] = true,
};

static void scan_text(struct scan *s, const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	while (*p && s->found != CARRY_HOST) {
		const unsigned char *start = p, *name = p;

		while (in_word[*p]) {
			if (*p++ == '/')
				name = p;
		}
		if (p > start)
			take_word(s, (struct slice){ (const char *)start, (size_t)(p - start) },
				  (struct slice){ (const char *)name, (size_t)(p - name) });
		else
			p++;
	}
}

enum carry carry_of_script(const char *text)
{
	struct scan s = { CARRY_NOWHERE, PLAIN };

	scan_text(&s, text);
	close_word(&s);
	return s.found;
}

/* "sh -c", with other options before the c. */
static bool runs_text(const char *shell, char *const argv[])
{
	size_t n = strlen(shell);

	return argv[1] && argv[2] && argv[1][0] == '-' && argv[1][1] &&
	       argv[1][strlen(argv[1]) - 1] == 'c' && n >= 2 && !strcmp(shell + n - 2, "sh");
}

/* The first word that is not an option is the script. */
static enum carry leads_scripted(const char *name, char *const argv[])
{
	size_t i = 1;

	if (runs_text(name, argv))
		return carry_of_script(argv[2]);
	while (argv[i] && argv[i][0] == '-')
		i++;
	if (!argv[i])
		return CARRY_HOST;
	name = carry_name(argv[i]);
	return find_word(slice_of(name)) == QUIET ? CARRY_NOWHERE : CARRY_HOST;
}

/* Programs of the system that are in no table start no build tools. */
static bool may_be_own_script(const char *path)
{
	return path[0] != '-' && strchr(path, '/') && strncmp(path, "/usr/", 5) &&
	       strncmp(path, "/bin/", 5) && strncmp(path, "/sbin/", 6);
}

/* After the options of a wrapper there is a command. */
static enum carry leads_wrapped(char *const argv[])
{
	struct scan s = { CARRY_NOWHERE, PLAIN };
	bool ask = false;

	for (size_t i = 0; argv[i] && s.found != CARRY_HOST; i++) {
		scan_text(&s, argv[i]);
		ask |= may_be_own_script(argv[i]);
	}
	close_word(&s);
	return s.found == CARRY_NOWHERE && ask ? CARRY_ASK : s.found;
}

/* cmake -E runs a command only for some of its words; the others are commands such as copy. */
static enum carry leads_cmake(char *const argv[])
{
	static const char *const runs[] = { "env", "time", "chdir" };

	if (!argv[1] || strcmp(argv[1], "-E"))
		return CARRY_HOST;
	for (size_t i = 0; argv[2] && i < ARRAY_SIZE(runs); i++) {
		if (!strcmp(argv[2], runs[i]))
			return leads_wrapped(argv + 3);
	}
	return CARRY_NOWHERE;
}

enum carry carry_leads(const char *file, char *const argv[])
{
	const char *name = carry_name(file);

	if (!argv || !argv[0])
		return CARRY_NOWHERE;
	switch (word_of(name)) {
	case MAKE: return CARRY_TICKET;
	case HOST: case TOOL: return CARRY_HOST;
	case CMAKE: return leads_cmake(argv);
	case SCRIPTED: return leads_scripted(name, argv);
	case WRAPPER: return leads_wrapped(argv + 1);
	case COMPILER: case QUIET: return CARRY_NOWHERE;
	case PLAIN: break;
	}
	return may_be_own_script(file) && !is_compiler(name) ? CARRY_ASK : CARRY_NOWHERE;
}

/* Names */

const char *carry_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool carry_is_buildbeat(const char *name)
{
	return !strcmp(name, "buildbeat");
}

bool carry_is_bitbake(const char *name)
{
	return build_tool_of(name)->recipes;
}

bool carry_is_make(const char *name)
{
	return word_of(name) == MAKE && !carry_is_buildbeat(name) && !carry_is_bitbake(name);
}

bool carry_reads_ticket(const char *name)
{
	return word_of(name) == MAKE;
}

bool carry_is_host(const char *name)
{
	return word_of(name) == HOST;
}

bool carry_is_interpreter(const char *name)
{
	return word_of(name) == SCRIPTED;
}

bool carry_is_wrapper(const char *path)
{
	return word_of(carry_name(path)) == WRAPPER;
}

enum carry carry_of_interpreter(const char *path)
{
	switch (word_of(carry_name(path))) {
	case MAKE: return CARRY_TICKET;
	case HOST: case TOOL: case CMAKE: case SCRIPTED: case WRAPPER: return CARRY_HOST;
	case QUIET: case COMPILER: return CARRY_NOWHERE;
	case PLAIN: break;
	}
	return strchr(path, '/') ? CARRY_ASK : CARRY_NOWHERE;
}
