/* SPDX-License-Identifier: MIT */
#include "live/top/terminal.h"
#include "base/array.h"
#include "base/clock.h"
#include "base/utf8.h"

#include <ctype.h>
#include <curses.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#define EVERY_MS 1000
#define TEXT_MAX 64		/* of a filter or search */

enum asks { ASKS_NOTHING, ASKS_SEARCH, ASKS_FILTER, ASKS_KILL, SHOWS_HELP, SHOWS_MESSAGE };

struct terminal {
	struct top_model *m;
	struct top_view v;
	struct top_rows rows;
	struct top_screen s;
	struct top_process at;	/* selected; pid 0: none */
	struct top_process *tagged;
	enum asks asks;
	char search[TEXT_MAX], filter[TEXT_MAX];
	struct buf prompt;
	bool colour, quit;
};

static volatile sig_atomic_t ended_by;

static void on_signal(int sig)
{
	ended_by = sig;
}

/* The screen */

static const struct { short colour; attr_t plain; } tones[TOP_TONES] = {
	[TOP_PLAIN] = { -1, A_NORMAL }, [TOP_TITLE] = { -1, A_BOLD }, [TOP_HEAD] = { COLOR_CYAN, A_REVERSE },
	[TOP_METER] = { COLOR_CYAN, A_NORMAL }, [TOP_GOOD] = { COLOR_GREEN, A_BOLD },
	[TOP_BAD] = { COLOR_RED, A_BOLD }, [TOP_FAINT] = { -1, A_NORMAL },
	[TOP_KEYS] = { -1, A_REVERSE }, [TOP_SELECTED] = { -1, A_REVERSE }, [TOP_TAGGED] = { COLOR_YELLOW, A_BOLD },
};

static attr_t attribute(const struct terminal *t, enum top_tone tone)
{
	if (!t->colour || tones[tone].colour < 0)
		return tones[tone].plain;
	return tones[tone].plain | (attr_t)COLOR_PAIR(tone + 1);
}

static void begin_colours(struct terminal *t)
{
	const char *none = getenv("NO_COLOR");

	t->colour = !(none && *none) && has_colors() && start_color() == OK && use_default_colors() == OK;
	for (int i = 0; t->colour && i < TOP_TONES; i++)
		init_pair((short)(i + 1), tones[i].colour, -1);
}

/* As wide characters, as many as the line has room for; '?' for those that the locale has not. */
static void show(const struct buf *b, int row)
{
	size_t at = 0;

	while (at < b->len && getcury(stdscr) == row) {
		uint32_t code;
		size_t n = utf8_decode((const unsigned char *)b->data + at, b->len - at, &code);
		wchar_t wide[2] = { (wchar_t)code, 0 };
		bool known = code < 0x80 || (MB_CUR_MAX > 1 && code < UTF8_BAD_BYTE);

		if (getcurx(stdscr) + wcwidth(known ? wide[0] : L'?') > COLS)
			return;
		if (known)
			addwstr(wide);
		else
			addch('?');
		at += n;
	}
}

static void find_selected(struct terminal *t)
{
	for (size_t i = 0; t->at.pid && i < t->rows.n; i++) {
		const struct process_row *p = t->rows.row[i].process;

		if (p && p->process->pid == t->at.pid && p->process->start_ticks == t->at.start_ticks) {
			t->v.selected = i;
			return;
		}
	}
}

static void remember_selected(struct terminal *t)
{
	const struct process_row *p = t->v.selected < t->rows.n ? t->rows.row[t->v.selected].process : NULL;

	t->at = p ? (struct top_process){ p->process->pid, p->process->start_ticks } : (struct top_process){ 0 };
}

/* Lay out the rows again after the model was read, or after a key. moved: the selection is a place
 * in the list, otherwise it is a process. */
