/* SPDX-License-Identifier: MIT */
/*
 * A build is the same with and without recording: output, exit status and files are compared
 * byte by byte, for each installed host of the preloaded object, and the recording has the
 * tasks.
 */
#include "base/array.h"
#include "recording/recording.h"
#include "tests/make_host.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

#define RECORD TOP_BUILDDIR "/buildbeat record --no-git -o ../stats -n one -- "

struct scene {
	const char *what;
	const char *needs;	/* programs, blank separated, or NULL */
	const char *setup;	/* shell, in the build's directory; may be NULL */
	const char *before;	/* before the tool, or NULL */
	const char *command;	/* TOOL is ninja, or samu */
	const char *build;	/* build.ninja after the rules below, or NULL */
	const char *after;	/* after the command, or NULL */
	const char *tasks;	/* how they ended, in the order of their start; NULL: any */
};

static const char rules[] =
	"rule touch\n command = echo $out; touch $out\n"
	"rule run\n command = $cmd\n"
	"rule rsp\n command = cat $out.rsp $out.rsp >$out @$out.rsp 2>/dev/null || cp $out.rsp $out\n"
	" rspfile = $out.rsp\n rspfile_content = $in and more\n"
	"rule console\n command = $cmd\n pool = console\n";

static const struct scene scenes[] = {
	{ .what = "a chain", .command = "TOOL -j1",
	  .build = "build a: touch\nbuild b: touch a\nbuild c: touch b\n", .tasks = "+++" },
	{ .what = "-v and a directory", .command = "TOOL -v -C sub -j1", .setup = "mkdir sub; mv build.ninja sub",
	  .build = "build a: touch\n", .tasks = "+" },
	{ .what = "nothing to do", .command = "TOOL", .setup = "touch a",
	  .build = "build x: phony a\n", .tasks = "" },
	{ .what = "a failing edge", .command = "TOOL -j1",
	  .build = "build a: touch\nbuild b: run a\n cmd = echo bad; exit 3\nbuild c: touch b\n", .tasks = "+-" },
	{ .what = "-k 0", .command = "TOOL -j1 -k 0",
	  .build = "build a: run\n cmd = false\nbuild b: run\n cmd = false\nbuild c: run\n cmd = exit 7\nbuild d: touch b\n",
	  .tasks = "---" },
	{ .what = "a killed edge", .command = "TOOL -j1",
	  .build = "build a: run\n cmd = kill -9 $$$$\n", .tasks = "x" },
	{ .what = "missing program", .command = "TOOL -j1",
	  .build = "build a: run\n cmd = nosuchprogram\n", .tasks = "-" },
	{ .what = "environment", .command = "TOOL -j1",
	  .build = "build a: run\n cmd = env; tr '\\000' '\\n' </proc/self/environ\n", .tasks = "+" },
	{ .what = "environment of the user's", .before = "MAKEFILES=x.mk LD_PRELOAD=libm.so.6", .command = "TOOL -j1",
	  .build = "build a: run\n cmd = env; sh -c env; make -f /dev/null --eval='x:;@echo $$$$LD_PRELOAD'\n",
	  .tasks = "++" },
	{ .what = "environment of a script", .command = "TOOL -j1", .setup = "echo env > s.sh",
	  .build = "build a: run\n cmd = sh s.sh; sh s.sh; bash s.sh\n", .tasks = "+" },
	{ .what = "descriptors", .command = "TOOL -j1",
	  .build = "build a: run\n cmd = ls -l /proc/self/fd | wc -l; ulimit -a; umask; trap; grep Sig[BIC] /proc/self/status\n",
	  .tasks = "+" },
	{ .what = "response file", .command = "TOOL -j1", .setup = "touch in1 in2",
	  .build = "build a: rsp in1 in2\nbuild b: rsp\n", .tasks = "++" },
	{ .what = "restat", .command = "TOOL -j1 -v",
	  .build = "rule same\n command = cmp -s $in $out || cp $in $out\n restat = 1\n"
		   "build a: same in\nbuild b: touch a\n", .setup = "echo 1 > in", .tasks = "++" },
	{ .what = "depfile", .command = "TOOL -j1",
	  .build = "rule dep\n command = echo $out: in > $out.d; touch $out\n depfile = $out.d\n deps = gcc\n"
		   "build a: dep\nbuild b: dep\n", .setup = "touch in", .tasks = "++" },
	{ .what = "build.ninja made anew", .command = "TOOL -j1", .setup = "sleep 0.02; touch gen",
	  .build = "rule gen\n command = touch build.ninja; echo generated\n generator = 1\n"
		   "build build.ninja: gen gen\nbuild a: touch\n", .tasks = "++" },
	{ .what = "console pool", .command = "TOOL -j2 < in", .setup = "echo text > in",
	  .build = "build a: console\n cmd = cat; echo a\nbuild b: console a\n cmd = echo b\n", .tasks = "++" },
	{ .what = "-n", .command = "TOOL -n -j1", .build = "build a: touch\nbuild b: touch a\n", .tasks = "" },
	{ .what = "-t targets", .command = "TOOL -t targets all", .needs = "ninja",
	  .build = "build a: touch\nbuild b: touch a\n", .tasks = "" },
	{ .what = "-t commands", .command = "TOOL -t commands", .build = "build a: touch\nbuild b: touch a\n", .tasks = "" },
	{ .what = "-t clean", .command = "TOOL -t clean", .setup = "touch a",
	  .build = "build a: touch\nbuild b: touch a\n", .tasks = "" },
	{ .what = "unknown target", .command = "TOOL nosuch", .build = "build a: touch\n", .tasks = "" },
	{ .what = "syntax error", .command = "TOOL", .build = "build a touch\n", .tasks = "" },
	{ .what = "missing input", .command = "TOOL -j1", .build = "build a: touch none\n", .tasks = "" },
	{ .what = "closed stdin", .command = "TOOL -j1 <&-", .build = "build a: touch\nbuild b: touch a\n", .tasks = "++" },
	{ .what = "closed stdout", .command = "TOOL -j1 >&-", .build = "build a: touch\nbuild b: touch a\n" },
	{ .what = "closed stderr", .command = "TOOL -j1 2>&-", .build = "build a: touch\nbuild b: run a\n cmd = false\n" },
	{ .what = "SIGINT", .before = "setsid -w env", .command = "TOOL -j1",
	  .build = "build a: touch\nbuild b: run a\n cmd = kill -INT $$PPID; sleep 0.3; touch b\nbuild c: touch b\n" },
	{ .what = "SIGTERM", .before = "setsid -w env", .command = "TOOL -j1",
	  .build = "build a: touch\nbuild b: run a\n cmd = kill -TERM $$PPID; sleep 0.3; touch b\nbuild c: touch b\n" },
	{ .what = "many at once", .command = "TOOL -j8 >out; sort out | sed 's/^.[0-9/]*. //' | sort; rm out",
	  .build = "build a: touch\nbuild b: touch\nbuild c: touch\nbuild d: touch\nbuild e: touch\nbuild f: touch\n"
		   "build g: touch\nbuild h: touch\nbuild i: touch\nbuild j: touch\nbuild all: touch a b c d e f g h i j\n",
	  .tasks = "+++++++++++" },
	/* a static program and one that changes its user are not loaded into, without a
	 * message */
	{ .what = "static and setuid tools", .command = "TOOL -j1", .needs = "cc",
	  .setup = "echo 'int main(int n, char **v, char **e) { int i = 0; while (e[i]) i++; return i > 200; }' > s.c;"
		   "cc -static -o meson s.c || cp /bin/true meson; cp /bin/true scons; chmod u+s scons; rm s.c",
	  .build = "build a: run\n cmd = ./meson && ./scons\n", .tasks = "+" },
	{ .what = "a static host", .command = "./host x", .needs = "cc",
	  .setup = "echo 'int main(void) { return 5; }' > s.c; cc -static -o host s.c || cc -o host s.c" , .tasks = "" },
	{ .what = "a setuid host", .command = "./host", .setup = "cp /bin/echo host; chmod u+s host" },
	/* nested */
	{ .what = "make inside", .command = "TOOL -j1",
	  .setup = "printf 'all:\\n\\t@echo made\\n\\t@touch m\\n' > m.mk",
	  .build = "build m: run\n cmd = make -s -f m.mk\n", .tasks = "+++" },
	{ .what = "ninja inside make inside ninja", .command = "TOOL -j1", .needs = "ninja",
	  .setup = "printf 'all:\\n\\t@ninja -f in.ninja -j1\\n' > m.mk;"
		   "printf 'rule t\\n command = touch $out; env | grep -c PRELOAD\\nbuild x: t\\n' > in.ninja",
	  .build = "build m: run\n cmd = make -s -f m.mk\n", .tasks = NULL },
	{ .what = "a tool below a script below make", .command = "make -s -f m.mk", .needs = "ninja",
	  .setup = "printf 'all:\\n\\t@./build -j1\\n' > m.mk; printf '#!/bin/sh\\nninja \"$@\"\\n' > build; chmod +x build",
	  .build = "build a: touch\n" },
	/* other hosts */
	{ .what = "dash", .command = "dash b.sh", .needs = "dash",
	  .setup = "printf 'x=$(true; expr 1 + 1)\\n(cd /; /bin/false)\\nfor i in 1 2; do /bin/true & done; wait\\n"
		   "ls none | cat\\n./none\\necho $? $x; trap \"echo bye\" EXIT; env; exec /bin/echo end\\n' > b.sh" },
	{ .what = "bash", .command = "bash b.sh", .needs = "bash",
	  .setup = "printf 'x=$(true; expr 1 + 1)\\n(cd /; /bin/false)\\nfor i in 1 2; do /bin/true & done; wait\\n"
		   "ls none | cat\\n./none\\necho $? $x ${PIPESTATUS[0]}; trap \"echo bye\" EXIT; cat < <(echo sub); env\\n' > b.sh" },
	{ .what = "a script that is executed", .command = "./b a b", .tasks = "+-",
	  .setup = "printf '#!/bin/sh\\n/bin/echo \"$@\" $0\\n/bin/false\\nexit 4\\n' > b; chmod +x b" },
	{ .what = "sh -c", .command = "sh -c 'kill -KILL $$'", .tasks = "" },
	{ .what = "exec through", .command = "./one x",
	  .setup = "printf '#!/bin/sh\\nexec ./two \"$@\"\\n' > one; printf '#!/bin/bash\\nexec nice -1 ./three \"$@\"\\n' > two;"
		   "printf '#!/bin/sh\\n/bin/echo $1; /bin/true; env\\n' > three; chmod +x one two three", .tasks = "+++" },
	{ .what = "env between", .command = "env A=b env sh -c '/bin/true; /bin/true; env'", .tasks = "+++" },
	{ .what = "SIGCHLD ignored", .before = "trap '' CHLD;", .command = "sh -c '/bin/true; /bin/true; echo $?'" },
	{ .what = "a daemon", .command = "sh -c '(sleep 0.3; echo late > late) >/dev/null 2>&1 & /bin/true; echo $?'", .tasks = NULL,
	  .after = "n=0; until test -s late || test $n = 3000; do sleep 0.02; n=$((n + 1)); done" },
	{ .what = "python", .command = "/usr/bin/python3 b.py", .needs = "/usr/bin/python3",
	  .setup = "printf 'import os, subprocess as s, sys\\n"
		   "s.run([\"true\"]); print(s.run(\"exit 3\", shell=True).returncode, flush=True)\\n"
		   "print(os.system(\"exit 4\"), os.popen(\"echo hi\").read(), flush=True)\\n"
		   "try: s.run([\"none\"])\\nexcept OSError as e: print(e, flush=True)\\n"
		   "p = os.spawnlp(os.P_NOWAIT, \"true\", \"true\"); print(os.waitstatus_to_exitcode(os.waitpid(p, 0)[1]), flush=True)\\n"
		   "if os.fork() == 0: os._exit(9)\\nprint(os.wait()[1], flush=True)\\n"
		   "p = os.posix_spawn(\"/bin/false\", [\"false\"], os.environ); f = os.pidfd_open(p)\\n"
		   "print(os.waitid(os.P_PIDFD, f, os.WEXITED).si_status, flush=True)\\n"
		   "s.run([\"env\"], env={\"A\": \"b\"}); s.run([\"sh\", \"-c\", \"make -s -f /dev/null --eval=x:\"], env={})\\n' > b.py",
	  .tasks = "+--+-+-++" },
	{ .what = "cc", .command = "cc -o p p.c q.c", .needs = "cc",
	  .setup = "echo 'int q(void); int main(void) { return q(); }' > p.c; echo 'int q(void) { return 0; }' > q.c",
	  .after = "rm -f p", .tasks = "+++++" },
	{ .what = "cc that fails", .command = "cc -c p.c", .needs = "cc", .setup = "echo 'int main(' > p.c", .tasks = "-" },
	/* libuv tries one before it starts others: it is no task, and none is missing */
	{ .what = "a vfork child that only ends", .command = "./p", .needs = "cc", .after = "rm -f p", .tasks = "+",
	  .setup = "printf '#include <sys/wait.h>\n#include <unistd.h>\nint main(void) { if (!vfork()) _exit(0); wait(0); "
		   "if (!vfork()) { execlp(\"true\", \"true\", (char *)0); _exit(1); } wait(0); return 0; }\n' >p.c; "
		   "cc -o p p.c" },
	{ .what = "cmake --build", .command = "cmake --build . -- -j1", .needs = "cmake ninja",
	  .build = "build a: touch\nbuild b: touch a\n", .tasks = "+++",
	  .setup = "printf 'CMAKE_PROJECT_NAME:STATIC=x\\nCMAKE_GENERATOR:INTERNAL=Ninja\\nCMAKE_MAKE_PROGRAM:FILEPATH=ninja\\n' > CMakeCache.txt" },
	{ .what = "scons", .command = "scons -Q a", .needs = "scons",
	  .setup = "echo 'Command(\"a\", [], \"echo x > a\")' > SConstruct", .after = "rm -f .sconsign.dblite" },
};

