/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_CARRY_H
#define BUILDBEAT_PLUGIN_CARRY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * How a recording reaches the build tools that are started by others, and nobody
 * else. Into GNU make by MAKEFILES alone (see recording/store.h). Into the rest by the
 * preload, a link to which lies beside the ticket: LD_PRELOAD names it, the ticket
 * stands in MAKEFILES, and BUILDBEAT_CARRIED says what for. The preload takes all
 * three out of the environment again before main(), and puts them into that of
 * the children that may lead to another build tool.
 */
#define CARRY_PRELOAD "buildbeat-preload.so"
#define CARRY_MARK "BUILDBEAT_CARRIED"

/* What a program may lead to. */
enum carry {
	CARRY_NOWHERE,
	CARRY_TICKET,		/* to what finds a recording by MAKEFILES: make, bitbake ... */
	CARRY_HOST,		/* to what needs the preload, and perhaps to make */
	CARRY_ASK,		/* only from carry_leads(): the file has to be read */
};

/* May the preload be put into it. */
enum carry_fit {
	CARRY_CANNOT,		/* static, of another machine, setuid or missing */
	CARRY_FITS,		/* dynamic, of our own class, machine and loader */
	CARRY_MUST_NOT,		/* it has a runtime, such as a sanitizer's, that must be first */
};

/*
 * Decide by the name of the file, and for a few programs (sh -c, cmake -E, env) also by
 * their arguments. No file is read. The program decides, not its arguments: they can
 * exclude a program but never include one. A name that is in no table gives CARRY_ASK
 * only if it may be a script of the user's.
 */
enum carry carry_leads(const char *file, char *const argv[]);

/* The same of a shell's script. */
enum carry carry_of_script(const char *text);

/* Buffers for reading a file, which may be too large for the stack. */
#define CARRY_HEAD_MAX 4096	/* ELF header, program headers; a script's first line */

struct carry_look {
	char path[PATH_MAX];
	char head[CARRY_HEAD_MAX + 1];
};

/*
 * What executing file leads to; a name without a slash is searched in PATH, as
 * execvp() does. CARRY_HOST only if the preload fits, CARRY_TICKET if it cannot
 * be loaded, CARRY_NOWHERE if it must not be. Never CARRY_ASK.
 */
enum carry carry_of(struct carry_look *look, const char *file, char *const argv[]);

/* The same for a program that a host executes in its own process: it remains a host,
 * whatever its name is. */
enum carry carry_of_host(struct carry_look *look, const char *file);

/* For a path; for a script, its interpreter decides. */
enum carry_fit carry_fit_of(const char *path);

/* The name of a program: of its path, what is behind the last slash. */
const char *carry_name(const char *path);
/* GNU make by its name: make-4.4, gmake, remake. */
bool carry_is_make(const char *name);
bool carry_is_buildbeat(const char *name);
bool carry_is_bitbake(const char *name);
/* What finds a recording by itself: all of them. */
bool carry_reads_ticket(const char *name);
/* Of these the children are tasks wherever they run: ninja, cargo, ... */
bool carry_is_host(const char *name);
/* A shell, or an interpreter: its script tells what it is. */
bool carry_is_interpreter(const char *name);
/* env, nice, xargs: it executes the command in its arguments. */
bool carry_is_wrapper(const char *path);

/* What a script leads to, by the path or the name of its interpreter; CARRY_ASK: the
 * interpreter may be a script itself. */
enum carry carry_of_interpreter(const char *path);

/* Does LD_PRELOAD in env name an object that must be first, such as a sanitizer's
 * runtime. Then ours must not be added. */
bool carry_env_forbids(char *const env[]);

/* What was carried here. */
struct carried {
	char ticket[PATH_MAX];	/* "": nothing */
	char preload[PATH_MAX];	/* the link beside it */
	pid_t host;		/* this process is to be a host; 0: none */
	bool keep;		/* MAKEFILES was there before: it stays */
};

/* Take it out of an environment, in place: what is left is as it was before.
 * keep: the ticket stays, for whom reads it. */
void carry_take(struct carried *c, char **env, bool keep);

/* From a ticket's path; false when it is too long. */
bool carry_from_ticket(struct carried *c, const char *ticket, size_t len);

/* From the ticket in an environment; false when there is none. */
bool carry_from_env(struct carried *c, char *const env[]);

/* A copy of an environment with it put in. Lives where this lives. */
#define CARRY_ENV_MAX 1000

struct carry_env {
	char *env[CARRY_ENV_MAX + 4];
	char makefiles[2 * PATH_MAX], preload[2 * PATH_MAX], mark[64];
};

/*
 * host: the process that is to be a host whatever its name, 0 for none. preload:
 * whether to set LD_PRELOAD too, after its existing preloads. Returns env itself when
 * that is impossible or forbidden, or there is nothing to do.
 */
char *const *carry_put(struct carry_env *e, const struct carried *c, char *const env[],
		       bool preload, pid_t host);

#endif
