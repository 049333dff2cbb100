/* SPDX-License-Identifier: MIT */
/* Builds as cargo, CMake and remake report them. */
#include "base/array.h"
#include "convert/convert.h"
#include "tests/paths.h"
#include "tests/support.h"

#define DATA TOP_SRCDIR "/tests/data/convert/"

static struct recording rec;
static struct error err;

static int read_with(const char *format, const char *const *path, size_t n)
{
	const struct converter *c = converter_named(format);

	ck_assert_ptr_nonnull(c);
	rec = (struct recording)RECORDING_INIT;
	memset(&err, 0, sizeof err);
	return converter_read(c, &rec, path, n, &err);
}

static void read_one(const char *format, const char *path)
{
	ck_assert_msg(!read_with(format, &path, 1), "%s:%u: %s", err.path, err.line, err.message);
}

static const struct task *task_named(const char *name)
{
	for (size_t i = 0; i < rec.n_tasks; i++) {
		if (!strcmp(rec.task[i].name, name))
			return &rec.task[i];
	}
	ck_abort_msg("no task %s", name);
}

static bool waited_for(const struct task *t, const char *name)
{
	for (uint32_t i = 0; i < t->n_after; i++) {
		if (!strcmp(rec.after[t->first_after + i], name))
			return true;
	}
	return false;
}

static const struct instance *instance_of(const struct task *t)
{
	return &rec.instance[t->instance];
}

/* cargo */

struct cargo {
	const char *page, *script, *ask;
	int64_t lib_start_us, lib_end_us;
};

static const struct cargo cargos[] = {
	{ DATA "cargo/cargo-1.65.page", "index v1.0.0 build script", "ask v1.0.0 bin \"ask\"", 380000, 710000 },
	{ DATA "cargo/cargo-1.95.page", "index v1.0.0 build-script", "ask v1.0.0 ask \"bin\"", 690000, 1020000 },
};

TEST_EACH(test_cargo, cargos)
{
	const struct cargo *c = &cargos[_i];
	const struct task *lib, *ask;
	char run[64];

	read_one("cargo", c->page);
	ck_assert_ptr_eq(converter_of(c->page, &err), converter_named("cargo"));
	ck_assert_uint_eq(rec.n_tasks, 4);
	lib = task_named("index v1.0.0");
	ask = task_named(c->ask);
	ck_assert_str_eq(lib->kind, "compile");
	ck_assert_str_eq(lib->key, "index");
	/* the first unit starts at 0 unless the wall clock is known */
	ck_assert_int_eq(lib->end_us - lib->start_us, c->lib_end_us - c->lib_start_us);
	snprintf(run, sizeof run, "%s (run)", c->script);
	ck_assert_str_eq(task_named(run)->kind, "script");
	ck_assert(waited_for(ask, "index v1.0.0"));
	ck_assert(waited_for(lib, run));
	ck_assert(waited_for(task_named(run), c->script));
	ck_assert_uint_ge(rec.n_spans, 2);
	ck_assert_str_eq(rec.span[0].name, "frontend");
	ck_assert_str_eq(recording_build(&rec, "tool"), "cargo");
	ck_assert_int_eq(recording_build_number(&rec, "cores"), 2);
	ck_assert_int_gt(rec.start_wall_ns, INT64_C(1763000000000000000));
	recording_release(&rec);
}

