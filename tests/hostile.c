/* SPDX-License-Identifier: MIT */
#include "tests/hostile.h"

#include <grp.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

const char *hostile_base;

void hostile_begin(void)
{
	hostile_base = support_tmpdir();
	ck_assert_int_eq(chmod(hostile_base, 0711), 0);
	setenv("XDG_CONFIG_HOME", support_path("%s/config", hostile_base), 1);
	unsetenv("MAKEFILES");
	unsetenv("MAKEFLAGS");
	unsetenv("MAKELEVEL");
}

void hostile_configure(const char *text)
{
	mkdir(support_path("%s/config", hostile_base), 0755);
	mkdir(support_path("%s/config/buildbeat", hostile_base), 0755);
	support_writes(support_path("%s/config/buildbeat/buildbeat.yaml", hostile_base), text);
}

void hostile_trust(const char *dir)
{
	hostile_configure(support_path("trust: ['%s']\n", dir));
}

bool hostile_can(void)
{
	return !geteuid();
}

pid_t hostile_start(const char *script)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	if (chdir(hostile_base) || setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		_exit(99);
	setenv("TMPDIR", "/tmp", 1);
	execl("/bin/sh", "sh", "-c", script, (char *)NULL);
	_exit(98);
}

void hostile_wait(pid_t pid)
{
	int status;

	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

void hostile_directory(const char *path)
{
	ck_assert_int_eq(mkdir(path, 0755), 0);
	ck_assert_int_eq(chown(path, NOBODY, NOBODY), 0);
}
