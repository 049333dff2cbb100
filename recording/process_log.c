/* SPDX-License-Identifier: MIT */
#include "recording/process_log.h"

#include "base/array.h"
#include "base/field.h"
#include "command/redact.h"

#include <string.h>
#include <sys/wait.h>

void process_log_command(struct buf *b, char *words, size_t len)
{
	struct slice part[REDACT_PARTS_MAX];
	bool cut = len && words[len - 1];
	size_t n;

	while (len && (!words[len - 1] || words[len - 1] == ' '))
		len--;
	n = redact_split(part, words, len, cut);
	for (size_t i = 0; i < len; i++)
		words[i] = words[i] ? words[i] : ' ';
	buf_clear(b);
	field_add_parts(b, part, n, PROCESS_COMMAND_MAX);
}

/* Programs */

static bool is_interpreter(struct slice name)
{
	static const char *const names[] = { "sh", "bash", "dash", "ksh", "zsh", "perl" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (slice_is(name, names[i]))
			return true;
	}
	return name.len >= 6 && !memcmp(name.p, "python", 6);
}

static struct slice base_name(struct slice path)
{
	const char *slash = path.len ? memrchr(path.p, '/', path.len) : NULL;

	if (slash && slash + 1 < path.p + path.len)
		return (struct slice){ slash + 1, (size_t)(path.p + path.len - slash - 1) };
	return path;
}

struct slice process_log_program(struct slice command)
{
	struct slice word = { "?", 1 }, script, name;
	struct cursor c;

	cursor_init(&c, command.p, command.len);
	cursor_until(&c, ' ', &word);
	name = base_name(word);
	if (is_interpreter(name) && cursor_until(&c, ' ', &script) && script.len &&
	    *script.p != '-')
		return base_name(script);
	return name.len ? name : (struct slice){ "?", 1 };
}

/* Writing */

static void add_number(struct buf *b, int64_t n)
{
	buf_addc(b, '\t');
	if (n >= 0)
		buf_addi(b, n);
}

static const char *word_of(const struct process_line *l, int32_t *status)
{
	int32_t s = l->end.status;

	*status = -1;
	if (l->word != PROCESS_ENDED)
		return l->word == PROCESS_RUNS ? "runs" : "lost";
	if (s >= 0 && WIFSIGNALED(s)) {
		*status = WTERMSIG(s);
		return "kill";
	}
	if (s >= 0)
		*status = WEXITSTATUS(s);
	return *status > 0 ? "fail" : "done";
}

void process_log_add(struct buf *b, const struct process_line *l)
{
	int32_t status;

	buf_adds(b, word_of(l, &status));
	add_number(b, l->time_us);
	if (l->word == PROCESS_LOST) {
		add_number(b, l->n_lost);
	} else {
		add_number(b, l->pid);
		add_number(b, l->parent);
		add_number(b, l->wall_us);
		add_number(b, l->exec_us);
		buf_addc(b, '\t');
		buf_add(b, l->command.p, l->command.len);
		add_number(b, status);
		event_add_values(b, &l->end);
		add_number(b, l->delay_us);
	}
	while (b->len && b->data[b->len - 1] == '\t')
		b->len--;
	buf_addc(b, '\n');
}

/* Reading */

static int64_t number(struct cursor *c)
{
	struct slice field;
	int64_t n;

	return cursor_until(c, '\t', &field) && cursor_slice_i64(field, &n) && n >= 0 ? n : -1;
}

static bool parse_pid(struct cursor *c, int32_t *pid)
{
	int64_t n = number(c);

	*pid = (int32_t)n;
	return n >= 0 && n <= INT32_MAX;
}

static void parse_values(struct cursor *c, struct event_end *e)
{
	e->user_us = number(c);
	e->system_us = number(c);
	e->max_rss_kb = number(c);
	e->minor_faults = number(c);
	e->major_faults = number(c);
	e->in_blocks = number(c);
	e->out_blocks = number(c);
	e->voluntary_switches = number(c);
	e->involuntary_switches = number(c);
	e->rchar = number(c);
	e->wchar = number(c);
	e->max_rss_at_most_kb = number(c);
	if (e->max_rss_kb >= 0)
		e->max_rss_at_most_kb = -1;
}

static bool parse_process(struct cursor *c, bool killed, struct process_line *l)
{
	int64_t status;

	if (!parse_pid(c, &l->pid) || !parse_pid(c, &l->parent))
		return false;
	l->wall_us = number(c);
	l->exec_us = number(c);
	l->command = (struct slice){ "", 0 };
	cursor_until(c, '\t', &l->command);
	status = number(c);
	if (l->wall_us < 0 || l->wall_us > l->time_us)
		return false;
	l->end.status = status < 0 || status > 255 ? -1 :
		killed ? (int32_t)status & 0x7f : (int32_t)status << 8;
	parse_values(c, &l->end);
	l->delay_us = event_sane_delay(number(c), l->wall_us);
	return true;
}

enum event_parsed process_log_parse(struct slice line, struct process_line *l)
{
	static const char *const words[] = { "done", "fail", "kill", "runs", "lost" };
	struct slice word;
	struct cursor c;
	size_t i = 0;

	cursor_init(&c, line.p, line.len);
	*l = (struct process_line){ .word = PROCESS_ENDED };
	if (!cursor_until(&c, '\t', &word) || !word.len)
		return EVENT_DAMAGED;
	while (i < 5 && !slice_is(word, words[i]))
		i++;
	for (size_t k = 0; i == 5 && k < word.len; k++) {
		if (word.p[k] < 'a' || word.p[k] > 'z')
			return EVENT_DAMAGED;
	}
	l->time_us = number(&c);
	if (l->time_us < 0)
		return EVENT_DAMAGED;
	if (i == 5)
		return EVENT_UNKNOWN;
	if (i == 4) {
		l->word = PROCESS_LOST;
		l->n_lost = number(&c);
		return l->n_lost < 0 ? EVENT_DAMAGED : EVENT_PARSED;
	}
	l->word = i == 3 ? PROCESS_RUNS : PROCESS_ENDED;
	return parse_process(&c, i == 2, l) ? EVENT_PARSED : EVENT_DAMAGED;
}
