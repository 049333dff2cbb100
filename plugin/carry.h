#ifndef BUILDBEAT_CARRY_H
#define BUILDBEAT_CARRY_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * How a recording reaches the build tools that are started by others, and nobody
 * else. Into GNU make by MAKEFILES alone (see core/store.h). Into the rest by the
 * preload, a link to which lies beside the ticket: LD_PRELOAD names it, the ticket
 * stands in MAKEFILES, and BUILDBEAT_CARRIED says what for. The preload takes all
 * three out of the environment again before main(), and puts them into that of
 * the children that may lead to another build tool.
 */
#define CARRY_PRELOAD "buildbeat-preload.so"
#define CARRY_MARK "BUILDBEAT_CARRIED"

/* What a command may lead to. */
enum carry {
	CARRY_NOWHERE,
	CARRY_TICKET,		/* to what finds a recording by MAKEFILES: make, bitbake ... */
	CARRY_HOST,		/* to what needs the preload, and perhaps to make */
};

/* By its words only; a shell's script (sh -c) counts by its own. Compilers lead
 * nowhere. */
enum carry carry_of(char *const argv[]);

/* The same of a shell's script. */
enum carry carry_of_script(const char *text);

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

/* The path of the program that execvp() would run; false when there is none. */
bool carry_find(char out[PATH_MAX], const char *file);

/*
 * Would the preload be loaded into this program (of a script: its interpreter): a
 * dynamic executable of our own class, machine and loader that changes no user.
 */
bool carry_can_preload(const char *path);

/* Does the file begin with "#!". */
bool carry_is_script(const char *path);

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
 * whether LD_PRELOAD too. Gives env itself when that cannot be, or there is
 * nothing to do.
 */
char *const *carry_put(struct carry_env *e, const struct carried *c, char *const env[],
		       bool preload, pid_t host);

#endif
