/* SPDX-License-Identifier: MIT */
#include "inspect/watch.h"

#include "base/array.h"
#include "base/clock.h"
#include "base/cursor.h"
#include "base/file.h"
#include "base/minmax.h"
#include "base/readfile.h"
#include "base/search.h"
#include "base/str.h"
#include "heap/image.h"
#include "inspect/archive_files.h"
#include "inspect/background.h"
#include "inspect/heap_image.h"
#include "inspect/below.h"
#include "inspect/run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define AT_ONCE_MAX 16
#define LIST_NS INT64_C(50000000)	/* at least, between two readings of /proc */
#define IMAGES_NS INT64_C(1000000000)	/* and of the images of ended processes */
#define IMAGES_KEPT 32		/* of each rule, those with the largest heaps */
#define HEAVY_KB (16 << 10)	/* a descendant of the command is worth an inspection from here on */

/* Of the CPU: 0.3 % for finding processes, 0.5 % for looking at them, which leaves 0.2 % for the
 * beginning and the end, which cannot be put off. */
#define LIST_ONE_IN 333
#define RUN_ONE_IN 200

/* After the build: for inspections to end, and for everything else. */
#define STOP_NS INT64_C(5000000000)
#define FINISH_NS INT64_C(10000000000)

/* Memory that the processes of the inspections share. */
struct watch_page {
	struct budget run;
	struct run_result result[AT_ONCE_MAX];
	struct error err[AT_ONCE_MAX];
};

/* A process that was seen, so that its rule is looked for once. */
struct seen {
	int32_t pid;
	uint64_t start_ticks;
	char name[16];
	int rule;		/* index, -1: none */
	bool inspected;
};

struct done {
	int32_t pid;
	uint64_t start_ticks;
};

/* The image of a process that nobody looked at while it ran. */
struct kept {
	struct done process;
	char name[HEAP_IMAGE_NAME_MAX];
	const struct inspect_rule *rule;
	uint64_t peak_bytes;
};

struct job {
	pid_t pid;		/* of its process, 0: the place is free */
	struct done target;
};

struct watch {
	const struct watch_settings *s;
	struct watch_result *result;
	struct watch_page *page;
	struct budget list;
	struct below found;
	size_t n_seen, n_before;
	struct seen *seen, *before;	/* by pid */
	struct job job[AT_ONCE_MAX];
	uint64_t heaviest_kb;
	int stop[2];		/* its end stops the inspections */
	int heap_dir;
	char self[PATH_MAX];	/* our program */
	size_t n_done;
	struct done *done;	/* processes that have an archive */
	size_t n_paths;
	size_t n_kept;
	struct kept *kept;
	char **path;		/* of archives, whose frames are named at the end */
	int64_t images_ns;
};

/* The rule of a process */

static void program_of(char name[PATH_MAX], int32_t pid, char whole[PATH_MAX])
{
	static const char deleted[] = " (deleted)";
	char link[64], *slash;
	ssize_t n;
	size_t len;

	snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
	n = readlink(link, whole, PATH_MAX - 1);
	whole[MAX(n, 0)] = '\0';
	len = strlen(whole);
	if (len > strlen(deleted) && !strcmp(whole + len - strlen(deleted), deleted))
		whole[len - strlen(deleted)] = '\0';
	slash = strrchr(whole, '/');
	snprintf(name, PATH_MAX, "%s", slash ? slash + 1 : whole);
}

/* Our own processes do not matter: launcher, witness and such. */
static int find_rule(const struct watch *w, const struct below_process *p)
{
	char name[PATH_MAX], whole[PATH_MAX];

	program_of(name, p->pid, whole);
	if (!*whole || !strcmp(whole, w->self))
		return -1;
	for (size_t i = 0; i < w->s->n_rules; i++) {
		if (rule_has_name(&w->s->rule[i], p->name) || rule_has_name(&w->s->rule[i], name))
			return (int)i;
	}
	return w->s->heaviest ? (int)w->s->n_rules : -1;
}

static const struct seen *seen_before(const struct watch *w, const struct below_process *p)
{
	struct search_range s = search_all(w->n_before);

	while (search_next(&s))
		search_past(&s, w->before[s.at].pid < p->pid);
	if (s.at < w->n_before && w->before[s.at].pid == p->pid &&
	    w->before[s.at].start_ticks == p->start_ticks)
		return &w->before[s.at];
	return NULL;
}

