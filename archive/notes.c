/* SPDX-License-Identifier: MIT */
#include "archive/notes.h"

#include "archive/build.h"
#include "archive/notes_text.h"
#include "archive/remote.h"
#include "archive/writing.h"
#include "base/array.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOBODY "buildbeat", "buildbeat@localhost"

static int git_failed(struct error *err, const char *what)
{
	const git_error *e = git_error_last();

	return error_set(err, -EIO, NOTES_REF, 0, 0, "%s: %s", what,
			 e && e->message ? e->message : "unknown error");
}

/* One state of the notes; commit is NULL before the first note. */
struct notes {
	git_repository *repo;
	git_commit *commit;
};

static int notes_open(struct notes *n, git_repository *repo, const git_oid *id,
		      struct error *err)
{
	*n = (struct notes){ .repo = repo };
	if (git_oid_is_zero(id))
		return 0;
	return git_commit_lookup(&n->commit, repo, id) ? git_failed(err, "cannot read notes") : 0;
}

static void notes_close(struct notes *n)
{
	git_commit_free(n->commit);
	n->commit = NULL;
}

/* The text of the note on a build, or "". The caller frees *note. */
static int note_read(struct slice *text, git_note **note, const struct notes *n,
		     const git_oid *build, struct error *err)
{
	int r = GIT_ENOTFOUND;

	*note = NULL;
	*text = (struct slice){ "", 0 };
	if (n->commit)
		r = git_note_commit_read(note, n->repo, n->commit, build);
	if (r)
		return r == GIT_ENOTFOUND ? 0 : git_failed(err, "cannot read a note");
	*text = slice_of(git_note_message(*note));
	return 0;
}

/* The next state, with this note on a build; an empty text removes the note. */
static int notes_put(struct notes *n, const git_oid *build, struct buf *text,
		     const git_signature *who, struct error *err)
{
	git_oid commit, blob;
	int r;

	if (buf_error(text))
		return error_sys(err, buf_error(text), NOTES_REF, NULL);
	if (text->len)
		r = git_note_commit_create(&commit, &blob, n->repo, n->commit, who, who, build,
					   buf_str(text), 1);
	else
		r = git_note_commit_remove(&commit, n->repo, n->commit, who, who, build);
	if (r == GIT_ENOTFOUND)
		return 0;
	if (r)
		return git_failed(err, "cannot write notes");
	notes_close(n);
	return notes_open(n, n->repo, &commit, err);
}

struct merge {
	struct notes base, ours, theirs, merged;
	git_signature *who;
	struct error *err;
};

static int merge_note(struct merge *m, const git_oid *build)
{
	const struct notes *side[3] = { &m->base, &m->ours, &m->theirs };
	git_note *note[3] = { NULL };
	struct slice is[3];
	struct buf text = BUF_INIT;
	int r = 0;

	for (int i = 0; i < 3 && !r; i++)
		r = note_read(&is[i], &note[i], side[i], build, m->err);
	if (!r) {
		note_merge(&text, is[0], is[1], is[2]);
		if (buf_error(&text) || text.len != is[1].len ||
		    memcmp(buf_str(&text), is[1].p, is[1].len))
			r = notes_put(&m->merged, build, &text, m->who, m->err);
	}
	buf_release(&text);
	for (int i = 0; i < 3; i++)
		git_note_free(note[i]);
	return r;
}

/* Merges every note of one side. A note on both sides is merged twice, with the same result. */
static int merge_notes_of(struct merge *m, const struct notes *side)
{
	git_note_iterator *it;
	git_oid blob, build;
	int r = 0;

	if (git_note_commit_iterator_new(&it, side->commit))
		return git_failed(m->err, "cannot read notes");
	while (!r && !git_note_next(&blob, &build, it))
		r = merge_note(m, &build);
	git_note_iterator_free(it);
	return r;
}

