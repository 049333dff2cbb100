/* SPDX-License-Identifier: MIT */
#include "base/trust.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXCEPTIONS_MAX 100
#define LINKS_MAX 40
#define ENTRY_MAX 2048		/* of the lists of users and groups */

static const char *exceptions[EXCEPTIONS_MAX];

/* The system call: under fakeroot, the function of libc reports root as the owner of all files. */
static int kernel_stat(int fd, const char *path, int flags, struct stat *st)
{
#if defined SYS_newfstatat && defined __LP64__
	return syscall(SYS_newfstatat, fd, path, st, flags) ? -errno : 0;
#else
	return fstatat(fd, path, st, flags) ? -errno : 0;
#endif
}

int trust_fstat(int fd, struct stat *st)
{
	return kernel_stat(fd, "", AT_EMPTY_PATH, st);
}

static uid_t effective_user(void)
{
	return (uid_t)syscall(SYS_geteuid);
}

bool trust_is_private(const struct stat *st)
{
	return (!st->st_uid || st->st_uid == (uid_t)getauxval(AT_EUID)) &&
	       !(st->st_mode & (S_IWGRP | S_IWOTH));
}

/* Users and groups */

/* "NAME (uid 1)", or "uid 1" where nobody has that number. */
static void name_owner(char out[300], const char *name, const char *what, unsigned number)
{
	if (name)
		snprintf(out, 300, "%s (%s %u)", name, what, number);
	else
		snprintf(out, 300, "%s %u", what, number);
}

static void describe_user(char out[300], uid_t uid)
{
	struct passwd pw, *found = NULL;
	char text[ENTRY_MAX];

	getpwuid_r(uid, &pw, text, sizeof text, &found);
	name_owner(out, found ? found->pw_name : NULL, "uid", uid);
}

static void describe_group(char out[300], gid_t gid)
{
	struct group gr, *found = NULL;
	char text[ENTRY_MAX];

	getgrgid_r(gid, &gr, text, sizeof text, &found);
	name_owner(out, found ? found->gr_name : NULL, "gid", gid);
}

/* Is this the user's own group: it has the user's name, and nobody else is a member? */
static bool is_private_group(uid_t uid, gid_t gid)
{
	char users[ENTRY_MAX], groups[ENTRY_MAX];
	struct passwd pw, *user = NULL;
	struct group gr, *group = NULL;

	if (getpwuid_r(uid, &pw, users, sizeof users, &user) || !user || pw.pw_gid != gid ||
	    getgrgid_r(gid, &gr, groups, sizeof groups, &group) || !group ||
	    strcmp(pw.pw_name, gr.gr_name))
		return false;
	for (char **member = gr.gr_mem; *member; member++) {
		if (strcmp(*member, pw.pw_name))
			return false;
	}
	return true;
}

/* Exceptions */

int trust_except(const char *dir)
{
	size_t i = 0;

	while (i < EXCEPTIONS_MAX && exceptions[i] && strcmp(exceptions[i], dir))
		i++;
	if (i == EXCEPTIONS_MAX)
		return -E2BIG;
	if (!exceptions[i])
		exceptions[i] = strdup(dir);
	return exceptions[i] ? 0 : -ENOMEM;
}

static bool is_below(const char *path, const char *dir)
{
	size_t n = strlen(dir);

	while (n && dir[n - 1] == '/')
		n--;
	return !strncmp(path, dir, n) && (!path[n] || path[n] == '/');
}

/* As far as it exists, so that an exception also holds for files that will be made. */
static bool real_path(char out[PATH_MAX], const char *path)
{
	char part[PATH_MAX];
	char *slash;

	if (strlen(path) >= sizeof part)
		return false;
	strcpy(part, path);
	while (!realpath(part, out)) {
		if (errno != ENOENT)
			return false;
		slash = strrchr(part, '/');
		if (!slash)
			return realpath(".", out);
		slash[slash == part] = '\0';
	}
	return true;
}

static bool is_excepted(const char *path)
{
	char real[PATH_MAX], dir[PATH_MAX];

	if (!exceptions[0] || !real_path(real, path))
		return false;
	for (size_t i = 0; i < EXCEPTIONS_MAX && exceptions[i]; i++) {
		if (realpath(exceptions[i], dir) && is_below(real, dir))
			return true;
	}
	return false;
}

/* One file or directory */

static const char remedy[] = "list the directory under 'trust' in your own configuration "
			     "(~/.config/buildbeat/buildbeat.yaml)";

/* Whether the user made an exception, may make one, or may not. */
enum rule { EXCEPTED, NOT_EXCEPTED, NEVER_EXCEPTED };

static int check_owner(const char *path, uid_t owner, enum rule rule, struct error *err)
{
	char theirs[300], ours[300];

	if (!owner || owner == effective_user() || rule == EXCEPTED)
		return 0;
	describe_user(theirs, owner);
	describe_user(ours, effective_user());
	return error_set(err, -EPERM, path, 0, 0, "it belongs to %s, not to %s%s%s%s", theirs, ours,
			 effective_user() ? " or root" : "",
			 rule == NOT_EXCEPTED ? "; if you trust its owner, " : "",
			 rule == NOT_EXCEPTED ? remedy : "");
}

