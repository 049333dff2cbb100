/* SPDX-License-Identifier: MIT */
/* What is found out about tasks after the build: their files, and what a compiler cache did. */
#include "base/array.h"
#include "launch/cache_log.h"
#include "recording/recording_write.h"
#include "recording/results.h"
#include "tests/launched.h"
#include "tests/make_host.h"
#include "tests/recorded.h"
#include "tests/same.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* "name=PATH:BYTES,PATH:BYTES name2=..." of the tasks with files, and "name!result" of those with a
 * result of a cache, in the order of their names. */
static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static const char *told(const struct recording *rec)
{
	static struct buf all;
	char **text = calloc(rec->n_tasks + 1, sizeof *text);
	size_t n = 0;

	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];
		struct buf b = BUF_INIT;
		int64_t sum = 0;

		buf_adds(&b, t->name);
		for (uint32_t k = 0; k < t->n_files; k++) {
			const struct recording_file *f = &rec->file[t->first_file + k];

			buf_addf(&b, "%s%s:%lld", k ? "," : "=", f->path, (long long)f->bytes);
			sum += f->bytes;
		}
		ck_assert_int_eq(t->files_bytes, t->n_files ? sum : -1);
		if (t->cache)
			buf_addf(&b, "!%s", results_cache_word[t->cache]);
		if (t->n_files || t->cache)
			text[n++] = strdup(buf_str(&b));
		buf_release(&b);
	}
	qsort(text, n, sizeof *text, by_text);
	buf_clear(&all);
	for (size_t i = 0; i < n; i++) {
		buf_addf(&all, "%s%s", i ? " " : "", text[i]);
		free(text[i]);
	}
	free(text);
	return buf_str(&all);
}

static void expect_told(const char *name, const char *expected)
{
	struct recording rec;

	launched_read(&rec, name);
	ck_assert_str_eq(told(&rec), expected);
	ck_assert_uint_eq(rec.n_warnings, 0);
	recording_release(&rec);
}

/* Files */

#define SIZED(name, bytes) "head -c " #bytes " /dev/zero >" name

/* Each row: commands that run before, the makefile, and the files of its tasks. */
static const struct { const char *what, *before, *make, *files; } builds[] = {
	{ "a target", "true", "a:;" SIZED("a", 10) "\n", "a=a:10" },
	{ "no file", "true", "a:;true\n", "" },
	{ "an old file", "touch -d 2020-01-01 a", ".PHONY: a\na:;true\n", "" },
	{ "a file of an hour ago", ": >a; touch -d '1 hour ago' a", ".PHONY: a\na:;true\n", "" },
	{ "a file with an old time", "true", "a:;" SIZED("a", 3) "; touch -d 2020-01-01 a\n", "" },
	{ "a directory", "true", "a:;mkdir a\n", "" },
	{ "a symbolic link", ": >b", "a:;ln -s b a\n", "" },
	{ "a link to what it wrote", "true", "a:;" SIZED("b", 3) "; ln -s b a\n", "a=b:3" },
	{ "a pipe", "true", "a:;mkfifo a\n", "" },
	{ "an empty file", "true", "a:;: >a\n", "a=a:0" },
	{ "removed again", "true", "a:;: >a\n.PHONY: all\nall: a;rm a\n.DEFAULT_GOAL = all\n", "" },
	{ "a later task wrote it again", "true",
	  "b: a; sleep 0.1; " SIZED("a", 7) "\na:; " SIZED("a", 3) "\n", "b=a:7" },
	{ "a later task changed it, unseen", "printf 'sleep 0.1; echo >>a' >grow",
	  "b: a; sh ./grow\na:; " SIZED("a", 3) "\n", "" },
	{ "two lines, the first writes", "true", "a:\n\t" SIZED("a", 5) "\n\tsleep 0.1\n", "a=a:5" },
	{ "two lines, the second writes", "true", "a:\n\tsleep 0.1\n\t" SIZED("a", 6) "\n", "a=a:6" },
	{ "the file of -o is not the target", "true", "a:;gcc -c x.c -o deep.o\n", "a=deep.o:SIZE" },
	{ "in another directory", "mkdir d; cp x.c d", "a:;cd d && gcc -c x.c -o x.o\n", "a=d/x.o:SIZE" },
	{ "a target with a blank", "true", "x\\ y:;" SIZED("'$@'", 4) "\n", "x y=x y:4" },
	{ "a make inside", "mkdir d; printf 'b:;" SIZED("b", 8) "\\n' >d/Makefile",
	  "d/b:;$(MAKE) -C d\n", "b=b:8" },
	{ "a failed task", "true", "a:;" SIZED("a", 9) "; false\n", "a=a:9" },
	{ "outside", "true", "../outside:;" SIZED("../outside", 2) "\n", "../outside=../outside:2" },
};

