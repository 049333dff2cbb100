/* SPDX-License-Identifier: MIT */
/*
 * The call stacks of heap/unwind.h: those of generated programs are what libgcc finds; modules are
 * what the files say; garbage is harmless.
 */
#include "base/array.h"
#include "heap/unwind.h"
#include "tests/support.h"

#include <dlfcn.h>
#include <sys/mman.h>
#include <ucontext.h>

#define UNWOUND TOP_BUILDDIR "/tests"

/* Frames as libgcc finds them */

static const char *const levels[] = { "-O0", "-O1", "-O2", "-O3", "-Os", "-O2 -fno-omit-frame-pointer" };
static const char *const compilers[] = { "gcc", "clang" };

TEST_LOOP(frames, ARRAY_SIZE(levels) * ARRAY_SIZE(compilers))
{
	const char *compiler = compilers[_i % 2], *level = levels[_i / 2];
	const char *language = _i % 4 < 2 ? "c" : "c++", *dir = support_tmpdir();

	SKIP_IF(!support_has(compiler) || !support_can_be_loaded());
	support_expect(dir, 0, NULL, NULL,
		       "python3 -B " TOP_SRCDIR "/tests/gen_frames.py %d %s >g.txt && "
		       "%s -w %s -x %s g.txt -x none -o p " UNWOUND "/unwound.so -lstdc++ -pthread "
		       "-Wl,-rpath," UNWOUND " && ./p", _i, language, compiler, level, language);
}

/* The same for aarch64, by a cross compiler and an emulator where they are installed; with signed
 * return addresses too. */
#define CROSS "aarch64-linux-gnu-gcc"
#define EMULATOR "qemu-aarch64-static"

static const char *const cross_flags[] = {
	"-O0", "-O2", "-O2 -fomit-frame-pointer -mbranch-protection=standard", "-Os -fstack-clash-protection",
};

TEST_EACH(frames_aarch64, cross_flags)
{
	const char *dir = support_tmpdir();

	SKIP_IF(!support_has(CROSS) || !support_has(EMULATOR));
	support_expect(dir, 0, NULL, NULL,
		       "python3 -B " TOP_SRCDIR "/tests/gen_frames.py %d c >g.c && "
		       CROSS " -std=gnu11 -O2 -Wall -Wextra -Werror -fPIC -shared -D_GNU_SOURCE -I" TOP_SRCDIR
		       " -o unwound.so " TOP_SRCDIR "/tests/unwound.c " TOP_SRCDIR "/heap/unwind.c " TOP_SRCDIR
		       "/heap/unwind_rule.c " TOP_SRCDIR "/heap/unwind_module.c " TOP_SRCDIR "/heap/sandbox.c && "
		       CROSS " -w %s g.c -o p ./unwound.so -pthread -Wl,-rpath,%s && "
		       EMULATOR " -L /usr/aarch64-linux-gnu ./p", _i, cross_flags[_i], dir);
}

/* Code of a JIT compiler: without a table, but with a frame pointer. */
static uintptr_t jit_stack[64];
static size_t jit_depth;

static void from_jit(void)
{
	jit_depth = unwind_stack(0, jit_stack, ARRAY_SIZE(jit_stack));
}

static void *map_code(const unsigned char *code, size_t len)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(p, MAP_FAILED);
	memcpy(p, code, len);
	ck_assert_int_eq(mprotect(p, 4096, PROT_READ | PROT_EXEC), 0);
	__builtin___clear_cache(p, (char *)p + len);
	return p;
}

static bool has_call_in(const uintptr_t *address, size_t n, uintptr_t start, size_t len)
{
	for (size_t i = 0; i < n; i++) {
		if (address[i] - start < len)
			return true;
	}
	return false;
}

#ifdef __x86_64__
/* push rbp; mov rbp, rsp; call rdi; pop rbp; ret */
static const unsigned char jit_code[] = { 0x55, 0x48, 0x89, 0xe5, 0xff, 0xd7, 0x5d, 0xc3 };
#elif defined __aarch64__
/* stp x29, x30, [sp, -32]!; mov x29, sp; blr x0; ldp x29, x30, [sp], 32; ret */
static const unsigned char jit_code[] = {
	0xfd, 0x7b, 0xbe, 0xa9, 0xfd, 0x03, 0x00, 0x91, 0x00, 0x00, 0x3f, 0xd6,
	0xfd, 0x7b, 0xc2, 0xa8, 0xc0, 0x03, 0x5f, 0xd6,
};
#endif

