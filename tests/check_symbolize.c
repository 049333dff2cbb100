/* SPDX-License-Identifier: MIT */
#include "base/clock.h"
#include "inspect/archive_files.h"
#include "inspect/symbolize.h"
#include "inspect/symbols_log.h"
#include "symbols/client.h"
#include "tests/made_inspection.h"
#include "tests/support.h"

#include <inttypes.h>
#include <limits.h>
#include <link.h>
#include <sys/utsname.h>

/* The names of the frames of an inspection: of this process, and from programs that fail. */

static struct made_inspection made;
static struct symbolize_result result;
static struct error err;
static const char program[] = TOP_BUILDDIR "/symbols/buildbeat-symbols";

static void setup(void)
{
	made_inspection_init(&made);
	setenv("XDG_CACHE_HOME", support_tmpdir(), 1);
}

static void teardown(void)
{
	ck_assert_int_eq(waitpid(-1, NULL, WNOHANG), -1);	/* no process is left */
	buf_release(&result.notes);
	made_inspection_release(&made);
}

static uint32_t add_module(const char *path, uint64_t start, uint64_t end, uint64_t bias)
{
	struct inspection *in = &made.inspection;
	struct module *m = array_add(&in->module, &in->n_modules, sizeof *m);

	ck_assert_ptr_nonnull(m);
	*m = (struct module){ .start = start, .end = end, .bias = bias,
			      .file = made_inspection_name(&made, path) };
	return (uint32_t)(in->n_modules - 1);
}

static struct frame *add_frame(uint64_t address, uint32_t module)
{
	struct inspection *in = &made.inspection;
	struct frame *f = array_add(&in->frame, &in->n_frames, sizeof *f);

	ck_assert_ptr_nonnull(f);
	*f = (struct frame){ address, module, INSPECTION_NONE };
	return f;
}

static const char *text(uint32_t number)
{
	return number == INSPECTION_NONE ? NULL : made.inspection.names.name[number].p;
}

static const char *function(size_t frame)
{
	uint32_t name = made.inspection.frame[frame].name;

	return name == INSPECTION_NONE ? NULL : text(made.inspection.frame_name[name].function);
}

static int run_with(const char *path, struct symbolize_settings settings)
{
	settings.program = path;
	buf_release(&result.notes);
	return symbolize(&made.inspection, &settings, &result, &err);
}

/* This process */

static int add_loaded(struct dl_phdr_info *info, size_t size, void *data)
{
	uint64_t end = 0;
	bool vdso = strstr(info->dlpi_name, "vdso");

	(void)size;
	(void)data;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		if (info->dlpi_phdr[i].p_type == PT_LOAD)
			end = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;
	}
	add_module(vdso ? "[vdso]" : *info->dlpi_name ? info->dlpi_name : "/proc/self/exe",
		   info->dlpi_addr, end, info->dlpi_addr);
	return 0;
}

static uint32_t module_of(uint64_t address)
{
	const struct inspection *in = &made.inspection;
	uint32_t found = INSPECTION_NONE;

	for (size_t i = 0; i < in->n_modules; i++) {
		if (address >= in->module[i].start && address < in->module[i].end)
			found = (uint32_t)i;
	}
	return found;
}

static const struct { uint64_t address; const char *name; } known[] = {
	{ (uintptr_t)setup, "setup" }, { (uintptr_t)add_loaded, "add_loaded" },
	{ (uintptr_t)support_write, "support_write" }, { (uintptr_t)symbols_log_write, "symbols_log_write" },
};

static void own_process(void)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	ck_assert_int_gt(n, 0);
	self[n] = '\0';
	dl_iterate_phdr(add_loaded, NULL);
	for (size_t i = 0; i < made.inspection.n_modules; i++) {
		struct module *m = &made.inspection.module[i];

		if (!strcmp(text(m->file), "/proc/self/exe"))
			m->file = made_inspection_name(&made, self);
	}
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		add_frame(known[i].address + 1, module_of(known[i].address));
	add_frame(12345, INSPECTION_NONE);
}

