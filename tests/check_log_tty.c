/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "tests/launched.h"

#include <poll.h>
#include <pty.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* `buildbeat record --log` on a terminal: commands see a terminal that behaves like theirs. */

#define LOGGED RECORD "--log -n log -- "
#define LOG "stats/log/output.log"

/* A shell command on a terminal of its own, and what the terminal has shown. */
struct terminal {
	pid_t pid;
	int master;
	int status;
	bool ended;
	struct buf shown;
};

static void begin(struct terminal *t, const char *command)
{
	struct winsize size = { .ws_row = 31, .ws_col = 97 };
	const char *top = support_tmpdir();

	*t = (struct terminal){ 0 };
	t->pid = forkpty(&t->master, NULL, NULL, &size);
	ck_assert_int_ge(t->pid, 0);
	if (t->pid)
		return;
	/* a shell that waits would get the terminal's signals, too */
	if (!chdir(top) && !setenv("COMMAND", command, 1))
		execl("/bin/sh", "sh", "-c", "eval \"exec $COMMAND\"", (char *)NULL);
	_exit(99);
}

static bool look(struct terminal *t)
{
	struct pollfd p = { .fd = t->master, .events = POLLIN };
	char chunk[4096];
	ssize_t n;

	if (t->ended || poll(&p, 1, 20) <= 0)
		return false;
	n = read(t->master, chunk, sizeof chunk);
	if (n > 0)
		buf_add(&t->shown, chunk, (size_t)n);
	t->ended = n <= 0;
	return true;
}

static void wait_for(struct terminal *t, const char *text)
{
	int64_t until_ns = clock_mono_ns() + SUPPORT_DEADLINE_S * (int64_t)1000000000;

	while (!strstr(buf_str(&t->shown), text)) {
		look(t);
		ck_assert_msg(!t->ended && clock_mono_ns() < until_ns, "no '%s' in: %s", text,
			      buf_str(&t->shown));
	}
}

static void type(struct terminal *t, const char *keys)
{
	ck_assert_int_eq(write(t->master, keys, strlen(keys)), (ssize_t)strlen(keys));
}

/* Without the last line, which names the recording. */
static void end(struct terminal *t)
{
	const char *last;

	while (!t->ended)
		look(t);
	ck_assert_int_eq(waitpid(t->pid, &t->status, 0), t->pid);
	close(t->master);
	last = strstr(buf_str(&t->shown), "buildbeat: recorded in ");
	if (last)
		buf_cut(&t->shown, (size_t)(last - t->shown.data));
	buf_str(&t->shown);
}

static void check_shown(struct terminal *t, const char *text)
{
	ck_assert_str_eq(buf_str(&t->shown), text);
	buf_release(&t->shown);
}

#define RED "\\033[31mred\\033[0m"

static const char *const commands[] = {
	"test -t 1 && test -t 2 && echo both",
	"stty size <&1; stty size <&2; stty size",
	"printf \"" RED "\\n\"; ls --color=auto -d /tmp",
	"printf \"one\\rtwo\\r\\nthree\\r\\r\\n\\n\\ttab\\r\"; printf \"\\nend\"",
	"i=0; while test $i -lt 3000; do i=$((i + 1)); echo line $i; done",
	"head -c 100000 /dev/zero | tr \"\\000\" x; printf \"\\r\"; echo; kill -9 $$",
	"for i in 1 2 3 4 5 6 7 8 9; do printf \"\\r%%d/9\" $i; done; echo",
	"echo out; echo err >&2; tty; test -t 0 && echo in",
};

/* The same appears as without us. */
TEST_EACH(same, commands)
{
	struct terminal plain, logged;
	char command[512];

	snprintf(command, sizeof command, "sh -c '%s'", commands[_i]);
	begin(&plain, command);
	end(&plain);
	snprintf(command, sizeof command, LOGGED "sh -c '%s'", commands[_i]);
	begin(&logged, command);
	end(&logged);
	ck_assert_int_eq(plain.status, logged.status);
	if (strstr(plain.shown.data, "/dev/pts/"))
		ck_assert_ptr_nonnull(strstr(logged.shown.data, "/dev/pts/"));
	else
		ck_assert_str_eq(logged.shown.data, plain.shown.data);

	buf_release(&plain.shown);
	buf_release(&logged.shown);
}

/* The log has what the command wrote, not what the terminal makes of it. */
TEST(written)
{
	struct terminal t;

	begin(&t, LOGGED "sh -c 'printf \"a\\nb\\r\\n" RED "\\tc\\n\"'");
	end(&t);
	check_shown(&t, "a\r\nb\r\r\n\033[31mred\033[0m\tc\r\n");
	ck_assert_str_eq(support_text(support_path("%s/" LOG, support_tmpdir())),
			 "a\nb\r\n\033[31mred\033[0m\tc\n");
}

/* One output is a terminal, the other is a pipe: each keeps its kind. */
TEST_LOOP(one_of_two, 2)
{
	static const char *const place[] = { "2>err", "| cat" };
	static const char test[] = "sh -c 'test -t 1 && echo out; test -t 2 && echo err >&2; :'";
	struct terminal t;
	char command[512];

	snprintf(command, sizeof command, LOGGED "%s %s", test, place[_i]);
	begin(&t, command);
	end(&t);
	check_shown(&t, _i ? "err\r\n" : "out\r\n");
}