static const char *const tools[] = { "ninja", "samu" };

#define N_SCENES ((int)ARRAY_SIZE(scenes))
#define N_TOOLS ((int)ARRAY_SIZE(tools))

struct outcome {
	struct run run, files;
};

static void add_command(struct buf *b, const struct scene *scene, const char *tool)
{
	const char *at = strstr(scene->command, "TOOL");

	if (at)
		buf_addf(b, "%.*s%s%s", (int)(at - scene->command), scene->command, tool, at + 4);
	else
		buf_adds(b, scene->command);
}

/* Always in the same directory. */
static void build(struct outcome *o, const struct scene *scene, const char *tool,
		  const char *launcher)
{
	const char *dir = support_path("%s/work", support_tmpdir());
	struct buf command = BUF_INIT;
	struct run r;

	support_run(&r, support_tmpdir(), "chmod -R u+w work 2>/dev/null; rm -rf work; mkdir work");
	if (scene->build)
		support_writes(support_path("%s/build.ninja", dir),
			       support_path("%s%s", rules, scene->build));
	support_run(&r, dir, "%s", scene->setup ? scene->setup : ":");
	ck_assert_msg(r.status == 0, "%s: %s", scene->what, r.err.data);
	if (scene->before)
		buf_addf(&command, "%s ", scene->before);
	buf_adds(&command, launcher);
	add_command(&command, scene, tool);
	support_run(&o->run, dir, "%s", buf_str(&command));
	buf_release(&command);
	support_run(&o->files, dir, "%s; ls -AR; LC_ALL=C grep -ar --exclude='.ninja_*' '' . |"
		    " LC_ALL=C sort", scene->after ? scene->after : ":");
}

