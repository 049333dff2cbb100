/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "render/chart/palette.h"
#include "render/chart/panel_bands.h"
#include "tests/support.h"

#include "command/kind.h"

/*
 * How different the colours are: the difference CIEDE2000 (Sharma, Wu, Dalal 2005) in full
 * protanopia, deuteranopia and tritanopia as simulated by Machado, Oliveira, Fernandes 2009,
 * on linear sRGB, D65. The eight colours of Okabe and Ito differ by at least 21.7, and 12.2,
 * 11.6 and 10.9: ours must not be worse.
 */
enum vision { NORMAL, PROTAN, DEUTAN, TRITAN, VISIONS };

#define LEAST_DIFFERENCE 10.9
#define LEAST_CONTRAST 3.0	/* of a mark, WCAG 1.4.11 */
#define LEAST_OF_WORDS 4.5	/* WCAG 1.4.3 */

struct lab {
	double l, a, b;
};

static const double machado[VISIONS][3][3] = {
	[NORMAL] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } },
	[PROTAN] = { { 0.152286, 1.052583, -0.204868 }, { 0.114503, 0.786281, 0.099216 },
		     { -0.003882, -0.048116, 1.051998 } },
	[DEUTAN] = { { 0.367322, 0.860646, -0.227968 }, { 0.280085, 0.672501, 0.047413 },
		     { -0.011820, 0.042940, 0.968881 } },
	[TRITAN] = { { 1.255528, -0.076749, -0.178779 }, { -0.078411, 0.930809, 0.147602 },
		     { 0.004733, 0.691367, 0.303900 } },
};

static const double xyz_of_rgb[3][3] = {
	{ 0.4124564, 0.3575761, 0.1804375 },
	{ 0.2126729, 0.7151522, 0.0721750 },
	{ 0.0193339, 0.1191920, 0.9503041 },
};

static void multiply(double to[3], const double matrix[3][3], const double v[3])
{
	for (size_t i = 0; i < 3; i++)
		to[i] = matrix[i][0] * v[0] + matrix[i][1] * v[1] + matrix[i][2] * v[2];
}

static void linear(double to[3], uint32_t rgb)
{
	for (size_t i = 0; i < 3; i++) {
		double c = (double)(rgb >> (16 - 8 * i) & 255) / 255;

		to[i] = c <= 0.04045 ? c / 12.92 : pow((c + 0.055) / 1.055, 2.4);
	}
}

static double lab_part(double t)
{
	return t > 216.0 / 24389 ? cbrt(t) : (24389.0 / 27 * t + 16) / 116;
}

static struct lab seen(uint32_t rgb, enum vision vision)
{
	double plain[3], left[3], xyz[3], x, y, z;

	linear(plain, rgb);
	multiply(left, machado[vision], plain);
	for (size_t i = 0; i < 3; i++)
		left[i] = fmin(fmax(left[i], 0), 1);
	multiply(xyz, xyz_of_rgb, left);
	x = lab_part(xyz[0] / 0.95047);
	y = lab_part(xyz[1]);
	z = lab_part(xyz[2] / 1.08883);
	return (struct lab){ 116 * y - 16, 500 * (x - y), 200 * (y - z) };
}

static double degrees(double radians)
{
	double d = radians * 180 / M_PI;

	return d < 0 ? d + 360 : d;
}

static double radians(double degrees)
{
	return degrees * M_PI / 180;
}

/* Half way between two angles, the short way round. */
static double middle_angle(double a, double b)
{
	double half = (a + b) / 2;

	if (fabs(a - b) <= 180)
		return half;
	return half < 180 ? half + 180 : half - 180;
}

static double seventh(double c)
{
	return sqrt(pow(c, 7) / (pow(c, 7) + pow(25, 7)));
}

static double ciede2000(struct lab p, struct lab q)
{
	double g = 1.5 - seventh((hypot(p.a, p.b) + hypot(q.a, q.b)) / 2) / 2;
	double c1 = hypot(p.a * g, p.b), c2 = hypot(q.a * g, q.b);
	double h1 = c1 > 0 ? degrees(atan2(p.b, p.a * g)) : 0;
	double h2 = c2 > 0 ? degrees(atan2(q.b, q.a * g)) : 0;
	double turn = h2 - h1 > 180 ? h2 - h1 - 360 : h2 - h1 < -180 ? h2 - h1 + 360 : h2 - h1;
	double l = (p.l + q.l) / 2 - 50, c = (c1 + c2) / 2;
	double h = c1 * c2 > 0 ? middle_angle(h1, h2) : h1 + h2;
	double t = 1 - 0.17 * cos(radians(h - 30)) + 0.24 * cos(radians(2 * h)) +
		   0.32 * cos(radians(3 * h + 6)) - 0.20 * cos(radians(4 * h - 63));
	double dl = (q.l - p.l) / (1 + 0.015 * l * l / sqrt(20 + l * l));
	double dc = (c2 - c1) / (1 + 0.045 * c);
	double dh = 2 * sqrt(c1 * c2) * sin(radians(turn / 2)) / (1 + 0.015 * c * t);
	double r = -2 * seventh(c) * sin(radians(60 * exp(-pow((h - 275) / 25, 2))));

	return sqrt(dl * dl + dc * dc + dh * dh + r * dc * dh);
}

