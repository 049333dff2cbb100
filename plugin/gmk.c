/*
 * The GNU make host (4.0 and later, and remake): make loads this object by
 * "load" and calls buildbeat_gmk_setup().
 *
 * Targets: make expands $(IFS) in itself once for every recipe line and every
 * $(shell), with the target's automatic variables in scope, to find out whether
 * a command needs a shell. We are that variable. A Makefile with an IFS of its
 * own keeps its value, and should one get in the way so that we are not asked,
 * SHELL, expanded next to it, is the second best.
 */
#include "buildbeat_plugin.h"
#include "buf.h"
#include "cursor.h"
#include "session.h"
#include "procs.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define TELL "$@,$^ $|)\n"
#define INTERVAL_MS 1000

typedef char *gmk_function(const char *name, unsigned argc, char **argv);

/* What make exports to objects it loads. Weak: this object must load into tools
 * that have nothing of the kind, too. */
char *gmk_alloc(unsigned len) __attribute__((weak));
void gmk_free(char *text) __attribute__((weak));
void gmk_eval(const char *text, const void *location) __attribute__((weak));
char *gmk_expand(const char *text) __attribute__((weak));
void gmk_add_function(const char *name, gmk_function *function, unsigned min_args,
		      unsigned max_args, unsigned flags) __attribute__((weak));

static struct {
	struct buildbeat_session session;
	struct procs_host host;
	bool loaded;
	bool may_begin;		/* no recording yet: the first command begins one */
	bool own;		/* it did: no launcher speaks for us */
	int32_t level;		/* MAKELEVEL */
	char *ifs, *shell;	/* what the Makefiles' own values are; NULL: none */
	char command[8192];
} make;

int plugin_is_GPL_compatible;
int buildbeat_gmk_setup(uintptr_t a, uintptr_t b);

/* Expand text and look whether the result is word. */
static bool expands_to(const char *text, const char *word)
{
	char *value = gmk_expand(text);
	bool same = value && !strcmp(value, word);

	gmk_free(value);
	return same;
}

/* One line on stderr, from the top of a build without a launcher only. */
static void complain(const char *path, const char *message)
{
	char text[PATH_MAX + 512];
	struct buf b;

	if (!make.own || make.level > 0)
		return;
	buf_init_fixed(&b, text, sizeof text);
	buf_addf(&b, "buildbeat: %s%s%s; this build is not recorded%s\n", path, *path ? ": " : "",
		 message, make.session.owner ? " any further" : "");
	store_write(STDERR_FILENO, b.data, b.len);
}

/* The recording */

/* The kernel puts the arguments' strings behind one another and those of the
 * environment behind them, and make moves none: no need to ask for them again. */
static const char *command_line(void)
{
	const char *first = program_invocation_name;
	size_t len;

	if (!environ || !environ[0] || environ[0] <= first + 1 ||
	    environ[0] > (const char *)getauxval(AT_EXECFN) || environ[0][-1])
		return first;
	len = (size_t)(environ[0] - first) - 1;
	if (len >= sizeof make.command)
		len = sizeof make.command - 1;
	for (size_t i = 0; i < len; i++)
		make.command[i] = first[i] ? first[i] : ' ';
	make.command[len] = '\0';
	return make.command;
}

static int open_session(int (*how)(const struct session_host *host, struct error *err),
			struct error *err)
{
	char *version = gmk_expand("$(MAKE_VERSION)");
	struct session_host host = {
		.tool = program_invocation_short_name, .version = version,
		.command = command_line(), .level = make.level,
		.interval_ms = INTERVAL_MS,
	};
	int r = how(&host, err);

	gmk_free(version);
	return r;
}

static int join(const struct session_host *host, struct error *err)
{
	(void)err;
	return session_join(&make.session, host);
}

static int begin(const struct session_host *host, struct error *err)
{
	char *base = gmk_expand("$(if $(value BUILDBEAT_OUTPUT),$(BUILDBEAT_OUTPUT))");
	int r = session_begin(&make.session, base && *base ? base : NULL, NULL, host, err);

	gmk_free(base);
	return r;
}

/* The makes below join through the ticket. The value of before as it is: it
 * would be expanded a second time else. */
static void export_ticket(void)
{
	char text[PATH_MAX + 128];

	snprintf(text, sizeof text, "override export MAKEFILES := %s $(value MAKEFILES)\n",
		 make.session.ticket.path);
	gmk_eval(text, NULL);
}

/* Once, if it is up to us. */
static void begin_recording(void)
{
	struct error err = { 0 };

	if (!make.may_begin)
		return;
	make.may_begin = false;
	if (open_session(begin, &err))
		complain(err.path, err.message);
	else
		export_ticket();
}

/* The names */

static char *copy_of(const char *text)
{
	size_t size = text ? strlen(text) + 1 : 0;
	char *copy = size > 1 ? gmk_alloc((unsigned)size) : NULL;

	return copy ? memcpy(copy, text, size) : NULL;
}