/* The id depends only on the two parents. */
static int commit_merge(struct merge *m, git_oid *id)
{
	const git_commit *parents[2] = { m->ours.commit, m->theirs.commit };
	git_tree *tree;
	int r;

	if (git_commit_tree(&tree, m->merged.commit))
		return git_failed(m->err, "cannot read notes");
	r = git_commit_create(id, m->merged.repo, NULL, m->who, m->who, NULL, "Notes merged\n",
			      tree, 2, parents);
	git_tree_free(tree);
	return r ? git_failed(m->err, "cannot write notes") : 0;
}

static int merge_open(struct merge *m, git_repository *repo, const git_oid *base,
		      const git_oid *ours, const git_oid *theirs)
{
	int r = notes_open(&m->base, repo, base, m->err);
	git_time_t at;

	if (r)
		return r;
	r = notes_open(&m->ours, repo, ours, m->err);
	if (r)
		return r;
	r = notes_open(&m->theirs, repo, theirs, m->err);
	if (r)
		return r;
	r = notes_open(&m->merged, repo, ours, m->err);
	if (r)
		return r;
	at = git_commit_time(m->ours.commit);
	if (git_commit_time(m->theirs.commit) > at)
		at = git_commit_time(m->theirs.commit);
	return git_signature_new(&m->who, NOBODY, at, 0) ?
	       git_failed(m->err, "cannot write notes") : 0;
}

int notes_merge(git_oid *merged, git_repository *repo, const git_oid *ours,
		const git_oid *theirs, struct error *err)
{
	struct merge m = { .err = err };
	git_oid base = { { 0 } };
	int r;

	/* The order of the parents does not depend on who merges. */
	if (git_oid_cmp(ours, theirs) > 0) {
		const git_oid *other = ours;

		ours = theirs;
		theirs = other;
	}
	r = git_merge_base(&base, repo, ours, theirs);
	if (r && r != GIT_ENOTFOUND)
		return git_failed(err, "cannot read notes");
	if (git_oid_equal(&base, ours) || git_oid_equal(&base, theirs)) {
		git_oid_cpy(merged, git_oid_equal(&base, ours) ? theirs : ours);
		return 0;
	}
	r = merge_open(&m, repo, &base, ours, theirs);
	if (r)
		goto out;
	r = merge_notes_of(&m, &m.ours);
	if (r)
		goto out;
	r = merge_notes_of(&m, &m.theirs);
	if (r)
		goto out;
	r = commit_merge(&m, merged);
out:
	git_signature_free(m.who);
	notes_close(&m.base);
	notes_close(&m.ours);
	notes_close(&m.theirs);
	notes_close(&m.merged);
	return r;
}

/* Adds the note on `from` to the note on `to`. */
static int copy(struct notes *n, const git_oid *from, const git_oid *to, struct error *err)
{
	struct slice nothing = { "", 0 }, old, there;
	git_note *note[2] = { NULL };
	git_signature *who = NULL;
	struct buf text = BUF_INIT;
	int r = note_read(&old, &note[0], n, from, err);

	r = r ? r : note_read(&there, &note[1], n, to, err);
	if (!r && old.len) {
		note_merge(&text, nothing, there, old);
		r = git_signature_new(&who, NOBODY, git_commit_time(n->commit), 0) ?
		    git_failed(err, "cannot write notes") : notes_put(n, to, &text, who, err);
	}
	git_signature_free(who);
	git_note_free(note[0]);
	git_note_free(note[1]);
	buf_release(&text);
	return r;
}

int notes_copy(git_oid *notes, git_repository *repo, const git_oid *from, const git_oid *to,
	       struct error *err)
{
	struct notes n;
	int r = notes_open(&n, repo, notes, err);

	if (!r && n.commit)
		r = copy(&n, from, to, err);
	if (!r && n.commit)
		git_oid_cpy(notes, git_commit_id(n.commit));
	notes_close(&n);
	return r;
}

