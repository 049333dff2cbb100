/* SPDX-License-Identifier: MIT */
/*
 * The GNU make host (4.0 and later, and remake): make loads this object by "load" and calls
 * buildbeat_gmk_setup().
 *
 * Targets: for every target whose recipe starts a process, make creates an environment and expands
 * the exported variables with the automatic variables of the target. MAKEFILES is exported, and
 * its value calls us and expands to its old value. All lines of a recipe get the same environment:
 * this is how the second line is recognised. Makefiles see nothing new. We ask a make whose
 * structs are known for the automatic variables, because each argument of a call costs make about
 * 700 instructions; the others pass them.
 *
 * If a makefile sets MAKEFILES or does not export it, there are two other variables, which a
 * makefile can see: IFS, then SHELL. make expands them for every line of a recipe to find out
 * whether it needs a shell.
 */
#include "base/buf.h"
#include "base/cursor.h"
#include "base/file.h"
#include "base/minmax.h"
#include "command/redact.h"
#include "plugin/buildbeat_plugin.h"
#include "plugin/gmk_files.h"
#include "plugin/got.h"
#include "plugin/procs.h"
#include "plugin/session.h"
#include "recording/store_join.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

/* Outside of a target these are undefined, which make can warn about. $(value) prevents the
 * warning but costs twice as much. */
#define TARGET "$@,$^ $|)\n"
#define TARGET_SILENTLY "$(value @),$(value ^) $(value |))\n"
#define CALL "$(buildbeat-at "
#define INTERVAL_MS 1000

typedef char *gmk_function(const char *name, unsigned argc, char **argv);

/* Functions that make exports to the objects it loads. Weak: other tools without them must be
 * able to load this object, too. */
char *gmk_alloc(unsigned len) __attribute__((weak));
void gmk_free(char *text) __attribute__((weak));
void gmk_eval(const char *text, const void *location) __attribute__((weak));
char *gmk_expand(const char *text) __attribute__((weak));
void gmk_add_function(const char *name, gmk_function *function, unsigned min_args,
		      unsigned max_args, unsigned flags) __attribute__((weak));

/* Everything that every make uses first, together, so that few pages are touched. */
static struct {
	struct procs_host host;
	bool loaded;
	volatile sig_atomic_t busy;	/* the session is being opened or suspended: a signal
					   handler that exits must not wait for it */
	bool may_begin;		/* no recording yet: the first command begins one */
	bool own;		/* it began one: there is no launcher to report errors */
	int32_t level;		/* MAKELEVEL */
	bool is_literal;	/* the old value follows the call in the new one */
	char *makefiles;	/* the value of MAKEFILES without us; NULL: none */
	bool took_ifs;
	char *ifs, *shell;	/* the makefiles' own values; NULL: none */
	struct buildbeat_session session;
} make;

int plugin_is_GPL_compatible;
int buildbeat_gmk_setup(uintptr_t a, uintptr_t b);

/* Does text expand to word? */
static bool expands_to(const char *text, const char *word)
{
	char *value = gmk_expand(text);
	bool same = value && !strcmp(value, word);

	gmk_free(value);
	return same;
}

static char *copy_of(const char *text)
{
	size_t size = text ? strlen(text) + 1 : 0;
	char *copy = size > 1 ? gmk_alloc((unsigned)size) : NULL;

	return copy ? memcpy(copy, text, size) : NULL;
}

/* Print one line on stderr, only from the top make of a build without a launcher. */
static __attribute__((noinline)) void report(const char *path, const char *message)
{
	char text[PATH_MAX + 512];
	struct buf b;

	if (!make.own || make.level > 0)
		return;
	buf_init_fixed(&b, text, sizeof text);
	buf_addf(&b, "buildbeat: %s%s%s; this build is not recorded%s\n", path, *path ? ": " : "",
		 message, make.session.owner ? " any further" : "");
	file_write(STDERR_FILENO, b.data, b.len);
}

/* Report lost lines if there is no launcher to report them. */
static __attribute__((noinline)) void report_lost(void)
{
	char text[PATH_MAX + 512];
	struct lost lost;
	struct buf b;

	if (!make.session.owner || make.level > 0)
		return;
	store_tell_lost(&make.session.store);
	if (lost_read(&lost, make.session.store.dir_fd) || !lost.reason)
		return;
	buf_init_fixed(&b, text, sizeof text);
	buf_addf(&b, "buildbeat: %s: the recording is incomplete: ", make.session.store.path);
	lost_add_text(&b, &lost);
	buf_addc(&b, '\n');
	file_write(STDERR_FILENO, b.data, b.len);
}

/* The recording */

/* The kernel places the strings of the arguments one after the other, followed by those of the
 * environment, and make does not move them: there is no need to read them from /proc. Their
 * length, 0 if they are elsewhere. */
