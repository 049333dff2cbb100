/* SPDX-License-Identifier: MIT */
#include "tests/looked.h"

#include "tests/support.h"

struct looked looked;

void looked_begin(void)
{
	looked = (struct looked){ .names.arena = arena_new(), .dir = support_tmpdir() };
}

void looked_end(void)
{
	look_close(&looked.l);
	snapshot_release(&looked.s);
	name_table_release(&looked.names);
	arena_free(looked.names.arena);
}

void looked_open(pid_t pid)
{
	ck_assert_msg(!look_open(&looked.l, pid, 0, &looked.names, &looked.err), "%s", looked.err.message);
}

void looked_read(bool pages)
{
	ck_assert_msg(!look_read(&looked.l, &looked.s, pages, &looked.err), "%s", looked.err.message);
}
