/* SPDX-License-Identifier: MIT */
#include "bisect/checkout.h"

#include "base/array.h"
#include "base/cursor.h"
#include "base/outdir.h"
#include "bisect/tool.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* The last line of git's messages is the reason. */
static int git_failed(struct checkout *c, const char *const *argv, int log_fd, struct error *err)
{
	struct buf text = BUF_INIT;
	struct slice line, last = { "", 0 };
	struct cursor lines;
	bool complete;

	tool_read(&text, log_fd);
	cursor_init(&lines, buf_str(&text), text.len);
	while (cursor_line(&lines, &line, &complete)) {
		if (line.len)
			last = line;
	}
	if (last.len)
		error_set(err, -EINVAL, c->source, 0, 0, "git %s: %.*s", argv[0], (int)last.len,
			  last.p);
	else
		error_set(err, -EINVAL, c->source, 0, 0, "git %s failed", argv[0]);
	buf_release(&text);
	return -EINVAL;
}

static int run_git(struct tool *t, const char *const *argv, int *status)
{
	static char name[] = "git";
	size_t n = 0;
	char **all;
	int r;

	while (argv[n])
		n++;
	all = array_new(n + 2, sizeof *all);
	if (!all)
		return -ENOMEM;
	all[0] = name;
	memcpy(all + 1, argv, (n + 1) * sizeof *all);
	t->argv = all;
	r = tool_run(t, status);
	free(all);
	return r;
}

/* Runs git with these arguments in directory. out (may be NULL) gets its output without the last
 * newline. answers: an exit status of 1 is an answer and returned. */
static int git(struct checkout *c, const char *directory, struct buf *out, bool answers,
	       const char *const *argv, struct error *err)
{
	struct buf unused = BUF_INIT;
	struct tool t = { .directory = directory, .out = out ? out : &unused };
	int r;

	t.log_fd = memfd_create("git", MFD_CLOEXEC);
	if (t.log_fd < 0)
		return error_sys(err, -errno, NULL, "git");
	r = run_git(&t, argv, &c->status);
	if (r)
		error_sys(err, r, NULL, "git");
	else if (answers && WIFEXITED(c->status) && WEXITSTATUS(c->status) == 1)
		r = 1;
	else if (c->status)
		r = git_failed(c, argv, t.log_fd, err);
	if (out && out->len && out->data[out->len - 1] == '\n')
		buf_cut(out, out->len - 1);
	close(t.log_fd);
	buf_release(&unused);
	return r;
}

/* Keeps the output in c->texts. */
static int git_text(struct checkout *c, const char *directory, const char **text,
		    const char *const *argv, struct error *err)
{
	struct buf out = BUF_INIT;
	int r = git(c, directory, &out, false, argv, err);

	if (!r) {
		*text = arena_text(c->texts, buf_str(&out), out.len);
		if (!*text)
			r = error_sys(err, -ENOMEM, NULL, "git");
	}
	buf_release(&out);
	return r;
}

static bool is_shallow(struct checkout *c)
{
	static const char *const argv[] = { "rev-parse", "--is-shallow-repository", NULL };
	struct error unused;
	const char *text;

	return !git_text(c, NULL, &text, argv, &unused) && !strcmp(text, "true");
}

static int find_commit(struct checkout *c, const char *revision, const char **id,
		       struct error *err)
{
	struct buf name = BUF_INIT;
	const char *argv[] = { "rev-parse", "--verify", "--quiet", "--end-of-options", NULL, NULL };
	int r;

	buf_adds(&name, revision);
	buf_adds(&name, "^{commit}");
	argv[4] = buf_str(&name);
	r = buf_error(&name) ? error_sys(err, buf_error(&name), NULL, "git") :
	    git_text(c, NULL, id, argv, err);
	if (r == -EINVAL)
		error_set(err, r, NULL, 0, 0, "bisect: no revision '%s' in %s%s", revision, c->source,
			  is_shallow(c) ? ", a shallow clone: complete it with "
			  "git fetch --unshallow" : "");
	buf_release(&name);
	return r;
}

/* Variables that name a repository, as in git hooks, name this one and not the clone. */
static void forget_environment(void)
{
	static const char *const name[] = {
		"GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY",
		"GIT_COMMON_DIR", "GIT_PREFIX", "GIT_NAMESPACE",
	};

	for (size_t i = 0; i < ARRAY_SIZE(name); i++)
		unsetenv(name[i]);
}

int checkout_init(struct checkout *c, const char *const revision[2], const char *id[2],
		  struct error *err)
{
	static const char *const where[] = { "rev-parse", "--path-format=absolute",
					     "--git-common-dir", NULL };
	static const char *const prefix[] = { "rev-parse", "--show-prefix", NULL };
	int r;

	*c = (struct checkout){ .texts = arena_new(), .source = "", .prefix = "" };
	if (!c->texts)
		return error_sys(err, -ENOMEM, NULL, "git");
	r = git_text(c, NULL, &c->source, where, err);
	if (r)
		goto out;
	r = git_text(c, NULL, &c->prefix, prefix, err);
	if (r)
		goto out;
	for (int i = 0; i < 2; i++) {
		r = find_commit(c, revision[i], &id[i], err);
		if (r)
			goto out;
	}
out:
	forget_environment();
	return r;
}

void checkout_release(struct checkout *c)
{
	arena_free(c->texts);
}

int checkout_format(struct checkout *c, const char *id, const char *format, const char **text,
		    struct error *err)
{
	const char *argv[] = { "log", "-1", "--no-show-signature", format, id, NULL };

