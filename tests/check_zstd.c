/* SPDX-License-Identifier: MIT */
#include "convert/zstd.h"
#include "tests/support.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* A text of lines that differ, of about len bytes. */
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

START_TEST(round_trip)
{
	struct buf text = BUF_INIT, packed, out = BUF_INIT;
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
		support_run_release(&r);
	}
	buf_release(&text);
	buf_release(&packed);
	buf_release(&out);
}
END_TEST

START_TEST(several_frames)
{
	struct buf text = BUF_INIT, packed, twice = BUF_INIT, out = BUF_INIT;

	make_text(&text, 5000);
	pack(&packed, &text);
	buf_add(&twice, packed.data, packed.len);
	buf_add(&twice, packed.data, packed.len);
	ck_assert_int_eq(zstd_codec.unpack(&out, twice.data, twice.len, NULL), 0);
	ck_assert_uint_eq(out.len, 2 * text.len);
	buf_release(&text);
	buf_release(&packed);
	buf_release(&twice);
	buf_release(&out);
}
END_TEST

/* Cut at every length, or a byte wrong anywhere: an error or the right text, and
 * what comes out first is the beginning of the text. */
START_TEST(damaged)
{
	struct buf text = BUF_INIT, packed, out = BUF_INIT;
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
	buf_release(&text);
	buf_release(&packed);
	buf_release(&out);
}
END_TEST

/* 200 MB of zeros in a few KB: bounded. */
START_TEST(bomb)
{
	struct buf packed, out = BUF_INIT;
	struct error err;
	struct run r;
	int dir = open(support_tmpdir(), O_RDONLY | O_DIRECTORY);

	support_run(&r, support_tmpdir(), "truncate -s 200M bomb.log");
	support_run_release(&r);
	ck_assert_int_eq(zstd_pack(dir, "bomb.log", NULL, NULL, &err), 0);
	support_read(&packed, support_path("%s/bomb.log.zst", support_tmpdir()));
	ck_assert_uint_lt(packed.len, 100000);
	ck_assert_int_eq(zstd_codec.unpack(&out, packed.data, packed.len, &err), -EFBIG);
	ck_assert_uint_lt(out.len, 110u << 20);
	buf_release(&packed);
	buf_release(&out);
	close(dir);
}
END_TEST

START_TEST(cannot_write)
{
	struct error err;
	int dir = open("/proc/self", O_RDONLY | O_DIRECTORY);

	ck_assert_int_lt(zstd_pack(dir, "status", NULL, NULL, &err), 0);
	ck_assert_str_eq(err.path, "status");
	ck_assert_int_eq(zstd_pack(dir, "nothing.log", NULL, NULL, &err), -ENOENT);
	close(dir);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("zstd");
	TCase *t = tcase_create("zstd");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, round_trip, 0, sizeof sizes / sizeof *sizes);
	tcase_add_test(t, several_frames);
	tcase_add_test(t, damaged);
	tcase_add_test(t, bomb);
	tcase_add_test(t, cannot_write);
	suite_add_tcase(s, t);
	return support_main(s);
}
