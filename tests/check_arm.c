/* SPDX-License-Identifier: MIT */
/*
 * Programs in an armed environment: those that match count their allocations, no other one does,
 * and none of them notices. The programs print everything that could differ.
 */
#include "base/array.h"
#include "tests/support.h"

#include <dirent.h>

/* As in an armed build. */
#define OBJECT "'" TOP_BUILDDIR "/heap/arm/$PLATFORM/buildbeat-arm.so'"
#define BUILDBEAT TOP_BUILDDIR "/buildbeat"
#define PROGRAMS TOP_SRCDIR "/tests/programs/"

static const struct {
	const char *name, *setup, *command, *rules;
	int images;
} scenes[] = {
	{ "path", "", "./p a 'b c' ''", "0:p", 1 },
	{ "status", "", "./p fail", "0:p", 1 },
	{ "signal", "", "./p kill", "0:p", 1 },
	{ "absolute", "", "$PWD/p", "524288:p", 1 },
	{ "above", "mkdir -p sub", "cd sub && ../p", "0:p", 1 },
	{ "search", "", "PATH=.:$PATH p", "0:p", 1 },
	{ "other name", "", "./p", "0:q;0:pp;0:P", 0 },
	{ "pattern", "", "./p", "0:q|[o-p]", 1 },
	{ "later rule", "", "./p", "0:q;524288:*", 1 },
	{ "link by its name", "ln -sf p link", "./link x", "0:link", 1 },
	{ "link by the file's", "ln -sf p link", "./link x", "0:p", 1 },
	{ "argument 0", "", "bash -c 'exec -a other ./p x'", "0:p", 1 },
	{ "argument 0 is no name", "", "bash -c 'exec -a other ./p x'", "0:other", 0 },
	{ "its own path", "", "./p ./p ./p", "0:p", 1 },
	{ "script", "printf \"#!$PWD/p\\n\" >s; chmod +x s", "./s x y", "0:s", 1 },
	{ "interpreter", "printf \"#!$PWD/p -o  -p \\n\" >s; chmod +x s", "./s x ./s", "0:p", 1 },
	{ "link to an interpreter", "ln -sf p link; printf \"#!$PWD/link\\n\" >s; chmod +x s", "./s x", "0:link", 1 },
	{ "two interpreters", "printf \"#!$PWD/p one\\n\" >s; printf \"#!$PWD/s two\\n\" >t; chmod +x s t",
	  "./t x", "0:p", 1 },
	{ "relative interpreter", "printf '#!./p\\n' >s; chmod +x s", "./s", "0:s", 1 },
	{ "without #!", "echo './p' >s; chmod +x s", "./s", "0:p", 1 },
	{ "env", "printf '#!/usr/bin/env p\\n' >s; chmod +x s", "PATH=.:$PATH ./s x", "0:p", 1 },
	{ "loader", "", "$LOADER ./p x y", "0:p", 1 },
	{ "loader with options", "", "$LOADER --library-path . --argv0 zero ./p x 'y z'", "0:p", 1 },
	{ "closed descriptors", "", "./p <&- 2>&-", "0:p", 1 },
	{ "open descriptors", "", "./p 7</dev/null 9>&1", "0:p", 1 },
	{ "ignored signals", "", "trap '' HUP; ./p", "0:p", 1 },
	{ "many arguments", "", "./p $(seq 15000)", "0:p", 1 },
	{ "many variables", "", "for i in $(seq 3000); do export V$i=$i; done; ./p", "0:p", 1 },
	{ "another preload", "gcc -shared -fPIC -o counter.so counter.c",
	  "LD_PRELOAD=\"$LD_PRELOAD $PWD/counter.so\" ./p", "0:p", 1 },
	{ "another preload first", "gcc -shared -fPIC -o counter.so counter.c",
	  "LD_PRELOAD=\"$PWD/counter.so:$LD_PRELOAD\" ./p", "0:p", 1 },
	{ "other environment", "", "env -i A=b ./p", "0:p", 0 },
	{ "replaced", "", "sh -c 'cp p new; ./new; mv p new; cp new p; ./p'", "0:p", 1 },
	{ "below make", "printf 'all:\\n\\t./p a; ./p b\\n\\t./p\\n' >m.mk", "make -s -f m.mk", "0:p", 3 },
	{ "below ninja", "printf 'rule r\\n command = ./p $out\\nbuild a: r\\nbuild b: r\\n' >build.ninja",
	  "ninja -j1", "0:p", 2 },
	{ "shells too", "", "sh -c './p; exec ./p'", "0:dash|bash|sh|p", 3 },
	{ "descriptor", "", "python3 -c 'import os\nos.execve(os.open(\"p\", os.O_RDONLY), [\"p\", \"x\"], dict(os.environ))'",
	  "0:p", 0 },
	{ "closed on execution", "cp p gone",
	  "python3 -c 'import os\nos.execve(os.open(\"gone\", os.O_RDONLY | os.O_CLOEXEC), [\"p\"], dict(os.environ))'",
	  "0:gone", 0 },
	{ "spawned", "", "python3 -c 'import os\npid = os.posix_spawn(\"./p\", [\"x\", \"y\"], os.environ, "
	  "setsigmask=[10])\nprint(os.waitpid(pid, 0)[1])'", "0:p", 1 },
	{ "vfork", "", "python3 -c 'import subprocess\nprint(subprocess.call([\"./p\", \"fail\"]))'", "0:p", 1 },
	{ "static", "gcc -static -o static p.c", "./static x", "0:static", 0 },
	{ "address sanitizer", "gcc -fsanitize=address -o asan p.c", "./asan x", "0:asan", 0 },
	{ "undefined sanitizer", "gcc -fsanitize=undefined -o ubsan p.c", "./ubsan x", "0:*", 0 },
	{ "thread sanitizer", "gcc -fsanitize=thread -o tsan p.c", "./tsan x", "0:tsan", 0 },
	{ "static address sanitizer", "gcc -static-libasan -fsanitize=address -o asan p.c", "./asan x", "0:asan", 0 },
	{ "clang's address sanitizer", "clang -fsanitize=address -o casan p.c", "./casan x", "0:casan", 0 },
	{ "clang's shared one", "clang -fsanitize=address -shared-libsan -Wl,-rpath,$(dirname "
	  "$(clang -print-file-name=libclang_rt.asan-x86_64.so)) -o casan p.c", "./casan x", "0:casan", 0 },
	{ "sanitized, not matching", "gcc -fsanitize=address -o asan p.c", "./asan; ./p", "0:p", 1 },
};

