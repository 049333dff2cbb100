/* SPDX-License-Identifier: MIT */
#include "archive/commit_count.h"

#include "analyse/values.h"
#include "base/arena.h"
#include "base/array.h"
#include "base/buf.h"

#include <errno.h>
#include <git2.h>
#include <stdbool.h>
#include <string.h>

/* 0: unknown. */
static uint64_t count_commits(const char *tree, const char *commit)
{
	git_repository *repo = NULL;
	git_revwalk *walk = NULL;
	uint64_t n = 0;
	git_oid id;

	if (!git_oid_fromstr(&id, commit) && !git_repository_open(&repo, tree) &&
	    !git_repository_is_shallow(repo) && !git_revwalk_new(&walk, repo) &&
	    !git_revwalk_push(walk, &id)) {
		while (n <= COMMIT_COUNT_MAX && !git_revwalk_next(&id, walk))
			n++;
	}
	git_revwalk_free(walk);
	git_repository_free(repo);
	return n <= COMMIT_COUNT_MAX ? n : 0;
}

/* After the fact at. */
static int insert(struct values *f, size_t at, uint64_t n)
{
	struct values_fact *fact = array_grow(f->fact, f->n_facts, sizeof *fact);
	struct buf text = BUF_INIT;
	int r = -ENOMEM;

	if (!fact)
		return -ENOMEM;
	f->fact = fact;
	buf_addu(&text, n);
	if (!buf_error(&text)) {
		memmove(fact + at + 2, fact + at + 1, (f->n_facts - at - 1) * sizeof *fact);
		f->n_facts++;
		fact[at + 1] = (struct values_fact){ "commit_count",
						      arena_text(f->texts, text.data, text.len) };
		r = fact[at + 1].value ? 0 : -ENOMEM;
	}
	buf_release(&text);
	return r;
}

static bool is(const struct values *f, size_t at, const char *key)
{
	return at < f->n_facts && !strcmp(f->fact[at].key, key);
}

/* Whether the count is known: it follows before the next tree. */
static bool is_counted(const struct values *f, size_t at)
{
	while (at < f->n_facts && !is(f, at, "source")) {
		if (is(f, at++, "commit_count"))
			return true;
	}
	return false;
}

int commit_count_add(struct values *f)
{
	const char *tree = NULL;
	int r = 0;

	git_libgit2_init();
	for (size_t i = 0; !r && i < f->n_facts; i++) {
		uint64_t n;

		if (is(f, i, "source"))
			tree = f->fact[i].value;
		if (!tree || !is(f, i, "revision") || is_counted(f, i))
			continue;
		n = count_commits(tree, f->fact[i].value);
		if (n)
			r = insert(f, i, n);
	}
	git_libgit2_shutdown();
	return r;
}
