/* SPDX-License-Identifier: MIT */
#include "analyse/first_error.h"
#include "cli/messages_config.h"
#include "recording/output_log.h"
#include "tests/nomem.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* What tools say of errors: their real output below tests/data/messages, by the shipped rules. */

#define OPEN "open\t0\tm\t10\t0\t10,9\tmake\t4.3\t/t\tmake\n"
#define TASK "start\t10\tm.1\t11\t\t\tall\t\tsh build\n"
#define FAILED_TASK OPEN TASK "fail\t950000\tm.1\t1\t0\t0\t100\n"
#define FAILED_BUILD "end_us: 1000000\nstatus: 2\n"

struct found {
	struct recorded r;
	struct output *o;
	struct output_tasks tasks;
	struct first_errors f;
};

static void found_release(struct found *f)
{
	first_errors_release(&f->f);
	output_tasks_release(&f->tasks);
	output_close(f->o);
	recorded_release(&f->r);
}

/* index NULL: all was written while the task ran. */
static void find(struct found *f, const char *build, const char *tasks, struct slice text, const char *index)
{
	RELEASED(buf, all = BUF_INIT);
	struct error err = { 0 };

	buf_adds(&all, OUTPUT_HEADER);
	if (index)
		buf_adds(&all, index);
	else
		buf_addf(&all, "900000 100 12 %zu\n", text.len);
	support_write(support_path("%s/" OUTPUT_LOG, support_tmpdir()), text.p, text.len);
	support_write(support_path("%s/" OUTPUT_INDEX, support_tmpdir()), all.data, all.len);
	recorded_make(&f->r, build, tasks, NULL);
	messages_config_use("/dev/null");
	ck_assert_int_eq(output_open(&f->o, f->r.rec.path, NULL, &err), 0);
	ck_assert_int_eq(output_find_tasks(&f->tasks, f->o, &f->r.rec), 0);
	ck_assert_int_eq(first_errors_find(&f->f, f->o, &f->tasks, &f->r.sum), 0);
}

/* "TOOL HOW FILE:LINE:COLUMN: MESSAGE" */
static void describe(struct buf *out, const struct first_error *e)
{
	static const char *const how[] = {
		[FIRST_ERROR_NONE] = "none", [FIRST_ERROR_LAST] = "last", [FIRST_ERROR_REPORT] = "report",
		[FIRST_ERROR_FOUND] = "error",
	};

	if (!e) {
		buf_adds(out, "nothing");
		return;
	}
	buf_add(out, e->tool.len ? e->tool.p : "-", e->tool.len ? e->tool.len : 1);
	buf_addf(out, " %s%s ", how[e->how], e->while_ran ? " while it ran" : "");
	if (e->file.len) {
		buf_add(out, e->file.data, e->file.len);
		buf_addf(out, ":%llu:%llu: ", (unsigned long long)e->file_line,
			 (unsigned long long)e->file_column);
	}
	buf_add(out, e->message.data, e->message.len);
}

/* Real messages */

