/* SPDX-License-Identifier: MIT */
/* What a collector answers, and headers in the environment, of any bytes. */
#include "send/endpoint.h"
#include "send/partial.h"
#include "tests/fuzz.h"

#include <stdlib.h>
#include <string.h>

FUZZ_TARGET(send)
{
	struct buf header = BUF_INIT;
	char text[256] = "";
	struct partial p;
	unsigned at = 0;

	partial_read(&p, (const char *)data, size);
	check(p.rejected >= 0 && strlen(p.message) < sizeof p.message);
	memcpy(text, data, size < sizeof text ? size : sizeof text - 1);
	setenv("OTEL_EXPORTER_OTLP_HEADERS", text, 1);
	while (endpoint_next_header(&header, ENDPOINT_TRACES, &at))
		check(strstr(buf_str(&header), ": ") && !strpbrk(header.data, "\r\n"));
	buf_release(&header);
	return 0;
}
