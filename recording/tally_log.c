/* SPDX-License-Identifier: MIT */
#include "recording/tally_log.h"

#include "base/field.h"
#include "command/redact.h"

#include <string.h>

static void add_number(struct buf *b, uint64_t n)
{
	buf_addc(b, '\t');
	if (n)
		buf_addu(b, n);
}

static void add_text(struct buf *b, const char *text)
{
	buf_addc(b, '\t');
	redact_field(b, text, strlen(text), TALLY_TEXT_MAX);
}

static void end_line(struct buf *b)
{
	while (b->len && b->data[b->len - 1] == '\t')
		b->len--;
	buf_addc(b, '\n');
}

__attribute__((cold))
void tally_log_at(struct buf *b, int64_t time_us, const char *inst, uint64_t n_lost)
{
	buf_adds(b, "at\t");
	buf_addi(b, time_us);
	buf_addc(b, '\t');
	buf_adds(b, inst);
	add_number(b, n_lost);
	end_line(b);
}

__attribute__((cold))
void tally_log_host(struct buf *b, const struct tally_head *head, int fd, uint64_t inode,
		    bool is_kept)
{
	buf_adds(b, "host\t");
	buf_addi(b, head->pid);
	buf_addc(b, '\t');
	buf_addi(b, fd);
	add_number(b, inode);
	add_text(b, head->clock);
	add_text(b, head->unit);
	add_text(b, head->amount);
	add_text(b, head->amount_unit);
	add_text(b, is_kept ? "" : TALLY_LOG_MEMORY);
	end_line(b);
}

__attribute__((cold))
void tally_log_location(struct buf *b, const struct tally_place *place, const char *texts)
{
	buf_adds(b, "location");
	add_number(b, place->number);
	buf_addc(b, '\t');
	if (place->line)
		buf_addi(b, place->line);
	add_text(b, texts);
	add_text(b, texts + place->function_len);
	end_line(b);
}

__attribute__((cold)) void tally_log_thread(struct buf *b, uint32_t number, const char *name)
{
	buf_adds(b, "thread");
	add_number(b, number);
	add_text(b, name);
	end_line(b);
}

/* "FIRST:N,N,...": counts from the first bucket that has one, an empty one is 0. Bucket i has the
 * values of i bits, bucket 0 the zeros. */
static void add_histogram(struct buf *b, const _Atomic uint32_t *count, unsigned shift)
{
	unsigned from = 0, to = TALLY_SMALL_BUCKETS;

	buf_addc(b, '\t');
	while (count && from < to && !TALLY_GET(count[from]))
		from++;
	while (count && to > from && !TALLY_GET(count[to - 1]))
		to--;
	if (!count || from == to)
		return;
	buf_addu(b, from + shift);
	for (unsigned i = from; i < to; i++) {
		uint32_t n = TALLY_GET(count[i]);

		buf_addc(b, i == from ? ':' : ',');
		if (n)
			buf_addu(b, n);
	}
}

__attribute__((cold))
void tally_log_row(struct buf *b, const struct tally_level *l, unsigned shift)
{
	buf_adds(b, "row");
	add_number(b, l->location);
	add_number(b, l->birth);
	add_number(b, l->death);
	add_number(b, l->count);
	add_number(b, l->balance);
	add_number(b, l->run_total);
	add_number(b, l->self_total);
	add_number(b, l->run_max);
	add_number(b, l->run_sample);
	add_number(b, l->queue_total);
	add_number(b, l->queue_max);
	add_number(b, l->queue_sample);
	add_number(b, l->amount_total);
	add_number(b, l->amount_max);
	add_histogram(b, l->run, shift);
	add_histogram(b, l->queue, TALLY_TIME_SHIFT);
	end_line(b);
}

__attribute__((cold)) void tally_log_link(struct buf *b, uint32_t parent, uint32_t child)
{
	buf_adds(b, "link");
	add_number(b, parent);
	add_number(b, child);
	end_line(b);
}

__attribute__((cold)) void tally_log_phase(struct buf *b, const char *name)
{
	buf_adds(b, "phase");
	add_text(b, name);
	end_line(b);
}

__attribute__((cold)) void tally_log_close(struct buf *b)
{
	buf_adds(b, "close\n");
}

__attribute__((cold)) void tally_log_reset(struct buf *b)
{
	buf_adds(b, "reset\n");
}
