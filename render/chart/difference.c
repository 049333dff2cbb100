/* SPDX-License-Identifier: MIT */
#include "render/chart/difference.h"

#include "base/text.h"

#include <math.h>

/* Neighbours differ for people with any colour vision, as all colours of the palette do. */
const enum colour difference_colour[DIFFERENCES] = {
	[DIFFERENCE_MUCH_LESS] = COLOUR_BLUE, [DIFFERENCE_LESS] = COLOUR_SKY,
	[DIFFERENCE_NONE] = COLOUR_GREY, [DIFFERENCE_MORE] = COLOUR_ORANGE,
	[DIFFERENCE_MUCH_MORE] = COLOUR_RED, [DIFFERENCE_ONLY] = COLOUR_PURPLE,
};

double difference_much(double largest)
{
	double third = fabs(largest) / 3, ten;

	if (!(third > 0) || isinf(third))
		return 0;
	ten = pow(10, floor(log10(third)));
	return third >= 5 * ten ? 5 * ten : third >= 2 * ten ? 2 * ten : ten;
}

void difference_add_time(struct buf *b, double much_us)
{
	if (much_us >= 1e6 && much_us < 60e6)
		buf_addf(b, "%g s", much_us / 1e6);
	else
		text_add_time(b, (int64_t)much_us);
}

enum difference difference_of(double change, double much)
{
	if (!(change > 0) && !(change < 0))
		return DIFFERENCE_NONE;
	if (change > 0)
		return change >= much ? DIFFERENCE_MUCH_MORE : DIFFERENCE_MORE;
	return -change >= much ? DIFFERENCE_MUCH_LESS : DIFFERENCE_LESS;
}