static int count_images(const char *dir)
{
	DIR *d = opendir(dir);
	int n = 0;

	ck_assert_ptr_nonnull(d);
	for (struct dirent *e; (e = readdir(d));)
		n += e->d_name[0] != '.';
	closedir(d);
	return n;
}

/* The loader of this machine. */
static const char *loader(void)
{
	struct run r;

	support_run(&r, NULL, "readelf -lW /bin/sh | sed -n 's/.*interpreter: \\(.*\\)]/\\1/p'");
	r.out.data[strcspn(r.out.data, "\n")] = '\0';
	return r.out.data;
}

static const char *plain_environment(const char *program)
{
	return support_path("unset LD_PRELOAD BUILDBEAT_HEAP BUILDBEAT_HEAP_DIR; LOADER=%s; unset OLDPWD; %s",
			    program, "export SHLVL=1");
}

static bool prepare(const char *dir, const char *setup)
{
	struct run r;

	support_run(&r, dir, "cp " PROGRAMS "probe.c p.c; cp " PROGRAMS "constructor.c counter.c");
	support_expect(dir, 0, NULL, NULL, "gcc -w -O1 -o p p.c && mkdir images");
	support_run(&r, dir, "%s", *setup ? setup : ":");
	return !r.status;
}

TEST_EACH(unnoticed, scenes)
{
	const char *dir = support_tmpdir(), *plain = plain_environment(loader());
	struct run without, with;

	SKIP_IF(!support_can_be_loaded() || !prepare(dir, scenes[_i].setup));
	support_run(&without, dir, "%s; %s", plain, scenes[_i].command);
	support_run(&with, dir, "%s; export LD_PRELOAD=" OBJECT " BUILDBEAT_HEAP='%s' "
		    "BUILDBEAT_HEAP_DIR=$PWD/images; %s", plain, scenes[_i].rules, scenes[_i].command);
	ck_assert_msg(!strcmp(with.out.data, without.out.data), "%s: prints\n%s\nnot\n%s",
		      scenes[_i].name, with.out.data, without.out.data);
	ck_assert_msg(!strcmp(with.err.data, without.err.data), "%s: %s", scenes[_i].name, with.err.data);
	ck_assert_msg(with.status == without.status, "%s: status %d", scenes[_i].name, with.status);
	ck_assert_msg(count_images(support_path("%s/images", dir)) == scenes[_i].images,
		      "%s: %d images", scenes[_i].name, count_images(support_path("%s/images", dir)));
}