static int make(struct terminal *t, bool moved)
{
	int r;

	free(t->rows.row);
	t->rows = (struct top_rows){ 0 };
	t->v.width = (unsigned)COLS;
	t->v.height = (unsigned)LINES;
	t->v.order.filter = t->filter;
	t->v.tagged = t->tagged;
	r = top_rows_make(&t->rows, t->m, &t->v.order);
	if (r)
		return r;
	if (!moved)
		find_selected(t);
	t->v.prompt = t->asks == ASKS_NOTHING ? NULL : buf_str(&t->prompt);
	r = t->asks == SHOWS_HELP ? top_screen_help(&t->s, &t->v) :
		top_screen_make(&t->s, t->m, &t->rows, &t->v);
	if (r)
		return r;
	remember_selected(t);
	erase();
	for (size_t i = 0; i < t->s.n && i < (size_t)LINES; i++) {
		const struct top_line *l = &t->s.line[i];

		attrset(attribute(t, l->tone));
		move((int)i, 0);
		if (l->tone == TOP_HEAD || l->tone == TOP_KEYS || l->tone == TOP_SELECTED)
			hline(' ' | attribute(t, l->tone), COLS);
		show(&l->text, (int)i);
	}
	attrset(A_NORMAL);
	refresh();
	return 0;
}

/* Keys */

static void say(struct terminal *t, enum asks asks, const char *text)
{
	t->asks = asks;
	buf_clear(&t->prompt);
	buf_adds(&t->prompt, text);
}

static void prompt_text(struct terminal *t)
{
	buf_clear(&t->prompt);
	buf_addf(&t->prompt, t->asks == ASKS_SEARCH ? "Search: %s_" : "Filter: %s_",
		 t->asks == ASKS_SEARCH ? t->search : t->filter);
}

static void search(struct terminal *t, size_t from)
{
	for (size_t i = 0; *t->search && i < t->rows.n; i++) {
		size_t at = (from + i) % t->rows.n;

		if (top_row_has(&t->rows.row[at], t->search)) {
			t->v.selected = at;
			remember_selected(t);
			return;
		}
	}
}

/* A key while a text is typed. */
static void edit(struct terminal *t, int key)
{
	char *text = t->asks == ASKS_SEARCH ? t->search : t->filter;
	size_t n = strlen(text);

	if (key == 27 || key == '\n' || key == '\r' || key == KEY_ENTER) {
		if (key == 27)
			*text = '\0';
		t->asks = ASKS_NOTHING;
		return;
	}
	if (key == KEY_BACKSPACE || key == 127 || key == 8) {
		while (n && ((unsigned char)text[n - 1] & 0xc0) == 0x80)
			n--;
		text[n ? n - 1 : 0] = '\0';
	} else if (key >= ' ' && key < 256 && n + 1 < TEXT_MAX) {
		text[n] = (char)key;
		text[n + 1] = '\0';
	}
	if (t->asks == ASKS_SEARCH)
		search(t, t->v.selected);
	prompt_text(t);
}

static bool is_tagged(const struct terminal *t, const struct top_process *p, size_t *at)
{
	for (*at = 0; *at < t->v.n_tagged; ++*at) {
		if (t->tagged[*at].pid == p->pid && t->tagged[*at].start_ticks == p->start_ticks)
			return true;
	}
	return false;
}

static void tag(struct terminal *t)
{
	struct top_process *new;
	size_t at;

	if (!t->at.pid)
		return;
	if (is_tagged(t, &t->at, &at)) {
		t->tagged[at] = t->tagged[--t->v.n_tagged];
		return;
	}
	new = array_add(&t->tagged, &t->v.n_tagged, sizeof *new);
	if (new)
		*new = t->at;
}

static void ask_kill(struct terminal *t)
{
	if (t->m->mirror) {
		say(t, SHOWS_MESSAGE, "Processes of a build at a server cannot be ended from here");
	} else if (!t->v.control) {
		say(t, SHOWS_MESSAGE, "Processes can only be ended with --allow-control");
	} else if (t->v.n_tagged) {
		say(t, ASKS_KILL, "");
		buf_addf(&t->prompt, "Send SIGTERM to %zu tagged processes? (y/n)", t->v.n_tagged);
	} else if (t->at.pid) {
		say(t, ASKS_KILL, "");
		buf_addf(&t->prompt, "Send SIGTERM to process %d? (y/n)", (int)t->at.pid);
	}
}