static const char *object_size(void)
{
	static char text[32];
	struct run r;

	support_run(&r, support_tmpdir(), "stat -c %%s deep.o d/x.o 2>&- | head -1");
	snprintf(text, sizeof text, "%d", atoi(r.out.data));
	return text;
}

/* As many as a line has room for, whatever is before it. */
TEST(files_of_a_line)
{
	struct recording_file file[100];
	RELEASED(buf, alone = BUF_INIT, behind = BUF_INIT);
	size_t n;

	for (size_t i = 0; i < ARRAY_SIZE(file); i++)
		file[i] = (struct recording_file){ "a/path/of/a/file/that/is/not/very/short/itself", 1000000 };
	n = results_add_files(&alone, "a", 1, file, ARRAY_SIZE(file));
	ck_assert_uint_gt(n, 10);
	ck_assert_uint_lt(n, ARRAY_SIZE(file));
	for (int i = 0; i < 3; i++)
		ck_assert_uint_eq(results_add_files(&behind, "a", 1, file, ARRAY_SIZE(file)), n);
}

TEST_GROUP("files");

TEST_EACH(files_of_make, builds)
{
	const char *top = support_tmpdir(), *size;
	struct buf expected = BUF_INIT;

	SKIP_IF(!make_host_can());
	support_writes(support_path("%s/Makefile", top), builds[_i].make);
	support_writes(support_path("%s/x.c", top), "int x;\n");
	support_expect(top, 0, NULL, NULL, "%s", builds[_i].before);
	support_expect(top, ANY_STATUS, NULL, NULL, RECORD "-n one --task-files -- make -s");
	size = strstr(builds[_i].files, "SIZE");
	buf_add(&expected, builds[_i].files, size ? (size_t)(size - builds[_i].files) :
		strlen(builds[_i].files));
	if (size)
		buf_adds(&expected, object_size());
	expect_told("one", buf_str(&expected));
	buf_release(&expected);
	unlink(support_path("%s/../outside", top));
}

/* Without the option nothing is looked for. */
TEST(not_asked)
{
	const char *top = support_tmpdir();

	SKIP_IF(!make_host_can());
	support_writes(support_path("%s/Makefile", top), "a:;: >a\n");
	support_expect(top, 0, "", "", "unset CCACHE_STATSLOG SCCACHE_ERROR_LOG; "
		       RECORD "-n one -- make -s && ! ls stats/one | grep results");
	expect_told("one", "");
}

/* Every file that stat(1) finds after a build, with its size. */
TEST(files_are_those_of_stat)
{
	struct run r;

	SKIP_IF(!make_host_can());
	support_expect(support_tmpdir(), 0, NULL, "", "mkdir src; for i in `seq 40`; do "
		       "echo \"int f$i(void) { return $i; }\" >src/f$i.c; done;"
		       "{ echo 'all: lib.a'; echo 'O := $(patsubst src/%%.c,out/%%.o,$(wildcard src/*.c))';"
		       "echo 'lib.a: $O; ar rcs $@ $^'; echo 'out/%%.o: src/%%.c | out; $(CC) -c $< -o $@';"
		       "echo 'out:; mkdir out'; } >Makefile;" RECORD "-n one --task-files -- make -s -j2");
	support_run(&r, support_tmpdir(), "{ sed -n 's/^files\t[^\t]*\t//p' stats/one/results.log | sort;"
		    "} >recorded; stat -c '%%s\t%%n' out/*.o lib.a | sort | diff - recorded && wc -l <recorded");
	ck_assert_str_eq(r.out.data, "41\n");
}

TEST(files_of_ninja)
{
	const char *top = support_tmpdir();

	SKIP_IF(!support_has("ninja") || !support_can_be_loaded());
	support_expect(top, 0, NULL, NULL, "mkdir -p b/sub; cat >b/build.ninja <<'E'\n"
		       "rule gen\n  command = for i in $out z; do " SIZED("$$i", 11) "; done\n"
		       "rule none\n  command = true\n"
		       "build sub/x y | z: gen\nbuild old: none\nbuild all: phony sub/x old\n"
		       "E\ntouch -d 2020-01-01 b/old; " RECORD "-n one --task-files -- ninja -C b");
	expect_told("one", "sub/x=sub/x:11,y:11,z:11");
}

