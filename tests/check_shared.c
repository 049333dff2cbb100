/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "compare/rules.h"
#include "compare/shared.h"
#include "tests/support.h"

/* The groups that a task belongs to by its name. */
static const struct { const char *name, *groups; } names[] = {
	{ "main.o", "* *.o" },
	{ "src/lib/a.o", "* *.o src/* src/lib/*" },
	{ "core: main.o", "* *.o core: *" },
	{ "src/core: lib/x.tar.zst", "* *.zst src/* src/core: * src/core: lib/*" },
	{ "zlib: do_compile", "* *: do_compile zlib: *" },
	{ "mc:x: do_compile", "* *: do_compile mc:x: *" },
	{ "all", "*" }, { ".hidden", "*" }, { "a/.hidden", "* a/*" }, { "name.", "*" },
	{ "a.notanending", "*" },
	{ "/a", "* /*" },
	{ "a/b/c/d/e/f.o", "* *.o a/* a/b/* a/b/c/* a/b/c/d/*" },
	{ "x[1]/y.o", "* *.o x\\[1]/*" },
	{ "", "*" },
};

TEST_GROUP("shared");

TEST_EACH(groups, names)
{
	struct builds_task task = { .name = names[_i].name };
	struct builds builds = { .n_tasks = 1, .task = &task };
	struct shared_group of[SHARED_MOST];
	size_t n = shared_of_task(of, &builds, 0);
	struct buf text = BUF_INIT, pattern = BUF_INIT;

	for (size_t i = 0; i < n; i++) {
		buf_clear(&pattern);
		shared_add_pattern(&pattern, &builds, &of[i]);
		buf_addf(&text, "%s%s", i ? " " : "", buf_str(&pattern));
		/* The pattern of a group fits its tasks. */
		ck_assert(!*task.name || rules_pattern_fits(buf_str(&pattern), task.name));
	}
	ck_assert_str_eq(buf_str(&text), names[_i].groups);
	buf_release(&text);
	buf_release(&pattern);
}

TEST_MAIN(shared);
