/* SPDX-License-Identifier: MIT */
#include "analyse/profile_view.h"

#include <errno.h>
#include <string.h>

#define KEYS(_) \
	_(PROFILE_NAME, "name", "name", PROFILE_TEXT) \
	_(PROFILE_RULE, "rule", "rule", PROFILE_TEXT) \
	_(PROFILE_KIND, "kind", "kind", PROFILE_TEXT) \
	_(PROFILE_DIR, "dir", "directory", PROFILE_TEXT) \
	_(PROFILE_FILE, "file", "file", PROFILE_TEXT) \
	_(PROFILE_LINE, "line", "line", PROFILE_TEXT) \
	_(PROFILE_BORN, "born", "born in", PROFILE_TEXT) \
	_(PROFILE_DIED, "died", "died in", PROFILE_TEXT) \
	_(PROFILE_HOST, "host", "host", PROFILE_TEXT) \
	_(PROFILE_PID, "pid", "pid", PROFILE_TEXT) \
	_(PROFILE_PHASE, "phase", "phase", PROFILE_TEXT)

#define NUMBERS(_) \
	_(PROFILE_C_COUNT, "count", "count", PROFILE_PLAIN) \
	_(PROFILE_C_LIVING, "living", "living", PROFILE_PLAIN) \
	_(PROFILE_C_RUN, "run", "run", PROFILE_RUN_UNIT) \
	_(PROFILE_C_MEAN, "mean", "mean", PROFILE_RUN_UNIT) \
	_(PROFILE_C_MAX, "max", "max", PROFILE_RUN_UNIT) \
	_(PROFILE_C_P50, "p50", "p50", PROFILE_RUN_UNIT) \
	_(PROFILE_C_P95, "p95", "p95", PROFILE_RUN_UNIT) \
	_(PROFILE_C_SAMPLE, "sample", "sample", PROFILE_RUN_UNIT) \
	_(PROFILE_C_SELF, "self", "self", PROFILE_RUN_UNIT) \
	_(PROFILE_C_QUEUE, "queue", "queue", PROFILE_NS) \
	_(PROFILE_C_QUEUE_MEAN, "queue-mean", "q mean", PROFILE_NS) \
	_(PROFILE_C_QUEUE_MAX, "queue-max", "q max", PROFILE_NS) \
	_(PROFILE_C_QUEUE_P50, "queue-p50", "q p50", PROFILE_NS) \
	_(PROFILE_C_QUEUE_P95, "queue-p95", "q p95", PROFILE_NS) \
	_(PROFILE_C_QUEUE_SAMPLE, "queue-sample", "q sample", PROFILE_NS) \
	_(PROFILE_C_WORKER, "worker", "worker", PROFILE_NS) \
	_(PROFILE_C_POOL, "pool", "pool", PROFILE_NS) \
	_(PROFILE_C_LOAD, "load", "load", PROFILE_NS) \
	_(PROFILE_C_DELAYED, "delayed", "delayed", PROFILE_NS) \
	_(PROFILE_C_OTHER, "other", "other", PROFILE_NS) \
	_(PROFILE_C_ORDER, "order", "order", PROFILE_NS) \
	_(PROFILE_C_AMOUNT, "amount", "amount", PROFILE_AMOUNT_UNIT) \
	_(PROFILE_C_AMOUNT_MAX, "amount-max", "a max", PROFILE_AMOUNT_UNIT)

#define COLUMN(column, word_, title_, unit_) \
	[column] = { .word = word_, .title = title_, .unit = unit_ },
#define WORD(column, word, ...) [column] = word,
#define VALUE_WORD(value, word, ...) [PROFILE_C_VALUE(value)] = word,

const char *const profile_column_word[] = { KEYS(WORD) NUMBERS(WORD) VALUE_COSTS(VALUE_WORD) VALUE_COUNTS(VALUE_WORD) NULL };
const char *const profile_key_word[] = { KEYS(WORD) NULL };

struct profile_column_info profile_column(int c)
{
	static const struct profile_column_info own[PROFILE_C_VALUES] = { KEYS(COLUMN) NUMBERS(COLUMN) };
	static const enum profile_unit unit[] = {
		[UNIT_US] = PROFILE_NS, [UNIT_KB] = PROFILE_BYTES, [UNIT_BYTES] = PROFILE_BYTES,
		[UNIT_COUNT] = PROFILE_PLAIN,
	};
	const struct value_info *v = &value_info[c < PROFILE_C_VALUES ? 0 : VALUE_CPU + c - PROFILE_C_VALUES];

	return c < PROFILE_C_VALUES ? own[c] : (struct profile_column_info){ v->word, v->title, unit[v->unit] };
}

/* -1: there is none. */
static int find_column(struct slice word)
{
	for (int c = 0; c < PROFILE_COLUMNS; c++) {
		if (slice_is(word, profile_column_word[c]))
			return c;
	}
	return -1;
}

static void add_words(struct buf *b, bool keys_only)
{
	int n = keys_only ? PROFILE_KEYS : PROFILE_COLUMNS;

	for (int c = 0; c < n; c++)
		buf_addf(b, "%s%s", c ? ", " : "", profile_column_word[c]);
}

int profile_list_parse(struct profile_list *l, const char *text, bool keys_only,
		       struct error *err)
{
	struct buf words = BUF_INIT;
	int r = 0;

	l->n = 0;
	while (!r) {
		struct slice word = { text, strcspn(text, ",") };
		int c = find_column(word);
		bool again = false;

		for (size_t i = 0; i < l->n; i++)
			again |= l->column[i] == c;
		add_words(&words, keys_only);
		if (c < 0 || (keys_only && c >= PROFILE_KEYS))
			r = error_set(err, -EINVAL, NULL, 0, 0, "no column '%.*s'; expected %s",
				      (int)word.len, word.p, buf_str(&words));
		else if (again)
			r = error_set(err, -EINVAL, NULL, 0, 0, "column '%.*s' is given twice",
				      (int)word.len, word.p);
		else if (l->n == PROFILE_LIST_MAX)
			r = error_set(err, -EINVAL, NULL, 0, 0, "more than %d columns",
				      PROFILE_LIST_MAX);
		else
			l->column[l->n++] = (uint8_t)c;
		buf_clear(&words);
		text += word.len;
		if (!*text++)
			break;
	}
	buf_release(&words);
	return r;
}