/* A file system that keeps whole seconds: the time of a file is before its task began. */
TEST(whole_seconds)
{
	const char *top = support_tmpdir();

	SKIP_IF(!make_host_can());
	support_writes(support_path("%s/Makefile", top), "a:;: >a; touch -d @$$(date +%s) a\n");
	support_expect(top, 0, NULL, "", RECORD "-n one --task-files -- make -s");
	expect_told("one", "a=a:0");
}

/* Caches: logs made by hand. Tasks run from START to END in ms in /top/DIR. */

struct caller { int start_ms, end_ms; const char *dir, *command; };

#define DIRECT "direct_cache_hit\nlocal_storage_hit\n"
#define PREPROCESSED "direct_cache_miss\npreprocessed_cache_hit\n"
#define MISS "cache_miss\ndirect_cache_miss\npreprocessed_cache_miss\n"
#define LINK "called_for_link\n"

static const struct {
	const char *what;
	enum cache_kind kind;
	const char *log;
	struct caller task[4];
	const char *results;	/* one a task; "-": unknown */
	int hits, misses, uncacheable;
} joins[] = {
	{ "each its own", CACHE_CCACHE, "# a.c\n" DIRECT "# b.c\n" PREPROCESSED "# c.c\n" MISS "# a.o\n" LINK,
	  { { 0, 9, "", "gcc -c a.c" }, { 0, 9, "", "ccache gcc -c b.c -o b.o" },
	    { 0, 9, "", "gcc -c c.c" }, { 10, 11, "", "gcc a.o b.o -o p" } },
	  "direct preprocessed miss uncacheable", 2, 1, 1 },
	{ "links without a name", CACHE_CCACHE, "# \n" LINK "# a.c\n" MISS "# \nno_input_file\n# \n" LINK,
	  { { 0, 9, "", "gcc -c a.c" }, { 10, 19, "", "gcc a.o b.o -o p" }, { 10, 19, "", "g++ c.o d.o -o q" },
	    { 0, 9, "", "gcc --version" } }, "miss uncacheable uncacheable -", 0, 1, 3 },
	{ "a link without a name, that called ccache", CACHE_CCACHE, "# \n" LINK,
	  { { 0, 9, "", "gcc a.o b.o -o p" }, { 10, 19, "", "ccache gcc c.o d.o -o q" } }, "- uncacheable", 0, 0, 1 },
	{ "more links than entries", CACHE_CCACHE, "# \n" LINK,
	  { { 0, 9, "", "gcc a.o b.o -o p" }, { 10, 19, "", "gcc c.o d.o -o q" } }, "- -", 0, 0, 1 },
	{ "not called for one", CACHE_CCACHE, "# a.c\n" DIRECT,
	  { { 0, 9, "", "gcc -c a.c" }, { 0, 9, "", "gcc -c b.c" } }, "direct -", 1, 0, 0 },
	{ "one name in two directories, one after the other", CACHE_CCACHE, "# x.c\n" MISS "# x.c\n" DIRECT,
	  { { 20, 29, "b", "gcc -c x.c" }, { 0, 9, "a", "gcc -c x.c" } }, "direct miss", 1, 1, 0 },
	{ "at one time, equal results", CACHE_CCACHE, "# x.c\n" MISS "# x.c\n" MISS,
	  { { 5, 29, "b", "gcc -c x.c" }, { 0, 9, "a", "gcc -c x.c" } }, "miss miss", 0, 2, 0 },
	{ "at one time, other results", CACHE_CCACHE, "# x.c\n" MISS "# x.c\n" DIRECT,
	  { { 5, 29, "b", "gcc -c x.c" }, { 0, 9, "a", "gcc -c x.c" } }, "- -", 1, 1, 0 },
	{ "two at one time, and one after them", CACHE_CCACHE, "# x.c\n" MISS "# x.c\n" MISS "# x.c\n" DIRECT,
	  { { 5, 29, "b", "gcc -c x.c" }, { 0, 9, "a", "gcc -c x.c" }, { 30, 31, "c", "gcc -c x.c" } },
	  "miss miss direct", 1, 2, 0 },
	{ "fewer entries than tasks", CACHE_CCACHE, "# x.c\n" MISS,
	  { { 0, 9, "a", "gcc -c x.c" }, { 20, 29, "b", "gcc -c x.c" } }, "- -", 0, 1, 0 },
	{ "only one of the tasks calls ccache", CACHE_CCACHE, "# x.c\n" MISS,
	  { { 0, 9, "a", "gcc -c x.c" }, { 0, 29, "b", "ccache gcc -c x.c" } }, "- miss", 0, 1, 0 },
	{ "named before the call too", CACHE_CCACHE, "# x.c\n" MISS,
	  { { 0, 9, "a", "gcc -c x.c" }, { 0, 29, "b", "gcc -MM x.c && ccache gcc -c x.c" } }, "- miss", 0, 1, 0 },
	{ "named behind the call too", CACHE_CCACHE, "# x.c\n" MISS,
	  { { 0, 9, "a", "gcc -c x.c" }, { 0, 29, "b", "ccache gcc -c x.c && gcc -MM x.c" } }, "- miss", 0, 1, 0 },
	{ "libtool compiles twice", CACHE_CCACHE, "# x.c\n" DIRECT "# x.c\n" MISS,
	  { { 0, 9, "", "/bin/sh ./libtool --tag=CC --mode=compile gcc -c -o x.lo x.c" } }, "miss", 1, 1, 0 },
	{ "libtool compiles twice, the miss first", CACHE_CCACHE, "# x.c\n" MISS "# x.c\n" DIRECT,
	  { { 0, 9, "", "libtool --mode=compile gcc -c x.c" } }, "miss", 1, 1, 0 },
	{ "libtool compiles twice, once without the cache", CACHE_CCACHE, "# x.c\n" DIRECT "# x.c\n" LINK,
	  { { 0, 9, "", "libtool --mode=compile gcc -c x.c" } }, "direct", 1, 0, 1 },
	{ "twice, and twice later", CACHE_CCACHE, "# x.c\n" MISS "# x.c\n" MISS "# x.c\n" DIRECT "# x.c\n" DIRECT,
	  { { 0, 9, "", "libtool --mode=compile gcc -c x.c" },
	    { 10, 19, "", "libtool --mode=compile gcc -DA -c x.c" } }, "miss direct", 2, 2, 0 },
	{ "an archive of the object is no call", CACHE_CCACHE, "# a.o\n" LINK,
	  { { 0, 9, "", "ar rc lib.a a.o" }, { 0, 9, "", "gcc a.o -o p" } }, "- uncacheable", 0, 0, 1 },
	{ "base_dir", CACHE_CCACHE, "# ../src/x.c\n" MISS "# x.c\n" DIRECT,
	  { { 0, 9, "build", "gcc -c /top/src/x.c" }, { 0, 9, "", "cd /top/src && gcc -c /top/src/x.c" } },
	  "miss direct", 1, 1, 0 },
	{ "an absolute path", CACHE_CCACHE, "# /top/x.c\n" DIRECT,
	  { { 0, 9, "", "gcc -c /top/x.c" }, { 0, 9, "", "gcc -c x.c" } }, "direct -", 1, 0, 0 },
	{ "quotes", CACHE_CCACHE, "# a b.c\n" DIRECT, { { 0, 9, "", "gcc -c 'a b.c'" } }, "direct", 1, 0, 0 },
	{ "in a shell", CACHE_CCACHE, "# a.c\n" DIRECT,
	  { { 0, 9, "", "/bin/bash -e -c \"ccache gcc -c a.c\"" } }, "direct", 1, 0, 0 },
	{ "automake's test of the source", CACHE_CCACHE, "# ../s/a.c\n" DIRECT "# b.c\n" MISS,
	  { { 0, 9, "", "gcc -c -o p-a.o `test -f 'a.c' || echo '../s/'`a.c" },
	    { 0, 9, "", "gcc -c -o p-b.o `test -f 'b.c' || echo '../s/'`b.c" } }, "direct miss", 1, 1, 0 },
	{ "a name as part of an option", CACHE_CCACHE, "# a.c\n" DIRECT,
	  { { 0, 9, "", "gcc -include a.c -c b.c" } }, "direct", 1, 0, 0 },
	{ "no name", CACHE_CCACHE, "# \nno_input_file\n", { { 0, 9, "", "gcc --version" } }, "-", 0, 0, 1 },
	{ "damaged", CACHE_CCACHE, "cache_miss\n#\n\n# a.c\ndirect_cache_hi", { { 0, 9, "", "gcc -c a.c" } },
	  "uncacheable", 0, 0, 1 },
	{ "empty", CACHE_CCACHE, "", { { 0, 9, "", "gcc -c a.c" } }, "-", 0, 0, 0 },
	{ "sccache", CACHE_SCCACHE, "[2026-11-23T05:00:00Z DEBUG sccache::server] [a.o]: other words\n"
	  "[2026-11-23T05:00:00Z DEBUG sccache::compiler] [a.o]: Cache hit in 0.001 s\n"
	  "[2026-11-23T05:00:01Z DEBUG sccache::compiler] [b.o]: Cache miss in 0.010 s\n"
	  "[2026-11-23T05:00:01Z DEBUG sccache::compiler] [c.o]: Cache none in 0.010 s\n",
	  { { 0, 9, "", "sccache gcc -c ../a.c" }, { 0, 9, "", "sccache gcc -c b.c -o out/b.o" },
	    { 0, 9, "", "sccache gcc -c c.c" }, { 10, 19, "", "gcc a.o out/b.o c.o -o p" } },
	  "hit miss uncacheable -", 1, 1, 1 },
	{ "sccache, one name in two directories", CACHE_SCCACHE, "[x.o]: Cache miss in 1\n[x.o]: Cache hit in 1\n",
	  { { 0, 9, "a", "sccache gcc -c x.c -o x.o" }, { 10, 19, "b", "sccache gcc -c x.c -o x.o" } },
	  "miss hit", 1, 1, 0 },
	{ "sccache, for one of two with the same name", CACHE_SCCACHE, "[x.o]: Cache hit in 1\n",
	  { { 0, 9, "a", "gcc -c x.c -o x.o" }, { 0, 9, "b", "sccache gcc -c x.c -o x.o" } }, "- hit", 1, 0, 0 },
	{ "sccache, torn", CACHE_SCCACHE, "[]: Cache hit in\n[: Cache hit in 1\n]: Cache\n[x.o]: Cache hit",
	  { { 0, 9, "", "sccache gcc -c x.c -o x.o" } }, "-", 0, 0, 0 },
};

