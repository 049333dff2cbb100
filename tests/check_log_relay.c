/* SPDX-License-Identifier: MIT */
#include "tests/launched.h"
#include "tests/recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* `buildbeat record --log` writing to pipes and files: what the build's readers get is what they
 * get without it, and the log has the same bytes. */

#define LOGGED RECORD "--log -n log -- "
#define LOG "stats/log/output.log"

/* Lines, binary data with NULs, no newline at the end, nothing at all. */
static void make_data(unsigned which)
{
	static const size_t sizes[] = { 0, 1, 70000, 3000000 };
	struct buf b = BUF_INIT;
	uint64_t seed = which;

	for (size_t i = 0; i < sizes[which / 2]; i++) {
		uint64_t n = random_below(&seed, 256);

		buf_addc(&b, which % 2 ? (char)n : n < 8 ? '\n' : (char)('a' + n % 26));
	}
	support_write(support_path("%s/data", support_tmpdir()), buf_str(&b), b.len);
	buf_release(&b);
}

static const char *const commands[] = {
	"cat data", "cat data >&2", "cat data; echo end; exit 3", "echo a; echo b >&2; cat data",
	"dd if=data bs=777 status=none", "(cat data; printf x) | cat",
};

/* With separate pipes, with one, and with files. */
static const char *const places[] = {
	"run", "run 2>&1", "run >out 2>err; e=$?; cat out err; exit $e",
	"echo before >out; run >>out 2>&1; e=$?; echo after >>out; cat out; exit $e",
	"echo before >out; run >>out 2>>out; e=$?; cat out; exit $e",
};

#define N_DATA 8

static void check_same(const char *place, const char *command)
{
	struct run plain, logged;

	support_run(&plain, support_tmpdir(), "run() { sh -c '%s'; }; %s", command, place);
	support_run(&logged, support_tmpdir(), "rm -rf stats out err; run() { " LOGGED
		    "sh -c '%s'; }; %s", command, place);
	ck_assert_int_eq(plain.status, logged.status);
	ck_assert_uint_eq(plain.out.len, logged.out.len);
	ck_assert(!memcmp(plain.out.data, logged.out.data, plain.out.len));
	ck_assert_str_eq(logged.err.data, plain.err.data);
	ck_assert_uint_eq(plain.err.len, logged.err.len);
	ck_assert(!memcmp(plain.err.data, logged.err.data, plain.err.len));
}

TEST_LOOP(same_bytes, 2 * ARRAY_SIZE(commands) * ARRAY_SIZE(places))
{
	const char *command = commands[_i % ARRAY_SIZE(commands)];
	unsigned n = (unsigned)_i / ARRAY_SIZE(commands);
	make_data((unsigned)_i * 3 % N_DATA);
	check_same(places[n % ARRAY_SIZE(places)], command);
	if (strstr(command, "data;") || strstr(command, "echo"))
		return;
	support_expect(support_tmpdir(), 0, "", "", "sh -c '%s' 2>&1 | cmp - " LOG, command);
}

/* So much at once that a thread logs: what comes out, and the log, are what went in. */
#define BLOCKS "seq 100000000 | head -c 100000000 | dd bs=64k iflag=fullblock status=none"

static const char *const block_places[] = {
	LOGGED "sh -c '" BLOCKS "' | cmp - all", LOGGED "sh -c '" BLOCKS "' >out && cmp out all",
	/* and a small one now and then, which waits for its turn */
	LOGGED "sh -c '(" BLOCKS ") | (dd bs=64k count=99 iflag=fullblock; dd bs=7 count=3; cat) 2>/dev/null' "
	"2>err | cmp - all",
};

TEST_EACH(blocks, block_places)
{
	support_expect(support_tmpdir(), 0, "", "", "sh -c '" BLOCKS "' >all && { %s; } && cmp " LOG " all", block_places[_i]);
}

TEST(order)
{
	check_same("run 2>&1", "for i in $(seq 300); do echo o$i; echo e$i >&2; done");
	support_expect(support_tmpdir(), 0, NULL, "", "test $(wc -l <" LOG ") = 600");
}

static const char *const unusual[] = {
	"run >/dev/null", "run >&-", "run 2>&-", "run >&- 2>&-", "run <&- >&- 2>&-",
	": >ro; run 1<ro", "run >out 2>&1 >/dev/null; cat out", "run 2>/dev/full",
	"rm -f f; mkfifo f; cat f >got & run >f; wait; cat got",
};

TEST_EACH(unusual_outputs, unusual)
{
	check_same(unusual[_i], "echo out; echo err >&2; exit 5");
}

