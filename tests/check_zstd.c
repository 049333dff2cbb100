/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "convert/zstd.h"
#include "tests/support.h"

#include <zstd.h>

/* A text of different lines, of about len bytes. */
static void make_text(struct buf *b, size_t len)
{
	for (unsigned i = 0; b->len < len; i++)
		buf_addf(b, "%u,%u,-%u\n", i * 7919 % 1000, i, i % 13);
}

static void pack(struct buf *packed, const struct buf *text)
{
	int dir = open(support_tmpdir(), O_RDONLY | O_DIRECTORY);
	struct error err;

	support_write(support_path("%s/x.log", support_tmpdir()), text->data, text->len);
	ck_assert_int_eq(zstd_pack(dir, "x.log", NULL, NULL, &err), 0);
	ck_assert(!support_exists(support_path("%s/x.log", support_tmpdir())));
	ck_assert(!support_exists(support_path("%s/x.log.zst.tmp", support_tmpdir())));
	support_read(packed, support_path("%s/x.log.zst", support_tmpdir()));
	close(dir);
}

static const size_t sizes[] = { 1, 100, 4096, 131072, 131073, 3000000 };

TEST_EACH(round_trip, sizes)
{
	RELEASED(buf, text = BUF_INIT, packed, out = BUF_INIT);
	struct run r;

	make_text(&text, sizes[_i]);
	pack(&packed, &text);
	ck_assert_int_eq(zstd_codec.unpack(&out, packed.data, packed.len, NULL), 0);
	ck_assert_uint_eq(out.len, text.len);
	ck_assert_mem_eq(out.data, text.data, text.len);
	if (support_has("zstd")) {
		support_run(&r, support_tmpdir(), "zstd -q -dc x.log.zst");
		ck_assert_int_eq(r.status, 0);
		ck_assert_uint_eq(r.out.len, text.len);
	}
}

/*
 * Files that the library compressed: one frame, with and without a checksum, of every size
 * around those of the block and the buffer. All of it unpacks, and every prefix is an error.
 */

#define BLOCK 131072

enum { ONE_SHOT, CHECKED, STREAMED, PROGRAM, WAYS };

static void compress(struct buf *packed, const struct buf *text, int way, int level)
{
	ZSTD_CCtx *ctx = ZSTD_createCCtx();
	ZSTD_inBuffer in = { text->data, text->len, 0 };
	ZSTD_outBuffer out = { 0 };
	struct run r;

	if (way == PROGRAM && support_has("zstd")) {
		support_write(support_path("%s/one", support_tmpdir()), text->data, text->len);
		support_run(&r, support_tmpdir(), "zstd -q -%d -c one", level);
		ck_assert_int_eq(r.status, 0);
		buf_add(packed, r.out.data, r.out.len);
	} else {
		ck_assert(!buf_reserve(packed, ZSTD_compressBound(text->len)));
		out = (ZSTD_outBuffer){ packed->data + packed->len, ZSTD_compressBound(text->len), 0 };
		ZSTD_CCtx_setParameter(ctx, ZSTD_c_compressionLevel, level);
		ZSTD_CCtx_setParameter(ctx, ZSTD_c_checksumFlag, way == CHECKED);
		if (way == STREAMED)
			ck_assert(!ZSTD_isError(ZSTD_compressStream2(ctx, &out, &in, ZSTD_e_flush)));
		ck_assert_uint_eq(ZSTD_compressStream2(ctx, &out, &in, ZSTD_e_end), 0);
		packed->len += out.pos;
	}
	ZSTD_freeCCtx(ctx);
}

static void check_unpacks(const struct buf *packed, const struct buf *text)
{
	RELEASED(buf, out = BUF_INIT);
	struct error err = { 0 };

	ck_assert_msg(!zstd_codec.unpack(&out, packed->data, packed->len, &err),
		      "%zu of %zu bytes: %s", packed->len, text->len, err.message);
	ck_assert_uint_eq(out.len, text->len);
	ck_assert(!memcmp(buf_str(&out), text->data, text->len));
}

/* From a copy of exact size. */
static void check_truncated(const struct buf *packed, size_t n, const struct buf *text)
{
	RELEASED(buf, out = BUF_INIT);
	struct error err = { 0 };
	char *copy = malloc(n + !n);

	memcpy(copy, packed->data, n);
	ck_assert_msg(zstd_codec.unpack(&out, copy, n, &err) == -EINVAL,
		      "%zu bytes of %zu: not an error", n, packed->len);
	ck_assert_str_eq(err.message, "the compressed data is truncated");
	ck_assert_uint_le(out.len, text->len);
	ck_assert(!memcmp(buf_str(&out), text->data, out.len));
	free(copy);
}

