/* SPDX-License-Identifier: MIT */
#include "cli/inspect_target.h"

#include "analyse/listing.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/trust.h"
#include "cli/process_env.h"
#include "convert/convert.h"
#include "heap/heap_env.h"
#include "inspect/heap_image.h"
#include "inspect/live_build.h"
#include "inspect/process_list.h"
#include "inspect/rule.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The build that is recorded here, if it runs. */
static int open_build(struct live_build **b, char path[PATH_MAX], struct error *err)
{
	struct buf found = BUF_INIT;
	int r = listing_find(&found, NULL, NULL, &convert_formats, err);

	*b = NULL;
	path[0] = '\0';
	if (!r)
		r = live_build_open(b, buf_str(&found), err);
	if (!r) {
		r = live_build_read(*b, err);
		r = r < 0 ? r : r ? 0 : error_set(err, -ESRCH, buf_str(&found), 0, 0,
						  "the build has ended");
	}
	if (!r && !realpath(buf_str(&found), path))
		path[0] = '\0';
	buf_release(&found);
	return r;
}

/* Which process */

struct search {
	struct process_list list;
	struct live_build *build;	/* NULL: none runs here */
	char recording[PATH_MAX];
};

static bool is_mine(int32_t pid)
{
	char path[32];
	struct stat st;

	snprintf(path, sizeof path, "/proc/%d", (int)pid);
	return !geteuid() || (!stat(path, &st) && st.st_uid == geteuid());
}

static const struct listed *heaviest(const struct search *s, bool (*wanted)(const struct search *,
				     const struct listed *, const char *), const char *what)
{
	const struct listed *best = NULL;

	for (size_t i = 0; i < s->list.n; i++) {
		const struct listed *p = &s->list.process[i];

		if (p->kernel || p->state == 'Z' || p->state == 'X' || p->pid == getpid() ||
		    (best && p->rss_kb <= best->rss_kb))
			continue;
		if (is_mine(p->pid) && wanted(s, p, what))
			best = p;
	}
	return best;
}

static bool has_name(const struct search *s, const struct listed *p, const char *what)
{
	char link[64], path[PATH_MAX], *slash;
	struct inspect_rule rule;
	ssize_t n;

	(void)s;
	if (rule_parse(&rule, what, NULL))
		return false;
	if (rule_has_name(&rule, p->name))
		return true;
	snprintf(link, sizeof link, "/proc/%d/exe", (int)p->pid);
	n = readlink(link, path, sizeof path - 1);
	path[n > 0 ? n : 0] = '\0';
	slash = strrchr(path, '/');
	return slash && rule_has_name(&rule, slash + 1);
}

static bool is_of_task(const struct search *s, const struct listed *p, const char *what)
{
	const struct build_task *t = live_build_task(s->build, &s->list, p);

	return t && (!strcmp(t->id, what) || !strcmp(t->name, what));
}

static bool is_of_build(const struct search *s, const struct listed *p, const char *what)
{
	(void)what;
	return !s->build || p->selected;
}

static int search_names(struct inspect_target *t, const struct search *s,
			const struct inspect_arguments *o, const struct listed **found,
			struct error *err)
{
	struct inspect_rule rule;
	struct error why = { 0 };

	if (strchr(o->match, ',') || rule_parse(&rule, o->match, &why))
		return error_say(err, -EINVAL, "inspect: option '--match': expected the file name "
				 "of a program, not '%.100s'", o->match);
	snprintf(t->why, sizeof t->why, "the heaviest process named %.200s", o->match);
	*found = heaviest(s, has_name, o->match);
	return *found ? 0 : error_say(err, -ESRCH, "inspect: no process of yours is named '%.100s'",
				      o->match);
}

