/* SPDX-License-Identifier: MIT */
#include "recording/output_writer.h"

#include "base/file.h"
#include "base/minmax.h"
#include "command/redact.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/uio.h>
#include <unistd.h>

int output_create(int dir_fd)
{
	int log_fd = file_open_at(dir_fd, OUTPUT_LOG, O_WRONLY | O_CREAT | O_APPEND);
	int index_fd = file_open_at(dir_fd, OUTPUT_INDEX, O_WRONLY | O_CREAT | O_APPEND);
	int r = log_fd < 0 ? log_fd : index_fd < 0 ? index_fd :
		file_write(index_fd, OUTPUT_HEADER, strlen(OUTPUT_HEADER));

	file_close(log_fd);
	file_close(index_fd);
	return r;
}

int output_writer_open(struct output_writer *w, int dir_fd, enum output_stream stream,
		       bool shared)
{
	w->stream = stream;
	w->shared = shared;
	w->error = 0;
	w->lost = 0;
	w->n_held = w->held_bytes = w->n_kept = 0;
	w->n_parts = 0;
	w->gather = false;
	w->log_fd = file_open_at(dir_fd, OUTPUT_LOG, O_WRONLY | O_APPEND);
	w->index_fd = file_open_at(dir_fd, OUTPUT_INDEX, O_WRONLY | O_APPEND);
	if (w->log_fd < 0 || w->index_fd < 0)
		w->error = w->log_fd < 0 ? w->log_fd : w->index_fd;
	else
		w->end = (uint64_t)lseek(w->log_fd, 0, SEEK_END);
	return w->error;
}

/* What is left of the parts after so many bytes. */
static int left_parts(struct iovec v[OUTPUT_PARTS_MAX], const struct output_writer *w, size_t written)
{
	int n = 0;

	for (unsigned i = 0; i < w->n_parts; i++) {
		struct slice text = w->part[i].text;
		size_t done = MIN(written, text.len);

		written -= done;
		if (done < text.len)
			v[n++] = (struct iovec){ (void *)(uintptr_t)(text.p + done), text.len - done };
	}
	return n;
}

/* Returns the number of bytes that were written, with *error if these are not all. */
static size_t write_parts(const struct output_writer *w, int *error)
{
	struct iovec v[OUTPUT_PARTS_MAX];
	size_t written = 0;
	int left;

	while ((left = left_parts(v, w, written))) {
		ssize_t n = writev(w->log_fd, v, left);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			*error = n ? -errno : -ENOSPC;
			break;
		}
		written += (size_t)n;
	}
	return written;
}

static void add_index(struct buf *b, const struct output_writer *w, const struct output_part *p)
{
	buf_addi(b, p->to_us);
	buf_addc(b, ' ');
	buf_addi(b, p->to_us > p->from_us ? p->to_us - p->from_us : 0);
	buf_addc(b, ' ');
	buf_addu(b, w->stream);
	buf_addc(b, ' ');
	buf_addu(b, w->end);
	if (*p->inst) {
		buf_addc(b, ' ');
		buf_adds(b, p->inst);
		buf_addc(b, ' ');
		buf_addu(b, p->task);
		buf_adds(b, p->ends ? " " OUTPUT_ENDS : "");
	}
	buf_addc(b, '\n');
}

/* The lines of the index that belong to the first so many bytes of the parts. */
static int append_index(struct output_writer *w, size_t written)
{
	char memory[OUTPUT_PARTS_MAX * (128 + INSTANCE_ID_MAX)];
	struct buf lines;

	buf_init_fixed(&lines, memory, sizeof memory);
	for (unsigned i = 0; i < w->n_parts && w->part[i].text.len <= written; i++) {
		written -= w->part[i].text.len;
		w->end += w->part[i].text.len;
		add_index(&lines, w, &w->part[i]);
	}
	w->end += written;
	return file_write_all(w->index_fd, lines.data, lines.len);
}

void output_writer_write(struct output_writer *w)
{
	size_t len = 0, written;
	int error = 0, index_error;

	if (!w->n_parts)
		return;
	if (w->shared) {
		flock(w->index_fd, LOCK_EX);
		w->end = (uint64_t)lseek(w->log_fd, 0, SEEK_END);
	}
	written = write_parts(w, &error);
	index_error = append_index(w, written);
	if (w->shared)
		flock(w->index_fd, LOCK_UN);
	for (unsigned i = 0; i < w->n_parts; i++)
		len += w->part[i].text.len;
	w->error = error ? error : index_error;
	w->lost += w->error ? len - written : 0;
	w->n_parts = 0;
	w->n_kept = 0;
}

/* lasting: the text stays where it is while the writer gathers. */
static void append(struct output_writer *w, const struct output_source *s, const char *p, size_t len,
		   int64_t from_us, int64_t to_us, bool ends, bool lasting)
{
	struct output_part *part = &w->part[w->n_parts];
	bool keep = w->gather && !lasting && len <= OUTPUT_KEPT_MAX - w->n_kept;

	if (w->error)
		w->lost += len;
	if (w->error || w->log_fd < 0 || (!len && !ends))
		return;
	*part = (struct output_part){ { p, len }, from_us, to_us, "", s->task, ends };
	memcpy(part->inst, s->inst, sizeof part->inst);
	if (keep) {
		part->text.p = memcpy(w->kept + w->n_kept, p, len);
		w->n_kept += len;
	}
	w->n_parts++;
	if (!w->gather || (!lasting && !keep) || w->n_parts == OUTPUT_PARTS_MAX)
		output_writer_write(w);
}