/* Every shape of UNIT_DATA since it exists: 2019, 2025 (sections beside rmeta_time), 2026. */
static const struct { const char *unit, *says; } shapes[] = {
	{ "{\"i\":0,\"name\":\"a\",\"version\":\"0.2.47\",\"mode\":\"todo\",\"target\":\" custom-build\","
	  "\"start\":1.56,\"duration\":2.17,\"rmeta_time\":2.17,\"unlocked_units\":[],"
	  "\"unlocked_rmeta_units\":[]}",
	  "a v0.2.47 custom-build compile 2170000 (frontend 0-2170000) (codegen 2170000-2170000)" },
	{ "{\"i\":0,\"name\":\"a\",\"version\":\"1.0.0\",\"mode\":\"todo\",\"target\":\"\",\"start\":0.5,"
	  "\"duration\":1.25,\"rmeta_time\":null,\"unlocked_units\":[],\"unlocked_rmeta_units\":[]}",
	  "a v1.0.0 compile 1250000" },
	{ "{\"i\":0,\"name\":\"a\",\"version\":\"1.0.0\",\"mode\":\"run-custom-build\",\"target\":"
	  "\" build script (run)\",\"start\":0.5,\"duration\":1.25,\"rmeta_time\":null,"
	  "\"unlocked_units\":[],\"unlocked_rmeta_units\":[]}",
	  "a v1.0.0 build script (run) script 1250000" },
	{ "{\"i\":0,\"name\":\"a\",\"version\":\"1.0.0\",\"mode\":\"todo\",\"target\":\"\",\"start\":0.5,"
	  "\"duration\":2,\"rmeta_time\":1.1,\"unlocked_units\":[],\"unlocked_rmeta_units\":[],"
	  "\"sections\":[[\"Frontend\",{\"start\":0,\"end\":1}],[\"Codegen\",{\"start\":1,\"end\":1.5}],"
	  "[\"Linking\",{\"start\":1.5,\"end\":1.75}],[\"Other\",{\"start\":1.75,\"end\":2}]]}",
	  "a v1.0.0 compile 2000000 (Frontend 0-1000000) (Codegen 1000000-1500000)"
	  " (Linking 1500000-1750000) (Other 1750000-2000000)" },
	{ "{\"i\":86,\"name\":\"a\",\"version\":\"1.0.0\",\"mode\":\"todo\",\"target\":\"\",\"features\":"
	  "[\"default\",\"proc-macro\"],\"start\":0.5,\"duration\":0.5,\"unblocked_units\":[],"
	  "\"unblocked_rmeta_units\":[],\"sections\":[[\"frontend\",{\"start\":0.0,\"end\":0.35}],"
	  "[\"codegen\",{\"start\":0.35,\"end\":0.5}]]}",
	  "a v1.0.0 compile 500000 (frontend 0-350000) (codegen 350000-500000)"
	  " !features: default proc-macro" },
	{ "{\"i\":86,\"name\":\"a\",\"version\":\"1.0.0\",\"mode\":\"todo\",\"target\":\" a \\\"bin\\\"\","
	  "\"features\":[],\"start\":0.5,\"duration\":0.5,\"unblocked_units\":[],"
	  "\"unblocked_rmeta_units\":[],\"sections\":null}",
	  "a v1.0.0 a \"bin\" compile 500000" },
};

TEST_EACH(test_cargo_shapes, shapes)
{
	const char *path = support_path("%s/page.html", support_tmpdir());
	RELEASED(buf, b = BUF_INIT);

	support_writes(path, support_path("<title>Cargo Build Timings</title>\n<tr>\n"
		       "<td>Build start:</td><td>2026-06-21T09:55:01.37348584Z</td>\n</tr>\n"
		       "<tr><td class=\"error-text\">Error:</td><td>could not compile `a`</td></tr>\n"
		       "const UNIT_DATA = [\n%s\n];\nconst CPU_USAGE = [];\n", shapes[_i].unit));
	read_one("cargo", path);
	ck_assert_uint_eq(rec.n_tasks, 1);
	buf_addf(&b, "%s %s %lld", rec.task[0].name, rec.task[0].kind,
		 (long long)(rec.task[0].end_us - rec.task[0].start_us));
	for (size_t i = 0; i < rec.n_spans; i++)
		buf_addf(&b, " (%s %lld-%lld)", rec.span[i].name,
			 (long long)(rec.span[i].begin_us - rec.task[0].start_us),
			 (long long)(rec.span[i].end_us - rec.task[0].start_us));
	for (size_t i = 0; i < rec.n_notes; i++)
		buf_addf(&b, " !%s", rec.note[i].text);
	ck_assert_str_eq(buf_str(&b), shapes[_i].says);
	ck_assert_int_eq(rec.start_wall_ns, INT64_C(1782035701373485840));
	ck_assert_uint_eq(rec.n_warnings, 1);
	ck_assert_str_eq(rec.warning[0].text, "cargo ended with an error: could not compile `a`");
	recording_release(&rec);
}

