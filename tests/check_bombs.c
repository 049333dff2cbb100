/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "convert/gunzip.h"
#include "tests/launched.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zlib.h>

/* Small files that unpack to large ones are refused with a message that says what to do, and
 * within little memory (a limit of the address space). */

#define MIB ((size_t)1 << 20)
#define MEMORY "ulimit -v 786432; "	/* KiB */

/* head, then unit repeated to size bytes, then tail. */
static void write_gzip(const char *path, const char *head, const char *unit, const char *tail,
		       size_t size)
{
	static char block[1 << 16];
	size_t n = strlen(unit), len = 0;
	gzFile f = gzopen(path, "wb9");

	ck_assert_ptr_nonnull(f);
	while (len + n <= sizeof block) {
		memcpy(block + len, unit, n);
		len += n;
	}
	gzwrite(f, head, (unsigned)strlen(head));
	for (size_t done = 0; done < size; done += len)
		ck_assert_int_eq(gzwrite(f, block, (unsigned)len), (int)len);
	gzwrite(f, tail, (unsigned)strlen(tail));
	ck_assert_int_eq(gzclose(f), Z_OK);
}

static const struct { const char *name, *format, *head, *unit, *tail; } cases[] = {
	{ "many events", "chrome", "[", "{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"pid\":1,\"tid\":1,\"name\":\"a\"},",
	  "{}]" },
	{ "one string", "chrome", "[{\"ph\":\"X\",\"ts\":1,\"dur\":1,\"pid\":1,\"tid\":1,\"name\":\"", "aaaaaaaaaaaaaaaa",
	  "\"}]" },
	{ "many lists", "chrome", "[", "[[[[[[[[", "]" },
	{ "many lines", "ninja", "# ninja log v5\n", "1\t2\t0\tx\tab\n", "" },
	{ "one line", "ninja", "# ninja log v5\n", "1111111111111111", "" },
	{ "bazel", "bazel", "{\"otherData\":{},\"traceEvents\":[",
	  "{\"cat\":\"action processing\",\"name\":\"a\",\"ph\":\"X\",\"ts\":1,\"dur\":1,\"pid\":1,\"tid\":1},",
	  "{}]}" },
};

TEST_EACH(gzip_is_bounded, cases)
{
	const char *top = support_tmpdir();
	struct run r;

	write_gzip(support_path("%s/bomb.gz", top), cases[_i].head, cases[_i].unit, cases[_i].tail,
		   600 * MIB);
	support_run(&r, top, MEMORY "%s import -o out --from %s bomb.gz", BUILDBEAT, cases[_i].format);
	ck_assert_msg(r.status == 2, "%s: %d %s", cases[_i].name, r.status, r.err.data);
	ck_assert_str_eq(r.out.data, "");
	ck_assert_msg(!strstr(r.err.data, "Cannot allocate"), "%s: %s", cases[_i].name, r.err.data);
	ck_assert(!support_exists(support_path("%s/out/latest", top)));
	support_expect(top, 2, NULL, NULL, MEMORY "%s show bomb.gz", BUILDBEAT);
}

TEST(limit_is_reported_and_raised)
{
	const char *top = support_tmpdir();
	struct run r;

	write_gzip(support_path("%s/big.gz", top), cases[0].head, cases[0].unit, cases[0].tail,
		   70 * MIB);
	support_run(&r, top, "%s import -o out --from chrome big.gz", BUILDBEAT);
	ck_assert_int_eq(r.status, 2);
	ck_assert_msg(strstr(r.err.data, "big.gz: unpacks to more than 64 MiB") &&
		      strstr(r.err.data, "--import-limit"), "%s", r.err.data);
	support_expect(top, 0, NULL, NULL,
		       "%s import -o out --from chrome --import-limit 100MiB big.gz", BUILDBEAT);
	support_writes(support_path("%s/buildbeat.yaml", top), "import-limit: 1MiB\n");
	support_expect(top, 2, NULL, "more than 1 MiB",
		       "%s import -o out --from chrome big.gz", BUILDBEAT);
	support_expect(top, 2, NULL, NULL, "%s import -o out --import-limit 5s big.gz", BUILDBEAT);
}

#define MEMBER_ZEROS (8 * MIB)
#define MEMBER_NOISE (512u << 10)		/* so that it is packed to a sixteenth */

/* A member of gzip into the pipe again and again. */
static void feed(const char *member, const char *pipe)
{
	struct buf text = BUF_INIT;
	int fd = open(pipe, O_WRONLY | O_CLOEXEC);

	signal(SIGPIPE, SIG_DFL);
	support_read(&text, member);
	while (fd >= 0 && write(fd, text.data, text.len) > 0)
		;
	_exit(0);
}

