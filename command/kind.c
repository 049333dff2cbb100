/* SPDX-License-Identifier: MIT */
#include "command/kind.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/search.h"
#include "command/shell.h"

#include <string.h>

#define NESTING_MAX 4

/* From least to most significant: of several commands in a line the highest wins. */
enum kind {
	NONE, SHELL, INSTALL, OTHER, SCRIPT, GENERATE, DOCUMENT, TEST, CONFIGURE, MAKE,
	ARCHIVE, LINK, COMPILE,
	/* Programs whose arguments decide. */
	COMPILER, FILTER, INTERPRETER, SH, WRAPPER, LIBTOOL, CMAKE, MESON, TOOL, KEYWORD,
	SKIP,
};

static const char *const names[] = {
	[NONE] = "other", [SHELL] = "shell", [INSTALL] = "install", [OTHER] = "other",
	[SCRIPT] = "script", [GENERATE] = "generate", [DOCUMENT] = "document",
	[TEST] = "test", [CONFIGURE] = "configure", [MAKE] = "make",
	[ARCHIVE] = "archive", [LINK] = "link", [COMPILE] = "compile",
};

struct program {
	const char *name;
	enum kind kind;
};

#define P(name, kind, called, carried) { name, kind },
static const struct program programs[] = {
#include "command/programs.def"
};

static int compare_name(struct slice name, const char *other)
{
	size_t i = 0;

	while (i < name.len && name.p[i] == other[i] && other[i])
		i++;
	if (i == name.len)
		return other[i] ? -1 : 0;
	return (unsigned char)name.p[i] < (unsigned char)other[i] ? -1 : 1;
}

static enum kind find_program(struct slice name)
{
	struct search_range s = search_all(ARRAY_SIZE(programs));

	while (search_next(&s))
		search_past(&s, compare_name(name, programs[s.at].name) > 0);
	return s.at < ARRAY_SIZE(programs) && !compare_name(name, programs[s.at].name) ?
	       programs[s.at].kind : NONE;
}

/* Without a version at the end: "-12", "-3.11", or digits as in python3.11. */
static struct slice without_version(struct slice name)
{
	size_t n = name.len;

	while (n && ((name.p[n - 1] >= '0' && name.p[n - 1] <= '9') || name.p[n - 1] == '.'))
		n--;
	if (n && name.p[n - 1] == '-')
		n--;
	return n ? (struct slice){ name.p, n } : name;
}

/* x86_64-linux-gnu-gcc-12 -> gcc */
static enum kind kind_of_program(struct slice name)
{
	enum kind kind = find_program(name);
	const char *dash;

	if (kind == NONE) {
		name = without_version(name);
		kind = find_program(name);
	}
	dash = kind == NONE ? memrchr(name.p, '-', name.len) : NULL;
	if (dash) {
		name = (struct slice){ dash + 1, (size_t)(name.p + name.len - dash - 1) };
		kind = find_program(name);
		if (kind != COMPILER && kind != ARCHIVE && kind != LINK && kind != COMPILE)
			kind = NONE;
	}
	return kind;
}

/* Programs whose arguments decide */

static bool is_source(struct slice word)
{
	static const char *const tails[] = { ".c", ".cc", ".cpp", ".cxx", ".C", ".S", ".s",
		".m", ".f", ".f90", ".F90", ".d", ".hs", ".ml", ".cu", ".zig" };

	for (size_t i = 0; i < ARRAY_SIZE(tails); i++) {
		if (slice_ends(word, tails[i]))
			return true;
	}
	return false;
}

static bool is_object(struct slice word)
{
	return slice_ends(word, ".o") || slice_ends(word, ".a") || slice_ends(word, ".lo") ||
	       slice_ends(word, ".la") || slice_ends(word, ".so") || slice_ends(word, ".obj");
}

/* The usual case, fast: "-c" is usually near the end. */
static bool has_dash_c(const struct cursor *c)
{
	const char *p = c->end;
	size_t n;

	do {
		p = memrchr(c->p, ' ', (size_t)(p - c->p));
	} while (p && (c->end - p < 4 || memcmp(p, " -c ", 4)));
	n = p ? (size_t)(p + 1 - c->p) : 0;
	return n && !memchr(c->p, ';', n) && !memchr(c->p, '&', n) && !memchr(c->p, '\n', n);
}

