/* SPDX-License-Identifier: MIT */
#include "render/chart/palette.h"

#include "base/array.h"

#include <string.h>

const struct palette palette_light = {
	.ground = 0xffffff, .ink = 0x1f2328, .faint = 0x5f6670, .grid = 0xdfe2e6,
	.outline = 0x4a4f57,
	.colour = {
		[COLOUR_BLUE] = 0x1f5fa6, [COLOUR_ORANGE] = 0xe39b1b, [COLOUR_GREEN] = 0x3a9d7c,
		[COLOUR_YELLOW] = 0xf5e34c, [COLOUR_SKY] = 0x6fc8ee, [COLOUR_RED] = 0xc8371b,
		[COLOUR_PURPLE] = 0xa874d6, [COLOUR_GREY] = 0xa6acb2,
	},
};

const struct palette palette_dark = {
	.ground = 0x14171c, .ink = 0xe6e8eb, .faint = 0x9aa1ab, .grid = 0x2b3038,
	.outline = 0xb9c0ca,
	.colour = {
		[COLOUR_BLUE] = 0x3f74ee, [COLOUR_ORANGE] = 0xe89c22, [COLOUR_GREEN] = 0x46a078,
		[COLOUR_YELLOW] = 0xf2ea5c, [COLOUR_SKY] = 0x84d4fa, [COLOUR_RED] = 0xd8401c,
		[COLOUR_PURPLE] = 0xb47aae, [COLOUR_GREY] = 0x64686c,
	},
};

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
