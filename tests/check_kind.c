/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "command/kind.h"
#include "command/shell.h"
#include "tests/support.h"

static const struct { const char *kind, *command; } cases[] = {
	{ "compile", "gcc -O2 -c -o a.o a.c" },
	{ "compile", "@gcc -c a.c" },
	{ "compile", "cc    -c -o hello.o hello.c" },
	{ "compile", "x86_64-linux-gnu-gcc-12 -Wall -c x.c -o x.o" },
	{ "compile", "/opt/arm/bin/arm-none-eabi-g++ -mthumb -c main.cpp" },
	{ "compile", "/usr/bin/clang++-15 -c a.cc" },
	{ "compile", "ccache distcc gcc -c a.c" },
	{ "compile", "CCACHE_DIR=/tmp/c LANG=C ccache gcc -g -c a.c" },
	{ "compile", "env -u FOO BAR=1 gcc -c a.c" },
	{ "compile", "nice -n 10 gcc -c a.c" },
	{ "compile", "buildbeat span check -- gcc -c a.c" },
	{ "compile", "/opt/bin/buildbeat task a.o -- gcc -c a.c" },
	{ "compile", "time -p timeout -k 5 60 gcc -c a.c" },
	{ "compile", "cd src && gcc -c a.c" },
	{ "compile", "mkdir -p obj && gcc -c -o obj/a.o a.c" },
	{ "compile", "echo '  CC  a.o'; gcc -c a.c" },
	{ "compile", "set -e; gcc -MMD -c a.c; mv -f a.d .deps/" },
	{ "compile", "depbase=`echo src/a.o | sed 's|[^/]*$|.deps/&|;s|\\.o$||'`;\\\n"
		     "gcc -DHAVE_CONFIG_H -I. -MT src/a.o -MD -MP -c -o src/a.o src/a.c &&\\\n"
		     "mv -f $depbase.Tpo $depbase.Po" },
	{ "compile", "/bin/bash ./libtool  --tag=CC   --mode=compile gcc -c -o a.lo a.c" },
	{ "compile", "sh -c 'gcc -c a.c'" },
	{ "compile", "/bin/sh -ec \"cd x && cc -c a.c\"" },
	{ "compile", "gcc -S a.c" },
	{ "compile", "gcc -E a.c > a.i" },
	{ "compile", "gcc -MM a.c" },
	{ "compile", "gcc -o hello hello.c -lm" },
	{ "compile", "as -o start.o start.s" },
	{ "compile", "nasm -f elf64 boot.asm" },
	{ "compile", "rustc --crate-name x src/main.rs" },
	{ "compile", "javac -d out A.java" },
	{ "compile", "gfortran -c -o a.o a.f90" },
	{ "compile", "if test -f a.c; then gcc -c a.c; fi" },
	{ "compile", "for f in a b; do gcc -c $f.c; done" },
	{ "compile", "( cd x; gcc -c a.c )" },
	{ "compile", "gcc -DX='a;b' -c a.c" },
	{ "compile", "\"/opt/my tools/gcc\" -c a.c" },
	{ "link", "gcc -o prog a.o b.o -lm" },
	{ "link", "gcc -v -o prog a.o" },
	{ "link", "gcc @objects.rsp -o prog" },
	{ "link", "ld -v -o prog a.o" },
	{ "link", "ld -V -T x.ld a.o >log" },
	{ "archive", "ar -v -r libx.a a.o" },
	{ "compile", "gcc -v -c a.c" },
	{ "compile", "gcc -fsyntax-only a.c" },
	{ "compile", "gcc -M a.c" },
	{ "compile", "gcc -E -dM -x c /dev/null" },
	{ "compile", "rustc -v src/main.rs" },
	{ "compile", "gcc -c a.c && gcc --version" },
	{ "link", "gcc --version; gcc -o prog a.o" },
	{ "make", "cargo build --release -v" },
	{ "make", "make -v -j4 all" },
	/* Programs that only answer questions. */
	{ "other", "gcc --version" },
	{ "other", "gcc -v" },
	{ "other", "gcc -v 2>&1" },
	{ "other", "x86_64-linux-gnu-gcc-12 -dumpmachine" },
	{ "other", "gcc -dumpversion >/dev/null" },
	{ "other", "gcc -dumpspecs" },
	{ "other", "gcc -print-file-name=libc.so" },
	{ "other", "gcc -m32 -print-multi-lib" },
	{ "other", "clang --print-target-triple" },
	{ "other", "gcc -### -c a.c" },
	{ "other", "gcc -### a.o -o a" },
	{ "other", "gcc --help=optimizers" },
	{ "other", "g++ --help" },
	{ "other", "ccache gcc --version" },
	{ "other", "ld --version" },
	{ "other", "ld -v" },
	{ "other", "ld.lld --version 2>/dev/null" },
	{ "other", "ar --version" },
	{ "other", "ar -V" },
	{ "other", "as --version" },
	{ "other", "ranlib --version" },
	{ "other", "objcopy --version" },
	{ "other", "rustc -vV" },
	{ "other", "rustc --version --verbose" },
	{ "other", "rustc --print cfg" },
	{ "other", "javac -version" },
	{ "other", "cargo -V" },
	{ "other", "cargo version" },
	{ "other", "cargo metadata --format-version 1" },
	{ "other", "go version" },
	{ "other", "go env GOROOT" },
	{ "other", "make --version" },
	{ "other", "ninja --version" },
	{ "other", "cmake --version" },
	{ "other", "meson --version" },
	{ "other", "python3 --version" },
	{ "other", "python3 -V" },
	{ "link", "gcc a.o -o prog; python3 -c 'print()'" },
	{ "link", "g++ -shared -o libx.so a.o" },
	{ "link", "x86_64-linux-gnu-ld -r -o built-in.o a.o" },
	{ "link", "ld.lld -o vmlinux a.o" },
	{ "link", "/bin/bash ../libtool --tag=CC --mode=link gcc -o libx.la a.lo" },
	{ "link", "objcopy -O binary a.elf a.bin" },
	{ "link", "aarch64-linux-gnu-strip --strip-debug x.ko" },
	{ "archive", "ar rcs libx.a a.o" },
	{ "archive", "rm -f libx.a && gcc-ar cr libx.a a.o && ranlib libx.a" },
	{ "archive", "llvm-ar-15 rcs libx.a a.o" },
	{ "make", "make -C sub all" },
	{ "make", "cd sub && make all" },
	{ "make", "/usr/bin/gmake -j4" },
	{ "make", "for d in a b; do make -C $d || exit 1; done" },
	{ "make", "+ninja -C build" },
	{ "make", "cmake --build build -j8" },
	{ "make", "meson compile -C b" },
	{ "make", "cargo build --release" },
	{ "configure", "./configure --prefix=/usr" },
	{ "configure", "CC=gcc CFLAGS='-O2 -c' sh ../configure -q" },
	{ "configure", "/bin/bash ./config.status Makefile" },
	{ "configure", "cmake -S . -B build" },
	{ "configure", "meson setup build" },
	{ "configure", "autoreconf -fi" },
	{ "test", "/bin/bash ./build-aux/test-driver --test-name a --log-file a.log -- ./a" },
	{ "test", "ctest -j4" },
	{ "test", "python3 -m pytest tests" },
	{ "test", "pytest-3 -q" },
	{ "test", "./tests/check_field" },
	{ "test", "cargo test" },
	{ "document", "doxygen Doxyfile" },
	{ "document", "makeinfo --html x.texi" },
	{ "document", "groff -man -Tutf8 x.1 > x.txt" },
	{ "document", "pandoc -o x.html x.md" },
	{ "generate", "bison -y -d parse.y" },
	{ "generate", "flex -o lex.c lex.l" },
	{ "generate", "/usr/lib/qt5/bin/moc a.h -o moc_a.cpp" },
	{ "generate", "protoc --cpp_out=. a.proto" },
	{ "generate", "sed -e 's/@x@/y/' < a.in > a.h" },
	{ "generate", "sed 's/a/b/' x >y; mv y z" },
	{ "generate", "awk -f opt.awk options.txt > options.h" },
	{ "generate", "python3 gen.py > table.c" },
	{ "generate", "cat a b > c" },
	{ "generate", "m4 x.m4" },
	{ "script", "python3.11 gen.py table.c" },
	{ "script", "perl -w tool.pl in out" },
	{ "script", "sh scripts/link-vmlinux" },
	{ "script", "./scripts/mkcompile.sh x" },
	{ "install", "/usr/bin/install -c -m 644 a.h /usr/include" },
	{ "install", "mkdir -p /tmp/x && install -m 644 a /tmp/x" },
	{ "install", "/sbin/ldconfig -n /usr/lib" },
	{ "install", "depmod -a 6.1" },
	{ "shell", "mkdir -p /tmp/x" },
	{ "shell", "cp a b" },
	{ "shell", "mv -f tmp obj" },
	{ "shell", "ln -sf a b; echo done" },
	{ "shell", "chmod a-w $@ && mv $@.tmp $@" },
	{ "compile", "gcc -MT a.o -MF .deps/a.Tpo -c -o a.o a.c && mv -f .deps/a.Tpo .deps/a.Po" },
	{ "generate", "sed s/a/b/ x.in >x.tmp; mv x.tmp x" },
	{ "archive", "rm -f l.a; ar cDPrST l.a a.o; mv l.a m.a" },
	{ "shell", "echo hello" },
	{ "shell", "@echo '  gcc -c a.c'" },
	{ "shell", "true" },
	{ "shell", ":" },
	{ "shell", "test -f x || touch x" },
	{ "shell", "[ -d x ]" },
	{ "shell", "rm -f *.o" },
	{ "shell", "grep -q x y 2>/dev/null" },
	{ "shell", "cat x >&2" },
	{ "shell", "if true; then exit 1; fi" },
	{ "other", "./my-generator -o x.c" },
	{ "other", "mkdir -p d; ./my-generator > d/x" },
	{ "other", "" },
	{ "other", "   " },
	{ "other", "X=1" },
	{ "other", "/" },
	{ "other", "'unclosed" },
	{ "other", "\"" },
	{ "other", "`" },
	{ "other", "a\\" },
	{ "shell", "sh -c \"sh -c 'sh -c sh'\"" },
	{ "shell", "env" },
	{ "shell", "env -u" },
	{ "shell", "(((do......." },
	{ "shell", "env then" },
	{ "compile", "gcc -c" },
	{ "link", "gcc" },
};

