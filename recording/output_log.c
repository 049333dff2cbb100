/* SPDX-License-Identifier: MIT */
#include "recording/output_log.h"

#include "base/array.h"
#include "base/file.h"
#include "base/readfile.h"
#include "recording/layout.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WINDOW 262144
#define NEWEST_TEXT 16384

/* A file of which a part is in memory, or all of it if it was compressed. */
struct source {
	int fd;			/* -1: all of it is in memory */
	struct buf text;
	uint64_t at;		/* the part's place in the file */
};

/* The unfinished line of a stream, or of a task with a pipe of its own. */
struct unfinished {
	struct buf text;	/* not yet returned */
	struct output_line line;	/* what is known of it */
	char inst[INSTANCE_ID_MAX];
	bool begun;		/* a part of it was returned */
	bool open;		/* it has bytes, or parts */
	bool returned;		/* text was returned by the last call */
};

struct output_piece {
	int64_t time_us;	/* -1: not known */
	int64_t span_us;
	enum output_stream stream;
	uint64_t end;
	char inst[INSTANCE_ID_MAX];
	uint64_t task;
	bool ends;
};

struct output {
	struct source log, index;
	uint64_t index_at;	/* of the next line */
	bool has_header;
	struct output_piece piece;
	uint64_t at;		/* of the next byte of the log */
	uint64_t n_lines, n_damaged;
	struct unfinished *of;	/* those that are not open are free for others */
	size_t n_of;
	size_t last;		/* that of the last bytes */
};

/* The rest of a line of the index, which may be empty. */
static bool parse_writer(struct cursor *c, struct output_piece *piece)
{
	const char *start;
	size_t len;

	piece->inst[0] = '\0';
	piece->task = 0;
	piece->ends = false;
	if (!cursor_byte(c, ' '))
		return true;
	start = c->p;
	while (c->p < c->end && *c->p != ' ')
		c->p++;
	len = (size_t)(c->p - start);
	if (!len || len >= sizeof piece->inst || !cursor_byte(c, ' ') || !cursor_u64(c, &piece->task))
		return false;
	memcpy(piece->inst, start, len);
	piece->inst[len] = '\0';
	piece->ends = cursor_literal(c, " " OUTPUT_ENDS);
	return true;
}

/* One line of the index, without its newline. False if it is damaged. */
static bool parse_piece(struct slice line, struct output_piece *piece)
{
	struct cursor c;
	uint64_t stream;
	int64_t time_us, span_us;

	cursor_init(&c, line.p, line.len);
	if (!cursor_i64(&c, &time_us) || !cursor_byte(&c, ' ') ||
	    !cursor_i64(&c, &span_us) || !cursor_byte(&c, ' ') ||
	    !cursor_u64(&c, &stream) || !cursor_byte(&c, ' ') ||
	    !cursor_u64(&c, &piece->end) || !parse_writer(&c, piece) || !cursor_at_end(&c))
		return false;
	if (time_us < 0 || span_us < 0 || span_us > time_us || piece->end > INT64_MAX ||
	    (stream != OUTPUT_STDOUT && stream != OUTPUT_STDERR && stream != OUTPUT_BOTH))
		return false;
	piece->time_us = time_us;
	piece->span_us = span_us;
	piece->stream = (enum output_stream)stream;
	return true;
}

/* Files */

/* Bytes of the file from a place on: at least one, as far as they are in memory; none at its
 * end. */
static int source_at(struct source *s, uint64_t at, struct slice *out)
{
	if (s->fd >= 0 && (at < s->at || at >= s->at + s->text.len)) {
		ssize_t n;

		buf_clear(&s->text);
		if (buf_reserve(&s->text, WINDOW))
			return buf_error(&s->text);
		n = readfile_some_at(s->fd, s->text.data, WINDOW, (off_t)at);
		if (n < 0)
			return (int)n;
		s->at = at;
		s->text.len = (size_t)n;
	}
	if (at >= s->at + s->text.len) {
		*out = (struct slice){ "", 0 };
		return 0;
	}
	*out = (struct slice){ s->text.data + (at - s->at), s->text.len - (size_t)(at - s->at) };
	return 0;
}