/* A process that executes another program may match then. NULL: no memory. */
static struct seen *see(struct watch *w, const struct below_process *p)
{
	const struct seen *old = seen_before(w, p);
	struct seen *s = array_add(&w->seen, &w->n_seen, sizeof *s);

	if (!s)
		return NULL;
	if (old) {
		*s = *old;
		if (s->inspected || !strcmp(s->name, p->name))
			return s;
	}
	*s = (struct seen){ .pid = p->pid, .start_ticks = p->start_ticks };
	snprintf(s->name, sizeof s->name, "%s", p->name);
	s->rule = find_rule(w, p);
	return s;
}

/* Inspections */

struct reporter {
	struct background task;
	const struct run_result *result;
};

static void told(void *context, unsigned percent, const char *message)
{
	struct reporter *t = context;

	background_set_archive(&t->task, t->result->path);
	background_tell(&t->task, percent, message);
}

/* In its own process. */
static _Noreturn void inspect(struct watch *w, size_t place, const struct below_process *p,
			      const struct inspect_rule *rule, const char *why, pid_t parent)
{
	struct reporter reporter = { .result = &w->page->result[place] };
	struct run_settings s = {
		.rule = rule, .base = w->s->base, .access = w->s->access, .task = "", .why = why,
		.heap_dir = w->heap_dir, .budget = &w->page->run, .stop_fd = w->stop[0],
		.told = told, .context = &reporter,
	};
	char what[64];
	int r;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(0);
	close(w->stop[1]);
	snprintf(what, sizeof what, "%s %d", p->name, (int)p->pid);
	background_begin(&reporter.task, what, NULL);
	r = run_inspection(&w->page->result[place], p->pid, p->start_ticks, &s,
			   &w->page->err[place]);
	background_forget(&reporter.task);
	_exit(r == -ESRCH ? 3 : r ? 2 : 0);
}

static bool start_inspection(struct watch *w, const struct below_process *p,
			     const struct inspect_rule *rule, const char *why)
{
	int64_t used = budget_begin();
	pid_t parent = getpid();
	size_t place = 0;

	while (place < AT_ONCE_MAX && w->job[place].pid)
		place++;
	if (place == AT_ONCE_MAX)
		return false;
	w->page->result[place] = (struct run_result){ .n_snapshots = 0 };
	w->page->err[place] = (struct error){ .line = 0 };
	w->job[place] = (struct job){ .pid = fork(), 
				       .target = { p->pid, p->start_ticks } };
	if (!w->job[place].pid)
		inspect(w, place, p, rule, why, parent);
	if (w->job[place].pid < 0)
		w->job[place].pid = 0;
	budget_pay(&w->list, used, clock_mono_ns());
	return w->job[place].pid;
}

static void remember(struct watch *w, struct done target)
{
	struct done *place = array_add(&w->done, &w->n_done, sizeof *place);

	if (place)
		*place = target;
}

static void take_result(struct watch *w, const struct run_result *result)
{
	char **path;

	w->result->n++;
	snprintf(w->result->path, sizeof w->result->path, "%s", result->path);
	path = array_add(&w->path, &w->n_paths, sizeof *path);
	if (path)
		*path = strdup(result->path);
}

static void take_error(struct watch *w, const struct error *err)
{
	if (!w->result->failed++)
		w->result->err = *err;
}

/* A process that was too short is no failure. */
static bool reap(struct watch *w)
{
	bool any = false;
	int status;

	for (size_t i = 0; i < AT_ONCE_MAX; i++) {
		if (!w->job[i].pid)
			continue;
		if (waitpid(w->job[i].pid, &status, WNOHANG) != w->job[i].pid) {
			any = true;
			continue;
		}
		w->job[i].pid = 0;
		if (*w->page->result[i].path) {
			remember(w, w->job[i].target);
			take_result(w, &w->page->result[i]);
		}
		if (WIFEXITED(status) && WEXITSTATUS(status) == 2)
			take_error(w, &w->page->err[i]);
	}
	return any;
}