static const char *kind_of(const char *command)
{
	return kind_of_command(command, strlen(command));
}

TEST_EACH(by_text, cases)
{
	ck_assert_msg(!strcmp(kind_of(cases[_i].command), cases[_i].kind),
		      "%s: %s, not %s", cases[_i].command, kind_of(cases[_i].command),
		      cases[_i].kind);
}

/* Every program of the table is found: the table is sorted. */
TEST(one_of_each)
{
	static const char *const shell[] = { ".", ":", "[", "basename", "cd", "cmp", "date",
		"diff", "echo", "exit", "export", "expr", "false", "find", "gzip", "ls",
		"printf", "pwd", "read", "return", "rm", "rmdir", "set", "shift", "sleep",
		"tee", "test", "touch", "trap", "true", "umask", "uname", "unset", "wait" };
	static const char *const document[] = { "asciidoc", "asciidoctor", "doxygen",
		"groff", "help2man", "javadoc", "latex", "latexmk", "makeinfo", "mandoc",
		"nroff", "pandoc", "pdflatex", "pod2man", "rst2man", "rustdoc",
		"sphinx-build", "texi2any", "texi2dvi", "texi2pdf", "troff", "xelatex", "xmlto" };
	static const char *const generate[] = { "bison", "cython", "flatc", "flex",
		"glib-compile-resources", "glib-genmarshal", "glib-mkenums", "gperf",
		"intltool-merge", "lex", "m4", "moc", "msgfmt", "protoc", "rcc", "uic", "valac",
		"wayland-scanner", "xgettext", "xsltproc", "yacc" };

	for (size_t i = 0; i < ARRAY_SIZE(shell); i++)
		ck_assert_msg(!strcmp(kind_of(shell[i]), "shell"), "%s", shell[i]);
	for (size_t i = 0; i < ARRAY_SIZE(document); i++)
		ck_assert_msg(!strcmp(kind_of(document[i]), "document"), "%s", document[i]);
	for (size_t i = 0; i < ARRAY_SIZE(generate); i++)
		ck_assert_msg(!strcmp(kind_of(generate[i]), "generate"), "%s", generate[i]);
}