/* The real one, if installed. */
TEST(test_cargo_here)
{
	const char *dir = support_path("%s/cargo", support_tmpdir());
	const struct task *ask = NULL;
	const char *page;

	SKIP_IF(!support_has("cargo") || !support_has("rustc"));
	support_expect(support_tmpdir(), 0, NULL, NULL,
		       "cp -r " TOP_SRCDIR "/examples/cargo . && "
		       "chmod -R u+w cargo && cd cargo && "
		       "RUSTUP_HOME=\"${RUSTUP_HOME:-$HOME/.rustup}\" HOME=$PWD "
		       "cargo build -q --offline --timings");
	page = support_path("%s/target/cargo-timings/cargo-timing.html", dir);
	read_one("cargo", page);
	ck_assert_uint_eq(rec.n_tasks, 4);
	for (size_t i = 0; i < rec.n_tasks; i++) {
		if (!strncmp(rec.task[i].name, "ask v1.0.0", 10))
			ask = &rec.task[i];
	}
	ck_assert(ask && waited_for(ask, "index v1.0.0"));

	recording_release(&rec);
}

/* CMake */

static void check_cmake(void)
{
	const struct task *compile, *link, *broken, *build;

	ck_assert_uint_eq(rec.n_tasks, 10);
	compile = task_named("CMakeFiles/ix.dir/index.c.o");
	ck_assert_str_eq(compile->kind, "compile");
	ck_assert_str_eq(compile->key, "ix");
	ck_assert_int_eq(compile->start_us, 1050000);
	ck_assert_int_eq(compile->end_us, 1950000);
	ck_assert_str_eq(recording_command(&rec, compile),
			 "\"/usr/bin/cc\" \"-o\" \"CMakeFiles/ix.dir/index.c.o\" \"-c\" \"/src/ix/index.c\"");
	build = task_named("cmake --build /src/ix/build");
	ck_assert(build->hosts);
	ck_assert_ptr_eq(&rec.task[instance_of(compile)->parent_task], build);
	link = task_named("ix");
	ck_assert(waited_for(link, "CMakeFiles/ix.dir/index.c.o"));
	ck_assert(waited_for(link, "CMakeFiles/ix.dir/words.c.o"));
	ck_assert_uint_eq(link->n_after, 2);
	broken = task_named("CMakeFiles/broken.dir/broken.c.o");
	ck_assert_int_eq(broken->state, TASK_FAILED);
	ck_assert_int_eq(broken->status, 1);
	ck_assert_uint_eq(task_named("words.c")->n_out, 1);
	ck_assert_str_eq(rec.out[task_named("words.c")->first_out], "words.h");
	ck_assert_str_eq(task_named("ix.check")->kind, "test");
	ck_assert_str_eq(instance_of(task_named("ix.check"))->tool, "ctest");
	ck_assert_int_eq(task_named("configure")->start_us, 0);
	ck_assert(rec.start_wall_ns == INT64_C(1763738000000) * 1000000);
}

TEST(test_cmake_index)
{
	const char *path = DATA "cmake/data/index/index-2026-11-21T15-13-25-0001.json";

	read_one("cmake", path);
	ck_assert_ptr_eq(converter_of(path, &err), converter_named("cmake"));
	check_cmake();
	ck_assert_str_eq(recording_build(&rec, "host"), "farm-3");
	ck_assert_int_eq(recording_build_number(&rec, "cores"), 8);
	ck_assert_int_eq(recording_build_number(&rec, "memory_kb"), 15900 * 1024);
	recording_release(&rec);
}

