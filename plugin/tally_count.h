/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_PLUGIN_TALLY_COUNT_H
#define BUILDBEAT_PLUGIN_TALLY_COUNT_H

#include "plugin/buildbeat_plugin.h"

/* The tallies of this process: the functions of the same names in buildbeat_plugin.h. Those with a
 * session expect one that is live. */

int32_t tally_set(struct buildbeat_session *s, const struct buildbeat_tallies *given);
uint32_t tally_location(const struct buildbeat_place *place);
void tally_thread(const char *name);
void tally_queued(struct buildbeat_run *run, uint32_t location, int64_t delay_ns);
void tally_started(struct buildbeat_run *run, uint32_t location);
void tally_finished(struct buildbeat_run *run);
void tally_phase(struct buildbeat_session *s, const char *name);
void tally_snapshot(struct buildbeat_session *s,
		    void (*row)(const struct buildbeat_tally *row, void *data), void *data);
int32_t tally_dump(struct buildbeat_session *s, int32_t fd);
void tally_reset(struct buildbeat_session *s);

/* Write what changed to tally.log, if it is time. */
void tally_due(struct buildbeat_session *s);

/* The session ends. It has no tallies from now on, and they are written for the last time. */
void tally_close(struct buildbeat_session *s);

#endif