static int tip(struct archive *a, git_oid *id, struct error *err)
{
	int r = git_reference_name_to_id(id, a->git, NOTES_REF);

	if (r == GIT_ENOTFOUND)
		*id = (git_oid){ { 0 } };
	return r && r != GIT_ENOTFOUND ? repo_fail(a, r, err, "cannot read " NOTES_REF) : 0;
}

struct reader {
	struct builds *builds;
	struct known_list *list;
	const char *path;
	int damaged;
	struct error *err;
};

/* Only the first damaged line is reported. */
static void add_damaged(struct reader *r, uint32_t build, unsigned number, struct slice line)
{
	struct buf path = BUF_INIT;

	if (r->damaged++)
		return;
	buf_addf(&path, "%s: note on %.12s", r->path, r->builds->build[build].id);
	error_set(r->err, 0, buf_str(&path), number, 0, "skipped: not a note of buildbeat: %.*s",
		  (int)line.len, line.p);
	buf_release(&path);
}

/* home: the build of another series that has the note, or NULL. Only notes about every series count
 * then, and lines that are no notes are not reported. */
static int read_note(struct reader *r, uint32_t build, const char *home, struct slice text)
{
	enum note_line what;
	struct cursor lines;
	struct slice line;
	bool complete;
	int code = 0;

	cursor_init(&lines, text.p, text.len);
	while (!code && cursor_line(&lines, &line, &complete)) {
		struct known k, *grown = NULL;

		code = note_line_read(&what, &k, r->builds->texts, line);
		k.build = build;
		k.home = home;
		if (!code && what == NOTE_DAMAGED && !home)
			add_damaged(r, build, lines.line, line);
		if (code || what != NOTE_SAYS || (home && !k.everywhere))
			continue;
		grown = array_grow(r->list->known, r->list->n, sizeof *grown);
		if (grown) {
			r->list->known = grown;
			grown[r->list->n++] = k;
		}
		code = grown ? 0 : -ENOMEM;
	}
	if (code)
		error_sys(r->err, code, r->path, NULL);
	return code;
}

/* Notes on builds of other series. */
struct others {
	git_oid *build;
	size_t n;
};

/* Which builds have a note: few of many. */
static int find_notes(bool *has, struct others *others, const struct notes *n,
		      const struct builds *builds, struct error *err)
{
	git_note_iterator *it;
	git_oid blob, build;
	char id[ARCHIVE_ID_SIZE];
	int r = 0;

	if (git_note_commit_iterator_new(&it, n->commit))
		return git_failed(err, "cannot read notes");
	while (!r && !git_note_next(&blob, &build, it)) {
		bool is_ours = false;
		git_oid *other;

		git_oid_tostr(id, sizeof id, &build);
		for (size_t i = 0; i < builds->n; i++) {
			bool is = !strcmp(builds->build[i].id, id);

			has[i] |= is;
			is_ours |= is;
		}
		other = is_ours ? NULL : array_add(&others->build, &others->n, sizeof *other);
		if (other)
			*other = build;
		else if (!is_ours)
			r = error_sys(err, -ENOMEM, builds->ref, NULL);
	}
	git_note_iterator_free(it);
	return r;
}

/* The series of the build that has a note about every series; "": there is none. */
static const char *find_everywhere(struct arena *texts, struct slice text)
{
	enum note_line what;
	struct cursor lines;
	struct slice line;
	bool complete;

	if (!memmem(text.p, text.len, "[everywhere: ", strlen("[everywhere: ")))
		return "";
	cursor_init(&lines, text.p, text.len);
	while (cursor_line(&lines, &line, &complete)) {
		struct known k;
		int r = note_line_read(&what, &k, texts, line);

		if (r || (what == NOTE_SAYS && k.everywhere))
			return r ? NULL : k.everywhere;
	}
	return "";
}

/* A note about every series is about the first build here that has the same revisions. A
 * build that was pruned says nothing any more. */