/* The first process of all, and each that has clearly more than all before. */
static bool is_heaviest(struct watch *w, const struct below_process *p)
{
	if (w->heaviest_kb && (p->rss_kb < HEAVY_KB || p->rss_kb < w->heaviest_kb + w->heaviest_kb / 4))
		return false;
	w->heaviest_kb = p->rss_kb ? p->rss_kb : 1;
	return true;
}

static void consider(struct watch *w, const struct below_process *p, struct seen *s)
{
	char text[RULE_NAMES_MAX + 200];
	const struct inspect_rule *rule = &w->s->how;
	struct buf why;

	if (s->rule < 0 || s->inspected)
		return;
	buf_init_fixed(&why, text, sizeof text);
	if ((size_t)s->rule < w->s->n_rules) {
		rule = &w->s->rule[s->rule];
		if (rule->rss_kb && p->rss_kb <= rule->rss_kb)
			return;
		rule_write(&why, rule);
		is_heaviest(w, p);
	} else if (is_heaviest(w, p)) {
		buf_adds(&why, "the heaviest process");
	} else {
		return;
	}
	s->inspected = start_inspection(w, p, rule, buf_str(&why));
}

static void look_around(struct watch *w)
{
	int64_t used = budget_begin();
	struct seen *before = w->before;

	if (!below_read(&w->found, w->s->root, getpid())) {
		w->before = w->seen;
		w->n_before = w->n_seen;
		free(before);
		w->seen = NULL;
		w->n_seen = 0;
		for (size_t i = 0; i < w->found.n; i++) {
			const struct below_process *p = &w->found.process[i];
			struct seen *s = see(w, p);

			if (s)
				consider(w, p, s);
		}
	}
	budget_pay(&w->list, used, clock_mono_ns());
}

/* Images of heaps */

static bool is_target(const struct done *d, int32_t pid, uint64_t start_ticks)
{
	return d->pid == pid && d->start_ticks == start_ticks;
}

static bool is_done(const struct watch *w, int32_t pid, uint64_t start_ticks)
{
	for (size_t i = w->n_done; i-- > 0;) {
		if (is_target(&w->done[i], pid, start_ticks))
			return true;
	}
	return false;
}

/* Also one that began after the last look at the processes. */
static bool is_busy(const struct watch *w, int32_t pid, uint64_t start_ticks)
{
	for (size_t i = 0; i < AT_ONCE_MAX; i++) {
		if (w->job[i].pid && is_target(&w->job[i].target, pid, start_ticks))
			return true;
	}
	return pid <= 0 || !kill(pid, 0) || errno == EPERM;
}

static const struct inspect_rule *heap_rule(const struct watch *w, const char *program)
{
	for (size_t i = 0; i < w->s->n_rules; i++) {
		if (w->s->rule[i].heap && rule_has_name(&w->s->rule[i], program))
			return &w->s->rule[i];
	}
	return NULL;
}

/* "PID-START.N.heap" */
static bool read_name(const char *name, int32_t *pid, uint64_t *start_ticks)
{
	struct cursor c;
	uint64_t n;

	cursor_init(&c, name, strlen(name));
	if (!cursor_u64(&c, &n) || n > INT32_MAX || c.p == c.end || *c.p++ != '-' ||
	    !cursor_u64(&c, start_ticks) || c.p == c.end || *c.p != '.')
		return false;
	*pid = (int32_t)n;
	return str_ends(name, ".heap") && strlen(name) < HEAP_IMAGE_NAME_MAX;
}

/* Of an image, which is not trusted. */
static int read_head(struct heap_head *head, int dir_fd, const char *name)
{
	int fd = openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = readfile_some(fd, head, sizeof *head);
	close(fd);
	if (n != sizeof *head || memcmp(head->magic, HEAP_IMAGE_MAGIC, sizeof head->magic))
		return -ENODATA;
	head->program[sizeof head->program - 1] = '\0';
	return 0;
}

/* A process that nobody looked at while it ran. */
static void archive_image(struct watch *w, const struct kept *kept)
{
	char name[NAME_MAX + 1];
	struct run_settings s = {
		.rule = kept->rule, .base = w->s->base, .access = w->s->access, .task = "",
		.why = "the image of its heap", .heap_dir = w->heap_dir, .stop_fd = -1,
	};
	struct run_result result;
	struct error err = { 0 };
	/* of its last program */
	int r = heap_image_find(name, w->heap_dir, kept->process.pid, kept->process.start_ticks);

	if (!r)
		r = run_from_image(&result, name, &s, &err);
	if (!r)
		take_result(w, &result);
	else if (r != -ENODATA)
		take_error(w, &err);
}

