/* SPDX-License-Identifier: MIT */
/* Which programs get the preloaded object, and the table of children. */
#include "base/array.h"
#include "base/file.h"
#include "plugin/carry.h"
#include "plugin/carry_elf.h"
#include "plugin/pidtable.h"
#include "tests/support.h"

#include <elf.h>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>

static const struct { enum carry carry; const char *words[6]; } commands[] = {
	{ CARRY_NOWHERE, { "/bin/sh", "-c", "cc -c foo.c -o foo.o" } },
	{ CARRY_NOWHERE, { "/bin/sh", "-c", ": && /usr/bin/c++ -O2 make.o ninja.cc.o -o prog && :" } },
	{ CARRY_NOWHERE, { "gcc", "-DSHELL=sh", "-o", "ninja", "ninja.c" } },
	{ CARRY_NOWHERE, { "/opt/bin/x86_64-linux-gnu-g++-12", "-o", "make" } },
	{ CARRY_NOWHERE, { "/bin/sh", "-c", "cp a b && touch stamp" } },
	{ CARRY_NOWHERE, { "/bin/bash", "-c", "cat Makefile make.txt > /dev/null" } },
	{ CARRY_NOWHERE, { "/bin/bash", "../libtool", "--tag=CC", "--mode=compile", "gcc" } },
	{ CARRY_NOWHERE, { "/bin/sh", "-c", "/bin/bash ./libtool --mode=link cc" } },
	{ CARRY_NOWHERE, { "/bin/sh", "-c", "/usr/bin/cmake -E touch a && cmake -E copy b c" } },
	{ CARRY_NOWHERE, { "cmake", "-E", "copy", "make", "gen.py" } },
	{ CARRY_NOWHERE, { "" } }, { CARRY_ASK, { "/" } }, { CARRY_NOWHERE, { "sh", "-c", "" } },
	/* an argument never gives a program more */
	{ CARRY_NOWHERE, { "tool", "gen.py" } }, { CARRY_NOWHERE, { "/usr/bin/install", "configure" } },
	{ CARRY_NOWHERE, { "cp", "cmake", "ninja" } }, { CARRY_NOWHERE, { "x", "make" } },
	{ CARRY_NOWHERE, { "/usr/bin/gcc-ar-12", "configure.sh" } },
	{ CARRY_NOWHERE, { "/usr/bin/autoconf", "configure" } },
	{ CARRY_NOWHERE, { "nice", "-n", "5", "cc", "x.c" } }, { CARRY_NOWHERE, { "env" } },
	{ CARRY_ASK, { "./tool", "gen.py" } }, { CARRY_ASK, { "/home/me/bin/x", "--opt=foo.py" } },
	{ CARRY_ASK, { "./x", "cmake" } }, { CARRY_ASK, { "nice", "./x" } },
	{ CARRY_TICKET, { "make", "-C", "lib" } },
	{ CARRY_TICKET, { "/bin/sh", "-c", "cd lib && make all" } },
	{ CARRY_TICKET, { "/bin/sh", "-ec", "for d in a b;do(cd $d;/usr/bin/gmake-4.4 all);done" } },
	{ CARRY_TICKET, { "env", "A=b", "remake" } },
	{ CARRY_TICKET, { "xargs", "make" } },
	{ CARRY_TICKET, { "/bin/sh", "-c", "cmake -E env A=b make" } },
	{ CARRY_TICKET, { "cmake", "-E", "env", "A=b", "make" } },
	{ CARRY_TICKET, { "buildbeat", "task", "x", "true" } },
	{ CARRY_HOST, { "ninja" } }, { CARRY_HOST, { "/usr/bin/ninja-1.11", "-C", "x" } },
	{ CARRY_HOST, { "/bin/sh", "-c", "cd x && (samu)" } },
	{ CARRY_HOST, { "/bin/sh", "-c", "make && ninja" } },
	{ CARRY_HOST, { "/bin/sh", "-c", "cmake -S . -B build" } },
	{ CARRY_HOST, { "cmake", "--build", "." } }, { CARRY_HOST, { "cmake", "-E", "time", "ninja" } },
	{ CARRY_HOST, { "/bin/sh", "-c", "python3.11 gen.py" } },
	{ CARRY_HOST, { "/bin/sh", "-c", "./gen.sh" } },
	{ CARRY_HOST, { "sh", "build" } }, { CARRY_HOST, { "bash", "-x", "build" } }, { CARRY_HOST, { "sh" } },
	{ CARRY_HOST, { "/bin/sh", "-c", "./configure --prefix=/usr" } },
	{ CARRY_HOST, { "./configure", "--prefix=/usr" } },
	{ CARRY_HOST, { "/bin/sh", "-c", "cat x | sh" } },
	{ CARRY_HOST, { "perl", "gen.pl" } }, { CARRY_HOST, { "timeout", "5", "cargo", "build" } },
	{ CARRY_HOST, { "nice", "sh", "-c", "ninja" } }, { CARRY_HOST, { "fakeroot", "ninja" } },
	{ CARRY_HOST, { "faketime", "ninja" } }, { CARRY_HOST, { "env", "X=1", "ninja" } },
};

