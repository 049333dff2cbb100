/* SPDX-License-Identifier: MIT */
#include "compare/known.h"

#include "base/buf.h"
#include "base/cursor.h"
#include "compare/history.h"

#include <string.h>

bool known_fits(const struct known *k, const struct builds *builds, const struct known_subject *of)
{
	struct buf pattern = BUF_INIT;
	bool fits = k->metrics & METRIC_BIT(of->metric);

	if (of->task != TASK_HOST && of->task != TASK_SHARED)
		return fits && builds_task_fits(builds, of->task, k->pattern);
	for (size_t i = 0; fits && i < of->n_moved; i++)
		fits = builds_task_fits(builds, of->moved[i], k->pattern);
	if (!fits || of->n_moved)
		return fits;
	if (of->task == TASK_SHARED)
		shared_add_pattern(&pattern, builds, of->group);
	fits = !strcmp(k->pattern, "*") ||
	       (of->task == TASK_SHARED && !strcmp(k->pattern, buf_str(&pattern)));
	buf_release(&pattern);
	return fits;
}

static struct slice branch_of(const char *ref)
{
	const char *from = strchrnul(ref, '/');

	from += *from == '/';
	return (struct slice){ from, strcspn(from, "/") };
}

/* Two machines can have their only source tree at different places. */
static const struct revision *same_tree(const struct build *build, const struct revision *revision,
					size_t n)
{
	const struct revision *same = build_revision(build, revision->source);

	return same || n != 1 || build->n_revisions != 1 ? same : build->revision;
}

static bool has_revisions(const struct build *build, bool same_branch,
			  const struct revision *revision, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct revision *r = same_tree(build, &revision[i], n);

		if (!r || (strcmp(r->commit, revision[i].commit) != 0 &&
			   !(same_branch && revision[i].count > 0 && r->count >= revision[i].count)))
			return false;
	}
	return n;
}

size_t known_same_build(const struct builds *builds, const char *ref,
			const struct revision *revision, size_t n_revisions)
{
	struct slice ours = branch_of(builds->ref), theirs = branch_of(ref);
	bool same_branch = ours.len == theirs.len && !memcmp(ours.p, theirs.p, ours.len);
	size_t i = 0;

	while (i < builds->n && !has_revisions(&builds->build[i], same_branch, revision, n_revisions))
		i++;
	return i;
}

bool known_is_url(const char *text)
{
	const char *host = !strncmp(text, "http://", 7) ? text + 7 :
			   !strncmp(text, "https://", 8) ? text + 8 : "";

	for (const char *p = host; *p; p++) {
		if ((unsigned char)*p <= ' ' || *p == 0x7f || strchr("\"<>\\^`{|}", *p))
			return false;
	}
	return *host && *host != '/';
}

const struct known *known_find(const struct known_list *list, enum known_kind kind,
			       const struct builds *builds, const struct known_subject *of,
			       uint32_t first, uint32_t last)
{
	for (size_t i = list ? list->n : 0; i-- > 0; ) {
		const struct known *k = &list->known[i];
		bool overdue = k->overdue && k->overdue_since <= last;

		if (k->kind == kind && !overdue && k->build >= first && k->build <= last && known_fits(k, builds, of))
			return k;
	}
	return NULL;
}