static void remember(struct buf *b, const char *text)
{
	buf_clear(b);
	buf_adds(b, text);
}

static void tell(unsigned argc, char **argv)
{
	struct procs_line *line = &make.host.line;

	begin_recording();
	remember(&line->name, argc > 0 ? argv[0] : "");
	remember(&line->after, argc > 1 ? argv[1] : "");
	line->known = !buf_error(&line->name) && !buf_error(&line->after);
}

static char *at_ifs(const char *name, unsigned argc, char **argv)
{
	(void)name;
	tell(argc, argv);
	return copy_of(make.ifs);
}

static char *at_shell(const char *name, unsigned argc, char **argv)
{
	(void)name;
	tell(argc, argv);
	return copy_of(make.shell);
}

/* IFS was not set, or in the environment or on the command line, where it is
 * stronger than an assignment and where children see it. */
static void take_ifs(void)
{
	if (expands_to("$(origin IFS)", "undefined")) {
		gmk_eval("IFS = $(buildbeat-at " TELL "unexport IFS\n", NULL);
	} else {
		make.ifs = gmk_expand("$(IFS)");
		gmk_eval("override IFS = $(buildbeat-at " TELL "export IFS\n", NULL);
	}
}

static void keep_ifs(void)
{
	bool plain = expands_to("$(origin IFS)", "file");

	make.ifs = gmk_expand("$(IFS)");
	gmk_eval(plain ? "IFS = $(buildbeat-at " TELL : "override IFS = $(buildbeat-at " TELL, NULL);
}

static void keep_shell(void)
{
	bool untouched = expands_to("$(origin SHELL)", "default");

	make.shell = gmk_expand("$(SHELL)");
	gmk_eval("override SHELL = $(buildbeat-shell " TELL, NULL);
	if (untouched)
		gmk_eval("unexport SHELL\n", NULL);
}

static bool ifs_is_ours(void)
{
	return !expands_to("$(findstring buildbeat-at,$(value IFS))", "");
}

/*
 * A process was started and we were not asked before. Either a Makefile has set
 * IFS: keep its value, take its place. Or a target has an IFS of its own, or this
 * make does not look at IFS: then the same with SHELL.
 */
static void names_lost(void)
{
	if (make.shell)
		return;
	if (!make.ifs && !ifs_is_ours())
		keep_ifs();
	else
		keep_shell();
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
	if (make.session.store.error)
		complain(make.session.store.path, strerror(-make.session.store.error));
	if (not_recorded) {
		snprintf(text, sizeof text, STORE_NOTE_PREFIX "%llu processes were not recorded: too many at once",
			 (unsigned long long)not_recorded);
		session_note(&make.session, text);
	}
	session_close(&make.session, (status & 0xff) << 8);
}

/* make is about to execute itself. The new one gets our environment, not the
 * variables that were exported. */
static void replaced(void)
{
	struct buf b = BUF_INIT;

	if (make.session.owner) {
		ticket_add_makefiles(&b, &make.session.ticket, getenv("MAKEFILES"));
		if (!buf_error(&b))
			setenv("MAKEFILES", buf_str(&b), 1);
		buf_release(&b);
	}
	session_suspend(&make.session);
}

static int32_t make_level(void)
{
	const char *text = getenv("MAKELEVEL");
	int64_t level = 0;

	if (text && !slice_i64((struct slice){ text, strlen(text) }, &level))
		level = 0;
	return level >= 0 && level < 1000000 ? (int32_t)level : 0;
}

/* -n, -q, -t: nothing is built, so there is nothing to record. */
static bool is_dry_run(void)
{
	char *flags = gmk_expand("$(filter-out --%,$(firstword -$(MAKEFLAGS)))");
	bool dry = flags && strpbrk(flags, "nqt");

	gmk_free(flags);
	return dry;
}

/*
 * a and b are either the location and nothing, or (after make 4.4.1) the version
 * of the interface and the location: we need neither. -1: loaded, and make is not
 * to look for a way to remake us.
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
	if (ifs_is_ours())
		return -1;	/* another copy of us was here before */
	make.level = make_level();
	r = open_session(join, NULL);
	make.may_begin = r && !store_ticket_path(getenv("MAKEFILES"), &len) && !is_dry_run();
	make.own = make.may_begin || (!r && make.session.owner);
	if (!r || make.may_begin) {
		make.host.unrecorded = begin_recording;
		make.host.unknown = names_lost;
		make.host.replaced = replaced;
		gmk_add_function("buildbeat-at", at_ifs, 1, 2, 0);
		gmk_add_function("buildbeat-shell", at_shell, 1, 2, 0);
		take_ifs();
		if (!procs_attach(&make.session, &make.host)) {
			complain("", "this make's calls cannot be followed");
			if (make.session.live)
				session_note(&make.session, STORE_NOTE_PREFIX
					     "a make's calls cannot be followed");
		}
		on_exit(finish, NULL);
	}
	errno = saved;
	return -1;
}
