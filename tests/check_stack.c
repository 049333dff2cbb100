/* SPDX-License-Identifier: MIT */
/* buildbeat-symbols --stack, of a real process with debug information, threads and inlining. */
#include "convert/json_reader.h"
#include "symbols/stack_source.h"
#include "tests/hostile.h"
#include "tests/support.h"

#include <sys/prctl.h>

#define STACK TOP_BUILDDIR "/symbols/buildbeat-symbols"

static pid_t child;

static void start(void)
{
	const char *program;
	int ready[2];
	char byte;

	program = support_path("%s/stack", support_tmpdir());
	support_expect(support_tmpdir(), 0, NULL, NULL, "cp " TOP_SRCDIR "/tests/programs/spinner.c stack.c; "
		       "${CC:-cc} -g -O2 -pthread -o stack \"$PWD\"/stack.c");
	ck_assert_int_eq(pipe(ready), 0);
	child = fork();
	if (!child) {
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
		dup2(ready[1], 1);
		close(ready[0]);
		close(ready[1]);
		execl(program, "stack", (char *)NULL);
		_exit(1);
	}
	close(ready[1]);
	ck_assert_int_eq(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	usleep(1000);
}

static void end(void)
{
	if (child > 0) {
		kill(child, SIGKILL);
		waitpid(child, NULL, 0);
	}
	child = 0;
	support_cleanup();
}

static const struct json_value *frame_of(const struct json_value *root, const char *function,
					 const struct json_value **next)
{
	for (const struct json_value *t = json_member(root, "threads")->first; t; t = t->next) {
		for (const struct json_value *f = json_member(t, "frames")->first; f; f = f->next) {
			if (!strcmp(json_member_text(f, "function"), function)) {
				*next = f->next;
				return f;
			}
		}
	}
	ck_abort_msg("no frame of %s", function);
	return NULL;
}

static bool shows(const struct json_value *frame, const char *text)
{
	int64_t line = json_member_number(frame, "line", 0, -1), n;

	for (const struct json_value *l = json_member(frame, "context")->first; l; l = l->next) {
		ck_assert(json_number(l->first, 0, &n));
		if (n == line && strstr(json_text(l->first->next), text))
			return true;
	}
	return false;
}

static bool may_not(const struct run *r)
{
	return r->status == 1 && strstr(r->err.data, "no permission");
}

/* A process that sleeps sleeps on, and one that runs does. */
static bool is_stopped(pid_t pid)
{
	const char *status = support_text(support_path("/proc/%d/status", (int)pid));

	return strstr(status, "State:\tT") || strstr(status, "State:\tt");
}

static bool runs(void *pid)
{
	return !is_stopped(*(pid_t *)pid);
}

TEST_GROUP_WITH("stack", NULL, end);

TEST(threads)
{
	const struct json_value *f, *next;
	struct json_document doc;
	struct error err = { .message = "" };
	struct run r;

	start();
	support_run(&r, support_tmpdir(), STACK " --stack %d --sources .", (int)child);
	SKIP_IF(may_not(&r));
	ck_assert_msg(!r.status, "%s", r.err.data);
	ck_assert_msg(!json_read_text(&doc, r.out.data, r.out.len, NULL, 1, &err), "%s", err.message);
	f = frame_of(doc.root, "sleeper", &next);
	ck_assert(shows(f, "pause()"));
	ck_assert_str_eq(json_member_text(next, "function"), "main");
	ck_assert(shows(next, "return sleeper"));
	f = frame_of(doc.root, "inner", &next);
	ck_assert_int_eq(json_member(f, "inlined")->type, JSON_TRUE);
	ck_assert_str_eq(json_member_text(next, "function"), "spin");
	ck_assert_int_eq(json_member(next, "inlined")->type, JSON_FALSE);
	ck_assert(shows(next, "CALLS"));
	ck_assert(!is_stopped(child));
	json_document_release(&doc);
}

/* Whoever kills it, the process runs on. */
TEST(killed)
{
	struct run r;

	start();
	for (int i = 0; i < 20; i++) {
		support_run(&r, support_tmpdir(), STACK " -c --stack %d >/dev/null 2>&1 & sleep 0.%03d; "
			    "kill -9 $!; wait", (int)child, i * 5);
		support_wait_until(runs, &child, "the process runs on");
	}
}

TEST(no_process)
{
	support_expect(NULL, 1, "", "has ended", STACK " --stack 99999999");
	support_expect(NULL, 2, "", "is no process", STACK " --stack x");
	support_expect(NULL, 2, "", "is no process", STACK " --stack 0");
}

/* Another user's process, for root. */
TEST(no_permission)
{
	SKIP_IF(!hostile_can());
	start();
	support_expect("/", 1, "", "no permission", "setpriv --reuid=65534 --regid=65534 --clear-groups "
		       STACK " --stack %d", (int)child);
}

/* What debug information may name */

static void source_is(const char *dir, const char *path, const char *expected)
{
	RELEASED(stack_source, s);
	RELEASED(buf, out = BUF_INIT);
	struct json j;

	stack_source_init(&s, dir);
	json_init(&j, &out, true);
	json_object(&j, NULL);
	stack_source_json(&j, &s, path, 1);
	json_object_end(&j);
	ck_assert_str_eq(buf_str(&out), expected);
}

TEST(only_below)
{
	static const char none[] = "{\"context\":null}\n", shown[] = "{\"context\":[[1,\"in\"]]}\n";
	const char *top = support_tmpdir();
	char dir[PATH_MAX], path[2 * PATH_MAX];
	static const char *const outside[] = {
		"/etc/passwd", "../secret", "%s/../secret", "%sx/a.c", "%s/leads", "%s/up/secret", "%s/pipe",
		"%s", "%s/", "", "/", "%s/none", "/proc/self/environ", "%s/magic/environ",
	};

	snprintf(dir, sizeof dir, "%s/src", top);
	mkdir(dir, 0755);
	mkdir(support_path("%s/srcx", top), 0755);
	support_writes(support_path("%s/src/a.c", top), "in\n");
	support_writes(support_path("%s/srcx/a.c", top), "out\n");
	support_writes(support_path("%s/secret", top), "out\n");
	ck_assert(!symlink("../secret", support_path("%s/leads", dir)));
	ck_assert(!symlink("..", support_path("%s/up", dir)));
	ck_assert(!symlink("/proc/self", support_path("%s/magic", dir)));
	ck_assert(!symlink("a.c", support_path("%s/inside", dir)));
	ck_assert(!mkfifo(support_path("%s/pipe", dir), 0600));
	for (size_t i = 0; i < ARRAY_SIZE(outside); i++) {
		const char *at = strstr(outside[i], "%s");

		snprintf(path, sizeof path, "%s%s", at ? dir : outside[i], at ? at + 2 : "");
		source_is(dir, path, none);
	}
	source_is(dir, support_path("%s/a.c", dir), shown);
	source_is(dir, support_path("%s/inside", dir), shown);
	source_is(dir, "a.c", shown);
	source_is(dir, "./x/../a.c", none);
	source_is(NULL, support_path("%s/a.c", dir), none);
}

TEST_PROGRAM(stack)
{
	SKIP_PROGRAM_IF(!support_has("cc") || !support_has("setpriv"));
	return support_main();
}
