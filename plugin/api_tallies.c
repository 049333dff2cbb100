/* SPDX-License-Identifier: MIT */
/* The functions of tallies that have a session. */
#include "plugin/api.h"
#include "plugin/tally_count.h"

#include <errno.h>

__attribute__((cold)) int32_t api_tallies_set(struct buildbeat_session *s,
					      const struct buildbeat_tallies *given)
{
	struct buildbeat_tallies tallies = { 0 };
	struct api_guest guest;
	int32_t status;

	if (!api_enter(s, &guest))
		return BUILDBEAT_TALLY_UNINITIALISED;
	status = tally_set(s, api_take(&tallies, sizeof tallies, given) ? &tallies : NULL);
	api_leave(s, &guest);
	return status;
}

__attribute__((cold)) void api_tallies_phase(struct buildbeat_session *s, const char *name)
{
	struct api_guest guest;

	if (!api_enter(s, &guest))
		return;
	tally_phase(s, name);
	api_leave(s, &guest);
}

__attribute__((cold)) void
api_tallies_snapshot(struct buildbeat_session *s,
		     void (*row)(const struct buildbeat_tally *row, void *data), void *data)
{
	struct api_guest guest;

	if (!api_enter(s, &guest))
		return;
	tally_snapshot(s, row, data);
	api_leave(s, &guest);
}

__attribute__((cold)) int32_t api_tallies_dump(struct buildbeat_session *s, int32_t fd)
{
	struct api_guest guest;
	int32_t r;

	if (!api_enter(s, &guest))
		return -ENOENT;
	r = tally_dump(s, fd);
	api_leave(s, &guest);
	return r;
}

__attribute__((cold)) void api_tallies_reset(struct buildbeat_session *s)
{
	struct api_guest guest;

	if (!api_enter(s, &guest))
		return;
	tally_reset(s);
	api_leave(s, &guest);
}