TEST_GROUP("logs");

TEST_EACH(joined, joins)
{
	struct cache_log l = CACHE_LOG_INIT(joins[_i].kind);
	enum task_cache result[ARRAY_SIZE(joins[_i].task)] = { CACHE_UNKNOWN };
	struct buf tasks = BUF_INIT, got = BUF_INIT;
	struct recorded r;
	uint32_t n = 0;

	buf_adds(&tasks, "open\t0\ta\t1\t0\t1\tmake\t4\t/top\tmake\n");
	for (; n < ARRAY_SIZE(joins[_i].task) && joins[_i].task[n].command; n++)
		buf_addf(&tasks, "start\t%d\ta.%u\t9\t\t\tt\ndone\t%d\ta.%u\t0\n",
			 joins[_i].task[n].start_ms * 1000, n + 1, joins[_i].task[n].end_ms * 1000, n + 1);
	recorded_make(&r, NULL, buf_str(&tasks), NULL);
	ck_assert_int_eq(cache_log_parse(&l, slice_of(joins[_i].log)), 0);
	for (uint32_t i = 0; i < n; i++) {
		const struct caller *t = &joins[_i].task[i];

		ck_assert_int_eq(cache_log_add_task(&l, i, t->command, support_path(*t->dir ? "/top/%s" :
								"/top%s", t->dir)), 0);
	}
	ck_assert_int_eq(cache_log_join(&l, &r.rec, result), 0);
	for (uint32_t i = 0; i < n; i++)
		buf_addf(&got, "%s%s", i ? " " : "", result[i] ? results_cache_word[result[i]] : "-");
	ck_assert_msg(!strcmp(buf_str(&got), joins[_i].results), "%s: %s", joins[_i].what, buf_str(&got));
	ck_assert_int_eq((int)l.hits, joins[_i].hits);
	ck_assert_int_eq((int)l.misses, joins[_i].misses);
	ck_assert_int_eq((int)l.uncacheable, joins[_i].uncacheable);
	cache_log_release(&l);
	recorded_release(&r);
	buf_release(&tasks);
	buf_release(&got);
}