static int search_task(struct inspect_target *t, struct search *s, const struct inspect_arguments *o,
		       const struct listed **found, struct error *err)
{
	struct error why = { 0 };
	int r = open_build(&s->build, s->recording, &why);

	if (r)
		return error_set(err, r, why.path, 0, 0, "no build is recorded here: %s",
				 *why.message ? why.message : strerror(-r));
	snprintf(t->why, sizeof t->why, "the heaviest process of the task %.200s", o->task);
	*found = heaviest(s, is_of_task, o->task);
	return *found ? 0 : error_say(err, -ESRCH, "inspect: no task '%.100s' runs now; see: "
				      "buildbeat ps", o->task);
}

static int search_heaviest(struct inspect_target *t, struct search *s, const struct listed **found,
			   struct error *err)
{
	struct error unused;

	if (open_build(&s->build, s->recording, &unused)) {
		live_build_close(s->build);
		s->build = NULL;
	} else {
		live_build_select(s->build, &s->list);
	}
	snprintf(t->why, sizeof t->why, "the heaviest process of %s", s->build ? "the build" :
		 "this user");
	*found = heaviest(s, is_of_build, NULL);
	return *found ? 0 : error_say(err, -ESRCH, "inspect: no process of yours runs");
}

static int find_process(struct inspect_target *t, struct search *s, const struct inspect_arguments *o,
			struct error *err)
{
	const struct listed *found = NULL;
	int r = process_list_read(&s->list);

	if (r)
		return error_sys(err, r, "/proc", NULL);
	if (o->match) {
		r = search_names(t, s, o, &found, err);
	} else if (o->task) {
		r = search_task(t, s, o, &found, err);
	} else if (o->heaviest) {
		r = search_heaviest(t, s, &found, err);
	} else {
		snprintf(t->why, sizeof t->why, "--pid");
		found = process_list_find(&s->list, (int32_t)o->pid);
		if (!found)
			r = error_say(err, -ESRCH, "inspect: there is no process %lld",
				      (long long)o->pid);
	}
	if (r)
		return r;
	t->pid = found->pid;
	t->start_ticks = found->start_ticks;
	snprintf(t->name, sizeof t->name, "%s", found->name);
	return 0;
}

/* What its environment says of it */

/* The directory is that of a process, so it is trusted only if nobody else can write to it. */
static void find_heap(struct inspect_target *t, const char *dir)
{
	char name[NAME_MAX + 1];
	struct error err;
	int fd;

	if (!dir || *dir != '/' || trust_path(dir, &err))
		return;
	fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && !heap_image_find(name, fd, t->pid, t->start_ticks))
		snprintf(t->heap_dir, sizeof t->heap_dir, "%s", dir);
	file_close(fd);
}

static void read_environment(struct inspect_target *t)
{
	struct buf environment = BUF_INIT;
	char path[PATH_MAX];

	if (process_env_read(&environment, t->pid)) {
		if (process_env_recording(path, &environment))
			snprintf(t->recording, sizeof t->recording, "%s", path);
		find_heap(t, process_env_value(&environment, HEAP_ENV_DIR));
	}
	buf_release(&environment);
}

static void find_task(struct inspect_target *t, struct search *s)
{
	const struct listed *p = process_list_find(&s->list, t->pid);
	const struct build_task *task;
	struct error unused;

	if (!s->build && *t->recording && !live_build_open(&s->build, t->recording, &unused))
		live_build_read(s->build, &unused);
	task = s->build && p ? live_build_task(s->build, &s->list, p) : NULL;
	if (task)
		snprintf(t->task, sizeof t->task, "%s", task->id);
}

int inspect_find_target(struct inspect_target *t, const struct inspect_arguments *o,
			struct error *err)
{
	struct search s = { .build = NULL };
	int r = process_list_init(&s.list);

	*t = (struct inspect_target){ .pid = 0 };
	if (r)
		return error_sys(err, r, "/proc", NULL);
	r = find_process(t, &s, o, err);
	if (!r) {
		snprintf(t->recording, sizeof t->recording, "%s", s.recording);
		read_environment(t);
		find_task(t, &s);
	}
	live_build_close(s.build);
	process_list_release(&s.list);
	return r;
}
