/* SPDX-License-Identifier: MIT */
/*
 * Programs with a sanitizer, whose runtime must be their first object, below every program
 * that starts others: they end and print as without recording, and their children have a
 * clean environment.
 */
#include "base/array.h"
#include "tests/make_host.h"
#include "tests/paths.h"
#include "tests/support.h"

#define RECORD TOP_BUILDDIR "/buildbeat record --no-git -o ../stats -n one -- "

static const struct { const char *name, *compile; } programs[] = {
	{ "gcc address", "gcc -fsanitize=address" },
	{ "gcc thread", "gcc -fsanitize=thread" },
	{ "gcc undefined", "gcc -fsanitize=undefined" },
	{ "gcc leak", "gcc -fsanitize=leak" },
	{ "gcc static address", "gcc -fsanitize=address -static-libasan" },
	{ "gcc static thread", "gcc -fsanitize=thread -static-libtsan" },
	{ "clang address", "clang -fsanitize=address" },
	{ "clang thread", "clang -fsanitize=thread" },
	{ "clang undefined", "clang -fsanitize=undefined" },
	{ "clang leak", "clang -fsanitize=leak" },
	{ "clang memory", "clang -fsanitize=memory" },
	{ "clang shared address", "clang -fsanitize=address -shared-libsan "
	  "-Wl,-rpath,$(dirname $(clang -print-file-name=libclang_rt.asan-x86_64.so))" },
};

#define N_PROGRAMS (int)ARRAY_SIZE(programs)

/* Its environment, and that of its child. */
static const char source[] =
	"#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <unistd.h>\n"
	"extern char **environ;\n"
	"int main(int argc, char **argv)\n{\n"
	"	int status = 0;\n"
	"	for (char **e = environ; *e; e++)\n"
	"		if (!strncmp(*e, \"LD_PRELOAD\", 10) || strstr(*e, \"CARRIED\"))\n"
	"			puts(*e);\n"
	"	printf(\"%s %d\\n\", argv[0], argc);\n"
	"	fflush(stdout);\n"
	"	if (argc > 1 && !strcmp(argv[1], \"child\"))\n"
	"		return 0;\n"
	"	status = system(\"env | grep -e PRELOAD -e CARRIED; ./p child\");\n"
	"	return status ? 99 : 3;\n}\n";

static const struct { const char *what, *setup, *command; } scenes[] = {
	{ "launched", ":", "./p; for w in gen.py cmake configure; do ./p $w; echo $?; done" },
	{ "launched alone", ":", "./p ./configure gen.py --opt=foo.py" },
	{ "below make", "printf 'all:\\n\\t-./p\\n\\t-./p gen.py\\n\\t-./p --opt=foo.py cmake\\n\\t-./p ./configure\\n"
	  "\\t-nice ./p gen.py\\n\\t-env A=b ./p ninja\\n' >m.mk", "make -f m.mk" },
	{ "below make's shell", "printf 'all:\\n\\t-cd . && ./p gen.py; echo $$?\\n\\t-./p cmake || ./p configure\\n' >m.mk",
	  "make -f m.mk" },
	{ "below scripts", "printf '#!/bin/sh\\n./p gen.py\\necho $?\\n./p cmake\\necho $?\\nexec ./p ninja\\n' >s.sh; chmod +x s.sh;"
	  "printf 'import os, subprocess\\nprint(subprocess.call([\"./p\", \"gen.py\"]), os.system(\"./p make.sh\"))\\n"
	  "os.execv(\"./p\", [\"./p\", \"configure\"])\\n' >s.py;"
	  "printf 'all:\\n\\t-./s.sh\\n\\t-python3 s.py\\n\\t-sh -c ./s.sh\\n' >m.mk", "make -f m.mk" },
	{ "below ninja", "printf 'rule r\\n command = $c\\nbuild a: r\\n c = ./p gen.py\\nbuild b: r\\n c = ./p cmake; ./p configure.sh\\n"
	  "build d: r\\n c = python3 s.py\\n' >build.ninja; printf 'import os\\nos.execv(\"./p\", [\"./p\", \"ninja\"])\\n' >s.py",
	  "ninja -k 0 -j1" },
	{ "as a build tool", "for n in cmake configure ninja sh env; do cp p $n; done;"
	  "printf 'all:\\n\\t-./cmake --build .\\n\\t-./configure\\n\\t-./ninja\\n\\t-./env ninja\\n\\t-./sh x.sh\\n' >m.mk",
	  "make -f m.mk" },
	{ "as an interpreter", "printf \"#!$PWD/p\\n\" >x; printf \"#!/usr/bin/env $PWD/p\\n\" >gen.py; chmod +x x gen.py;"
	  "printf 'all:\\n\\t-./x gen.py\\n\\t-./gen.py\\n' >m.mk", "make -f m.mk" },
};

#define N_SCENES (int)ARRAY_SIZE(scenes)

static bool compiles(const char *dir, const char *compile)
{
	struct run r;
	bool ok;

	support_writes(support_path("%s/p.c", dir), source);
	support_run(&r, dir, "%s -g p.c -o p", compile);
	ok = r.status == 0;
	return ok;
}