static const struct sample {
	const char *name, *result;
	unsigned first, last;	/* lines of the message, from 1 */
	unsigned errors, warnings;
	bool own;		/* no task ran: it is the build tool's */
} samples[] = {
	{ "as", "gcc error a.s:2:0: bad register name `%zzz'", 1, 2, 3, 0, false },
	{ "asan", "sanitizer error /tmp/demo/asan/a.c:6:0: AddressSanitizer: heap-use-after-free on address 0x602000000014 at pc 0x55dd3e6421d6 bp 0x7ffdcb294ab0 sp 0x7ffdcb294aa8", 2, 18, 1, 0, false },
	{ "assert", "assert error a.c:3:0: Assertion `c == 7 && \"seven\"' failed.", 2, 2, 1, 0, false },
	{ "automake", "gcc error Makefile.am:2:0: Libtool library used but 'LIBTOOL' is undefined", 3, 7, 4, 0, false },
	{ "automake-check", "tests report print.sh", 1, 5, 0, 0, false },
	{ "automake-verbose", "tests report print.sh", 1, 5, 0, 0, false },
	{ "autoreconf", "gcc error configure.ac:4:0: possibly undefined macro: AC_NOTHING_KNOWN", 1, 3, 1, 0, false },
	{ "awk", "sh error line 2: missing } near end of file", 1, 1, 1, 0, false },
	{ "bash-cannot", "sh error gen.sh:1:0: absent.txt: No such file or directory", 1, 1, 3, 0, false },
	{ "bash-killed", "sh error gen.sh:2:0: Killed                  sh -c 'kill -9 $$'", 2, 2, 1, 0, false },
	{ "bash-notfound", "sh error gen.sh:2:0: absent-tool: command not found", 2, 2, 1, 0, false },
	{ "bash-segv", "sh error gen.sh:2:0: Segmentation fault      ./a", 2, 2, 1, 0, false },
	{ "bash-syntax", "sh error gen.sh:2:0: syntax error near unexpected token `)'", 1, 1, 2, 0, false },
	{ "bash-unset", "sh error gen.sh:2:0: DESTDIR: unbound variable", 1, 1, 1, 0, false },
	{ "bitbake-compile", "gcc error hello.c:5:9: 'count' undeclared (first use in this function)", 11, 15, 2, 1, false },
	{ "bitbake-fetch", "bitbake error Fetcher failure: Unable to find revision 1111111111111111111111111111111111111111 in branch main even from upstream", 3, 3, 2, 1, false },
	{ "bitbake-noprovider", "bitbake error Nothing PROVIDES 'helo'. Close matches:", 3, 3, 1, 0, true },
	{ "bitbake-python", "bitbake error /b/meta-demo/recipes-demo/hello/hello_1.0.bb:12:0: KeyError: 'hello'", 4, 14, 1, 0, false },
	{ "bison", "bison error a.y:3:0: symbol ‘B’ is used, but is not defined as a token and has no rules", 1, 3, 2, 0, false },
	{ "cargo", "rustc error src/main.rs:4:9: cannot find value `missing` in this scope", 2, 6, 2, 1, false },
	{ "cargo-link", "ld error src/main.rs:2:0: undefined symbol: helper", 6, 9, 1, 0, false },
	{ "cargo-link-bfd", "ld error /tmp/demo/cargo-link-bfd/src/main.rs:2:0: undefined reference to `helper'", 7, 8, 1, 0, false },
	{ "cargo-manifest", "rustc error failed to get `helper` as a dependency of package `demo v0.1.0 (/tmp/demo/cargo-manifest)`", 2, 14, 1, 1, false },
	{ "cargo-panic", "rustc error src/main.rs:4:21: index out of bounds: the len is 0 but the index is 3", 5, 7, 1, 0, false },
	{ "cargo-test", "rustc error src/lib.rs:5:14: assertion `left == right` failed: three is odd", 12, 16, 1, 0, false },
	{ "check-unit", "tests error check_twice.c:5:0: numbers:three:0: Assertion 'twice(3) == 7' failed: twice(3) == 6, 7 == 7", 3, 3, 2, 0, false },
	{ "clang", "gcc error shape.c:8:13: use of undeclared identifier 'missing'", 1, 3, 2, 2, false },
	{ "clang-include", "gcc error ./c.h:1:10: 'generated/config.h' file not found", 1, 3, 1, 0, false },
	{ "cmake-build", "gcc error /tmp/demo/cmake-build/src/main.c:1:25: ‘x’ undeclared (first use in this function)", 2, 6, 1, 0, false },
	{ "cmake-message", "cmake error CMakeLists.txt:3:0: Python is too old.", 1, 4, 1, 0, false },
	{ "cmake-ninja", "gcc error /tmp/demo/cmake-ninja/src/main.c:1:25: ‘x’ undeclared (first use in this function)", 4, 8, 1, 0, false },
	{ "cmake-nofile", "cmake error The source directory \"/tmp/demo/cmake-nofile\" does not appear to contain CMakeLists.txt.", 1, 1, 1, 0, false },
	{ "cmake-package", "cmake error CMakeLists.txt:4:0: By not providing \"FindNothing.cmake\" in CMAKE_MODULE_PATH this project has asked CMake to find a package configuration file provided by \"Nothing\", but CMake did not find one.", 5, 19, 1, 1, false },
	{ "cmake-syntax", "cmake error CMakeLists.txt:3:0: Parse error.  Function missing ending \")\".  End of file reached.", 1, 2, 1, 0, false },
	{ "cmake-target", "cmake error CMakeLists.txt:7:0: Unknown CMake command \"unknown_command\".", 7, 8, 1, 0, false },
	{ "configure", "configure error libnothing is required", 21, 21, 1, 0, false },
	{ "configure-cc", "configure error C compiler cannot create executables", 3, 5, 1, 0, false },
	{ "cp-nofile", "sh error cannot stat 'absent.h': No such file or directory", 1, 1, 1, 0, false },
	{ "ctest", "ctest report Test #2: print ............................***Failed    0.01 sec", 1, 5, 0, 0, false },
	{ "ctest-quiet", "ctest report Test #2: print ............................***Failed    0.01 sec", 1, 5, 0, 0, false },
	{ "curl", "program error Failed to connect to 127.0.0.1 port 1 after 0 ms: Couldn't connect to server", 1, 1, 1, 0, false },
	{ "cxx-throw", "assert error three tables are empty", 1, 2, 1, 0, false },
	{ "dash-segv", "sh error Segmentation fault", 2, 2, 1, 0, false },
	{ "denied", "sh error a: Permission denied", 1, 1, 5, 0, false },
	{ "denied-bash", "sh error gen.sh:1:0: c: Permission denied", 1, 1, 3, 0, false },
	{ "double-free", "assert error free(): double free detected in tcache 2", 1, 1, 1, 0, false },
	{ "eslint", "eslint error /tmp/demo/eslint/shape.js:3:9: 'c' is not defined                      no-undef", 4, 4, 2, 1, false },
	{ "flex", "flex error a.l:2:0: bad character class", 1, 1, 1, 0, false },
	{ "full-cat", "sh error cat: write error: No space left on device", 1, 1, 1, 0, false },
	{ "full-cp", "sh error cp: error writing '/dev/full': No space left on device", 1, 1, 2, 0, false },
	{ "full-dash", "sh error gen.sh:1:0: echo: echo: I/O error", 1, 1, 1, 0, false },
	{ "full-python", "python error OSError: [Errno 28] No space left on device", 1, 3, 1, 0, false },
	{ "full-tar", "sh error tar: /dev/full: Cannot write: No space left on device", 1, 1, 1, 0, false },
	{ "gcc", "gcc error shape.c:8:20: ‘missing’ undeclared (first use in this function)", 5, 8, 2, 6, false },
	{ "gcc-asm", "gcc error a.c:3:0: no such instruction: `frobnicate'", 1, 2, 1, 0, false },
	{ "gcc-colour", "gcc error shape.c:8:20: ‘missing’ undeclared (first use in this function)", 1, 5, 2, 1, false },
	{ "gcc-include", "gcc error c.h:1:10: generated/config.h: No such file or directory", 2, 6, 1, 0, false },
	{ "gcc-nofile", "gcc error nothing.c: No such file or directory", 1, 1, 1, 0, false },
	{ "gcc-note", "gcc error a.c:2:5: conflicting types for ‘f’; have ‘int(long int)’", 1, 6, 2, 0, false },
	{ "gcc-options", "gcc error unrecognized command-line option ‘--no-such-option’", 1, 1, 2, 0, false },
	{ "gcc-werror", "gcc error a.c:3:13: unused variable ‘b’ [-Werror=unused-variable]", 1, 4, 2, 0, false },
	{ "gfortran", "gcc error a.f90:4:13: Symbol ‘m’ at (1) has no IMPLICIT type", 1, 5, 2, 0, false },
	{ "gfortran-include", "gcc error a.f90:2:7: Cannot open module file ‘nothing.mod’ for reading at (1): No such file or directory", 1, 5, 1, 0, false },
	{ "git", "git error repository '/tmp/demo/absent.git' does not exist", 1, 1, 1, 0, false },
	{ "git-apply", "git error a:1:0: patch failed: a:1", 1, 1, 2, 0, false },
	{ "git-pathspec", "git error pathspec 'absent-branch' did not match any file(s) known to git", 1, 1, 1, 0, false },
	{ "gnat", "gcc error a.adb:2:19: expected type \"Standard.Integer\"", 2, 2, 3, 0, false },
	{ "go-build", "go error ./main.go:5:2: imported and not used: \"os\"", 2, 2, 3, 0, false },
	{ "go-module", "go error main.go:3:8: cannot find module providing package example.org/absent/lib: module lookup disabled by GOPROXY=off", 2, 2, 1, 0, false },
	{ "go-panic", "go error /tmp/demo/go-panic/main.go:5:0: runtime error: index out of range [3] with length 1", 2, 8, 1, 0, false },
	{ "go-test", "go error a_test.go:13:0: Twice(3) = 6, expected 7", 2, 2, 1, 0, false },
	{ "go-test-fail", "go error a_test.go:13:0: Twice(3) = 6, expected 7", 4, 4, 1, 0, false },
	{ "go-vet", "go error ./main.go:6:2: fmt.Printf format %d has arg \"three\" of wrong type string", 2, 2, 1, 0, false },
	{ "gold", "ld error main.c:0:0: undefined reference to 'helper'", 1, 1, 2, 0, false },
	{ "gtest", "tests error twice.cc:5:0: Expected equality of these values: twice(3) Which is: 6 7", 8, 12, 2, 0, false },
	{ "gxx", "gcc error a.cc:5:77: request for member ‘length’ in ‘((const box<int>*)this)->box<int>::value’, which is of non-class type ‘const int’", 1, 5, 1, 0, false },
	{ "gxx-long", "gcc error a.cc:11:19: no match for ‘operator<<’ (operand types are ‘std::ostream’ {aka ‘std::basic_ostream<char>’} and ‘point’)", 1, 7, 1, 0, false },
	{ "java-exception", "java error Run.java:7:0: java.lang.IllegalStateException: cannot run", 1, 5, 1, 0, false },
	{ "javac", "javac error Shape.java:5:0: incompatible types: int cannot be converted to String", 1, 3, 2, 0, false },
	{ "javac-package", "javac error A.java:1:0: package org.absent does not exist", 1, 1, 1, 0, false },
	{ "jest", "jest error twice.test.js:4:19: expect(received).toBe(expected) // Object.is equality", 5, 19, 1, 0, false },
	{ "ld-archive", "ld error main.c:0:0: undefined reference to `helper'", 1, 2, 2, 0, false },
	{ "ld-direct", "ld error main.c:0:0: undefined reference to `helper'", 2, 3, 2, 1, false },
	{ "ld-format", "ld error bad.o:1:0: syntax error", 1, 2, 1, 0, false },
	{ "ld-library", "ld error cannot find -lnothing: No such file or directory", 1, 1, 2, 0, false },
	{ "ld-multiple", "ld error two.c:0:0: multiple definition of `main'; main.o:main.c:(.text+0x0): first defined here", 1, 2, 2, 0, false },
	{ "ld-undefined", "ld error main.c:0:0: undefined reference to `helper'", 1, 2, 2, 0, false },
	{ "ld-undefined-g", "ld error /tmp/demo/ld-undefined-g/main.c:3:0: undefined reference to `helper'", 1, 2, 2, 0, false },
	{ "lld", "ld error undefined symbol: helper", 1, 3, 2, 0, false },
	{ "lld-undefined-g", "ld error /tmp/demo/lld-undefined-g/main.c:3:0: undefined symbol: helper", 1, 3, 2, 0, false },
	{ "lsan", "sanitizer error /tmp/demo/lsan/a.c:5:0: LeakSanitizer: detected memory leaks", 3, 8, 1, 0, false },
	{ "m4", "m4 error a.m4:2:0: cannot open `absent.m4': No such file or directory", 2, 2, 1, 0, false },
	{ "make-bash", "sh error cd: src: No such file or directory", 1, 1, 2, 0, false },
	{ "make-command", "make error asciidoc-nothing: No such file or directory", 2, 2, 1, 0, true },
	{ "make-error-func", "make error Makefile:3:0: run ./configure first.  Stop.", 2, 2, 1, 0, true },
	{ "make-error1", "- last list: 3 entries", 1, 3, 0, 0, false },
	{ "make-jobs", "gcc error a.c:1:9: ‘x’ undeclared here (not in a function)", 4, 6, 1, 0, false },
	{ "make-killed", "make report Killed", 2, 2, 0, 0, true },
	{ "make-norule", "make error No rule to make target 'util.o', needed by 'prog'.  Stop.", 2, 2, 1, 0, true },
	{ "make-norule-k", "make error No rule to make target 'util.o', needed by 'prog'.", 2, 2, 1, 0, true },
	{ "make-notargets", "make error No targets specified and no makefile found.  Stop.", 1, 1, 1, 0, true },
	{ "make-perm", "make error ./script.sh: Permission denied", 2, 2, 1, 0, true },
	{ "make-recursive", "sh error cd: can't cd to src", 4, 4, 1, 0, false },
	{ "make-segv", "make report Segmentation fault", 2, 2, 0, 0, true },
	{ "make-separator", "make error sub.mk:3:0: missing separator (did you mean TAB instead of 8 spaces?).  Stop.", 1, 1, 1, 0, true },
	{ "make-shell", "sh error frob: not found", 3, 3, 2, 0, false },
	{ "make-test", "assert error test.c:2:0: Assertion `3 + 3 == 7' failed.", 4, 4, 1, 0, false },
	{ "meson-error", "meson error meson.build:3:0: Dependency \"nothing-at-all\" not found, tried pkgconfig and cmake", 16, 16, 1, 1, true },
	{ "meson-syntax", "meson error meson.build:2:22: Expecting rparen got eof.", 7, 7, 1, 0, false },
	{ "meson-test", "tests report print FAIL            0.01s   exit status 1", 4, 5, 0, 0, false },
	{ "mocha", "node error test/twice.js:4:38: AssertionError [ERR_ASSERTION]: 6 == 7", 14, 21, 1, 0, false },
	{ "mold", "ld error undefined symbol: helper", 1, 3, 2, 0, false },
	{ "mold-library", "ld error library not found: nothing", 1, 1, 1, 0, false },
	{ "mold-multiple", "ld error duplicate symbol: two.o: main.o: main", 1, 1, 1, 0, false },
	{ "mvn", "maven error Plugin org.apache.maven.plugins:maven-resources-plugin:2.6 or one of its dependencies could not be resolved: Cannot access central (https://repo.maven.apache.org/maven2) in offline mode and the artifact org.apache.maven.plugins:maven-resources-plugin:jar:2.6 has not been downloaded from it before. -> [Help 1]", 1, 7, 1, 0, false },
	{ "nasm", "gcc error a.asm:3:0: parser: instruction expected", 1, 1, 2, 0, false },
	{ "ninja", "gcc error b.c:1:9: ‘c’ undeclared here (not in a function)", 5, 7, 1, 0, false },
	{ "ninja-missing", "ninja error 'b.c', needed by 'b.o', missing and no known rule to make it", 1, 1, 1, 0, true },
	{ "ninja-syntax", "ninja error build.ninja:3:0: unknown build rule 'ccc'", 1, 1, 1, 0, true },
	{ "node", "node error /tmp/demo/node/load.js:2:14: SyntaxError: Expected ',' or ']' after array element in JSON at position 5", 2, 14, 1, 0, false },
	{ "node-esm", "node error Error [ERR_MODULE_NOT_FOUND]: Cannot find module '/tmp/demo/node-esm/absent.mjs' imported from /tmp/demo/node-esm/a.mjs", 1, 15, 1, 0, false },
	{ "node-module", "node error /tmp/demo/node-module/a.js:1:11: Error: Cannot find module './absent'", 1, 19, 1, 0, false },
	{ "node-syntax", "node error /tmp/demo/node-syntax/a.js:2:0: SyntaxError: Unexpected token ';'", 1, 12, 1, 0, false },
	{ "node-throw", "node error /tmp/demo/node-throw/a.js:1:0: Error: three tables are empty", 1, 12, 1, 0, false },
	{ "node-type", "node error /tmp/demo/node-type/a.js:2:0: TypeError: Cannot read properties of undefined (reading 'length')", 1, 12, 1, 0, false },
	{ "npm", "- last 3 tables", 2, 5, 0, 0, false },
	{ "npm-fail", "sh error absent-tool: not found", 5, 5, 1, 0, false },
	{ "npm-script", "node error Missing script: \"absent\"", 1, 4, 1, 0, false },
	{ "objcopy", "sh error 'absent.elf': No such file", 1, 1, 7, 0, false },
	{ "out-of-memory", "python error /tmp/demo/oom/a.py:2:0: MemoryError", 1, 5, 2, 0, false },
	{ "patch", "patch error Hunk #1 FAILED at 1.", 2, 2, 1, 0, false },
	{ "perl", "perl error a.pl:6:0: cannot open list.txt: no such list at a.pl line 6.", 2, 2, 1, 1, false },
	{ "perl-module", "perl error Can't locate Absent/Module.pm in @INC (you may need to install the Absent::Module module) (@INC contains: /etc/perl /usr/local/lib/x86_64-linux-gnu/perl/5.36.0 /usr/local/share/perl/5.36.0 /usr/lib/x86_64-linux-gnu/perl5/5.36 /usr/share/perl5 /usr/lib/x86_64-linux-gnu/perl-base /usr/lib/x86_64-linux-gnu/perl/5.36 /usr/share/perl/5.36 /usr/local/lib/site_perl) at -e line 1.", 1, 1, 1, 0, false },
	{ "perl-syntax", "perl error a.pl:3:0: Global symbol \"$y\" requires explicit package name (did you forget to declare \"my $y\"?) at a.pl line 3.", 1, 1, 1, 0, false },
	{ "perl-warn", "perl error a.pl:4:0: Can't locate object method \"run\" via package \"HELPER\" (perhaps you forgot to load \"HELPER\"?) at a.pl line 4.", 2, 2, 1, 1, false },
	{ "pkg-config", "pkg-config error Package absent was not found in the pkg-config search path.", 1, 1, 2, 0, false },
	{ "protoc", "protoc error a.proto:2:40: Expected \";\".", 1, 1, 1, 0, false },
	{ "prove", "tests error t/twice.t:3:0: Failed test 'three'", 2, 5, 1, 0, false },
	{ "pytest", "pytest error test_a.py:12:0: assert 6 == 7", 14, 17, 2, 0, false },
	{ "pytest-collect", "pytest error test_a.py:1:0: ModuleNotFoundError: No module named 'absent_module'", 11, 15, 1, 0, false },
	{ "pytest-short", "pytest error test_a.py:3:0: AssertionError: three", 4, 7, 1, 0, false },
	{ "python", "python error /tmp/demo/python/load.py:10:0: RuntimeError: cannot load the list", 11, 27, 2, 0, false },
	{ "python-bare", "python error /usr/lib/python3.11/subprocess.py:571:0: subprocess.CalledProcessError: Command '['false']' returned non-zero exit status 1.", 3, 15, 1, 0, false },
	{ "python-chain", "python error /tmp/demo/python-chain/a.py:14:0: RuntimeError: cannot begin", 10, 26, 3, 0, false },
	{ "python-during", "python error /tmp/demo/python-during/a.py:5:0: AttributeError: 'dict' object has no attribute 'missing'", 1, 15, 2, 0, false },
	{ "python-exit", "- last gen: 3 tables are empty", 1, 1, 0, 0, false },
	{ "python-module", "python error ModuleNotFoundError: No module named 'nothing_here'", 1, 3, 1, 0, false },
	{ "python-nested", "python error /tmp/demo/python-nested/pkg/b.py:1:0: ModuleNotFoundError: No module named 'absent_module'", 1, 8, 1, 0, false },
	{ "python-nofile", "python error can't open file '/tmp/demo/python-nofile/gen.py': [Errno 2] No such file or directory", 1, 1, 1, 0, false },
	{ "python-syntax", "python error /tmp/demo/python-syntax/a.py:1:0: SyntaxError: expected ':'", 1, 4, 1, 0, false },
	{ "rust-overflow", "rustc error a.rs:3:7: called `Option::unwrap()` on a `None` value", 2, 4, 1, 0, false },
	{ "rust-syntax", "rustc error a.rs:2:13: expected expression, found `;`", 1, 5, 1, 0, false },
	{ "rustc", "rustc error a.rs:4:9: cannot find value `missing` in this scope", 1, 5, 2, 1, false },
	{ "scons", "scons error Source `missing.c' not found, needed by target `missing.o'.", 5, 5, 1, 0, false },
	{ "scons-python", "python error /tmp/demo/scons-python/SConstruct:2:0: AttributeError: 'SConsEnvironment' object has no attribute 'Programm':", 2, 4, 1, 0, false },
	{ "sed", "sh error -e expression #1, char 4: unterminated `s' command", 1, 1, 1, 0, false },
	{ "sh-cannot", "sh error gen.sh:1:0: cannot open absent.txt: No such file", 1, 1, 2, 0, false },
	{ "sh-nofile", "sh error cannot open gen.sh: No such file", 1, 1, 1, 0, false },
	{ "sh-notfound", "sh error gen.sh:3:0: absent-tool: not found", 2, 2, 1, 0, false },
	{ "sh-param", "- last gen.sh: 1: DESTDIR: is not set", 1, 1, 0, 0, false },
	{ "sh-syntax", "sh error gen.sh:3:0: Syntax error: end of file unexpected (expecting \"fi\")", 1, 1, 1, 0, false },
	{ "sh-unset", "sh error gen.sh:2:0: DESTDIR: parameter not set", 1, 1, 1, 0, false },
	{ "stack-smashing", "assert error stack smashing detected ***: terminated", 1, 1, 1, 0, false },
	{ "tap", "tests error t/twice.t:3:0: Failed test 'three'", 4, 7, 1, 0, false },
	{ "tsan", "sanitizer error /tmp/demo/tsan/a.c:8:0: ThreadSanitizer: data race (pid=24749)", 2, 13, 1, 0, false },
	{ "tsc", "tsc error shape.ts:4:21: TS2551: Property 'heigth' does not exist on type 'Shape'. Did you mean 'height'?", 1, 1, 2, 0, false },
	{ "tsc-pretty", "tsc error shape.ts:4:21: TS2551: Property 'heigth' does not exist on type 'Shape'. Did you mean 'height'?", 1, 8, 2, 0, false },
	{ "ubsan", "sanitizer error a.c:6:4: runtime error: signed integer overflow: 2147483647 + 1 cannot be represented in type 'int'", 1, 1, 1, 0, false },
	{ "unittest", "python error /tmp/demo/unittest/test_a.py:11:0: NameError: name 'missing' is not defined", 3, 9, 2, 0, false },
	{ "valgrind", "valgrind error a.c:6:0: Invalid read of size 4", 1, 8, 1, 0, false },
	{ "valgrind-full", "valgrind error a.c:5:0: 24 bytes in 1 blocks are definitely lost in loss record 1 of 1", 11, 13, 1, 0, false },
	{ "valgrind-uninit", "valgrind error a.c:1:0: Conditional jump or move depends on uninitialised value(s)", 1, 2, 1, 0, false },
	{ "xmllint", "gcc error a.xml:1:0: Opening and ending tag mismatch: b line 1 and a", 1, 1, 2, 0, false },
};

