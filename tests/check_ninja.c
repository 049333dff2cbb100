/* SPDX-License-Identifier: MIT */
/* Reading build.ninja and .ninja_log. */
#include "base/array.h"
#include "command/ninja_hash.h"
#include "convert/convert.h"
#include "convert/ninja/ninja_graph.h"
#include "convert/ninja/ninja_log.h"
#include "tests/paths.h"
#include "tests/support.h"

#define DATA TOP_SRCDIR "/tests/data/convert/ninja"

static struct error err;

/* Commands, by the hashes that ninja wrote */

static uint64_t hash_of(struct ninja_graph *n, const struct ninja_edge *e, int version)
{
	struct buf b = BUF_INIT;
	uint64_t hash;

	ninja_edge_command(n, e, &b);
	hash = version < 7 ? ninja_hash_murmur(b.data, b.len) : ninja_hash_rapid(b.data, b.len);
	buf_release(&b);
	return hash;
}

static const struct ninja_edge *edge_of(const struct ninja_graph *n, struct slice output)
{
	uint32_t path = name_table_find(&n->path, output);

	ck_assert_msg(path != NAME_TABLE_NONE && n->producer[path] != NINJA_NO_EDGE, "%.*s",
		      (int)output.len, output.p);
	return &n->edge[n->producer[path]];
}

static const int versions[] = { 5, 6, 7 };

TEST_EACH(commands, versions)
{
	int version = versions[_i];
	RELEASED(ninja_graph, n);
	RELEASED(ninja_log, log);

	ck_assert_int_eq(ninja_graph_read(&n, DATA "/scopes", "build.ninja", infile_read, &err), 0);
	ck_assert_int_eq(ninja_log_read(&log, support_path(DATA "/scopes/ninja_log.v%d",
							   version), infile_read, &err), 0);
	ck_assert_int_eq(log.version, version);
	ck_assert_uint_eq(log.n, 23);
	ck_assert_uint_eq(log.damaged, 0);
	for (size_t i = 0; i < log.n; i++) {
		const struct ninja_log_line *l = &log.line[i];

		ck_assert_msg(hash_of(&n, edge_of(&n, l->output), version) == l->hash, "%.*s",
			      (int)l->output.len, l->output.p);
	}
	ck_assert(slice_is(ninja_graph_variable(&n, "builddir"), "out"));
}

/* Paths */

static const struct { const char *written, *is; } paths[] = {
	{ "a", "a" }, { "./a", "a" }, { "a/./b", "a/b" }, { "a//b", "a/b" }, { "a/", "a" },
	{ "a/../b", "b" }, { "../a", "../a" }, { "../../a/..", "../.." }, { "a/..", "." },
	{ "/a/../b", "/b" }, { "/", "/" }, { ".a/.b", ".a/.b" }, { "a/...", "a/..." },
	{ "$$a", "$a" }, { "a$ b", "a b" }, { "a$:b", "a:b" }, { "$dir/a", "x/a" },
	{ "${dir}a", "xa" }, { "$none/a", "/a" }, { "$\n   a", "a" },
};

TEST_EACH(plain_paths, paths)
{
	const char *file = support_path("%s/build.ninja", support_tmpdir());
	RELEASED(ninja_graph, n);
	RELEASED(buf, text = BUF_INIT);

	buf_addf(&text, "dir = ./x\nbuild out: phony %s\n", paths[_i].written);
	support_writes(file, buf_str(&text));
	ck_assert_int_eq(ninja_graph_read(&n, support_tmpdir(), "build.ninja", infile_read, &err), 0);
	ck_assert_uint_eq(n.n_edges, 1);
	ck_assert_uint_eq(n.edge[0].n_in, 1);
	ck_assert_msg(slice_is(n.path.name[n.edge_path[1]], paths[_i].is), "%s: %.*s",
		      paths[_i].written, (int)n.path.name[n.edge_path[1]].len,
		      n.path.name[n.edge_path[1]].p);
}

/* Unknown statements add nothing; the statements around them are read. */
TEST(unknown_things)
{
	const char *file = support_path("%s/build.ninja", support_tmpdir());
	struct ninja_graph n;

	support_writes(file, "what is this\n  indented = 1\nrule r\n  command = c $x\n  odd\n"
		       "build a: r\n  x = 1\nbuild\nbuild b\nbuild c: nothing a\n"
		       "include missing.ninja\nsubninja build.ninja\nx = 2\nbuild d: r |@ a\n"
		       "build e: r a || b c |@ d");
	ck_assert_int_eq(ninja_graph_read(&n, support_tmpdir(), "build.ninja", infile_read, &err), 0);
	ck_assert_uint_ge(n.n_edges, 4);
	ck_assert(slice_is(ninja_edge_rule(&n, edge_of(&n, (struct slice){ "a", 1 })), "r"));
	ck_assert(ninja_edge_is_phony(edge_of(&n, (struct slice){ "c", 1 })));
	ck_assert_uint_eq(edge_of(&n, (struct slice){ "e", 1 })->used_in, 1);
	ck_assert_uint_eq(edge_of(&n, (struct slice){ "e", 1 })->all_in, 3);
	ck_assert_uint_eq(edge_of(&n, (struct slice){ "d", 1 })->n_in, 0);
	ninja_graph_release(&n);
	ck_assert_int_eq(ninja_graph_read(&n, support_tmpdir(), "none", infile_read, &err), -ENOENT);
}