static int check_file(const char *path, const struct stat *st, enum rule rule, struct error *err)
{
	bool sticky = S_ISDIR(st->st_mode) && (st->st_mode & S_ISVTX);
	char group[300];
	int r = check_owner(path, st->st_uid, rule, err);

	if (r || sticky || rule == EXCEPTED)
		return r;
	if (st->st_mode & S_IWOTH)
		return error_set(err, -EPERM, path, 0, 0, "everybody can write to it; to change "
				 "that: chmod o-w %s%s%s", path,
				 rule == NOT_EXCEPTED ? "; if you trust everybody here, " : "",
				 rule == NOT_EXCEPTED ? remedy : "");
	if (!(st->st_mode & S_IWGRP) || is_private_group(st->st_uid, st->st_gid))
		return 0;
	describe_group(group, st->st_gid);
	return error_set(err, -EPERM, path, 0, 0, "group %s can write to it; to change that: chmod "
			 "g-w %s%s%s", group, path,
			 rule == NOT_EXCEPTED ? "; if you trust the group, " : "",
			 rule == NOT_EXCEPTED ? remedy : "");
}

static enum rule rule_of(const char *path)
{
	return is_excepted(path) ? EXCEPTED : NOT_EXCEPTED;
}

int trust_check(const char *path, const struct stat *st, struct error *err)
{
	return check_file(path, st, rule_of(path), err);
}

int trust_check_own(const char *path, const struct stat *st, struct error *err)
{
	return check_file(path, st, NEVER_EXCEPTED, err);
}

int trust_check_code(const char *path, const struct stat *st, struct error *err)
{
	struct stat own;

	if (!kernel_stat(AT_FDCWD, "/proc/self/exe", 0, &own) && own.st_uid == st->st_uid &&
	    !(st->st_mode & (S_IWGRP | S_IWOTH)))
		return 0;
	return trust_check_own(path, st, err);
}

/* All directories of a path */

/* Follows symbolic links itself. done is the path so far, without links; todo is the rest. */
struct walk {
	char done[PATH_MAX], todo[PATH_MAX];
	unsigned links;
	enum rule rule;
};

static int begin_walk(struct walk *w, const char *path)
{
	char cwd[PATH_MAX] = "";

	*w = (struct walk){ .rule = rule_of(path) };
	if (*path != '/' && !getcwd(cwd, sizeof cwd))
		return -errno;
	return (size_t)snprintf(w->todo, sizeof w->todo, "%s/%s", cwd, path) < sizeof w->todo
	       ? 0 : -ENAMETOOLONG;
}

/* Move the next name from todo to done; false at the end. As done has no links, ".." removes a
 * name. */
static bool step(struct walk *w)
{
	size_t skip = strspn(w->todo, "/");
	size_t n = strcspn(w->todo + skip, "/"), len = strlen(w->done);
	const char *name = w->todo + skip;
	char *slash = strrchr(w->done, '/');

	if (!n)
		return false;
	if (n == 2 && !memcmp(name, "..", 2)) {
		if (slash)
			*slash = '\0';
	} else if (n != 1 || *name != '.') {
		if (len + 1 + n >= sizeof w->done)
			return false;
		w->done[len] = '/';
		memcpy(w->done + len + 1, name, n);
		w->done[len + 1 + n] = '\0';
	}
	memmove(w->todo, name + n, strlen(name + n) + 1);
	return true;
}

static int follow_component(struct walk *w)
{
	char target[PATH_MAX], rest[PATH_MAX];
	ssize_t n = readlink(w->done, target, sizeof target - 1);
	char *slash = strrchr(w->done, '/');

	if (n < 0)
		return -errno;
	target[n] = '\0';
	if (++w->links > LINKS_MAX)
		return -ELOOP;
	strcpy(rest, w->todo);
	if ((size_t)snprintf(w->todo, sizeof w->todo, "%s/%s", target, rest) >= sizeof w->todo)
		return -ENAMETOOLONG;
	*(*target == '/' ? w->done : slash) = '\0';
	return 0;
}

static int visit(struct walk *w, struct error *err)
{
	const char *at = *w->done ? w->done : "/";
	struct stat st;
	int r = kernel_stat(AT_FDCWD, at, AT_SYMLINK_NOFOLLOW, &st);

	if (r)
		return r == -ENOENT ? r : error_sys(err, r, at, NULL);
	if (!S_ISLNK(st.st_mode))
		return check_file(at, &st, w->rule, err);
	r = check_owner(at, st.st_uid, w->rule, err);
	if (!r && (r = follow_component(w)))
		error_sys(err, r, at, NULL);
	return r;
}

int trust_path(const char *path, struct error *err)
{
	struct walk w;
	int r = begin_walk(&w, path);

	if (r)
		return error_sys(err, r, path, NULL);
	/* ".." may lead out of a directory that does not exist */
	do {
		r = visit(&w, err);
	} while ((!r || r == -ENOENT) && step(&w));
	return r == -ENOENT ? 0 : r;
}