/*
 * Questions: what a program is, or what it would do. Some are one wherever they are in the
 * command; others only if they are alone, as gcc -v is no question in "gcc -v a.o".
 */
static bool is_question(struct slice word)
{
	static const char *const questions[] = {
		"--version", "-version", "--help", "--target-help", "-dumpmachine",
		"-dumpversion", "-dumpfullversion", "-dumpspecs", "-###", "-vV", "-qversion",
	};

	if (slice_starts(word, "-print-") || slice_starts(word, "--print") ||
	    slice_starts(word, "--help="))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(questions); i++) {
		if (slice_is(word, questions[i]))
			return true;
	}
	return false;
}

static bool is_redirection(struct slice word)
{
	return word.p[0] == '>' || word.p[0] == '<' ||
	       (word.len > 1 && word.p[0] >= '0' && word.p[0] <= '9' && word.p[1] == '>');
}

/* Does the program only answer questions? */
static bool only_answers(struct cursor c)
{
	struct slice word;
	bool question = false, brief = false;

	while (shell_word(&c, &word)) {
		if (is_redirection(word))
			continue;
		if (is_question(word)) {
			question = true;
			if (slice_is(word, "--print"))
				shell_word(&c, &word);
			continue;
		}
		if (slice_is(word, "-v") || slice_is(word, "-V") || slice_is(word, "-h"))
			brief = true;
		else
			return question && word.p[0] == '-';
	}
	return question || brief;
}

/* The answers of cargo, go and others that have commands. */
static bool is_answer(struct slice command)
{
	static const char *const answers[] = { "version", "help", "env", "list", "metadata",
		"--list", "-V", "-vV", "--version", "--help" };

	for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
		if (slice_is(command, answers[i]))
			return true;
	}
	return false;
}

static enum kind kind_of_compiler(struct cursor *c)
{
	bool sources = false, objects = false, output = false, verbose = false, other = false;
	struct slice word;

	if (has_dash_c(c))
		return memmem(c->p, (size_t)(c->end - c->p), " -### ", 6) ? OTHER : COMPILE;
	while (shell_word(c, &word)) {
		if (is_redirection(word))
			continue;
		if (is_question(word))
			return OTHER;
		if (slice_is(word, "-v") || slice_is(word, "-V"))
			verbose = true;
		else
			other = true;
		if (word.len == 2 && word.p[0] == '-' && strchr("cSEM", word.p[1]))
			return COMPILE;
		if (slice_is(word, "-fsyntax-only") || slice_is(word, "-MM") ||
		    slice_is(word, "-emit-obj"))
			return COMPILE;
		if (!output)
			objects |= is_object(word);
		sources |= is_source(word);
		output = slice_is(word, "-o");
	}
	if (verbose && !other)
		return OTHER;
	return sources && !objects ? COMPILE : LINK;
}

/* Does one of the words send output to a file. */
static bool writes_file(struct cursor *c)
{
	struct slice word;
	bool found = false;

	while (!found && shell_word(c, &word)) {
		const char *arrow = memchr(word.p, '>', word.len);
		struct slice to;

		if (!arrow || shell_begins_quoted(word.p, word.p + word.len) ||
		    (arrow > word.p && arrow[-1] == '2'))
			continue;
		to = (struct slice){ arrow + 1, (size_t)(word.p + word.len - arrow - 1) };
		if (!to.len && !shell_word(c, &to))
			break;
		found = !slice_starts(to, "&") && !slice_starts(to, "/dev/");
	}
	return found;
}

static enum kind kind_of_interpreter(struct cursor *c)
{
	struct slice word;
	struct cursor rest = *c;

	while (shell_word(c, &word)) {
		if (slice_is(word, "-m") && shell_word(c, &word))
			return slice_is(word, "pytest") || slice_is(word, "unittest") ? TEST : SCRIPT;
		if (word.p[0] != '-')
			break;
	}
	return writes_file(&rest) ? GENERATE : SCRIPT;
}