static int read_other(struct reader *r, struct archive *a, const struct notes *n,
		      const git_oid *build)
{
	struct message m = MESSAGE_INIT;
	struct build_place place;
	struct error unused;
	const char *ref, *home;
	struct slice text;
	char id[ARCHIVE_ID_SIZE];
	git_note *note;
	size_t at = r->builds->n;
	int found, code = note_read(&text, &note, n, build, r->err);

	if (code)
		return code;
	ref = find_everywhere(r->builds->texts, text);
	home = arena_text(r->builds->texts, git_oid_tostr(id, sizeof id, build), ARCHIVE_ID_SIZE - 1);
	found = ref && *ref ? build_find(a, &place, &m, build, &unused) : 0;
	if (!ref || !home || found == -ENOMEM)
		code = error_sys(r->err, -ENOMEM, r->path, NULL);
	else if (found == 1)
		at = known_same_build(r->builds, ref, m.revision, m.n_revisions);
	if (!code && at < r->builds->n)
		code = read_note(r, (uint32_t)at, home, text);
	message_release(&m);
	git_note_free(note);
	return code;
}

static int by_build(const void *a, const void *b)
{
	const struct known *x = a, *y = b;

	if (x->build != y->build)
		return x->build < y->build ? -1 : 1;
	return x->time_s < y->time_s ? -1 : x->time_s > y->time_s;
}

static int read_notes(struct reader *r, struct archive *a, const struct notes *n)
{
	bool *has = array_new_zero(r->builds->n, sizeof *has);
	struct others others = { 0 };
	size_t own;
	int code = has ? find_notes(has, &others, n, r->builds, r->err) :
		   error_sys(r->err, -ENOMEM, r->path, NULL);

	for (size_t i = 0; !code && i < r->builds->n; i++) {
		struct slice text;
		git_note *note;
		git_oid id;

		if (!has[i])
			continue;
		git_oid_fromstr(&id, r->builds->build[i].id);
		code = note_read(&text, &note, n, &id, r->err);
		code = code ? code : read_note(r, (uint32_t)i, NULL, text);
		git_note_free(note);
	}
	own = r->list->n;
	for (size_t i = 0; !code && i < others.n; i++)
		code = read_other(r, a, n, &others.build[i]);
	if (!code && r->list->n > own)
		qsort(r->list->known, r->list->n, sizeof *r->list->known, by_build);
	free(others.build);
	free(has);
	return code;
}

int archive_known(struct archive *a, struct builds *builds, struct known_list *list,
		  struct error *err)
{
	struct reader r = { .builds = builds, .list = list, .path = a->path, .err = err };
	struct notes n;
	git_oid id;
	int code = tip(a, &id, err);

	*list = (struct known_list){ 0 };
	if (code || git_oid_is_zero(&id))
		return code;
	code = notes_open(&n, a->git, &id, err);
	code = code ? code : read_notes(&r, a, &n);
	notes_close(&n);
	if (code)
		free(list->known);
	if (code)
		*list = (struct known_list){ 0 };
	return code ? code : r.damaged;
}

int archive_build_id(struct archive *a, const char *name, char id[ARCHIVE_ID_SIZE],
		     struct error *err)
{
	struct build_place place;
	struct message m;
	int r = build_named(a, &place, &m, name, err);

	message_release(&m);
	if (!r)
		git_oid_tostr(id, ARCHIVE_ID_SIZE, &place.commit);
	return r;
}

int archive_user(struct archive *a, struct buf *name, struct error *err)
{
	const char *user = getenv("USER"), *configured;
	git_config *config = NULL;

	if (!git_repository_config_snapshot(&config, a->git) &&
	    !git_config_get_string(&configured, config, "user.name") && *configured)
		user = configured;
	buf_adds(name, user && *user ? user : "unknown");
	git_config_free(config);
	return buf_error(name) ? error_sys(err, buf_error(name), a->path, NULL) : 0;
}

#define TRIES 10000		/* when other writers are faster */

struct change {
	struct archive *a;
	git_oid build;
	const struct known *what;
	bool takes_back;
	bool found;
	struct error *err;
};

