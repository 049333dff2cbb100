/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "live/api_parts.h"
#include "live/earlier.h"
#include "live/route.h"
#include "live/source.h"
#include "recording/suspended.h"

#include <string.h>

/*
 * What remains of a running build. A reader learns from earlier recordings once, for all its
 * replies, because they do not change while the build runs.
 */
static struct remaining *learnt;
static char learnt_for[PATH_MAX];

static int learn(const char *path, struct error *err)
{
	int r;

	if (learnt && !strcmp(learnt_for, path))
		return 0;
	remaining_free(learnt);
	learnt = NULL;
	r = earlier_learn(&learnt, path, err);
	if (!r)
		memcpy(learnt_for, path, strlen(path) + 1);
	return r;
}

/* The estimate of a recording that did not change, at a time after its start. */
static struct {
	uint64_t generation;
	int64_t at_us;
	bool known;
	struct remaining_estimate e;
} newest;

bool api_remaining_has_learnt(const struct source *s)
{
	char path[PATH_MAX];

	return learnt && source_directory(s, path) && !strcmp(learnt_for, path);
}

int api_remaining_of(struct source *s, struct remaining_estimate *e, struct error *err)
{
	const struct catalogue_entry *entry = catalogue_find(s->catalogue, s->id);
	char path[PATH_MAX];
	int64_t elapsed_us;
	int r;

	*e = (struct remaining_estimate){ .left_us = -1, .low_us = -1, .high_us = -1 };
	if (entry && !entry->running)
		return 0;	/* nor will it: nothing need be read */
	r = source_need(s, SOURCE_RECORDING, err);
	if (r || !s->running || !source_directory(s, path))
		return r;
	elapsed_us = suspended_since_start_us(&s->recording, clock_mono_ns());
	if (!newest.known || newest.generation != s->generation || strcmp(learnt_for, path) != 0) {
		newest.known = false;
		r = learn(path, err);
		if (!r && (r = remaining_estimate(&newest.e, learnt, &s->recording, elapsed_us)))
			error_sys(err, r, path, NULL);
		if (r)
			return r;
		newest.known = true;
		newest.generation = s->generation;
		newest.at_us = elapsed_us;
	}
	*e = remaining_later(&newest.e, elapsed_us - newest.at_us);
	return 0;
}

static int reply_remaining(struct reply *out, const struct request *q, struct error *err)
{
	struct remaining_estimate e;
	struct json j;
	int r = api_remaining_of(q->source, &e, err);

	if (r)
		return r;
	json_init(&j, &out->body, true);
	json_object(&j, NULL);
	json_bool(&j, "is_running", q->source->running);
	earlier_json(&j, &e);
	json_object_end(&j);
	return buf_error(&out->body);
}

const struct route api_remaining_routes[] = {
	{ "/api/v1/remaining", "rec",
	  "What remains of a running build, from earlier recordings of it, with an 80 % interval.",
	  reply_remaining },
	{ 0 }
};