/* Programs whose first argument says what they do. */
struct argument {
	const char *word;
	enum kind kind;
};

static const struct argument of_cmake[] = {
	{ "--build", MAKE }, { "--install", INSTALL }, { "-P", SCRIPT }, { "-E", SHELL }, { NULL, NONE },
}, of_meson[] = {
	{ "compile", MAKE }, { "test", TEST }, { "install", INSTALL }, { "--internal", GENERATE }, { NULL, NONE },
}, of_cargo_or_go[] = {
	{ "test", TEST }, { "bench", TEST }, { "generate", GENERATE }, { "doc", DOCUMENT }, { NULL, NONE },
}, of_libtool[] = {
	{ "--mode=compile", COMPILE }, { "--mode=link", LINK }, { "--mode=install", INSTALL }, { NULL, NONE },
};

/* Libtool has its mode anywhere; of the others only the first argument counts. */
static enum kind kind_of_argument(struct cursor *c, const struct argument *known, enum kind otherwise)
{
	struct slice word;

	while (shell_word(c, &word)) {
		if (known == of_cargo_or_go && is_answer(word))
			return OTHER;
		for (const struct argument *a = known; a->word; a++) {
			if (slice_is(word, a->word))
				return a->kind;
		}
		if (known != of_libtool)
			break;
	}
	return otherwise;
}

/* Those that look into a command set *program where they find the one that decides. */
static enum kind kind_of_text(struct cursor *c, unsigned nesting, struct slice *decisive,
			      struct slice *program);

/* -c, -ec, -xec ... */
static bool is_command_option(struct slice word)
{
	return word.len >= 2 && word.p[0] == '-' && word.p[1] != '-' &&
	       word.p[word.len - 1] == 'c';
}

static enum kind kind_of_word(struct slice word, struct cursor *c, unsigned nesting,
			      struct slice *program);

static enum kind kind_of_sh(struct cursor *c, unsigned nesting, struct slice *program)
{
	struct slice word;
	enum kind kind;

	while (shell_word(c, &word)) {
		if (is_command_option(word) && shell_word(c, &word)) {
			struct cursor text;

			shell_unquote(&word);
			cursor_init(&text, word.p, word.len);
			return kind_of_text(&text, nesting + 1, NULL, program);
		}
		if (word.p[0] == '-' || word.p[0] == '+')
			continue;
		/* A file: libtool, test-driver, configure, or any script. */
		kind = kind_of_word(word, c, nesting + 1, program);
		return kind == OTHER || kind == NONE ? SCRIPT : kind;
	}
	return SHELL;
}

/* The command after a wrapper's own options and arguments. */
static enum kind kind_of_wrapped(struct slice wrapper, struct cursor *c, unsigned nesting,
				 struct slice *program)
{
	unsigned own = slice_is(wrapper, "flock") || slice_is(wrapper, "timeout") ||
		       slice_is(wrapper, "taskset") ? 1 : slice_is(wrapper, "buildbeat") ? 2 : 0;
	struct slice word;

	while (shell_word(c, &word)) {
		if (slice_is(word, "-u") && slice_is(wrapper, "env")) {
			shell_word(c, &word);
		} else if (word.p[0] == '-' || shell_is_assignment(word)) {
			continue;
		} else if (own) {
			own--;
		} else if (word.p[0] >= '0' && word.p[0] <= '9') {
			continue;
		} else if (slice_is(wrapper, "eval") && shell_unquote(&word)) {
			struct cursor text;

			cursor_init(&text, word.p, word.len);
			return kind_of_text(&text, nesting + 1, NULL, program);
		} else {
			return kind_of_word(word, c, nesting + 1, program);
		}
	}
	return SHELL;
}

/* Names that test programs usually have. */
static enum kind kind_by_name(struct slice name)
{
	if (slice_starts(name, "test_") || slice_starts(name, "test-") ||
	    slice_starts(name, "check_") || slice_ends(name, "_test") ||
	    slice_ends(name, "-test") || slice_ends(name, "_tests"))
		return TEST;
	if (slice_ends(name, ".py") || slice_ends(name, ".pl") || slice_ends(name, ".sh") ||
	    slice_ends(name, ".rb"))
		return SCRIPT;
	return OTHER;
}

