/* SPDX-License-Identifier: MIT */
#include "tests/paths.h"
#include "tests/support.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/json.h"

#include <poll.h>
#include <sys/mman.h>

/* The program's directory, in which each test makes its own. */
static char tmpdir_all[64] = "/tmp";
static char tmpdir[128];
static pid_t tmpdir_owner;

/* Also directories that a test made unreadable. */
static void remove_tree(const char *path)
{
	static const char command[] = "rm -rf -- \"$0\" 2>/dev/null || "
				      "{ chmod -R u+rwX \"$0\"; rm -rf -- \"$0\"; }";
	pid_t pid = fork();

	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", command, path, (char *)NULL);
		_exit(127);
	}
	waitpid(pid, NULL, 0);
}

/* Output of commands and texts of files, until the test ends. */
static char **kept;
static size_t n_kept;

static void keep(struct buf *b)
{
	ck_assert_int_eq(buf_reserve(b, 0), 0);
	b->data[b->len] = '\0';
	kept = realloc(kept, (n_kept + 1) * sizeof *kept);
	ck_assert_ptr_nonnull(kept);
	kept[n_kept++] = b->data;
}

static void free_kept(void)
{
	while (n_kept)
		free(kept[--n_kept]);
	free(kept);
	kept = NULL;
}

void support_cleanup(void)
{
	free_kept();
	if (!tmpdir[0] || tmpdir_owner != getpid())
		return;
	remove_tree(tmpdir);
	tmpdir[0] = '\0';
}

const char *support_tmpdir(void)
{
	if (tmpdir[0] && tmpdir_owner == getpid())
		return tmpdir;
	snprintf(tmpdir, sizeof tmpdir, "%s/buildbeat-test-XXXXXX", tmpdir_all);
	ck_assert_ptr_nonnull(mkdtemp(tmpdir));
	tmpdir_owner = getpid();
	atexit(support_cleanup);
	return tmpdir;
}

const char *support_runtime_dir(void)
{
	const char *path = support_path("%s/run", support_tmpdir());

	ck_assert_int_eq(mkdir(path, 0700), 0);
	setenv("XDG_RUNTIME_DIR", path, 1);
	return support_tmpdir();
}

const char *support_path(const char *format, ...)
{
	static char paths[8][4096];
	static unsigned next;
	char *path = paths[next++ % 8];
	va_list ap;

	va_start(ap, format);
	vsnprintf(path, sizeof paths[0], format, ap);
	va_end(ap);
	return path;
}

void support_write(const char *path, const void *data, size_t len)
{
	FILE *f = fopen(path, "wb");

	ck_assert_msg(f != NULL, "%s: %s", path, strerror(errno));
	ck_assert_uint_eq(fwrite(data, 1, len, f), len);
	ck_assert_int_eq(fclose(f), 0);
}

void support_writes(const char *path, const char *text)
{
	support_write(path, text, strlen(text));
}

static ssize_t read_some(struct buf *out, int fd)
{
	char chunk[65536];
	ssize_t n = read(fd, chunk, sizeof chunk);

	if (n > 0)
		buf_add(out, chunk, (size_t)n);
	return n;
}

void support_read(struct buf *out, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	ck_assert_msg(fd >= 0, "%s: %s", path, strerror(errno));
	buf_init(out);
	while (read_some(out, fd) > 0)
		;
	buf_str(out);
	close(fd);
}

const char *support_text(const char *path)
{
	struct buf b;

	support_read(&b, path);
	keep(&b);
	return b.data;
}

void support_is_golden(const struct buf *text, const char *name)
{
	const char *path = support_path("%s/tests/golden/%s", TOP_SRCDIR, name);
	struct buf expected = BUF_INIT;

	if (getenv("UPDATE_GOLDEN"))
		support_write(path, text->data, text->len);
	support_read(&expected, path);
	ck_assert_str_eq(text->data ? text->data : "", buf_str(&expected));
	buf_release(&expected);
}

