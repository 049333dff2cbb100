/* SPDX-License-Identifier: MIT */
#include "render/chart/unit.h"

#include "base/text.h"

/* One decimal where that is news: "0.04", "3.5", "12". */
static void add_count(struct buf *b, int64_t hundredths)
{
	if (hundredths < 0)
		buf_adds(b, "-");
	else if (hundredths % 100 == 0 || hundredths >= 995)
		buf_addf(b, "%.0f", (double)hundredths / 100);
	else
		buf_addf(b, "%.*f", hundredths < 10 ? 2 : 1, (double)hundredths / 100);
}

void axis_add_value(struct buf *b, enum axis_unit unit, int64_t value)
{
	switch (unit) {
	case AXIS_SHARE:
		text_add_percent(b, value < 0 ? -1 : (double)value / 10000);
		break;
	case AXIS_BYTES:
		text_add_bytes(b, value);
		break;
	case AXIS_BYTES_A_SECOND:
		text_add_bytes(b, value);
		if (value >= 0)
			buf_adds(b, "/s");
		break;
	case AXIS_COUNT:
		add_count(b, value);
		break;
	case AXIS_TIME:
		text_add_time(b, value);
		break;
	}
}