static double least_difference(const uint32_t *colour, size_t n, enum vision vision)
{
	double least = 1000;

	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < i; k++)
			least = fmin(least, ciede2000(seen(colour[i], vision),
						      seen(colour[k], vision)));
	}
	return least;
}

static double contrast(uint32_t a, uint32_t b)
{
	double v[3], y[2];

	for (size_t i = 0; i < 2; i++) {
		linear(v, i ? b : a);
		y[i] = 0.2126 * v[0] + 0.7152 * v[1] + 0.0722 * v[2] + 0.05;
	}
	return fmax(y[0], y[1]) / fmin(y[0], y[1]);
}

/* The measure itself */

/* From the table of Sharma, Wu, Dalal. */
static const struct { struct lab p, q; double difference; } published[] = {
	{ { 50, 2.6772, -79.7751 }, { 50, 0, -82.7485 }, 2.0425 },
	{ { 50, -1.3802, -84.2814 }, { 50, 0, -82.7485 }, 1.0 },
	{ { 50, 0, 0 }, { 50, -1, 2 }, 2.3669 },
	{ { 50, 2.5, 0 }, { 50, 0, -2.5 }, 4.3065 },
	{ { 50, 2.5, 0 }, { 73, 25, -18 }, 27.1492 },
	{ { 50, 2.5, 0 }, { 61, -5, 29 }, 22.8977 },
	{ { 60.2574, -34.0099, 36.2677 }, { 60.4626, -34.1751, 39.4387 }, 1.2644 },
	{ { 22.7233, 20.0904, -46.6940 }, { 23.0331, 14.9730, -42.5619 }, 2.0373 },
	{ { 2.0776, 0.0795, -1.1350 }, { 0.9033, -0.0636, -0.5514 }, 0.9082 },
};

TEST_EACH(the_measure_is_the_published_one, published)
{
	double d = ciede2000(published[_i].p, published[_i].q);

	ck_assert_double_eq_tol(d, published[_i].difference, 0.00005);
	ck_assert_double_eq_tol(ciede2000(published[_i].q, published[_i].p), d, 1e-9);
}

TEST(the_measure_of_okabe_and_ito)
{
	static const uint32_t okabe_ito[] = {
		0x000000, 0xe69f00, 0x56b4e9, 0x009e73, 0xf0e442, 0x0072b2, 0xd55e00, 0xcc79a7,
	};
	static const double figure[VISIONS] = { 21.7, 12.2, 11.6, 10.9 };

	for (unsigned v = 0; v < VISIONS; v++)
		ck_assert_double_eq_tol(least_difference(okabe_ito, 8, (enum vision)v),
					figure[v], 0.05);
}

/* Ours */

static const struct palette *const palettes[] = { &palette_light, &palette_dark };

TEST_LOOP(colours_differ_for_everyone, 2)
{
	for (unsigned v = 0; v < VISIONS; v++) {
		double least = least_difference(palettes[_i]->colour, COLOURS, (enum vision)v);

		ck_assert_msg(least >= LEAST_DIFFERENCE, "vision %u: %.1f", v, least);
	}
}

TEST_LOOP(all_differ_from_the_ground, 2)
{
	const struct palette *p = palettes[_i];

	ck_assert_double_ge(contrast(p->ink, p->ground), 7);
	ck_assert_double_ge(contrast(p->faint, p->ground), 4.5);
	ck_assert_double_ge(contrast(p->grid, p->ground), 1.2);
	ck_assert_double_lt(contrast(p->grid, p->ground), 2);
	/* A colour that differs too little from the ground has an outline that does. */
	ck_assert_double_ge(contrast(p->outline, p->ground), LEAST_CONTRAST);
	for (size_t i = 0; i < COLOURS; i++) {
		if (contrast(p->colour[i], p->ground) < LEAST_CONTRAST)
			ck_assert_double_ge(contrast(p->outline, p->colour[i]), LEAST_CONTRAST);
	}
}

static void check_edge_and_words(const struct palette *p, uint32_t colour)
{
	ck_assert_double_ge(contrast(palette_edge(p, colour), p->ground), LEAST_CONTRAST);
	ck_assert_double_ge(contrast(palette_words(p, colour), colour), LEAST_OF_WORDS);
}

/* Edges against the ground, and names upon a colour. */
TEST_LOOP(edges_and_words, 2)
{
	const struct palette *p = palettes[_i];

	for (size_t i = 0; i < COLOURS; i++)
		check_edge_and_words(p, p->colour[i]);
	for (size_t i = 0; i < PALETTE_STEPS; i++)
		check_edge_and_words(p, p->share[i]);
	check_edge_and_words(p, p->ground);
}

