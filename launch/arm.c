/* SPDX-License-Identifier: MIT */
#include "launch/arm.h"

#include "base/trust.h"
#include "heap/heap_env.h"
#include "inspect/uncounted.h"
#include "launch/find_plugin.h"
#include "plugin/carry.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#define PERIOD (512 << 10)	/* mean bytes between samples */

/* What a path must not have: elements of LD_PRELOAD end there, and the loader replaces "$LIB". */
static const char forbidden[] = ": $";

static int add_rule(struct arm *a, const struct inspect_rule *r, struct error *err)
{
	if (strchr(r->names, ';'))
		return error_say(err, -EINVAL, "cannot count the heap of '%s': its name has a ';'",
				 r->names);
	if (a->rules.len)
		buf_addc(&a->rules, ';');
	buf_addi(&a->rules, r->heap == HEAP_EXACT ? 0 : PERIOD);
	buf_addc(&a->rules, ':');
	buf_adds(&a->rules, r->names);
	return buf_error(&a->rules);
}

static bool is_ours(const char *dir)
{
	struct error unused;
	struct stat st;

	return !stat(dir, &st) && !trust_check_code(dir, &st, &unused);
}

/* Let the loader of each program choose the object, if there is one for this machine. Otherwise
 * 32-bit programs print an error of their loader. */
static void choose_by_platform(struct arm *a)
{
	const char *platform = (const char *)getauxval(AT_PLATFORM);
	size_t dir = (size_t)(strrchr(a->preload, '/') + 1 - a->preload);
	char path[PATH_MAX];
	int n;

	n = snprintf(path, sizeof path, "%.*sarm/%s/" HEAP_ENV_ARM, (int)dir, a->preload,
		     platform ? platform : "");
	if (!platform || (size_t)n >= sizeof path || access(path, R_OK))
		return;
	*strrchr(path, '/') = '\0';
	if (!is_ours(path))
		return;
	*strrchr(path, '/') = '\0';
	if (is_ours(path) && dir + sizeof HEAP_ENV_BY_PLATFORM <= sizeof a->preload)
		strcpy(a->preload + dir, HEAP_ENV_BY_PLATFORM);
}

bool arm_init(struct arm *a, const struct inspect_rule *rules, size_t n, const char *dir,
	      struct error *err)
{
	char shim[PATH_MAX];

	*a = (struct arm){ .preload = "" };
	buf_init(&a->rules);
	for (size_t i = 0; i < n; i++) {
		if (rules[i].heap != HEAP_OFF && add_rule(a, &rules[i], err))
			return false;
	}
	if (!a->rules.len)
		return true;
	if (dir[0] != '/' || strlen(dir) >= sizeof a->dir) {
		error_set(err, -EINVAL, dir, 0, 0, "the directory for images of the heap must be "
			  "an absolute path of less than %zu bytes", sizeof a->dir);
		return false;
	}
	strcpy(a->dir, dir);
	if (!find_heap(a->preload, HEAP_ENV_ARM, err) || !find_heap(shim, HEAP_ENV_SHIM, err))
		return false;
	if (!strpbrk(a->preload, forbidden)) {
		choose_by_platform(a);
		return true;
	}
	error_set(err, -EINVAL, a->preload, 0, 0,
		  "cannot be preloaded: its path has a space, a colon or a dollar sign");
	return false;
}

void arm_release(struct arm *a)
{
	buf_release(&a->rules);
}

void arm_environment(const struct arm *a)
{
	const char *before = getenv("LD_PRELOAD");
	struct buf list;

	if (!a->rules.len || (before && carry_env_forbids(environ)))
		return;
	buf_init(&list);
	buf_adds(&list, a->preload);
	if (before && *before)
		buf_addf(&list, ":%s", before);
	if (!buf_error(&list) && !setenv(HEAP_ENV_RULES, a->rules.data, 1) &&
	    !setenv(HEAP_ENV_DIR, a->dir, 1))
		setenv("LD_PRELOAD", list.data, 1);
	buf_release(&list);
}

const char *arm_obstacle(const char *path)
{
	const char *reason = uncounted_file(AT_FDCWD, path);

	if (reason)
		return reason;
	switch (carry_fit_of(path)) {
	case CARRY_FITS: return NULL;
	case CARRY_MUST_NOT: return "the runtime of a sanitizer must be its first object";
	case CARRY_CANNOT: break;
	}
	return "it is for another machine, or has another loader";
}