TEST_EACH(decisions, commands)
{
	char *const *argv = (char *const *)(uintptr_t)commands[_i].words;
	enum carry carry = carry_leads(argv[0], argv);

	ck_assert_msg(carry == commands[_i].carry, "%s %s %s: %d, not %d", commands[_i].words[0],
		      commands[_i].words[1], commands[_i].words[2], carry, commands[_i].carry);
}

/* Files: the content decides, not the name they are called with. */

static const struct {
	const char *name, *text;	/* NULL: the system's shell */
	enum carry carry;
	const char *words[4];		/* argv; if the first one is NULL, only the path */
} files[] = {
	{ "tool", NULL, CARRY_NOWHERE, { "tool", "gen.py", "cmake" } },
	{ "tool.py", NULL, CARRY_NOWHERE, { "tool.py" } },
	{ "tool", NULL, CARRY_NOWHERE, { "ninja" } },
	{ "ninja", NULL, CARRY_HOST, { "tool" } },
	{ "configure", NULL, CARRY_HOST, { "./configure" } },
	{ "run", "#!/bin/sh\nninja\n", CARRY_HOST, { "run" } },
	{ "run", "#! /usr/bin/env python3\n", CARRY_HOST, { "run" } },
	{ "run", "#!/usr/bin/env -S A=b python3 -u\n", CARRY_HOST, { "run" } },
	{ "run", "#!/usr/bin/make -f\nall:\n", CARRY_TICKET, { "run" } },
	{ "run", "#!/usr/bin/env make\nall:\n", CARRY_TICKET, { "run" } },
	{ "run", "#!/usr/bin/env cat\n", CARRY_NOWHERE, { "run" } },
	{ "run", "#!/usr/bin/awk -f\n", CARRY_NOWHERE, { "run" } },
	{ "run", "#!/nonexistent/python3\n", CARRY_TICKET, { "run" } },
	{ "run", "#!", CARRY_NOWHERE, { "run" } }, { "run", "", CARRY_NOWHERE, { "run" } },
	{ "run", "ninja\n", CARRY_NOWHERE, { "run" } },
	{ "config.status", "#!/bin/sh\n", CARRY_NOWHERE, { "run" } },
	{ "ninja", "#!/bin/sh\n", CARRY_HOST, { "ninja" } },
	{ "ninja", "no program\n", CARRY_TICKET, { "ninja" } },
};

TEST_EACH(decisions_by_file, files)
{
	const char *path = support_path("%s/%s", support_tmpdir(), files[_i].name);
	static struct carry_look look;
	enum carry carry;
	RELEASED(buf, self);

	support_read(&self, "/bin/sh");
	if (files[_i].text)
		support_writes(path, files[_i].text);
	else
		support_write(path, self.data, self.len);
	ck_assert_int_eq(chmod(path, 0755), 0);
	for (int again = 0; again < 2; again++) {
		carry = carry_of(&look, path, (char *const *)(uintptr_t)files[_i].words);
		ck_assert_msg(carry == files[_i].carry, "%s, %s: %d, not %d", files[_i].name,
			      files[_i].text, carry, files[_i].carry);
	}
	setenv("PATH", support_path("%s:%s", support_tmpdir(), getenv("PATH")), 1);
	if (carry_leads(files[_i].name, (char *const *)(uintptr_t)files[_i].words) == CARRY_HOST)
		ck_assert_int_eq(carry_of(&look, files[_i].name,
					  (char *const *)(uintptr_t)files[_i].words), carry);
}