/* What the file has now, which may be more than what is in memory. */
static void source_forget(struct source *s)
{
	if (s->fd >= 0)
		buf_clear(&s->text);
}

static int unpack(struct buf *out, int dir_fd, const char *name,
		  const struct recording_codec *codec, struct error *err)
{
	struct buf packed = BUF_INIT;
	int r = readfile_at(&packed, dir_fd, name, SIZE_MAX);

	if (!r && !codec)
		r = -ENOTSUP;
	if (r)
		error_sys(err, r, name, NULL);
	else
		r = codec->unpack(out, packed.data, packed.len, err);
	buf_release(&packed);
	return r;
}

/* The plain file continues where the compressed one ends. */
static int source_open(struct source *s, int dir_fd, const char *name,
		       const struct recording_codec *codec, struct error *err)
{
	char packed[64];
	int r = 0;

	s->fd = readfile_open(dir_fd, name);
	if (s->fd < 0 && s->fd != -ENOENT)
		return error_sys(err, s->fd, name, NULL);
	snprintf(packed, sizeof packed, "%s" LAYOUT_ZSTD_SUFFIX, name);
	if (faccessat(dir_fd, packed, F_OK, 0))
		return s->fd < 0 ? -ENOENT : 0;
	r = unpack(&s->text, dir_fd, packed, codec, err);
	if (!r && s->fd >= 0 && (r = readfile_fd(&s->text, s->fd, SIZE_MAX)))
		error_sys(err, r, name, NULL);
	file_close(s->fd);
	s->fd = -1;
	return r;
}

static void source_close(struct source *s)
{
	file_close(s->fd);
	buf_release(&s->text);
}

/* The index */

/* A line may be longer than a window only if it is damaged. */
static int index_line(struct output *o, struct slice *line)
{
	struct slice s;
	const char *end;
	int r = source_at(&o->index, o->index_at, &s);

	if (r)
		return r;
	end = memchr(s.p, '\n', s.len);
	if (!end && o->index.fd >= 0 && o->index_at != o->index.at) {
		source_forget(&o->index);
		r = source_at(&o->index, o->index_at, &s);
		if (r)
			return r;
		end = memchr(s.p, '\n', s.len);
	}
	if (!end && s.len < WINDOW)
		return 0;
	*line = (struct slice){ s.p, end ? (size_t)(end - s.p) : s.len };
	o->index_at += line->len + !!end;
	return 1;
}

/* 1, 0 at the end, or a negative errno. */
static int next_piece(struct output *o)
{
	struct slice line = { 0 };
	int r;

	while ((r = index_line(o, &line)) > 0) {
		struct output_piece p;

		if (!o->has_header) {
			o->has_header = true;
			if (slice_starts(line, "buildbeat output ") &&
			    !slice_starts(line, "buildbeat output 1"))
				return -EINVAL;
			if (slice_starts(line, "buildbeat output 1"))
				continue;
		}
		if (parse_piece(line, &p) && p.end >= o->at) {
			o->piece = p;
			return 1;
		}
		o->n_damaged++;
	}
	return r;
}

/* Lines */

static void begin_line(struct output *o, struct unfinished *u)
{
	u->open = true;
	u->begun = false;
	memcpy(u->inst, o->piece.inst, sizeof u->inst);
	u->line = (struct output_line){
		.offset = o->at, .stream = o->piece.stream, .task = o->piece.task,
		.from_us = o->piece.time_us < 0 ? -1 : o->piece.time_us - o->piece.span_us,
		.first_us = o->piece.time_us, .to_us = o->piece.time_us,
	};
}

static void put_line(struct output *o, struct unfinished *u, struct slice text, bool ends,
		     bool newline, struct output_line *line)
{
	if (!u->begun)
		u->line.number = o->n_lines++;
	u->line.begins = !u->begun;
	u->line.ends = ends;
	u->line.newline = newline;
	u->line.text = text;
	u->line.inst = u->inst;
	*line = u->line;
	u->begun = true;
	u->returned = true;
	if (ends)
		u->open = false;
}