static const struct { const char *kind, *task; } oe_cases[] = {
	{ "fetch", "do_fetch" }, { "unpack", "do_unpack" }, { "patch", "do_patch" },
	{ "configure", "do_configure" }, { "configure", "do_configure_ptest_base" },
	{ "configure", "do_kernel_configme" }, { "compile", "do_compile" },
	{ "compile", "do_compile_kernelmodules" }, { "install", "do_install" },
	{ "install", "do_deploy" }, { "sysroot", "do_populate_sysroot" },
	{ "sysroot", "do_prepare_recipe_sysroot" }, { "package", "do_package" },
	{ "package", "do_packagedata" }, { "package", "do_package_write_rpm" },
	{ "test", "do_package_qa" }, { "test", "do_testimage" },
	{ "document", "do_populate_lic" }, { "document", "do_create_spdx" },
	{ "image", "do_rootfs" }, { "image", "do_image_ext4" },
	{ "image", "do_populate_sdk_ext" }, { "setscene", "do_populate_sysroot_setscene" },
	{ "setscene", "do_package_qa_setscene" }, { "clean", "do_rm_work" },
	{ "other", "do_compiler_things" }, { "other", "compile" }, { "other", "do_" },
	{ "other", "" }, { "other", "_setscene" },
};

TEST_EACH(of_oe_task, oe_cases)
{
	const char *task = oe_cases[_i].task;
	const char *kind = kind_of_oe_task(task, strlen(task));

	ck_assert_msg(!strcmp(kind, oe_cases[_i].kind), "%s: %s", task, kind);
}