/* A wrapper of a script, and of a program. */
TEST(wrapped)
{
	const char *run = support_path("%s/run", support_tmpdir());
	char *argv[] = { (char *)(uintptr_t)"nice", (char *)(uintptr_t)run, NULL };
	static struct carry_look look;

	support_writes(run, "#!/bin/sh\n");
	chmod(run, 0755);
	ck_assert_int_eq(carry_of(&look, "nice", argv), CARRY_HOST);
	support_writes(run, "text\n");
	ck_assert_int_eq(carry_of(&look, "nice", argv), CARRY_NOWHERE);
}

TEST(names)
{
	ck_assert(carry_is_make("make") && carry_is_make("remake") && carry_is_make("make-4.4"));
	ck_assert(!carry_is_make("cmake") && !carry_is_make("buildbeat") && !carry_is_make(""));
	ck_assert(carry_reads_ticket("buildbeat") && !carry_reads_ticket("ninja"));
	ck_assert(carry_is_host("ninja") && carry_is_host("n2") && carry_is_host("cargo"));
	ck_assert(!carry_is_host("sh") && !carry_is_host("meson") && !carry_is_host("n"));
	ck_assert(carry_is_interpreter("python3.11") && !carry_is_interpreter("ninja"));
	ck_assert_str_eq(carry_name("/usr/bin/x"), "x");
	ck_assert_str_eq(carry_name("x"), "x");
	ck_assert_str_eq(carry_name("/"), "");
}

/* Environments: variables are added and removed, and the order stays. */

#define TICKET "/rec/buildbeat.mk"
#define PRELOAD "/rec/buildbeat-preload.so"

static const struct {
	const char *env[5];
	const char *makefiles, *preload;	/* what the started program sees */
} environments[] = {
	{ { NULL }, TICKET, PRELOAD },
	{ { "A=b", "C=d" }, TICKET, PRELOAD },
	{ { "LD_PRELOAD=x.so:y.so", "A=b" }, TICKET, "x.so:y.so:" PRELOAD },
	{ { "LD_PRELOAD=x.so y.so", "A=b" }, TICKET, "x.so y.so:" PRELOAD },
	{ { "MAKEFILES=one two", "A=b" }, TICKET " one two", PRELOAD },
	{ { "MAKEFILES=", "LD_PRELOAD=" }, TICKET, PRELOAD },
	{ { "A=b", "MAKEFILES=" TICKET " one", "LD_PRELOAD=x.so" }, TICKET " one", "x.so:" PRELOAD },
};

static const char *value_of(char *const *env, const char *name)
{
	for (; *env; env++) {
		if (!strncmp(*env, name, strlen(name)))
			return *env + strlen(name);
	}
	return NULL;
}

/* Removing changes it in place. */
static char **writable(char *const *env)
{
	static char *copy[32], text[8192];
	size_t n = 0, used = 0;

	for (; env[n]; n++) {
		size_t size = strlen(env[n]) + 1;

		ck_assert(n + 1 < ARRAY_SIZE(copy) && used + size <= sizeof text);
		copy[n] = memcpy(text + used, env[n], size);
		used += size;
	}
	copy[n] = NULL;
	return copy;
}

TEST_EACH(there_and_back, environments)
{
	char *const *before = (char *const *)(uintptr_t)environments[_i].env;
	bool had_ticket = value_of(before, "MAKEFILES=" TICKET);
	struct carried carried = { .host = 0 }, taken;
	static struct carry_env e;
	char *const *with;
	char **after;
	size_t n = 0;

	ck_assert(carry_from_ticket(&carried, TICKET, strlen(TICKET)));
	with = carry_put(&e, &carried, before, true, 77);
	ck_assert_str_eq(value_of(with, "MAKEFILES="), environments[_i].makefiles);
	ck_assert_str_eq(value_of(with, "LD_PRELOAD="), environments[_i].preload);
	ck_assert_ptr_eq(carry_put(&e, &carried, with, true, 77), with);
	after = writable(with);
	carry_take(&taken, after, false);
	ck_assert_str_eq(taken.ticket, TICKET);
	ck_assert_str_eq(taken.preload, PRELOAD);
	ck_assert_int_eq(taken.host, 77);
	ck_assert_int_eq(taken.keep, had_ticket);
	for (size_t i = 0; before[i]; i++) {
		if (before[i][strlen(before[i]) - 1] == '=')
			continue;	/* an empty list is removed */
		ck_assert_str_eq(after[n++], before[i]);
	}
	ck_assert_ptr_null(after[n]);
}