static bool is_of_piece(const struct output *o, const struct unfinished *u)
{
	return u->open && (u->line.stream == OUTPUT_STDERR) == (o->piece.stream == OUTPUT_STDERR) &&
		u->line.task == o->piece.task && !strcmp(u->inst, o->piece.inst);
}

/* That of the piece: the one that was begun, or a free one. NULL: there is no memory. */
static struct unfinished *unfinished_of(struct output *o)
{
	struct unfinished *u;
	size_t unused = o->n_of;

	if (o->last < o->n_of && is_of_piece(o, &o->of[o->last]))
		return &o->of[o->last];
	for (size_t i = 0; i < o->n_of; i++) {
		if (is_of_piece(o, &o->of[i])) {
			o->last = i;
			return &o->of[i];
		}
		if (!o->of[i].open && unused == o->n_of)
			unused = i;
	}
	if (unused == o->n_of) {
		u = array_add(&o->of, &o->n_of, sizeof *o->of);
		if (!u)
			return NULL;
		*u = (struct unfinished){ .text = BUF_INIT };
	}
	o->last = unused;
	return &o->of[unused];
}

/* The piece was read, and says that its line ends. 1: *line is it. */
static int end_line(struct output *o, struct output_line *line)
{
	struct unfinished *u;

	if (!o->piece.ends)
		return 0;
	o->piece.ends = false;
	u = unfinished_of(o);
	if (!u)
		return -ENOMEM;
	if (!u->open)
		return 0;
	put_line(o, u, (struct slice){ buf_str(&u->text), u->text.len }, true, false, line);
	return 1;
}

/* The next bytes of the piece. 1: *line is a line or a part. */
static int take_line(struct output *o, struct slice s, struct output_line *line)
{
	struct unfinished *u = unfinished_of(o);
	uint64_t left = o->piece.end - o->at;
	const char *end;

	if (!u)
		return -ENOMEM;
	if (s.len > left)
		s.len = (size_t)left;
	if (!u->open)
		begin_line(o, u);
	u->line.to_us = o->piece.time_us;
	end = memchr(s.p, '\n', s.len);
	if (end)
		s.len = (size_t)(end - s.p);
	if (!end && s.len > OUTPUT_PART_MAX)
		s.len = OUTPUT_PART_MAX;
	o->at += s.len + !!end;
	if (!end || u->text.len) {
		buf_add(&u->text, s.p, s.len);
		if (buf_error(&u->text))
			return buf_error(&u->text);
		s = (struct slice){ u->text.data, u->text.len };
	}
	if (!end && u->text.len < OUTPUT_PART_MAX)
		return 0;
	put_line(o, u, s, end, end, line);
	return 1;
}

static int last_lines(struct output *o, struct output_line *line)
{
	for (size_t i = 0; i < o->n_of; i++) {
		struct unfinished *u = &o->of[i];

		if (!u->open)
			continue;
		put_line(o, u, (struct slice){ buf_str(&u->text), u->text.len }, true, false, line);
		return 1;
	}
	return 0;
}

int output_next(struct output *o, struct output_line *line, bool last)
{
	int r = 0;

	for (size_t i = 0; i < o->n_of; i++) {
		if (o->of[i].returned)
			buf_clear(&o->of[i].text);
		o->of[i].returned = false;
	}
	for (;;) {
		struct slice s;

		if (o->at >= o->piece.end) {
			r = end_line(o, line);
			if (r)
				return r;
			r = next_piece(o);
			if (r < 0)
				return r;
		}
		if (o->at < o->piece.end) {
			r = source_at(&o->log, o->at, &s);
			if (r)
				return r;
			r = s.len ? take_line(o, s, line) : 0;
			if (r)
				return r;
			if (s.len)
				continue;
		} else if (r) {
			continue;
		}
		/* both files were read as far as they go */
		r = source_at(&o->log, o->at, &s);
		if (r)
			return r;
		if (last && s.len) {
			o->piece = (struct output_piece){ .time_us = -1, .stream = OUTPUT_BOTH,
				.end = o->at + s.len };
			continue;
		}
		source_forget(&o->index);
		return last ? last_lines(o, line) : 0;
	}
}