/* The steps of a scale, and what is not known. */
TEST_LOOP(shares_differ_for_everyone, 2)
{
	const struct palette *p = palettes[_i];
	uint32_t share[PALETTE_STEPS + 1];

	memcpy(share, p->share, sizeof p->share);
	share[PALETTE_STEPS] = p->ground;
	for (unsigned v = 0; v < VISIONS; v++)
		ck_assert_double_ge(least_difference(share, PALETTE_STEPS + 1, (enum vision)v),
				    LEAST_DIFFERENCE);
}

/* More of a share is always darker, or lighter. */
TEST_LOOP(shares_are_in_order, 2)
{
	const struct palette *p = palettes[_i];

	for (size_t i = 1; i < PALETTE_STEPS; i++)
		ck_assert_double_ge(contrast(p->share[i], p->ground),
				    1.2 * contrast(p->share[i - 1], p->ground));
}

/* A colour means the same on both grounds. */
TEST(colours_keep_their_names)
{
	for (size_t i = 0; i < COLOURS; i++) {
		struct lab a = seen(palette_light.colour[i], NORMAL);
		struct lab b = seen(palette_dark.colour[i], NORMAL);
		double turn = fabs(degrees(atan2(a.b, a.a)) - degrees(atan2(b.b, b.a)));

		if (i == COLOUR_GREY)
			ck_assert_double_lt(fmax(hypot(a.a, a.b), hypot(b.a, b.b)), 8);
		else
			ck_assert_double_lt(fmin(turn, 360 - turn), 30);
	}
}

/* Kinds */

static const struct { const char *kind; enum colour colour; } kinds[] = {
	{ "compile", COLOUR_BLUE }, { "link", COLOUR_ORANGE }, { "archive", COLOUR_ORANGE },
	{ "image", COLOUR_ORANGE }, { "configure", COLOUR_YELLOW }, { "test", COLOUR_GREEN },
	{ "setscene", COLOUR_GREEN }, { "generate", COLOUR_SKY }, { "document", COLOUR_SKY },
	{ "script", COLOUR_SKY }, { "fetch", COLOUR_RED }, { "unpack", COLOUR_RED },
	{ "patch", COLOUR_RED }, { "install", COLOUR_PURPLE }, { "package", COLOUR_PURPLE },
	{ "sysroot", COLOUR_PURPLE }, { "make", COLOUR_GREY }, { "shell", COLOUR_SKY },
	{ "other", COLOUR_GREY }, { "clean", COLOUR_GREY }, { "", COLOUR_GREY },
	{ "compile ", COLOUR_GREY }, { "</script>", COLOUR_GREY },
};

TEST_EACH(colours_of_kinds, kinds)
{
	ck_assert_int_eq(palette_of_kind(kinds[_i].kind), kinds[_i].colour);
}

/* The kinds of commands and of OpenEmbedded's tasks have their colours. */
static const struct { const char *text; bool oe; enum colour colour; } works[] = {
	{ "cc -c -o a.o a.c", false, COLOUR_BLUE }, { "cc -o a a.o b.o", false, COLOUR_ORANGE },
	{ "ar rcs lib.a a.o", false, COLOUR_ORANGE }, { "./configure", false, COLOUR_YELLOW },
	{ "bison -d x.y", false, COLOUR_SKY }, { "install -m 644 a b", false, COLOUR_PURPLE },
	{ "echo", false, COLOUR_SKY },
	{ "do_compile", true, COLOUR_BLUE }, { "do_configure", true, COLOUR_YELLOW },
	{ "do_fetch", true, COLOUR_RED }, { "do_unpack", true, COLOUR_RED },
	{ "do_patch", true, COLOUR_RED }, { "do_package", true, COLOUR_PURPLE },
	{ "do_populate_sysroot", true, COLOUR_PURPLE }, { "do_rootfs", true, COLOUR_ORANGE },
	{ "do_package_setscene", true, COLOUR_GREEN }, { "do_rm_work", true, COLOUR_GREY },
};

TEST_EACH(colours_of_work, works)
{
	const char *text = works[_i].text;
	const char *kind = works[_i].oe ? kind_of_oe_task(text, strlen(text)) :
			   kind_of_command(text, strlen(text));

	ck_assert_msg(palette_of_kind(kind) == works[_i].colour, "%s: %s", text, kind);
}

/* Bands of one panel have different colours. */
TEST_LOOP(bands_differ, PANELS)
{
	const struct band_plan *band = panel_plan[_i]->band;

	for (size_t i = 0; i < PANEL_BANDS_MAX && band[i].id; i++) {
		for (size_t k = 0; k < i; k++) {
			if (band[i].only + band[k].only == ONLY_OWN + ONLY_ALL && band[i].only &&
			    band[k].only)
				continue;
			ck_assert_msg(band[i].colour != band[k].colour, "%s: %s, %s",
				      panel_plan[_i]->word, band[i].id, band[k].id);
		}
	}
}

TEST_MAIN(palette);
