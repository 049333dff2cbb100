#include "carry.h"

#include "cursor.h"
#include "store.h"

#include <stdio.h>
#include <string.h>

/* The three variables, put into an environment and taken out of one. */

#define MAKEFILES "MAKEFILES="
#define LD_PRELOAD "LD_PRELOAD="

static size_t find(char *const env[], const char *name)
{
	size_t len = strlen(name), i = 0;

	while (env[i] && strncmp(env[i], name, len))
		i++;
	return i;
}

static void take_out(char **env, size_t i)
{
	for (; env[i]; i++)
		env[i] = env[i + 1];
}

/* The first n bytes of a variable's value and the separator behind them; the whole
 * variable when that was all. */
static void cut_value(char **env, size_t i, size_t name_len, size_t n)
{
	char *value = env[i] + name_len;

	if (value[n])
		memmove(value, value + n + 1, strlen(value + n + 1) + 1);
	else
		take_out(env, i);
}

static bool has_preload(const char *value, size_t *n)
{
	static const char tail[] = "/" CARRY_PRELOAD;

	*n = strcspn(value, ": ");
	return *n >= strlen(tail) && !memcmp(value + *n - strlen(tail), tail, strlen(tail));
}

static void take_mark(struct carried *c, char **env)
{
	size_t i = find(env, CARRY_MARK "=");
	struct cursor cursor;
	uint64_t pid;

	if (!env[i])
		return;
	cursor_init(&cursor, env[i] + strlen(CARRY_MARK "="),
		    strlen(env[i]) - strlen(CARRY_MARK "="));
	if (cursor_u64(&cursor, &pid) && pid <= INT_MAX)
		c->host = (pid_t)pid;
	c->keep = cursor_literal(&cursor, " keep");
	take_out(env, i);
}

bool carry_from_ticket(struct carried *c, const char *ticket, size_t len)
{
	const char *slash;

	c->ticket[0] = c->preload[0] = '\0';
	slash = memrchr(ticket, '/', len);
	if (len >= sizeof c->ticket || !slash ||
	    (size_t)(slash - ticket) + sizeof "/" CARRY_PRELOAD > sizeof c->preload)
		return false;
	memcpy(c->ticket, ticket, len);
	c->ticket[len] = '\0';
	snprintf(c->preload, sizeof c->preload, "%.*s/" CARRY_PRELOAD, (int)(slash - ticket),
		 ticket);
	return true;
}

void carry_take(struct carried *c, char **env, bool keep)
{
	const char *ticket;
	size_t i, n;

	*c = (struct carried){ .host = 0 };
	take_mark(c, env);
	c->keep |= keep;
	i = find(env, LD_PRELOAD);
	if (env[i] && has_preload(env[i] + strlen(LD_PRELOAD), &n))
		cut_value(env, i, strlen(LD_PRELOAD), n);
	i = find(env, MAKEFILES);
	ticket = env[i] ? store_ticket_path(env[i] + strlen(MAKEFILES), &n) : NULL;
	if (ticket && carry_from_ticket(c, ticket, n) && !c->keep)
		cut_value(env, i, strlen(MAKEFILES), n);
}

bool carry_from_env(struct carried *c, char *const env[])
{
	size_t i = find(env, MAKEFILES), len;
	const char *ticket = env[i] ? store_ticket_path(env[i] + strlen(MAKEFILES), &len) : NULL;

	*c = (struct carried){ .host = 0 };
	return ticket && carry_from_ticket(c, ticket, len);
}

/* name=first[separator rest of the old value] in its old place, else at the end. */
static bool put(struct carry_env *e, size_t *count, char *out, size_t size, const char *name,
		const char *first, char separator)
{
	size_t i = find(e->env, name);
	const char *old = e->env[i] ? e->env[i] + strlen(name) : "";
	char between[2] = { *old ? separator : '\0', '\0' };

	if ((size_t)snprintf(out, size, "%s%s%s%s", name, first, between, old) >= size)
		return false;
	if (!e->env[i])
		e->env[++*count] = NULL;
	e->env[i] = out;
	return true;
}

static bool fill(struct carry_env *e, const struct carried *c, char *const env[], bool preload,
		 pid_t host)
{
	size_t n = 0, i = find(env, MAKEFILES), len;
	bool keep = env[i] && store_ticket_path(env[i] + strlen(MAKEFILES), &len);
	char mark[32];

	while (env[n] && n < CARRY_ENV_MAX)
		n++;
	if (env[n])
		return false;
	memcpy(e->env, env, (n + 1) * sizeof *env);
	if (!keep && !put(e, &n, e->makefiles, sizeof e->makefiles, MAKEFILES, c->ticket, ' '))
		return false;
	snprintf(mark, sizeof mark, "%d%s", (int)host, keep ? " keep" : "");
	return !preload ||
	       (put(e, &n, e->preload, sizeof e->preload, LD_PRELOAD, c->preload, ':') &&
		put(e, &n, e->mark, sizeof e->mark, CARRY_MARK "=", mark, ' '));
}

char *const *carry_put(struct carry_env *e, const struct carried *c, char *const env[],
		       bool preload, pid_t host)
{
	static char *const none[] = { NULL };

	if (!env)
		env = none;
	if (!c->ticket[0] || env[find(env, CARRY_MARK "=")])
		return env;
	return fill(e, c, env, preload, host) ? e->env : env;
}