/* Our message that nothing was recorded is left out; process numbers differ. */
static void build(struct run *r, const char *what, const char *launcher, const char *script)
{
	support_run(r, support_path("%s/work", support_tmpdir()),
		    "export LC_ALL=C; rm -rf .ninja_log .ninja_deps ../stats\n%s %s 2>err; s=$?\n"
		    "grep -v -e '^buildbeat: no tasks were recorded' err | sed -e s/==[0-9]*==/==/g -e s/tid=[0-9]*//g >&2\nexit $s",
		    launcher, script);
	ck_assert_msg(r->status < 128 || !strstr(r->err.data, "buildbeat"), "%s: %s", what, r->err.data);
}

static void compare(const char *program, int scene)
{
	const char *shell = scene ? "" : "sh b";
	struct run plain, with;

	build(&plain, program, "", scene ? scenes[scene].command : shell);
	build(&with, program, RECORD, scene ? scenes[scene].command : shell);
	ck_assert_msg(plain.status == with.status, "%s, %s: status %d, not %d\n%s", program,
		      scenes[scene].what, with.status, plain.status, with.err.data);
	ck_assert_msg(!strcmp(plain.out.data, with.out.data), "%s, %s: stdout\n%s---- not\n%s", program,
		      scenes[scene].what, with.out.data, plain.out.data);
	ck_assert_msg(!strcmp(plain.err.data, with.err.data), "%s, %s: stderr\n%s---- not\n%s", program,
		      scenes[scene].what, with.err.data, plain.err.data);
}

TEST_LOOP(sanitized, N_PROGRAMS)
{
	const char *dir = support_path("%s/work", support_tmpdir());
	struct run r;

	support_run(&r, support_tmpdir(), "rm -rf work; mkdir work");
	SKIP_IF(!compiles(dir, programs[_i].compile));
	for (int scene = 0; scene < N_SCENES; scene++) {
		if (strstr(scenes[scene].what, "ninja") && !support_has("ninja"))
			continue;
		support_expect(dir, 0, NULL, NULL, "%s", scenes[scene].setup);
		if (!scene)
			support_writes(support_path("%s/b", dir), scenes[scene].command);
		compare(programs[_i].name, scene);
	}
}

/* The environment of a program outside the build requests the runtime. */
TEST(preloaded_runtime)
{
	const char *dir = support_path("%s/work", support_tmpdir());
	struct run r;

	support_run(&r, support_tmpdir(), "rm -rf work; mkdir work");
	SKIP_IF(!support_has("python3") || !compiles(dir, "gcc -fsanitize=address"));
	support_writes(support_path("%s/t.py", dir), "import os\nprint(os.environ.get('LD_PRELOAD'), "
		       "'BUILDBEAT_CARRIED' in os.environ, flush=True)\nos.system('./p child')\n"
		       "print([l.split('/')[-1] for l in open('/proc/self/maps') if 'buildbeat' in l])\n");
	support_writes(support_path("%s/m.mk", dir), "L := $(shell gcc -print-file-name=libasan.so)\n"
		       "export ASAN_OPTIONS = detect_leaks=0\n"
		       "all:\n\tLD_PRELOAD=$L python3 t.py\n\t@env LD_PRELOAD=$L python3 t.py gen.py\n"
		       "\t@LD_PRELOAD='libm.so.6 $L' sh -c './p gen.py'; echo $$?\n");
	for (int i = 0; i < 2; i++) {
		struct run plain, with;

		support_writes(support_path("%s/b", dir), i ? "export ASAN_OPTIONS=detect_leaks=0 "
			       "LD_PRELOAD=$(gcc -print-file-name=libasan.so)\npython3 t.py\n" : "make -f m.mk\n");
		build(&plain, "preloaded", "", "sh b");
		build(&with, "preloaded", RECORD, "sh b");
		ck_assert_int_eq(plain.status, with.status);
		ck_assert_str_eq(plain.out.data, with.out.data);
		ck_assert_str_eq(plain.err.data, with.err.data);
		ck_assert_ptr_nonnull(strstr(with.out.data, "[]"));
	}
}

/* Preloaded objects of the user: ours comes after them, and is not visible. */
TEST(other_preloads)
{
	const char *dir = support_tmpdir();

	support_writes(support_path("%s/s.sh", dir), "echo $LD_PRELOAD; env | grep -c CARRIED; ninja >/dev/null; echo $?\n");
	support_writes(support_path("%s/build.ninja", dir), "rule r\n command = test \"$$LD_PRELOAD\" = libm.so.6\nbuild a: r\n");
	support_writes(support_path("%s/m.mk", dir), "all:\n\t@LD_PRELOAD=libm.so.6 sh s.sh\n\t@tr '\\0' '\\n' "
		       "</proc/self/environ | grep -c -e PRELOAD; true\n");
	SKIP_IF(!support_has("ninja"));
	support_expect(dir, ANY_STATUS, "libm.so.6\n0\n0\n0\n1\n", "",
		       TOP_BUILDDIR "/buildbeat record --no-git -o stats -n one make -f m.mk;"
		       "grep -c '^open.*ninja' stats/one/tasks.log");
}

TEST_PROGRAM(sanitized)
{
	SKIP_PROGRAM_IF(!make_host_can() || !support_has("gcc"));
	unsetenv("LD_PRELOAD");
	return support_main();
}