/* Logs alone */

#define WALL "1795273796851220510"
#define LATER "1795273896851220510"	/* 100 s */

static const struct {
	const char *what, *log, *tasks;	/* names and times, warnings */
	int64_t wall_s;
} logs[] = {
	{ "one build", "# ninja log v5\n0\t10\t0\ta\t1\n2\t20\t0\tb\t2\n",
	  "a 0-10, b 2-20, ", 0 },
	{ "the wall clock, from starts", "# ninja log v7\n1000\t2000\t" WALL "\ta\t1\n",
	  "a 1000-2000, ", 1795273795 },
	{ "the wall clock, from ends", "# ninja log v5\n1000\t2000\t" WALL "\ta\t1\n",
	  "a 1000-2000, ", 1795273794 },
	{ "several outputs", "# ninja log v6\n0\t10\t0\ta\t1\n0\t10\t0\ta.h\t1\n0\t9\t0\tb\t2\n"
	  "0\t12\t0\tc\t1\n", "b 0-9, c 0-12, "
	  "1 commands last ran in earlier builds and are left out, ", 0 },
	{ "outputs apart", "# ninja log v6\n0\t8\t0\ta\t1\n0\t8\t0\tb\t2\n0\t8\t0\ta.h\t1\n",
	  "a+a.h 0-8, b 0-8, ", 0 },
	{ "the last line counts", "# ninja log v5\n0\t10\t0\ta\t1\n0\t30\t0\tb\t2\n3\t9\t0\ta\t3\n",
	  "a 0-6, 1 commands last ran in earlier builds and are left out, ", 0 },
	{ "in no order, the newest by its clock", "# ninja log v7\n5\t90\t" LATER "\tnew\t1\n"
	  "0\t10\t" WALL "\told\t2\n", "new 5-90, "
	  "1 commands last ran in earlier builds and are left out, ", 1795273896 },
	{ "torn", "# ninja log v5\n0\t10\t0\ta\t1\n2\t20\t0\tb",
	  "a 0-10, 1 damaged lines left out, the last is torn, ", 0 },
	{ "damaged in the middle", "# ninja log v5\n0\t10\t0\ta\t1\n2\t20\t5\t10\t0\tb\t2\n"
	  "3\t30\t0\tc\t3\n", "a 0-10, c 3-30, 1 damaged lines left out, ", 0 },
	{ "samurai's", "# ninja log v5\n0\t0\t7\ta\t1\n0\t0\t7\tb\t2\n",
	  "a 0-0, b 0-0, no times, because samurai does not write them, ", 0 },
	{ "nothing yet", "# ninja log v5\n", "", 0 },
};

static const char *told(const struct recording *rec)
{
	static struct buf b;

	buf_clear(&b);
	for (size_t i = 0; i < rec->n_tasks; i++) {
		const struct task *t = &rec->task[i];

		buf_adds(&b, t->name);
		for (uint32_t k = 0; k < t->n_out; k++)
			buf_addf(&b, "+%s", rec->out[t->first_out + k]);
		buf_addf(&b, " %lld-%lld, ", (long long)t->start_us / 1000,
			 (long long)t->end_us / 1000);
	}
	for (size_t i = 0; i < rec->n_warnings; i++) {
		const char *text = rec->warning[i].text;
		size_t skip = strncmp(text, ".ninja_log: ", 12) ? 0 : 12;

		buf_addf(&b, "%s, ", text + skip);
	}
	return buf_str(&b);
}

static int import(struct recording *rec, const char *path)
{
	*rec = (struct recording)RECORDING_INIT;
	memset(&err, 0, sizeof err);
	return converter_read(converter_named("ninja"), rec, &path, 1, &err);
}

TEST_EACH(alone, logs)
{
	const char *path = support_path("%s/.ninja_log", support_tmpdir());
	RELEASED(recording, rec);

	support_writes(path, logs[_i].log);
	ck_assert_ptr_eq(converter_of(path, &err), converter_named("ninja"));
	ck_assert_msg(!import(&rec, path), "%s: %s", logs[_i].what, err.message);
	ck_assert_msg(!strcmp(told(&rec), logs[_i].tasks), "%s: %s", logs[_i].what, told(&rec));
	if (logs[_i].wall_s)
		ck_assert_int_eq(rec.start_wall_ns / 1000000000, logs[_i].wall_s);
}

static const struct { const char *log; unsigned line; const char *says; } bad[] = {
	{ "", 1, "not a log of ninja" },
	{ "# ninja log\n", 1, "not a log of ninja" },
	{ "# ninja log v5", 1, "not a log of ninja" },
	{ "# ninja log v4\n0 1 2 a b\n", 1, "version 4 of ninja's log is not supported: only 5 to 7" },
	{ "# ninja log v8\n", 1, "version 8 of ninja's log is not supported: only 5 to 7" },
	{ "# ninja log v5\nall\nof it\n", 2, "not a line of ninja's log" },
};

