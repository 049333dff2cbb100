/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_CARRY_H
#define BUILDBEAT_PLUGIN_CARRY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * How a recording reaches the build tools below another program, and no other programs. GNU make
 * finds it through MAKEFILES (see recording/store.h). Other tools get the preload, a link to which
 * is beside the ticket: LD_PRELOAD names it, MAKEFILES names the ticket, and BUILDBEAT_CARRIED has
 * the details. Before main() the preload removes all three from the environment. It adds them to
 * that of children that may start another build tool.
 */
#define CARRY_PRELOAD "buildbeat-preload.so"
#define CARRY_MARK "BUILDBEAT_CARRIED"

/* What a program may start. */
enum carry {
	CARRY_NOWHERE,
	CARRY_TICKET,		/* a program that finds a recording by MAKEFILES: make, bitbake
				   ... */
	CARRY_HOST,		/* a program that needs the preload, and perhaps make */
	CARRY_ASK,		/* only from carry_leads(): the file must be read */
};

/* Can the preload be loaded into it? */
enum carry_fit {
	CARRY_CANNOT,		/* static, of another machine, setuid or missing */
	CARRY_FITS,		/* dynamic, of our own class, machine and loader */
	CARRY_MUST_NOT,		/* it has a runtime, such as a sanitizer's, that must be first */
};

/*
 * Decide by the name of the file, and for a few programs (sh -c, cmake -E, env) also by their
 * arguments. No file is read. The program decides: its arguments can exclude it but never include
 * it. A name that is in no table gives CARRY_ASK only if it may be a script of the user.
 */
enum carry carry_leads(const char *file, char *const argv[]);

/* The same for a shell's script. */
enum carry carry_of_script(const char *text);

/* Buffers for reading a file, which may be too large for the stack. */
#define CARRY_HEAD_MAX 4096	/* ELF header, program headers; a script's first line */

struct carry_look {
	char path[PATH_MAX];
	char head[CARRY_HEAD_MAX + 1];
};

/*
 * What executing file may start; a name without a slash is searched in PATH, as by execvp().
 * CARRY_HOST only if the preload fits, CARRY_TICKET if it cannot be loaded, CARRY_NOWHERE if it
 * must not be. Never CARRY_ASK.
 */
enum carry carry_of(struct carry_look *look, const char *file, char *const argv[]);

/* The same for a program that a host executes in its own process: it remains a host under any
 * name. */
enum carry carry_of_host(struct carry_look *look, const char *file);

/* For a path; for a script, its interpreter decides. */
enum carry_fit carry_fit_of(const char *path);

/* The name of a program: the part of the path after the last slash. */
const char *carry_name(const char *path);
/* Is it GNU make by its name: make-4.4, gmake, remake? */
bool carry_is_make(const char *name);
bool carry_is_buildbeat(const char *name);
bool carry_is_bitbake(const char *name);
/* Does it find a recording by itself? True for all of them. */
bool carry_reads_ticket(const char *name);
/* Are its children tasks wherever it runs: ninja, cargo, ...? */
bool carry_is_host(const char *name);
/* Is it a shell or an interpreter, which runs a script? */
bool carry_is_interpreter(const char *name);
/* Does it execute the command in its arguments: env, nice, xargs? */
bool carry_is_wrapper(const char *path);

/* What a script may start, by the path or the name of its interpreter. CARRY_ASK: the
 * interpreter may be a script itself. */
enum carry carry_of_interpreter(const char *path);

/* Does LD_PRELOAD in env name an object that must be first, such as a sanitizer's runtime? Then
 * ours must not be added. */
bool carry_env_forbids(char *const env[]);

/* The data that is carried. */
struct carried {
	char ticket[PATH_MAX];	/* "": none */
	char preload[PATH_MAX];	/* the link beside it */
	pid_t host;		/* the process that becomes a host; 0: none */
	bool keep;		/* MAKEFILES was set before: it stays */
};

/* Remove it from an environment, which is then as it was before. keep: the ticket stays, for
 * programs that read it. */
void carry_take(struct carried *c, char **env, bool keep);

/* Fill it from a ticket's path; false: the path is too long. */
bool carry_from_ticket(struct carried *c, const char *ticket, size_t len);

/* Fill it from the ticket in an environment; false: there is none. */
bool carry_from_env(struct carried *c, char *const env[]);

/* Memory for a copy of an environment with it added. */
#define CARRY_ENV_MAX 1000

struct carry_env {
	char *env[CARRY_ENV_MAX + 4];
	char makefiles[2 * PATH_MAX], preload[2 * PATH_MAX], mark[64];
};

/*
 * host: the process that becomes a host under any name, 0 for none. preload: set LD_PRELOAD too,
 * after its existing preloads. Returns env itself if this is impossible or forbidden, or nothing
 * must be added.
 */
char *const *carry_put(struct carry_env *e, const struct carried *c, char *const env[],
		       bool preload, pid_t host);

#endif
