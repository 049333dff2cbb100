/* SPDX-License-Identifier: MIT */
#include "cli/follow.h"

#include "analyse/listing.h"
#include "cli/export_path.h"
#include "convert/convert.h"
#include "convert/zstd.h"
#include "trace/live_follow.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A file that exists is not replaced; a FIFO or device is written to. */
static int open_output(const char *path, struct error *err)
{
	struct stat st;
	int fd;

	if (!strcmp(path, "-"))
		return fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	if (stat(path, &st) || S_ISREG(st.st_mode))
		fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	else
		fd = open(path, O_WRONLY | O_NOCTTY | O_CLOEXEC);
	if (fd < 0 && errno == EEXIST)
		return export_exists(path, err);
	return fd >= 0 ? fd : error_sys(err, -errno, path, "cannot write");
}

/* The end of a client is the end of the trace. */
static int follow_to(const char *recording, const struct sink_ops *format, const char *into,
		     struct error *err)
{
	struct live_follow f = { .path = recording, .codec = &zstd_codec, .format = format };
	int r;

	f.fd = open_output(into, err);
	if (f.fd < 0)
		return f.fd;
	r = live_follow(&f, err);
	if (r && !err->path[0])
		snprintf(err->path, sizeof err->path, "%s", into);
	if (close(f.fd) && !r)
		r = error_sys(err, -errno, into, "cannot write");
	return r == -EPIPE ? 0 : r;
}

int follow_export(const char *base, const char *what, const char *word, const char *suffix,
		  const char *into, struct error *err)
{
	const struct sink_ops *format = live_format(word);
	struct buf path = BUF_INIT, own = BUF_INIT;
	int r;

	if (!format)
		return error_set(err, -EINVAL, NULL, 0, 0, "export: option '--follow': '%s' can only "
				 "be written when the build has ended", word);
	r = listing_find(&path, base, what, &convert_formats, err);
	if (!r && !into)
		r = export_default_path(&own, path.data, suffix, err);
	if (!r)
		r = follow_to(path.data, format, into ? into : own.data, err);
	buf_release(&path);
	buf_release(&own);
	return r;
}

int follow_trace(const char *recording, const char *file, int fd, _Atomic bool *final,
		 _Atomic uint64_t *written, struct error *err)
{
	struct live_follow f = {
		.path = recording, .codec = &zstd_codec, .format = live_format_of_file(file),
		.fd = fd, .final = final, .written = written,
	};

	return live_follow(&f, err);
}
