/* SPDX-License-Identifier: MIT */
#include "recording/output_log.h"
#include "tests/fuzz.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The index up to a line "%", then the output: each of its bytes is in one line. */

FUZZ_TARGET(output)
{
	char dir[] = "/tmp/fuzz-output-XXXXXX", log[64], index[64];
	const uint8_t *mark = memmem(data, size, "\n%\n", 3);
	size_t n_index = mark ? (size_t)(mark - data) + 1 : size, n_log, bytes = 0;
	struct output_line line;
	struct error err;
	struct output *o;
	uint64_t number = 0;
	int r;

	n_log = mark ? size - n_index - 2 : 0;
	check(mkdtemp(dir));
	snprintf(log, sizeof log, "%s/" OUTPUT_LOG, dir);
	snprintf(index, sizeof index, "%s/" OUTPUT_INDEX, dir);
	fuzz_write(log, mark ? mark + 3 : data, n_log);
	fuzz_write(index, data, n_index);
	check(!output_open(&o, dir, NULL, &err));
	while ((r = output_next(o, &line, true)) > 0) {
		bytes += line.text.len + line.newline;
		check(line.number <= number && line.text.len <= 2 * OUTPUT_PART_MAX);
		number += line.begins;
	}
	check(r < 0 || bytes == n_log);
	output_close(o);
	unlink(log);
	unlink(index);
	rmdir(dir);
	return 0;
}