/* Caches: ccache itself */

#define WITH_CACHE "unset CCACHE_STATSLOG CCACHE_DISABLE; export CCACHE_DIR=$PWD/cache " \
	"CCACHE_CONFIGPATH=$PWD/ccache.conf; "
#define CACHED WITH_CACHE RECORD "--task-cache "

/* Two directories with a source of one name, and one source compiled twice. */
static void write_project(void)
{
	support_expect(support_tmpdir(), 0, "", "", "mkdir a b; : >ccache.conf;"
		       "for i in a b; do echo \"int f_$i(void) { return 1; }\" >$i/x.c; done;"
		       "echo 'int main(void) { return 0; }' >main.c; cat >Makefile <<'E'\n"
		       "all: p o2.o\n"
		       "p: a/x.o b/x.o main.o; $(CC) a/x.o b/x.o main.o -o $@\n"
		       "a/x.o:; cd a && $(CC) -c x.c -o x.o\n"
		       "b/x.o: a/x.o; cd b && $(CC) -c x.c -o x.o\n"
		       "main.o:; $(CC) -c main.c -o main.o\n"
		       "o2.o: main.o; $(CC) -DTWO=2 -O2 -c main.c -o o2.o\n"
		       "clean:; rm -f p *.o */*.o\nE\n");
}

