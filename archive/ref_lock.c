/* SPDX-License-Identifier: MIT */
#include "archive/ref_lock.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/readfile.h"
#include "recording/alive.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define NAP_NS 2000000
#define NS_PER_S 1000000000
#define OLD_NS (600 * (int64_t)NS_PER_S)
#define SEEN_NS (REF_LOCK_LOOK_S * (int64_t)NS_PER_S)
/* git keeps a lock for milliseconds: one with this age is not git's, made after our owner died. */
#define LEFT_NS NS_PER_S
#define FDS_MAX 16

#define REFS "refs/"
#define BOOT "boot "
#define BOOT_ID "/proc/sys/kernel/random/boot_id"

static bool full_path(char path[PATH_MAX], const struct archive *a, const char *name,
		      const char *end)
{
	int n = snprintf(path, PATH_MAX, "%s%s%s", git_repository_commondir(a->git), name, end);

	return n > 0 && n < PATH_MAX;
}

/* A different pause for each process. */
void ref_lock_nap(void)
{
	nanosleep(&(struct timespec){ 0, NAP_NS + getpid() % 1000 * 1000 }, NULL);
}

static int64_t age_ns(const struct stat *st)
{
	return clock_wall_ns() - (st->st_mtim.tv_sec * (int64_t)NS_PER_S + st->st_mtim.tv_nsec);
}

/* A file that others may have linked to another place is not written to. */
static int open_lock(const struct archive *a, const char *file)
{
	char path[PATH_MAX];
	struct stat st;
	int fd;

	if (!full_path(path, a, file, ""))
		return -ENAMETOOLONG;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666);
	if (fd < 0)
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_nlink == 1)
		return fd;
	close(fd);
	return -EINVAL;
}

/* The note has names, and can have any text if the repository is a stranger's. */
static bool is_lock_name(const char *name)
{
	return !strcmp(name, REF_LOCK_PACKED) ||
	       (!strncmp(name, "refs/", strlen("refs/")) && git_reference_is_valid_name(name));
}

/* Reading */

static bool is_named(struct ref_lock_note *note, const char *name)
{
	const char *text = note ? buf_str(&note->names) : "", *end;
	size_t n = strlen(name);

	for (; *text; text = *end ? end + 1 : end) {
		end = strchrnul(text, '\n');
		if ((size_t)(end - text) == n && !memcmp(text, name, n))
			return true;
	}
	return false;
}

enum ref_lock_state ref_lock_look(struct ref_lock_watch *w, const struct archive *a,
				  const char *name, struct ref_lock_note *note)
{
	int64_t made_ns, age, now_ns = clock_mono_ns();
	char path[PATH_MAX];
	struct stat st;

	if (!full_path(path, a, name, ".lock") || lstat(path, &st))
		return REF_LOCK_NONE;
	made_ns = st.st_mtim.tv_sec * (int64_t)NS_PER_S + st.st_mtim.tv_nsec;
	age = age_ns(&st);
	if (!w->since_ns || w->inode != st.st_ino || w->made_ns != made_ns)
		*w = (struct ref_lock_watch){ .since_ns = now_ns, .made_ns = made_ns,
					      .inode = st.st_ino };
	w->age_s = age / NS_PER_S;
	if (!S_ISREG(st.st_mode))
		return REF_LOCK_IN_USE;
	if (is_named(note, name) && note->owner != REF_LOCK_UNKNOWN)
		return note->owner == REF_LOCK_DEAD && (age < 0 || age >= LEFT_NS) ?
		       REF_LOCK_LEFT : REF_LOCK_IN_USE;
	return age > OLD_NS || (!strncmp(name, REFS, strlen(REFS)) && now_ns - w->since_ns >= SEEN_NS) ?
	       REF_LOCK_LEFT : REF_LOCK_IN_USE;
}

int ref_lock_remove(const struct archive *a, const char *name)
{
	char path[PATH_MAX];

	if (!full_path(path, a, name, ".lock"))
		return -ENAMETOOLONG;
	return unlink(path) && errno != ENOENT ? -errno : 0;
}

/* Takes the line of the boot out of the text. Without one it is of an older buildbeat, of this machine. */
static bool take_boot(struct buf *text)
{
	char *line = strstr(buf_str(text), BOOT);

	if (!line)
		return true;
	*line = '\0';
	text->len = (size_t)(line - text->data);
	line += strlen(BOOT);
	line[strcspn(line, "\n")] = '\0';
	return alive_same_boot(line);
}

