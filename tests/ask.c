/* SPDX-License-Identifier: MIT */
/*
 * ask [-a] PATH: the replies of the live view without a server, about the newest recording in PATH. Each
 * line of standard input is a request, "/api/v1/ps?all=1"; the answer is a line "STATUS LENGTH", and the
 * body. -a: with --allow-control.
 */
#include "live/reply.h"
#include "live/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void answer(struct source *s, char *line, bool control)
{
	struct reply reply = { .status = 200, .type = "application/json" };
	struct error err = { .message = "" };
	char *query = strchr(line, '?');

	line[strcspn(line, "\n")] = '\0';
	if (query)
		*query++ = '\0';
	if (source_update(s, &err))
		printf("error %s\n", err.message);
	reply_make(&reply, s, line, query ? query : "", query ? strlen(query) : 0, control);
	printf("%d %zu\n", reply.status, reply.body.len);
	fwrite(reply.body.data, 1, reply.body.len, stdout);
	fflush(stdout);
	buf_release(&reply.body);
}

int main(int argc, char **argv)
{
	bool control = argc > 1 && !strcmp(argv[1], "-a");
	const struct catalogue_entry *first;
	struct catalogue catalogue;
	struct source source;
	struct error err;
	char *line = NULL;
	size_t size = 0;

	if (argc != 2 + control || catalogue_open(&catalogue, argv[1 + control], &err))
		return 2;
	first = catalogue_find(&catalogue, NULL);
	if (source_init(&source, &catalogue, first ? first->id : NULL))
		return 2;
	while (getline(&line, &size, stdin) > 0)
		answer(&source, line, control);
	free(line);
	source_release(&source);
	catalogue_release(&catalogue);
	return 0;
}