enum { ZEROS, TEXT, NOISE, KINDS };

static void make_data(struct buf *b, int kind, size_t len)
{
	uint64_t seed = 1;

	buf_add(b, "", 0);
	if (kind == TEXT)
		make_text(b, len);
	while (b->len < len) {
		seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
		buf_addc(b, kind == NOISE ? (char)(seed >> 56) : '\0');
	}
	buf_cut(b, len);
}

/* The parameter is the number of blocks. */
TEST_LOOP(frames_of_others, 5)
{
	for (int c = 0; c < KINDS * WAYS * 5; c++) {
		size_t len = BLOCK * (size_t)_i + (size_t)(c % 5), step;
		struct buf text = BUF_INIT, packed = BUF_INIT;
		int way = c / 5 % WAYS;

		len -= len < 2 ? 0 : 2;
		make_data(&text, c / 5 / WAYS, len);
		compress(&packed, &text, way, 1 + c % 4);
		check_unpacks(&packed, &text);
		step = packed.len / 4 + 1;
		for (size_t n = 0; n < packed.len; n += packed.len - n > 6 ? step : 1)
			check_truncated(&packed, n, &text);
		buf_release(&text);
		buf_release(&packed);
	}
}

/* Several frames, with skippable ones first, between and last. */
TEST(several_frames)
{
	static const char skipped[] = "\x50\x2a\x4d\x18\x05\0\0\0abcde";
	RELEASED(buf, text = BUF_INIT, packed = BUF_INIT, all = BUF_INIT);

	for (int i = 0; i < 6; i++) {
		make_data(&text, i % KINDS, BLOCK * (size_t)(i % 3));
		buf_add(&all, text.data, text.len);
		if (i % 2)
			buf_add(&packed, skipped, sizeof skipped - 1);
		compress(&packed, &text, i % WAYS, 3);
		check_unpacks(&packed, &all);
		for (size_t n = 1; n < 20 && i % 3; n++)
			check_truncated(&packed, packed.len - n, &all);
		buf_clear(&text);
	}
	for (size_t n = 1; n < sizeof skipped - 1; n++) {
		buf_add(&packed, skipped, n);
		check_truncated(&packed, packed.len, &all);
		buf_cut(&packed, packed.len - n);
	}
	buf_add(&packed, skipped, sizeof skipped - 1);
	check_unpacks(&packed, &all);
}

/* Truncated at every length, or with a wrong byte: an error or the right text, whose output
 * is a prefix of the text. */
TEST(damaged)
{
	RELEASED(buf, text = BUF_INIT, packed, out = BUF_INIT);
	struct error err;

	make_text(&text, 3000);
	pack(&packed, &text);
	for (size_t n = 0; n < packed.len; n++) {
		buf_clear(&out);
		ck_assert_int_eq(zstd_codec.unpack(&out, packed.data, n, &err), -EINVAL);
		ck_assert_uint_le(out.len, text.len);
		ck_assert(!out.len || !memcmp(out.data, text.data, out.len));
	}
	for (size_t i = 0; i < packed.len; i++) {
		int r;

		buf_clear(&out);
		packed.data[i] ^= 0x20;
		r = zstd_codec.unpack(&out, packed.data, packed.len, &err);
		packed.data[i] ^= 0x20;
		ck_assert(r == -EINVAL || r == -EFBIG ||
			  (r == 0 && out.len == text.len));
	}
}

/* 200 MB of zeros in a few KB are refused. */
TEST(bomb)
{
	struct buf packed, out = BUF_INIT;
	struct error err;
	struct run r;
	int dir = open(support_tmpdir(), O_RDONLY | O_DIRECTORY);

	support_run(&r, support_tmpdir(), "truncate -s 200M bomb.log");
	ck_assert_int_eq(zstd_pack(dir, "bomb.log", NULL, NULL, &err), 0);
	support_read(&packed, support_path("%s/bomb.log.zst", support_tmpdir()));
	ck_assert_uint_lt(packed.len, 100000);
	ck_assert_int_eq(zstd_codec.unpack(&out, packed.data, packed.len, &err), -EFBIG);
	ck_assert_uint_lt(out.len, 110u << 20);
	buf_release(&packed);
	buf_release(&out);
	close(dir);
}

TEST(cannot_write)
{
	struct error err;
	int dir = open("/proc/self", O_RDONLY | O_DIRECTORY);

	ck_assert_int_lt(zstd_pack(dir, "status", NULL, NULL, &err), 0);
	ck_assert_str_eq(err.path, "status");
	ck_assert_int_eq(zstd_pack(dir, "nothing.log", NULL, NULL, &err), -ENOENT);
	close(dir);
}

TEST_MAIN(zstd);
