/* SPDX-License-Identifier: MIT */
#include "sampler/peak.h"

#include "base/cursor.h"
#include "base/file.h"
#include "base/minmax.h"
#include "recording/event.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define STATUS_BYTES 512	/* read at a time: a host's thread may have a small stack */

/* Finds "VmHWM:" and digits byte by byte: the groups of a user may make the file long. */
struct search {
	size_t matched;		/* matched bytes of the word; SIZE_MAX: not in this line */
	int64_t kb;		/* -1: no digit yet */
	bool found;
};

static void search_byte(struct search *s, char c)
{
	static const char word[] = "VmHWM:";
	const size_t len = sizeof word - 1;

	if (s->found)
		return;
	if (c == '\n') {
		s->found = s->kb >= 0;
		s->matched = 0;
	} else if (s->matched < len) {
		s->matched = c == word[s->matched] ? s->matched + 1 : SIZE_MAX;
	} else if (s->matched == len && c >= '0' && c <= '9' && s->kb < INT64_MAX / 20) {
		s->kb = MAX(s->kb, 0) * 10 + (c - '0');
	}
}

/* -1: there is no /proc. */
static int64_t read_peak_kb(void)
{
	struct search s = { .kb = -1 };
	char text[STATUS_BYTES];
	int fd = file_open_at(AT_FDCWD, "/proc/self/status", O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return -1;
	while (!s.found && (n = read(fd, text, sizeof text)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			search_byte(&s, text[i]);
	}
	close(fd);
	return s.found ? s.kb : -1;
}

static void learn(struct peak *p, int64_t kb)
{
	int64_t known_kb = atomic_load_explicit(&p->known_kb, memory_order_relaxed);

	while (known_kb < kb &&
	       !atomic_compare_exchange_weak_explicit(&p->known_kb, &known_kb, kb,
						      memory_order_relaxed, memory_order_relaxed))
		;
}

static bool exceeds(const struct peak *p, int64_t kb)
{
	return kb > atomic_load_explicit(&p->known_kb, memory_order_relaxed) + PEAK_SLACK_KB;
}

bool peak_is_exceeded(struct peak *p, int64_t max_rss_kb)
{
	struct rusage self;
	int saved = errno;
	int64_t kb;

	if (!exceeds(p, max_rss_kb))
		return false;
	/* of this program or its predecessors in this process: an upper bound */
	if (getrusage(RUSAGE_SELF, &self) || max_rss_kb > self.ru_maxrss + PEAK_SLACK_KB)
		return true;
	kb = read_peak_kb();
	learn(p, kb < 0 ? self.ru_maxrss : kb);
	errno = saved;
	return exceeds(p, max_rss_kb);
}

void peak_judge(struct peak *p, struct event_end *e)
{
	if (e->max_rss_kb < 0 || peak_is_exceeded(p, e->max_rss_kb))
		return;
	e->max_rss_at_most_kb = e->max_rss_kb;
	e->max_rss_kb = -1;
}
