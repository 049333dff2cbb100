/* SPDX-License-Identifier: MIT */
#include "launch/gitstamp.h"

#include "base/clock.h"
#include "launch/progress.h"
#include "recording/store.h"

#include <errno.h>
#include <fcntl.h>
#include <git2.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#if LIBGIT2_VER_MAJOR == 1 && LIBGIT2_VER_MINOR < 5
#define GIT_EOWNER (-36)
#endif

#define HEAD_START_MS 50
#define LIMIT_MS 2000
#define GRACE_MS 200

/* One tree */

struct stamp {
	git_repository *repo;
	git_oid head;		/* if there is a revision */
	struct buf lines;
	const volatile sig_atomic_t *stop;
	bool changed;
};

/* The error message of libgit2. */
static void add_error(struct stamp *s)
{
	const git_error *e = git_error_last();

	store_add_build(&s->lines, "git_error", e && e->message ? e->message : "unknown");
}

static void add_source(struct stamp *s)
{
	const char *root = git_repository_workdir(s->repo);
	char path[PATH_MAX];
	size_t n;

	if (!root)
		root = git_repository_path(s->repo);
	n = strlen(root);
	if (n >= sizeof path)
		return;
	memcpy(path, root, n + 1);
	while (n > 1 && path[n - 1] == '/')
		path[--n] = '\0';
	store_add_build(&s->lines, "source", path);
}

/* The branch that HEAD names, even without commits. */
static void add_branch(struct stamp *s)
{
	static const char heads[] = "refs/heads/";
	git_reference *head;
	const char *name;

	if (git_reference_lookup(&head, s->repo, "HEAD"))
		return;
	name = git_reference_symbolic_target(head);
	if (name && !strncmp(name, heads, strlen(heads)))
		store_add_build(&s->lines, "branch", name + strlen(heads));
	git_reference_free(head);
}

/* False: there are no commits, or HEAD cannot be read. */
static bool add_revision(struct stamp *s)
{
	char hex[GIT_OID_HEXSZ + 1];
	int r = git_reference_name_to_id(&s->head, s->repo, "HEAD");

	if (r == GIT_ENOTFOUND || r == GIT_EUNBORNBRANCH)
		return false;
	if (r) {
		add_error(s);
		return false;
	}
	git_oid_tostr(hex, sizeof hex, &s->head);
	store_add_build(&s->lines, "revision", hex);
	return true;
}

static void add_describe(struct stamp *s)
{
	git_describe_options options;
	git_describe_result *result;
	git_commit *head;
	git_buf text = { 0 };

	git_describe_options_init(&options, GIT_DESCRIBE_OPTIONS_VERSION);
	options.describe_strategy = GIT_DESCRIBE_TAGS;
	options.show_commit_oid_as_fallback = 1;
	if (git_commit_lookup(&head, s->repo, &s->head))
		return;
	if (git_describe_commit(&result, (git_object *)head, &options))
		result = NULL;
	/* The history of a shallow clone may end before a tag is found. */
	if (result ? !git_describe_format(&text, result, NULL)
		   : !git_object_short_id(&text, (git_object *)head))
		store_add_build(&s->lines, "describe", text.ptr);
	git_buf_dispose(&text);
	git_describe_result_free(result);
	git_commit_free(head);
}

/* The first difference is enough. */
static int on_change(const git_diff *diff, const git_diff_delta *delta,
		     const char *pathspec, void *payload)
{
	struct stamp *s = payload;

	(void)diff;
	(void)delta;
	(void)pathspec;
	s->changed = true;
	return -1;
}

static int on_progress(const git_diff *diff, const char *old_path, const char *new_path,
		       void *payload)
{
	struct stamp *s = payload;

	(void)diff;
	(void)old_path;
	(void)new_path;
	return *s->stop ? -1 : 0;
}

static git_tree *head_tree(struct stamp *s)
{
	git_commit *head;
	git_tree *tree;

	if (git_commit_lookup(&head, s->repo, &s->head))
		return NULL;
	if (git_commit_tree(&tree, head))
		tree = NULL;
	git_commit_free(head);
	return tree;
}

/* Untracked files do not count: builds create many. */
static void add_dirty(struct stamp *s)
{
	git_diff_options options;
	git_diff *diff = NULL;
	git_tree *tree = head_tree(s);
	int r;

	if (!tree) {
		add_error(s);
		return;
	}
	git_diff_options_init(&options, GIT_DIFF_OPTIONS_VERSION);
	options.flags |= GIT_DIFF_SKIP_BINARY_CHECK;
	options.ignore_submodules = GIT_SUBMODULE_IGNORE_UNTRACKED;
	options.notify_cb = on_change;
	options.progress_cb = on_progress;
	options.payload = s;
	r = git_diff_tree_to_index(&diff, s->repo, tree, NULL, &options);
	git_diff_free(diff);
	diff = NULL;
	if (!r && !s->changed) {
		r = git_diff_index_to_workdir(&diff, s->repo, NULL, &options);
		git_diff_free(diff);
	}
	git_tree_free(tree);
	if (s->changed)
		store_add_build(&s->lines, "dirty", "yes");
	else if (!r)
		store_add_build(&s->lines, "dirty", "no");
	else if (*s->stop)
		store_add_build(&s->lines, "git_error",
				"changed files were not looked for to the end: out of time");
	else
		add_error(s);
}