/* The message that nothing was recorded comes after the build. */
static void leave_out_ours(struct buf *b)
{
	char *at = strstr(b->data, "buildbeat: no tasks were recorded: ");

	if (at)
		memmove(at, strchr(at, '\n') + 1, strlen(strchr(at, '\n') + 1) + 1);
}

static void compare(const struct scene *scene, const char *tool, const struct outcome *plain,
		    const struct outcome *with)
{
	ck_assert_msg(plain->run.status == with->run.status, "%s, %s: status %d, not %d\n%s",
		      tool, scene->what, with->run.status, plain->run.status, with->run.err.data);
	ck_assert_msg(!strcmp(plain->run.out.data, with->run.out.data),
		      "%s, %s: stdout\n%.1500s---- not\n%.1500s", tool, scene->what,
		      with->run.out.data, plain->run.out.data);
	ck_assert_msg(!strcmp(plain->run.err.data, with->run.err.data),
		      "%s, %s: stderr\n%.1500s---- not\n%.1500s", tool, scene->what,
		      with->run.err.data, plain->run.err.data);
	ck_assert_msg(!strcmp(plain->files.out.data, with->files.out.data),
		      "%s, %s: files\n%.1500s---- not\n%.1500s", tool, scene->what,
		      with->files.out.data, plain->files.out.data);
}