/* Other preloaded objects before or after ours. */
TEST(among_others)
{
	static const char *const values[][2] = {
		{ "LD_PRELOAD=" PRELOAD ":x.so", "LD_PRELOAD=x.so" },
		{ "LD_PRELOAD=x.so " PRELOAD " y.so", "LD_PRELOAD=x.so y.so" },
		{ "LD_PRELOAD=x.so::" PRELOAD, "LD_PRELOAD=x.so:" },
		{ "LD_PRELOAD=" PRELOAD, NULL },
		{ "LD_PRELOAD=/x" PRELOAD ".1:y", "LD_PRELOAD=/x" PRELOAD ".1:y" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
		char *env[] = { strdup(values[i][0]), NULL }, *text = env[0];
		struct carried taken;

		carry_take(&taken, env, false);
		if (values[i][1])
			ck_assert_str_eq(env[0], values[i][1]);
		else
			ck_assert_ptr_null(env[0]);
		free(text);
	}
}

/* An object that must be the first one stays alone. */
TEST(forbidden)
{
	static const struct { const char *value; bool forbids; } preloads[] = {
		{ "LD_PRELOAD=/usr/lib/gcc/x86_64-linux-gnu/12/libasan.so", true },
		{ "LD_PRELOAD=libfakeroot.so libtsan.so.2", true }, { "LD_PRELOAD=x.so:liblsan.so.0", true },
		{ "LD_PRELOAD=libclang_rt.asan-x86_64.so", true }, { "LD_PRELOAD=libubsan.so.1", true },
		{ "LD_PRELOAD=/a/libasan_preinit.so", true },
		{ "LD_PRELOAD=libclang_rt.builtins-x86_64.so", false }, { "LD_PRELOAD=", false },
		{ "LD_PRELOAD=libfakeroot.so:libjemalloc.so.2", false }, { "LD_PRELOAD=libasana.so", false },
		{ "LD_PRELOAD=/libasan.so/x.so", false }, { "XLD_PRELOAD=libasan.so", false },
	};
	struct carried carried = { .host = 0 };
	static struct carry_env e;

	carry_from_ticket(&carried, TICKET, strlen(TICKET));
	for (size_t i = 0; i < ARRAY_SIZE(preloads); i++) {
		char *env[] = { (char *)(uintptr_t)preloads[i].value, NULL };

		ck_assert_msg(carry_env_forbids(env) == preloads[i].forbids, "%s", preloads[i].value);
		ck_assert_int_eq(carry_put(&e, &carried, env, true, 0) == env, preloads[i].forbids);
		ck_assert_ptr_ne(carry_put(&e, &carried, env, false, 0), env);
	}
}

TEST(ticket_alone)
{
	char *env[] = { strdup("A=b"), NULL };
	struct carried carried = { .host = 0 };
	static struct carry_env e;
	char *const *with;

	ck_assert_ptr_eq(carry_put(&e, &carried, env, true, 0), env);
	carry_from_ticket(&carried, TICKET, strlen(TICKET));
	with = carry_put(&e, &carried, env, false, 0);
	ck_assert_str_eq(value_of(with, "MAKEFILES="), TICKET);
	ck_assert_ptr_null(value_of(with, "LD_PRELOAD="));
	ck_assert_ptr_null(value_of(with, CARRY_MARK "="));
	ck_assert(carry_from_env(&carried, with));
	ck_assert_str_eq(carried.preload, PRELOAD);
	ck_assert(!carry_from_env(&carried, env));
	free(env[0]);
}

/* An environment that is too large is unchanged. */
TEST(large_environment)
{
	static char *env[CARRY_ENV_MAX + 2];
	struct carried carried = { .host = 0 };
	static struct carry_env e;
	char text[] = "A=b", *longest;

	carry_from_ticket(&carried, TICKET, strlen(TICKET));
	for (size_t i = 0; i <= CARRY_ENV_MAX; i++)
		env[i] = text;
	ck_assert_ptr_eq(carry_put(&e, &carried, env, true, 0), env);
	env[CARRY_ENV_MAX] = NULL;
	ck_assert_ptr_ne(carry_put(&e, &carried, env, true, 0), env);
	longest = malloc(3 * PATH_MAX);
	memset(longest, 'x', 3 * PATH_MAX - 1);
	memcpy(longest, "MAKEFILES=", 10);
	longest[3 * PATH_MAX - 1] = '\0';
	env[0] = longest;
	env[1] = NULL;
	ck_assert_ptr_eq(carry_put(&e, &carried, env, true, 0), env);
	free(longest);
}

/* Programs */

static char *program_path;

static void make_program(const void *data, size_t len)
{
	if (!program_path)
		program_path = strdup(support_path("%s/prog", support_tmpdir()));
	support_write(program_path, data, len);
	ck_assert_int_eq(chmod(program_path, 0755), 0);
}

TEST(programs)
{
	char found[PATH_MAX];
	RELEASED(buf, self);

	support_read(&self, "/bin/sh");
	make_program(self.data, self.len);
	ck_assert_int_eq(carry_fit_of(program_path), CARRY_FITS);
	ck_assert_int_eq(chmod(program_path, 04755), 0);
	ck_assert_int_eq(carry_fit_of(program_path), CARRY_CANNOT);
	self.data[EI_CLASS] ^= ELFCLASS32 ^ ELFCLASS64;
	make_program(self.data, self.len);
	ck_assert_int_eq(carry_fit_of(program_path), CARRY_CANNOT);
	support_writes(program_path, "#!/bin/sh\n");
	ck_assert_int_eq(carry_fit_of(program_path), CARRY_FITS);
	support_writes(program_path, "#! /bin/sh -e\n");
	ck_assert_int_eq(carry_fit_of(program_path), CARRY_FITS);
	support_writes(program_path, "#!/nonexistent\n");
	ck_assert_int_eq(carry_fit_of(program_path), CARRY_CANNOT);
	support_writes(program_path, support_path("#!%s\n", program_path));
	ck_assert_int_eq(carry_fit_of(program_path), CARRY_CANNOT);
	support_writes(program_path, "echo no script\n");
	ck_assert_int_eq(carry_fit_of(program_path), CARRY_CANNOT);
	ck_assert_int_eq(carry_fit_of(support_tmpdir()), CARRY_CANNOT);
	ck_assert_int_eq(carry_fit_of("/nonexistent"), CARRY_CANNOT);
	setenv("PATH", support_path("/nonexistent::%s:%s", support_tmpdir(), getenv("PATH")), 1);
	ck_assert(file_find_program(found, "prog") && !strcmp(found, program_path));
	ck_assert(!file_find_program(found, "nosuch"));
	ck_assert(file_find_program(found, "./a/b") && !strcmp(found, "./a/b"));
}

/* A file with the magic number may be invalid anywhere: in the headers, the dynamic section
 * and the hash table. */
TEST(damaged_programs)
{
	static const unsigned char values[] = { 0, 1, 0x7f, 0x80, 0xff };
	int fd = memfd_create("program", MFD_CLOEXEC);
	RELEASED(buf, self);
	Elf64_Ehdr e;
	char *head;

	support_read(&self, "/bin/sh");
	ck_assert_int_eq(write(fd, self.data, self.len), (ssize_t)self.len);
	ck_assert_int_eq(carry_elf_fit(fd, self.data, 4096), CARRY_FITS);
	for (size_t n = sizeof e; n < 4096; n++) {	/* without a byte after it */
		head = memcpy(malloc(n), self.data, n);
		carry_elf_fit(fd, head, n);
		free(head);
	}
	memcpy(&e, self.data, sizeof e);
	ck_assert_uint_le(e.e_phoff + e.e_phnum * sizeof(Elf64_Phdr), 4096);
	for (size_t i = 0; i < e.e_phnum; i++) {
		size_t from = 0, to = e.e_phoff + e.e_phnum * sizeof(Elf64_Phdr);
		Elf64_Phdr p;

		memcpy(&p, self.data + e.e_phoff + i * sizeof p, sizeof p);
		if (p.p_type == PT_DYNAMIC) {
			from = p.p_offset;
			to = from + p.p_filesz;
		} else if (p.p_type == PT_LOAD && !p.p_offset) {
			from = to;		/* what follows the headers: notes, hashes */
			to = from + 1024;
		} else if (p.p_type != PT_PHDR) {
			continue;
		}
		for (size_t at = from; at < to; at++) {
			char was = self.data[at];

			for (size_t v = 0; v < sizeof values; v++) {
				self.data[at] = (char)values[v];
				ck_assert_int_eq(pwrite(fd, &values[v], 1, (off_t)at), 1);
				carry_elf_fit(fd, self.data, 4096);
			}
			self.data[at] = was;
			pwrite(fd, &was, 1, (off_t)at);
		}
	}
	ck_assert_int_eq(carry_elf_fit(fd, self.data, 4096), CARRY_FITS);
	for (off_t size = (off_t)self.len; size; size /= 2) {
		ck_assert_int_eq(ftruncate(fd, size), 0);
		carry_elf_fit(fd, self.data, 4096);
	}
	close(fd);
}

/* The table */

static struct pidtable *new_table(void)
{
	struct pidtable *t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE,
				  MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(t, MAP_FAILED);
	return t;
}

TEST(table)
{
	struct pidtable *t = new_table();
	uint64_t value;

	ck_assert(!pidtable_take(t, 5, &value) && !pidtable_has(t, 5));
	for (int i = 0; i < PIDTABLE_REACH; i++)
		ck_assert(pidtable_put(t, 5 + i * PIDTABLE_SLOTS, (uint64_t)i));
	ck_assert(!pidtable_put(t, 5 + PIDTABLE_REACH * PIDTABLE_SLOTS, 1));
	ck_assert(pidtable_put(t, 5, 100));	/* without a wait for the first */
	for (int i = 0; i < PIDTABLE_REACH; i++) {
		ck_assert(pidtable_has(t, 5 + i * PIDTABLE_SLOTS));
		ck_assert(pidtable_take(t, 5 + i * PIDTABLE_SLOTS, &value));
		ck_assert_uint_eq(value, i ? (uint64_t)i : 100);
		ck_assert(!pidtable_take(t, 5 + i * PIDTABLE_SLOTS, &value));
	}
	ck_assert(pidtable_put(t, PIDTABLE_SLOTS - 1, 7) && pidtable_take(t, PIDTABLE_SLOTS - 1, &value));
	munmap(t, sizeof *t);
}

#define THREADS 8
#define ROUNDS 4000

static struct pidtable *shared;

/* Each thread has its own pids, close to those of the others; a fork adds, its parent
 * removes. */
static void *churn(void *arg)
{
	pid_t base = (pid_t)(uintptr_t)arg;
	uint64_t value;

	for (int i = 0; i < ROUNDS; i++) {
		pid_t pid = base + (i % 50) * THREADS;

		if (!pidtable_put(shared, pid, (uint64_t)pid * 10) ||
		    !pidtable_take(shared, pid, &value) || value != (uint64_t)pid * 10)
			return arg;
	}
	return NULL;
}

TEST(table_shared)
{
	pthread_t thread[THREADS];
	int status;
	pid_t pid;

	shared = new_table();
	pid = fork();
	if (!pid)
		_exit(churn((void *)(uintptr_t)100000) ? 1 : 0);
	for (size_t i = 0; i < THREADS; i++)
		ck_assert_int_eq(pthread_create(&thread[i], NULL, churn, (void *)(i + 1)), 0);
	for (size_t i = 0; i < THREADS; i++) {
		void *failed;

		pthread_join(thread[i], &failed);
		ck_assert_ptr_null(failed);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
	for (pid_t p = 1; p < 1000; p++)
		ck_assert(!pidtable_has(shared, p));
}

TEST_MAIN(carry);