static size_t arguments_length(void)
{
	const char *first = program_invocation_name;

	if (!environ || !environ[0] || environ[0] <= first + 1 ||
	    environ[0] > (const char *)getauxval(AT_EXECFN) || environ[0][-1])
		return 0;
	return (size_t)(environ[0] - first) - 1;
}

/* As program_invocation_short_name, whose symbol every make would look up. */
static const char *tool_name(void)
{
	const char *slash = strrchr(program_invocation_name, '/');

	return slash ? slash + 1 : program_invocation_name;
}

typedef int open_function(const struct session_host *host, struct error *err);

/* The command line is made in text; size 0: it is only the name. */
static int open_with(open_function *how, struct error *err, char *text, size_t size)
{
	const char *first = program_invocation_name;
	const char *known = gmk_files_version();
	char *version = known ? NULL : gmk_expand("$(MAKE_VERSION)");
	struct session_host host = {
		.tool = tool_name(), .version = known ? known : version,
		.command = size ? text : first, .level = make.level,
		.interval_ms = INTERVAL_MS, .first = procs_late(),
	};
	int r;

	for (size_t i = 0; i < size; i++)
		text[i] = first[i] ? first[i] : ' ';
	if (size)
		text[size - 1] = '\0';
	r = how(&host, err);
	gmk_free(version);
	return r;
}

/* Not inline: few command lines are that long, and the memory costs pages of the stack. */
static __attribute__((noinline)) int open_long(open_function *how, struct error *err, size_t size)
{
	char text[8192];

	return open_with(how, err, text, MIN(size, sizeof text));
}

static int open_session(open_function *how, struct error *err)
{
	size_t len = arguments_length();
	char text[512];

	return len < sizeof text ? open_with(how, err, text, len ? len + 1 : 0)
	       : open_long(how, err, len + 1);
}

static int join_make(const struct session_host *host, struct error *err)
{
	(void)err;
	return session_join(&make.session, host);
}

static int begin_make(const struct session_host *host, struct error *err)
{
	char *base = gmk_expand("$(if $(value BUILDBEAT_OUTPUT),$(BUILDBEAT_OUTPUT))");
	char *access = gmk_expand("$(if $(value BUILDBEAT_ACCESS),$(BUILDBEAT_ACCESS))");
	char *redact = gmk_expand("$(if $(value BUILDBEAT_REDACT),$(BUILDBEAT_REDACT))");
	struct session_host own = *host;
	int r;

	own.access = session_access(access);
	own.redact = redact && *redact ? redact : NULL;
	r = session_begin(&make.session, base && *base ? base : NULL, NULL, &own, err);
	gmk_free(redact);
	gmk_free(access);
	gmk_free(base);
	return r;
}

/* The makes below join through the ticket. */
static void export_ticket(void)
{
	struct buf b = BUF_INIT;

	ticket_add_makefiles(&b, &make.session.ticket, make.makefiles);
	if (buf_error(&b)) {
		buf_release(&b);
		return;
	}
	gmk_free(make.makefiles);
	make.makefiles = copy_of(buf_str(&b));
	buf_release(&b);
}

static void begin_now(void)
{
	struct error err = { 0 };

	make.may_begin = false;
	make.busy = 1;
	if (open_session(begin_make, &err))
		report(err.path, err.message);
	else
		export_ticket();
	make.busy = 0;
}

/* Once, if there is no recording yet. */
static void begin_recording(void)
{
	if (make.may_begin)
		begin_now();
}

/* The names */

static void remember(struct buf *b, const char *text)
{
	buf_clear(b);
	buf_adds(b, text);
}

static void find_place(struct procs_line *line, const char *target)
{
	const struct gmk_commands *recipe = gmk_files_recipe(target);

	line->file = recipe ? recipe->file : NULL;
	line->line = recipe && recipe->line <= INT32_MAX ? (int32_t)recipe->line : -1;
}

/* often: called for every line of a recipe, not once per target. */
static struct procs_line *begin_line(const char *target, bool often)
{
	struct procs_line *line = &make.host.line;

	begin_recording();
	remember(&line->name, target);
	buf_clear(&line->after);
	find_place(line, target);
	line->often = often;
	return line;
}

/* runs: the line is about a process of the target, not about one of $(shell). */
static void end_line(struct procs_line *line, bool runs)
{
	if (runs && make.session.live && !make.session.store.error) {
		gmk_files_run(&make.session.store);
		buf_adds(&line->after, gmk_files_waits());
	}
	line->known = !buf_error(&line->name) && !buf_error(&line->after);
}

static void announce(unsigned argc, char **argv, bool often)
{
	struct procs_line *line = begin_line(argc > 0 ? argv[0] : "", often);

	buf_adds(&line->after, argc > 1 ? argv[1] : "");
	end_line(line, argc > 1);
}

