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
#include <unistd.h>
#include <zlib.h>

#define ROOM_FIRST 65536
#define ROOM_MAX (1 << 28)

/* The same as packs, which libgit2 searches first. */
#define PRIORITY 2

/*
 * Buffers and the state of zlib are reused for all objects. libgit2 asks for the size of an
 * object before it reads it: the object is unpacked then, and kept until it is read.
 */
struct guard {
	git_odb_backend backend;	/* first: libgit2 knows this only */
	z_stream z;
	struct buf packed, object;
	git_oid held;			/* in object; all zero: none */
	git_object_t type;
	struct slice content;		/* in object */
	size_t directory;		/* length of path without the name of an object */
	char path[];			/* DIRECTORY/objects/12/3456... */
};

static int read_file(struct guard *g, const git_oid *id)
{
	char *name = g->path + g->directory;
	ssize_t n = 0;
	int fd;

	git_oid_pathfmt(name, id);
	name[GIT_OID_HEXSZ + 1] = '\0';
	fd = open(g->path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	buf_clear(&g->packed);
	do {
		if (buf_reserve(&g->packed, ROOM_FIRST)) {
			n = -ENOMEM;
			break;
		}
		n = readfile_some(fd, g->packed.data + g->packed.len, ROOM_FIRST);
		g->packed.len += n > 0 ? (size_t)n : 0;
	} while (n == ROOM_FIRST);
	close(fd);
	return n < 0 ? (int)n : g->packed.len && g->packed.len <= UINT_MAX ? 0 : -EIO;
}

/* "blob 1234" and NUL. content gets the size of the whole object. */
static int parse_object(struct guard *g)
{
	struct slice name;
	struct cursor c;
	uint64_t size;

	cursor_init(&c, g->object.data, g->object.len);
	if (!cursor_until(&c, ' ', &name) || !cursor_u64(&c, &size) || !cursor_byte(&c, '\0'))
		return -EIO;
	g->type = slice_is(name, "blob") ? GIT_OBJECT_BLOB : slice_is(name, "tree") ?
		  GIT_OBJECT_TREE : slice_is(name, "commit") ? GIT_OBJECT_COMMIT :
		  slice_is(name, "tag") ? GIT_OBJECT_TAG : GIT_OBJECT_INVALID;
	g->content = (struct slice){ c.p, (size_t)size };
	if (g->type == GIT_OBJECT_INVALID)
		return -EIO;
	return size > ROOM_MAX ? -EFBIG : 0;
}

/* The first round has room for most objects. With Z_FINISH zlib needs no window then. */
static int unpack(struct guard *g)
{
	size_t size = ROOM_FIRST, header = 0;
	int r = g->z.state ? inflateReset(&g->z) : inflateInit(&g->z), error;

	buf_clear(&g->object);
	g->z.next_in = (unsigned char *)g->packed.data;
	g->z.avail_in = (unsigned)g->packed.len;
	for (int round = 0; r == Z_OK && round < 2; round++) {
		if (buf_reserve(&g->object, size - g->object.len))
			return -ENOMEM;
		g->z.next_out = (unsigned char *)g->object.data + g->object.len;
		g->z.avail_out = (unsigned)(size - g->object.len);
		r = inflate(&g->z, Z_FINISH);
		g->object.len = size - g->z.avail_out;
		error = parse_object(g);
		if (error)
			return error;
		header = (size_t)(g->content.p - g->object.data);
		if (r == Z_BUF_ERROR && !g->z.avail_out)
			r = Z_OK;
		size = header + g->content.len + 1;
		if (r == Z_OK && size <= g->object.len)
			return -EIO;
	}
	if (r == Z_MEM_ERROR)
		return -ENOMEM;
	return r == Z_STREAM_END && g->object.len == header + g->content.len ? 0 : -EIO;
}

static int git_failure(int error)
{
	if (error == -ENOENT || error == -ENOTDIR)
		return GIT_ENOTFOUND;
	git_error_set_str(error == -ENOMEM ? GIT_ERROR_NOMEMORY : GIT_ERROR_ODB,
			  error == -EIO ? "the file of the object is damaged" :
			  strerror(-error));
	return GIT_ERROR;
}

static int hold(struct guard *g, const git_oid *id)
{
	int r;

	if (git_oid_equal(&g->held, id))
		return 0;
	g->held = (git_oid){ { 0 } };
	r = read_file(g, id);
	if (!r)
		r = unpack(g);
	if (!r)
		g->held = *id;
	return r;
}

static int read_header(size_t *len, git_object_t *type, git_odb_backend *b, const git_oid *id)
{
	struct guard *g = (struct guard *)b;
	int r = hold(g, id);

	if (r && r != -EFBIG)
		return git_failure(r);
	*len = g->content.len;
	*type = g->type;
	return 0;
}

static int read_object(void **data, size_t *len, git_object_t *type, git_odb_backend *b,
		       const git_oid *id)
{
	struct guard *g = (struct guard *)b;
	int r = hold(g, id);

	if (r)
		return git_failure(r);
	*len = g->content.len;
	*type = g->type;
	*data = git_odb_backend_data_alloc(b, *len + 1);
	if (!*data)
		return git_failure(-ENOMEM);
	memcpy(*data, g->content.p, *len);
	((char *)*data)[*len] = '\0';
	g->held = (git_oid){ { 0 } };
	return 0;
}

/* libgit2 lists the same files itself. */
static int list_nothing(git_odb_backend *b, git_odb_foreach_cb callback, void *context)
{
	(void)b;
	(void)callback;
	(void)context;
	return 0;
}

static void free_backend(git_odb_backend *b)
{
	struct guard *g = (struct guard *)b;

	inflateEnd(&g->z);
	buf_release(&g->packed);
	buf_release(&g->object);
	free(g);
}

int loose_guard(git_repository *git)
{
	static const char objects[] = "objects/";
	const char *directory = git_repository_commondir(git);
	size_t n = strlen(directory);
	struct guard *g = calloc(1, sizeof *g + n + sizeof objects + GIT_OID_HEXSZ + 2);
	git_odb *odb = NULL;
	int r;

	if (!g)
		return git_failure(-ENOMEM);
	git_odb_init_backend(&g->backend, GIT_ODB_BACKEND_VERSION);
	g->backend.read = read_object;
	g->backend.read_header = read_header;
	g->backend.foreach = list_nothing;
	g->backend.free = free_backend;
	g->directory = n + sizeof objects - 1;
	memcpy(g->path, directory, n);
	memcpy(g->path + n, objects, sizeof objects);
	r = git_repository_odb(&odb, git);
	if (!r)
		r = git_odb_add_backend(odb, &g->backend, PRIORITY);
	if (r)
		free_backend(&g->backend);
	git_odb_free(odb);
	return r;
}