#if defined __x86_64__ || defined __aarch64__
static __attribute__((noinline)) void call_jit(void (*jit)(void (*)(void)))
{
	jit(from_jit);
	__asm__ volatile("");
}

TEST(without_tables)
{
	void *p = map_code(jit_code, sizeof jit_code);

	call_jit((void (*)(void (*)(void)))p);
	ck_assert_uint_ge(jit_depth, 4);
	ck_assert(has_call_in(jit_stack, jit_depth, (uintptr_t)p, sizeof jit_code));
	ck_assert(has_call_in(jit_stack, jit_depth, (uintptr_t)call_jit, 64));
	ck_assert(has_call_in(jit_stack, jit_depth, (uintptr_t)without_tables_fn, 4096));
	munmap(p, 4096);
}
#endif

/* Garbage */

static ucontext_t main_context, garbage_context;
static size_t garbage_depth;

#define GARBAGE_SIZE 65536

/* Words that look like code, like the stack, like memory that cannot be read, or like nothing. */
static uintptr_t garbage_word(const char *stack)
{
	static const uintptr_t odd[] = { 0, 1, 8, 4096, UINTPTR_MAX, UINTPTR_MAX - 7, UINTPTR_MAX - 4096 };
	uintptr_t n = (uintptr_t)rand();

	switch (rand() % 5) {
	case 0: return (uintptr_t)garbage_word + n % 4000;
	case 1: return (uintptr_t)stack + n % (2 * GARBAGE_SIZE);
	case 2: return (uintptr_t)stack + (n % (2 * GARBAGE_SIZE) & ~(uintptr_t)7);
	case 3: return odd[n % ARRAY_SIZE(odd)];
	default: return n << 32 ^ n << 3;
	}
}

/* All frames of the callers become garbage, so that it cannot return. */
static void on_garbage(void)
{
	const char *stack = garbage_context.uc_stack.ss_sp;
	uintptr_t *word = __builtin_frame_address(0), address[200];

	for (; (char *)word < stack + GARBAGE_SIZE; word++)
		*word = garbage_word(stack);
	garbage_depth += unwind_stack(0, address, ARRAY_SIZE(address));
	garbage_depth += unwind_stack(0x1234, address, ARRAY_SIZE(address));
	setcontext(&main_context);
}