static void announce_asked(const char *target)
{
	struct procs_line *line = begin_line(target, false);

	gmk_files_add_prerequisites(&line->after);
	end_line(line, true);
}

/* Outside of a target no process is about to start. */
static char *at_makefiles(const char *name, unsigned argc, char **argv)
{
	const char *target = gmk_files_variable("@");

	(void)name;
	if (target && *target)
		announce_asked(target);
	else if (argc > 0 && argv[0][0])
		announce(argc, argv, false);
	return make.is_literal ? NULL : copy_of(make.makefiles);
}

static char *at_ifs(const char *name, unsigned argc, char **argv)
{
	(void)name;
	announce(argc, argv, true);
	return copy_of(make.ifs);
}

static char *at_shell(const char *name, unsigned argc, char **argv)
{
	(void)name;
	announce(argc, argv, true);
	return copy_of(make.shell);
}

/* Were we called for this environment? Others have a MAKEFILES that a makefile set, or none. */
static bool is_asked_for(char *const env[])
{
	size_t len = make.makefiles ? strlen(make.makefiles) : 0;

	for (; len && *env; env++) {
		if (!strncmp(*env, "MAKEFILES=", 10))
			return !strncmp(*env + 10, make.makefiles, len);
	}
	return false;
}

/* Each line begins with "override ", which is skipped where a plain assignment is enough. */
#define OVERRIDE "override "

static void assign(bool overrides, const char *line)
{
	gmk_eval(overrides ? line : line + strlen(OVERRIDE), NULL);
}

/* Does it stand for itself in an assignment? */
static bool is_literal(const char *text)
{
	return !text[strcspn(text, "$#\\\n")];
}

/* The old value behind the call needs no copy of ours each time. It must be one that does not
 * change: a recording that this make begins is not in it yet. */
static void assign_asked(bool overrides)
{
	const char *old = make.makefiles ? make.makefiles : "";
	char text[1024];
	struct buf b;

	buf_init_fixed(&b, text, sizeof text);
	buf_addf(&b, OVERRIDE "MAKEFILES = " CALL ")%s\n", old);
	make.is_literal = !make.may_begin && !buf_error(&b) && is_literal(old);
	assign(overrides, make.is_literal ? text : OVERRIDE "MAKEFILES = " CALL ")\n");
}

/* A variable from the environment is passed on as it is; others are expanded. With -e the
 * environment is stronger than an assignment. */
static void take_makefiles(void)
{
	char *origin = gmk_expand("$(origin MAKEFILES)");
	bool is_strong = origin && (!strcmp(origin, "environment override") ||
				    !strcmp(origin, "command line") || !strcmp(origin, "override"));

	if (origin && !strcmp(origin, "file"))
		make.makefiles = gmk_expand("$(MAKEFILES)");
	else if (gmk_files_version())
		make.makefiles = copy_of(gmk_files_variable("MAKEFILES"));
	else
		make.makefiles = gmk_expand("$(value MAKEFILES)");
	if (gmk_files_version())
		assign_asked(is_strong);
	else if (expands_to("$(filter --warn-undefined%,$(MAKEFLAGS))", ""))
		assign(is_strong, OVERRIDE "MAKEFILES = " CALL TARGET);
	else
		assign(is_strong, OVERRIDE "MAKEFILES = " CALL TARGET_SILENTLY);
	gmk_free(origin);
}

/* Was another copy of this object loaded before? */
static bool is_loaded(void)
{
	const char *value = gmk_files_variable("MAKEFILES");

	if (gmk_files_version())
		return value && slice_starts(slice_of(value), CALL);
	return !expands_to("$(findstring buildbeat-at,$(value MAKEFILES))", "");
}

/* Called while make expands something: the target, if it is a recipe. */
static void shell_started(void)
{
	char *target = gmk_expand("$(value @)");

	announce(1, &target, true);
	gmk_free(target);
}

/* The value stays, and so does whether children see it. */
static void take_ifs(void)
{
	bool defined = !expands_to("$(origin IFS)", "undefined");
	bool is_from_file = expands_to("$(origin IFS)", "file");
	bool is_override = expands_to("$(origin IFS)", "override");

	make.took_ifs = true;
	if (defined)
		make.ifs = gmk_expand("$(IFS)");
	assign(defined && !is_from_file, OVERRIDE "IFS = $(buildbeat-ifs " TARGET);
	if (!defined)
		gmk_eval("unexport IFS\n", NULL);
	else if (!is_from_file && !is_override)
		gmk_eval("export IFS\n", NULL);
}