TEST_EACH(sample, samples)
{
	const struct sample *s = &samples[_i];
	RELEASED(buf, text = BUF_INIT, got = BUF_INIT, expected = BUF_INIT);
	RELEASED(found, f = { 0 });
	const struct first_error *e;

	support_read(&text, support_path(TOP_SRCDIR "/tests/data/messages/%s.txt", s->name));
	find(&f, FAILED_BUILD, s->own ? OPEN : FAILED_TASK, (struct slice){ text.data, text.len }, NULL);
	e = first_error_of_build(&f.f);
	describe(&got, e);
	buf_addf(&got, "\nlines %u to %u, %u errors, %u warnings", e ? (unsigned)e->first + 1 : 0,
		 e ? (unsigned)e->last + 1 : 0, (unsigned)f.f.all_errors, (unsigned)f.f.all_warnings);
	buf_addf(&expected, "%s\nlines %u to %u, %u errors, %u warnings", s->result, s->first, s->last,
		 s->errors, s->warnings);
	ck_assert_str_eq(buf_str(&got), buf_str(&expected));
	ck_assert(e && !memcmp(e->number, (uint64_t[]){ e->first }, sizeof *e->number));
	ck_assert_uint_eq(s->own ? 0 : f.f.n_errors[0], s->own ? 0 : s->errors);
}