/* What cannot be armed says nothing. */
static const struct { const char *name, *variables; } broken[] = {
	{ "no rules", "LD_PRELOAD=" OBJECT " BUILDBEAT_HEAP_DIR=$PWD/images" },
	{ "no directory", "LD_PRELOAD=" OBJECT " BUILDBEAT_HEAP=0:p" },
	{ "no such directory", "LD_PRELOAD=" OBJECT " BUILDBEAT_HEAP=0:p BUILDBEAT_HEAP_DIR=/nowhere" },
	{ "empty", "LD_PRELOAD=" OBJECT " BUILDBEAT_HEAP= BUILDBEAT_HEAP_DIR=$PWD/images" },
	{ "bad rules", "LD_PRELOAD=" OBJECT " BUILDBEAT_HEAP='p;:p;x:p;99999999999999999999999:p;[;0:|;;' "
	  "BUILDBEAT_HEAP_DIR=$PWD/images" },
	{ "no shim", "LD_PRELOAD=$PWD/alone/buildbeat-arm.so BUILDBEAT_HEAP=0:p BUILDBEAT_HEAP_DIR=$PWD/images" },
	{ "marked", "LD_PRELOAD=" OBJECT " BUILDBEAT_HEAP=0:q BUILDBEAT_HEAP_DIR=$PWD/images BUILDBEAT_HEAP_NOW=1:0" },
};

TEST_EACH(unarmed, broken)
{
	const char *dir = support_tmpdir(), *plain = plain_environment("");
	struct run without, with;

	SKIP_IF(!support_can_be_loaded() || !prepare(dir, "mkdir alone; cp " TOP_BUILDDIR "/heap/buildbeat-arm.so alone"));
	support_run(&without, dir, "%s; ./p x", plain);
	support_run(&with, dir, "%s; export %s; ./p x", plain, broken[_i].variables);
	ck_assert_msg(!strcmp(with.out.data, without.out.data), "%s: prints\n%s\nnot\n%s",
		      broken[_i].name, with.out.data, without.out.data);
	ck_assert_msg(!strcmp(with.err.data, ""), "%s: %s", broken[_i].name, with.err.data);
	ck_assert_int_eq(with.status, 0);
	ck_assert_int_eq(count_images(support_path("%s/images", dir)), 0);
}

/*
 * Programs of all kinds: a build whose rule matches another program does not change them, nor does a
 * rule that matches them. Each is built by a command as "x", which may fail if the machine cannot.
 */
#define GO "HOME=$PWD GOCACHE=$PWD/cache GO111MODULE=off GOFLAGS= "