TEST(test_cmake_directory)
{
	const char *build = support_path("%s/b", support_tmpdir());

	read_one("cmake", DATA "cmake/data");
	check_cmake();
	recording_release(&rec);
	support_expect(NULL, 0, NULL, NULL,
		       "mkdir -p %s/.cmake/instrumentation/v1 && "
		       "cp -r " DATA "cmake/data %s/.cmake/instrumentation/v1/", build, build);
	ck_assert_ptr_eq(converter_of(build, &err), converter_named("cmake"));
	read_one("cmake", build);
	check_cmake();
	recording_release(&rec);
}

/* remake */

TEST(test_callgrind)
{
	const char *one = DATA "callgrind/callgrind.out.4201";
	const struct task *archive, *stopwords;

	read_one("callgrind", one);
	ck_assert_ptr_eq(converter_of(one, &err), converter_named("callgrind"));
	archive = task_named("libix.a");
	stopwords = task_named("stopwords.o");
	ck_assert(waited_for(archive, "stopwords.o"));
	ck_assert(waited_for(stopwords, "stopwords.c"));
	ck_assert_int_ge(archive->start_us, stopwords->end_us);
	ck_assert_int_ge(stopwords->start_us, task_named("stopwords.c")->end_us);
	ck_assert_str_eq(recording_build(&rec, "version"), "4.3+dbg-1.6");
	/* sources are not tasks */
	for (size_t i = 0; i < rec.n_tasks; i++) {
		ck_assert_str_ne(rec.task[i].name, "store.c");
		ck_assert_int_gt(rec.task[i].end_us, rec.task[i].start_us);
		for (size_t k = 0; k < i; k++)	/* it ran without -j */
			ck_assert_int_ge(rec.task[i].start_us, rec.task[k].end_us);
	}
	recording_release(&rec);
}

/* One instance a directory, below the recipes that ran them. */
TEST(test_callgrind_nested)
{
	static const char *const paths[] = {
		DATA "callgrind/callgrind.out.4201", DATA "callgrind/callgrind.out.4200",
		DATA "callgrind/callgrind.out.4202", DATA "callgrind/callgrind.out.4203",
		DATA "callgrind/callgrind.out.4204",
	};
	const struct task *lib;

	ck_assert_int_eq(read_with("callgrind", paths, 5), 0);
	ck_assert_uint_eq(rec.n_instances, 5);
	lib = task_named("lib");
	ck_assert(lib->hosts);
	ck_assert_ptr_eq(&rec.task[instance_of(task_named("libix.a"))->parent_task], lib);
	ck_assert_int_ge(task_named("libix.a")->start_us, lib->start_us);
	ck_assert_int_le(task_named("libix.a")->end_us, lib->end_us);
	ck_assert_uint_eq(instance_of(lib)->parent_task, NO_INDEX);
	recording_release(&rec);
}

TEST(test_callgrind_parallel)
{
	const char *path = DATA "callgrind/callgrind.out.parallel";
	const struct task *archive;
	int64_t at_once = 0;

	read_one("callgrind", path);
	archive = task_named("libix.a");
	for (size_t i = 0; i < rec.n_tasks; i++) {
		at_once += rec.task[i].start_us == 0;
		if (&rec.task[i] != archive)
			ck_assert_int_le(rec.task[i].end_us, archive->start_us);
	}
	ck_assert_int_gt(at_once, 4);
	recording_release(&rec);
}

/* Faults */

struct damage {
	const char *format, *path;	/* a text below, or a real file if it begins with / */
	const char *text;
	unsigned line;
	const char *says;
};