static void expect_counts(const char *name, int hits, int misses, int uncacheable)
{
	struct recording rec;

	launched_read(&rec, name);
	ck_assert_int_eq(recording_build_number(&rec, "ccache_hits"), hits);
	ck_assert_int_eq(recording_build_number(&rec, "ccache_misses"), misses);
	ck_assert_int_eq(recording_build_number(&rec, "ccache_uncacheable"), uncacheable);
	ck_assert_ptr_null(recording_build(&rec, "sccache_hits"));
	recording_release(&rec);
}

#define COLD "a/x.o!miss b/x.o!miss main.o!miss o2.o!miss p!uncacheable"
#define WARM "a/x.o!direct b/x.o!direct main.o!direct o2.o!direct p!uncacheable"

TEST_GROUP("ccache");

TEST(cold_and_warm)
{
	const char *top = support_tmpdir();

	SKIP_IF(!make_host_can() || !support_has("ccache"));
	write_project();
	support_expect(top, 0, NULL, "", CACHED "-n cold -- make -s -j2 CC='ccache gcc' && make -s clean");
	expect_told("cold", COLD);
	expect_counts("cold", 0, 4, 1);
	support_expect(top, 0, NULL, "", CACHED "-n warm -- make -s -j2 CC='ccache gcc' && make -s clean");
	expect_told("warm", WARM);
	expect_counts("warm", 4, 0, 1);
	support_expect(top, 0, NULL, "", CACHED "-n off -- env CCACHE_DISABLE=1 make -s -j2 CC='ccache gcc' "
		       "&& make -s clean; ls stats/off >files; ! grep ccache files");
	expect_told("off", "");
	expect_counts("off", 0, 0, 0);
}

/* Why the first build was slower: its cache was cold. Two warm builds do not differ. */
TEST(difference)
{
	const char *top = support_tmpdir();
	struct run r;

	SKIP_IF(!make_host_can() || !support_has("ccache"));
	write_project();
	support_expect(top, 0, NULL, "", "for i in cold warm again; do (" CACHED
		       "-n $i -- make -s CC='ccache gcc'; make -s clean); done");
	support_run(&r, top, BUILDBEAT " diff stats/cold stats/warm");
	ck_assert_ptr_nonnull(strstr(r.out.data, "ccache"));
	ck_assert_ptr_nonnull(strstr(r.out.data, "0 % of compilations from the cache"));
	ck_assert_ptr_nonnull(strstr(r.out.data, "100 % of compilations from the cache"));
	support_run(&r, top, BUILDBEAT " diff stats/warm stats/again");
	ck_assert_ptr_null(strstr(r.out.data, "from the cache"));
	/* an archive keeps the share */
	SKIP_IF(!support_has("git"));
	support_run(&r, top, "git init -q --bare a && for i in cold warm; do " BUILDBEAT " archive --repo a stats/$i ||"
		    " exit; done >&2 && " BUILDBEAT " diff --repo a");
	ck_assert_msg(!r.status, "%s", r.err.data);
	ck_assert_ptr_nonnull(strstr(r.out.data, " 0 % of compilations from the cache -> 100 % of "));
}

