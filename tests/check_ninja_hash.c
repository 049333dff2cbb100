/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "command/ninja_hash.h"
#include "tests/support.h"

/* Commands and their hashes by ninja 1.11 (log version 5) and ninja 1.14 (7). */
#define TURN \
	"xx/6=DKRYxgnuxx07xELSZahovxx18xFMTxbipwx+29@GNUxcjqxx,3xAHOV" \
	"xdkryx-4xBIPW^elszx.5xCJQX_fmt"
#define TEXT ": " TURN TURN TURN TURN
#define ALL SIZE_MAX

static const struct { const char *text; size_t len; uint64_t murmur, rapid; } cases[] = {
	{ TEXT, 1, 0x2e49d2477c6737f0, 0xa2da22321247804b },
	{ TEXT, 3, 0x5f0c5062bfb4c432, 0xef179f5022af3256 },
	{ TEXT, 4, 0xf97dd016e19f984a, 0x1b0f55f7ee6f1e00 },
	{ TEXT, 8, 0x198ce156b9ed1779, 0xbaf3d40f6d4f7834 },
	{ TEXT, 7, 0xae0f8e8d321e038, 0x4c99a98d32ff295f },
	{ TEXT, 9, 0x4886ca440b4b1b4c, 0xf918b500b397b634 },
	{ TEXT, 15, 0x16912f3980aac2b0, 0x6ad25d322d9afe30 },
	{ TEXT, 16, 0xb6bd58a4a5426516, 0x2d10ccc31f7a78ef },
	{ TEXT, 17, 0x9d041e136601f2a1, 0xedaccc19328af723 },
	{ TEXT, 24, 0x6a32caa554234141, 0xbeb6df1be09fcb16 },
	{ TEXT, 31, 0xa7cf726c92a1dc53, 0x8465b3d153785225 },
	{ TEXT, 32, 0x4ec1080419768b1f, 0xecb5ee5e9070204c },
	{ TEXT, 47, 0xf4ae3a66cd99bee8, 0xa39713233efdc4ee },
	{ TEXT, 33, 0xd90d3d3bbde458b1, 0xb79c80139c49f0 },
	{ TEXT, 64, 0xa4c725cc7ef9e0c8, 0x1817310a5e0a775b },
	{ TEXT, 48, 0x37bb2fc4a64d97e1, 0xca5d98a971a8c44e },
	{ TEXT, 49, 0x93b57897762cb5c, 0x964b9427a8b93d7f },
	{ TEXT, 95, 0xfa686e061504c13e, 0xcf5abcdb1ce9d1a9 },
	{ TEXT, 96, 0xfd7f09e27b16f027, 0x4b304a5b812b43ae },
	{ TEXT, 97, 0x83b7bf5a6a9c61d3, 0xe329bc1f3e349541 },
	{ TEXT, 144, 0x2f1644ab47c43dc9, 0x82829342a9d185e2 },
	{ TEXT, 143, 0x7a5afb0287c79036, 0x2529281f1e159007 },
	{ TEXT, 145, 0xae6a7f998a4b93c8, 0xacd64cbf9b7297c5 },
	{ TEXT, 300, 0xbff013daa4c62a21, 0x2ef5e90b23e4030e },
	{ ": äöü €", ALL, 0xd880988bcbd4111, 0xd4f7a58d99f2c9ba },
	{ ": @x.rsp" NINJA_HASH_RSPFILE "a.o b.o", ALL, 0xc78a7dbaaf5ff80e, 0x4db30d44d0fb2b5b },
};

TEST_EACH(as_ninja, cases)
{
	size_t len = cases[_i].len == ALL ? strlen(cases[_i].text) : cases[_i].len;
	char *exact = malloc(len);

	memcpy(exact, cases[_i].text, len);
	ck_assert_uint_eq(ninja_hash_murmur(exact, len), cases[_i].murmur);
	ck_assert_uint_eq(ninja_hash_rapid(exact, len), cases[_i].rapid);
	free(exact);
}

TEST_MAIN(ninja_hash);
