/* SPDX-License-Identifier: MIT */
#include "base/protobuf.h"
#include "tests/support.h"

static const char schema[] =
	"syntax = \"proto3\";\n"
	"message M {\n"
	"  uint64 n = 1; int64 i = 2; fixed64 g = 4; double d = 5;\n"
	"  string s = 6; bytes b = 536870911; M m = 16; repeated fixed64 p = 17;\n"
	"  repeated double q = 18; repeated uint64 v = 19;\n"
	"}\n";

/* What protoc prints for a message. */
static const char *decode(const struct buf *message)
{
	const char *dir = support_tmpdir();
	static struct run r;

	ck_assert_int_eq(buf_error(message), 0);
	support_writes(support_path("%s/m.proto", dir), schema);
	support_write(support_path("%s/m", dir), message->data, message->len);
	support_run(&r, dir, "protoc --decode=M m.proto <m");
	ck_assert_msg(!r.status, "%s", r.err.data);
	return r.out.data;
}

TEST(kinds)
{
	RELEASED(buf, out = BUF_INIT);
	size_t outer, inner;

	SKIP_IF(!support_has("protoc"));
	protobuf_varint(&out, 1, UINT64_MAX);
	protobuf_varint(&out, 2, (uint64_t)INT64_MIN);
	protobuf_fixed64(&out, 4, UINT64_C(0x8000000000000003));
	protobuf_double(&out, 5, -0.25);
	protobuf_str(&out, 6, "a\nb");
	protobuf_bytes(&out, 536870911, "\0\1", 2);
	outer = protobuf_begin(&out, 16);
	inner = protobuf_begin(&out, 16);
	protobuf_end(&out, inner);
	protobuf_bytes(&out, 6, NULL, 0);
	protobuf_varint(&out, 1, 127);
	protobuf_end(&out, outer);
	outer = protobuf_begin(&out, 17);
	protobuf_packed_fixed64(&out, 1);
	protobuf_packed_fixed64(&out, UINT64_MAX);
	protobuf_end(&out, outer);
	outer = protobuf_begin(&out, 18);
	protobuf_packed_double(&out, 0.5);
	protobuf_end(&out, outer);
	outer = protobuf_begin(&out, 19);
	protobuf_packed_varint(&out, 0);
	protobuf_packed_varint(&out, UINT64_MAX);
	protobuf_end(&out, outer);
	ck_assert_str_eq(decode(&out),
			 "n: 18446744073709551615\ni: -9223372036854775808\n"
			 "g: 9223372036854775811\nd: -0.25\ns: \"a\\nb\"\n"
			 "m {\n  n: 127\n  m {\n  }\n}\n"
			 "p: 1\np: 18446744073709551615\nq: 0.5\nv: 0\nv: 18446744073709551615\n"
			 "b: \"\\000\\001\"\n");
}

/* A length and the bytes after it that it counts; the first byte is the key. */
static void has_length(const struct buf *out, size_t at, size_t len, size_t bytes)
{
	uint64_t n = 0;

	for (size_t i = 0; i < bytes; i++) {
		unsigned char c = (unsigned char)out->data[at + i];

		n |= (uint64_t)(c & 0x7f) << 7 * i;
		ck_assert_int_eq(c >> 7, i + 1 < bytes);
	}
	ck_assert_uint_eq(n, len);
}

/* Messages in messages, around the lengths at which a length needs another byte. */
TEST(lengths)
{
	static const size_t edge[] = { 0, 127, 128, 16383, 16384, 2097151, 2097152 };
	char *zeros = calloc(1, 2097152);
	struct buf out = BUF_INIT;

	ck_assert_ptr_nonnull(zeros);
	for (size_t i = 0; i < ARRAY_SIZE(edge); i++) {
		size_t bytes = edge[i] < 128 ? 1 : edge[i] < 16384 ? 2 : edge[i] < 2097152 ? 3 : 4;
		size_t outer, inner;

		buf_clear(&out);
		outer = protobuf_begin(&out, 1);
		inner = protobuf_begin(&out, 2);
		buf_add(&out, zeros, edge[i]);
		protobuf_end(&out, inner);
		protobuf_end(&out, outer);
		inner = out.len - edge[i] - bytes;
		has_length(&out, inner, edge[i], bytes);
		ck_assert_int_eq(out.data[inner - 1], 2 << 3 | 2);
		has_length(&out, 1, out.len - (inner - 1), inner - 2);
		ck_assert_uint_eq(strlen(out.data + out.len), 0);
	}
	buf_release(&out);
	free(zeros);
}

/* A message that does not fit: the error remains, and nothing is written outside. */
TEST(too_small)
{
	char memory[200];

	for (size_t cap = 1; cap < sizeof memory; cap++) {
		struct buf out;
		size_t at;

		memset(memory, '#', sizeof memory);
		buf_init_fixed(&out, memory, cap);
		at = protobuf_begin(&out, 1);
		for (unsigned i = 1; i < 12; i++)
			protobuf_str(&out, i, "0123456789");
		protobuf_fixed64(&out, 1, 1);
		protobuf_end(&out, at);
		ck_assert_int_eq(buf_error(&out), cap < 148 ? -ENOBUFS : 0);
		for (size_t i = cap; i < sizeof memory; i++)
			ck_assert_int_eq(memory[i], '#');
	}
}

TEST_MAIN(protobuf);
