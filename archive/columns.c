/* SPDX-License-Identifier: MIT */
#include "archive/columns.h"

#include "base/cursor.h"

#include <errno.h>
#include <string.h>

#define FIRST_LINE "buildbeat column 1 "
#define MANTISSA_BITS 11
#define MANTISSA (1 << MANTISSA_BITS)
#define CODE_MAX UINT16_MAX

#define COLUMN_MAX 50000000	/* values; more is damaged */

static unsigned encode(int64_t value)
{
	uint64_t v = (uint64_t)value, m;
	unsigned e;

	if (value < 0)
		return 0;
	if (v < MANTISSA)
		return (unsigned)v + 1;
	e = 64 - MANTISSA_BITS - (unsigned)__builtin_clzll(v);
	m = e > 1 ? (v >> (e - 2)) + 1 : v << 1;	/* with one more digit, rounded */
	m >>= 1;
	if (m == 2 * MANTISSA) {
		m = MANTISSA;
		e++;
	}
	m = (uint64_t)e << MANTISSA_BITS | (m & (MANTISSA - 1));
	return m < CODE_MAX ? (unsigned)m + 1 : CODE_MAX;
}

static int64_t decode(unsigned code)
{
	unsigned e = (code - 1) >> MANTISSA_BITS;
	int64_t m = (code - 1) & (MANTISSA - 1);

	if (!code)
		return -1;
	return e ? (MANTISSA + m) << (e - 1) : m;
}

void column_write(struct buf *out, const int64_t *value, size_t n)
{
	char *high, *low;

	buf_adds(out, FIRST_LINE);
	buf_addu(out, n);
	buf_addc(out, '\n');
	if (buf_reserve(out, 2 * n))
		return;
	high = out->data + out->len;
	low = high + n;
	for (size_t i = 0; i < n; i++) {
		unsigned code = encode(value[i]);

		high[i] = (char)(code >> 8);
		low[i] = (char)code;
	}
	out->len += 2 * n;
	out->data[out->len] = '\0';
}

/* The values after the first line, or NULL if it is not a column. */
static const unsigned char *values_of(const void *data, size_t len, size_t *n)
{
	size_t first = strlen(FIRST_LINE);
	struct cursor c;
	uint64_t count;

	if (len < first || memcmp(data, FIRST_LINE, first))
		return NULL;
	cursor_init(&c, (const char *)data + first, len - first);
	if (!cursor_u64(&c, &count) || count > COLUMN_MAX || !cursor_byte(&c, '\n') ||
	    (size_t)(c.end - c.p) != 2 * count)
		return NULL;
	*n = count;
	return (const unsigned char *)c.p;
}

int column_count(const void *data, size_t len, size_t *n)
{
	return values_of(data, len, n) ? 0 : -EINVAL;
}

int column_read(const void *data, size_t len, int64_t *value, size_t n)
{
	size_t count;
	const unsigned char *high = values_of(data, len, &count);

	if (!high)
		return -EINVAL;
	for (size_t i = 0; i < n && i < count; i++)
		value[i] = decode((unsigned)high[i] << 8 | high[count + i]);
	return 0;
}