static const struct { const char *name, *build, *command; } kinds[] = {
	{ "dynamic", "gcc -o x any.c", "./x a" },
	{ "static", "gcc -static -o x any.c", "./x a" },
	{ "musl", "musl-gcc -o x any.c", "./x a" },
	{ "musl, static", "musl-gcc -static -o x any.c", "./x a" },
	{ "musl below make", "musl-gcc -o x any.c; printf 'all:\\n\\t./x a\\n' >Makefile", "make -s; [ $? = 2 ] && exit 3" },
	{ "no library, static", "gcc -nostdlib -static -o x bare.c", "./x" },
	{ "no library, a loader", "gcc -nostdlib -fpie -pie -Wl,-dynamic-linker,$LOADER -o x bare.c", "./x" },
	{ "the same, bound now", "gcc -nostdlib -fpie -pie -Wl,-z,now -Wl,-dynamic-linker,$LOADER -o x bare.c",
	  "LD_BIND_NOW=1 ./x" },
	{ "32 bit, static", "gcc -m32 -nostdlib -static -o x bare.c", "./x" },
	{ "32 bit, a loader", "gcc -m32 -nostdlib -fpie -pie -Wl,-dynamic-linker,/lib/ld-linux.so.2 -o x bare.c", "./x" },
	{ "32 bit, a library", "gcc -m32 -nostdlib -fpie -pie -Wl,-dynamic-linker,/lib/ld-linux.so.2 -o x bare.c "
	  "-Wl,--no-as-needed /lib32/libc.so.6", "./x" },
	{ "32 bit, bound now", "gcc -m32 -nostdlib -fpie -pie -Wl,-dynamic-linker,/lib/ld-linux.so.2 -o x bare.c "
	  "-Wl,--no-as-needed /lib32/libc.so.6", "LD_BIND_NOW=1 ./x" },
	{ "rights of another user", "gcc -o x any.c && chown 65534 x && chmod 4755 x && chmod 711 .", "./x a" },
	{ "rights of another group", "gcc -o x any.c && chgrp 65534 x && chmod 2755 x", "./x a" },
	{ "sandbox", "gcc -w -O1 -fno-builtin -o x strict.c", "./x" },
	{ "sandbox, a second thread", "gcc -w -O1 -fno-builtin -pthread -o x strict_threads.c", "./x filter" },
	{ "strict sandbox of a thread", "gcc -w -O1 -fno-builtin -pthread -o x strict_threads.c", "./x strict" },
	{ "sandbox of a thread", "gcc -w -O1 -fno-builtin -pthread -o x strict_threads.c", "./x prctl" },
	{ "sandbox of a child", "gcc -w -O1 -fno-builtin -pthread -o x strict_threads.c", "./x forked" },
	{ "sandbox, musl", "musl-gcc -w -idirafter /usr/include -idirafter /usr/include/$(gcc -dumpmachine) -O1 -fno-builtin -o x strict.c", "./x" },
	{ "address sanitizer", "gcc -fsanitize=address -o x any.c", "ASAN_OPTIONS=detect_leaks=0 ./x" },
	{ "static sanitizer", "gcc -static-libasan -fsanitize=address -o x any.c", "ASAN_OPTIONS=detect_leaks=0 ./x" },
	{ "thread sanitizer", "gcc -fsanitize=thread -o x any.c", "./x" },
	{ "undefined sanitizer", "gcc -fsanitize=undefined -o x any.c", "./x" },
	{ "libeatmydata", "gcc -o x any.c && eatmydata true", "eatmydata ./x" },
	{ "fakeroot", "gcc -o x any.c && fakeroot true", "fakeroot ./x" },
	{ "jemalloc", "gcc -o x any.c && LD_PRELOAD=libjemalloc.so.2 ./x 2>&1 | (! grep -q ld.so)",
	  "LD_PRELOAD=libjemalloc.so.2:$LD_PRELOAD ./x" },
	{ "an empty environment", "gcc -o x any.c", "env -i ./x" },
	{ "few descriptors", "gcc -o x any.c", "exec 3>&- 4>&- 5>&- 6>&-; ulimit -n 4; ./x" },
	{ "a small stack", "gcc -o x any.c", "ulimit -s 64; ./x" },
	{ "little memory", "gcc -o x any.c", "ulimit -v 30000; ./x" },
	{ "Go", GO "CGO_ENABLED=0 go build -o x any.go busy.go", "./x a" },
	{ "Go, position-independent", GO "CGO_ENABLED=0 go build -buildmode=pie -o x any.go busy.go", "./x a" },
	{ "Go with C", GO "CGO_ENABLED=1 go build -o x cgo.go busy.go", "./x a" },
	{ "Go's compiler", GO "CGO_ENABLED=0 go build -o x any.go busy.go", "rm -f x; " GO "CGO_ENABLED=0 go build -o x any.go busy.go && ./x a" },
	{ "a script", "gcc -o y any.c; printf '#!/bin/sh\\n./y b\\n' >x; chmod +x x", "./x a" },
};

/* The mode, the options of record, and the rule. */
static const struct { const char *name, *command; } modes[] = {
	{ "recorded", BUILDBEAT " record -o one -- " },
	{ "armed", BUILDBEAT " record -o two --inspect 'cc1plus,heap' -- " },
	{ "inspected", BUILDBEAT " record -o three --inspect 'x,heap' -- " },
	{ "exactly", BUILDBEAT " record -o four --inspect 'x,heap=exact' -- " },
};

static bool can_run_kind(const char *dir, size_t i)
{
	struct run r;

	support_run(&r, dir, "cp " PROGRAMS "*.c " PROGRAMS "*.inc " PROGRAMS "*.go .; LOADER=%s; %s", loader(), kinds[i].build);
	if (r.status)
		return false;
	support_run(&r, dir, "unset LD_PRELOAD; (%s) >out 2>err; [ $? = 3 ]", kinds[i].command);
	return !r.status;
}

TEST_EACH(harmless, kinds)
{
	const char *dir = support_tmpdir();
	struct run r;

	SKIP_IF(!support_can_be_loaded());
	if (!can_run_kind(dir, (size_t)_i)) {
		support_skipped(kinds[_i].name);
		return;
	}
	for (size_t m = 0; m < ARRAY_SIZE(modes); m++) {
		support_run(&r, dir, "unset LD_PRELOAD; %s sh -c '(%s) >out2 2>err2'; s=$?; "
			    "diff out out2 && diff err err2 && exit $s",
			    modes[m].command, kinds[_i].command);
		ck_assert_msg(r.status == 3, "%s, %s: status %d\n%s%s", kinds[_i].name,
			      modes[m].name, r.status, r.out.data, r.err.data);
	}
}