/* What is packed by less than 32 to 1 is read up to a gigabyte. */
TEST(large_is_bounded)
{
	const char *top = support_tmpdir(), *pipe = support_path("%s/pipe", top);
	const char *member = support_path("%s/member.gz", top);
	static char block[MIB];
	struct error err = { 0 };
	struct gunzip *g;
	uint64_t total = 0;
	ssize_t n = 1;
	pid_t child;
	int r;

	support_expect(top, 0, "", "", "{ head -c %zu /dev/zero; head -c %u /dev/urandom; } | gzip -1 >member.gz; "
		       "mkfifo pipe", MEMBER_ZEROS, MEMBER_NOISE);
	child = fork();
	ck_assert_int_ge(child, 0);
	if (!child)
		feed(member, pipe);
	g = gunzip_open(pipe, &r, &err);
	ck_assert_ptr_nonnull(g);
	while (n > 0 && total < 1100 * MIB) {
		n = gunzip_read(g, block, sizeof block, &err);
		total += n > 0 ? (uint64_t)n : 0;
	}
	gunzip_close(g);
	ck_assert_int_eq(waitpid(child, &r, 0), child);
	ck_assert_int_lt(n, 0);
	ck_assert_msg(strstr(err.message, "unpacks to more than 1024 MiB"), "%s", err.message);
	ck_assert_uint_ge(total, 1020 * MIB);
}

/* <zstd.h> is hidden by our own header of that name. */
size_t ZSTD_compress(void *to, size_t room, const void *from, size_t len, int level);

/* A packed log of a recording. */
TEST(zstd_is_bounded)
{
	static char block[1 << 20];
	const char *top = support_tmpdir();
	char frame[65536], *packed;
	size_t n, len = 0;
	struct run r;

	for (size_t i = 0; i < sizeof block; i++)
		block[i] = "note\t0\ta\tx\n"[i % 11];
	n = ZSTD_compress(frame, sizeof frame, block, sizeof block, 3);
	ck_assert_uint_lt(n, 1000);
	packed = malloc(2000 * n);
	for (; len < 2000 * n; len += n)
		memcpy(packed + len, frame, n);
	support_run(&r, top, "mkdir rec && printf 'buildbeat build 1\\nstart_wall_ns: 1\\nstart_mono_ns: 1\\n'"
		    " >rec/build");
	support_write(support_path("%s/rec/tasks.log.zst", top), packed, len);
	free(packed);
	support_run(&r, top, MEMORY "%s show rec", BUILDBEAT);
	ck_assert_msg(strstr(r.out.data, "unpacks to more than") != NULL, "%d %s%s", r.status,
		      r.out.data, r.err.data);
}

/* A blob of an archive that unpacks to a gigabyte of zeros. */
TEST(archive_is_bounded)
{
	const char *top = support_tmpdir();
	struct run r;

	SKIP_IF(!support_has("git"));
	support_run(&r, top, "export GIT_CONFIG_NOSYSTEM=1 HOME=$PWD; %s record --no-git -o out -n one -- "
		    "true && %s archive --repo repo.git out/one && cd repo.git && ref=$(git for-each-ref "
		    "--format='%%(refname)' refs/heads | head -n 1) && "
		    "big=$(head -c 1000000000 /dev/zero | git -c core.compression=1 hash-object -w --stdin) && "
		    "tree=$(git ls-tree -r $ref | sed \"s/blob [0-9a-f]*/blob $big/\" | "
		    "GIT_INDEX_FILE=index.tmp sh -c 'git update-index --index-info && git write-tree') && "
		    "git update-ref $ref $(git -c user.name=x -c user.email=x@x commit-tree -m \"$(git log -1 --format=%%B $ref)\" $tree) && "
		    "git repack -adq", BUILDBEAT, BUILDBEAT);
	ck_assert_msg(!r.status, "%s", r.err.data);
	support_run(&r, top, MEMORY "%s history --repo repo.git; %s check --repo repo.git", BUILDBEAT,
		    BUILDBEAT);
	ck_assert_msg(!strstr(r.err.data, "allocate") && !strstr(r.err.data, "memory") && r.status == 2,
		      "%d %s", r.status, r.err.data);
}

TEST_PROGRAM(bombs)
{
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
	return support_skips_all("the sanitizer's shadow takes all of the address space");
#endif
	return support_main();
}
