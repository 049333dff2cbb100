/* SPDX-License-Identifier: MIT */
#include "tests/nomem.h"

#include "cli/command.h"
#include "tests/support.h"

#include <sys/mman.h>
#include <sys/resource.h>

void *__real_malloc(size_t size), *__wrap_malloc(size_t size);
void *__real_calloc(size_t n, size_t size), *__wrap_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size), *__wrap_realloc(void *p, size_t size);
char *__real_strdup(const char *s), *__wrap_strdup(const char *s);
char *__real_strndup(const char *s, size_t n), *__wrap_strndup(const char *s, size_t n);
char *__real_realpath(const char *path, char *resolved), *__wrap_realpath(const char *path, char *resolved);
int __wrap_asprintf(char **to, const char *format, ...) __attribute__((format(printf, 2, 3)));

static long left = -1;		/* allocations until one fails, -1: no failure */

void nomem_after(long n)
{
	left = n;
}

bool nomem_failed(void)
{
	return left < 0;
}

static bool fails(void)
{
	if (left < 0 || left-- > 0)
		return false;
	errno = ENOMEM;
	return true;
}

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return fails() ? NULL : __real_realloc(p, size);
}

char *__wrap_strdup(const char *s)
{
	return fails() ? NULL : __real_strdup(s);
}

char *__wrap_strndup(const char *s, size_t n)
{
	return fails() ? NULL : __real_strndup(s, n);
}

char *__wrap_realpath(const char *path, char *resolved)
{
	return !resolved && fails() ? NULL : __real_realpath(path, resolved);
}

int __wrap_asprintf(char **to, const char *format, ...)
{
	va_list ap;
	int n = -1;

	if (fails())
		return n;
	va_start(ap, format);
	n = vasprintf(to, format, ap);
	va_end(ap);
	return n;
}

/* Commands */

/* The result of one run. */
struct outcome {
	int status;		/* as in struct run */
	bool failed;		/* an allocation failed */
	struct buf out, err;
};

/* The child: never returns. The exit status has no room for the count, hence the file. */
static void run_child(const char *dir, const char *const *argv, long n, const int fd[3])
{
	const struct command *c;
	char *copy[32] = { 0 };
	int argc = 0, status, used;
	bool failed;

	for (; argv[argc] && argc + 1 < 32; argc++)
		copy[argc] = __real_strdup(argv[argc]);
	c = command_find(copy, argc, &used);
	if (!c || dup2(fd[0], 1) < 0 || dup2(fd[1], 2) < 0 || (dir && chdir(dir)))
		_exit(125);
	setrlimit(RLIMIT_CPU, &(struct rlimit){ 60, 60 });	/* seconds: it hangs */
	nomem_after(n);
	status = command_run(c, argc + 1 - used, copy + used - 1);
	failed = nomem_failed();
	nomem_after(-1);
	if (fflush(stdout) || ferror(stdout) || write(fd[2], &failed, sizeof failed) < 1)
		_exit(125);
	_exit(status);
}

static void take(struct buf *out, int fd)
{
	char chunk[4096];
	ssize_t n;

	lseek(fd, 0, SEEK_SET);
	while ((n = read(fd, chunk, sizeof chunk)) > 0)
		buf_add(out, chunk, (size_t)n);
	close(fd);
	ck_assert_int_eq(buf_error(out), 0);
}

static void run_once(struct outcome *o, const char *dir, const char *const *argv, long n)
{
	RELEASED(buf, failed = BUF_INIT);
	int fd[3], status;
	pid_t pid;

	*o = (struct outcome){ 0 };
	for (int i = 0; i < 3; i++) {
		fd[i] = memfd_create("run", MFD_CLOEXEC);
		ck_assert_int_ge(fd[i], 0);
	}
	fflush(NULL);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid)
		run_child(dir, argv, n, fd);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	o->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	take(&o->out, fd[0]);
	take(&o->err, fd[1]);
	take(&failed, fd[2]);
	o->failed = failed.len && failed.data[0];
}

static void outcome_release(struct outcome *o)
{
	buf_release(&o->out);
	buf_release(&o->err);
}

/* NULL or the fault of a run, compared with the undisturbed one. */
static const char *judge(struct outcome *o, struct outcome *usual)
{
	if (o->status == 2 && usual->status != 2) {
		if (!o->err.len)
			return "no message";
		return strncmp(buf_str(&usual->out), buf_str(&o->out), o->out.len) ?
		       "wrong output before the error" : NULL;
	}
	if (o->status != usual->status)
		return "another status";
	return strcmp(buf_str(&o->out), buf_str(&usual->out)) ? "wrong output" : NULL;
}

static void judge_all(struct outcome *o, struct outcome *usual, const char *name, long n)
{
	const char *wrong = judge(o, usual), *a = buf_str(&o->out), *b = buf_str(&usual->out);

	while (*a && *a == *b) {
		a++;
		b++;
	}
	ck_assert_msg(!wrong, "%s, allocation %ld: %s: status %d, not %d: %.80s:\n%.80s\nnot\n%.80s",
		      name, n, wrong, o->status, usual->status, buf_str(&o->err), a, b);
}

/* Later allocations are those of loops: one in two of them is tried, then one in three, and so on. */
#define EACH 500

long nomem_command(const char *dir, const char *const *argv)
{
	struct outcome usual, o = { .failed = true };
	long n = 0;

	run_once(&usual, dir, argv, -1);
	for (; o.failed; n += 1 + n / EACH) {
		run_once(&o, dir, argv, n);
		/* A crash does not report its allocation, and is not the end of them. */
		o.failed |= o.status > 125;
		judge_all(&o, &usual, argv[0], n);
		outcome_release(&o);
	}
	outcome_release(&usual);
	return n - 1;
}