static void read_note(struct ref_lock_note *note, int fd)
{
	char text[PATH_MAX];
	ssize_t n = pread(fd, text, sizeof text, 0);

	*note = (struct ref_lock_note){ .names = BUF_INIT };
	if (n > 0)
		buf_add(&note->names, text, strnlen(text, (size_t)n));
	if (buf_error(&note->names))
		buf_clear(&note->names);
	if (note->names.len && take_boot(&note->names))
		note->owner = REF_LOCK_DEAD;
}

void ref_lock_note_release(struct ref_lock_note *n)
{
	buf_release(&n->names);
}

void ref_lock_read_note(struct ref_lock_note *n, const struct archive *a)
{
	char path[PATH_MAX];
	int fd = full_path(path, a, REF_LOCK, "") ?
		 open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK) : -1;
	bool is_held = fd >= 0 && flock(fd, LOCK_EX | LOCK_NB);

	*n = (struct ref_lock_note){ .names = BUF_INIT };
	if (fd >= 0)
		read_note(n, fd);
	if (is_held)
		n->owner = REF_LOCK_ALIVE;
	file_close(fd);
}

/* Taking */

/* Waits for a lock that may be in use. */
static void remove_left(const struct archive *a, const char *name, struct ref_lock_note *note)
{
	struct ref_lock_watch w = { 0 };
	int64_t until_ns = clock_mono_ns() + SEEN_NS + NS_PER_S;
	enum ref_lock_state is;

	while ((is = ref_lock_look(&w, a, name, note)) == REF_LOCK_IN_USE && clock_mono_ns() < until_ns)
		ref_lock_nap();
	if (is == REF_LOCK_LEFT)
		ref_lock_remove(a, name);
}
static int remove_each(const char *path, const struct stat *st, int type, struct FTW *at)
{
	size_t n = strlen(path), end = strlen(".lock");

	(void)st;
	(void)at;
	if (type == FTW_F && n > end && !strcmp(path + n - end, ".lock"))
		unlink(path);
	return 0;
}

/* Nobody else writes to a copy: nothing there is git's. */
static void remove_all(const struct archive *a)
{
	char path[PATH_MAX];

	if (full_path(path, a, "refs", ""))
		nftw(path, remove_each, FDS_MAX, FTW_PHYS);
	ref_lock_remove(a, REF_LOCK_PACKED);
}

static void remove_noted(const struct archive *a, struct ref_lock_note *note)
{
	char names[PATH_MAX], *rest = names, *name;

	snprintf(names, sizeof names, "%s", buf_str(&note->names));
	while ((name = strsep(&rest, "\n"))) {
		if (!strcmp(name, REF_LOCK_ALL))
			remove_all(a);
		else if (is_lock_name(name))
			remove_left(a, name, note);
	}
}

/* Not possible if the file is only readable. */
static void write_note(int fd, const char *names)
{
	struct buf text = BUF_INIT;
	char boot[64];
	ssize_t n;

	buf_adds(&text, names);
	if (*names && readfile_line(AT_FDCWD, BOOT_ID, boot, sizeof boot) > 0)
		buf_addf(&text, "%s" BOOT "%s\n", names[strlen(names) - 1] == '\n' ? "" : "\n", boot);
	n = ftruncate(fd, 0) ? -1 : pwrite(fd, buf_str(&text), text.len, 0);
	(void)n;
	buf_release(&text);
}

static int lock(int fd, unsigned wait_s)
{
	int64_t until_ns = clock_mono_ns() + (int64_t)wait_s * NS_PER_S;

	while (flock(fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (clock_mono_ns() >= until_ns)
			return -EBUSY;
		ref_lock_nap();
	}
	return 0;
}

int ref_lock_take(struct ref_lock *l, const struct archive *a, const char *file,
		  const char *names, unsigned wait_s)
{
	struct ref_lock_note note;
	int fd = open_lock(a, file), r;

	l->fd = -1;
	if (fd < 0)
		return fd;
	r = lock(fd, wait_s);
	if (r) {
		close(fd);
		return r;
	}
	read_note(&note, fd);
	remove_noted(a, &note);
	ref_lock_note_release(&note);
	write_note(fd, names);
	l->fd = fd;
	return 0;
}

void ref_lock_release(struct ref_lock *l)
{
	if (l->fd < 0)
		return;
	write_note(l->fd, "");
	close(l->fd);
	l->fd = -1;
}