/* ccache in PATH as gcc. */
TEST(masquerade)
{
	const char *top = support_tmpdir();

	SKIP_IF(!make_host_can() || !support_has("ccache"));
	write_project();
	support_expect(top, 0, NULL, "", "mkdir bin; ln -s \"$(command -v ccache)\" bin/gcc; PATH=$PWD/bin:$PATH;"
		       CACHED "-n cold -- make -s -j2 CC=gcc && make -s clean;"
		       RECORD "--task-cache -n warm -- make -s -j2 CC=gcc");
	expect_told("cold", COLD);
	expect_told("warm", WARM);
}

/* The user's own log keeps what it has, gets all entries, and only those of the build are read. */
static const struct { const char *what, *set, *option; } own_logs[] = {
	{ "environment", "export CCACHE_STATSLOG=$PWD/own;", "" },
	{ "environment and option", "export CCACHE_STATSLOG=$PWD/own;", "--task-cache" },
	{ "configuration and option", "echo \"stats_log = $PWD/own\" >ccache.conf;", "--task-cache" },
};

TEST_EACH(own_log, own_logs)
{
	const char *top = support_tmpdir();

	SKIP_IF(!make_host_can() || !support_has("ccache"));
	write_project();
	support_expect(top, 0, "1\n5\n", "", WITH_CACHE "%s ccache gcc -c main.c -o main.o; rm main.o;"
		       RECORD "-n one %s -- make -s CC='ccache gcc' >&2; grep -c main.c own | "
		       "sed 's/^3$/1/'; sed '1,/^#/!{/^#/!d}; /^#/!d; 1d' own | wc -l;",
		       own_logs[_i].set, own_logs[_i].option);
	expect_told("one", "a/x.o!miss b/x.o!miss main.o!direct o2.o!miss p!uncacheable");
	expect_counts("one", 1, 3, 1);
}

TEST(relative_log)
{
	SKIP_IF(!make_host_can() || !support_has("ccache"));
	write_project();
	support_expect(support_tmpdir(), 0, NULL, "CCACHE_STATSLOG is a relative path: 'own'", WITH_CACHE
		       "CCACHE_STATSLOG=own " RECORD "-n one --task-cache -- make -s CC='ccache gcc'");
	expect_told("one", "");
}

TEST(ccache_of_ninja)
{
	SKIP_IF(!support_has("ninja") || !support_has("ccache") || !support_can_be_loaded());
	support_expect(support_tmpdir(), 0, NULL, NULL, "mkdir a b; echo 'int x;' >a/x.c; echo 'int y;' >b/x.c;"
		       ": >ccache.conf; cat >build.ninja <<'E'\n"
		       "rule cc\n  command = ccache gcc $f -c $in -o $out\n"
		       "build a.o: cc a/x.c\nbuild b.o: cc b/x.c\nbuild c.o: cc b/x.c | b.o\n  f = -DC=1\nE\n"
		       CACHED "-n one -- ninja -j2 a.o && rm a.o && " RECORD "-n two --task-cache -- ninja -j2");
	expect_told("one", "a.o!miss");
	expect_told("two", "a.o!direct b.o!miss c.o!preprocessed");
}

/* Only a call to preprocess, or without a source. */
TEST(other_calls)
{
	SKIP_IF(!make_host_can() || !support_has("ccache"));
	support_expect(support_tmpdir(), 0, NULL, "", ": >ccache.conf; echo 'int x;' >x.c; printf "
		       "'all:\\n\\tccache gcc -E x.c >x.i\\n\\tccache gcc --version >v\\n' >Makefile;"
		       CACHED "-n one -- make -s");
	expect_told("one", "all!uncacheable");
	expect_counts("one", 0, 0, 2);
}

/* Reading */

#define TASKS "buildbeat tasks 1\nopen\t10\ta\t1\t0\t1\tmake\t4\t/top\tmake\n" \
	"start\t20\ta.1\t9\t\t\tx\ndone\t30\ta.1\t0\nstart\t40\ta.2\t9\t\t\ty\ndone\t50\ta.2\t0\n"