bool support_exists(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static void collect(struct run *r, int out, int err)
{
	struct pollfd fds[2] = { { out, POLLIN, 0 }, { err, POLLIN, 0 } };
	struct buf *to[2] = { &r->out, &r->err };

	while (fds[0].fd >= 0 || fds[1].fd >= 0) {
		if (poll(fds, 2, -1) < 0 && errno != EINTR)
			return;
		for (int i = 0; i < 2; i++) {
			if (fds[i].fd < 0 || !fds[i].revents)
				continue;
			if (read_some(to[i], fds[i].fd) <= 0)
				fds[i].fd = -1;
		}
	}
}

void support_run_v(struct run *r, const char *dir, const char *format, va_list ap)
{
	char *command;
	int out[2], err[2], status;
	pid_t pid;

	buf_init(&r->out);
	buf_init(&r->err);
	ck_assert_int_ge(vasprintf(&command, format, ap), 0);
	ck_assert_int_eq(pipe2(out, O_CLOEXEC), 0);
	ck_assert_int_eq(pipe2(err, O_CLOEXEC), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (pid == 0) {
		int null = open("/dev/null", O_RDONLY);

		dup2(null, 0);
		if (null > 2)
			close(null);
		dup2(out[1], 1);
		dup2(err[1], 2);
		if (dir && chdir(dir))
			_exit(126);
		execl("/bin/sh", "sh", "-c", command, (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	close(err[1]);
	collect(r, out[0], err[0]);
	close(out[0]);
	close(err[0]);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	r->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	keep(&r->out);
	keep(&r->err);
	free(command);
}

void support_run(struct run *r, const char *dir, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	support_run_v(r, dir, format, ap);
	va_end(ap);
}

void support_expect(const char *dir, int status, const char *out, const char *err,
		    const char *format, ...)
{
	char *command;
	struct run r;
	va_list ap;

	va_start(ap, format);
	ck_assert_int_ge(vasprintf(&command, format, ap), 0);
	va_end(ap);
	support_run(&r, dir, "%s", command);
	ck_assert_msg(status == ANY_STATUS || r.status == status, "%s: status %d\n%s%s", command,
		      r.status, r.out.data, r.err.data);
	if (out)
		ck_assert_msg(!strcmp(r.out.data, out), "%s: \"%s\", not \"%s\"\n%s", command,
			      r.out.data, out, r.err.data);
	if (err)
		ck_assert_msg(*err ? strstr(r.err.data, err) != NULL : !r.err.len,
			      "%s: \"%s\" is not in \"%s\"", command, err, r.err.data);
	free(command);
}

void support_buildbeat(struct run *r, const char *dir, unsigned columns, const char *command)
{
	support_run(r, dir, "unset COLUMNS NO_COLOR; export XDG_CONFIG_HOME=/nonexistent "
		    "HOME=/nonexistent TZ=UTC %s=%u; " TOP_BUILDDIR "/buildbeat %s",
		    columns ? "COLUMNS" : "UNUSED", columns, command);
}

void support_prints(const char *dir, const struct support_golden *g)
{
	struct run r;

	support_buildbeat(&r, dir, g->columns, g->command);
	ck_assert_str_eq(r.err.data, "");
	ck_assert_int_eq(r.status, 0);
	support_is_golden(&r.out, g->golden);
}

void support_refuses(const char *dir, const char *command, const char *message)
{
	struct run r;

	support_buildbeat(&r, dir, 80, command);
	ck_assert_int_eq(r.status, 2);
	ck_assert_str_eq(r.out.data, "");
	ck_assert_msg(strstr(r.err.data, message) != NULL, "%s", r.err.data);
	ck_assert_msg(!strncmp(r.err.data, "buildbeat: ", 11), "%s", r.err.data);
}

void support_error(const struct error *err, const char *path, const char *message)
{
	const char *all = support_path("%u:%u: %s", err->line, err->column, err->message);

	ck_assert_str_eq(err->path, path);
	ck_assert_msg(strstr(all, message) != NULL, "%s: not %s", all, message);
}

const char support_poll[] =
	"until_true() { n=0; until eval \"$1\" 2>/dev/null; do test $n != 30000 || exit 7; "
	"n=$((n + 1)); sleep 0.02; done; }; ";

void support_wait_until(bool (*holds)(void *data), void *data, const char *what)
{
	int64_t deadline_ns = clock_mono_ns() + SUPPORT_DEADLINE_S * (int64_t)1000000000;

	while (!holds(data)) {
		ck_assert_msg(clock_mono_ns() < deadline_ns, "%s: not within %d s", what,
			      SUPPORT_DEADLINE_S);
		usleep(2000);
	}
}

bool support_has(const char *program)
{
	const char *path = getenv("PATH");
	char file[4096];

	while (path && *path) {
		size_t n = strcspn(path, ":");

		snprintf(file, sizeof file, "%.*s/%s", (int)n, path, program);
		if (!access(file, X_OK))
			return true;
		path += n + (path[n] == ':');
	}
	return false;
}

bool support_can_be_loaded(void)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
	return false;
#elif defined __has_feature
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
	return false;
#else
	return true;
#endif
#else
	return true;
#endif
}

/* The limit of a test that hangs; longer than any test on a machine with thirty times the load. */
#define TIMEOUT_S 3600

static TCase *add_group(Suite *suite, const struct support_test *t, const char *name)
{
	TCase *group = tcase_create(name);

	tcase_set_timeout(group, TIMEOUT_S);
	if (t->once)
		tcase_add_unchecked_fixture(group, t->setup, t->teardown);
	else
		tcase_add_checked_fixture(group, t->setup, t->teardown);
	tcase_add_checked_fixture(group, NULL, support_cleanup);
	suite_add_tcase(suite, group);
	return group;
}

/* Collected by the linker; a program can be without tests. */
extern const struct support_test *const __start_test_cases[] __attribute__((weak));
extern const struct support_test *const __stop_test_cases[] __attribute__((weak));

static int compare_lines(const void *a, const void *b)
{
	const struct support_test *const *x = a, *const *y = b;

	return (*x)->line - (*y)->line;
}

/* In the order of the file, up to NULL; the caller frees. */
static const struct support_test **tests_of(const char *file)
{
	size_t all = (size_t)(__stop_test_cases - __start_test_cases), n = 0;
	const struct support_test **found = calloc(all + 1, sizeof *found);

	for (size_t i = 0; found && i < all; i++) {
		if (!strcmp(__start_test_cases[i]->file, file))
			found[n++] = __start_test_cases[i];
	}
	if (found)
		qsort(found, n, sizeof *found, compare_lines);
	return found;
}

static Suite *suite_of(const char *name, const struct support_test *const *tests)
{
	const char *only = getenv("CK_RUN_TEST");
	Suite *suite = suite_create(name);
	TCase *group = NULL;

	for (const struct support_test *t; (t = *tests); tests++) {
		if (t->group || !group)
			group = add_group(suite, t, t->group ? t->group : name);
		if (t->untimed)
			tcase_set_timeout(group, 0);
		if (t->test && (!only || !strcmp(only, t->test->name)))
			tcase_add_loop_test(group, t->test, t->from, t->end());
	}
	return suite;
}

int support_run_tests(const char *file)
{
	const struct support_test **tests = tests_of(file);
	char name[64];
	int status;

	if (!tests) {
		perror(file);
		return EXIT_FAILURE;
	}
	file = strrchr(file, '/') + 1;
	file += strncmp(file, "check_", 6) ? 0 : 6;
	snprintf(name, sizeof name, "%.*s", (int)strcspn(file, "."), file);
	status = support_run_suite(suite_of(name, tests));
	free(tests);
	return status;
}

/* Settings of the user, the CI system and the make that runs the tests: a whole name, or the
 * beginning of names that ends with '_'. */
static const char *const settings[] = {
	"AR", "ARFLAGS", "BASH_ENV", "BITBAKEDIR", "BUILDBEAT_", "BUILDDIR", "CC", "CCACHE_", "CDPATH",
	"CFLAGS", "CI", "CI_", "CMAKE_", "COLUMNS", "CPPFLAGS", "CXX", "CXXFLAGS", "ENV", "GITHUB_",
	"GITLAB_", "GIT_AUTHOR_", "GIT_COMMITTER_", "GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE",
	"GNUMAKEFLAGS", "JENKINS_", "LANGUAGE", "LC_", "LDFLAGS", "LD_PRELOAD", "LINES", "MAKEFILES",
	"MAKEFLAGS", "MAKELEVEL", "MAKE_", "MFLAGS", "NINJA_STATUS", "NO_COLOR", "OTEL_", "PAGER",
	"POSIXLY_CORRECT", "PYTHONPATH", "SCCACHE_", "SOURCE_DATE_EPOCH", "TZ", "XDG_",
};

static bool is_setting(const char *variable)
{
	size_t len = strcspn(variable, "=");

	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		size_t n = strlen(settings[i]);

		if (!strncmp(variable, settings[i], n) && (n == len || settings[i][n - 1] == '_'))
			return true;
	}
	return false;
}

/* Before main(), which may set some of them for its tests. */
static __attribute__((constructor)) void clean_environment(void)
{
	char **to = environ;

	for (char **from = environ; from && *from; from++) {
		if (!is_setting(*from) || !strncmp(*from, "BUILDBEAT_BITBAKE=", 18))
			*to++ = *from;
	}
	if (to)
		*to = NULL;
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	setenv("LANG", "C.UTF-8", 1);
}

/* Skipped tests, also of children; the conditions without those that are there already. */
static struct { int n; char why[4000]; } *skipped;

void support_skipped(const char *condition)
{
	size_t len = strlen(skipped->why);

	skipped->n++;
	if (!strstr(skipped->why, condition) && len + strlen(condition) + 4 < sizeof skipped->why)
		sprintf(skipped->why + len, "%s%s", len ? "; " : "", condition);
}

int support_skips_all(const char *condition)
{
	printf("skipped all tests: %s\n", condition);
	return 77;
}

bool support_tolerates_misuse;

void json_misused(void)
{
	if (!support_tolerates_misuse)
		abort();
}

int support_run_suite(Suite *suite)
{
	SRunner *runner = srunner_create(suite);
	bool all_skipped;
	int failed;

	skipped = mmap(NULL, sizeof *skipped, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (skipped == MAP_FAILED) {
		perror("mmap");
		return EXIT_FAILURE;
	}

	/* nohup and a shell's & ignore them */
	signal(SIGHUP, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGQUIT, SIG_DFL);
	/* A killed test leaves its directory to us. */
	strcpy(tmpdir_all, "/tmp/buildbeat-test-XXXXXX");
	if (!mkdtemp(tmpdir_all) || chmod(tmpdir_all, 0711)) {
		perror(tmpdir_all);
		return EXIT_FAILURE;
	}
	setenv("TMPDIR", tmpdir_all, 1);
	/* ccache's would be in the user's home */
	setenv("CCACHE_DIR", support_path("%s/ccache", tmpdir_all), 1);
	srunner_run_all(runner, CK_ENV);
	remove_tree(tmpdir_all);
	failed = srunner_ntests_failed(runner);
	if (skipped->n)
		printf("skipped %d of %d tests: %s\n", skipped->n, srunner_ntests_run(runner),
		       skipped->why);
	all_skipped = skipped->n == srunner_ntests_run(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : all_skipped ? 77 : EXIT_SUCCESS;
}
