/* SPDX-License-Identifier: MIT */
/* The files that a process runs, compared with the dynamic loader and readelf. */
#include "tests/looked.h"
#include "tests/subject.h"
#include "tests/support.h"

#include <inttypes.h>
#include <link.h>
#include <sys/mman.h>

static const struct module *module_at(uint64_t address)
{
	for (size_t i = 0; i < looked.l.n_modules; i++) {
		if (address >= looked.l.module[i].start && address < looked.l.module[i].end)
			return &looked.l.module[i];
	}
	return NULL;
}

static int compare_object(struct dl_phdr_info *info, size_t size, void *ctx)
{
	const struct module *m = NULL;
	unsigned *n = ctx;

	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		uint64_t start = info->dlpi_addr + p->p_vaddr;

		if (p->p_type != PT_LOAD)
			continue;
		m = module_at(start);
		ck_assert_msg(m, "%s at %" PRIx64, info->dlpi_name, start);
		ck_assert_uint_eq(m->bias, info->dlpi_addr);
		ck_assert_uint_ge(m->end, start + p->p_memsz);
	}
	*n += m != NULL;
	return 0;
}

static void find_modules(void)
{
	const struct module *m;
	size_t n;

	ck_assert_int_eq(look_modules(&looked.l, &looked.s, &m, &n), 0);
	ck_assert_ptr_eq(m, looked.l.module);
	ck_assert_uint_eq(n, looked.l.n_modules);
}

static void same_build_id(const struct module *m, const char *path)
{
	struct run r;

	support_run(&r, NULL, "readelf -n '%s' 2>/dev/null | sed -n 's/.*Build ID: //p'", path);
	ck_assert_msg(!strncmp(buf_str(&r.out), m->build_id, strlen(m->build_id)) &&
		      r.out.len == strlen(m->build_id) + (r.out.len > 0), "%s: %s, readelf: %s",
		      path, m->build_id, buf_str(&r.out));
}

TEST_GROUP_WITH("modules", looked_begin, looked_end);

/* With the memory of the process, or only with its files. */
TEST_LOOP(modules_like_the_loader, 2)
{
	unsigned n = 0;

	looked_open(getpid());
	if (_i)
		looked.l.memory_fd = open("/dev/null", O_RDONLY);
	looked_read(false);
	find_modules();
	find_modules();
	dl_iterate_phdr(compare_object, &n);
	ck_assert_uint_ge(looked.l.n_modules + _i, n);	/* the vdso has no file */
	for (size_t i = 0; i < looked.l.n_modules; i++) {
		struct slice path = looked.names.name[looked.l.module[i].file];

		if (*path.p == '/')
			same_build_id(&looked.l.module[i], path.p);
		else
			ck_assert(_i || looked.l.module[i].build_id[0]);
	}
}

static void copy_of_sleep(int fd)
{
	RELEASED(buf, program = BUF_INIT);

	support_read(&program, "/bin/sleep");
	ck_assert_int_eq(write(fd, program.data, program.len), (ssize_t)program.len);
}

static void runs_deleted(int ready)
{
	const char *path = support_path("%s/prog", looked.dir);
	int fd = open(path, O_WRONLY | O_CREAT, 0700);

	copy_of_sleep(fd);
	close(fd);
	fcntl(ready, F_SETFD, FD_CLOEXEC);
	execl(path, path, "1000", (char *)NULL);
	_exit(99);
}

static void runs_memfd(int ready)
{
	int fd = memfd_create("prog", MFD_CLOEXEC);

	copy_of_sleep(fd);
	fcntl(ready, F_SETFD, FD_CLOEXEC);
	fexecve(fd, (char *[]){ (char *)"prog", (char *)"1000", NULL }, environ);
	_exit(99);
}

/* The program's file cannot be opened by its name. */
TEST_LOOP(modules_without_a_name, 2)
{
	pid_t pid = subject_start_program(_i ? runs_memfd : runs_deleted);
	const struct module *m = NULL;

	if (!_i)
		ck_assert_int_eq(unlink(support_path("%s/prog", looked.dir)), 0);
	looked_open(pid);
	looked_read(false);
	find_modules();
	for (size_t i = 0; i < looked.l.n_modules; i++) {
		if (slice_ends(looked.names.name[looked.l.module[i].file], "prog (deleted)"))
			m = &looked.l.module[i];
	}
	ck_assert_ptr_nonnull(m);
	same_build_id(m, "/bin/sleep");
	subject_stop(pid);
}

static void runs_elsewhere(int ready)
{
	char script[1024];

	fcntl(ready, F_SETFD, FD_CLOEXEC);
	snprintf(script, sizeof script, "cd '%s' && mkdir -p a b && cp /bin/sleep a/prog && "
		 "mount --bind a b && exec b/prog 1000", looked.dir);
	execlp("unshare", "unshare", "-m", "sh", "-c", script, (char *)NULL);
	_exit(99);
}

static bool runs_program(void *pid)
{
	bool runs = !look_open(&looked.l, *(pid_t *)pid, 0, &looked.names, NULL) && !strcmp(looked.l.name, "prog");

	if (!runs)
		look_close(&looked.l);
	return runs;
}

static bool can_unshare(void)
{
	struct run r;

	support_run(&r, NULL, "unshare -m mount --bind / /");
	return !r.status;
}

/* A file that only the process can see at its path. */
TEST(modules_of_another_namespace)
{
	pid_t pid;
	size_t found = 0;

	SKIP_IF(!can_unshare());
	pid = subject_start_program(runs_elsewhere);
	support_wait_until(runs_program, &pid, "the program runs");
	looked.l.memory_fd = open("/dev/null", O_RDONLY);
	looked_read(false);
	find_modules();
	for (size_t i = 0; i < looked.l.n_modules; i++) {
		if (slice_ends(looked.names.name[looked.l.module[i].file], "/b/prog")) {
			same_build_id(&looked.l.module[i], "/bin/sleep");
			found++;
		}
	}
	ck_assert_uint_eq(found, 1);
	subject_stop(pid);
}

TEST_MAIN(look_modules);
