/* SPDX-License-Identifier: MIT */
#include "tests/paths.h"
#include "tests/support.h"

#include <poll.h>

/*
 * The chart in a real browser: every scenario of tests/browser is a test, and its module the
 * test case. One process, tests/browser/run.py, keeps the browser for all of them. It reads
 * the name of a scenario a line and answers with a line.
 */

#define SCENARIOS_MAX 1000
#define MODULES_MAX 100
#define SCENARIO_S 2000		/* run.py has a shorter limit and reports the step */
#define END_MS 300000

static pid_t runner;
static int to_runner, from_runner;
static size_t n_scenarios;
static char *scenario[SCENARIOS_MAX];	/* "module.name" */
static size_t n_modules;
static char *module[MODULES_MAX];

static void runner_start(void)
{
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		exit(99);
	runner = fork();
	if (runner < 0)
		exit(99);
	if (runner == 0) {
		dup2(in[0], 0);
		dup2(out[1], 1);
		execlp("python3", "python3", "-B", TOP_SRCDIR "/tests/browser/run.py", "--serve",
		       TOP_BUILDDIR, (char *)NULL);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	to_runner = in[1];
	from_runner = out[0];
}

/* Reads a line without its newline; false at the end. */
static bool runner_line(struct buf *line)
{
	char c;
	ssize_t n;

	buf_init(line);
	while ((n = read(from_runner, &c, 1)) == 1 || (n < 0 && errno == EINTR)) {
		if (n < 0)
			continue;
		if (c == '\n')
			break;
		buf_add(line, &c, 1);
	}
	buf_str(line);
	return n == 1;
}

/* Closes its input, upon which it ends with the browser. Returns its exit status. */
static int runner_end(void)
{
	struct pollfd fd = { from_runner, POLLIN, 0 };
	int status;

	close(to_runner);
	if (poll(&fd, 1, END_MS) == 0)
		kill(runner, SIGTERM);
	if (waitpid(runner, &status, 0) != runner || !WIFEXITED(status))
		return 99;
	return WEXITSTATUS(status);
}

static _Noreturn void too_many(const char *what)
{
	fprintf(stderr, "tests/browser has more %s than this program has room for\n", what);
	exit(99);
}

static void scenarios_read(void)
{
	struct buf line;

	while (runner_line(&line) && line.len > 0) {
		if (n_scenarios == SCENARIOS_MAX)
			too_many("scenarios");
		scenario[n_scenarios++] = strdup(line.data);
		buf_release(&line);
	}
	buf_release(&line);
}

START_TEST(browser)
{
	const char *name = scenario[_i];
	const char *ask = support_path("%s\n", name);
	struct buf answer;

	ck_assert_int_eq(write(to_runner, ask, strlen(ask)), (ssize_t)strlen(ask));
	ck_assert_msg(runner_line(&answer), "%s: there is no answer", name);
	if (strcmp(answer.data, "ok"))
		ck_abort_msg("%s: %s", name, answer.data);
	buf_release(&answer);
}

static size_t module_len(size_t i)
{
	return strcspn(scenario[i], ".");
}

static Suite *suite_of_scenarios(void)
{
	Suite *s = suite_create("browser");

	for (size_t i = 0, end; i < n_scenarios; i = end) {
		size_t n = module_len(i);
		TCase *t;

		if (n_modules == MODULES_MAX)
			too_many("modules");
		module[n_modules] = strndup(scenario[i], n);
		t = tcase_create(module[n_modules++]);
		for (end = i; end < n_scenarios && module_len(end) == n &&
			      !strncmp(scenario[end], scenario[i], n); end++)
			;
		tcase_set_timeout(t, SCENARIO_S);
		tcase_add_loop_test(t, browser, (int)i, (int)end);
		suite_add_tcase(s, t);
	}
	return s;
}

TEST_PROGRAM(browser)
{
	int status, end;

	SKIP_PROGRAM_IF(!support_has("python3"));
	signal(SIGPIPE, SIG_IGN);
	runner_start();
	scenarios_read();
	if (n_scenarios == 0)
		return runner_end();
	status = support_run_suite(suite_of_scenarios());
	end = runner_end();
	for (size_t i = 0; i < n_scenarios; i++)
		free(scenario[i]);
	for (size_t i = 0; i < n_modules; i++)
		free(module[i]);
	return status ? status : end;
}
