/* SPDX-License-Identifier: MIT */
#include "base/cursor.h"
#include "plugin/carry.h"
#include "plugin/carry_elf.h"
#include "recording/store.h"
#include "recording/store_join.h"

#include <string.h>

/* The three variables: added to an environment, and removed from one. */

#define MAKEFILES "MAKEFILES="
#define LD_PRELOAD "LD_PRELOAD="

static size_t find_variable(char *const env[], const char *name)
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

/* Remove n bytes at from in a variable's value and one separator, or the whole variable if
 * nothing remains. */
static void cut_value(char **env, size_t i, size_t name_len, size_t from, size_t n)
{
	char *at = env[i] + name_len + from;

	if (at[n])
		memmove(at, at + n + 1, strlen(at + n + 1) + 1);
	else if (from)
		at[-1] = '\0';
	else
		take_out(env, i);
}

/* The next word of LD_PRELOAD from *p on; false: there is none. */
static bool next_preload(const char **p, size_t *n)
{
	*p += strspn(*p, ": ");
	*n = strcspn(*p, ": ");
	return *n;
}

static const char *find_preload(const char *value, size_t *n)
{
	static const char tail[] = "/" CARRY_PRELOAD;

	for (; next_preload(&value, n); value += *n) {
		if (*n >= strlen(tail) && !memcmp(value + *n - strlen(tail), tail, strlen(tail)))
			return value;
	}
	return NULL;
}

bool carry_env_forbids(char *const env[])
{
	size_t i = find_variable(env, LD_PRELOAD), n;
	const char *p = env[i] ? env[i] + strlen(LD_PRELOAD) : "";

	for (; next_preload(&p, &n); p += n) {
		if (carry_is_runtime(p, n))
			return true;
	}
	return false;
}

static void take_mark(struct carried *c, char **env)
{
	size_t i = find_variable(env, CARRY_MARK "=");
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
	memcpy(c->preload, ticket, (size_t)(slash - ticket));
	strcpy(c->preload + (slash - ticket), "/" CARRY_PRELOAD);
	return true;
}

void carry_take(struct carried *c, char **env, bool keep)
{
	const char *ticket, *at;
	size_t i, n;

	*c = (struct carried){ .host = 0 };
	take_mark(c, env);
	c->keep |= keep;
	i = find_variable(env, LD_PRELOAD);
	at = env[i] ? find_preload(env[i] + strlen(LD_PRELOAD), &n) : NULL;
	if (at)
		cut_value(env, i, strlen(LD_PRELOAD), (size_t)(at - env[i]) - strlen(LD_PRELOAD), n);
	i = find_variable(env, MAKEFILES);
	ticket = env[i] ? store_ticket_path(env[i] + strlen(MAKEFILES), &n) : NULL;
	if (ticket && carry_from_ticket(c, ticket, n) && !c->keep)
		cut_value(env, i, strlen(MAKEFILES), 0, n);
}

bool carry_from_env(struct carried *c, char *const env[])
{
	size_t i = find_variable(env, MAKEFILES), len;
	const char *ticket = env[i] ? store_ticket_path(env[i] + strlen(MAKEFILES), &len) : NULL;

	*c = (struct carried){ .host = 0 };
	return ticket && carry_from_ticket(c, ticket, len);
}

/* Set name=first[separator]second, at the place of the variable or at the end. */
static bool put_variable(struct carry_env *e, size_t *count, char *out, size_t size,
			 const char *name, const char *first, char separator, const char *second)
{
	size_t i = find_variable(e->env, name);
	struct buf b;

	buf_init_fixed(&b, out, size);
	buf_adds(&b, name);
	buf_adds(&b, first);
	if (*first && *second)
		buf_addc(&b, separator);
	buf_adds(&b, second);
	if (buf_error(&b))
		return false;
	if (!e->env[i])
		e->env[++*count] = NULL;
	e->env[i] = out;
	return true;
}

static const char *value_of(char *const env[], const char *name)
{
	size_t i = find_variable(env, name);

	return env[i] ? env[i] + strlen(name) : "";
}

static void write_mark(char *out, size_t size, pid_t host, bool keep)
{
	struct buf b;

	buf_init_fixed(&b, out, size);
	buf_addi(&b, host);
	buf_adds(&b, keep ? " keep" : "");
}

static bool fill_environment(struct carry_env *e, const struct carried *c, char *const env[],
			     bool preload, pid_t host)
{
	const char *makefiles = value_of(env, MAKEFILES);
	size_t n = 0, len;
	bool keep = store_ticket_path(makefiles, &len);
	char mark[32];

	while (env[n] && n < CARRY_ENV_MAX)
		n++;
	if (env[n])
		return false;
	memcpy(e->env, env, (n + 1) * sizeof *env);
	if (!keep && !put_variable(e, &n, e->makefiles, sizeof e->makefiles, MAKEFILES, c->ticket,
				   ' ', makefiles))
		return false;
	write_mark(mark, sizeof mark, host, keep);
	return !preload ||
	       (put_variable(e, &n, e->preload, sizeof e->preload, LD_PRELOAD, value_of(env,
											LD_PRELOAD),
			     ':', c->preload) &&
		put_variable(e, &n, e->mark, sizeof e->mark, CARRY_MARK "=", mark, ' ', ""));
}

char *const *carry_put(struct carry_env *e, const struct carried *c, char *const env[],
		       bool preload, pid_t host)
{
	static char *const none[] = { NULL };

	if (!env)
		env = none;
	if (!c->ticket[0] || env[find_variable(env, CARRY_MARK "=")] ||
	    (preload && carry_env_forbids(env)))
		return env;
	return fill_environment(e, c, env, preload, host) ? e->env : env;
}