static void kill_them(struct terminal *t)
{
	size_t n = t->v.n_tagged ? t->v.n_tagged : 1, sent = 0;
	const struct top_process *p = t->v.n_tagged ? t->tagged : &t->at;
	int r = 0;

	for (size_t i = 0; i < n; i++) {
		int one = top_model_kill(t->m, p[i].pid, p[i].start_ticks, SIGTERM);

		sent += !one;
		r = one ? one : r;
	}
	say(t, SHOWS_MESSAGE, "");
	if (r == -EPERM)
		buf_addf(&t->prompt, "Not of this build, or not allowed; ");
	else if (r)
		buf_addf(&t->prompt, "%s; ", strerror(-r));
	buf_addf(&t->prompt, "SIGTERM sent to %zu of %zu", sent, n);
	t->v.n_tagged = 0;
}

static void sort_by(struct terminal *t, int sort)
{
	t->v.order.sort = sort;
	say(t, SHOWS_MESSAGE, "");
	buf_addf(&t->prompt, "Sorted by %s", top_sort_title(sort));
}

static void move_by(struct terminal *t, long by)
{
	size_t n = t->rows.n;

	if (by < 0)
		t->v.selected = t->v.selected > (size_t)-by ? t->v.selected - (size_t)-by : 0;
	else
		t->v.selected += (size_t)by;
	if (n && t->v.selected >= n)
		t->v.selected = n - 1;
}

static void follow_mouse(struct terminal *t, const MEVENT *e)
{
	bool clicked = e->bstate & (BUTTON1_PRESSED | BUTTON1_CLICKED);

	if (e->bstate & BUTTON4_PRESSED)
		move_by(t, -3);
	else if (e->bstate & BUTTON5_PRESSED)
		move_by(t, 3);
	else if (clicked && t->s.line[e->y].row >= 0)
		t->v.selected = (size_t)t->s.line[e->y].row;
	else if (clicked && t->s.line[e->y].tone == TOP_HEAD)
		sort_by(t, top_sort_next(t->v.order.sort, 1));
}

/* ncurses 6.6 gives one key for a press and its release: what is left would come with the next one. */
static void click(struct terminal *t)
{
	MEVENT e;

	while (getmouse(&e) == OK) {
		if (e.y >= 0 && (size_t)e.y < t->s.n)
			follow_mouse(t, &e);
	}
}

static bool moves(struct terminal *t, int key)
{
	long page = t->s.page > 1 ? (long)t->s.page : 1;

	switch (key) {
	case KEY_UP: move_by(t, -1); return true;
	case KEY_DOWN: move_by(t, 1); return true;
	case KEY_PPAGE: move_by(t, -page); return true;
	case KEY_NPAGE: move_by(t, page); return true;
	case KEY_HOME: t->v.selected = 0; return true;
	case KEY_END: t->v.selected = t->rows.n; return true;
	case KEY_MOUSE: click(t); return true;
	default: return false;
	}
}

static void show_all(struct terminal *t, struct error *err)
{
	if (t->m->mirror) {
		say(t, SHOWS_MESSAGE, "Only the processes of the build are known of a server");
		return;
	}
	t->m->all = !t->m->all;
	top_model_read(t->m, false, err);
}

