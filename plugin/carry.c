#include "carry.h"

#include "cursor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Which commands may lead to another build tool */

enum word {
	PLAIN,
	MAKE,			/* finds the recording by MAKEFILES, as buildbeat and bitbake */
	TOOL,			/* is, or runs, a host of the preload */
	HOST,			/* the same, and its children are tasks */
	SCRIPTED,		/* runs what the next word names */
	CMAKE,			/* a tool, but for cmake -E */
	QUIET,			/* a script that leads nowhere */
	COMPILER,
};

/* Sorted by name. */
static const struct {
	const char *name;
	enum word word;
} words[] = {
	{ "ant", TOOL }, { "ar", COMPILER }, { "as", COMPILER }, { "ash", SCRIPTED },
	{ "autoreconf", TOOL }, { "b2", HOST }, { "bash", SCRIPTED }, { "bazel", TOOL },
	{ "bitbake", MAKE }, { "bjam", HOST }, { "buildbeat", MAKE }, { "c++", COMPILER },
	{ "cargo", HOST }, { "cc", COMPILER }, { "clang", COMPILER }, { "clang++", COMPILER },
	{ "cmake", CMAKE }, { "collect2", COMPILER }, { "compile", QUIET },
	{ "config.guess", QUIET }, { "config.status", QUIET }, { "config.sub", QUIET },
	{ "configure", TOOL }, { "cpack", TOOL }, { "ctest", HOST }, { "dash", SCRIPTED },
	{ "debuild", TOOL }, { "depcomp", QUIET }, { "dpkg-buildpackage", TOOL },
	{ "g++", COMPILER }, { "gcc", COMPILER }, { "gfortran", COMPILER }, { "gmake", MAKE },
	{ "gnumake", MAKE }, { "go", TOOL }, { "gradle", TOOL }, { "gradlew", TOOL },
	{ "install-sh", QUIET }, { "just", HOST }, { "ksh", SCRIPTED }, { "ld", COMPILER },
	{ "libtool", QUIET }, { "lua", SCRIPTED }, { "make", MAKE }, { "meson", TOOL },
	{ "missing", QUIET }, { "mkinstalldirs", QUIET }, { "mksh", SCRIPTED }, { "mvn", TOOL },
	{ "n2", HOST }, { "ninja", HOST }, { "ninja-build", HOST }, { "node", SCRIPTED },
	{ "npm", TOOL }, { "nvcc", COMPILER }, { "perl", SCRIPTED }, { "pip", TOOL },
	{ "python", SCRIPTED }, { "ranlib", COMPILER }, { "remake", MAKE },
	{ "rpmbuild", TOOL }, { "ruby", SCRIPTED }, { "rustc", COMPILER }, { "samu", HOST },
	{ "scons", HOST }, { "sh", SCRIPTED }, { "tclsh", SCRIPTED }, { "tox", TOOL },
	{ "tup", TOOL }, { "waf", HOST }, { "xmake", HOST }, { "ylwrap", QUIET },
	{ "zsh", SCRIPTED },
};

#define WORD_MAX 18

static enum word find_word(struct slice s)
{
	size_t low = 0, high = sizeof words / sizeof *words;
	char name[WORD_MAX + 1];

	if (!s.len || s.len > WORD_MAX)
		return PLAIN;
	memcpy(name, s.p, s.len);
	name[s.len] = '\0';
	while (low < high) {
		size_t middle = (low + high) / 2;
		int r = strcmp(name, words[middle].name);

		if (!r)
			return words[middle].word;
		if (r < 0)
			high = middle;
		else
			low = middle + 1;
	}
	return PLAIN;
}

static bool ends_with(struct slice s, const char *tail)
{
	size_t n = strlen(tail);

	return s.len > n && !memcmp(s.p + s.len - n, tail, n);
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

/* x86_64-linux-gnu-gcc-12 */
static bool is_compiler(const char *path)
{
	const char *name = carry_name(path);
	struct slice s = { name, strlen(name) };
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
	return s.len > 3 && (ends_with(s, ".sh") || ends_with(s, ".py") || ends_with(s, ".pl") ||
			     ends_with(s, ".rb") || ends_with(s, ".bash"));
}

/* Of all words so far: what they lead to, and what the last one left open. */
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

/* One word: text, and what is behind its last slash. */
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

/* What a word may consist of; every other byte parts words. */
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
static bool runs_text(char *const argv[])
{
	const char *name = carry_name(argv[0]);
	size_t n = strlen(name);

	return argv[1] && argv[1][0] == '-' && argv[1][1] &&
	       argv[1][strlen(argv[1]) - 1] == 'c' && n >= 2 && !strcmp(name + n - 2, "sh");
}

enum carry carry_of(char *const argv[])
{
	struct scan s = { CARRY_NOWHERE, PLAIN };

	if (!argv || !argv[0] || is_compiler(argv[0]))
		return CARRY_NOWHERE;
	for (size_t i = runs_text(argv) ? 2 : 0; argv[i] && s.found != CARRY_HOST; i++)
		scan_text(&s, argv[i]);
	close_word(&s);
	return s.found;
}

/* Names */

const char *carry_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static enum word word_of(const char *name)
{
	return word_of_name((struct slice){ name, strlen(name) });
}

bool carry_is_buildbeat(const char *name)
{
	return !strcmp(name, "buildbeat");
}

bool carry_is_bitbake(const char *name)
{
	return !strcmp(name, "bitbake");
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

bool carry_find(char out[PATH_MAX], const char *file)
{
	const char *dirs = getenv("PATH");

	if (strchr(file, '/'))
		return (size_t)snprintf(out, PATH_MAX, "%s", file) < PATH_MAX;
	if (!dirs)
		dirs = "/bin:/usr/bin";
	while (*dirs) {
		size_t n = strcspn(dirs, ":");

		if ((size_t)snprintf(out, PATH_MAX, "%.*s%s%s", (int)n, dirs, n ? "/" : "",
				     file) < PATH_MAX && !access(out, X_OK))
			return true;
		dirs += n + (dirs[n] == ':');
	}
	return false;
}
