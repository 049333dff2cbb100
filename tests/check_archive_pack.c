/* SPDX-License-Identifier: MIT */
#include "archive/pack.h"
#include "base/sha1.h"
#include "tests/made_build.h"
#include "tests/noise.h"
#include "tests/support.h"

/* Packs as git reads them, joined packs, and damaged ones. */

#define OBJECTS_MAX 400

static const struct { const char *text, *sum; } sums[] = {
	{ "", "da39a3ee5e6b4b0d3255bfef95601890afd80709" },
	{ "abc", "a9993e364706816aba3e25717850c26c9cd0d89d" },
	{ "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
	  "84983e441c3bd26ebaae4aa1f95129e5e54670f1" },
};

TEST_EACH(sha1_sums, sums)
{
	unsigned char sum[SHA1_SIZE];
	char text[2 * SHA1_SIZE + 1];

	sha1(sum, sums[_i].text, strlen(sums[_i].text));
	for (int i = 0; i < SHA1_SIZE; i++)
		snprintf(text + 2 * i, 3, "%02x", sum[i]);
	ck_assert_str_eq(text, sums[_i].sum);
}

/* Object i: the same bytes each time; text, zeros or noise, of any size. */
static void content(struct buf *out, unsigned i)
{
	struct noise n = { i };
	size_t len = (size_t)(pow(noise_uniform(&n), 4) * 70000);

	buf_clear(out);
	for (size_t k = 0; k < len; k++)
		buf_addc(out, i % 3 ? (char)(noise_uniform(&n) * (i % 3 == 1 ? 256 : 4)) : '\0');
	buf_addu(out, i);
}

static void add(struct pack *p, unsigned first, unsigned end)
{
	RELEASED(buf, text = BUF_INIT);
	git_oid id;

	for (unsigned i = first; i < end; i++) {
		content(&text, i);
		ck_assert_int_eq(git_odb_hash(&id, text.data, text.len, GIT_OBJECT_BLOB), 0);
		ck_assert_int_eq(pack_add(p, &id, GIT_OBJECT_BLOB, text.data, text.len), 0);
	}
}

static void check(const struct pack *p, unsigned first, unsigned end)
{
	RELEASED(buf, text = BUF_INIT);

	ck_assert_uint_eq(p->n, end - first);
	for (unsigned i = first; i < end; i++) {
		const struct pack_entry *e;
		git_object_t type;
		char *back;
		git_oid id;
		size_t len;

		content(&text, i);
		git_odb_hash(&id, text.data, text.len, GIT_OBJECT_BLOB);
		e = pack_find(p, &id);
		ck_assert_ptr_nonnull(e);
		pack_header(p, e, &type, &len);
		ck_assert_int_eq(type, GIT_OBJECT_BLOB);
		ck_assert_uint_eq(len, text.len);
		back = malloc(len + 1);
		ck_assert_int_eq(pack_read(p, e, back, len), 0);
		ck_assert(!memcmp(back, text.data, len));
		free(back);
	}
}

/* The index is the one that git writes for the pack, byte by byte. */
static void compare_with_git(const struct pack *p, const struct buf *idx)
{
	const char *dir = support_tmpdir();

	support_write(support_path("%s/a.pack", dir), p->bytes.data, p->bytes.len);
	support_write(support_path("%s/a.idx", dir), idx->data, idx->len);
	support_expect(dir, 0, NULL, NULL, "git index-pack --strict -o b.idx a.pack && "
		       "cmp a.idx b.idx && git verify-pack a.idx");
}

static const unsigned numbers[] = { 0, 1, 2, 17, OBJECTS_MAX };

TEST_EACH(packs_are_those_of_git, numbers)
{
	RELEASED(pack, p = PACK_INIT);
	RELEASED(buf, idx = BUF_INIT);

	add(&p, 0, numbers[_i]);
	add(&p, 0, numbers[_i]);	/* again: nothing new */
	check(&p, 0, numbers[_i]);
	ck_assert_int_eq(pack_end(&p, &idx), 0);
	compare_with_git(&p, &idx);
	ck_assert(pack_idx_is_sane(&idx, p.bytes.len));
}

TEST(joined_packs)
{
	RELEASED(pack, all = PACK_INIT);
	RELEASED(buf, idx = BUF_INIT);

	/* Each shares objects with the one before. */
	for (unsigned first = 0; first < 100; first += 20) {
		struct pack p = PACK_INIT;

		add(&p, first, first + 25);
		buf_clear(&idx);
		ck_assert_int_eq(pack_end(&p, &idx), 0);
		ck_assert_int_eq(pack_join(&all, &p.bytes, &idx, NULL), 0);
		pack_release(&p);
	}
	check(&all, 0, 105);
	buf_clear(&idx);
	ck_assert_int_eq(pack_end(&all, &idx), 0);
	compare_with_git(&all, &idx);
}