/*
 * libgit2 trusts only the caller's own repositories and those in safe.directory. If that setting
 * does not exist, some versions report this instead.
 */
static bool is_foreign(int r)
{
	const git_error *e = git_error_last();

	return r == GIT_EOWNER || (r == GIT_ENOTFOUND && e && e->klass == GIT_ERROR_CONFIG);
}

/* False: there is nothing to stamp. */
static bool open_tree(struct stamp *s, const char *tree)
{
	int r = git_repository_open_ext(&s->repo, tree, 0, NULL);

	if (!r)
		return true;
	if (r == GIT_ENOTFOUND && !is_foreign(r))
		return false;
	store_add_build(&s->lines, "source", tree);
	if (is_foreign(r))
		store_add_build(&s->lines, "git_error", "the repository belongs to another "
				"user and safe.directory does not name it");
	else
		add_error(s);
	return false;
}

void gitstamp_tree(const char *tree, const volatile sig_atomic_t *stop,
		   void (*emit)(void *context, struct buf *lines), void *context)
{
	struct stamp s = { .lines = BUF_INIT, .stop = stop };
	bool committed;

	git_libgit2_init();
	if (open_tree(&s, tree)) {
		add_source(&s);
		committed = add_revision(&s);
		add_branch(&s);
		emit(context, &s.lines);
		buf_clear(&s.lines);
		if (committed && !git_repository_is_bare(s.repo)) {
			add_dirty(&s);
			emit(context, &s.lines);
			buf_clear(&s.lines);
		}
		if (committed)
			add_describe(&s);
	}
	if (s.lines.len)
		emit(context, &s.lines);
	buf_release(&s.lines);
	git_repository_free(s.repo);
	git_libgit2_shutdown();
}

/* The process */

static volatile sig_atomic_t out_of_time;

static void on_terminate(int sig)
{
	(void)sig;
	out_of_time = 1;
}

static void append(void *context, struct buf *lines)
{
	struct store *s = context;

	store_append_build(s, lines);
}

/* Close the build's standard descriptors, so that no reader of its pipes waits for us, and end
 * with the launcher. */
static void settle_child(pid_t launcher)
{
	struct sigaction terminate = { .sa_handler = on_terminate };
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	sigset_t set;

	for (int fd = 0; fd < 3 && null >= 0; fd++)
		dup2(null, fd);
	sigaction(SIGTERM, &terminate, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_UNBLOCK, &set, NULL);	/* the launcher may have blocked it */
	setpriority(PRIO_PROCESS, 0, 10);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != launcher)
		_exit(0);
}

static void stamp_all(struct store *s, const struct word_list *trees)
{
	if (!trees->n)
		gitstamp_tree(".", &out_of_time, append, s);
	for (size_t i = 0; i < trees->n && !out_of_time; i++)
		gitstamp_tree(trees->item[i], &out_of_time, append, s);
}

/* True: it has ended. */
static bool wait_until(struct gitstamp *g, int64_t deadline_ns, struct progress *progress)
{
	struct timespec nap = { 0, 500000 };

	while (g->pid) {
		pid_t pid = waitpid(g->pid, NULL, WNOHANG);

		if (pid == g->pid || (pid < 0 && errno != EINTR))
			g->pid = 0;
		else if (clock_mono_ns() >= deadline_ns)
			return false;
		else
			nanosleep(&nap, NULL);
		if (progress)
			progress_at(progress, (unsigned)((clock_mono_ns() - g->begin_ns) *
							 100 / (LIMIT_MS * 1000000LL)));
	}
	return true;
}

void gitstamp_begin(struct gitstamp *g, const struct store *s,
		    const struct word_list *trees)
{
	struct store copy = *s;
	pid_t launcher = getpid();

	g->begin_ns = clock_mono_ns();
	g->pid = fork();
	if (g->pid == 0) {
		settle_child(launcher);
		stamp_all(&copy, trees);
		_exit(0);
	}
	if (g->pid < 0)
		g->pid = 0;
}

void gitstamp_head_start(struct gitstamp *g)
{
	wait_until(g, g->begin_ns + HEAD_START_MS * 1000000LL, NULL);
}

void gitstamp_end(struct gitstamp *g)
{
	struct progress progress;
	bool ended;

	progress_begin(&progress, "looking for changed files");
	ended = wait_until(g, g->begin_ns + LIMIT_MS * 1000000LL, &progress);
	progress_end(&progress);
	if (ended)
		return;
	kill(g->pid, SIGTERM);
	if (!wait_until(g, clock_mono_ns() + GRACE_MS * 1000000LL, NULL))
		gitstamp_kill(g);
}

void gitstamp_kill(struct gitstamp *g)
{
	if (!g->pid)
		return;
	kill(g->pid, SIGKILL);
	wait_until(g, INT64_MAX, NULL);
}