/* The program of a simple command; c has its arguments. */
static enum kind kind_of_word(struct slice word, struct cursor *c, unsigned nesting,
			      struct slice *program)
{
	struct slice name = shell_base_name(word);
	enum kind kind = nesting < NESTING_MAX ? kind_of_program(name) : OTHER;

	*program = name;
	if (kind >= GENERATE && kind <= COMPILE && only_answers(*c))
		return OTHER;
	switch (kind) {
	case NONE: return kind_by_name(name);
	case COMPILER: return kind_of_compiler(c);
	case FILTER: return writes_file(c) ? GENERATE : SHELL;
	case INTERPRETER: return only_answers(*c) ? OTHER : kind_of_interpreter(c);
	case SH: return kind_of_sh(c, nesting, program);
	case WRAPPER: return kind_of_wrapped(name, c, nesting, program);
	case LIBTOOL: return kind_of_argument(c, of_libtool, OTHER);
	case CMAKE: return only_answers(*c) ? OTHER : kind_of_argument(c, of_cmake, CONFIGURE);
	case MESON: return only_answers(*c) ? OTHER : kind_of_argument(c, of_meson, CONFIGURE);
	case TOOL: return kind_of_argument(c, of_cargo_or_go, MAKE);
	case SKIP:
	case KEYWORD: return SHELL;
	default: return kind;
	}
}

/* From do and elif to until and while. */
static bool is_keyword(struct slice word)
{
	return word.len <= 5 && strchr("deituw", word.p[0]) && find_program(word) == KEYWORD;
}

/* One simple command: its first word that is not an assignment and not a
 * keyword of the shell is the program. */
static enum kind kind_of_simple(struct cursor *c, unsigned nesting, struct slice *program)
{
	struct slice word;

	while (shell_word(c, &word)) {
		if (shell_is_assignment(word) || slice_is(word, "{") || slice_is(word, "!") ||
		    slice_is(word, "}") || word.p[0] == '>' || word.p[0] == '<')
			continue;
		if (!is_keyword(word))
			return kind_of_word(word, c, nesting, program);
	}
	return NONE;
}

/* *decisive gets the command whose kind it is; may be NULL. */
static enum kind kind_of_text(struct cursor *c, unsigned nesting, struct slice *decisive,
			      struct slice *program)
{
	enum kind best = NONE;

	/* make's own prefixes */
	while (cursor_byte(c, '@') || cursor_byte(c, '+') || cursor_byte(c, '-') ||
	       cursor_byte(c, ' '))
		;
	while (!cursor_at_end(c)) {
		struct slice other = { NULL, 0 };
		const char *start = c->p;
		enum kind kind = kind_of_simple(c, nesting, &other);

		if (other.p && (kind > best || best == NONE))
			*program = other;
		if (decisive && (kind > best || start == decisive->p))
			*decisive = (struct slice){ start, (size_t)(c->end - start) };
		best = MAX(kind, best);
		if (best == COMPILE)
			break;
		shell_next_command(c);
	}
	return best;
}

const char *kind_of_command(const char *command, size_t len)
{
	struct slice unused;

	return kind_and_command(command, len, &unused);
}

const char *kind_and_command(const char *command, size_t len, struct slice *decisive)
{
	struct slice unused;
	struct cursor c;

	cursor_init(&c, command, len);
	*decisive = (struct slice){ command, len };
	return names[kind_of_text(&c, 0, decisive, &unused)];
}

const char *kind_and_program(const char *command, size_t len, struct slice *program)
{
	struct cursor c;

	cursor_init(&c, command, len);
	*program = (struct slice){ command, 0 };
	return names[kind_of_text(&c, 0, NULL, program)];
}

struct slice kind_compiler(struct slice command)
{
	struct slice word;
	struct cursor c;

	cursor_init(&c, command.p, command.len);
	if (!shell_word(&c, &word) || word.p != command.p || strchr("@+-'\"", *word.p) ||
	    memchr(word.p, '\\', word.len) || shell_is_assignment(word) ||
	    kind_of_program(shell_base_name(word)) != COMPILER)
		word.len = 0;
	return word;
}

