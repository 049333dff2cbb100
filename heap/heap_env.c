/* SPDX-License-Identifier: MIT */
#include "heap/heap_env.h"

#include <fnmatch.h>
#include <string.h>

/* In buildbeat-arm.so: a program may have no libc. */
extern __typeof(fnmatch) fnmatch __attribute__((weak));

const char *heap_env_find(char *const env[], const char *name)
{
	size_t len = strlen(name);

	for (; env && *env; env++) {
		if (!strncmp(*env, name, len) && (*env)[len] == '=')
			return *env + len + 1;
	}
	return NULL;
}

/* Read a number and the character after it. */
static bool read_number(const char **at, uint64_t *value, char after)
{
	const char *p = *at;

	*value = 0;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (*value > UINT64_MAX / 10 - 1)
			return false;
		*value = *value * 10 + (uint64_t)(*p - '0');
	}
	if (p == *at || *p != after)
		return false;
	*at = p + (after != '\0');
	return true;
}

/* One of the patterns up to the end of the rule. */
static bool match_names(const char *names, const char *name)
{
	char pattern[NAME_MAX + 1];

	for (;;) {
		size_t len = strcspn(names, "|;");

		if (len && len < sizeof pattern) {
			memcpy(pattern, names, len);
			pattern[len] = '\0';
			if (!fnmatch(pattern, name, 0))
				return true;
		}
		if (names[len] != '|')
			return false;
		names += len + 1;
	}
}

bool heap_env_match(const char *rules, const char *name, uint64_t *period)
{
	while (rules && *rules) {
		const char *names = rules;

		if (read_number(&names, period, ':') && match_names(names, name))
			return true;
		rules += strcspn(rules, ";");
		rules += *rules == ';';
	}
	return false;
}

bool heap_env_now(const char *now, pid_t *pid, uint64_t *period)
{
	uint64_t number;

	if (!now || !read_number(&now, &number, ':') || number > INT32_MAX)
		return false;
	*pid = (pid_t)number;
	return read_number(&now, period, '\0');
}

/* Remove the elements of a list of preloads that are the shim; false: nothing is left. */
static bool take_from_list(char *list)
{
	char *to = list;

	for (char *p = list; *p;) {
		size_t len = strcspn(p, ": "), name = len;

		while (name && p[name - 1] != '/')
			name--;
		if (len && (len - name != strlen(HEAP_ENV_SHIM) ||
			    memcmp(p + name, HEAP_ENV_SHIM, len - name))) {
			if (to != list)
				*to++ = ':';
			memmove(to, p, len);
			to += len;
		}
		p += len + (p[len] != '\0');
	}
	*to = '\0';
	return to != list;
}

void heap_env_take(char **env)
{
	static const char list[] = "LD_PRELOAD=", now[] = HEAP_ENV_NOW "=";
	char **to = env;

	for (char **from = env; from && *from; from++) {
		char *p = *from;

		if (!strncmp(p, now, sizeof now - 1))
			continue;
		if (!strncmp(p, list, sizeof list - 1) && strstr(p, HEAP_ENV_SHIM) &&
		    !take_from_list(p + sizeof list - 1))
			continue;
		*to++ = p;
	}
	if (to)
		*to = NULL;
}
