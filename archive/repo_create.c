/* SPDX-License-Identifier: MIT */
#include "archive/repo.h"

#include "base/array.h"
#include "base/outdir.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A new repository in an empty directory is made in one of these and moved. */
#define TEMPORARY ".buildbeat-new-"

/* In the order in which they are moved: it is a repository as soon as it has the last one. */
static const char *const parts[] = {
	"objects", "refs", "info", "hooks", "branches", "description", "config", "HEAD"
};

#define PARTS ARRAY_SIZE(parts)

/* Columns look random to git: searching for deltas between them takes time and finds none. */
static int write_attributes(const char *dir)
{
	char path[PATH_MAX + 32];
	FILE *f;
	bool good;

	snprintf(path, sizeof path, "%s/info/attributes", dir);
	f = fopen(path, "we");
	if (!f)
		return -errno;
	good = fputs("columns/* -delta\n", f) >= 0;
	return fclose(f) || !good ? -EIO : 0;
}

static int share_with_group(git_repository *git)
{
	git_config *config;
	int r = git_repository_config(&config, git);

	if (r)
		return r;
	r = git_config_set_string(config, "core.sharedRepository", "group");
	git_config_free(config);
	return r;
}

static int init(const struct archive *a, const char *dir, bool shared, struct error *err)
{
	git_repository_init_options o;
	git_repository *git = NULL;
	int r;

	git_repository_init_options_init(&o, GIT_REPOSITORY_INIT_OPTIONS_VERSION);
	o.flags = GIT_REPOSITORY_INIT_BARE | GIT_REPOSITORY_INIT_MKPATH;
	o.description = "builds of buildbeat, see buildbeat-archive(5)\n";
	r = git_repository_init_ext(&git, dir, &o);
	if (!r && shared)
		r = share_with_group(git);
	git_repository_free(git);
	if (r)
		return repo_fail(a, r, err, "cannot create the repository");
	r = write_attributes(dir);
	return r ? error_sys(err, r, a->path, "cannot create the repository") : 0;
}

/* Another process may create it at the same time; it appears complete or not at all. */
static int create_new(struct archive *a, struct error *err)
{
	char dir[PATH_MAX];
	int r = outdir_begin(dir, a->path, err);

	if (r)
		return r;
	r = init(a, dir, false, err);
	if (!r) {
		r = outdir_finish(dir, a->path, 0);
		if (r && r != -EEXIST)
			error_sys(err, r, a->path, "cannot create the repository");
	}
	if (r)
		outdir_discard(dir);
	return r == -EEXIST ? 0 : r;
}

/* Parts that are there were moved by another process, whose parts are the same. */
static int move_parts(const struct archive *a, const char *dir)
{
	for (size_t i = 0; i < PARTS; i++) {
		char from[PATH_MAX + 32], to[PATH_MAX + 32];
		int r;

		snprintf(from, sizeof from, "%s/%s", dir, parts[i]);
		snprintf(to, sizeof to, "%s/%s", a->path, parts[i]);
		r = outdir_rename(from, to);
		if (r && r != -EEXIST && r != -ENOENT)
			return r;
	}
	return 0;
}

/* The directory keeps its owner, mode and ACL. What is made in it gets the same rights. */
static int create_inside(struct archive *a, struct error *err)
{
	char dir[PATH_MAX];
	struct stat st;
	mode_t before;
	int r;

	if (stat(a->path, &st))
		return error_sys(err, -errno, a->path, NULL);
	if (snprintf(dir, sizeof dir, "%s/" TEMPORARY "XXXXXX", a->path) >= (int)sizeof dir)
		return error_sys(err, -ENAMETOOLONG, a->path, NULL);
	before = umask(~st.st_mode & 0777);
	if (!mkdtemp(dir)) {
		r = error_sys(err, -errno, a->path, "cannot create the repository");
	} else {
		r = init(a, dir, st.st_mode & S_IWGRP, err);
		if (!r && (r = move_parts(a, dir)))
			error_sys(err, r, a->path, "cannot create the repository");
		outdir_discard(dir);
	}
	umask(before);
	return r;
}

static bool is_part(const char *name)
{
	for (size_t i = 0; i + 1 < PARTS; i++) {
		if (!strcmp(name, parts[i]))
			return true;
	}
	return false;
}

/* Whether a directory has nothing but what killed processes left while they created a repository. */
static bool is_empty(DIR *dir)
{
	bool any_part = false, has_objects = false;
	struct dirent *d;

	while ((d = readdir(dir))) {
		if (!strcmp(d->d_name, ".") || !strcmp(d->d_name, "..") ||
		    !strncmp(d->d_name, TEMPORARY, strlen(TEMPORARY)))
			continue;
		if (!is_part(d->d_name))
			return false;
		any_part = true;
		has_objects |= !strcmp(d->d_name, parts[0]);
	}
	return !any_part || has_objects;
}

int repo_create(struct archive *a, struct error *err)
{
	DIR *dir = opendir(a->path);
	bool empty;

	if (!dir)
		return errno == ENOENT ? create_new(a, err) : error_sys(err, -errno, a->path, NULL);
	empty = is_empty(dir);
	closedir(dir);
	return empty ? create_inside(a, err) : 0;
}

/* The rights that core.sharedRepository adds. */
static mode_t shared_rights(const char *value)
{
	static const struct { const char *value; mode_t rights; } known[] = {
		{ "group", 070 }, { "true", 070 }, { "1", 070 }, { "yes", 070 }, { "on", 070 },
		{ "all", 075 }, { "world", 075 }, { "everybody", 075 }, { "2", 075 },
	};
	mode_t rights;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (!strcasecmp(value, known[i].value))
			return known[i].rights;
	}
	if (*value != '0')
		return 0;
	rights = (mode_t)strtoul(value, NULL, 8) & 0666;
	return rights | (rights & 0444) >> 2;
}

mode_t repo_share(const struct archive *a)
{
	const char *value;
	git_config *config;
	mode_t before = umask(077), rights = 0;

	if (!git_repository_config_snapshot(&config, a->git)) {
		if (!git_config_get_string(&value, config, "core.sharedRepository"))
			rights = shared_rights(value);
		git_config_free(config);
	}
	umask(before & ~rights);
	return before;
}
