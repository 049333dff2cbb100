/* SPDX-License-Identifier: MIT */
#include "convert/ninja/match.h"

#include "command/shell.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The options that a run was called with, as far as they say where. */
struct where {
	struct slice dir, file;		/* -C, -f; empty: not given */
};

/* What belongs to an option is in its word or the next one. */
static void read_option(struct where *w, struct slice word, struct cursor *c)
{
	const char *with_value = "Cfdjkltw";
	struct slice value;

	for (size_t i = 1; i < word.len; i++) {
		if (!strchr(with_value, word.p[i]))
			continue;
		value = (struct slice){ word.p + i + 1, word.len - i - 1 };
		if (!value.len && !cursor_until(c, '\0', &value))
			return;
		if (word.p[i] == 'C')
			w->dir = value;
		else if (word.p[i] == 'f')
			w->file = value;
		return;
	}
}

/* Each with a NUL behind it. */
static void read_words(struct buf *words, const char *command)
{
	struct slice word;
	struct cursor c;

	cursor_init(&c, command, strlen(command));
	while (shell_word(&c, &word)) {
		shell_add_plain(words, word);
		buf_addc(words, '\0');
	}
}

static struct where read_options(struct buf *words)
{
	struct where w = { { "", 0 }, { NINJA_BUILD_NAME, strlen(NINJA_BUILD_NAME) } };
	struct slice word;
	struct cursor c;

	cursor_init(&c, buf_str(words), words->len);
	cursor_until(&c, '\0', &word);
	while (cursor_until(&c, '\0', &word) && !slice_is(word, "--")) {
		if (word.len > 1 && word.p[0] == '-' && word.p[1] != '-')
			read_option(&w, word, &c);
	}
	return w;
}

/* base/name, or name alone if that is absolute. The caller frees it. */
static char *join(const char *base, struct slice name)
{
	struct buf b = BUF_INIT;

	if (!name.len || *name.p != '/') {
		buf_adds(&b, base);
		if (name.len)
			buf_addc(&b, '/');
	}
	buf_add(&b, name.p, name.len);
	if (!buf_error(&b))
		return b.data;
	buf_release(&b);
	return NULL;
}

static bool is_there(const char *dir, struct slice name)
{
	char *path = join(dir, name);
	bool there = path && !access(path, R_OK);

	free(path);
	return there;
}

/* The directory of the run is from before it went to that of -C, or from after. */
int ninja_place_find(struct ninja_place *p, const struct ninja_run *run, infile_reader *read)
{
	char *other = join(run->cwd, (struct slice){ "", 0 });
	struct buf words = BUF_INIT;
	struct where w;
	int r;

	read_words(&words, run->command);
	w = read_options(&words);
	*p = (struct ninja_place){ .dir = join(run->cwd, w.dir),
		.file = strndup(w.file.p, w.file.len), .read = read };
	if (p->dir && other && !is_there(p->dir, w.file) && is_there(other, w.file)) {
		free(p->dir);
		p->dir = other;
		other = NULL;
	}
	free(other);
	r = buf_error(&words);
	buf_release(&words);
	if (r)
		return r;
	return p->dir && p->file ? 0 : -ENOMEM;
}

int ninja_place_read(struct ninja_place *p)
{
	int r = ninja_build_read(&p->build, p->dir, p->file, p->read, NULL);

	p->has_build = !r;
	return r == -ENOMEM ? r : 0;
}

static void release_chains(struct ninja_chains *c)
{
	index_release(&c->first);
	free(c->next);
	free(c->taken);
	free(c->from);
	free(c->from_run);
}

void ninja_place_release(struct ninja_place *p)
{
	if (p->has_build)
		ninja_build_release(&p->build);
	if (p->has_log)
		ninja_log_release(&p->log);
	release_chains(&p->commands);
	release_chains(&p->responses);
	release_chains(&p->lines);
	free(p->edge_ms);
	free(p->dir);
	free(p->file);
	*p = (struct ninja_place){ .dir = NULL };
}
