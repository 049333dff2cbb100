/* SPDX-License-Identifier: MIT */
#include "archive/import_oe.h"

#include "archive/import_oe_run.h"
#include "archive/loose.h"
#include "archive/remote.h"
#include "archive/rewrite.h"
#include "base/buf.h"
#include "base/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEADS "refs/heads/"
#define REMOTES "refs/remotes/origin/"
#define NOTES "refs/notes/buildstats/"

/* The import in progress. */
struct source {
	const struct import_oe *i;
	struct archive from;		/* only git and path are used */
	const char *branch;		/* HOST/BRANCH/MACHINE */
	struct buf host, middle, machine;	/* parts of its name */
	struct import_oe_run run;
	struct buf name;		/* run.path */
	bool failed;			/* while writing, not reading */
	struct error *err;
};

/* Whether a commit is one of oe-git-archive. */
static bool is_results(git_repository *git, const git_oid *id)
{
	git_tree_entry *e = NULL;
	git_commit *c = NULL;
	git_tree *tree = NULL;
	bool is = !git_commit_lookup(&c, git, id) && !git_commit_tree(&tree, c) &&
		  !git_tree_entry_bypath(&e, tree, "results.json");

	git_tree_entry_free(e);
	git_tree_free(tree);
	git_commit_free(c);
	return is;
}

static bool any_results(git_repository *git, const char *glob)
{
	git_reference_iterator *it;
	const char *name;
	git_oid id;
	bool any = false;

	if (git_reference_iterator_glob_new(&it, git, glob))
		return false;
	while (!any && !git_reference_next_name(&name, it))
		any = !git_reference_name_to_id(&id, git, name) && is_results(git, &id);
	git_reference_iterator_free(it);
	return any;
}

bool import_oe_is(const char *path)
{
	git_repository *git = NULL;
	bool is;
	int r;

	git_libgit2_init();
	/* Why a repository cannot be opened is reported by import_oe(). */
	r = git_repository_open_ext(&git, path, GIT_REPOSITORY_OPEN_NO_SEARCH, NULL);
	is = r ? r != GIT_ENOTFOUND : !loose_guard(git) &&
	     (any_results(git, HEADS "*") || any_results(git, REMOTES "*"));
	git_repository_free(git);
	git_libgit2_shutdown();
	return is;
}

static const char *either(const char *given, const char *recorded, struct buf *named)
{
	return given ? given : recorded ? recorded : buf_str(named);
}

static int add_ref(struct buf *ref, struct source *s, const char *measurement)
{
	const struct import_oe *i = s->i;
	struct buf machine = BUF_INIT;

	buf_adds(&machine, either(i->machine, import_oe_machine(&s->run), &s->machine));
	if (measurement)
		buf_addf(&machine, ".%s", measurement);
	archive_ref(ref, either(i->host, import_oe_host(&s->run), &s->host),
		    either(i->branch, import_oe_branch(&s->run), &s->middle), buf_str(&machine));
	if (buf_error(&machine))
		ref->error = buf_error(&machine);
	buf_release(&machine);
	return buf_error(ref) ? error_sys(s->err, buf_error(ref), s->run.path, NULL) : 0;
}

static int add_measurement(struct source *s, const struct recording *rec, const char *measurement)
{
	struct values f = VALUES_INIT;
	struct archive_build build = { .values = &f };
	struct buf ref = BUF_INIT, run = BUF_INIT;
	char id[ARCHIVE_ID_SIZE];
	bool added;
	int r = values_make(&f, rec);

	buf_addf(&run, "oe-%s", s->run.commit);
	if (measurement)
		buf_addf(&run, "-%s", measurement);
	build.run = buf_str(&run);
	if (r || buf_error(&run))
		r = error_sys(s->err, -ENOMEM, s->run.path, NULL);
	if (!r)
		r = add_ref(&ref, s, measurement);
	if (!r)
		r = archive_add(s->i->to, ref.data, &build, id, &added, s->err);
	if (!r)
		r = s->i->added(s->i->context, ref.data, id, added);
	s->failed = r;
	values_release(&f);
	buf_release(&ref);
	buf_release(&run);
	return r;
}

static int add_build(void *context, const struct json_value *v, unsigned line)
{
	struct source *s = context;
	struct recording rec = RECORDING_INIT;
	int r;

	(void)line;
	if (!v->name || v->type != JSON_LIST)
		return 0;
	r = import_oe_build(&rec, &s->run, v->name, v, s->err);
	if (!r)
		r = add_measurement(s, &rec, v->name);
	recording_release(&rec);
	return r;
}

static int read_builds(struct source *s, const char *text)
{
	const struct json_parts parts = { .part = add_build, .context = s };
	/* The notes are large; this reader keeps one measurement at a time in memory. */
	int fd = memfd_create("buildstats", MFD_CLOEXEC), r = fd < 0 ? -errno : 0;
	char path[64];
	unsigned line;

	if (!r)
		r = file_write_all(fd, text, strlen(text));
	if (r) {
		error_sys(s->err, r, s->run.path, NULL);
	} else {
		snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
		r = json_read_parts(path, &parts, NULL, &line, s->err);
		if (r && !strcmp(s->err->path, path))
			snprintf(s->err->path, sizeof s->err->path, "%s: note", s->run.path);
	}
	file_close(fd);
	return r;
}