/* Messages of tools that are not everywhere. */
static const struct { const char *text, *result; } texts[] = {
	{ "ERROR: a-1.0-r0 do_compile: oe_runmake failed\n"
	  "ERROR: Logfile of failure stored in: /b/temp/log.do_compile.9\nLog data follows:\n"
	  "| DEBUG: Executing shell function do_compile\n| a.c:3:9: error: unknown type name 'uint'\n"
	  "|     3 | uint x;\nERROR: Task (/r/a_1.0.bb:do_compile) failed with exit code '1'\n",
	  "gcc error a.c:3:9: unknown type name 'uint'" },
	{ "ERROR: a-1.0-r0 do_fetch: Fetcher failure for URL: 'git://h/a'. Unable to fetch URL from any source.\n"
	  "ERROR: Task (/r/a_1.0.bb:do_fetch) failed with exit code '1'\n",
	  "bitbake error Fetcher failure for URL: 'git://h/a'. Unable to fetch URL from any source." },
	{ "ERROR: ParseError at /r/a_1.0.bb:7: unparsed line: 'x'\n", "bitbake error /r/a_1.0.bb:7:0: unparsed line: 'x'" },
	{ "WARNING: a-1.0-r0 do_package: x\nERROR: Nothing PROVIDES 'b'\n", "bitbake error Nothing PROVIDES 'b'" },
	{ "[INFO] BUILD FAILURE\n[ERROR] COMPILATION ERROR : \n[ERROR] /t/A.java:[3,8] cannot find symbol\n"
	  "[ERROR]   symbol: class B\n", "maven error /t/A.java:3:8: cannot find symbol" },
	{ "e: file:///t/A.kt:3:8 Unresolved reference: b\n", "gradle error /t/A.kt:3:8: Unresolved reference: b" },
	{ "FAILURE: Build failed with an exception.\n\n* What went wrong:\nExecution failed for task ':a'.\n"
	  "> there is no list\n", "gradle error there is no list" },
	{ "not ok 2 - later # TODO\nnot ok 3 - three\n", "tests report 3 - three" },
	{ "fatal error: x\nCompiler: 3\nfoo: fatal: no list\n", "program error no list" },
	{ "ERROR: three lists are empty\n", "program error three lists are empty" },
	/* the place of the block before is not this one's */
	{ "In file included from a.h:1:\nb.h:2:3: warning: x\nnothing\nTraceback (most recent call last):\nValueError: y\n",
	  "python error ValueError: y" },
	{ "  File \"a.py\", line 3\nnothing\nx\ny\nz\nv\nValueError: y\n", "python error ValueError: y" },
	/* an error behind another one takes its place, however often; one without a message does not */
	{ "Traceback (most recent call last):\nKeyError: 1\n\nDuring handling of the above exception, another exception "
	  "occurred:\n\nTraceback (most recent call last):\n  File \"a.py\", line 3, in f\nValueError: y\nx\nOtherError: z\n",
	  "python error a.py:3:0: ValueError: y" },
	{ "KeyError: 1\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent "
	  "call last):\nodd\n", "python error KeyError: 1" },
	{ "a.c:3: error: x\nThe above exception was the direct cause of the following exception:\nValueError: y\n",
	  "gcc error a.c:3:0: x" },
	/* only the next line can be any text, and not that of another message */
	{ "thread 'main' panicked at a.rs:1:2:\n  left: 1\nx\n", "rustc error a.rs:1:2: thread 'main' panicked at a.rs:1:2:" },
	{ "a.cc:1: Failure\nb.cc:2: Failure\n", "tests error a.cc:1:0: a.cc:1: Failure" },
	/* a report without a reason, and lines around it */
	{ "odd-ld: no list\ncollect2: error: ld returned 1 exit status\n",
	  "ld report collect2: error: ld returned 1 exit status" },
	/* that names what failed, in whatever order two outputs were read; an error counts more */
	{ "Errors while running CTest\n1/2 Test #1: a ...***Failed    0.00 sec\n2/2 Test #2: b ...***Failed    0.00 sec\n",
	  "ctest report Test #1: a ...***Failed    0.00 sec" },
	{ "Errors while running CTest\na.c:3: error: x\n1/2 Test #1: a ...***Failed    0.00 sec\n", "gcc error a.c:3:0: x" },
	/* only what a terminal shows; with colours */
	{ "10 %\rerror: later\r\033[1ma.c:3:\033[0m\033[31m error:\033[m x\r\n", "gcc error a.c:3:0: x" },
};