static bool is_kept(const struct watch *w, int32_t pid, uint64_t start_ticks)
{
	for (size_t i = 0; i < w->n_kept; i++) {
		if (is_target(&w->kept[i].process, pid, start_ticks))
			return true;
	}
	return false;
}

/* Where an image of this rule is kept; NULL: it is smaller than all those, or no memory. */
static struct kept *place_of(struct watch *w, const struct inspect_rule *rule, uint64_t peak_bytes)
{
	struct kept *least = NULL;
	size_t n = 0;

	for (size_t i = 0; i < w->n_kept; i++) {
		if (w->kept[i].rule != rule)
			continue;
		n++;
		if (!least || w->kept[i].peak_bytes < least->peak_bytes)
			least = &w->kept[i];
	}
	if (n < IMAGES_KEPT)
		return array_add(&w->kept, &w->n_kept, sizeof *w->kept);
	if (peak_bytes <= least->peak_bytes)
		return NULL;
	unlinkat(w->heap_dir, least->name, 0);
	return least;
}

/* False: the image is not needed. */
static bool keep_image(struct watch *w, const char *name, int32_t pid, uint64_t start_ticks)
{
	const struct inspect_rule *rule = NULL;
	struct heap_head head;
	struct kept *kept;

	if (!read_head(&head, w->heap_dir, name))
		rule = heap_rule(w, head.program);
	if (!rule)
		return false;
	kept = place_of(w, rule, head.peak_bytes);
	if (!kept)
		return false;
	*kept = (struct kept){
		.process = { pid, start_ticks }, .rule = rule, .peak_bytes = head.peak_bytes,
	};
	strcpy(kept->name, name);
	return true;
}

/* The launcher was killed: nobody waits for the rest. */
static bool is_over(const struct watch *w, int64_t until_ns)
{
	return clock_mono_ns() >= until_ns || (w->s->symbols.stop && *w->s->symbols.stop);
}

/* final: no process of the build writes to one any more. */
static void collect_images(struct watch *w, bool final)
{
	DIR *dir = w->heap_dir < 0 ? NULL : file_open_dir_at(w->heap_dir, ".");
	int64_t used = budget_begin();
	struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		uint64_t start_ticks;
		int32_t pid;

		if (!read_name(entry->d_name, &pid, &start_ticks) || is_kept(w, pid, start_ticks) ||
		    (!final && is_busy(w, pid, start_ticks)))
			continue;
		if (is_done(w, pid, start_ticks) || !keep_image(w, entry->d_name, pid, start_ticks))
			unlinkat(w->heap_dir, entry->d_name, 0);
	}
	if (dir)
		closedir(dir);
	w->images_ns = clock_mono_ns();
	budget_pay(&w->list, used, w->images_ns);
}

/* The end */

static void pause_ms(long ms)
{
	struct timespec t = { 0, ms * 1000000 };

	nanosleep(&t, NULL);
}

static void stop_jobs(struct watch *w, int64_t until_ns)
{
	close(w->stop[1]);
	while (reap(w) && clock_mono_ns() < until_ns)
		pause_ms(5);
	for (size_t i = 0; i < AT_ONCE_MAX; i++) {
		if (w->job[i].pid)
			kill(w->job[i].pid, SIGKILL);
	}
	while (reap(w))
		pause_ms(1);
}

/* Also after a launcher that was killed. */
void watch_remove_images(const char *heap_dir)
{
	DIR *dir = file_open_dir_at(AT_FDCWD, heap_dir);
	struct dirent *entry;

	while (dir && (entry = readdir(dir)))
		unlinkat(dirfd(dir), entry->d_name, 0);
	if (dir)
		closedir(dir);
	rmdir(heap_dir);
}

