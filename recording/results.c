/* SPDX-License-Identifier: MIT */
#include "recording/results.h"

#include "base/field.h"
#include "recording/event.h"

#include <string.h>

#define PATH_FIELD_MAX 2000

const char *const results_cache_word[TASK_CACHES] = {
	[CACHE_UNKNOWN] = "",
	[CACHE_DIRECT] = "direct",
	[CACHE_PREPROCESSED] = "preprocessed",
	[CACHE_HIT] = "hit",
	[CACHE_MISS] = "miss",
	[CACHE_UNCACHEABLE] = "uncacheable",
};

const char *results_cache_title(enum task_cache cache)
{
	static const char *const title[TASK_CACHES] = {
		[CACHE_UNKNOWN] = "",
		[CACHE_DIRECT] = "hit (direct)",
		[CACHE_PREPROCESSED] = "hit (preprocessed)",
		[CACHE_HIT] = "hit",
		[CACHE_MISS] = "miss",
		[CACHE_UNCACHEABLE] = "uncacheable",
	};

	return title[cache];
}

static void begin_line(struct buf *b, const char *word, const char *inst, uint64_t seq)
{
	buf_adds(b, word);
	buf_addc(b, '\t');
	buf_adds(b, inst);
	buf_addc(b, '.');
	buf_addu(b, seq);
}

size_t results_add_files(struct buf *b, const char *inst, uint64_t seq,
			 const struct recording_file *file, size_t n)
{
	size_t start = b->len, done = 0;

	begin_line(b, "files", inst, seq);
	while (done < n && (!done || b->len - start < EVENT_MAX - PATH_FIELD_MAX - 32)) {
		buf_addc(b, '\t');
		buf_addi(b, file[done].bytes);
		buf_addc(b, '\t');
		field_add(b, file[done].path, strlen(file[done].path), PATH_FIELD_MAX);
		done++;
	}
	buf_addc(b, '\n');
	return done;
}

void results_add_cache(struct buf *b, const char *inst, uint64_t seq, enum task_cache cache)
{
	begin_line(b, "cache", inst, seq);
	buf_addc(b, '\t');
	buf_adds(b, results_cache_word[cache]);
	buf_addc(b, '\n');
}
