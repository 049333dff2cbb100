#include "palette.h"

#include <string.h>

const struct palette palette_light = {
	.ground = 0xffffff, .ink = 0x1f2328, .faint = 0x5f6670, .grid = 0xdfe2e6,
	.outline = 0x4a4f57,
	.colour = {
		[COLOUR_BLUE] = 0x0072b2, [COLOUR_ORANGE] = 0xe69f00, [COLOUR_GREEN] = 0x009e73,
		[COLOUR_YELLOW] = 0xf0e442, [COLOUR_SKY] = 0x56b4e9, [COLOUR_RED] = 0xd55e00,
		[COLOUR_PURPLE] = 0xcc79a7, [COLOUR_GREY] = 0x000000,
	},
};

const struct palette palette_dark = {
	.ground = 0x14171c, .ink = 0xe6e8eb, .faint = 0x9aa1ab, .grid = 0x2b3038,
	.outline = 0xb9c0ca,
	.colour = {
		[COLOUR_BLUE] = 0x0072b2, [COLOUR_ORANGE] = 0xe69f00, [COLOUR_GREEN] = 0x009e73,
		[COLOUR_YELLOW] = 0xf0e442, [COLOUR_SKY] = 0x56b4e9, [COLOUR_RED] = 0xd55e00,
		[COLOUR_PURPLE] = 0xcc79a7, [COLOUR_GREY] = 0xffffff,
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
	{ "test", COLOUR_GREEN },
	{ "generate", COLOUR_SKY }, { "document", COLOUR_SKY }, { "script", COLOUR_SKY },
	{ "fetch", COLOUR_RED }, { "unpack", COLOUR_RED }, { "patch", COLOUR_RED },
	{ "install", COLOUR_PURPLE }, { "package", COLOUR_PURPLE }, { "sysroot", COLOUR_PURPLE },
};

enum colour colour_of_kind(const char *kind)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
		if (!strcmp(kinds[i].kind, kind))
			return kinds[i].colour;
	}
	return COLOUR_GREY;
}
