#include "recording/store.h"

#include "base/clock.h"
#include "base/cursor.h"
#include "base/trust.h"
#include "command/redact.h"
#include "recording/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

/* Above what hosts and jobservers number by hand, below 64: a process with a
 * higher descriptor open pays about 2 us more for every child it starts, its
 * table of descriptors no longer being the small one that is part of it. */
#define FD_FLOOR 40
#define FD_FLOOR_TIGHT 10
#define NFS_MAGIC 0x6969

const char *const store_access_words[] = { "user", "group", "all", NULL };

mode_t store_dir_mode(enum store_access access)
{
	return access == STORE_ACCESS_ALL ? 0755 : access == STORE_ACCESS_GROUP ? 0750 : 0700;
}

/* Like openat(), but for the mode of what it makes. */
static int open_or_make(int dir_fd, const char *name, int flags)
{
	struct stat dir;
	int fd = -1;

	if (!(flags & O_EXCL))
		fd = openat(dir_fd, name, flags & ~O_CREAT);
	if (fd >= 0 || !(flags & O_CREAT) || (!(flags & O_EXCL) && errno != ENOENT))
		return fd;
	fd = openat(dir_fd, name, flags | O_EXCL, 0600);
	if (fd < 0 && errno == EEXIST && !(flags & O_EXCL))
		return openat(dir_fd, name, flags & ~O_CREAT);
	if (fd >= 0 && !fstat(dir_fd, &dir))
		fchmod(fd, dir.st_mode & 0666);
	return fd;
}

int store_open_at(int dir_fd, const char *name, int flags)
{
	int fd = open_or_make(dir_fd, name, flags | O_CLOEXEC);
	int moved;

	if (fd < 0)
		return -errno;
	if (fd >= FD_FLOOR)
		return fd;
	moved = fcntl(fd, F_DUPFD_CLOEXEC, FD_FLOOR);
	if (moved < 0)
		moved = fcntl(fd, F_DUPFD_CLOEXEC, FD_FLOOR_TIGHT);
	if (moved < 0)
		return fd;
	close(fd);
	return moved;
}

static bool has_size_limit(void)
{
	struct rlimit limit;

	return !getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY;
}

/*
 * A limit on the size of files that is met, a pipe that nobody reads: the kernel
 * sends signals, which would be the end of our host. They are held back, and taken
 * away if they are ours.
 */
static ssize_t write_quietly(int fd, const void *p, size_t len)
{
	static const struct timespec at_once;
	sigset_t held, before, pending;
	ssize_t n;
	int sig, saved;

	sigemptyset(&held);
	sigaddset(&held, SIGXFSZ);
	sigaddset(&held, SIGPIPE);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &held, &before);
	n = write(fd, p, len);
	saved = errno;
	sig = n >= 0 ? 0 : saved == EFBIG ? SIGXFSZ : saved == EPIPE ? SIGPIPE : 0;
	if (sig && !sigismember(&pending, sig)) {
		sigemptyset(&held);
		sigaddset(&held, sig);
		sigtimedwait(&held, NULL, &at_once);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	errno = saved;
	return n;
}