static void command(struct terminal *t, int key, struct error *err)
{
	struct top_order *o = &t->v.order;

	switch (key) {
	case 'q': case 'Q': case KEY_F(10): t->quit = true; break;
	case 'h': case '?': case KEY_F(1): say(t, SHOWS_HELP, ""); break;
	case '/': case KEY_F(3): t->asks = ASKS_SEARCH; *t->search = '\0'; prompt_text(t); break;
	case 'n': search(t, t->v.selected + 1); break;
	case '\\': case KEY_F(4): t->asks = ASKS_FILTER; prompt_text(t); break;
	case 't': case KEY_F(5): o->tree = !o->tree; break;
	case '>': case '.': case KEY_F(6): sort_by(t, top_sort_next(o->sort, 1)); break;
	case '<': case ',': sort_by(t, top_sort_next(o->sort, -1)); break;
	case 'P': sort_by(t, VALUE_CPU); break;
	case 'M': sort_by(t, VALUE_MEMORY); break;
	case 'T': sort_by(t, VALUE_WALL); break;
	case 'N': sort_by(t, TOP_BY_PID); break;
	case 'I': o->up = !o->up; break;
	case 'H': t->v.threads = !t->v.threads; break;
	case 'K': show_all(t, err); break;
	case ' ': tag(t); move_by(t, 1); break;
	case 'U': t->v.n_tagged = 0; break;
	case 'k': case KEY_F(9): ask_kill(t); break;
	default: break;
	}
}

static int press(struct terminal *t, int key, struct error *err)
{
	bool moved = false;

	if (key == KEY_RESIZE) {
		clear();
	} else if (t->asks == ASKS_SEARCH || t->asks == ASKS_FILTER) {
		edit(t, key);
		moved = t->asks == ASKS_SEARCH;
	} else if (t->asks == ASKS_KILL) {
		if (key == 'y' || key == 'Y')
			kill_them(t);
		else
			t->asks = ASKS_NOTHING;
	} else if (t->asks == SHOWS_HELP) {
		t->asks = ASKS_NOTHING;
	} else {
		t->asks = ASKS_NOTHING;
		moved = moves(t, key) || key == ' ' || key == 'n';
		command(t, key, err);
	}
	return make(t, moved);
}

static int loop(struct terminal *t, struct error *err)
{
	int64_t next_ns = clock_mono_ns() + EVERY_MS * INT64_C(1000000);
	int r = make(t, true);

	while (!r && !t->quit && !ended_by) {
		int64_t wait_ms = (next_ns - clock_mono_ns()) / 1000000 + 1;
		int key;

		/* after the end nothing changes any more, but the output of a failed task may come */
		timeout(top_model_is_final(t->m) ? -1 : wait_ms > 0 ? (int)wait_ms : 0);
		key = getch();
		if (key != ERR)
			r = press(t, key, err);
		if (!r && clock_mono_ns() >= next_ns) {
			r = top_model_read(t->m, false, err);
			next_ns = clock_mono_ns() + EVERY_MS * INT64_C(1000000);
			if (!r)
				r = make(t, false);
		}
	}
	return r;
}

static void watch_signals(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct sigaction s = { .sa_handler = on_signal };

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		sigaction(signals[i], &s, NULL);
}

int terminal_run(struct top_model *m, bool control, struct error *err)
{
	struct terminal t = { .m = m, .v = { .order = { .sort = VALUE_CPU, .tree = true }, .control = control } };
	SCREEN *screen = newterm(NULL, stdout, stdin);
	int r;

	if (!screen)
		return error_say(err, -EINVAL, "the terminal '%s' is not known: use --once",
				 getenv("TERM") ? getenv("TERM") : "");
	watch_signals();
	cbreak();
	noecho();
	nonl();
	keypad(stdscr, TRUE);
	set_escdelay(50);
	curs_set(0);
	mousemask(BUTTON1_PRESSED | BUTTON1_CLICKED | BUTTON4_PRESSED | BUTTON5_PRESSED, NULL);
	mouseinterval(0);
	begin_colours(&t);
	r = loop(&t, err);
	endwin();
	delscreen(screen);
	free_all(t.rows.row, t.tagged);
	buf_release(&t.prompt);
	top_screen_release(&t.s);
	return r && !*err->message ? error_sys(err, r, m->path, NULL) : r;
}
