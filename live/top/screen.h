/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_LIVE_TOP_SCREEN_H
#define BUILDBEAT_LIVE_TOP_SCREEN_H

#include "base/buf.h"
#include "live/top/model.h"
#include "live/top/rows.h"

/*
 * The screen as lines of text, which a terminal shows or a file gets: no byte in them is obeyed by a
 * terminal. A line has at most `width` columns.
 */
enum top_tone { TOP_PLAIN, TOP_TITLE, TOP_HEAD, TOP_METER, TOP_GOOD, TOP_BAD, TOP_FAINT, TOP_KEYS,
		TOP_SELECTED, TOP_TAGGED, TOP_TONES };

struct top_line {
	struct buf text;
	enum top_tone tone;
	int row;		/* index into rows, -1: none */
};

struct top_screen {
	size_t n;
	struct top_line *line;
	size_t page;		/* rows of the list that fit */
	struct buf lost;	/* private: for want of memory */
};

/* A tagged or selected process: its number alone can be another one's later. */
struct top_process {
	int32_t pid;
	uint64_t start_ticks;
};

struct top_view {
	unsigned width, height;	/* height 0: as many lines as there are */
	struct top_order order;
	bool threads;		/* a column with their number */
	bool control;
	size_t selected, first;	/* rows */
	size_t n_tagged;
	const struct top_process *tagged;
	const char *prompt;	/* instead of the keys; NULL */
};

/* Clears the screen first. 0 or -ENOMEM. */
int top_screen_make(struct top_screen *s, const struct top_model *m, const struct top_rows *rows,
		    struct top_view *v);
int top_screen_help(struct top_screen *s, const struct top_view *v);
void top_screen_release(struct top_screen *s);

#endif