TEST_EACH(text, texts)
{
	RELEASED(buf, got = BUF_INIT);
	RELEASED(found, f = { 0 });

	find(&f, FAILED_BUILD, FAILED_TASK, (struct slice){ texts[_i].text, strlen(texts[_i].text) }, NULL);
	describe(&got, first_error_of_build(&f.f));
	ck_assert_str_eq(buf_str(&got), texts[_i].result);
}

/* The command of a task is no message. */
TEST(command)
{
	RELEASED(buf, got = BUF_INIT);
	RELEASED(found, f = { 0 });
	static const char text[] = "echo a.c:1: error: x\nlast words\n";

	find(&f, FAILED_BUILD, OPEN "start\t1000\tm.1\t11\t\t\tall\t\techo a.c:1: error: x\n"
	     "fail\t950000\tm.1\t1\t0\t0\t100\n", (struct slice){ text, strlen(text) },
	     "500 100 12 21\n900000 100 12 32\n");
	describe(&got, first_error_of_build(&f.f));
	ck_assert_str_eq(buf_str(&got), "- last last words");
	ck_assert_str_eq(buf_str(&f.f.of[0].text), "last words\n");
	ck_assert_uint_eq(f.f.all_errors, 0);
}

/* Lines of messages */

static const struct { const char *text, *lines; } blocks[] = {
	{ "1\n2\n3\n4\n5\n6\n\n7\n8\n9\nmake: *** [Makefile:3: all] Error 1\n", "2\n3\n4\n5\n6\n\n7\n8\n9\n" },
	{ "1\n2\n3\n4\n5\n6\n7\n8\n9\n  CC all.o\n", "2\n3\n4\n5\n6\n7\n8\n9\n" },
	{ "1\n2\n3\n", "1\n2\n3\n" },
	{ "1\n2\n3\n4\n5\ncollect2: error: ld returned 1 exit status\n6\n7\n8\n9\n",
	  "2\n3\n4\n5\ncollect2: error: ld returned 1 exit status\n6\n7\n8\n" },
	{ "x\na.c:1: error: y\nb\nc\nd\ne\n", "a.c:1: error: y\nb\nc\nd\n" },
	{ "a.c:1: error: y\n 1\n 2\n 3\nb\n", "a.c:1: error: y\n 1\n 2\n 3\n" },
	{ "a.c:1: error: y\n 1\nb\nmake: *** [Makefile:3: all] Error 1\n", "a.c:1: error: y\n 1\nb\n" },
};