TEST_GROUP_WITH("frames", setup, teardown);

TEST_LOOP(this_process, 4)
{
	struct inspection *in = &made.inspection;

	own_process();
	ck_assert_msg(!run_with(program, (struct symbolize_settings){ .names_only = _i & 1,
			.pid = _i & 2 ? getpid() : 0 }), "%s", err.message);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		ck_assert_str_eq(function(i), known[i].name);
	ck_assert_uint_eq(in->frame[ARRAY_SIZE(known)].name, INSPECTION_NONE);
	ck_assert_uint_eq(result.named, ARRAY_SIZE(known));
	ck_assert_uint_eq(result.frames, ARRAY_SIZE(known) + 1);
	ck_assert_uint_eq(in->named_percent, 100 * ARRAY_SIZE(known) / (ARRAY_SIZE(known) + 1));
	ck_assert_uint_eq(in->n_frame_names, ARRAY_SIZE(known));
	for (size_t i = 0; i < in->n_frame_names; i++) {
		const char *source = text(in->frame_name[i].source);

		ck_assert(_i & 1 ? !source : source && strstr(source, ".c"));
		ck_assert_int_eq(_i & 1, !in->frame_name[i].line);
	}
}

/* The file of a process that was replaced while it runs. */
TEST(deleted)
{
	const char *dir = support_tmpdir(), *path = support_path("%s/child", dir);
	char link[64], target[PATH_MAX];
	struct run run;
	pid_t pid;
	ssize_t n;

	support_run(&run, dir, "cp %s child", program);
	pid = fork();
	if (!pid) {
		freopen("/dev/zero", "r", stdin);
		execl(path, path, NULL);
		_exit(127);
	}
	snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
	do {
		n = readlink(link, target, sizeof target - 1);
		ck_assert_int_gt(n, 0);
		target[n] = '\0';
	} while (strcmp(target, path) && !waitpid(pid, NULL, WNOHANG));
	unlink(path);
	add_module(support_path("%s (deleted)", path), 0, UINT64_MAX, 0);
	add_frame(0x1234, 0);
	ck_assert_int_eq(run_with(program, (struct symbolize_settings){ .pid = pid }), 0);
	/* only root can open it in /proc; then .eh_frame has something to say */
	ck_assert(!strncmp(function(0), "child!", 6) || result.named);
	ck_assert(!access(support_path("/proc/%d/map_files", (int)pid), R_OK) || result.notes.len);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

/* Programs that fail */

static const char *fake(const char *script)
{
	const char *path = support_path("%s/fake", support_tmpdir());
	struct run run;

	support_writes(path, support_path("#!/bin/sh\n%s\n", script));
	support_run(&run, NULL, "chmod +x %s", path);
	return path;
}

/* Three modules, of which each has four frames. */
static void three_modules(void)
{
	static const char *const path[] = { "/bin/a", "/lib/b (deleted)", "[vdso]" };

	for (uint32_t i = 0; i < 3; i++) {
		add_module(path[i], i << 16, (i + 1) << 16, i << 16);
		for (unsigned j = 0; j < 4; j++)
			add_frame((i << 16) + 100 * j, i);
	}
}

#define NAME "do printf 'n %s\\tf%s\\t\\t0\\n' $i $i; done; "
#define ALL "for i in 0 1 2 3 4 5 6 7 8 9 10 11; " NAME
#define TWO "for i in 0 1 2 3 4 5 6 7; " NAME	/* modules */

static const struct {
	const char *script;
	int error, named;
	const char *note;
} faults[] = {
	{ "cat > /dev/null; " ALL " echo e", 0, 12, "" },
	{ ALL "echo e", 0, 12, "" },		/* it reads nothing */
	{ "exec sleep 1000", -ETIME, 0, "not all were found" },
	{ "cat > /dev/null; " ALL " exec sleep 1000", -ETIME, 12, "not all" },
	{ "exit 3", -EIO, 0, "" },
	{ "kill -SEGV $$", -EIO, 0, "" },
	{ "cat > /dev/null; " ALL "kill -SEGV $$", -EIO, 12, "" },
	{ "cat > /dev/null; echo 'n 12\tx\t\t0'", -EIO, 0, "" },
	{ "cat > /dev/null; echo 'n 0\tx\t\t'", -EIO, 0, "" },
	{ "cat > /dev/null; echo 'i x\t\t0'", -EIO, 0, "" },
	{ "cat > /dev/null; echo 'm 3'", -EIO, 0, "" },
	{ "cat > /dev/null; echo 'w x'", -EIO, 0, "" },
	{ "cat > /dev/null; echo 'u 0\txyz'", -EIO, 0, "" },
	{ "cat > /dev/null; echo 'e'; echo '? 0'", -EIO, 0, "" },
	{ "cat > /dev/null; echo 'n 0\tx\t\t0'; for i in $(seq 100); do echo 'i y\t\t0'; done", -EIO, 0, "" },
	{ "yes a-line-without-end | tr -d '\\n'", -EIO, 0, "" },
	{ "yes '? 0'", -ETIME, 0, "not all" },
	{ "cat > /dev/null; cat /dev/zero", -EIO, 0, "" },
	{ "cat > /dev/null; echo 'u 0\t1f'; echo e", 0, 0, "" },
	/* it fails on one module; then it is asked about the others */
	{ "cat > /dev/null; echo 'm 0'; printf 'n 0\\tx\\t\\t0\\n'; "
	  "test -e once || { echo 'm 1'; touch once; kill -SEGV $$; }; echo e",
	  0, 1, "b (deleted): buildbeat-symbols failed" },
	{ "cat > /dev/null; test -e once && { " TWO "echo e; exit; }; touch once; echo 'm 0'; exec sleep 1000",
	  0, 8, "/bin/a: buildbeat-symbols failed" },
	{ "cat > /dev/null; echo 'm 0'; echo 'w the \\\\tfile'; echo e", 0, 0, "/bin/a: the \tfile" },
};

TEST_EACH(fault, faults)
{
	struct inspection *in = &made.inspection;
	const char *path = fake(faults[_i].script);
	int r;

	ck_assert_int_eq(chdir(support_path("%s", support_tmpdir())), 0);
	three_modules();
	r = run_with(path, (struct symbolize_settings){ .budget_ms =
			faults[_i].error == -ETIME ? 700 :
			strstr(faults[_i].script, "sleep") ? 4000 : 30000 });
	ck_assert_int_eq(r, 0);
	ck_assert_int_eq(faults[_i].error == -EIO, strstr(buf_str(&result.notes), "symbols failed\n") &&
			 strstr(buf_str(&result.notes), "symbols: buildbeat"));
	ck_assert_uint_eq(result.named, faults[_i].named);
	ck_assert_uint_eq(in->named_percent, faults[_i].named * 100 / 12);
	ck_assert_msg(strstr(buf_str(&result.notes), faults[_i].note) != NULL, "%s",
		      buf_str(&result.notes));
	for (size_t i = 0; i < in->n_frames; i++)
		ck_assert_ptr_nonnull(function(i));
	if (!faults[_i].named && faults[_i].error) {
		ck_assert_str_eq(function(0), "a!?");
		ck_assert_str_eq(function(4), "b!?");
		ck_assert_str_eq(function(8), "[vdso]!?");
	}
}

/* A module on which it failed is not asked again; neither is one whose debug information it had
 * read before it failed on that of the next. */
static const struct { const char *first; unsigned asked; size_t frame; const char *name; } again[] = {
	{ "echo 'm 0'; printf 'n 1\\tkept\\t\\t0\\n'", 8, 4, "kept" },
	{ "echo 'm 0'; printf 'n 1\\tkept\\t\\t0\\n'; echo 'm 1'; echo 'm 2'; echo 'd 0'; echo 'd 1'",
	  4, 8, "kept" },
};

TEST_EACH(asked_again, again)
{
	ck_assert_int_eq(chdir(support_tmpdir()), 0);
	three_modules();
	ck_assert_int_eq(run_with(fake(support_path("n=$(grep -c '^r'); test -e once && "
			"{ printf 'n 0\\tasked%%s\\t\\t0\\n' $n; echo e; exit; }; touch once; %s; kill -SEGV $$",
			again[_i].first)), (struct symbolize_settings){ 0 }), 0);
	ck_assert_str_eq(function(again[_i].frame), support_path("asked%u", again[_i].asked));
	ck_assert_str_eq(function(1), again[_i].name);
	ck_assert_uint_eq(result.named, 2);
}

TEST(start_of_function)
{
	three_modules();
	ck_assert_int_eq(run_with(fake("cat > /dev/null; printf 'u 0\\t1f\\nu 1\\t1f\\nu 4\\t1f\\ne\\n'"),
				  (struct symbolize_settings){ 0 }), 0);
	ck_assert_str_eq(function(0), "a!0x1f");
	ck_assert_uint_eq(made.inspection.frame[0].name, made.inspection.frame[1].name);
	ck_assert_str_eq(function(4), "b!0x1f");
	ck_assert_uint_eq(made.inspection.named_percent, 0);
}

TEST(no_program)
{
	three_modules();
	ck_assert_int_eq(run_with("/nowhere/x", (struct symbolize_settings){ 0 }), -ENOENT);
	ck_assert_str_eq(err.path, "/nowhere/x");
	ck_assert_str_eq(function(0), "a!?");
}

static volatile sig_atomic_t stopped;

static void stop(int number)
{
	stopped = number;
}

TEST(cancelled)
{
	three_modules();
	signal(SIGALRM, stop);
	alarm(1);
	ck_assert_int_eq(run_with(fake("exec sleep 1000"),
				  (struct symbolize_settings){ .stop = &stopped }), -ECANCELED);
	ck_assert_str_eq(function(0), "a!?");
}

/* More than pipes hold, both ways, and what the program is asked. */
TEST(many)
{
	const size_t n = 200000;
	uint32_t m = add_module("/a path\n/with\tall \\", 0, UINT64_MAX, 0x1000);

	for (size_t i = 0; i < n; i++)
		add_frame(0x1000 + 16 * (n - i), m);
	ck_assert_int_eq(run_with(fake("awk 'NR == 1 { print \"m 0\"; print \"w \" $0; next }"
				       " { printf \"n %d\\tf%s\\t%s\\t%d\\ni g\\t\\t0\\n\", NR - 2, $2, $1, NR }"
				       " END { print \"e\" }'"), (struct symbolize_settings){ 0 }), 0);
	ck_assert_str_eq(buf_str(&result.notes),
			 "/a path\n/with\tall \\: module - /a path\n/with\tall \\\n");
	ck_assert_uint_eq(result.named, n);
	for (size_t i = 0; i < n; i += 997) {
		const struct frame_name *f = &made.inspection.frame_name[made.inspection.frame[i].name];

		ck_assert_str_eq(text(f->function), support_path("f%zx", 16 * (n - i)));
		ck_assert_str_eq(text(f->source), "r");
		ck_assert_uint_eq(f->line, n - i + 1);
		ck_assert_str_eq(text(made.inspection.frame_name[f->inlined_in].function), "g");
	}
}

/* An archive whose inspector was killed gets names when it is shown. */
TEST_LOOP(shown, 2)
{
	struct inspection *in = &made.inspection;
	struct inspect_archive *a;
	struct snapshot *s;
	struct utsname u;
	struct run run;

	ck_assert_int_eq(uname(&u), 0);
	own_process();
	in->host = _i ? "elsewhere" : u.nodename;
	for (uint32_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct stack *stack = array_add(&in->stack, &in->n_stacks, sizeof *stack);

		ck_assert_ptr_nonnull(stack);
		*stack = (struct stack){ INSPECTION_NONE, i };
	}
	s = made_inspection_snapshot(&made, 0);
	for (uint32_t i = 0; i < in->n_stacks; i++)
		made_inspection_site(s, i, false, 1, 1000000);
	ck_assert_msg(!inspect_archive_create(&a, NULL, support_path("%s/x", support_tmpdir()), in,
					      STORE_ACCESS_USER, &err), "%s", err.message);
	ck_assert_int_eq(inspect_archive_add_snapshot(a, s), 0);
	support_run(&run, NULL, TOP_BUILDDIR "/buildbeat inspect show %s", inspect_archive_path(a));
	ck_assert_msg(!run.status, "%s", buf_str(&run.err));
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		ck_assert_msg(_i == !strstr(buf_str(&run.out), known[i].name), "%s", buf_str(&run.out));
	ck_assert(!_i == !strstr(buf_str(&run.out), "checks!?"));
	ck_assert(!support_exists(support_path("%s/" SYMBOLS_LOG, inspect_archive_path(a))));
	ck_assert_int_eq(inspect_archive_end(a, "", &err), 0);
}

/* symbols.log */

TEST_GROUP_WITH("log", setup, teardown);

TEST(log_again)
{
	struct inspection *in = &made.inspection;
	RELEASED(buf, first = BUF_INIT, second = BUF_INIT);

	own_process();
	ck_assert_int_eq(run_with(program, (struct symbolize_settings){ 0 }), 0);
	symbols_log_write(&first, in);
	in->frame[0].name = 0;
	ck_assert_int_eq(symbols_log_read(in, first.data, first.len, "x", &err), 0);
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		ck_assert_str_eq(function(i), known[i].name);
	symbols_log_write(&second, in);
	ck_assert_str_eq(buf_str(&first), buf_str(&second));
	/* truncated anywhere, it has the lines before */
	for (size_t len = strchr(first.data, '\n') + 1 - first.data; len < first.len; len += 13) {
		ck_assert_int_eq(symbols_log_read(in, first.data, len, "x", &err), 0);
		buf_clear(&second);
		symbols_log_write(&second, in);
		buf_cut(&second, (size_t)(strrchr(buf_str(&second), 'p') - second.data));
		ck_assert_uint_le(second.len, len);
		ck_assert_int_eq(memcmp(first.data, second.data, second.len), 0);
	}
}

static const struct { const char *text; unsigned line; } wrong[] = {
	{ "", 1 }, { "buildbeat inspection symbols 2\n", 1 }, { "buildbeat inspection symbols 1", 1 },
	{ "buildbeat inspection symbols 1\nx\n", 2 },
	{ "buildbeat inspection symbols 1\nn f\t\t0\t0\n", 2 },
	{ "buildbeat inspection symbols 1\nn f\t\t0\n", 2 },
	{ "buildbeat inspection symbols 1\nn f\t\t0\t-\nf 0 1\n", 3 },
	{ "buildbeat inspection symbols 1\nn f\t\t4294967296\t-\n", 2 },
	{ "buildbeat inspection symbols 1\np 101\n", 2 },
};

TEST_EACH(log_wrong, wrong)
{
	ck_assert_int_eq(symbols_log_read(&made.inspection, wrong[_i].text, strlen(wrong[_i].text),
					  "here", &err), -EINVAL);
	ck_assert_str_eq(err.path, "here");
	ck_assert_uint_eq(err.line, wrong[_i].line);
}

TEST_MAIN(symbolize);