static const struct { const char *word, *quoted; } words[] = {
	{ "plain-1.0/x=y", "plain-1.0/x=y" }, { "", "''" }, { "two words", "'two words'" },
	{ "it's", "'it'\\''s'" }, { "a\\\"$x;b|c\n", "'a\\\"$x;b|c\n'" },
};

TEST_EACH(quoted_words, words)
{
	const char *word = words[_i].word;
	char *const argv[] = { (char *)"true", (char *)word, (char *)"end", NULL };
	RELEASED(buf, line = BUF_INIT, plain = BUF_INIT);
	struct slice found[4];
	struct cursor c;
	size_t n = 0;

	shell_quote_words(&line, argv);
	cursor_init(&c, buf_str(&line), line.len);
	while (n < 4 && shell_word(&c, &found[n]))
		n++;
	ck_assert_uint_eq(n, 3);
	ck_assert_msg(slice_is(found[1], words[_i].quoted), "%s", line.data);
	shell_add_plain(&plain, found[1]);
	ck_assert_str_eq(buf_str(&plain), word);
}

TEST(plain_words)
{
	static const char typed[] = "a\\ b\"c\\$d\\e\"'\\'", *plain = "a bc$d\\e\\";
	RELEASED(buf, b = BUF_INIT);

	shell_add_plain(&b, slice_of(typed));
	ck_assert_str_eq(buf_str(&b), plain);
}

/* Tables made of the list are searched by halves. */
static const struct {
	const char *command, *program;
} program_cases[] = {
	{ "", "" }, { "gcc -c a.c", "gcc" }, { "@CC=x /usr/bin/cc -o a a.o", "cc" },
	{ "cd sub && ccache x86_64-linux-gnu-gcc-12 -c a.c && rm b", "x86_64-linux-gnu-gcc-12" },
	{ "/bin/sh -c 'python3 gen.py > a.h'", "python3" }, { "sh ./libtool --mode=link gcc a.o", "libtool" },
	{ "env A=b timeout 5 ./run-this", "run-this" }, { "echo a; ar rcs x.a b.o; echo b", "ar" },
	{ "( exit 1 )", "exit" }, { "A=b", "" },
};

TEST_EACH(programs, program_cases)
{
	const char *command = program_cases[_i].command;
	struct slice program;

	ck_assert_str_eq(kind_and_program(command, strlen(command), &program),
			 kind_of_command(command, strlen(command)));
	ck_assert_msg(slice_is(program, program_cases[_i].program), "%.*s", (int)program.len,
		      program.p);
}

/* Whatever begins with a compiler and passes for a compilation is one. */
TEST(compilations)
{
	static const char *const word[] = { "gcc", "/usr/bin/g++-12", "-c", "-o", "a.o", "a.c", ";",
		"&&", "ar", "\n", "ccache", "'-c'", ">", "-DA=\"b c\"", "A=b", "@gcc" };
	unsigned seed = 7, n = 0;

	for (int round = 0; round < 20000; round++) {
		char text[200] = "";
		struct slice command;

		for (int i = 0; i < 6; i++) {
			seed = seed * 1103515245 + 12345;
			strcat(text, word[i || seed & 1 << 30 ? (seed >> 16) % ARRAY_SIZE(word) : 0]);
			strcat(text, " ");
		}
		command = slice_of(text);
		if (!kind_compiles(command, kind_compiler(command)))
			continue;
		ck_assert_msg(!strcmp(kind_of_command(text, command.len), "compile"), "%s", text);
		n++;
	}
	ck_assert_uint_gt(n, 1000);
	ck_assert(!kind_compiles(slice_of("gcc -c a.c"), slice_of("cc")));
	ck_assert(!kind_compiles(slice_of("gcc-12 -c a.c "), slice_of("gcc")));
}

TEST(programs_are_sorted)
{
#define P(name, kind, called, carried) name,
	static const char *const names[] = {
#include "command/programs.def"
	};

	for (size_t i = 1; i < ARRAY_SIZE(names); i++)
		ck_assert_str_lt(names[i - 1], names[i]);
}

TEST_MAIN(kind);
