/* SPDX-License-Identifier: MIT */
#include "archive/writing.h"

#include <errno.h>
#include <git2/sys/odb_backend.h>
#include <git2/sys/repository.h>
#include <stdlib.h>
#include <string.h>

#define PRIORITY_MEMORY 2
#define PRIORITY_ARCHIVE 1

/*
 * Two backends: the pack in memory, and the archive, for reading only. libgit2 does not write an
 * object that exists in a backend with a function exists() or freshen(), so the archive's has none.
 */
struct backend {
	git_odb_backend base;		/* first: libgit2 knows this only */
	struct writing *w;
};

static void *copy(git_odb_backend *b, const void *data, size_t len)
{
	void *to = git_odb_backend_data_alloc(b, len + 1);

	if (to && data)
		memcpy(to, data, len);
	if (to)
		((char *)to)[len] = '\0';
	return to;
}

static int memory_write(git_odb_backend *b, const git_oid *id, const void *data, size_t len,
			git_object_t type)
{
	int r = pack_add(&((struct backend *)b)->w->pack, id, type, data, len);

	if (r)
		git_error_set_str(r == -ENOMEM ? GIT_ERROR_NOMEMORY : GIT_ERROR_ODB, strerror(-r));
	return r ? GIT_ERROR : 0;
}

static int memory_exists(git_odb_backend *b, const git_oid *id)
{
	return pack_find(&((struct backend *)b)->w->pack, id) != NULL;
}

static int memory_header(size_t *len, git_object_t *type, git_odb_backend *b, const git_oid *id)
{
	const struct pack *p = &((struct backend *)b)->w->pack;
	const struct pack_entry *e = pack_find(p, id);

	if (!e)
		return GIT_ENOTFOUND;
	pack_header(p, e, type, len);
	return 0;
}

static int memory_read(void **data, size_t *len, git_object_t *type, git_odb_backend *b,
		       const git_oid *id)
{
	const struct pack *p = &((struct backend *)b)->w->pack;
	const struct pack_entry *e = pack_find(p, id);

	if (!e)
		return GIT_ENOTFOUND;
	pack_header(p, e, type, len);
	*data = copy(b, NULL, *len);
	return *data && !pack_read(p, e, *data, *len) ? 0 : GIT_ERROR;
}

/* The archive may be opened again while git repacks. */
static git_odb *archive_odb(git_odb_backend *b)
{
	git_odb *odb;

	return git_repository_odb(&odb, ((struct backend *)b)->w->a->git) ? NULL : odb;
}

static int archive_header(size_t *len, git_object_t *type, git_odb_backend *b, const git_oid *id)
{
	git_odb *odb = archive_odb(b);
	int r = odb ? git_odb_read_header(len, type, odb, id) : GIT_ERROR;

	git_odb_free(odb);
	return r;
}

static int read_object(git_odb_object **object, git_odb_backend *b, const git_oid *id)
{
	git_odb *odb = archive_odb(b);
	int r = odb ? git_odb_read(object, odb, id) : GIT_ERROR;

	git_odb_free(odb);
	return r;
}

static int archive_read(void **data, size_t *len, git_object_t *type, git_odb_backend *b,
			const git_oid *id)
{
	git_odb_object *object;
	int r = read_object(&object, b, id);

	if (r && !repo_reopen(((struct backend *)b)->w->a))
		r = read_object(&object, b, id);
	if (r)
		return r;
	*len = git_odb_object_size(object);
	*type = git_odb_object_type(object);
	*data = copy(b, git_odb_object_data(object), *len);
	git_odb_object_free(object);
	return *data ? 0 : GIT_ERROR;
}

static void free_backend(git_odb_backend *b)
{
	free(b);
}

static int add_backend(git_odb *odb, struct writing *w, bool memory)
{
	struct backend *b = calloc(1, sizeof *b);
	int r;

	if (!b) {
		git_error_set_str(GIT_ERROR_NOMEMORY, strerror(ENOMEM));
		return GIT_ERROR;
	}
	git_odb_init_backend(&b->base, GIT_ODB_BACKEND_VERSION);
	b->w = w;
	b->base.read = memory ? memory_read : archive_read;
	b->base.read_header = memory ? memory_header : archive_header;
	b->base.write = memory ? memory_write : NULL;
	b->base.exists = memory ? memory_exists : NULL;
	b->base.free = free_backend;
	r = git_odb_add_backend(odb, &b->base, memory ? PRIORITY_MEMORY : PRIORITY_ARCHIVE);
	if (r)
		free(b);
	return r;
}

/* Otherwise libgit2 would read the user's configuration again, and "index" of the working
 * directory; since 1.9 it fails instead, where it follows a tree. */
static int set_other_files(git_repository *git, git_repository *archive)
{
	git_config *config = NULL;
	git_index *index = NULL;
	int r = git_repository_config(&config, archive);

	if (!r)
		r = git_repository_set_config(git, config);
	if (!r)
		r = git_index_new(&index);
	if (!r)
		r = git_repository_set_index(git, index);
	git_index_free(index);
	git_config_free(config);
	return r;
}

int writing_begin(struct writing *w, struct archive *a, struct error *err)
{
	git_odb *odb = NULL;
	int r = git_odb_new(&odb);

	*w = (struct writing)WRITING_INIT;
	w->a = a;
	if (!r)
		r = add_backend(odb, w, true);
	if (!r)
		r = add_backend(odb, w, false);
	if (!r)
		r = git_repository_wrap_odb(&w->git, odb);
	git_odb_free(odb);
	if (!r)
		r = set_other_files(w->git, a->git);
	return r ? repo_fail(a, r, err, "cannot write objects") : 0;
}

int writing_keep(struct writing *w, struct error *err)
{
	return w->pack.n ? packs_keep(&w->kept, w->a, &w->pack, err) : 0;
}

void writing_end(struct writing *w)
{
	packs_release(&w->kept);
	git_repository_free(w->git);
	pack_release(&w->pack);
	*w = (struct writing)WRITING_INIT;
}