static void take_shell(void)
{
	bool untouched = expands_to("$(origin SHELL)", "default");

	make.shell = gmk_expand("$(SHELL)");
	assign(true, OVERRIDE "SHELL = $(buildbeat-shell " TARGET);
	if (untouched)
		gmk_eval("unexport SHELL\n", NULL);
}

/* A process was started without a call to us: a makefile replaced MAKEFILES, or IFS, too, or
 * this make does not expand IFS. */
static void names_lost(void)
{
	if (!make.took_ifs)
		take_ifs();
	else if (!make.shell)
		take_shell();
}

/* Beginning and end */

static void finish(int status, void *unused)
{
	uint64_t not_recorded;
	char text[128];

	(void)unused;
	if (getpid() != make.session.store.pid || !make.session.live)
		return;
	not_recorded = procs_finish();
	if (make.busy)
		return;
	if (make.session.store.error)
		report(make.session.store.path, strerror(-make.session.store.error));
	else
		report_lost();
	if (not_recorded) {
		snprintf(text, sizeof text, STORE_NOTE_PREFIX
			 "%llu processes were not recorded: too many at once", (unsigned long long)not_recorded);
		session_note(&make.session, text);
	}
	session_exit(&make.session, (status & 0xff) << 8);
}

static void exits(int status)
{
	finish(status, NULL);
}

#ifdef __GLIBC__
static void at_exit(void)
{
	on_exit(finish, NULL);
}
#else
/* musl has no on_exit(), and atexit() does not give the status. */
static __attribute__((noreturn)) void hook_exit(int status)
{
	finish(status, NULL);
	exit(status);
}

static void at_exit(void)
{
	got_redirect(&(struct got_hook){ "exit", (void (*)(void))hook_exit, false }, 1);
}
#endif

/* -O, --output-sync. Words such as -O2 are those of a makefile's variables. */
static bool collects(void)
{
	return !expands_to("$(filter -Otarget -Oline -Orecurse -Ojob --output-sync%,$(MAKEFLAGS))", "");
}

/* make is about to execute itself. The new one gets our environment without the exported
 * variables. */
static void replaced(void)
{
	struct buf b = BUF_INIT;

	if (make.session.owner) {
		ticket_add_makefiles(&b, &make.session.ticket, getenv("MAKEFILES"));
		if (!buf_error(&b))
			setenv("MAKEFILES", buf_str(&b), 1);
		buf_release(&b);
	}
	make.busy = 1;
	session_suspend(&make.session);
	make.busy = 0;
}

static int32_t make_level(void)
{
	const char *text = getenv("MAKELEVEL");
	int64_t level = 0;

	if (text && !cursor_slice_i64(slice_of(text), &level))
		level = 0;
	return level >= 0 && level < 1000000 ? (int32_t)level : 0;
}

/* -n, -q, -t: nothing is built or recorded. */
static bool is_dry_run(void)
{
	char *flags = gmk_expand("$(filter-out --%,$(firstword -$(MAKEFLAGS)))");
	bool dry = flags && strpbrk(flags, "nqt");

	gmk_free(flags);
	return dry;
}

/*
 * a and b are the location and nothing or, after make 4.4.1, the version of the interface and the
 * location. Neither is needed. -1: loaded, and make does not try to rebuild us.
 */
int buildbeat_gmk_setup(uintptr_t a, uintptr_t b)
{
	int saved = errno;
	size_t len;
	int r;

	(void)a;
	(void)b;
	if (make.loaded || !gmk_add_function)
		return -1;
	make.loaded = true;
	gmk_files_begin();
	if (is_loaded())
		return -1;
	make.level = make_level();
	redact_prepare();
	session_follow_children(&make.session);
	r = open_session(join_make, NULL);
	make.may_begin = r && !store_ticket_path(getenv("MAKEFILES"), &len) && !is_dry_run();
	make.own = make.may_begin || (!r && make.session.owner);
	if (!r || make.may_begin) {
		make.host.unrecorded = begin_recording;
		make.host.unknown = names_lost;
		make.host.shell = shell_started;
		make.host.is_asked_for = is_asked_for;
		make.host.collects = collects;
		make.host.replaced = replaced;
		make.host.exits = exits;
		gmk_add_function("buildbeat-at", at_makefiles, 1, 2, 0);
		gmk_add_function("buildbeat-ifs", at_ifs, 1, 2, 0);
		gmk_add_function("buildbeat-shell", at_shell, 1, 2, 0);
		take_makefiles();
		if (!procs_attach(&make.session, &make.host)) {
			report("", "this make's calls cannot be followed");
			store_append(&make.session.store, procs_late());
			if (make.session.live)
				session_note(&make.session, STORE_NOTE_PREFIX
					     "a make's calls cannot be followed");
		}
		at_exit();
	}
	errno = saved;
	return -1;
}
