/* SPDX-License-Identifier: MIT */
#include "cli/process_env.h"

#include "base/readfile.h"
#include "base/trust.h"
#include "recording/store_join.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ENVIRONMENT_MAX (4 << 20)

bool process_env_read(struct buf *out, int32_t pid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/environ", (int)pid);
	if (readfile_at(out, AT_FDCWD, path, ENVIRONMENT_MAX) || !out->len)
		return false;
	buf_addc(out, '\0');
	return !buf_error(out);
}

const char *process_env_value(const struct buf *environment, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = environment->data, *end = p + environment->len; p < end;
	     p += strlen(p) + 1) {
		if (!strncmp(p, name, len) && p[len] == '=')
			return p + len + 1;
	}
	return NULL;
}

bool process_env_recording(char path[PATH_MAX], const struct buf *environment)
{
	const char *makefiles = process_env_value(environment, "MAKEFILES");
	struct store store = STORE_INIT;
	char ticket[PATH_MAX];
	struct error err;
	bool good;
	size_t len;

	if (!makefiles || !store_ticket_path(makefiles, &len) || len >= sizeof ticket)
		return false;
	memcpy(ticket, makefiles, len);
	ticket[len] = '\0';
	if (trust_path(ticket, &err) || store_join_ticket(&store, ticket))
		return false;
	good = !access(store.path, W_OK) && !trust_path(store.path, &err);
	if (good)
		snprintf(path, PATH_MAX, "%s", store.path);
	store_close(&store);
	return good;
}
