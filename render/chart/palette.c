/* SPDX-License-Identifier: MIT */
#include "render/chart/palette.h"

#include "base/array.h"

#include <math.h>
#include <string.h>

#define CONTRAST_LEAST 3.0	/* what WCAG asks of graphics */
#define EDGE_STEP 0.05

const struct palette palette_light = {
	.ground = 0xffffff, .ink = 0x1f2328, .faint = 0x5f6670, .grid = 0xdfe2e6,
	.outline = 0x4a4f57,
	.colour = {
		[COLOUR_BLUE] = 0x1f5fa6, [COLOUR_ORANGE] = 0xe39b1b, [COLOUR_GREEN] = 0x3a9d7c,
		[COLOUR_YELLOW] = 0xf5e34c, [COLOUR_SKY] = 0x6fc8ee, [COLOUR_RED] = 0xc8371b,
		[COLOUR_PURPLE] = 0xa874d6, [COLOUR_GREY] = 0xa6acb2,
	},
	.share = { 0xd7ffc7, 0xa7c48d, 0x4aa98f, 0x286295, 0x222972 },
};

const struct palette palette_dark = {
	.ground = 0x14171c, .ink = 0xe6e8eb, .faint = 0x9aa1ab, .grid = 0x2b3038,
	.outline = 0xb9c0ca,
	.colour = {
		[COLOUR_BLUE] = 0x487af5, [COLOUR_ORANGE] = 0xe89c22, [COLOUR_GREEN] = 0x46a078,
		[COLOUR_YELLOW] = 0xf2ea5c, [COLOUR_SKY] = 0x84d4fa, [COLOUR_RED] = 0xe74926,
		[COLOUR_PURPLE] = 0xb47aae, [COLOUR_GREY] = 0x64686c,
	},
	.share = { 0x2e3f8d, 0x3a6c8c, 0x55ab90, 0xa3c68c, 0xffffbd },
};

static unsigned channel(uint32_t rgb, unsigned shift)
{
	return rgb >> shift & 0xff;
}

/* A share of a, the rest of b. */
static uint32_t mixed(uint32_t a, uint32_t b, double share)
{
	uint32_t rgb = 0;

	for (unsigned shift = 0; shift <= 16; shift += 8) {
		double x = channel(a, shift) * share + channel(b, shift) * (1 - share);

		rgb |= (uint32_t)(x + 0.5) << shift;
	}
	return rgb;
}

static double luminance(uint32_t rgb)
{
	static const double weight[] = { 0.0722, 0.7152, 0.2126 };
	double sum = 0;

	for (unsigned i = 0; i < 3; i++) {
		double x = channel(rgb, 8 * i) / 255.0;

		sum += weight[i] * (x <= 0.04045 ? x / 12.92 : pow((x + 0.055) / 1.055, 2.4));
	}
	return sum;
}

static double contrast(uint32_t a, uint32_t b)
{
	double x = luminance(a) + 0.05, y = luminance(b) + 0.05;

	return x > y ? x / y : y / x;
}

uint32_t palette_edge(const struct palette *p, uint32_t colour)
{
	uint32_t edge = colour;

	for (double share = 1; share > 0 && contrast(edge, p->ground) < CONTRAST_LEAST;
	     share -= EDGE_STEP)
		edge = mixed(colour, p->ink, share);
	return edge;
}

uint32_t palette_words(const struct palette *p, uint32_t colour)
{
	return contrast(colour, p->ink) > contrast(colour, p->ground) ? p->ink : p->ground;
}

/* By what the work makes: programs, sources, files in their places ... */
static const struct {
	const char *kind;
	enum colour colour;
} kinds[] = {
	{ "compile", COLOUR_BLUE },
	{ "link", COLOUR_ORANGE }, { "archive", COLOUR_ORANGE }, { "image", COLOUR_ORANGE },
	{ "configure", COLOUR_YELLOW },
	{ "test", COLOUR_GREEN }, { "setscene", COLOUR_GREEN },
	{ "generate", COLOUR_SKY }, { "document", COLOUR_SKY }, { "script", COLOUR_SKY },
	{ "shell", COLOUR_SKY },
	{ "fetch", COLOUR_RED }, { "unpack", COLOUR_RED }, { "patch", COLOUR_RED },
	{ "install", COLOUR_PURPLE }, { "package", COLOUR_PURPLE }, { "sysroot", COLOUR_PURPLE },
};

enum colour palette_of_kind(const char *kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(kinds[i].kind, kind))
			return kinds[i].colour;
	}
	return COLOUR_GREY;
}
