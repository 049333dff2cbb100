/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "render/chart/bar_name.h"
#include "render/chart/svg.h"
#include "tests/recorded.h"
#include "tests/support.h"

#define MAKE "open\t0\tm\t10\t0\t10\tmake\t4.3\t/src\tmake\n"
#define BITBAKE "open\t0\tm\t10\t0\t10\tbitbake\t2.0\t/src\tbitbake\n"
#define WIDE 400

/* A task of 12.1 s: kind, name, key, command. */
static const struct {
	const char *tool, *task;
	enum lanes_by by;
	int width;
	const char *text;
} cases[] = {
	{ MAKE, "compile\tobj/deep/lib07.o", LANES_WORKER, WIDE, "lib07 12.1 s" },
	{ MAKE, "compile\tobj/deep/lib07.o", LANES_WORKER, 50, "lib07" },
	{ MAKE, "compile\tobj/deep/lib07.o", LANES_WORKER, 26, "\xe2\x80\xa6" "07" },
	{ MAKE, "compile\tltrans28.o", LANES_WORKER, 31, "l\xe2\x80\xa6" "28" },
	{ MAKE, "compile\tCMakeFiles/x.dir/parser.cc.o", LANES_KIND, WIDE, "parser.cc 12.1 s" },
	{ MAKE, "link\t/src/bin/server", LANES_WORKER, WIDE, "server 12.1 s" },
	{ MAKE, "other\tout/", LANES_WORKER, WIDE, "out 12.1 s" },
	{ MAKE, "shell\tmkdir -p a/b", LANES_WORKER, WIDE, "mkdir -p a/b 12.1 s" },
	{ MAKE, "shell\t$(shell)\t\tuname -s", LANES_WORKER, WIDE, "uname 12.1 s" },
	{ MAKE, "compile\t\t\tcc -c -o q/z.o z.c", LANES_WORKER, WIDE, "z 12.1 s" },
	{ MAKE, "compile\t/tmp/ccBWmNSn.ltrans3.ltrans.o", LANES_WORKER, WIDE,
	  "ltrans3 12.1 s" },
	{ MAKE, "compile\t/tmp/foo.o", LANES_WORKER, WIDE, "foo 12.1 s" },
	{ MAKE, "other\t\t\t", LANES_WORKER, WIDE, "? 12.1 s" },
	{ MAKE, "compile\ta\\x01b.o", LANES_WORKER, WIDE, "a\\x01b 12.1 s" },
	{ BITBAKE, "configure\tdo_configure\tbusybox-1.36.1-r0", LANES_WORKER, WIDE,
	  "busybox 12.1 s" },
	{ BITBAKE, "configure\tdo_configure\tbusybox-1.36.1-r0", LANES_RECIPE, WIDE,
	  "configure 12.1 s" },
	{ BITBAKE, "package\tdo_packagedata\tgcc-cross-13.2+git-r0", LANES_WORKER, WIDE,
	  "gcc-cross packagedata 12.1 s" },
	{ BITBAKE, "package\tdo_packagedata\tgcc-cross-13.2+git-r0", LANES_WORKER, 110,
	  "gcc-cross 12.1 s" },
	{ BITBAKE, "package\tdo_packagedata\tgcc-cross-13.2+git-r0", LANES_WORKER, 34,
	  "gcc-\xe2\x80\xa6" },
};

TEST_EACH(names, cases)
{
	RELEASED(buf, b = BUF_INIT);
	RELEASED(recorded, r);

	recorded_make(&r, "end_us: 20000000\ncwd: /src\n",
		      support_path("%sstart\t0\tm.1\t\t\t%s\ndone\t12100000\tm.1\n",
				   cases[_i].tool, cases[_i].task), NULL);
	bar_name_add(&b, &r.sum, cases[_i].by, r.sum.order[0], cases[_i].width, BAR_NAME_SIZE);
	ck_assert_str_eq(buf_str(&b), cases[_i].text);
}

/* Whatever the task: a name that fits, and never none. */
TEST_LOOP(fit, 8)
{
	RELEASED(buf, b = BUF_INIT);
	RELEASED(recorded, r);

	recorded_random(&r, 200, (uint64_t)_i);
	for (size_t i = 0; i < r.sum.n_ran; i++) {
		for (int width = 26; width < 300; width += 31) {
			buf_clear(&b);
			bar_name_add(&b, &r.sum, (enum lanes_by)(_i % LANES_BY), r.sum.order[i],
				     width, BAR_NAME_SIZE);
			ck_assert_uint_gt(b.len, 0);
			ck_assert_double_le(svg_text_width(buf_str(&b), BAR_NAME_SIZE), width);
			buf_clear(&b);
			bar_name_add_count(&b, (uint32_t)i * 999999, width, BAR_NAME_SIZE);
			ck_assert_uint_gt(b.len, 0);
			ck_assert_double_le(svg_text_width(buf_str(&b), BAR_NAME_SIZE), width);
		}
	}
}

TEST_MAIN(bar_name);