static int write_once(int fd, const void *p, size_t len, bool quietly)
{
	ssize_t n;

	do {
		n = quietly ? write_quietly(fd, p, len) : write(fd, p, len);
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	if ((size_t)n == len)
		return 0;
	return has_size_limit() ? -EFBIG : -ENOSPC;
}

int store_write(int fd, const void *p, size_t len)
{
	return write_once(fd, p, len, true);
}

int64_t store_now_us(const struct store *s)
{
	return (clock_mono_ns() - s->start_ns) / 1000;
}

/* tasks.log; on NFS, where appends of several hosts or processes may overwrite
 * each other, a file of this writer's own. */
static int open_tasks(struct store *s, int create)
{
	struct statfs fs;
	char name[64];
	int fd, r;

	if (fstatfs(s->dir_fd, &fs) || fs.f_type != NFS_MAGIC)
		return store_open_at(s->dir_fd, LAYOUT_TASKS,
				     O_WRONLY | O_APPEND | O_NOFOLLOW | create);
	s->flags |= STORE_NFS;
	snprintf(name, sizeof name, LAYOUT_TASKS_PREFIX "-%s.log", s->inst);
	fd = store_open_at(s->dir_fd, name, O_WRONLY | O_APPEND | O_CREAT | O_EXCL);
	if (fd < 0)
		return fd;
	r = store_write(fd, TASKS_HEADER, strlen(TASKS_HEADER));
	if (r)
		close(fd);
	return r ? r : fd;
}

static void become_writer(struct store *s)
{
	s->pid = getpid();
	event_instance_id(s->inst, s->pid, store_now_us(s));
	s->limited = has_size_limit();
}

/* create: O_CREAT or 0. A recording that was closed and packed has no tasks.log
 * any more and is not joined. */
static int open_dir(struct store *s, int create)
{
	int r;

	s->dir_fd = store_open_at(AT_FDCWD, s->path, O_RDONLY | O_DIRECTORY);
	if (s->dir_fd < 0)
		return s->dir_fd;
	become_writer(s);
	s->tasks_fd = open_tasks(s, create);
	if (s->tasks_fd < 0) {
		r = s->tasks_fd;
		store_close(s);
		return r;
	}
	return 0;
}

/* The directory was made for the user alone: its mode is set before there is a file. */
static int open_made_dir(struct store *s, enum store_access access)
{
	int fd = open(s->path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	fchmod(fd, store_dir_mode(access));
	close(fd);
	return open_dir(s, O_CREAT);
}

/* STORE_INIT, without all of the path. */
static void reset(struct store *s)
{
	memset(s, 0, offsetof(struct store, path));
	s->path[0] = '\0';
	s->dir_fd = s->tasks_fd = -1;
}

/* Join the recording in an absolute path, whose start is known. */
static int join_at(struct store *s, const char *path, int64_t start_ns, unsigned flags)
{
	*s = (struct store)STORE_INIT;
	if (strlen(path) >= sizeof s->path)
		return -ENAMETOOLONG;
	strcpy(s->path, path);
	s->start_ns = start_ns;
	s->flags = flags;
	return open_dir(s, 0);
}

/* Join the recording in s->path by its ticket. Every make of a build comes here: no
 * system call, no page of the stack more than there has to be. */
static int join_by_ticket(struct store *s)
{
	size_t len = strlen(s->path);

	if (s->flags & STORE_NFS)
		return open_dir(s, 0);
	if (len + sizeof "/" LAYOUT_TASKS > sizeof s->path)
		return -ENAMETOOLONG;
	become_writer(s);
	memcpy(s->path + len, "/" LAYOUT_TASKS, sizeof "/" LAYOUT_TASKS);
	s->tasks_fd = store_open_at(AT_FDCWD, s->path, O_WRONLY | O_APPEND | O_NOFOLLOW);
	s->path[len] = '\0';
	return s->tasks_fd < 0 ? s->tasks_fd : 0;
}

int store_open_dir(struct store *s)
{
	if (s->dir_fd < 0)
		s->dir_fd = store_open_at(AT_FDCWD, s->path, O_RDONLY | O_DIRECTORY);
	return s->dir_fd < 0 ? s->dir_fd : 0;
}

void store_close(struct store *s)
{
	int saved = errno;

	store_tell_lost(s);
	if (s->tasks_fd >= 0)
		close(s->tasks_fd);
	if (s->dir_fd >= 0)
		close(s->dir_fd);
	s->tasks_fd = s->dir_fd = -1;
	errno = saved;
}

static struct store_lost *lost_of(struct store *s)
{
	return s->lost ? s->lost : &s->own_lost;
}

/* What a fork has from its parent, that one tells. */
static bool is_of_another(const struct store *s, const struct store_lost *lost)
{
	return !s->lost && lost->pid != getpid();
}

void store_tell_lost(struct store *s)
{
	struct store_lost *lost = lost_of(s);
	struct lost l = { .reason = lost->reason };
	int cancel_state, fd;

	if (!lost->lines || is_of_another(s, lost))
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	/* In this order there are never more tasks than lines. */
	l.tasks = atomic_exchange(&lost->tasks, 0);
	l.lines = atomic_exchange(&lost->lines, 0);
	/* Opened anew: the program around us may have closed dir_fd, or have another
	 * directory there. */
	fd = store_open_at(AT_FDCWD, s->path, O_RDONLY | O_DIRECTORY);
	if (fd < 0 || (l.lines && lost_append_tasks(fd, store_now_us(s), s->inst, &l))) {
		lost->lines += l.lines;
		lost->tasks += l.tasks;
	}
	if (fd >= 0)
		close(fd);
	pthread_setcancelstate(cancel_state, &cancel_state);
}

static void lose(struct store *s, const char *text, size_t len, int error)
{
	struct store_lost *lost = lost_of(s);
	struct lost l = { 0 };

	lost_count(&l, text, len);
	if (is_of_another(s, lost)) {
		lost->lines = lost->tasks = 0;
		lost->pid = getpid();
		lost->lacked_room = false;
	}
	lost->reason = error;
	lost->lines += l.lines;
	lost->tasks += l.tasks;
	/* The first at once: a process may be killed before it can tell. */
	if (!atomic_exchange(&lost->lacked_room, true))
		store_tell_lost(s);
}

/*
 * A part was written: what is not a whole line is cut off again, so that the next
 * writer's line does not continue it. Returns how many bytes stay.
 */
static size_t cut_torn(int fd, const char *text, size_t n)
{
	const char *eol = memrchr(text, '\n', n);
	size_t whole = eol ? (size_t)(eol + 1 - text) : 0;
	off_t end = lseek(fd, 0, SEEK_CUR);
	struct stat st;

	if (n > whole && end >= (off_t)n && !fstat(fd, &st) && st.st_size == end &&
	    ftruncate(fd, end - (off_t)(n - whole))) {
		/* not possible: the torn line is at least ended, if that is */
		store_write(fd, "\n", 1);
	}
	return whole;
}

static void append(struct store *s, int fd, const char *text, size_t len)
{
	ssize_t n;

	do {
		n = s->limited ? write_quietly(fd, text, len) : write(fd, text, len);
	} while (n < 0 && errno == EINTR);
	if (n == (ssize_t)len) {
		if (lost_of(s)->lines)
			store_tell_lost(s);
		return;
	}
	if (n < 0 && !lost_is_full(-errno)) {
		s->error = -errno;
		return;
	}
	if (n < 0) {
		lose(s, text, len, -errno);
	} else {
		size_t whole = cut_torn(fd, text, (size_t)n);

		lose(s, text + whole, len - whole, has_size_limit() ? -EFBIG : -ENOSPC);
	}
}

/* write() is a cancellation point, and what a host calls us in need not be one. */
void store_append_at(struct store *s, int fd, struct buf *b)
{
	int saved = errno, cancel_state;
	int r = buf_error(b);

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	if (!s->error && fd >= 0 && b->len) {
		if (r)
			s->error = r;
		else
			append(s, fd, b->data, b->len);
	}
	buf_clear(b);
	pthread_setcancelstate(cancel_state, &cancel_state);
	errno = saved;
}

void store_append(struct store *s, struct buf *b)
{
	store_append_at(s, s->tasks_fd, b);
}

int store_error(const struct store *s)
{
	const struct store_lost *lost = s->lost ? s->lost : &s->own_lost;
	struct rlimit limit;
	struct stat st;

	if (s->error)
		return s->error;
	if (lost->lacked_room)
		return lost->reason;
	if (!s->limited || getrlimit(RLIMIT_FSIZE, &limit) || fstat(s->tasks_fd, &st))
		return 0;
	return (rlim_t)st.st_size < limit.rlim_cur ? 0 : -EFBIG;
}

void store_add_build(struct buf *b, const char *key, const char *value)
{
	buf_adds(b, key);
	buf_adds(b, ": ");
	redact_field(b, value, strlen(value), EVENT_MAX - 128);
	buf_addc(b, '\n');
}

int store_append_build(struct store *s, const struct buf *b)
{
	int fd, r;

	if (buf_error(b))
		return buf_error(b);
	fd = store_open_at(s->dir_fd, LAYOUT_BUILD, O_WRONLY | O_APPEND);
	if (fd < 0)
		return fd;
	r = store_write(fd, b->data, b->len);
	if (close(fd) && !r)
		r = -errno;
	return r;
}

/* Creating */

int store_make_parents(const char *path, struct error *err)
{
	char part[PATH_MAX];

	for (const char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		memcpy(part, path, (size_t)(p - path));
		part[p - path] = '\0';
		if (mkdir(part, 0775) && errno != EEXIST)
			return error_sys(err, -errno, part, "cannot make the directory");
	}
	return 0;
}

int store_absolute(char out[PATH_MAX], const char *path)
{
	char cwd[PATH_MAX];
	int n;

	if (*path == '/')
		n = snprintf(out, PATH_MAX, "%s", path);
	else if (!getcwd(cwd, sizeof cwd))
		return -errno;
	else
		n = snprintf(out, PATH_MAX, "%s/%s", strcmp(cwd, "/") ? cwd : "", path);
	return n < PATH_MAX - 256 ? 0 : -ENAMETOOLONG;
}

int store_make_base(const char *path, enum store_access access, struct error *err)
{
	mode_t mode = store_dir_mode(access);
	struct stat st;
	int fd, r = store_make_parents(path, err);

	if (r || !*path)
		return r;
	if (mkdir(path, 0755))
		return errno == EEXIST ? 0 :
			error_sys(err, -errno, path, "cannot make the directory");
	fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0 && !fstat(fd, &st) && (st.st_mode & mode) != mode)
		fchmod(fd, (st.st_mode & 07777) | mode);
	if (fd >= 0)
		close(fd);
	return 0;
}

/* mkdir BASE/NAME into s->path; an own name counts up until it is free. */
static int make_dir(struct store *s, enum store_access access, const char *base,
		    const char *name, struct error *err)
{
	char stamp[32];
	struct buf b;
	size_t len;
	int r = 0;

	if (!strcmp(base, "/"))
		base = "";
	len = strlen(base);
	buf_init_fixed(&b, stamp, sizeof stamp);
	clock_add_name(&b, clock_wall_ns());
	for (unsigned i = 1; i < 1000; i++) {
		if (name)
			r = snprintf(s->path, PATH_MAX, "%s/%s", base, name);
		else if (i == 1)
			r = snprintf(s->path, PATH_MAX, "%s/%s", base, buf_str(&b));
		else
			r = snprintf(s->path, PATH_MAX, "%s/%s-%u", base, buf_str(&b), i);
		if (r >= PATH_MAX)
			return error_sys(err, -ENAMETOOLONG, base, NULL);
		if (i == 1 && (r = store_make_base(base, access, err)))
			return r;
		if (!mkdir(s->path, 0700))
			break;
		r = -errno;
		if (r != -EEXIST || name)
			return error_sys(err, r, s->path, "cannot make the recording");
	}
	return s->path[len] == '/' ? 0 : -EINVAL;
}

void store_link_latest(const char *base, const char *path)
{
	char link[PATH_MAX + 16], fresh[PATH_MAX + 48];
	const char *name = strrchr(path, '/') + 1;
	struct stat st;

	snprintf(link, sizeof link, "%s/" LAYOUT_LATEST, base);
	/* a file of that name is not ours */
	if (!lstat(link, &st) && !S_ISLNK(st.st_mode))
		return;
	snprintf(fresh, sizeof fresh, "%s.%d", link, (int)getpid());
	if (!symlink(name, fresh) && rename(fresh, link))
		unlink(fresh);
}

static void add_redact_line(struct buf *b, const char *key)
{
	if (redact_is_default())
		return;
	buf_adds(b, key);
	redact_add_words(b);
	buf_addc(b, '\n');
}

static int write_first_lines(struct store *s, int64_t wall_ns)
{
	int fd = store_open_at(s->dir_fd, LAYOUT_BUILD, O_WRONLY | O_CREAT | O_APPEND);
	char text[256 + REDACT_WORDS_MAX];
	struct buf b;
	int r;

	if (fd < 0)
		return fd;
	buf_init_fixed(&b, text, sizeof text);
	buf_adds(&b, LAYOUT_BUILD_HEADER);
	buf_addf(&b, "start_wall_ns: %lld\n", (long long)wall_ns);
	buf_addf(&b, "start_mono_ns: %lld\n", (long long)s->start_ns);
	buf_adds(&b, "start: ");
	clock_add_iso(&b, wall_ns);
	buf_addc(&b, '\n');
	add_redact_line(&b, "redact: ");
	r = store_write(fd, b.data, b.len);
	close(fd);
	if (r)
		return r;
	r = store_write(s->tasks_fd, TASKS_HEADER, strlen(TASKS_HEADER));
	if (!r)
		lost_begin(s->dir_fd);
	return r;
}

/* What could not be begun: no directory that is no recording is left. */
static void discard(struct store *s)
{
	if (s->dir_fd >= 0) {
		unlinkat(s->dir_fd, LAYOUT_BUILD, 0);
		unlinkat(s->dir_fd, LAYOUT_TASKS, 0);
		unlinkat(s->dir_fd, LAYOUT_LOST, 0);
	}
	rmdir(s->path);
	store_close(s);
}

int store_create_for(struct store *s, enum store_access access, const char *base,
		     const char *name, struct error *err)
{
	char path[PATH_MAX];
	int64_t wall_ns = clock_wall_ns();
	int r;

	*s = (struct store)STORE_INIT;
	s->start_ns = clock_mono_ns();
	r = store_absolute(path, base ? base : LAYOUT_BASE);
	if (r)
		return error_sys(err, r, base, "cannot make the recording");
	r = trust_path(path, err);
	if (r)
		return r;
	r = make_dir(s, access, path, name, err);
	if (r)
		return r;
	r = open_made_dir(s, access);
	if (!r)
		r = write_first_lines(s, wall_ns);
	if (r) {
		discard(s);
		return error_sys(err, r, s->path, "cannot write the recording");
	}
	store_link_latest(path, s->path);
	return 0;
}

int store_create(struct store *s, const char *base, const char *name, struct error *err)
{
	return store_create_for(s, STORE_ACCESS_USER, base, name, err);
}

/* Joining */

static bool read_start(const char *text, size_t len, int64_t *start_ns)
{
	struct cursor c;
	struct slice line;
	bool complete, found = false;

	cursor_init(&c, text, len);
	while (cursor_line(&c, &line, &complete)) {
		struct cursor l;

		cursor_init(&l, line.p, line.len);
		if (complete && cursor_literal(&l, "start_mono_ns: "))
			found = cursor_i64(&l, start_ns) && cursor_at_end(&l);
		else if (complete && cursor_literal(&l, "redact: "))
			redact_set_words((struct slice){ line.p + 8, line.len - 8 });
	}
	return found;
}

int store_join_dir(struct store *s, const char *path, struct error *err)
{
	char full[PATH_MAX], file[PATH_MAX + 16], text[4096 + REDACT_WORDS_MAX];
	int64_t start_ns;
	ssize_t n;
	int fd, r;

	if (!realpath(path, full))
		return error_sys(err, -errno, path, "cannot join the recording");
	snprintf(file, sizeof file, "%s/" LAYOUT_BUILD, full);
	fd = open(file, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_sys(err, -errno, file, "cannot join the recording");
	n = read(fd, text, sizeof text);
	close(fd);
	if (n < 0 || !read_start(text, (size_t)n, &start_ns))
		return error_set(err, -EINVAL, file, 0, 0, "not a recording's build file");
	r = join_at(s, full, start_ns, 0);
	return r ? error_sys(err, r, full, "cannot join the recording") : 0;
}

const char *store_ticket_path(const char *makefiles, size_t *len)
{
	static const char tail[] = "/" LAYOUT_TICKET;
	size_t n;

	if (!makefiles)
		return NULL;
	for (n = 0; makefiles[n] && makefiles[n] != ' ' && makefiles[n] != '\t' &&
	     makefiles[n] != '\n'; n++)
		continue;
	if (n < strlen(tail) || memcmp(makefiles + n - strlen(tail), tail, strlen(tail)))
		return NULL;
	*len = n;
	return makefiles;
}

static bool is_bare(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
	       (c >= '0' && c <= '9') || (c && strchr("/._-", c));
}

void store_add_ticket_line(struct buf *b, const struct store *s)
{
	buf_addf(b, "# buildbeat ticket 1 %lld %u ", (long long)s->start_ns, s->flags);
	for (const char *p = s->path; *p; p++) {
		if (is_bare(*p))
			buf_addc(b, *p);
		else
			buf_addf(b, "%%%02x", (unsigned char)*p);
	}
	buf_addc(b, '\n');
	add_redact_line(b, "# redact ");
}

static int hex_value(char c)
{
	const char *digits = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

static bool percent_decode(struct slice in, char out[PATH_MAX])
{
	size_t n = 0;

	for (size_t i = 0; i < in.len; i++) {
		char c = in.p[i];

		if (n + 1 >= PATH_MAX)
			return false;
		if (c == '%') {
			int high, low;

			if (in.len - i < 3)
				return false;
			high = hex_value(in.p[i + 1]);
			low = hex_value(in.p[i + 2]);
			if (high < 0 || low < 0 || !(high | low))
				return false;
			c = (char)(high * 16 + low);
			i += 2;
		}
		out[n++] = c;
	}
	out[n] = '\0';
	return n && out[0] == '/';
}

/* What the ticket's first lines say, into s. */
static bool read_ticket(struct store *s, const char *text, size_t n)
{
	struct slice dir, words;
	struct cursor c;
	uint64_t flags;
	bool complete;

	cursor_init(&c, text, n);
	if (!cursor_literal(&c, "# buildbeat ticket 1 ") || !cursor_i64(&c, &s->start_ns) ||
	    !cursor_byte(&c, ' ') || !cursor_u64(&c, &flags) || !cursor_byte(&c, ' ') ||
	    !cursor_line(&c, &dir, &complete) || !complete || !percent_decode(dir, s->path))
		return false;
	s->flags = (unsigned)flags;
	if (cursor_literal(&c, "# redact ") && cursor_line(&c, &words, &complete))
		redact_set_words(words);
	return true;
}

/* Not inline: few tickets are that long, and what is on the stack costs its pages. */
static __attribute__((noinline)) bool read_long_ticket(struct store *s, int fd)
{
	char text[3 * PATH_MAX + 64 + REDACT_WORDS_MAX];
	ssize_t n = pread(fd, text, sizeof text, 0);

	return n > 0 && read_ticket(s, text, (size_t)n);
}

static int read_open_ticket(struct store *s, int fd)
{
	char text[1024];
	struct stat st;
	ssize_t n;
	bool ok;

	if (trust_fstat(fd, &st) || !trust_is_private(&st))
		return -EPERM;
	n = read(fd, text, sizeof text);
	if (n < 0)
		return -EIO;
	ok = (size_t)n < sizeof text ? read_ticket(s, text, (size_t)n) : read_long_ticket(s, fd);
	return ok ? 0 : -EINVAL;
}

int store_join_ticket(struct store *s, const char *ticket)
{
	int fd = openat(AT_FDCWD, ticket, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 ? -errno : 0;

	reset(s);
	if (r)
		return r;
	r = read_open_ticket(s, fd);
	close(fd);
	return r ? r : join_by_ticket(s);
}

int store_join_env(struct store *s)
{
	size_t len = 0;
	const char *word = store_ticket_path(getenv("MAKEFILES"), &len);

	if (!word || len >= sizeof s->path) {
		reset(s);
		return -ENOENT;
	}
	memcpy(s->path, word, len);
	s->path[len] = '\0';
	return store_join_ticket(s, s->path);
}
