/* SPDX-License-Identifier: MIT */
#include "cli/follow_export.h"

#include "analyse/listing.h"
#include "base/outfile.h"
#include "base/str.h"
#include "cli/export_path.h"
#include "convert/convert.h"
#include "convert/ninja/join.h"
#include "convert/zstd.h"
#include "trace/live_follow.h"
#include "trace/trace_formats.h"

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

	if (!strcmp(path, OUTFILE_STDOUT))
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
	struct live_follow f = { .path = recording, .codec = &zstd_codec, .format = format,
		.packed = str_ends(into, ".gz") };
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
		return error_say(err, -EINVAL, "export: option '--follow': '%s' can only be "
				 "written when the build has ended", word);
	r = listing_find(&path, base, what, &convert_formats, err);
	if (!r && !into)
		r = export_default_path(&own, path.data, suffix, err);
	if (!r)
		r = follow_to(path.data, format, into ? into : own.data, err);
	buf_release(&path);
	buf_release(&own);
	return r;
}

/* A file that can be replaced: not a pipe, a device or a descriptor, nor one that was moved. */
static bool is_own_file(const char *file, int fd)
{
	struct stat open_one, named;

	return !str_starts(file, "/dev/") && !str_starts(file, "/proc/") && !fstat(fd, &open_one) &&
	       S_ISREG(open_one.st_mode) && !stat(file, &named) && named.st_ino == open_one.st_ino &&
	       named.st_dev == open_one.st_dev;
}

/* Names that came late, the path and dependencies: the trace that `export` writes replaces
 * the live one. If that fails, the live one remains, which has all tasks. */
static void complete(const char *recording, const char *file, const struct sink_ops *format)
{
	const struct recording_options options = { .formats = &convert_formats,
		.add_lines = ninja_join_unnamed };
	struct recording rec = RECORDING_INIT;
	struct error unused;

	if (!recording_read_as(&rec, recording, &options, &unused) &&
	    !recording_whole(&rec, &unused))
		(format == &sink_chrome ? tracefile_chrome : tracefile_perfetto)(&rec, file, &unused);
	recording_release(&rec);
}

int follow_trace(const char *recording, const char *file, int fd, _Atomic bool *final,
		 _Atomic uint64_t *written, struct error *err)
{
	struct live_follow f = {
		.path = recording, .codec = &zstd_codec, .format = live_format_of_file(file),
		.packed = str_ends(file, ".gz"), .fd = fd, .final = final, .written = written,
	};
	int r = live_follow(&f, err);

	if (!r && is_own_file(file, fd))
		complete(recording, file, f.format);
	return r;
}