static const struct { const char *results, *told, *warning; } files[] = {
	{ "files\ta.1\t5\tp\t6\tq\ncache\ta.1\tmiss\nfiles\ta.2\t0\tr\n", "x=p:5,q:6!miss y=r:0", NULL },
	{ "files\ta.1\t5\tp\nfiles\ta.2\t0\tr\nfiles\ta.1\t6\tq\n", "x=p:5,q:6 y=r:0", NULL },
	{ "files\ta.1\t5\tp\\tq\n", "x=p\tq:5", NULL },
	{ "files\ta.1\t5\tp\ncache\ta.1\tdirect\nca", "x=p:5!direct", "truncated" },
	{ "later\ta.1\twords\ncache\ta.1\tlater\ncache\ta.2\thit\n", "y!hit", NULL },
	{ "files\tb.1\t5\tp\nfiles\ta.7\t5\tp\n", "", NULL },
	{ "files\t.1\t5\tp\ncache\t.1\tmiss\n", "", NULL },
	{ "files\ta.1\t-5\tp\n", "", "damaged" },
	{ "files\ta.1\t5\ncache\n\nfiles\ta.x\t1\tq\n", "", "this and 3 more" },
	{ "files\ta.1\t9223372036854775807\tp\n", "x=p:9223372036854775807", NULL },
};

static void write_files(const char *results)
{
	const char *top = support_tmpdir();

	support_expect(top, 0, "", "", "mkdir -p stats/one");
	support_writes(support_path("%s/stats/one/build", top), "buildbeat build 1\nstart_wall_ns: 17\n");
	support_writes(support_path("%s/stats/one/tasks.log", top), TASKS);
	support_writes(support_path("%s/stats/one/results.log", top), results);
}

TEST_GROUP("reading");

TEST_EACH(reader, files)
{
	struct buf text = BUF_INIT;
	struct recording rec;

	buf_addf(&text, RESULTS_HEADER "%s", files[_i].results);
	write_files(buf_str(&text));
	launched_read(&rec, "one");
	ck_assert_str_eq(told(&rec), files[_i].told);
	ck_assert_uint_eq(rec.n_warnings, files[_i].warning ? 1 : 0);
	if (files[_i].warning)
		ck_assert_ptr_nonnull(strstr(rec.warning[0].text, files[_i].warning));
	recording_release(&rec);
	buf_release(&text);
}

/* Without any task, an empty id is no instance. */
TEST(no_tasks)
{
	struct recording rec;

	write_files(RESULTS_HEADER "files\t.1\t5\tp\n");
	support_expect(support_tmpdir(), 0, "", "", "rm stats/one/tasks.log");
	launched_read(&rec, "one");
	ck_assert_uint_eq(rec.n_tasks, 0);
	ck_assert_uint_eq(rec.n_files, 0);
	recording_release(&rec);
}

/* Of a later version: as any file of a recording. */
TEST(later_version)
{
	support_writes(support_path("%s/unused", support_tmpdir()), "");
	write_files("buildbeat results 2\n");
	support_expect(support_tmpdir(), 2, "", "results.log:1: format version 2", BUILDBEAT " show stats/one");
}

/* Thousands of files of one task, with long names. */
TEST(written_again)
{
	struct recording rec, again;
	struct buf text = BUF_INIT;
	struct error err;
	char to[PATH_MAX];

	buf_adds(&text, RESULTS_HEADER);
	for (int i = 0; i < 3000; i++)
		buf_addf(&text, "files\ta.2\t%d\t%0*d\n", i, 1 + i % 900, i);
	buf_adds(&text, "cache\ta.1\tpreprocessed\ncache\ta.2\tuncacheable\n");
	write_files(buf_str(&text));
	launched_read(&rec, "one");
	ck_assert_uint_eq(rec.task[1].n_files, 3000);
	ck_assert_int_eq(rec.task[1].files_bytes, 3000 * 2999 / 2);
	ck_assert_int_eq(recording_write(&rec, STORE_ACCESS_USER, support_tmpdir(), "copy", to, &err), 0);
	recorded_open(&again, to, NULL);
	same_recordings(&rec, &again);
	ck_assert_uint_eq(again.n_files, 3000);
	for (uint32_t i = 0; i < 3000; i++) {
		ck_assert_str_eq(again.file[again.task[1].first_file + i].path,
				 rec.file[rec.task[1].first_file + i].path);
		ck_assert_int_eq(again.file[again.task[1].first_file + i].bytes, i);
	}
	ck_assert_int_eq(again.task[0].cache, CACHE_PREPROCESSED);
	recording_release(&rec);
	recording_release(&again);
	buf_release(&text);
}

TEST_MAIN(results);