TEST_EACH(block, blocks)
{
	RELEASED(found, f = { 0 });

	find(&f, FAILED_BUILD, FAILED_TASK, (struct slice){ blocks[_i].text, strlen(blocks[_i].text) }, NULL);
	ck_assert(first_error_of_build(&f.f) == &f.f.of[0]);
	ck_assert_str_eq(buf_str(&f.f.of[0].text), blocks[_i].lines);
}

/* However many lines are before it, or behind it, the message is among those that are kept. */
TEST(long_block)
{
	RELEASED(buf, text = BUF_INIT);
	RELEASED(found, f = { 0 });

	buf_adds(&text, "Traceback (most recent call last):\n");
	for (int i = 0; i < 100; i++)
		buf_addf(&text, "  File \"a.py\", line %d\n    f()\n", i);
	buf_adds(&text, "ValueError: x\n");
	for (int i = 0; i < 100; i++)
		buf_addf(&text, "  %d\n", i);
	find(&f, FAILED_BUILD, FAILED_TASK, (struct slice){ text.data, text.len }, NULL);
	ck_assert_uint_eq(f.f.of[0].n_lines, FIRST_ERROR_LINES);
	ck_assert_ptr_nonnull(strstr(buf_str(&f.f.of[0].text), "    f()\nValueError: x\n  0\n"));
	ck_assert_uint_eq(f.f.of[0].file_line, 99);
}