/* What a program lacks of it would be fatal for that program. */
TEST(needs_nothing)
{
	support_expect(NULL, 0, "", "", "readelf -dW " TOP_BUILDDIR "/heap/buildbeat-arm.so | grep NEEDED; "
		       "nm -D " TOP_BUILDDIR "/heap/buildbeat-arm.so | grep -v ' w '; :");
}

/* Containers of builds may have no /proc. */
TEST(without_proc)
{
	const char *dir = support_tmpdir();
	struct run r;

	support_run(&r, dir, "unshare -rm true");
	SKIP_IF(r.status || !support_can_be_loaded() || !prepare(dir, ""));
	support_expect(dir, 7, NULL, "",
		       "export LD_PRELOAD=" OBJECT " BUILDBEAT_HEAP=0:p BUILDBEAT_HEAP_DIR=$PWD/images; "
		       "unshare -rm sh -c 'mount -t tmpfs none /proc && exec ./p fail'");
	ck_assert_int_le(count_images(support_path("%s/images", dir)), 1);
}

/* A build is not warned about each of its programs: their archives have the reason. */
static const char waits[] = "#include <unistd.h>\nint main(void) { for (;;) pause(); }\n";
static const char waits_bare[] =
	"void _start(void) { for (;;) __asm__ volatile(\"int $0x80\" : : \"a\"(29)); }\n";

static const struct { const char *name, *build, *command, *reason; } reasons[] = {
	{ "static", "gcc -static -o x waits.c", "./x", "it is statically linked" },
	{ "musl", "musl-gcc -o x waits.c", "./x", "its C library is musl" },
	{ "32 bit", "gcc -m32 -nostdlib -fpie -pie -Wl,-dynamic-linker,/lib/ld-linux.so.2 -o x bare.c && "
	  "/lib/ld-linux.so.2 --version", "./x", "it is a 32-bit program" },
	{ "rights", "gcc -o x waits.c && chgrp 65534 x && chmod 2755 x", "./x",
	  "it runs with the rights of its owner or group" },
	{ "environment", "gcc -o x waits.c", "env -i ./x",
	  "it was started without the environment that buildbeat prepares" },
};

TEST_EACH(uncounted, reasons)
{
	const char *dir = support_tmpdir();
	struct run r;

	support_writes(support_path("%s/waits.c", dir), waits);
	support_writes(support_path("%s/bare.c", dir), waits_bare);
	support_run(&r, dir, "%s", reasons[_i].build);
	SKIP_IF(r.status || !support_can_be_loaded());
	support_expect(dir, 0, NULL, NULL, "%s" BUILDBEAT " record -o rec --inspect 'x,heap,interval=20ms' -- "
		       "sh -c '%s %s & until_true \"grep -q ^end rec/latest/inspect/*/maps.log\"; kill $!; wait; :'",
		       support_poll, support_poll, reasons[_i].command);
	support_expect(dir, 0, NULL, NULL, BUILDBEAT " inspect show rec >shown && "
		       "grep -x 'heap  *not counted: %s' shown", reasons[_i].reason);
	support_expect(dir, 0, NULL, NULL, BUILDBEAT " inspect show rec -j | "
		       "grep -F '\"uncounted\": \"%s\"'", reasons[_i].reason);
}

/* The reason is printed, and the program runs. */
TEST(obstacles)
{
	const char *dir = support_tmpdir();
	struct run r;

	support_writes(support_path("%s/p.c", dir), "int main(void) { return 5; }\n");
	support_run(&r, dir, "gcc -o dynamic p.c && gcc -static -o static p.c && "
		    "gcc -fsanitize=address -o asan p.c");
	SKIP_IF(r.status || !support_can_be_loaded());
	support_expect(dir, 5, NULL, "not counted: it is statically linked",
		       TOP_BUILDDIR "/buildbeat inspect run --heap -o one -- ./static");
	support_expect(dir, 5, NULL, "not counted: the runtime of a sanitizer",
		       TOP_BUILDDIR "/buildbeat inspect run --heap -o two -- ./asan");
	support_expect(dir, 5, NULL, "", TOP_BUILDDIR "/buildbeat inspect run --heap -o three -- ./dynamic");
}

TEST_MAIN(arm);
