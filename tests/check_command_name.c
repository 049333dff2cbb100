/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "command/command_name.h"
#include "tests/support.h"

static const struct { const char *command, *name; } cases[] = {
	/* the name */
	{ "cc -c foo.c -o foo.o", "foo.o" },
	{ "ccache gcc -c a.c -oa.o", "a.o" },
	{ "/usr/bin/cc -DX=\"a b\" -I. -MD -MT src/x.o -MF src/x.o.d -o src/x.o -c ../x.c", "src/x.o" },
	{ ": && /usr/bin/c++ -O2 a.o b.o -o prog && :", "prog" },
	{ "ar rc libx.a a.o", "libx.a" },
	{ "ar rc \"libx.a\" \"a.o\"", "libx.a" },
	{ "rm -f libx.a && /usr/bin/ar qc libx.a a.o && /usr/bin/ranlib libx.a", "libx.a" },
	{ "env LC_ALL=C sort a > c", "c" },
	{ "sort a >'the c'", "the c" },
	{ "python3 ../gen.py >x.h 2>log", "x.h" },
	{ "bison -o y.c y.y", "y.c" },
	{ "doxygen --output=doc Doxyfile", "doc" },
	{ "sh -c 'cc -c a.c -o a.o'", "a.o" },
	{ "rustc --crate-name foo --edition=2021 src/lib.rs --crate-type lib -C opt-level=3", "foo" },
	{ "cd lib && cc -c a.c -o a.o && touch stamp", "a.o" },
	{ "(cc -c a.c -o a.o)", "a.o" },
	/* the part of the command that it needs in the first pass */
	{ "cc -c foo.c", "foo.c" },
	{ "/usr/lib/gcc/x86_64-linux-gnu/12/cc1 -quiet -imultiarch x86_64-linux-gnu foo.c -quiet"
	  " -dumpbase foo.c -o /tmp/ccX.s", "foo.c" },
	{ "as --64 -o foo.o /tmp/ccX.s", "foo.o" },
	{ "gcc a.c 2>&1", "a.c" },
	/* the program and its first operand */
	{ "cd /src && make -C lib all", "make lib" },
	{ "make -s -f m.mk && touch d", "make" },
	{ "(cd sub && ninja all)", "ninja all" },
	{ "mkdir -p lib/a", "mkdir lib/a" },
	{ "/bin/cp a b", "cp a" },
	{ "bash ./build.sh all", "bash ./build.sh" },
	{ "./configure --prefix=/usr", "configure" },
	{ "nice -5 true", "true" },
	{ "X=1 Y=2 ./gen a", "gen a" },
	{ "git describe --tags 2>/dev/null", "git describe" },
	{ "pytest tests", "pytest tests" },
	{ "echo 'a b' c", "echo a b" },
	/* nothing, or not a command */
	{ "", "" }, { "   ", "" }, { ";;", "" }, { "X=1", "" }, { ">f", "" }, { "sh -c", "sh" },
	{ "sh -c ''", "" }, { "cc -o", "cc" }, { "a >", "a" }, { "'", "'" }, { "env", "env" },
};

TEST_EACH(names, cases)
{
	RELEASED(buf, b = BUF_INIT);

	command_name_add(&b, cases[_i].command, strlen(cases[_i].command));
	ck_assert_msg(!strcmp(buf_str(&b), cases[_i].name), "%s: '%s', not '%s'",
		      cases[_i].command, buf_str(&b), cases[_i].name);
}

/* A word as long as a line. */
TEST(long_words)
{
	RELEASED(buf, command = BUF_INIT, b = BUF_INIT);

	buf_adds(&command, "cc -c -o ");
	for (int i = 0; i < 3000; i++)
		buf_addc(&command, 'x');
	command_name_add(&b, command.data, command.len);
	ck_assert_uint_eq(b.len, 200);
}

/* Every prefix of every command, in memory of exactly that size. */
TEST_EACH(cut_anywhere, cases)
{
	const char *command = cases[_i].command;

	for (size_t n = 0; n <= strlen(command); n++) {
		struct buf b = BUF_INIT;
		char *copy = strndup(command, n);

		command_name_add(&b, copy, n);
		ck_assert_int_eq(buf_error(&b), 0);
		ck_assert_uint_le(b.len, n);
		buf_release(&b);
		free(copy);
	}
}

TEST_MAIN(command_name);
