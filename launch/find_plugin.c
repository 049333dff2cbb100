/* SPDX-License-Identifier: MIT */
#include "launch/find_plugin.h"

#include "base/array.h"
#include "base/trust.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLUGIN_NAME "buildbeat.so"

static bool is_plugin(char path[PATH_MAX], const char *candidate)
{
	return realpath(candidate, path) && !access(path, R_OK);
}

/* Other users must be able to write neither to the plugin nor to its directory. */
static bool may_load(const char *path, struct error *err)
{
	char dir[PATH_MAX];
	struct stat st;

	snprintf(dir, sizeof dir, "%.*s", (int)(strrchr(path, '/') - path), path);
	if (stat(*dir ? dir : "/", &st)) {
		error_sys(err, -errno, dir, "the plugin cannot be used");
		return false;
	}
	if (trust_check_code(*dir ? dir : "/", &st, err))
		return false;
	if (!stat(path, &st))
		return !trust_check_code(path, &st, err);
	error_sys(err, -errno, path, "the plugin cannot be used");
	return false;
}

/* It is beside us, in our build tree, or where configure said. */
bool find_plugin(char path[PATH_MAX], const char *setting, struct error *err)
{
	static const char *const near[] = {
		"/../lib/buildbeat/" PLUGIN_NAME, "/plugin/.libs/" PLUGIN_NAME,
	};
	char exe[PATH_MAX], candidate[PATH_MAX + 64];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	char *slash;

	if (setting) {
		if (is_plugin(path, setting))
			return may_load(path, err);
		error_sys(err, -errno, setting, "the plugin cannot be used");
		return false;
	}
	exe[n > 0 ? n : 0] = '\0';
	slash = strrchr(exe, '/');
	for (size_t i = 0; slash && i < ARRAY_SIZE(near); i++) {
		*slash = '\0';
		snprintf(candidate, sizeof candidate, "%s%s", exe, near[i]);
		if (is_plugin(path, candidate))
			return may_load(path, err);
	}
	if (is_plugin(path, PKGLIBDIR "/" PLUGIN_NAME))
		return may_load(path, err);
	error_set(err, -ENOENT, PKGLIBDIR "/" PLUGIN_NAME, 0, 0,
		  "the plugin is not installed");
	return false;
}