/* A stack whose end is the end of what can be read. */
TEST_LOOP(garbage, 6)
{
	char *stack = mmap(NULL, 2 * GARBAGE_SIZE, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned rounds = 2000;

	/* a sanitizer's own words on the stack would become garbage too */
	SKIP_IF(!support_can_be_loaded());
	ck_assert_ptr_ne(stack, MAP_FAILED);
	ck_assert_int_eq(mprotect(stack + GARBAGE_SIZE, GARBAGE_SIZE, _i % 2 ? PROT_NONE : PROT_EXEC), 0);
	srand((unsigned)_i);
	for (unsigned i = 0; i < rounds; i++) {
		ck_assert_int_eq(getcontext(&garbage_context), 0);
		garbage_context.uc_stack.ss_sp = stack;
		garbage_context.uc_stack.ss_size = GARBAGE_SIZE - (size_t)(rand() % 1000) * 8;
		makecontext(&garbage_context, on_garbage, 0);
		ck_assert_int_eq(swapcontext(&main_context, &garbage_context), 0);
	}
	ck_assert_uint_gt(garbage_depth, 2 * rounds);
	munmap(stack, 2 * GARBAGE_SIZE);
}

TEST(limits)
{
	uintptr_t address[3] = { 0, 0, 42 };

	ck_assert_uint_eq(unwind_stack(0, address, 0), 0);
	ck_assert_uint_eq(unwind_stack(0, address, 2), 2);
	ck_assert_uint_eq(address[2], 42);
	ck_assert_uint_eq(unwind_stack(0x1235, address, 3), 1);
	ck_assert_uint_eq(address[0], 0x1234);
	errno = 77;
	unwind_stack(0, address, 3);
	ck_assert_int_eq(errno, 77);
}

/* Modules */

__attribute__((format(printf, 1, 2))) static const char *line_of(const char *format, ...)
{
	static char line[256];
	struct run r;
	va_list ap;

	va_start(ap, format);
	support_run_v(&r, NULL, format, ap);
	va_end(ap);
	snprintf(line, sizeof line, "%.*s", (int)strcspn(r.out.data, "\n"), r.out.data);
	return line;
}

static void object(const char *path, const char *source)
{
	support_writes(support_path("%s.c", path), source);
	support_expect(NULL, 0, NULL, NULL, "gcc -O2 -shared -fPIC -Wl,--build-id -o %s %s.c", path, path);
}

TEST(modules)
{
	const char *path = support_path("%s/a object.so", support_tmpdir());
	char hex[2 * UNWIND_BUILD_ID_MAX + 1] = "", *inner = strdup(path);
	struct unwind_module m;
	uintptr_t start, end;
	void *o, *function;

	support_writes(support_path("%s/o.c", support_tmpdir()), "int pad(int x) { return x + 1; }\n"
		       "int function(int x) { return x * 3 + 1; }\n");
	support_expect(support_tmpdir(), 0, NULL, NULL,
		       "gcc -O2 -shared -fPIC -Wl,--build-id -o 'a object.so' o.c");
	o = dlopen(inner, RTLD_NOW);
	ck_assert_ptr_nonnull(o);
	function = dlsym(o, "function");
	ck_assert_int_eq(unwind_find_module(&m, (uintptr_t)function + 1), 0);
	ck_assert_str_eq(m.path, inner);
	for (size_t i = 0; i < m.build_id_len; i++)
		sprintf(hex + 2 * i, "%02x", m.build_id[i]);
	ck_assert_str_eq(hex, line_of("readelf -n '%s' | sed -n 's/.*Build ID: //p'", inner));
	ck_assert_uint_eq((uintptr_t)function - m.bias,
			  strtoul(line_of("nm -D '%s' | sed -n 's/ T function//p'", inner), NULL, 16));
	ck_assert_int_eq(unwind_find_range(&start, &end, (uintptr_t)function), 0);
	ck_assert(start == m.start && end == m.end);
	ck_assert((uintptr_t)function >= start && (uintptr_t)function < end);
	dlclose(o);
	ck_assert_int_eq(unwind_find_module(&m, 4096), -ENOENT);
	ck_assert_int_eq(unwind_find_range(&start, &end, 4096), -ENOENT);
	free(inner);
}

/* The loader knows the program by no name, and what was opened by a relative path by that. */
TEST(module_paths)
{
	char exe[PATH_MAX] = "", here[PATH_MAX];
	struct unwind_module m;
	const char *dir;
	void *o;

	ck_assert_int_gt(readlink("/proc/self/exe", exe, sizeof exe - 1), 0);
	ck_assert_int_eq(unwind_find_module(&m, (uintptr_t)on_garbage), 0);
	ck_assert_str_eq(m.path, exe);
	dir = support_tmpdir();
	ck_assert_ptr_nonnull(getcwd(here, sizeof here));
	object(support_path("%s/r.so", dir), "int relative(void) { return 1; }\n");
	ck_assert_int_eq(chdir(dir), 0);
	o = dlopen("./r.so", RTLD_NOW);
	ck_assert_int_eq(chdir(here), 0);
	ck_assert_ptr_nonnull(o);
	ck_assert_int_eq(unwind_find_module(&m, (uintptr_t)dlsym(o, "relative")), 0);
	ck_assert_str_eq(m.path, support_path("%s/r.so", dir));
	dlclose(o);
}

/* Other code at the same addresses: the old rules must not be used. */
TEST(replaced)
{
	static const char *const sizes[] = { "volatile char c[40]; c[0] = 1;",
					     "volatile char c[4000]; c[0] = 1;" };
	uintptr_t at[2] = { 0, 0 };

	for (int i = 0; i < 20; i++) {
		const char *path = support_path("%s/m%d.so", support_tmpdir(), i % 2);
		char *name = strdup(path);
		void (*call)(void (*)(void));
		void *o;

		if (i < 2)
			object(name, support_path("void call(void (*f)(void)) { %s f(); c[1] = 2; }\n",
						  sizes[i]));
		o = dlopen(name, RTLD_NOW);
		ck_assert_ptr_nonnull(o);
		call = (void (*)(void (*)(void)))(uintptr_t)dlsym(o, "call");
		call(from_jit);
		at[i % 2] = (uintptr_t)call;
		ck_assert(has_call_in(jit_stack, jit_depth, (uintptr_t)call, 200));
		ck_assert(has_call_in(jit_stack, jit_depth, (uintptr_t)replaced_fn, 4096));
		dlclose(o);
		unwind_flush();
		free(name);
	}
	ck_assert_uint_eq(at[0], at[1]);
}

TEST_MAIN(unwind);
