/* SPDX-License-Identifier: MIT */
#include "base/file.h"
#include "base/outdir.h"
#include "base/outfile.h"
#include "launch/oelayout.h"
#include "recording/recording.h"
#include "tests/recorded.h"
#include "tests/support.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/syscall.h>

/* Files and directories that appear whole, their modes, and the descriptors of a reader. */

static unsigned umask_changes;

/* The program's own umask(), in place of libc's. */
mode_t umask(mode_t mask)
{
	umask_changes++;
	return (mode_t)syscall(SYS_umask, mask);
}

static mode_t mode_of(const char *path)
{
	struct stat st;

	ck_assert_msg(!lstat(path, &st), "%s: %s", path, strerror(errno));
	return st.st_mode & 0777;
}

static const mode_t masks[] = { 0, 022, 027, 077, 0177, 0777 };

TEST_EACH(umask_is_read, masks)
{
	umask(masks[_i]);
	ck_assert_uint_eq(file_umask(), masks[_i]);
	ck_assert_uint_eq(syscall(SYS_umask, 022), masks[_i]);
}

/* For a moment every other thread would create files with the changed one. */
TEST(umask_is_not_changed)
{
	const char *top = support_tmpdir(), *recording = support_path("%s/recording", top);
	const char *file = support_path("%s/file", top), *made = support_path("%s/made", top);
	struct buf text = BUF_INIT;
	char dir[PATH_MAX];
	struct error err;

	syscall(SYS_umask, 027);
	buf_adds(&text, "text\n");
	ck_assert_int_eq(outfile_write(file, &text, &err), 0);
	ck_assert_uint_eq(mode_of(file), 0640);
	ck_assert_int_eq(chmod(file, 0604), 0);
	ck_assert_int_eq(outfile_replace(file, &text, &err), 0);
	ck_assert_uint_eq(mode_of(file), 0604);
	buf_release(&text);

	ck_assert_int_eq(outdir_begin(dir, made, &err), 0);
	ck_assert_int_eq(outdir_finish(dir, made, 0), 0);
	ck_assert_uint_eq(mode_of(made), 0750);

	/* the launcher's other layout, with the mode of the recording */
	support_expect(top, 0, NULL, NULL,
		       "%s/buildbeat record --no-git -o . -n recording --access all true", TOP_BUILDDIR);
	ck_assert_int_eq(oelayout_beside(recording, &err), 0);
	ck_assert_uint_eq(mode_of(support_path("%s/oe", recording)), 0755);
	ck_assert_uint_eq(mode_of(support_path("%s/oe/build_stats", recording)), 0644);
	support_expect(recording, ANY_STATUS, "", NULL, "ls -A | grep '^\\.'");
	ck_assert_uint_eq(umask_changes, 0);
}

static int write_parts(const char *path, const struct buf *text, struct error *err)
{
	struct outfile o;
	int r = outfile_begin(&o, path, err);

	return r ? r : outfile_end(&o, outfile_add(&o, text->data, text->len, err), err);
}

static int (*const writes[])(const char *, const struct buf *, struct error *) = {
	outfile_write, write_parts,
};

/* As /dev/stdout is, which would be replaced for all programs. */
TEST_EACH(link_to_a_descriptor_stays, writes)
{
	const char *top = support_tmpdir(), *link = support_path("%s/link", top);
	const char *gone = support_path("%s/gone", top);
	int fd = open(gone, O_RDWR | O_CREAT | O_CLOEXEC, 0600), end[2];
	struct buf text = BUF_INIT;
	struct error err;
	struct stat st;
	char got[8];

	buf_adds(&text, "text\n");
	ck_assert_int_eq(unlink(gone), 0);
	ck_assert_int_eq(symlink(support_path("/proc/self/fd/%d", fd), link), 0);
	ck_assert_int_eq(writes[_i](link, &text, &err), 0);
	ck_assert_int_eq(pread(fd, got, sizeof got, 0), 5);
	ck_assert_int_eq(pipe(end), 0);
	ck_assert_int_eq(dup2(end[1], fd), fd);
	ck_assert_int_eq(writes[_i](link, &text, &err), 0);
	ck_assert_int_eq(read(end[0], got, sizeof got), 5);
	close(fd);
	ck_assert_int_eq(writes[_i](link, &text, &err), -ENOENT);
	ck_assert(!lstat(link, &st) && S_ISLNK(st.st_mode));
	close(end[0]);
	close(end[1]);
	buf_release(&text);
}

static bool no_directory_stream;
static unsigned inherited;	/* descriptors that a process started now would get */

/* The program's own, in place of libc's. */
DIR *fdopendir(int fd)
{
	DIR *(*real)(int) = (DIR *(*)(int))dlsym(RTLD_NEXT, "fdopendir");
	int flags = fcntl(fd, F_GETFD);

	inherited += flags >= 0 && !(flags & FD_CLOEXEC);
	errno = ENOMEM;
	return no_directory_stream ? NULL : real(fd);
}

static unsigned open_descriptors(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 1000; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

/* The files of a recording are listed with a descriptor of their own. */
TEST(listing)
{
	const char *dir = TOP_SRCDIR "/tests/data/recordings/nested";
	unsigned before = open_descriptors();
	struct rlimit limit, few = { 0 };
	struct recording rec = RECORDING_INIT;
	struct error err;

	recorded_open(&rec, dir, NULL);
	recording_release(&rec);
	ck_assert_uint_eq(inherited, 0);

	no_directory_stream = true;
	ck_assert_int_eq(recording_read(&rec, dir, NULL, &err), -ENOMEM);
	recording_release(&rec);
	ck_assert_uint_eq(open_descriptors(), before);
	no_directory_stream = false;

	/* one is left, for the directory */
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	few.rlim_max = limit.rlim_max;
	while (fcntl((int)few.rlim_cur, F_GETFD) >= 0)
		few.rlim_cur++;
	few.rlim_cur++;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	ck_assert_int_eq(recording_read(&rec, dir, NULL, &err), -EMFILE);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	recording_release(&rec);
}

TEST_MAIN(outfile);
