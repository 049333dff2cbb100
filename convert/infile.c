#include "infile.h"

#include "gunzip.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>

#define STEP 65536

static int read_all(struct buf *out, struct gunzip *g, const char *path, struct error *err)
{
	ssize_t n;

	do {
		if (out->len > INFILE_MAX)
			return error_sys(err, -EFBIG, path, NULL);
		if (buf_reserve(out, STEP))
			return error_sys(err, buf_error(out), path, NULL);
		n = gunzip_read(g, out->data + out->len, STEP, err);
		if (n < 0)
			return (int)n;
		out->len += (size_t)n;
	} while (n);
	out->data[out->len] = '\0';
	return gunzip_torn(g) ? error_set(err, -EINVAL, path, 0, 0, "the packed data is cut off") : 0;
}

/* A file may name others to be read; a device has no end. */
static bool is_device(const char *path)
{
	struct stat st;

	return !stat(path, &st) && (S_ISCHR(st.st_mode) || S_ISBLK(st.st_mode));
}

/* Many small files may be kept. */
static void trim(struct buf *out)
{
	char *fit = realloc(out->data, out->len + 1);

	if (fit) {
		out->data = fit;
		out->cap = out->len + 1;
	}
}

int infile_read(struct buf *out, const char *path, struct error *err)
{
	struct gunzip *g;
	int r = 0;

	if (is_device(path))
		return error_set(err, -EINVAL, path, 0, 0, "a device, not a file");
	g = gunzip_open(path, &r, err);
	if (!g)
		return r;
	r = read_all(out, g, path, err);
	if (!r)
		trim(out);
	gunzip_close(g);
	return r;
}