/* Is it in a line? Otherwise 0 or -ENOMEM. */
static int is_in(const struct change *c, struct arena *texts, struct slice line)
{
	enum note_line what;
	struct known k;
	int r = note_line_read(&what, &k, texts, line);

	return r ? r : what == NOTE_SAYS && note_is_about(&k, c->what);
}

/* The same text without the removed notes, or with an additional one. */
static int change_text(struct change *c, struct buf *out, struct slice text)
{
	struct arena *texts = arena_new();
	struct cursor lines;
	struct slice line;
	bool complete;
	int r = 0;

	if (!texts)
		return error_sys(c->err, -ENOMEM, c->a->path, NULL);
	c->found = false;
	cursor_init(&lines, text.p, text.len);
	while (r >= 0 && cursor_line(&lines, &line, &complete)) {
		r = c->takes_back ? is_in(c, texts, line) : 0;
		c->found |= r > 0;
		if (!r) {
			buf_add(out, line.p, line.len);
			buf_addc(out, '\n');
		}
	}
	if (!c->takes_back)
		note_line_add(out, c->what);
	arena_free(texts);
	return r < 0 ? error_sys(c->err, r, c->a->path, NULL) : 0;
}

static int change_notes(struct change *c, struct notes *n)
{
	struct buf out = BUF_INIT;
	git_signature *who = NULL;
	struct slice text;
	git_note *note;
	int r = note_read(&text, &note, n, &c->build, c->err);

	r = r ? r : change_text(c, &out, text);
	if (!r && (!c->takes_back || c->found)) {
		if (git_signature_new(&who, *c->what->by ? c->what->by : "buildbeat", "buildbeat",
				      c->what->time_s, 0))
			r = git_failed(c->err, "cannot write notes");
		else
			r = notes_put(n, &c->build, &out, who, c->err);
	}
	git_signature_free(who);
	git_note_free(note);
	buf_release(&out);
	return r;
}

/* Returns -EAGAIN if another writer was faster. */
static int change_once(struct change *c)
{
	struct writing w = WRITING_INIT;
	struct notes n = { 0 };
	git_oid from;
	int r = tip(c->a, &from, c->err);

	if (r)
		goto out;
	r = writing_begin(&w, c->a, c->err);
	if (r)
		goto out;
	r = notes_open(&n, w.git, &from, c->err);
	if (r)
		goto out;
	r = change_notes(c, &n);
	if (r)
		goto out;
	if (n.commit && !git_oid_equal(git_commit_id(n.commit), &from)) {
		r = writing_keep(&w, c->err);
		r = r ? r : repo_set(c->a, NOTES_REF, &from, git_commit_id(n.commit), c->err);
	}
out:
	notes_close(&n);
	writing_end(&w);
	return r;
}

/* A note that could not be pushed is kept, and an error is returned. */
static int change(struct change *c, const struct builds *builds)
{
	struct error unsent = { 0 };
	int r = -EAGAIN, sent;

	if (git_oid_fromstr(&c->build, c->what->home ? c->what->home : builds->build[c->what->build].id))
		return git_failed(c->err, "not a build");
	sent = remote_begin(c->a, c->err);
	if (sent)
		return sent;
	for (int i = 0; r == -EAGAIN && i < TRIES; i++)
		r = change_once(c);
	sent = remote_end(c->a, &unsent);
	if (!r && sent)
		*c->err = unsent;
	return r ? r : sent;
}

int archive_say(struct archive *a, const struct builds *builds, const struct known *what,
		struct error *err)
{
	struct change c = { .a = a, .what = what, .err = err };

	return change(&c, builds);
}

int archive_unsay(struct archive *a, const struct builds *builds, const struct known *what,
		  bool *found, struct error *err)
{
	struct change c = { .a = a, .what = what, .takes_back = true, .err = err };
	int r = change(&c, builds);

	*found = c.found;
	return r;
}