	return git_text(c, c->source, text, argv, err);
}

int checkout_order(struct checkout *c, const char *good, const char *bad, struct error *err)
{
	const char *is_ancestor[] = { "merge-base", "--is-ancestor", good, bad, NULL };
	const char *base[] = { "merge-base", good, bad, NULL };
	struct buf out = BUF_INIT;
	int r = git(c, c->source, NULL, true, is_ancestor, err);

	if (r != 1)
		return r;
	r = git(c, c->source, &out, true, base, err);
	if (r == 0)
		r = error_set(err, -EINVAL, NULL, 0, 0,
			      "bisect: %.10s is not an ancestor of %.10s; their last common commit "
			      "is %.10s", good, bad, buf_str(&out));
	else if (r == 1)
		r = error_set(err, -EINVAL, NULL, 0, 0, "bisect: %.10s and %.10s have no common "
			      "history", good, bad);
	buf_release(&out);
	return r;
}

/* Each line begins with the id of a commit. */
static int read_ids(struct checkout *c, const struct buf *text, const char ***id, size_t *n)
{
	struct cursor lines, words;
	struct slice line, word;
	bool complete;

	cursor_init(&lines, text->data, text->len);
	while (cursor_line(&lines, &line, &complete)) {
		const char **grown = array_grow(*id, *n, sizeof *grown);

		cursor_init(&words, line.p, line.len);
		if (!grown || !cursor_word(&words, &word, line.len))
			return -ENOMEM;
		*id = grown;
		grown[*n] = arena_text(c->texts, word.p, word.len);
		if (!grown[(*n)++])
			return -ENOMEM;
	}
	return 0;
}

int checkout_between(struct checkout *c, const char *const *good, size_t n_good, const char *bad,
		     const char ***id, size_t *n, struct error *err)
{
	const char **argv = calloc(n_good + 5, sizeof *argv);
	struct buf out = BUF_INIT;
	int r;

	*id = NULL;
	*n = 0;
	if (!argv)
		return error_sys(err, -ENOMEM, NULL, "git");
	argv[0] = "rev-list";
	argv[1] = "--bisect-all";
	argv[2] = bad;
	argv[3] = "--not";
	memcpy(argv + 4, good, n_good * sizeof *argv);
	r = git(c, c->source, &out, false, argv, err);
	if (!r && read_ids(c, &out, id, n))
		r = error_sys(err, -ENOMEM, NULL, "git");
	free(argv);
	buf_release(&out);
	return r;
}

static bool is_there(const char *directory, const char *name)
{
	struct buf path = BUF_INIT;
	struct stat st;
	bool there;

	buf_addf(&path, "%s/%s", directory, name);
	there = !stat(buf_str(&path), &st);
	buf_release(&path);
	return there;
}

/* Relative addresses of submodules are relative to the repository's own origin. */
static int keep_address(struct checkout *c, const char *tree, struct error *err)
{
	const char *ask[] = { "config", "--get", "remote.origin.url", NULL };
	const char *set[] = { "config", "remote.origin.url", NULL, NULL };
	struct buf address = BUF_INIT;
	int r = git(c, c->source, &address, true, ask, err);

	set[2] = buf_str(&address);
	if (!r && (r = buf_error(&address)))
		error_sys(err, r, NULL, "git");
	if (!r)
		r = git(c, tree, NULL, false, set, err);
	buf_release(&address);
	return r < 0 ? r : 0;
}

/* The clone has another name until it is complete. */
static int make_clone(struct checkout *c, const char *path, struct error *err)
{
	const char *argv[] = { "clone", "--quiet", "--shared", "--no-checkout", c->source, NULL,
			       NULL };
	struct buf part = BUF_INIT;
	int r;

	buf_addf(&part, "%s.part", path);
	if (buf_error(&part))
		return error_sys(err, buf_error(&part), path, NULL);
	argv[5] = buf_str(&part);
	outdir_discard(argv[5]);
	r = git(c, NULL, NULL, false, argv, err);
	r = r ? r : keep_address(c, argv[5], err);
	if (!r && rename(argv[5], path))
		r = error_sys(err, -errno, path, "cannot write");
	buf_release(&part);
	return r;
}

int checkout_clone(struct checkout *c, const char *path, struct error *err)
{
	int r = is_there(path, ".git") ? 0 : make_clone(c, path, err);

	c->tree = arena_text(c->texts, path, strlen(path));
	return r ? r : c->tree ? 0 : error_sys(err, -ENOMEM, NULL, "git");
}

int checkout_switch(struct checkout *c, const char *id, struct error *err)
{
	const char *checkout[] = { "checkout", "--quiet", "--force", "--detach", id, NULL };
	static const char *const clean[] = { "clean", "-ffdxq", NULL };
	/* local submodules are allowed: the user has built with them before */
	static const char *const update[] = { "-c", "protocol.file.allow=always", "submodule",
					      "--quiet", "update", "--init", "--recursive",
					      "--force", NULL };
	static const char *const clean_all[] = { "submodule", "--quiet", "foreach",
						 "--recursive", "git clean -ffdxq", NULL };
	int r = git(c, c->tree, NULL, false, checkout, err);

	if (r)
		return r;
	r = git(c, c->tree, NULL, false, clean, err);
	if (r || !is_there(c->tree, ".gitmodules"))
		return r;
	r = git(c, c->tree, NULL, false, update, err);
	return r ? r : git(c, c->tree, NULL, false, clean_all, err);
}
