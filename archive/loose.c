/* SPDX-License-Identifier: MIT */
#include "archive/loose.h"

#include "base/buf.h"
#include "base/cursor.h"
#include "base/readfile.h"

#include <errno.h>
#include <fcntl.h>
#include <git2/sys/odb_backend.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

#define ROOM_FIRST 65536
#define ROOM_MAX (1 << 28)

/* As that of packs: what is in one is not looked for in a file first. */
#define PRIORITY 2

struct guard {
	git_odb_backend backend;	/* first: libgit2 knows this only */
	char objects[];			/* their directory, with its slash */
};

static int read_file(struct buf *packed, const char *objects, const git_oid *id)
{
	const char *hex = git_oid_tostr_s(id);
	struct buf path = BUF_INIT;
	int r;

	buf_addf(&path, "%s%.2s/%s", objects, hex, hex + 2);
	r = buf_error(&path);
	if (!r)
		r = readfile_at(packed, AT_FDCWD, path.data, SIZE_MAX);
	buf_release(&path);
	return r;
}

static int unpack(struct buf *out, const struct buf *packed)
{
	z_stream z = { .next_in = (unsigned char *)packed->data, .avail_in = (unsigned)packed->len };
	int r = packed->len <= UINT_MAX ? inflateInit(&z) : Z_MEM_ERROR;

	for (size_t size = ROOM_FIRST; r == Z_OK && size <= ROOM_MAX; size *= 4) {
		if (buf_reserve(out, size - out->len)) {
			r = Z_MEM_ERROR;
			break;
		}
		z.next_out = (unsigned char *)out->data + out->len;
		z.avail_out = (unsigned)(size - out->len);
		r = inflate(&z, Z_SYNC_FLUSH);
		out->len = z.total_out;
		if (r == Z_OK && z.avail_out)
			r = Z_DATA_ERROR;	/* truncated */
	}
	inflateEnd(&z);
	if (r == Z_STREAM_END)
		return 0;
	return r == Z_DATA_ERROR || r == Z_BUF_ERROR || r == Z_NEED_DICT ? -EIO : -ENOMEM;
}

/* "blob 1234", NUL and the content. */
static int take(void **data, size_t *len, git_object_t *type, git_odb_backend *b,
		const struct buf *object)
{
	struct slice name;
	struct cursor c;
	uint64_t size;

	cursor_init(&c, object->data, object->len);
	if (!cursor_until(&c, ' ', &name) || !cursor_u64(&c, &size) || !cursor_byte(&c, '\0') ||
	    size != (size_t)(c.end - c.p))
		return -EIO;
	*type = slice_is(name, "blob") ? GIT_OBJECT_BLOB : slice_is(name, "tree") ?
		GIT_OBJECT_TREE : slice_is(name, "commit") ? GIT_OBJECT_COMMIT :
		slice_is(name, "tag") ? GIT_OBJECT_TAG : GIT_OBJECT_INVALID;
	if (*type == GIT_OBJECT_INVALID)
		return -EIO;
	*data = git_odb_backend_data_alloc(b, (size_t)size + 1);
	if (!*data)
		return -ENOMEM;
	memcpy(*data, c.p, (size_t)size);
	((char *)*data)[size] = '\0';
	*len = (size_t)size;
	return 0;
}

static int fail(int error)
{
	if (error == -ENOENT || error == -ENOTDIR)
		return GIT_ENOTFOUND;
	git_error_set_str(error == -ENOMEM ? GIT_ERROR_NOMEMORY : GIT_ERROR_ODB,
			  error == -EIO ? "the file of the object is damaged" :
			  strerror(-error));
	return GIT_ERROR;
}

static int read_object(void **data, size_t *len, git_object_t *type, git_odb_backend *b,
		       const git_oid *id)
{
	struct buf packed = BUF_INIT, object = BUF_INIT;
	int r = read_file(&packed, ((struct guard *)b)->objects, id);

	if (!r)
		r = packed.len ? unpack(&object, &packed) : -EIO;
	if (!r)
		r = take(data, len, type, b, &object);
	buf_release(&packed);
	buf_release(&object);
	return r ? fail(r) : 0;
}

static int tell_none(git_odb_backend *b, git_odb_foreach_cb told, void *context)
{
	(void)b;
	(void)told;
	(void)context;
	return 0;	/* libgit2 tells the same files itself */
}

static void end(git_odb_backend *b)
{
	free(b);
}

static struct guard *new_guard(const char *directory)
{
	static const char objects[] = "objects/";
	size_t n = strlen(directory);
	struct guard *g = malloc(sizeof *g + n + sizeof objects);

	if (!g)
		return NULL;
	git_odb_init_backend(&g->backend, GIT_ODB_BACKEND_VERSION);
	g->backend.read = read_object;
	g->backend.foreach = tell_none;
	g->backend.free = end;
	memcpy(g->objects, directory, n);
	memcpy(g->objects + n, objects, sizeof objects);
	return g;
}

int loose_guard(git_repository *git)
{
	struct guard *g = new_guard(git_repository_commondir(git));
	git_odb *odb = NULL;
	int r = g ? git_repository_odb(&odb, git) : fail(-ENOMEM);

	if (!r)
		r = git_odb_add_backend(odb, &g->backend, PRIORITY);
	if (r)
		free(g);
	git_odb_free(odb);
	return r;
}