static const struct damage damages[] = {
	{ "cargo", "empty", "", 0, "UNIT_DATA" },
	{ "cargo", "open", "<title>Cargo Build Timings\nconst UNIT_DATA = [\n {\"i\": 0,", 2, "no end" },
	{ "cargo", "json", "Cargo Build Timings\nconst UNIT_DATA = [\n{\"i\": 0,,}\n];\n", 3, "" },
	{ "cargo", "start", "const UNIT_DATA = [\n{\"i\": 0, \"name\": \"x\", \"duration\": 1}\n];\n", 0,
	  "start" },
	{ "cargo", "duration", "const UNIT_DATA = [\n{\"i\": 0, \"name\": \"x\", \"start\": 1}\n];\n", 0,
	  "unit 'x' has no duration" },
	{ "cargo", "nameless", "const UNIT_DATA = [\n{\"start\": 1, \"duration\": 1}\n];\n", 0, "no name" },
	{ "cargo", "drawn", "<title>Cargo Build Timings</title><svg>", 0, "cargo of September 2019 or newer" },
	{ "cargo", "minus", "const UNIT_DATA = [\n{\"name\": \"x\", \"start\": -1, \"duration\": 1}\n];\n",
	  0, "start" },
	{ "cargo", "huge", "const UNIT_DATA = [\n{\"name\": \"x\", \"start\": 1e17, \"duration\": 1}\n];\n",
	  0, "start" },
	{ "cmake", "empty", "", 1, "" },
	{ "cmake", "version", "{\"version\": 2, \"snippets\": []}", 1, "version 2" },
	{ "cmake", "none", "{\"version\": 1}", 1, "without snippets" },
	{ "cmake", "gone", "{\"version\": 1, \"snippets\": [\"compile-1.json\"]}", 0, "No such file" },
	{ "cmake", "number", "{\"version\": 1, \"snippets\": [7]}", 1, "" },
	{ "cmake", "cut", "{\"version\": 1, \"snippets\": [\"a", 1, "" },
	{ "callgrind", "empty", "", 0, "not a profile of remake" },
	{ "callgrind", "valgrind", "version: 1\ncreator: callgrind-3.19.0\n", 2, "remake" },
	{ "callgrind", "version", "version: 3\ncreator: remake 4.3\n", 1, "version 1" },
	{ "callgrind", "events", "version: 1\ncreator: remake 4.3\nevents: Ir\n", 3, "Wt" },
	{ "callgrind", "cut", "creator: remake 4.3\nevents: Wt Rt\nfn=a\n1 2", 4, "truncated" },
	{ "callgrind", "figures", "creator: remake 4.3\nevents: Wt Rt\nfn=a\n1 2 x\n", 4, "two times" },
	{ "callgrind", "outside", "creator: remake 4.3\nevents: Wt Rt\n1 2 3\n", 3, "outside" },
	{ "callgrind", "call", "creator: remake 4.3\nevents: Wt Rt\ncfn=a\n", 3, "outside" },
};

TEST_EACH(test_damage, damages)
{
	const struct damage *d = &damages[_i];
	const char *path = support_path("%s/%s-%s", support_tmpdir(), d->format, d->path);

	support_writes(path, d->text);
	ck_assert_int_lt(read_with(d->format, &path, 1), 0);
	ck_assert_uint_eq(err.line, d->line);
	ck_assert_str_ne(err.path, "");
	ck_assert_msg(strstr(err.message, d->says), "%s: %s", d->path, err.message);
	ck_assert_uint_eq(rec.n_tasks, 0);
	recording_release(&rec);
}

TEST(test_device)
{
	const char *path = "/dev/zero";

	ck_assert_int_eq(read_with("cargo", &path, 1), -EINVAL);
	ck_assert_str_eq(err.path, path);
}

/* A circle of targets, which make itself drops, ends. */
TEST(test_ring)
{
	const char *path = support_path("%s/ring", support_tmpdir());

	support_writes(path, "version: 1\ncreator: remake 4.3\nevents: Wt Rt\nsummary: 9\n"
		       "fn=a\n1 5 5\ncfn=b\ncalls=1 1\n1 4 4\nfn=b\n2 4 4\ncfn=a\ncalls=1 2\n2 5 5\n");
	read_one("callgrind", path);
	ck_assert_uint_eq(rec.n_tasks, 2);
	ck_assert_int_eq(rec.last_us, 9);
	recording_release(&rec);
}

TEST_MAIN(tools);
