/* SPDX-License-Identifier: MIT */
#include "report/amount.h"
#include "tests/support.h"

/* A share with its interval is a cell: both have one unit. */
static const struct { double share, low, high; const char *text; } cells[] = {
	{ 0.2, 0.18, 0.24, "+20 % (+18 % to +24 %)" },
	{ 0.05, -0.012, 0.11, "+5.0 % (-1.2 % to +11 %)" },
	{ -0.5, -0.6, -0.4, "-50 % (-60 % to -40 %)" },
	{ 0.998, 0.99, 1.04, "+100 % (+99 % to +104 %)" },
	{ 1.001, 0.99, 1.04, "x 2.0 (x 1.99 to 2.04)" },
	{ 1.5, -0.2, 9.7, "x 2.5 (x 0.80 to 11)" },
	{ 11, 10, 12, "x 12 (x 11 to 13)" },
};

TEST_EACH(one_unit, cells)
{
	RELEASED(buf, out = BUF_INIT);

	amount_add_share(&out, cells[_i].share);
	buf_adds(&out, " (");
	amount_add_interval(&out, cells[_i].share, cells[_i].low, cells[_i].high);
	buf_addc(&out, ')');
	ck_assert_str_eq(buf_str(&out), cells[_i].text);
}

TEST_MAIN(amount);
