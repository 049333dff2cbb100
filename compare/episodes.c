/* SPDX-License-Identifier: MIT */
#include "compare/episodes.h"

#include "base/array.h"

#include <errno.h>
#include <stdlib.h>

struct telling {
	struct episodes *e;
	const struct builds *builds;
	const struct known_list *known;
	uint32_t last;		/* good build before */
};

static bool is_same(const struct verdict_finding *a, const struct verdict_finding *b)
{
	return a->task == b->task && a->metric == b->metric && a->at == b->at && a->group.of == b->group.of &&
	       a->group.example == b->group.example && a->group.len == b->group.len;
}

static const struct verdict_finding *find(const struct verdict_finding *f, size_t n,
					  const struct verdict_finding *like)
{
	for (size_t i = 0; i < n; i++) {
		if (f[i].worse && f[i].state != FINDING_SUSPECT && is_same(&f[i], like))
			return &f[i];
	}
	return NULL;
}

/* Why a regression no longer fails the check of a build. */
static enum episode_end why_ended(const struct telling *t, const struct episode *e, uint32_t build,
				  const struct verdict *v)
{
	const struct verdict_finding *now = find(v->finding, v->n, &e->finding), *f = &e->finding;
	const struct known_subject subject = { f->task, f->metric, &f->group, NULL, 0 };

	if (now)
		return now->state == FINDING_KNOWN ? EPISODE_KNOWN : now->back ? EPISODE_BACK : EPISODE_GONE;
	if (find(v->past, v->n_past, &e->finding))
		return EPISODE_LEFT;
	return known_find(t->known, KNOWN_ACCEPTED, t->builds, &subject, t->last + 1, build) ?
	       EPISODE_ACCEPTED : EPISODE_GONE;
}

/* The newest episode of a finding that is open or may go on. */
static struct episode *of_finding(struct episodes *e, const struct verdict_finding *f)
{
	for (size_t i = e->n; i-- > 0; ) {
		if (is_same(&e->episode[i].finding, f))
			return &e->episode[i];
	}
	return NULL;
}

static int add(struct episodes *e, const struct verdict_finding *f, uint32_t build)
{
	struct episode *added = array_add(&e->episode, &e->n, sizeof *added);

	if (!added)
		return -ENOMEM;
	*added = (struct episode){ .finding = *f, .begin = build, .end = e->n_builds };
	added->finding.n_moved = added->finding.first_moved = 0;
	return 0;
}

static int see(void *context, uint32_t build, const struct verdict *v, struct error *err)
{
	struct telling *t = context;
	struct episodes *e = t->e;

	e->build[build - e->first] = (struct episodes_build){
		v->not_judged, v->enough, v->n_confirmed, v->n_known, v->n_suspect,
	};
	if (v->not_judged)
		return 0;
	for (size_t i = 0; i < e->n; i++) {
		struct episode *of = &e->episode[i];
		const struct verdict_finding *f;

		if (of->why == EPISODE_BACK)
			of->why = find(v->past, v->n_past, &of->finding) ? EPISODE_LEFT : of->why;
		if (of->why != EPISODE_OPEN)
			continue;
		f = find(v->finding, v->n, &of->finding);
		if (f && f->fails)
			continue;
		of->end = build;
		of->why = why_ended(t, of, build, v);
	}
	for (size_t i = 0; i < v->n; i++) {
		struct episode *of;

		if (!v->finding[i].fails)
			continue;
		of = of_finding(e, &v->finding[i]);
		if (!of) {
			if (add(e, &v->finding[i], build))
				return error_sys(err, -ENOMEM, NULL, "check");
			of = &e->episode[e->n - 1];
		}
		of->why = EPISODE_OPEN;
		of->end = e->n_builds;
		of->red++;
	}
	t->last = build;
	return 0;
}

int episodes_find(struct episodes *e, const struct builds *builds, const struct rules *rules,
		  const struct known_list *known, uint32_t first, struct error *err)
{
	struct telling t = { .e = e, .builds = builds, .known = known, .last = first ? first - 1 : 0 };
	const struct verdict_seen seen = { see, &t };

	*e = (struct episodes){ .first = first, .n_builds = (uint32_t)builds->n };
	e->build = array_new(builds->n - first, sizeof *e->build);
	if (!e->build)
		return error_sys(err, -ENOMEM, NULL, "check");
	return verdict_each(builds, rules, known, first, &seen, err);
}

void episodes_release(struct episodes *e)
{
	free_all(e->build, e->episode);
	*e = (struct episodes){ 0 };
}

size_t episodes_same(const struct episodes *e, size_t i)
{
	size_t end = i;

	while (end < e->n && e->episode[end].begin == e->episode[i].begin)
		end++;
	return end;
}