static const struct { const char *keys, *trap; } interrupts[] = {
	{ "\003", "INT" }, { "\034", "QUIT" },
};

TEST_EACH(interrupt, interrupts)
{
	struct terminal t;
	char command[512];

	snprintf(command, sizeof command, LOGGED "sh -c 'trap \"echo got; exit 7\" %s; echo ready; "
		 "while :; do sleep 0.05; done'", interrupts[_i].trap);
	begin(&t, command);
	wait_for(&t, "ready");
	type(&t, interrupts[_i].keys);
	end(&t);
	ck_assert_ptr_nonnull(strstr(t.shown.data, "got\r\n"));
	ck_assert_int_eq(t.status, 7 << 8);
	buf_release(&t.shown);
}

TEST(input)
{
	struct terminal t;

	begin(&t, LOGGED "sh -c 'printf \"name? \"; read x; echo hello $x'");
	wait_for(&t, "name? ");
	type(&t, "me\n");
	end(&t);
	check_shown(&t, "name? me\r\nhello me\r\n");
}

TEST(window)
{
	struct winsize size = { .ws_row = 50, .ws_col = 120 };
	struct terminal t;

	begin(&t, LOGGED "sh -c 'trap \"stty size <&1\" WINCH; echo ready; "
	      "until test -e stop; do sleep 0.02; done'");
	wait_for(&t, "ready");
	ck_assert_int_eq(ioctl(t.master, TIOCSWINSZ, &size), 0);
	wait_for(&t, "50 120");
	support_writes(support_path("%s/stop", support_tmpdir()), "");
	end(&t);
	buf_release(&t.shown);
}

static bool is_raw(void *data)
{
	struct termios modes;

	return !tcgetattr(*(int *)data, &modes) && !(modes.c_lflag & (ICANON | ECHO)) &&
		!(modes.c_oflag & ONLCR);
}

static bool is_cooked(void *data)
{
	struct termios modes;

	return !tcgetattr(*(int *)data, &modes) && modes.c_lflag & ICANON &&
		modes.c_lflag & ECHO && modes.c_oflag & ONLCR;
}

/* Modes that a program sets on its output, as menuconfig does, are the terminal's. */
TEST(raw_program)
{
	struct terminal t;

	begin(&t, LOGGED "sh -c 'stty -icanon -echo -onlcr <&1; x=$(dd bs=1 count=1 status=none); "
	      "stty icanon echo onlcr <&1; echo key $x; read y; echo got $y'");
	support_wait_until(is_raw, &t.master, "the terminal is not raw");
	type(&t, "k");
	wait_for(&t, "key k\r\n");
	support_wait_until(is_cooked, &t.master, "the terminal is still raw");
	type(&t, "line\n");
	end(&t);
	check_shown(&t, "key k\r\nline\r\ngot line\r\n");
}

/* Modes that it sets on its input are those of its output, too. */
TEST(modes_of_input)
{
	struct terminal t;

	begin(&t, LOGGED "sh -c 'stty -echo; until stty -a <&2 | grep -q -- \" -echo \"; do "
	      "echo; sleep 0.01; done; stty echo; echo done'");
	wait_for(&t, "done");
	end(&t);
	buf_release(&t.shown);
}

/* Stopped by the terminal and continued, as a shell with jobs does it. */
TEST(stopped)
{
	struct terminal t;

	SKIP_IF(!support_has("bash"));
	begin(&t, "bash --norc -i 2>&1");
	type(&t, "PS1='%'; rm -rf stats\n");
	type(&t, LOGGED "sh -c 'echo rea''dy; while ! test -e go; do sleep 0.02; done; echo e''nd; exit 5'\n");
	wait_for(&t, "ready\r\n");
	type(&t, "\032");
	wait_for(&t, "Stopped");
	type(&t, ": >go; echo is st''opped\n");
	wait_for(&t, "is stopped");
	ck_assert(!strstr(t.shown.data, "end\r\n"));
	type(&t, "fg\n");
	wait_for(&t, "end\r\n");
	type(&t, "echo status $?; exit\n");
	wait_for(&t, "status 5");
	end(&t);
	buf_release(&t.shown);
}

/* The terminal goes away, or we are killed: nothing hangs, and its modes are as before. */
TEST(killed)
{
	struct terminal t;

	begin(&t, "sh -c \"" LOGGED "sh -c 'echo ready; kill -9 \\$PPID; echo more'; sleep 0.3\"");
	wait_for(&t, "more\r\n");
	ck_assert(is_cooked(&t.master));
	end(&t);
	buf_release(&t.shown);
	begin(&t, LOGGED "-n two sh -c 'echo ready; sleep 100'");
	buf_release(&t.shown);
	close(t.master);
	ck_assert_int_eq(waitpid(t.pid, &t.status, 0), t.pid);
}

TEST_PROGRAM(log_tty)
{
	/* otherwise record reports that it cannot observe the commands */
	SKIP_PROGRAM_IF(!support_can_be_loaded());
	return support_main();
}
