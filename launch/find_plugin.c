/* SPDX-License-Identifier: MIT */
#include "launch/find_plugin.h"

#include "base/array.h"
#include "base/minmax.h"
#include "base/trust.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLUGIN_NAME "buildbeat.so"

/* A part of our installation: where it is from the directory of this program, in the installation
 * and in a build tree, and where configure said. */
struct part {
	const char *near[3], *installed;	/* near: the last may be NULL */
	int access;
	const char *unusable, *missing;
};

static const struct part plugin = {
	{ "/../lib/buildbeat/" PLUGIN_NAME, "/plugin/" PLUGIN_NAME },
	PKGLIBDIR "/" PLUGIN_NAME, R_OK,
	"the plugin cannot be used", "the plugin is not installed",
};

#define PROGRAM X_OK, "the program cannot be used", "the program is not installed"

/* A program of pkglibexec. */
#define HELPER(built, name) \
	{ { "/../libexec/buildbeat/" name, built name }, PKGLIBEXECDIR "/" name, PROGRAM }

/* buildbeat-serve starts the main program, and other programs of pkglibexec buildbeat-symbols. */
static const struct part programs[] = {
	[FIND_MAIN] = { { "/../../bin/buildbeat", "/../buildbeat" },
			PKGLIBEXECDIR "/../../bin/buildbeat", PROGRAM },
	[FIND_SENDER] = HELPER("/send/", "buildbeat-send"),
	[FIND_SERVER] = HELPER("/live/", "buildbeat-serve"),
	[FIND_SYMBOLS] = { { "/../libexec/buildbeat/buildbeat-symbols", "/symbols/buildbeat-symbols",
			     "/../symbols/buildbeat-symbols" },
			   PKGLIBEXECDIR "/buildbeat-symbols", PROGRAM },
	[FIND_TOP] = HELPER("/live/", "buildbeat-top"),
};

static bool is_part(char path[PATH_MAX], const struct part *part, const char *candidate)
{
	return realpath(candidate, path) && !access(path, part->access);
}

/* Other users must be able to write neither to it nor to its directory. */
static bool may_use(const char *path, const struct part *part, struct error *err)
{
	char dir[PATH_MAX];
	struct stat st;

	snprintf(dir, sizeof dir, "%.*s", (int)(strrchr(path, '/') - path), path);
	if (stat(*dir ? dir : "/", &st)) {
		error_sys(err, -errno, dir, part->unusable);
		return false;
	}
	if (trust_check_code(*dir ? dir : "/", &st, err))
		return false;
	if (!stat(path, &st))
		return !trust_check_code(path, &st, err);
	error_sys(err, -errno, path, part->unusable);
	return false;
}

static bool find_part(char path[PATH_MAX], const struct part *part, struct error *err)
{
	char exe[PATH_MAX], candidate[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	char *slash;

	exe[MAX(n, 0)] = '\0';
	slash = strrchr(exe, '/');
	for (size_t i = 0; slash && i < ARRAY_SIZE(part->near) && part->near[i]; i++) {
		*slash = '\0';
		snprintf(candidate, sizeof candidate, "%s%s", exe, part->near[i]);
		if (is_part(path, part, candidate))
			return may_use(path, part, err);
	}
	if (is_part(path, part, part->installed))
		return may_use(path, part, err);
	error_set(err, -ENOENT, part->installed, 0, 0, "%s", part->missing);
	return false;
}

bool find_plugin(char path[PATH_MAX], const char *setting, struct error *err)
{
	if (!setting)
		return find_part(path, &plugin, err);
	if (is_part(path, &plugin, setting))
		return may_use(path, &plugin, err);
	error_sys(err, -errno, setting, plugin.unusable);
	return false;
}

bool find_heap(char path[PATH_MAX], const char *name, struct error *err)
{
	char installed[NAME_MAX + sizeof PKGLIBDIR + 1], beside[NAME_MAX + 64];
	char built[NAME_MAX + 64], from_live[NAME_MAX + 64];
	struct part part = { { beside, built, from_live }, installed, R_OK, "the object cannot be used",
			     "the object is not installed" };

	snprintf(beside, sizeof beside, "/../lib/buildbeat/%s", name);
	snprintf(built, sizeof built, "/heap/%s", name);
	snprintf(from_live, sizeof from_live, "/../heap/%s", name);
	snprintf(installed, sizeof installed, PKGLIBDIR "/%s", name);
	return find_part(path, &part, err);
}

bool find_program(char path[PATH_MAX], enum find_name name, struct error *err)
{
	return find_part(path, &programs[name], err);
}