/* Lines of no task, as if standard error was read first. */
TEST(two_outputs)
{
	static const char text[] = "Errors while running CTest\n2/2 Test #2: bad ...***Failed    0.00 sec\n"
				   "The following tests FAILED:\n";
	RELEASED(buf, got = BUF_INIT);
	RELEASED(found, f = { 0 });

	find(&f, FAILED_BUILD, OPEN, slice_of(text), NULL);
	describe(&got, first_error_of_build(&f.f));
	ck_assert_str_eq(buf_str(&got), "ctest report Test #2: bad ...***Failed    0.00 sec");
}

/* A message in many lines is not taken whole. */
TEST(long_message)
{
	RELEASED(buf, text = BUF_INIT);
	RELEASED(found, f = { 0 });

	buf_adds(&text, "CMake Error at a.txt:1:\n");
	for (int i = 0; i < 100; i++)
		buf_adds(&text, "  several words\n");
	find(&f, FAILED_BUILD, FAILED_TASK, (struct slice){ text.data, text.len }, NULL);
	ck_assert_uint_eq(f.f.of[0].message.len, 14 * strlen("several words ") + strlen("several words"));
}

/* Several tasks */

#define TWO OPEN "start\t10\tm.1\t11\t\t\ta\t\tsh a\nstart\t20\tm.2\t12\t\t\tb\t\tsh b\n"
#define MAKE_SAYS "make: *** [Makefile:3: b] Error 1\n"