TEST_EACH(refused, bad)
{
	const char *path = support_path("%s/.ninja_log", support_tmpdir());
	struct recording rec;

	support_writes(path, bad[_i].log);
	ck_assert_int_eq(import(&rec, path), -EINVAL);
	ck_assert_str_eq(err.path, path);
	ck_assert_uint_eq(err.line, bad[_i].line);
	ck_assert_str_eq(err.message, bad[_i].says);
	ck_assert_uint_eq(rec.n_tasks, 0);
}

/* Includes */

static const struct { const char *make, *include, *told; } includes[] = {
	{ "echo 'build a: cc' >other", "other", "a(cc) 0-10, " },
	{ "mkfifo fifo", "fifo", "a() 0-10, build.ninja:3: cannot include fifo: not a regular "
	  "file, " },
	{ "mkdir sub", "sub", "a() 0-10, build.ninja:3: cannot include sub: not a regular file, " },
	{ "true", "/dev/zero", "a() 0-10, build.ninja:3: cannot include /dev/zero: not a regular "
	  "file, " },
	{ "true", "/proc/self/environ", "a() 0-10, build.ninja:3: cannot include "
	  "/proc/self/environ: not a regular file that holds data, " },
	{ "true", "none", "a() 0-10, build.ninja:3: cannot include none: No such file or "
	  "directory, " },
	{ "true", "./build.ninja", "a() 0-10, ./build.ninja:3: cannot include ./build.ninja: it "
	  "includes itself, " },
	{ "echo 'include build.ninja' >other", "other", "a() 0-10, other:1: cannot include "
	  "build.ninja: it includes itself, " },
	{ "mkfifo p; ln -s p q", "q", "a() 0-10, build.ninja:3: cannot include "
	  "q: not a regular file, " },
};

/* An include that cannot be read is skipped with a warning. */
TEST_EACH(include, includes)
{
	const char *dir = support_tmpdir();
	RELEASED(recording, rec);
	RELEASED(buf, text = BUF_INIT);

	buf_addf(&text, "rule cc\n command = cc\n%s %s\nbuild b: cc\n",
		 _i % 2 ? "include" : "subninja", includes[_i].include);
	support_writes(support_path("%s/build.ninja", dir), buf_str(&text));
	support_writes(support_path("%s/.ninja_log", dir), "# ninja log v5\n0\t10\t0\ta\t1\n");
	support_expect(dir, 0, NULL, NULL, "%s", includes[_i].make);
	ck_assert_int_eq(import(&rec, support_path("%s/.ninja_log", dir)), 0);
	buf_clear(&text);
	buf_addf(&text, "%s(%s) 0-10, ", rec.task[0].name, rec.task[0].key);
	for (size_t i = 0; i < rec.n_warnings; i++) {
		ck_assert(!strncmp(rec.warning[i].text, dir, strlen(dir)));
		buf_addf(&text, "%s, ", rec.warning[i].text + strlen(dir) + 1);
	}
	ck_assert_str_eq(buf_str(&text), includes[_i].told);
}

static unsigned n_read;

static int counting_reader(struct buf *out, const char *path, struct error *e)
{
	n_read++;
	return infile_read_regular(out, path, e);
}

/* Files that include each other many times are read a bounded number of times. */
TEST(circles)
{
	const char *dir = support_tmpdir();
	RELEASED(ninja_graph, n);

	support_writes(support_path("%s/build.ninja", dir),
		       "subninja build.ninja\nsubninja build.ninja\ninclude one\ninclude one\n");
	support_writes(support_path("%s/one", dir), "include one\nsubninja build.ninja\n");
	n_read = 0;
	ck_assert_int_eq(ninja_graph_read(&n, dir, "build.ninja", counting_reader, &err), 0);
	ck_assert_uint_eq(n_read, 3);
	ck_assert_uint_eq(n.n_skipped, 6);
}

/* With the build.ninja that names the directory of the log. */
TEST(with_build)
{
	const char *dir = support_tmpdir();
	RELEASED(recording, rec);
	const struct task *t;

	support_expect(dir, 0, NULL, NULL,
		       "mkdir -p scopes/out && cp %s/scopes/*.ninja scopes && "
		       "cp %s/scopes/ninja_log.v7 scopes/out/.ninja_log", DATA, DATA);
	ck_assert_int_eq(import(&rec, support_path("%s/scopes/out/.ninja_log", dir)), 0);
	ck_assert_uint_eq(rec.n_tasks, 16);
	for (t = rec.task; strcmp(t->name, "out/c"); t++)
		;
	ck_assert_str_eq(t->key, "say");
	ck_assert_uint_eq(t->n_out, 2);
	ck_assert_str_eq(rec.out[t->first_out + 1], "out/c3");
	ck_assert_uint_ge(t->n_after, 2);
	ck_assert_str_eq(rec.after[t->first_after], "out/b");
	ck_assert_str_eq(rec.after[t->first_after + 1], "out/a");
	ck_assert(!strncmp(recording_command(&rec, t), ": hello . -late", 15));
}

TEST_MAIN(ninja);