/* The end of a pipe is the reader's: an endless writer gets the signal. */
TEST_LOOP(closed_pipe, 2)
{
	static const char *const endless[] = {
		"yes", "sh -c 'trap \"\" PIPE; while echo y 2>/dev/null; do :; done; exit 7'",
	};
	struct run plain, logged;

	support_run(&plain, support_tmpdir(), "{ %s; echo $? >&2; } | head -n 2",
		    endless[_i]);
	support_run(&logged, support_tmpdir(), "{ " LOGGED "%s; echo $? >&2; } | head -n 2",
		    endless[_i]);
	ck_assert_str_eq(logged.out.data, "y\ny\n");
	ck_assert_str_eq(logged.err.data, plain.err.data);
}

/* A slow reader holds the writer up; a reader of one output does not hold the other up. */
TEST(back_pressure)
{
	struct run r;

	support_run(&r, support_tmpdir(), "%s mkfifo gate; exec 3<>gate; { " LOGGED
		    "sh -c 'seq 200000; echo done >flag' 2>/dev/null; } | "
		    "{ read x <&3; test ! -e flag || echo early; cat | tail -n 1; } & "
		    "until_true \"test -s " LOG "\"; sleep 0.1; echo >&3; wait", support_poll);
	ck_assert_str_eq(r.out.data, "200000\n");
	support_run(&r, support_tmpdir(), "rm -rf stats gate; mkfifo gate; exec 3<>gate; "
		    LOGGED "sh -c 'seq 200000 & p=$!; echo x >&2; echo >gate; wait $p' "
		    "2>err | { read x <&3; cat | wc -l; }; cat err");
	ck_assert_str_eq(r.out.data, "200000\nx\n");
}

/* A process that keeps the pipe does not keep us. What it writes later is passed on, as it would
 * be without us, and is not in the log. */
TEST(background)
{
	struct run r;

	support_run(&r, support_tmpdir(), "mkfifo gate; exec 3<>gate; { " LOGGED
		    "sh -c 'echo one; { read x <gate; echo late; } & exit 4'; echo $? >&2; "
		    "grep -c ^end_us stats/log/build >&2; echo >&3; } | cat; cat " LOG);
	ck_assert_str_eq(r.out.data, "one\nlate\none\n");
	ck_assert_str_eq(r.err.data, "4\n1\n");
}

#define RELAYS "$(pgrep -P $PPID -x buildbeat-relay)"

/* The relay or the launcher is killed. */
TEST(killed_relay)
{
	struct run r;

	support_run(&r, support_tmpdir(), "%s command -v pgrep >/dev/null || exit 77; " LOGGED
		    "sh -c 'seq 100000; kill -9 " RELAYS "; seq 100001 200000; kill -9 " RELAYS
		    "; echo end; exit 3' >out; echo $?; wc -l <out; sort -n out | uniq -d; "
		    "tail -n 1 out", support_poll);
	if (r.status != 77)
		ck_assert_str_eq(r.out.data, "3\n200001\nend\n");
}

/* The number in front of the text in "at most NUMBER text", 0: nobody says so. */
static long long at_most(const char *said, const char *text)
{
	static const char begin[] = "killed: at most ";

	while ((said = strstr(said, begin))) {
		char *end;
		long long n = strtoll(said += strlen(begin), &end, 10);

		if (!strncmp(end + 1, text, strlen(text)))
			return n;
	}
	return 0;
}

/* While much is written. What is missing or repeated is reported. */
TEST_LOOP(killed_while_busy, 3)
{
	const long long size = 100000000;
	long long out, log, moved, lost;
	struct run r;

	support_run(&r, support_tmpdir(), "command -v pgrep >/dev/null || exit 77; " LOGGED
		    "sh -c '{ " BLOCKS "; } & while kill -0 $! 2>/dev/null; do kill -9 " RELAYS " 2>/dev/null; done; wait' >out; "
		    "wc -c <out; wc -c <" LOG "; cmp out " LOG " >&2");
	SKIP_IF(r.status == 77);
	ck_assert_int_eq(sscanf(r.out.data, "%lld %lld", &out, &log), 2);
	moved = at_most(r.err.data, "bytes of the output are missing or repeated");
	lost = at_most(r.err.data, "bytes are missing in output.log");
	ck_assert_msg(llabs(out - size) <= moved, "%lld of %lld: %s", out, size, r.err.data);
	ck_assert_msg(log <= size && size - log <= lost, "%lld of %lld: %s", log, size, r.err.data);
}

/* While it holds an unfinished line, which it writes to the log 0.2 s later. */
TEST(killed_with_a_line)
{
	struct run r;

	support_run(&r, support_tmpdir(), "command -v pgrep >/dev/null || exit 77; " LOGGED
		    "sh -c 'printf half; until grep -q half out; do sleep 0.01; done; kill -9 " RELAYS "; echo line' >out; "
		    "cat out " LOG);
	SKIP_IF(r.status == 77);
	if (strcmp(r.out.data, "halfline\nhalfline\n")) {
		ck_assert_str_eq(r.out.data, "halfline\nline\n");
		ck_assert_int_eq(at_most(r.err.data, "bytes are missing in output.log"), 4);
	}
}