static const struct { const char *tasks, *text, *index, *result; } builds[] = {
	/* of no task, in the last second before the end of the failed one */
	{ TWO "fail\t5000000\tm.2\t1\t0\t0\t100\ndone\t9000000\tm.1\t0\t0\t0\t100\n",
	  "a.c:1: error: early\na.c:2: error: x\nz\n" MAKE_SAYS, "3000000 100 12 20\n4500000 100 12 36\n5000100 100 12 72\n",
	  "gcc error while it ran a.c:2:0: x" },
	{ TWO "fail\t5000000\tm.2\t1\t0\t0\t100\ndone\t9000000\tm.1\t0\t0\t0\t100\n",
	  "a.c:1: error: early\nz\n" MAKE_SAYS "a.c:1: error: late\n",
	  "3000000 100 12 20\n4500000 100 12 22\n5000100 100 12 56\n7000000 100 12 75\n",
	  "make report Error 1" },
	/* the build tool's own */
	{ OPEN "start\t10\tm.1\t11\t\t\ta\t\tsh a\ndone\t100\tm.1\t0\t0\t0\t100\n",
	  "a\nmake: *** No rule to make target 'b', needed by 'all'.  Stop.\n", "900000 100 12 64\n",
	  "make error No rule to make target 'b', needed by 'all'.  Stop." },
	{ OPEN "start\t10\tm.1\t11\t\t\ta\t\tsh a\ndone\t100\tm.1\t0\t0\t0\t100\n", "a\n", "900000 100 12 2\n", "nothing" },
	/* nothing is known of the failed one, but make says what ended it */
	{ OPEN TASK "fail\t500\tm.1\t137\t0\t0\t100\n", "make[1]: *** [Makefile:3: all] Killed\nmake: *** [sub] Error 2\n",
	  "900000 100 12 64\n", "make report Killed" },
	/* and what it wrote says more */
	{ OPEN TASK "fail\t500\tm.1\t1\t0\t0\t100\n", "x\nmake: *** [Makefile:3: all] Error 1\n", "400 100 12 2\n900000 100 12 39\n",
	  "- last x" },
	/* but not than what killed it, unless it ended itself */
	{ OPEN TASK "kill\t500\tm.1\t9\t0\t0\t100\n", "x\nmake: *** [Makefile:3: all] Killed\n", "400 100 12 2\n900000 100 12 36\n",
	  "make report Killed" },
	{ OPEN TASK "kill\t500\tm.1\t11\t0\t0\t100\n", "x\nmake: [Makefile:3: all] Segmentation fault (core dumped) (ignored)\n",
	  "400 100 12 2\n900000 100 12 66\n", "- last x" },
	{ OPEN TASK "kill\t500\tm.1\t11\t0\t0\t100\n", "x\nmake: *** [Makefile:3: all] Segmentation fault (core dumped)\n",
	  "400 100 12 2\n900000 100 12 62\n", "make report Segmentation fault (core dumped)" },
	{ OPEN TASK "kill\t500\tm.1\t6\t0\t0\t100\n", "x\nmake: *** [Makefile:3: all] Aborted\n", "400 100 12 2\n900000 100 12 37\n",
	  "- last x" },
	{ TWO "kill\t5000000\tm.2\t9\t0\t0\t100\ndone\t9000000\tm.1\t0\t0\t0\t100\n",
	  "a.c:1: error: x\nmake: *** [Makefile:3: b] Killed\n", "4500000 100 12 16\n5000100 100 12 50\n", "make report Killed" },
	/* the place is of another tool's message */
	{ TWO "fail\t5000000\tm.2\t1\t0\t0\t100\ndone\t9000000\tm.1\t0\t0\t0\t100\n",
	  "In file included from a.h:1:\n  3:9  error  x\n  4:9  error  y\n", "3000000 100 12 45\n4500000 100 12 61\n",
	  "eslint error while it ran y" },
	/* a task that runs a build tool fails because of others */
	{ OPEN TASK "open\t20\tn\t12\t1\t12,11\tmake\t4.3\t/t\tmake\nstart\t30\tn.1\t13\t\t\tb\t\tsh b\n"
	  "fail\t800000\tn.1\t1\t0\t0\t100\nfail\t950000\tm.1\t2\t0\t0\t100\n", "a.c:2: error: x\n", "700000 100 12 16\n",
	  "gcc error a.c:2:0: x" },
};

TEST_EACH(build, builds)
{
	RELEASED(buf, got = BUF_INIT);
	RELEASED(found, f = { 0 });

	find(&f, "end_us: 9000000\nstatus: 2\n", builds[_i].tasks,
	     (struct slice){ builds[_i].text, strlen(builds[_i].text) }, builds[_i].index);
	describe(&got, first_error_of_build(&f.f));
	ck_assert_str_eq(buf_str(&got), builds[_i].result);
}

/* Without memory at any allocation there is an error, or it was not for this. */
TEST_EACH(nth_fails, builds)
{
	struct slice text = slice_of(builds[_i].text);
	RELEASED(found, f = { 0 });
	bool failed = true;
	long n = 0;

	find(&f, "end_us: 9000000\nstatus: 2\n", builds[_i].tasks, text, builds[_i].index);
	for (; failed; n++) {
		RELEASED(buf, got = BUF_INIT);
		int r;

		first_errors_release(&f.f);
		nomem_after(n);
		r = first_errors_find(&f.f, f.o, &f.tasks, &f.r.sum);
		failed = nomem_failed();
		nomem_after(-1);
		describe(&got, r ? NULL : first_error_of_build(&f.f));
		ck_assert_msg(r ? failed && r == -ENOMEM : !strcmp(buf_str(&got), builds[_i].result), "%ld: %d %s", n,
			      r, buf_str(&got));
	}
	ck_assert_int_gt(n, 4);
}

TEST_MAIN(first_error);
