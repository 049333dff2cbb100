/* SPDX-License-Identifier: MIT */
#include "recording/output_log.h"
#include "tests/fuzz.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PLACES 64

/* The index up to a line "%", then the output: each of its bytes is in one line, and reading continues at a
 * place as it did there. */

struct known {
	struct output_place place;
	uint64_t offset;	/* of the line there */
	size_t len;
};

static void go_back(struct output *o, const struct known *known, size_t n)
{
	struct output_line line;

	while (n--) {
		output_go(o, &known[n].place);
		check(output_next(o, &line, true) == 1);
		check(line.number == known[n].place.line && line.offset == known[n].offset);
		check(line.begins && line.text.len == known[n].len);
	}
}

FUZZ_TARGET(output)
{
	char dir[] = "/tmp/fuzz-output-XXXXXX", log[64], index[64];
	const uint8_t *mark = memmem(data, size, "\n%\n", 3);
	size_t n_index = mark ? (size_t)(mark - data) + 1 : size, n_log, bytes = 0;
	struct output_line line;
	struct error err;
	struct output *o;
	struct output_place place;
	struct known known[PLACES];
	size_t n_known = 0;
	uint64_t number = 0;
	bool is_place;
	int r;

	n_log = mark ? size - n_index - 2 : 0;
	check(mkdtemp(dir));
	snprintf(log, sizeof log, "%s/" OUTPUT_LOG, dir);
	snprintf(index, sizeof index, "%s/" OUTPUT_INDEX, dir);
	fuzz_write(log, mark ? mark + 3 : data, n_log);
	fuzz_write(index, data, n_index);
	check(!output_open(&o, dir, NULL, &err));
	is_place = output_place(o, &place);
	while ((r = output_next(o, &line, true)) > 0) {
		if (is_place && line.begins && line.number == place.line && n_known < PLACES)
			known[n_known++] = (struct known){ place, line.offset, line.text.len };
		is_place = output_place(o, &place);
		bytes += line.text.len + line.newline;
		check(line.number <= number && line.text.len <= 2 * OUTPUT_PART_MAX);
		number += line.begins;
	}
	check(r < 0 || bytes == n_log);
	if (!r)
		go_back(o, known, n_known);
	output_close(o);
	unlink(log);
	unlink(index);
	rmdir(dir);
	return 0;
}