TEST(killed_launcher)
{
	struct run r;

	support_run(&r, support_tmpdir(), "{ " LOGGED "sh -c 'seq 1000; kill -9 $PPID; "
		    "seq 1001 50000; echo end'; } 2>/dev/null | md5sum; md5sum <" LOG
		    "; { seq 50000; echo end; } | md5sum");
	ck_assert_uint_eq(r.out.len, 3 * 36);
	ck_assert(!memcmp(r.out.data, r.out.data + 36, 36));
	ck_assert(!memcmp(r.out.data, r.out.data + 72, 36));
}

/* The log ends, the output does not, and one line says so. */
TEST(limited_size)
{
	struct run r;

	support_run(&r, support_tmpdir(), "{ ulimit -f 100; " LOGGED
		    "sh -c 'seq 20000; exit 6'; echo $? >&2; } | md5sum; seq 20000 | md5sum");
	ck_assert(!memcmp(r.out.data, r.out.data + 36, 36));
	ck_assert(strstr(r.err.data, "buildbeat: the recording is incomplete"));
	ck_assert_str_eq(strchr(r.err.data, '\n'), "\n6\n");
}

/* Only as root: in a user namespace root's directories have no owner and are not trusted. */
TEST_LOOP(full_disk, 2)
{
	struct run r;

	SKIP_IF(geteuid());
	support_run(&r, support_tmpdir(), "mkdir small; unshare -rm sh -c '"
		    "mount -t tmpfs -o size=%s none small || exit 77; "
		    BUILDBEAT " record --log --no-git -o small -n one -- seq %s; "
		    "grep output small/one/lost.log >&2' | md5sum; seq %s | md5sum",
		    _i ? "9m" : "256k", _i ? "5000000" : "100000", _i ? "5000000" : "100000");
	SKIP_IF(strstr(r.err.data, "unshare") || !strstr(r.err.data, "buildbeat"));
	ck_assert(!memcmp(r.out.data, r.out.data + 36, 36));
	ck_assert(strstr(r.err.data, "\toutput\tdisk"));
}

/* In the log only. */
TEST_LOOP(secrets, 2)
{
	static const char text[] = "login --password=hunter2hunter ok\n"
		"plain line\nhttps://me:geheim99@host/x\n"
		"-----BEGIN RSA PRIVATE KEY-----\nAAAA\nBBBB\n-----END RSA PRIVATE KEY-----\n"
		"after\n";
	struct buf log;

	support_writes(support_path("%s/data", support_tmpdir()), text);
	support_expect(support_tmpdir(), 0, text, "", LOGGED "%s",
		       _i ? "dd if=data bs=5 status=none" : "cat data");
	support_read(&log, support_path("%s/" LOG, support_tmpdir()));
	ck_assert(!strstr(log.data, "hunter2"));
	ck_assert(!strstr(log.data, "geheim"));
	ck_assert(!strstr(log.data, "AAAA") && !strstr(log.data, "BBBB"));
	ck_assert(strstr(log.data, "plain line\n") && strstr(log.data, "after\n"));
	ck_assert(strstr(log.data, "--password=*** ok\n"));
	buf_release(&log);
}

/* Each line of the index continues the one before, and the last one ends with the log. */
TEST(index_lines)
{
	struct cursor c;
	struct slice line;
	struct buf index;
	long long end = 0, time_us = 0;
	bool whole;

	support_expect(support_tmpdir(), 0, NULL, "", LOGGED
		       "sh -c 'for i in 1 2 3; do seq 1000; sleep 0.02; done'");
	support_read(&index, support_path("%s/stats/log/output_index.log", support_tmpdir()));
	cursor_init(&c, index.data, index.len);
	ck_assert(cursor_line(&c, &line, &whole) && slice_is(line, "buildbeat output 1"));
	while (cursor_line(&c, &line, &whole)) {
		long long at_us, span_us, to;
		int stream;

		ck_assert(whole && sscanf(line.p, "%lld %lld %d %lld", &at_us, &span_us, &stream,
					  &to) == 4);
		ck_assert(to > end && at_us >= time_us && span_us <= at_us && stream == 1);
		end = to;
		time_us = at_us;
	}
	ck_assert_int_eq(end, 3 * 3893);
	buf_release(&index);
}

/* The command is not found: the message is relayed, and no recording is left. */
TEST(not_found)
{
	support_expect(support_tmpdir(), 127, "", "buildbeat: /no/such: command not found\n",
		       LOGGED "/no/such");
	ck_assert(!support_exists(support_path("%s/stats", support_tmpdir())));
}

TEST_PROGRAM(log_relay)
{
	/* otherwise record reports that it cannot observe the commands */
	SKIP_PROGRAM_IF(!support_can_be_loaded());
	return support_main();
}