static int add_builds(struct source *s, const git_oid *id)
{
	struct buf ref = BUF_INIT;
	git_note *note = NULL;
	int r;

	buf_addf(&ref, NOTES "%s", s->branch);
	r = git_note_read(&note, s->from.git, buf_str(&ref), id);
	if (!r)
		r = read_builds(s, git_note_message(note));
	else
		r = r == GIT_ENOTFOUND ? 0 : repo_fail(&s->from, r, s->err, "cannot read a note");
	git_note_free(note);
	buf_release(&ref);
	return r;
}

/* Returns 1, 0 if the file is missing, or a negative errno. */
static int read_json(struct source *s, struct json_document *doc, const git_tree *tree,
		     const char *name)
{
	const git_tree_entry *e = git_tree_entry_byname(tree, name);
	struct buf path = BUF_INIT;
	git_odb_object *blob;
	int r;

	if (!e || git_tree_entry_type(e) != GIT_OBJECT_BLOB)
		return 0;
	r = repo_blob(&s->from, &blob, git_tree_entry_id(e), name, s->err);
	if (r)
		return r;
	buf_addf(&path, "%s:%s", s->run.path, name);
	r = json_read_text(doc, git_odb_object_data(blob), git_odb_object_size(blob),
			   buf_str(&path), 1, s->err);
	git_odb_object_free(blob);
	buf_release(&path);
	return r ? r : 1;
}

static int add_tests(struct source *s)
{
	struct recording rec = RECORDING_INIT;
	int r = import_oe_tests(&rec, &s->run, s->err);

	if (!r)
		r = add_measurement(s, &rec, NULL);
	recording_release(&rec);
	return r;
}

static int read_run(struct source *s, const git_oid *id, const git_tree *tree)
{
	struct json_document results = { 0 }, metadata = { 0 };
	int r = read_json(s, &results, tree, "results.json");

	if (r <= 0)
		return r;
	r = read_json(s, &metadata, tree, "metadata.json");
	s->run.results = results.root;
	s->run.metadata = r > 0 ? metadata.root : NULL;
	if (r >= 0)
		r = add_tests(s);
	if (!r)
		r = add_builds(s, id);
	if (s->run.metadata)
		json_document_release(&metadata);
	json_document_release(&results);
	return r;
}

/* A run with invalid JSON is skipped. */
static int import_commit(struct source *s, const git_oid *id)
{
	char hex[GIT_OID_HEXSZ + 1];
	git_commit *c;
	git_tree *tree;
	int r = repo_commit(&s->from, &c, id, s->err);

	if (r)
		return r;
	git_oid_tostr(hex, sizeof hex, id);
	buf_clear(&s->name);
	buf_addf(&s->name, "%s: %.12s", s->from.path, hex);
	s->run.path = buf_str(&s->name);
	s->run.commit = hex;
	r = repo_tree(&s->from, &tree, git_commit_tree_id(c), s->run.path, s->err);
	git_commit_free(c);
	if (r)
		return r;
	r = read_run(s, id, tree);
	git_tree_free(tree);
	if (r == -EINVAL && !s->failed) {
		s->i->skipped(s->i->context, s->err);
		r = 0;
	}
	return r;
}

/* HOST/BRANCH/MACHINE; BRANCH may contain slashes. */
static void split_name(struct source *s)
{
	const char *first = strchr(s->branch, '/'), *last = strrchr(s->branch, '/');

	buf_clear(&s->host);
	buf_clear(&s->middle);
	buf_clear(&s->machine);
	if (!first || first == last)
		return;
	buf_add(&s->host, s->branch, (size_t)(first - s->branch));
	buf_add(&s->middle, first + 1, (size_t)(last - first - 1));
	buf_adds(&s->machine, last + 1);
}

static int import_branch(struct source *s, const git_oid *tip)
{
	static const git_oid nothing;
	struct rewrite_commits list;
	int r = rewrite_list(&list, &s->from, tip, &nothing, 1, s->err);

	split_name(s);
	for (size_t i = 0; !r && i < list.n; i++)
		r = import_commit(s, &list.id[i]);
	rewrite_release(&list);
	return r;
}

static int import_branches(struct source *s, const char *prefix)
{
	git_strarray all;
	int r = git_reference_list(&all, s->from.git);

	if (r)
		return repo_fail(&s->from, r, s->err, "cannot list branches");
	for (size_t i = 0; !r && i < all.count; i++) {
		git_oid tip;

		if (strncmp(all.strings[i], prefix, strlen(prefix)) ||
		    git_reference_name_to_id(&tip, s->from.git, all.strings[i]))
			continue;
		s->branch = all.strings[i] + strlen(prefix);
		r = import_branch(s, &tip);
	}
	git_strarray_dispose(&all);
	return r;
}

static int import_all(struct source *s)
{
	struct error unsent = { 0 };
	int r = remote_begin(s->i->to, s->err), sent;

	if (r)
		return r;
	r = import_branches(s, any_results(s->from.git, HEADS "*") ? HEADS : REMOTES);
	sent = remote_end(s->i->to, &unsent);
	if (!r && sent)
		*s->err = unsent;
	return r ? r : sent;
}

int import_oe(const struct import_oe *i, const char *path, struct error *err)
{
	struct source s = { .i = i, .err = err };
	int r;

	s.from.path = strdup(path);
	if (!s.from.path)
		return error_sys(err, -ENOMEM, path, NULL);
	r = repo_open(&s.from, ARCHIVE_READ, err);
	if (!r)
		r = import_all(&s);
	git_repository_free(s.from.git);
	free(s.from.path);
	buf_release(&s.host);
	buf_release(&s.middle);
	buf_release(&s.machine);
	buf_release(&s.name);
	return r;
}
