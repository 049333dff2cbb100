#include "loose.h"

#include "buf.h"

#include <errno.h>
#include <fcntl.h>
#include <libdeflate.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define ROOM_FIRST 65536
#define ROOM_MAX (1 << 30)

static int read_all(struct buf *out, int fd)
{
	struct stat st;
	ssize_t n = 1;

	if (fstat(fd, &st))
		return -errno;
	if (buf_reserve(out, (size_t)st.st_size))
		return -ENOMEM;
	while (n > 0 && out->len < (size_t)st.st_size) {
		n = read(fd, out->data + out->len, (size_t)st.st_size - out->len);
		if (n > 0)
			out->len += (size_t)n;
	}
	return n < 0 ? -errno : 0;
}

static int unpack(const struct buf *packed)
{
	struct libdeflate_decompressor *d = libdeflate_alloc_decompressor();
	enum libdeflate_result r = LIBDEFLATE_INSUFFICIENT_SPACE;
	size_t used, made;
	void *room = NULL;

	for (size_t size = ROOM_FIRST; d && r == LIBDEFLATE_INSUFFICIENT_SPACE &&
	     size <= ROOM_MAX; size *= 4) {
		free(room);
		room = malloc(size);
		if (!room)
			break;
		r = libdeflate_zlib_decompress_ex(d, packed->data, packed->len, room, size,
						  &used, &made);
	}
	libdeflate_free_decompressor(d);
	free(room);
	if (r == LIBDEFLATE_INSUFFICIENT_SPACE)
		return -ENOMEM;
	return r == LIBDEFLATE_SUCCESS ? 0 : -EIO;
}

int loose_check(git_repository *git, const git_oid *id)
{
	const char *hex = git_oid_tostr_s(id);
	struct buf path = BUF_INIT, packed = BUF_INIT;
	int fd = -1, r;

	buf_addf(&path, "%sobjects/%.2s/%s", git_repository_commondir(git), hex, hex + 2);
	r = buf_error(&path);
	if (!r)
		fd = open(path.data, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		r = read_all(&packed, fd);
		if (!r)
			r = packed.len ? unpack(&packed) : -EIO;
		close(fd);
	}
	buf_release(&path);
	buf_release(&packed);
	return r;
}