/* A pack of git has deltas. */
TEST(deltas)
{
	RELEASED(pack, p = PACK_INIT);
	RELEASED(buf, pack, idx);
	git_repository *git;
	const char *name;
	struct run r;
	git_odb *odb;

	support_run(&r, support_tmpdir(), "git init -q --bare a.git && cd a.git && "
		    "for i in $(seq 1000 1050); do seq $i 3000 | git hash-object -w --stdin; done | "
		    "git pack-objects -q objects/pack/pack >/dev/null && git prune-packed && "
		    "git verify-pack -v objects/pack/*.idx | grep -q 'chain length' && "
		    "ls objects/pack/*.idx");
	ck_assert_msg(!r.status, "%s", r.err.data);
	name = support_path("%s/a.git/%.*s", support_tmpdir(), (int)r.out.len - 5, r.out.data);
	support_read(&pack, support_path("%s.pack", name));
	support_read(&idx, support_path("%s.idx", name));
	ck_assert(pack_idx_is_sane(&idx, pack.len));
	ck_assert_int_eq(git_repository_open(&git, support_path("%s/a.git", support_tmpdir())), 0);
	ck_assert_int_eq(git_repository_odb(&odb, git), 0);
	ck_assert_int_eq(pack_join(&p, &pack, &idx, odb), 0);
	ck_assert_uint_eq(p.n, 51);
	buf_clear(&idx);
	ck_assert_int_eq(pack_end(&p, &idx), 0);
	compare_with_git(&p, &idx);
	git_odb_free(odb);
	git_repository_free(git);
}

/* Each damaged pack is refused, and what was joined before is unchanged. */
TEST(damaged_packs)
{
	RELEASED(pack, from = PACK_INIT, to = PACK_INIT);
	RELEASED(buf, idx = BUF_INIT);

	add(&to, 0, 5);
	add(&from, 3, 12);
	ck_assert_int_eq(pack_end(&from, &idx), 0);
	for (size_t i = 0; i < from.bytes.len - SHA1_SIZE; i += 7) {
		from.bytes.data[i] ^= (char)(1 << i % 8);
		ck_assert_int_eq(pack_join(&to, &from.bytes, &idx, NULL), -EINVAL);
		from.bytes.data[i] ^= (char)(1 << i % 8);
	}
	for (size_t i = 0; i < idx.len; i++) {
		idx.data[i] ^= (char)(1 << i % 8);
		pack_idx_is_sane(&idx, from.bytes.len);
		ck_assert_int_eq(pack_join(&to, &from.bytes, &idx, NULL), -EINVAL);
		idx.data[i] ^= (char)(1 << i % 8);
	}
	for (size_t len = 0; len < idx.len; len += 3) {
		struct buf cut = { .data = idx.data, .len = len };

		ck_assert(!pack_idx_is_sane(&cut, from.bytes.len));
		ck_assert_int_eq(pack_join(&to, &from.bytes, &cut, NULL), -EINVAL);
	}
	check(&to, 0, 5);
	ck_assert_int_eq(pack_join(&to, &from.bytes, &idx, NULL), 0);
	check(&to, 0, 12);
}

/* An offset that is in the table of large ones, which ends before the checksums: whatever these are, they
 * are no offsets. */
TEST(large_offsets)
{
	RELEASED(pack, p = PACK_INIT);
	RELEASED(buf, idx = BUF_INIT);
	char *offset, entry[8] = { 0 };

	add(&p, 0, 1);
	ck_assert_int_eq(pack_end(&p, &idx), 0);
	offset = idx.data + idx.len - 2 * SHA1_SIZE - 4;
	memcpy(offset, "\x80\0\0\0", 4);
	memset(idx.data + idx.len - 2 * SHA1_SIZE, 0, 2 * SHA1_SIZE);
	for (size_t i = 7; i < 2 * SHA1_SIZE; i += 8)
		idx.data[idx.len - 2 * SHA1_SIZE + i] = (char)(p.bytes.len / 2);
	ck_assert(!pack_idx_is_sane(&idx, p.bytes.len));
	entry[7] = (char)(p.bytes.len / 2);
	buf_add(&idx, entry, sizeof entry);			/* a table with one entry */
	ck_assert_int_eq(buf_error(&idx), 0);
	ck_assert(pack_idx_is_sane(&idx, p.bytes.len));
	offset = idx.data + idx.len - 8 - 2 * SHA1_SIZE - 4;
	offset[3] = 1;						/* the entry behind it */
	ck_assert(!pack_idx_is_sane(&idx, p.bytes.len));
}

TEST_PROGRAM(archive_pack)
{
	made_environment();
	git_libgit2_init();
	return support_main();
}
