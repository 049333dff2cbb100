/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMPARE_EPISODES_H
#define BUILDBEAT_COMPARE_EPISODES_H

#include "compare/verdict.h"

/*
 * What check said about each build of a series, with these rules and notes. An episode is a
 * regression from the first build whose check it failed to the first one whose check it no longer
 * did. What fails again because it was back for a build or two is the same episode.
 */
enum episode_end {
	EPISODE_OPEN,
	EPISODE_LEFT,		/* the level was left */
	EPISODE_BACK,		/* so far only the newest build is back */
	EPISODE_ACCEPTED,
	EPISODE_KNOWN,		/* acknowledged */
	EPISODE_GONE,		/* the task is gone, or another finding has it now */
};

struct episode {
	struct verdict_finding finding;	/* as the first check reported it; without the tasks of
					   TASK_HOST */
	uint32_t begin, end;	/* builds; end is n of builds if it is open */
	uint32_t red;		/* good builds in between whose check it failed */
	enum episode_end why;
};

struct episodes_build {
	bool not_judged, enough;	/* as in struct verdict */
	size_t n_confirmed, n_known, n_suspect;
};

struct episodes {
	uint32_t first, n_builds;	/* of the series; those before are not listed */
	struct episodes_build *build;	/* of each from `first` on */
	size_t n;
	struct episode *episode;	/* by begin; those of one build as check lists them */
};

/* first: regressions that failed this build's check already begin with it. Returns 0 or a negative
 * errno with err. Always release. */
int episodes_find(struct episodes *e, const struct builds *builds, const struct rules *rules,
		  const struct known_list *known, uint32_t first, struct error *err);
void episodes_release(struct episodes *e);

/* The episodes that begin with the same build as the i-th one: [i, end). */
size_t episodes_same(const struct episodes *e, size_t i);

#endif