static void compare_tasks(const struct scene *scene, const char *tool, const char *dir)
{
	RELEASED(buf, told, ends = BUF_INIT);

	ck_assert(tasks_summary(&told, dir));
	for (const char *p = told.data; *p; p++) {
		if (strchr("+-x?.", *p) && (p[1] == ' ' || !p[1]))
			buf_addc(&ends, *p);
	}
	ck_assert_msg(!strcmp(buf_str(&ends), scene->tasks), "%s, %s: tasks %s [%s], not [%s]", tool,
		      scene->what, told.data, buf_str(&ends), scene->tasks);
}

static bool has_all(const char *programs)
{
	char words[256], *word, *rest = words;

	strcpy(words, programs ? programs : "");
	while ((word = strsep(&rest, " "))) {
		if (*word && !support_has(word))
			return false;
	}
	return true;
}

TEST_LOOP(transparent, N_SCENES * N_TOOLS)
{
	const struct scene *scene = &scenes[_i % N_SCENES];
	const char *tool = tools[_i / N_SCENES];
	bool tooled = strstr(scene->command, "TOOL");
	struct outcome plain, with;

	if (!tooled && _i >= N_SCENES)
		return;
	SKIP_IF(tooled && !support_has(tool));
	SKIP_IF(!has_all(scene->needs));
	build(&plain, scene, tool, "");
	build(&with, scene, tool, RECORD);
	leave_out_ours(&with.run.err);
	compare(scene, tool, &plain, &with);
	if (scene->tasks)
		compare_tasks(scene, tool, support_path("%s/stats/one", support_tmpdir()));
	support_expect(support_tmpdir(), ANY_STATUS, "0\n", NULL,
		       "ls stats/one $TMPDIR/buildbeat-*/ 2>&- | grep -c -e preload -e buildbeat.mk");
}