bool kind_compiles(struct slice command, struct slice compiler)
{
	struct cursor c;

	if (!compiler.len || command.len <= compiler.len || command.p[compiler.len] != ' ' ||
	    memcmp(command.p, compiler.p, compiler.len))
		return false;
	cursor_init(&c, command.p + compiler.len, command.len - compiler.len);
	return has_dash_c(&c);
}

/* OpenEmbedded */

/* The names after "do_". Each one also matches names that continue with an underscore; the longest
 * match counts. */
static const struct {
	const char *name, *kind;
} oe_tasks[] = {
	{ "fetch", "fetch" }, { "fetchall", "fetch" }, { "checkuri", "fetch" },
	{ "unpack", "unpack" }, { "kernel_checkout", "unpack" },
	{ "symlink_kernsrc", "unpack" }, { "shared_workdir", "unpack" },
	{ "patch", "patch" }, { "convert_crlf", "patch" },
	{ "configure", "configure" }, { "preconfigure", "configure" },
	{ "generate_toolchain_file", "configure" }, { "kernel_metadata", "configure" },
	{ "kernel_configme", "configure" }, { "kernel_configcheck", "configure" },
	{ "kernel_version_sanity_check", "configure" }, { "validate_branches", "configure" },
	{ "compile", "compile" }, { "bundle_initramfs", "compile" },
	{ "assemble_fitimage", "compile" }, { "uboot_assemble_fitimage", "compile" },
	{ "sizecheck", "compile" }, { "strip", "compile" }, { "transform_kernel", "compile" },
	{ "transform_bundled_initramfs", "compile" },
	{ "install", "install" }, { "kernel_link_images", "install" }, { "deploy", "install" },
	{ "stash_locale", "install" }, { "populate_cve_db", "fetch" },
	{ "populate_sysroot", "sysroot" }, { "prepare_recipe_sysroot", "sysroot" },
	{ "addto_recipe_sysroot", "sysroot" },
	{ "package", "package" }, { "packagedata", "package" },
	{ "package_qa", "test" }, { "recipe_qa", "test" }, { "check", "test" },
	{ "testimage", "test" }, { "testsdk", "test" }, { "testsdkext", "test" },
	{ "cve_check", "test" }, { "image_qa", "test" },
	{ "populate_lic", "document" }, { "create_spdx", "document" },
	{ "create_runtime_spdx", "document" }, { "create_package_spdx", "document" },
	{ "create_recipe_spdx", "document" }, { "create_rootfs_spdx", "document" },
	{ "create_image_spdx", "document" }, { "create_image_sbom_spdx", "document" },
	{ "rootfs", "image" }, { "image", "image" }, { "bootimg", "image" },
	{ "bootdirectdisk", "image" }, { "flush_pseudodb", "image" },
	{ "rootfs_wicenv", "image" }, { "write_wks_template", "image" },
	{ "write_qemuboot_conf", "image" }, { "populate_sdk", "image" },
	{ "sdk_depends", "image" }, { "sdk_install", "image" }, { "uboot_mkimage", "image" },
	{ "rm_work", "clean" }, { "clean", "clean" }, { "cleanall", "clean" },
	{ "cleansstate", "clean" },
};

const char *kind_of_oe_task(const char *name, size_t len)
{
	struct slice s = { name, len };
	const char *kind = names[OTHER];
	size_t longest = 0;

	if (s.len > strlen("_setscene") && slice_ends(s, "_setscene"))
		return "setscene";
	if (!slice_starts(s, "do_"))
		return kind;
	s = (struct slice){ s.p + 3, s.len - 3 };
	for (size_t i = 0; i < ARRAY_SIZE(oe_tasks); i++) {
		size_t n = strlen(oe_tasks[i].name);

		if (n <= longest || !slice_starts(s, oe_tasks[i].name) ||
		    (s.len > n && s.p[n] != '_'))
			continue;
		longest = n;
		kind = oe_tasks[i].kind;
	}
	return kind;
}
