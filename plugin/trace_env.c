/* SPDX-License-Identifier: MIT */
#include "plugin/trace_env.h"

#include "recording/identity.h"

#include <string.h>

#define NAME "TRACEPARENT="
#define TRACE_AT 3		/* in its value, after the version */

__attribute__((cold)) void trace_env_give(char *const env[], const struct store *store, uint64_t task)
{
	static struct identity id;	/* of the recording of this process; seed 0: not read */
	char text[IDENTITY_TRACEPARENT_SIZE];
	char *value = NULL;

	for (size_t i = 0; !value && env && env[i]; i++) {
		if (!strncmp(env[i], NAME, strlen(NAME)))
			value = env[i] + strlen(NAME);
	}
	if (!value || strlen(value) != sizeof text - 1 ||
	    (!id.seed && !identity_of_path(&id, store->path)) ||
	    strncmp(value + TRACE_AT, id.trace, strlen(id.trace)))
		return;
	identity_traceparent(text, &id, identity_hash(&id, store->inst, task, 0));
	memcpy(value, text, sizeof text - 1);
}