/* The lines of a private key follow one that a command line has whole. */
static bool has_word(struct slice s, const char *word)
{
	return memmem(s.p, s.len, word, strlen(word));
}

static void add_split(struct buf *b, struct output_source *s, struct slice line)
{
	struct slice part[REDACT_PARTS_MAX];
	size_t n = redact_split(part, line.p, line.len, false);

	if (n > 1 && has_word(line, "-----BEGIN ") && !has_word(line, "-----END "))
		s->in_key = true;
	for (size_t i = 0; i < n; i++)
		buf_add(b, part[i].p, part[i].len);
}

/* Where the line ends, its newline or carriage return included. */
static size_t line_len(const char *p, size_t len)
{
	const char *newline = memchr(p, '\n', len);
	size_t n = newline ? (size_t)(newline - p) + 1 : len;
	const char *cr = memchr(p, '\r', n);

	return cr ? (size_t)(cr - p) + 1 : n;
}

/* The length up to the last newline or carriage return, 0 without one. */
static size_t whole_lines(const char *p, size_t len)
{
	const char *newline = memrchr(p, '\n', len);
	size_t n = newline ? (size_t)(newline - p) + 1 : 0;
	const char *cr = memrchr(p + n, '\r', len - n);

	return cr ? (size_t)(cr - p) + 1 : n;
}

/* The next line that may have secrets, empty at the end. */
static struct slice next_suspect(const struct output_source *s, const char *p, const char *end)
{
	size_t len = (size_t)(end - p), clean = 0;

	if (len && !s->in_key) {
		const char *at = redact_suspect(p, len);

		clean = at ? whole_lines(p, (size_t)(at - p)) : len;
	}
	return (struct slice){ p + clean, line_len(p + clean, len - clean) };
}

/* Append lines with their secrets replaced. The text grows only in lines that have a secret. */
static void append_masked(struct output_writer *w, struct output_source *s, const char *p, size_t len,
			  int64_t from_us, int64_t to_us, bool ends, bool lasting)
{
	struct buf b = BUF_INIT;
	const char *done = p, *end = p + len;
	bool changed = false;
	struct slice line;

	s->open = len ? end[-1] != '\n' : s->open;
	while ((line = next_suspect(s, p, end)).len) {
		struct slice part[REDACT_PARTS_MAX];

		p = line.p + line.len;
		if (!s->in_key && redact_split(part, line.p, line.len, false) == 1)
			continue;
		changed = true;
		buf_add(&b, done, (size_t)(line.p - done));
		done = p;
		if (!s->in_key) {
			add_split(&b, s, line);
			continue;
		}
		if (has_word(line, "-----END "))
			s->in_key = false;
		buf_adds(&b, REDACT_MARK);
		if (p[-1] == '\n' || p[-1] == '\r')
			buf_addc(&b, p[-1]);
	}
	if (!changed) {
		append(w, s, done, len, from_us, to_us, ends, lasting);
	} else {
		buf_add(&b, done, (size_t)(end - done));
		if (buf_error(&b) && !w->error)
			w->error = buf_error(&b);
		append(w, s, b.data, b.len, from_us, to_us, ends, false);
	}
	buf_release(&b);
}

static void write_held(struct output_writer *w, struct output_source *s, bool ends)
{
	size_t n = s->n_held;

	w->n_held -= n > 0;
	w->held_bytes -= n;
	s->n_held = 0;
	append_masked(w, s, s->held, n, s->held_from_us, s->held_to_us, ends, false);
}

/* False: no memory. */
static bool hold(struct output_writer *w, struct output_source *s, const char *p, size_t len,
		 int64_t from_us, int64_t to_us)
{
	if (!s->held)
		s->held = malloc(OUTPUT_HELD_MAX);
	if (!s->held)
		return false;
	if (!s->n_held) {
		s->held_from_us = from_us;
		w->n_held++;
	}
	s->held_to_us = to_us;
	memcpy(s->held + s->n_held, p, len);
	s->n_held += len;
	w->held_bytes += len;
	return true;
}

void output_writer_add(struct output_writer *w, struct output_source *s, const char *p, size_t len,
		       int64_t from_us, int64_t to_us)
{
	while (s->n_held && len) {
		size_t n = line_len(p, len), room = OUTPUT_HELD_MAX - s->n_held;
		bool ends;

		n = MIN(n, room);
		ends = p[n - 1] == '\n' || p[n - 1] == '\r' || n == room;
		hold(w, s, p, n, from_us, to_us);
		if (ends)
			write_held(w, s, false);
		p += n;
		len -= n;
	}
	while (len) {
		size_t n = whole_lines(p, len);

		if (!n && len < OUTPUT_HELD_MAX && hold(w, s, p, len, from_us, to_us))
			return;
		if (!n)
			n = MIN(len, OUTPUT_HELD_MAX);
		append_masked(w, s, p, n, from_us, to_us, false, true);
		p += n;
		len -= n;
	}
}

void output_writer_flush(struct output_writer *w, struct output_source *s)
{
	if (s->n_held)
		write_held(w, s, false);
}

void output_writer_end(struct output_writer *w, struct output_source *s, int64_t now_us)
{
	if (s->n_held)
		write_held(w, s, true);
	else if (s->open)
		append(w, s, "", 0, now_us, now_us, true, true);
	s->open = s->in_key = false;
}

void output_source_release(struct output_source *s)
{
	free(s->held);
	*s = (struct output_source){ 0 };
}

void output_writer_close(struct output_writer *w)
{
	file_close(w->log_fd);
	file_close(w->index_fd);
	w->log_fd = w->index_fd = -1;
}
