/* SPDX-License-Identifier: MIT */
/* Every example is built by its build tool, recorded, and read: the expected tasks have the
 * expected names and nest as the build tools did. */
#include "base/array.h"
#include "recording/recording.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

#define BUILDBEAT TOP_BUILDDIR "/buildbeat"

struct example {
	const char *dir;
	const char *needs;		/* programs, blank separated */
	const char *prepare, *build;
	const char *made;		/* exists afterwards */
	const char *names[10];		/* how the names of tasks end */
	const char *inside;		/* tool of an instance that ran inside a task */
};

static const struct example examples[] = {
	{ "make", "make", "true", "make -s -j2 WORDS=20000", "index.tar.gz",
	  { "lib", "libix.a", "arena.o", "stopwords.c", "ixquery", "corpus.idx", "near.ok" },
	  "make" },
	{ "automake", "autoreconf make", "autoreconf -fi && ./configure -q", "make -s -j2 WORDS=20000",
	  "src/top.txt", { "arena.o", "libix.a", "ixbuild", "part2.txt", "top.txt" }, "make" },
	{ "cmake", "cmake ninja", "cmake -G Ninja -B build -DWORDS=20000", "cmake --build build",
	  "build/top.txt",
	  { "stopwords.c", "arena.c.o", "libix.a", "ixcorpus", "part1.txt", "corpus.idx", "top.txt" },
	  "ninja" },
	/* without CC it looks for a compiler cache, whose daemon outlives the test */
	{ "meson", "meson ninja", "CC=cc meson setup build", "meson compile -C build", "build/top.txt",
	  { "stopwords.c", ".._make_lib_arena.c.o", "libix.a", "ixcorpus", "part1.txt", "corpus.idx",
	    "top.txt" },
	  "ninja" },
	{ "scons", "scons", "true", "scons -Q -j2", "top.txt",
	  { "stopwords.c", "arena.o", "libix.a", "ixcorpus", "part1.txt", "top.txt" },
	  NULL },
	{ "cargo", "cargo rustc", "true", "cargo build --offline -q", "target/debug/ask",
	  { "index", "ask", "build_script_build" }, NULL },
	{ "script", "make ninja", "true", "./build.sh", "out/again",
	  { "libix.a", "arena.o", "ixquery", "readme.txt", "again.o", "again" }, "ninja" },
};

#define N_EXAMPLES ARRAY_SIZE(examples)

static bool has_all(const char *programs)
{
	char words[128], *word, *rest = words;

	snprintf(words, sizeof words, "%s", programs);
	while ((word = strsep(&rest, " "))) {
		if (!support_has(word))
			return false;
	}
	return true;
}

static void run(const char *dir, const char *what, const char *command)
{
	struct run r;

	/* cargo may be a wrapper that searches for the real one */
	support_run(&r, dir, "export RUSTUP_HOME=\"${RUSTUP_HOME:-$HOME/.rustup}\" HOME=%s "
		    "PATH=" TOP_BUILDDIR ":\"$PATH\"\n%s %s", support_tmpdir(), what, command);
	ck_assert_msg(r.status == 0, "%s: status %d: %s%s", command, r.status, r.out.data,
		      r.err.data);
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && !strcmp(text + n - m, end) && (n == m || text[n - m - 1] == '/');
}

static void check_tasks(const struct recording *rec, const struct example *e)
{
	for (size_t i = 0; i < rec->n_tasks; i++) {
		ck_assert_msg(*rec->task[i].name, "%s: a task has no name: %s", e->dir,
			      recording_command(rec, &rec->task[i]));
	}
	for (const char *const *name = e->names; *name; name++) {
		size_t i = 0;

		while (i < rec->n_tasks && !ends_with(rec->task[i].name, *name))
			i++;
		ck_assert_msg(i < rec->n_tasks, "%s: no task %s", e->dir, *name);
		ck_assert_msg(rec->task[i].state == TASK_DONE, "%s: %s: not done", e->dir, *name);
		ck_assert(rec->task[i].max_rss_kb > 0 || rec->task[i].max_rss_at_most_kb > 0);
	}
}

/* The phases of the script: the readme is made within the programs. */
static void check_spans(const struct recording *rec, const struct example *e)
{
	static const char *const phase[] = { "prepare", "library", "programs", "readme" };

	if (strcmp(e->dir, "script")) {
		ck_assert_uint_eq(rec->n_spans, 0);
		return;
	}
	ck_assert_uint_eq(rec->n_spans, ARRAY_SIZE(phase));
	for (uint32_t i = 0; i < rec->n_spans; i++) {
		const struct span *s = &rec->span[i];

		ck_assert_str_eq(s->name, phase[i]);
		ck_assert_int_ge(s->end_us, s->begin_us);
	}
	ck_assert_uint_eq(rec->span[3].parent, 2);
}

static void check_nesting(const struct recording *rec, const struct example *e)
{
	bool found = !e->inside;

	for (size_t i = 0; i < rec->n_instances; i++) {
		const struct instance *instance = &rec->instance[i];

		if (e->inside && instance->parent_task != NO_INDEX &&
		    !strcmp(instance->tool, e->inside))
			found = true;
	}
	ck_assert_msg(found, "%s: no %s inside a task", e->dir, e->inside);
}

TEST_LOOP(test_example, N_EXAMPLES)
{
	const struct example *e = &examples[_i];
	struct recording rec = RECORDING_INIT;
	const char *dir;

	SKIP_IF(!has_all(e->needs));
	run(support_tmpdir(), "", "cp -r " TOP_SRCDIR "/examples . && chmod -R u+w examples");
	dir = support_path("%s/examples/%s", support_tmpdir(), e->dir);
	run(dir, "", e->prepare);
	run(dir, BUILDBEAT " record -o rec --name one --", e->build);
	ck_assert(support_exists(support_path("%s/%s", dir, e->made)));
	recorded_open(&rec, support_path("%s/rec/one", dir), NULL);
	ck_assert_uint_eq(rec.n_warnings, 0);
	check_tasks(&rec, e);
	check_nesting(&rec, e);
	check_spans(&rec, e);
	recording_release(&rec);
	run(support_tmpdir(), "", "rm -rf examples");
}

TEST_PROGRAM(examples)
{
	SKIP_PROGRAM_IF(!support_can_be_loaded());
	return support_main();
}