/* The first instance that opened after another (NO_INDEX: of all). A tool may write its
 * first line after those of its first task. */
static size_t next_opened(const struct recording *rec, size_t other)
{
	int64_t since_us = other == NO_INDEX ? -1 : rec->instance[other].open_us;
	size_t best = NO_INDEX;

	for (size_t i = 0; i < rec->n_instances; i++) {
		if (rec->instance[i].open_us > since_us &&
		    (best == NO_INDEX || rec->instance[i].open_us < rec->instance[best].open_us))
			best = i;
	}
	ck_assert_uint_ne(best, NO_INDEX);
	return best;
}

/* The task around each instance, by the names of the build tools from the outside in. */
TEST(parents)
{
	RELEASED(recording, rec = RECORDING_INIT);
	const char *dir = support_tmpdir();

	SKIP_IF(!has_all("ninja make"));
	support_writes(support_path("%s/build.ninja", dir), "rule m\n command = make -s -f m.mk\nbuild m: m\n");
	support_writes(support_path("%s/m.mk", dir), "all:\n\t@true\n\t@sh ./s.sh\n");
	support_writes(support_path("%s/s.sh", dir), "true\nninja -f in.ninja\n");
	support_writes(support_path("%s/in.ninja", dir), "rule t\n command = touch $out\nbuild x: t\nbuild y: t\n");
	support_expect(dir, 0, NULL, "",
		       TOP_BUILDDIR "/buildbeat record --no-git -o stats -n one sh -c 'ninja; true'");
	recorded_open(&rec, support_path("%s/stats/one", dir), NULL);
	ck_assert_uint_eq(rec.n_instances, 4);
	for (size_t i = 0, at = NO_INDEX, outer; i < rec.n_instances; i++) {
		static const char *const chain[] = { "sh", "ninja", "make", "ninja" };
		const struct instance *in;

		outer = at;
		at = next_opened(&rec, outer);
		in = &rec.instance[at];
		ck_assert_str_eq(in->tool, chain[i]);
		ck_assert(in->close_us >= in->open_us);
		if (!i) {
			ck_assert_uint_eq(in->parent_task, NO_INDEX);
			continue;
		}
		ck_assert_uint_ne(in->parent_task, NO_INDEX);
		ck_assert_uint_eq(rec.task[in->parent_task].instance, outer);
	}
}

TEST_PROGRAM(preload_transparent)
{
	SKIP_PROGRAM_IF(!make_host_can());
	return support_main();
}
