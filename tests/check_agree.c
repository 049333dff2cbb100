/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "tests/paths.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* All outputs about one recording say the same: tests/agree.py reads and compares them. */

#define AGREE "python3 -B " TOP_SRCDIR "/tests/agree.py " TOP_BUILDDIR "/buildbeat "

static void agree(const char *dir, const char *recording, const char *steady)
{
	support_expect(dir, 0, NULL, NULL, AGREE "%s %s%s", dir, recording, steady);
}

static const char *const fixtures[] = {
	"recordings/nested", "recordings/cut", "recordings/empty", "oe/genuine", "oe-bound", "processes/make",
	"memory/bounds", "results/make", "inspected/make", "recordings/unseen",
};

TEST_EACH(recorded, fixtures)
{
	agree(support_tmpdir(), support_path(TOP_SRCDIR "/tests/data/%s", fixtures[_i]), "");
}

/* A make in a make with a failed task; ninja; what cargo says. */
static const struct { const char *tool, *script; } builds[] = {
	{ "make", "mkdir sub; printf 'all: one; $(MAKE) -C sub\none:; : >one\n' >Makefile; printf 'all: a b c\n"
	  "a b:; : >$@\nc: a; exit 3\n' >sub/Makefile; unset MAKEFLAGS MFLAGS MAKELEVEL; " TOP_BUILDDIR
	  "/buildbeat record -o stats -n one -- make -k -j3" },
	{ "ninja", "printf 'rule r\n  command = : >$out\nbuild a: r\nbuild sub/b: r a\nbuild sub/c: r | a\n'"
	  " >build.ninja; " TOP_BUILDDIR "/buildbeat record -o stats -n one -- ninja -j2" },
	{ "true", TOP_BUILDDIR "/buildbeat import -o stats -n one " TOP_SRCDIR
	  "/tests/data/convert/cargo/cargo-1.95.page" },
};

TEST_EACH(built, builds)
{
	const char *dir = support_tmpdir();
	struct run run;

	SKIP_IF(!support_has(builds[_i].tool));
	support_run(&run, dir, "{ %s; } >out 2>&1; cat out", builds[_i].script);
	agree(dir, support_path("%s/stats/one", dir), "");
}

/* Samples of disks as a busy machine takes them: seldom exactly a second apart. */
static void write_disks(const char *path, unsigned seed, unsigned n)
{
	RELEASED(buf, text = BUF_INIT);
	uint64_t state = seed;
	long long time_ms = 0;

	buf_adds(&text, "buildbeat proc_diskstats 1 1000 sda.read:KiB:c sda.written:KiB:c\n");
	for (unsigned i = 0; i < n; i++) {
		buf_addf(&text, "@%lld %llu,%llu\n", time_ms,
			 (unsigned long long)random_below(&state, 200000),
			 (unsigned long long)random_below(&state, 100000));
		time_ms += 950 + (long long)random_below(&state, 100);
	}
	support_write(path, text.data, text.len);
}

TEST_LOOP(generated, 5)
{
	const char *dir = support_tmpdir();
	const char *path = support_path("%s/%d", dir, _i);

	support_expect(dir, 0, NULL, NULL,
		       TOP_BUILDDIR "/tests/gen_recording %s %d %d %d", path, 50 << _i, 40 << _i, _i);
	write_disks(support_path("%s/proc_diskstats.log", path), (unsigned)_i, 40u << _i);
	agree(dir, path, " steady");
}

TEST_MAIN(agree);
