/* SPDX-License-Identifier: MIT */
#include "convert/json_reader.h"

#include "base/cursor.h"

#include <stdlib.h>
#include <string.h>

const struct json_value *json_member(const struct json_value *value, const char *name)
{
	if (!value || value->type != JSON_OBJECT)
		return NULL;
	for (const struct json_value *v = value->first; v; v = v->next)
		if (!strcmp(v->name, name))
			return v;
	return NULL;
}

const char *json_text(const struct json_value *value)
{
	return value && value->type == JSON_TEXT ? value->text : "";
}

const char *json_member_text(const struct json_value *value, const char *name)
{
	return json_text(json_member(value, name));
}

/* digits times 10^power. */
struct decimal {
	uint64_t digits;
	int power;
	bool full;		/* further digits do not fit */
	bool up;		/* the first of these was 5 or more */
};

static void add_digit(struct decimal *d, char c, bool fraction)
{
	unsigned digit = (unsigned)(c - '0');
	bool first = !d->full;

	d->full |= d->digits > (UINT64_MAX - digit) / 10;
	if (!d->full) {
		d->digits = d->digits * 10 + digit;
		d->power -= fraction;
	} else {
		d->up = first ? digit >= 5 : d->up;
		d->power += !fraction;
	}
}

static bool parse_decimal(struct cursor *c, struct decimal *d)
{
	const char *begun = c->p;
	bool fraction = false;

	for (; c->p < c->end; c->p++) {
		if (*c->p == '.' && !fraction)
			fraction = true;
		else if (*c->p >= '0' && *c->p <= '9')
			add_digit(d, *c->p, fraction);
		else
			break;
	}
	return c->p > begun + fraction;
}

static bool parse_exponent(struct cursor *c, struct decimal *d)
{
	int64_t exponent;

	if (cursor_at_end(c))
		return true;
	if (!cursor_byte(c, 'e') && !cursor_byte(c, 'E'))
		return false;
	cursor_byte(c, '+');
	if (!cursor_i64(c, &exponent) || !cursor_at_end(c) || exponent > 1000 || exponent < -1000)
		return false;
	d->power += (int)exponent;
	return true;
}

/* digits times 10^power, rounded. False: does not fit. */
static bool scale_decimal(struct decimal *d)
{
	bool up = d->up && !d->power;

	for (; d->power < 0 && d->digits; d->power++) {
		up = d->digits % 10 >= 5;
		d->digits /= 10;
	}
	for (; d->power > 0 && d->digits; d->power--)
		if (__builtin_mul_overflow(d->digits, 10, &d->digits))
			return false;
	if (d->power < 0)
		up = false;
	d->digits += up;
	return d->digits <= INT64_MAX;
}

bool json_number(const struct json_value *value, int decimals, int64_t *number)
{
	struct decimal d = { .power = decimals };
	struct cursor c;
	bool negative;

	if (!value || (value->type != JSON_NUMBER && value->type != JSON_TEXT))
		return false;
	cursor_init(&c, value->text, value->len);
	negative = cursor_byte(&c, '-');
	if (!parse_decimal(&c, &d) || !parse_exponent(&c, &d) || !scale_decimal(&d))
		return false;
	*number = negative ? -(int64_t)d.digits : (int64_t)d.digits;
	return true;
}

int64_t json_member_number(const struct json_value *value, const char *name, int decimals,
			   int64_t missing)
{
	int64_t number;

	return json_number(json_member(value, name), decimals, &number) ? number : missing;
}

bool json_double(const struct json_value *value, double *number)
{
	if (!value || value->type != JSON_NUMBER)
		return false;
	*number = strtod(value->text, NULL);
	return true;
}
