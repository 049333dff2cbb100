/* SPDX-License-Identifier: MIT */
#include "trace/otlp_message.h"

#include "base/hex.h"
#include "base/protobuf.h"
#include "base/utf8.h"

#include <assert.h>
#include <string.h>

void otlp_message_init(struct otlp_message *m, struct buf *out, enum otlp_encoding encoding)
{
	*m = (struct otlp_message){ .out = out, .encoding = encoding, .text = BUF_PART_OF(out) };
	json_init(&m->json, out, true);
}

void otlp_message_release(struct otlp_message *m)
{
	buf_release(&m->text);
}

static bool is_json(const struct otlp_message *m)
{
	return m->encoding == OTLP_JSON;
}

void otlp_begin_all(struct otlp_message *m)
{
	if (is_json(m))
		json_object(&m->json, NULL);
}

void otlp_end_all(struct otlp_message *m)
{
	if (is_json(m))
		json_object_end(&m->json);
}

static void begin_message(struct otlp_message *m, unsigned number)
{
	assert(m->depth < sizeof m->begin / sizeof *m->begin);
	m->begin[m->depth++] = protobuf_begin(m->out, number);
}

void otlp_begin(struct otlp_message *m, struct otlp_field f)
{
	if (is_json(m))
		json_object(&m->json, f.name);
	else
		begin_message(m, f.number);
}

void otlp_item(struct otlp_message *m, struct otlp_field f)
{
	if (is_json(m))
		json_object(&m->json, NULL);
	else
		begin_message(m, f.number);
}

void otlp_end(struct otlp_message *m)
{
	if (is_json(m))
		json_object_end(&m->json);
	else
		protobuf_end(m->out, m->begin[--m->depth]);
}

void otlp_list(struct otlp_message *m, struct otlp_field f)
{
	if (is_json(m))
		json_array(&m->json, f.name);
}

void otlp_list_end(struct otlp_message *m)
{
	if (is_json(m))
		json_array_end(&m->json);
}

void otlp_text(struct otlp_message *m, struct otlp_field f, const char *s, size_t len)
{
	if (is_json(m)) {
		json_strn(&m->json, f.name, s, len);
		return;
	}
	s = utf8_repaired(&m->text, s, &len);
	protobuf_bytes(m->out, f.number, s, len);
}

void otlp_str(struct otlp_message *m, struct otlp_field f, const char *s)
{
	otlp_text(m, f, s, strlen(s));
}

void otlp_id(struct otlp_message *m, struct otlp_field f, const char *digits)
{
	unsigned char id[16];
	size_t n = 0;

	if (is_json(m)) {
		json_str(&m->json, f.name, digits);
		return;
	}
	for (; n < sizeof id && digits[2 * n]; n++)
		id[n] = (unsigned char)hex_byte(digits + 2 * n);
	protobuf_bytes(m->out, f.number, id, n);
}

void otlp_enum(struct otlp_message *m, struct otlp_field f, unsigned value)
{
	if (is_json(m))
		json_int(&m->json, f.name, value);
	else
		protobuf_varint(m->out, f.number, value);
}

void otlp_bool(struct otlp_message *m, struct otlp_field f, bool value)
{
	if (is_json(m))
		json_bool(&m->json, f.name, value);
	else
		protobuf_varint(m->out, f.number, value);
}

static void json_text_of(struct json *j, const char *name, int64_t n)
{
	char memory[24];
	struct buf text;

	buf_init_fixed(&text, memory, sizeof memory);
	buf_addi(&text, n);
	json_strn(j, name, memory, text.len);
}

void otlp_fixed64(struct otlp_message *m, struct otlp_field f, int64_t n)
{
	if (is_json(m))
		json_text_of(&m->json, f.name, n);
	else
		protobuf_fixed64(m->out, f.number, (uint64_t)n);
}

void otlp_double(struct otlp_message *m, struct otlp_field f, double n)
{
	if (is_json(m))
		json_shortest(&m->json, f.name, n);
	else
		protobuf_double(m->out, f.number, n);
}

void otlp_fixed64_list(struct otlp_message *m, struct otlp_field f, const uint64_t *n, size_t count)
{
	otlp_list(m, f);
	if (!is_json(m))
		begin_message(m, f.number);
	for (size_t i = 0; i < count; i++) {
		if (is_json(m))
			json_text_of(&m->json, NULL, (int64_t)n[i]);
		else
			protobuf_packed_fixed64(m->out, n[i]);
	}
	if (!is_json(m))
		otlp_end(m);
	otlp_list_end(m);
}

void otlp_double_list(struct otlp_message *m, struct otlp_field f, const double *n, size_t count)
{
	otlp_list(m, f);
	if (!is_json(m))
		begin_message(m, f.number);
	for (size_t i = 0; i < count; i++) {
		if (is_json(m))
			json_shortest(&m->json, NULL, n[i]);
		else
			protobuf_packed_double(m->out, n[i]);
	}
	if (!is_json(m))
		otlp_end(m);
	otlp_list_end(m);
}

/* KeyValue and AnyValue */

static const struct otlp_field key_field = { 1, "key" }, value_field = { 2, "value" };
static const struct otlp_field string_value = { 1, "stringValue" }, int_value = { 3, "intValue" };
static const struct otlp_field bool_value = { 2, "boolValue" };

static void begin_attribute(struct otlp_message *m, struct otlp_field f, const char *key)
{
	otlp_item(m, f);
	if (is_json(m))
		json_str(&m->json, key_field.name, key);
	else
		protobuf_str(m->out, key_field.number, key);
	otlp_begin(m, value_field);
}

static void end_attribute(struct otlp_message *m)
{
	otlp_end(m);
	otlp_end(m);
}

void otlp_attribute(struct otlp_message *m, struct otlp_field f, const char *key,
		    const char *value, size_t len)
{
	begin_attribute(m, f, key);
	otlp_text(m, string_value, value, len);
	end_attribute(m);
}

void otlp_attribute_number(struct otlp_message *m, struct otlp_field f, const char *key,
			   int64_t value)
{
	begin_attribute(m, f, key);
	if (is_json(m))
		json_text_of(&m->json, int_value.name, value);
	else
		protobuf_varint(m->out, int_value.number, (uint64_t)value);
	end_attribute(m);
}

void otlp_attribute_bool(struct otlp_message *m, struct otlp_field f, const char *key,
			 bool value)
{
	begin_attribute(m, f, key);
	otlp_bool(m, bool_value, value);
	end_attribute(m);
}