static void forget_lines(struct output *o)
{
	for (size_t i = 0; i < o->n_of; i++) {
		buf_clear(&o->of[i].text);
		o->of[i] = (struct unfinished){ .text = o->of[i].text };
	}
}

void output_rewind(struct output *o)
{
	forget_lines(o);
	o->piece = (struct output_piece){ 0 };
	o->at = o->index_at = o->n_lines = o->n_damaged = 0;
	o->has_header = false;
}

bool output_place(const struct output *o, struct output_place *place)
{
	*place = (struct output_place){
		.line = o->n_lines, .at = o->at, .index_at = o->index_at, .piece_end = o->piece.end,
		.piece_time_us = o->piece.time_us, .piece_span_us = o->piece.span_us,
		.stream = o->piece.stream, .task = o->piece.task, .ends = o->piece.ends,
	};
	memcpy(place->inst, o->piece.inst, sizeof place->inst);
	for (size_t i = 0; i < o->n_of; i++) {
		if (o->of[i].open)
			return false;
	}
	return true;
}

void output_go(struct output *o, const struct output_place *place)
{
	forget_lines(o);
	o->n_lines = place->line;
	o->at = place->at;
	o->index_at = place->index_at;
	o->piece = (struct output_piece){
		.time_us = place->piece_time_us, .span_us = place->piece_span_us,
		.stream = place->stream, .end = place->piece_end, .task = place->task, .ends = place->ends,
	};
	memcpy(o->piece.inst, place->inst, sizeof o->piece.inst);
	o->has_header = place->index_at > 0;
}

/* Of the last lines of the index: a build that hangs writes few. */
int64_t output_newest_us(const char *path, int64_t before_us)
{
	int64_t newest_us = -1;
	char text[NEWEST_TEXT];
	struct output_piece p;
	struct slice line;
	struct cursor c;
	bool complete;
	off_t size;
	ssize_t n;
	int dir_fd = file_open_at(AT_FDCWD, path, O_RDONLY | O_DIRECTORY);
	int fd = dir_fd < 0 ? -1 : readfile_open(dir_fd, OUTPUT_INDEX);

	size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	n = size < 0 ? -1 : readfile_some_at(fd, text, sizeof text, size > NEWEST_TEXT ? size - NEWEST_TEXT : 0);
	cursor_init(&c, text, n > 0 ? (size_t)n : 0);
	if (n >= 0)
		newest_us = 0;
	while (cursor_line(&c, &line, &complete)) {
		if (complete && parse_piece(line, &p) && p.time_us < before_us)
			newest_us = p.time_us;
	}
	file_close(fd);
	file_close(dir_fd);
	return newest_us;
}

uint64_t output_damaged(const struct output *o)
{
	return o->n_damaged;
}

int output_open(struct output **out, const char *path, const struct recording_codec *codec,
		struct error *err)
{
	int dir_fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), r;
	struct output *o = calloc(1, sizeof *o);

	*out = o;
	if (dir_fd < 0 || !o) {
		r = error_sys(err, o ? -errno : -ENOMEM, path, NULL);
	} else {
		o->log.fd = o->index.fd = -1;
		r = source_open(&o->log, dir_fd, OUTPUT_LOG, codec, err);
		if (!r)
			r = source_open(&o->index, dir_fd, OUTPUT_INDEX, codec, err);
		/* an index that was lost is like one that ends early */
		if (r == -ENOENT && (o->log.fd >= 0 || o->log.text.len))
			r = 0;
	}
	file_close(dir_fd);
	if (r) {
		output_close(o);
		*out = NULL;
	}
	return r;
}

void output_close(struct output *o)
{
	if (!o)
		return;
	source_close(&o->log);
	source_close(&o->index);
	for (size_t i = 0; i < o->n_of; i++)
		buf_release(&o->of[i].text);
	free(o->of);
	free(o);
}