static void name_frames(const struct watch *w, const char *path, int64_t until_ns)
{
	struct symbolize_settings symbols = w->s->symbols;
	struct symbolize_result result = { .notes = BUF_INIT };
	struct inspect_reader *reader;
	struct inspection *x;

	symbols.budget_ms = (int)((until_ns - clock_mono_ns()) / 1000000);
	if (symbols.budget_ms <= 0 || inspect_reader_open(&reader, path, NULL))
		return;
	x = (struct inspection *)inspect_reader_inspection(reader);
	if (x->n_frames && !symbolize(x, &symbols, &result, NULL))
		inspect_archive_set_symbols(path, x, NULL);
	buf_release(&result.notes);
	inspect_reader_close(reader);
}

static void finish(struct watch *w, bool orderly)
{
	int64_t now_ns = clock_mono_ns(), until_ns = now_ns + FINISH_NS;

	stop_jobs(w, now_ns + STOP_NS);
	if (orderly)
		collect_images(w, true);
	for (size_t i = 0; orderly && i < w->n_kept && !is_over(w, until_ns); i++)
		archive_image(w, &w->kept[i]);
	if (w->heap_dir >= 0)
		watch_remove_images(w->s->heap_dir);
	for (size_t i = 0; orderly && w->s->symbols.program && i < w->n_paths &&
	     !is_over(w, until_ns); i++)
		name_frames(w, w->path[i], until_ns);
}

static void release_watch(struct watch *w)
{
	for (size_t i = 0; i < w->n_paths; i++)
		free(w->path[i]);
	free_all(w->path, w->done, w->kept, w->seen, w->before);
	below_release(&w->found);
	if (w->page)
		munmap(w->page, sizeof *w->page);
	file_close(w->heap_dir);
	file_close(w->stop[0]);
}

static int prepare_watch(struct watch *w, struct watch_result *result,
			 const struct watch_settings *s)
{
	ssize_t n;
	int r;

	*w = (struct watch){ .s = s, .result = result, .stop = { -1, -1 }, .heap_dir = -1 };
	*result = (struct watch_result){ .n = 0 };
	budget_init(&w->list, LIST_ONE_IN);
	n = readlink("/proc/self/exe", w->self, sizeof w->self - 1);
	w->self[MAX(n, 0)] = '\0';
	r = below_init(&w->found, !s->root);
	if (!r && pipe2(w->stop, O_CLOEXEC))
		r = -errno;
	if (!r && s->heap_dir)
		w->heap_dir = open(s->heap_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!r && s->heap_dir && w->heap_dir < 0)
		r = -errno;
	if (r)
		return r;
	w->page = mmap(NULL, sizeof *w->page, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		       -1, 0);
	if (w->page == MAP_FAILED) {
		w->page = NULL;
		return -ENOMEM;
	}
	budget_init(&w->page->run, RUN_ONE_IN);
	return 0;
}

/* False: the end. *orderly: we were asked to finish. */
static bool wait_for_next(const struct watch *w, int64_t began_ns, bool *orderly)
{
	struct pollfd end = { .fd = w->s->end_fd, .events = POLLIN };
	char byte;

	for (;;) {
		int64_t due_ns = began_ns + LIST_NS, left_ns;

		if (due_ns < budget_next_ns(&w->list))
			due_ns = budget_next_ns(&w->list);
		left_ns = due_ns - clock_mono_ns();
		if (poll(&end, 1, left_ns <= 0 ? 0 : (int)(left_ns / 1000000) + 1) > 0)
			break;
		if (w->s->launcher && getppid() != w->s->launcher) {
			*orderly = false;
			return false;
		}
		if (clock_mono_ns() >= due_ns)
			return true;
	}
	*orderly = read(w->s->end_fd, &byte, 1) == 1;
	return false;
}

int watch_run(struct watch_result *result, const struct watch_settings *s)
{
	bool orderly = true;
	struct watch w;
	int64_t now_ns;
	int r = prepare_watch(&w, result, s);

	if (r) {
		error_sys(&result->err, r, s->heap_dir, "no process is inspected");
		result->failed = 1;
		release_watch(&w);
		return r;
	}
	do {
		now_ns = clock_mono_ns();
		look_around(&w);
		reap(&w);
		if (now_ns > w.images_ns + IMAGES_NS)
			collect_images(&w, false);
	} while (wait_for_next(&w, now_ns, &orderly));
	finish(&w, orderly);
	release_watch(&w);
	return 0;
}
