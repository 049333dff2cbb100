/* SPDX-License-Identifier: MIT */
#include "heap/unwind_rule.h"

#include "base/search.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * The tables for exceptions: .eh_frame_hdr has the functions by address, each with its FDE in
 * .eh_frame, a program that says what the frame looks like at each instruction. See the LSB, "DWARF
 * Extensions", and DWARF 5, 6.4.
 */

#define REMEMBER_MAX 8
#define VALUES_MAX 16		/* of an expression */

#define END_RULE unwind_rule(UNWIND_END, 0, 0, 0)

/* Bytes of the tables. A read beyond their end gives 0 and bad. */
struct bytes {
	const unsigned char *p, *end;
	bool bad;
};

static const unsigned char *take_bytes(struct bytes *b, uint64_t n)
{
	static const unsigned char zeros[8];
	const unsigned char *p = b->p;

	if (b->bad || n > (uint64_t)(b->end - b->p)) {
		b->bad = true;
		return zeros;
	}
	b->p += n;
	return p;
}

static uint8_t take8(struct bytes *b)
{
	return *take_bytes(b, 1);
}

static uint16_t take16(struct bytes *b)
{
	uint16_t n;

	memcpy(&n, take_bytes(b, sizeof n), sizeof n);
	return n;
}

static uint32_t take32(struct bytes *b)
{
	uint32_t n;

	memcpy(&n, take_bytes(b, sizeof n), sizeof n);
	return n;
}

static uint64_t take64(struct bytes *b)
{
	uint64_t n;

	memcpy(&n, take_bytes(b, sizeof n), sizeof n);
	return n;
}

/* A number of 7 bits a byte, with a sign or without. */
static uint64_t take_leb(struct bytes *b, bool has_sign)
{
	uint64_t n = 0;
	unsigned shift = 0;
	uint8_t c;

	do {
		c = take8(b);
		if (shift < 64)
			n |= (uint64_t)(c & 0x7f) << shift;
		shift += 7;
	} while (c & 0x80);
	if (has_sign && c & 0x40 && shift < 64)
		n |= ~UINT64_C(0) << shift;
	return n;
}

static uint64_t take_uleb(struct bytes *b)
{
	return take_leb(b, false);
}

static int64_t take_sleb(struct bytes *b)
{
	return (int64_t)take_leb(b, true);
}

static struct bytes bytes_of(uint64_t len, struct bytes *from)
{
	const unsigned char *p = take_bytes(from, len);

	return from->bad ? (struct bytes){ p, p, true } : (struct bytes){ p, p + len, false };
}

/* The bytes of a module from an address on. */
static struct bytes bytes_at(const struct unwind_table *t, uintptr_t at)
{
	bool bad = at < t->start || at >= t->end;

	return (struct bytes){ (const unsigned char *)(bad ? t->start : at),
			       (const unsigned char *)t->end, bad };
}

/* The encodings of addresses. */
#define PCREL 0x10
#define OMIT 0xff

static uint64_t take_encoded(struct bytes *b, uint8_t encoding)
{
	uint64_t at = (uintptr_t)b->p, n = 0;

	switch (encoding & 0x0f) {
	case 0x00: case 0x04: case 0x0c: n = take64(b); break;
	case 0x01: n = take_uleb(b); break;
	case 0x02: n = take16(b); break;
	case 0x03: n = take32(b); break;
	case 0x09: n = (uint64_t)take_sleb(b); break;
	case 0x0a: n = (uint64_t)(int16_t)take16(b); break;
	case 0x0b: n = (uint64_t)(int32_t)take32(b); break;
	default: b->bad = true;
	}
	if ((encoding & 0x70) == PCREL)
		n += at;
	else if (encoding & 0xf0)
		b->bad = true;
	return n;
}

/* A function's program and what it needs of its CIE. */
struct fde {
	uintptr_t start, end;
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_column;
	uint8_t encoding;
	bool augmented, signal;
	struct bytes common, own;	/* programs */
};

/* The contents after the length of a CIE or FDE. */
static struct bytes entry(struct bytes *b)
{
	uint64_t len = take32(b);

	if (len == UINT32_MAX)
		len = take64(b);
	return bytes_of(len, b);
}

/* 'P' has a pointer of any encoding: only its size matters, as nothing is read through it. */
static void read_augmentation(struct fde *f, const char *letters, struct bytes *b)
{
	for (; *letters && !b->bad; letters++) {
		uint8_t encoding;

		if (*letters == 'R') {
			f->encoding = take8(b);
		} else if (*letters == 'L') {
			take8(b);
		} else if (*letters == 'P') {
			encoding = take8(b);
			take_encoded(b, encoding & 0x0f);
		} else if (*letters == 'S') {
			f->signal = true;
		}
	}
}

static bool read_cie(struct fde *f, struct bytes b)
{
	struct bytes c = entry(&b);
	uint32_t id = take32(&c);
	uint8_t version = take8(&c);
	const char *letters = (const char *)c.p;

	while (take8(&c) && !c.bad)
		;
	if (c.bad || id || (version != 1 && version != 3))
		return false;
	f->code_align = take_uleb(&c);
	f->data_align = take_sleb(&c);
	f->return_column = version == 1 ? take8(&c) : take_uleb(&c);
	f->augmented = letters[0] == 'z';
	if (f->augmented) {
		struct bytes augmentation = bytes_of(take_uleb(&c), &c);

		read_augmentation(f, letters + 1, &augmentation);
		if (augmentation.bad)
			return false;
	} else if (letters[0]) {
		return false;
	}
	f->common = c;
	return !c.bad;
}

static bool read_fde(struct fde *f, const struct unwind_table *t, uintptr_t at)
{
	struct bytes b = bytes_at(t, at), e = entry(&b);
	uintptr_t id_at = (uintptr_t)e.p;
	uint32_t distance = take32(&e);

	*f = (struct fde){ 0 };
	if (e.bad || !distance || !read_cie(f, bytes_at(t, id_at - distance)))
		return false;
	f->start = take_encoded(&e, f->encoding);
	f->end = f->start + take_encoded(&e, f->encoding & 0x0f);
	if (f->augmented)
		take_bytes(&e, take_uleb(&e));
	f->own = e;
	return !e.bad;
}

#define ROW_SIZE 8		/* of the table: start and FDE, relative to the header */
#define TABLE_ENCODING 0x3b

static bool read_header(const struct unwind_table *t, struct bytes *rows, uint64_t *n)
{
	struct bytes b = bytes_at(t, t->header);
	uint8_t version = take8(&b), frames = take8(&b), count = take8(&b), table = take8(&b);

	if (version != 1 || table != TABLE_ENCODING || count == OMIT || frames == OMIT)
		return false;
	take_encoded(&b, frames);
	*n = take_encoded(&b, count);
	if (b.bad || *n > (uint64_t)(b.end - b.p) / ROW_SIZE)
		return false;
	*rows = b;
	return true;
}

static int64_t row_value(const unsigned char *row)
{
	int32_t n;

	memcpy(&n, row, sizeof n);
	return n;
}

/* False: no function there has an FDE. */
static bool find_fde(struct fde *f, const struct unwind_table *t, struct bytes rows, uint64_t n,
		     uintptr_t address)
{
	int64_t wanted = (int64_t)(address - t->header);
	struct search_range s = search_all(n);

	while (search_next(&s))
		search_past(&s, row_value(rows.p + s.at * ROW_SIZE) <= wanted);
	return s.at &&
	       read_fde(f, t, t->header + (uintptr_t)row_value(rows.p + s.at * ROW_SIZE - 4)) &&
	       address >= f->start && address < f->end;
}

#if UNWIND_HAS_TABLES

/* Expressions, as far as they occur: a register plus a number, perhaps the word there */

enum base { NUMBER, FROM_SP, FROM_FP };

struct value {
	enum base base;
	bool word;		/* the word at that address */
	int64_t n;
};

struct values {
	struct value value[VALUES_MAX];
	size_t n;
	bool bad;
};

static void push(struct values *v, enum base base, int64_t n)
{
	if (v->n == VALUES_MAX)
		v->bad = true;
	else
		v->value[v->n++] = (struct value){ base, false, n };
}

static struct value pop(struct values *v)
{
	if (v->n)
		return v->value[--v->n];
	v->bad = true;
	return (struct value){ NUMBER, false, 0 };
}

static void add_values(struct values *v, struct value a, struct value b)
{
	if (a.word || b.word || (a.base != NUMBER && b.base != NUMBER))
		v->bad = true;
	push(v, a.base != NUMBER ? a.base : b.base, (int64_t)((uint64_t)a.n + (uint64_t)b.n));
}

static int64_t calculate(uint8_t op, int64_t a, int64_t b)
{
	switch (op) {
	case 0x1a: return a & b;
	case 0x21: return a | b;
	case 0x24: return b >= 0 && b < 64 ? (int64_t)((uint64_t)a << b) : 0;
	case 0x25: return b >= 0 && b < 64 ? (int64_t)((uint64_t)a >> b) : 0;
	case 0x29: return a == b;
	case 0x2a: return a >= b;
	case 0x2b: return a > b;
	case 0x2c: return a <= b;
	case 0x2d: return a < b;
	default: return a != b;
	}
}

static bool is_calculation(uint8_t op)
{
	return op == 0x1a || op == 0x21 || op == 0x24 || op == 0x25 || (op >= 0x29 && op <= 0x2e);
}

static void execute(struct values *v, struct bytes *b, uintptr_t address)
{
	uint8_t op = take8(b);

	if (op >= 0x30 && op <= 0x4f) {		/* lit */
		push(v, NUMBER, op - 0x30);
	} else if (op == 0x70 + UNWIND_STACK_POINTER) {	/* breg */
		push(v, FROM_SP, take_sleb(b));
	} else if (op == 0x70 + UNWIND_FRAME_POINTER) {
		push(v, FROM_FP, take_sleb(b));
	} else if (op == 0x70 + UNWIND_PC) {	/* known */
		push(v, NUMBER, (int64_t)((uint64_t)address + (uint64_t)take_sleb(b)));
	} else if (op == 0x08) {		/* const1u */
		push(v, NUMBER, take8(b));
	} else if (op == 0x09) {
		push(v, NUMBER, (int8_t)take8(b));
	} else if (op == 0x23) {		/* plus_uconst */
		add_values(v, pop(v), (struct value){ NUMBER, false, (int64_t)take_uleb(b) });
	} else if (op == 0x22) {		/* plus */
		struct value second = pop(v);

		add_values(v, pop(v), second);
	} else if (op == 0x06) {		/* deref */
		struct value at = pop(v);

		v->bad |= at.word || at.base == NUMBER;
		push(v, at.base, at.n);
		v->value[v->n - 1].word = true;
	} else if (is_calculation(op)) {
		struct value second = pop(v), first = pop(v);

		v->bad |= first.base != NUMBER || second.base != NUMBER;
		push(v, NUMBER, calculate(op, first.n, second.n));
	} else {
		v->bad = true;
	}
}

/* address: of the instruction, which is what the return address column has meanwhile. */
static bool evaluate(struct value *out, struct bytes expression, uintptr_t address)
{
	struct values v = { .n = 0 };

	while (expression.p < expression.end && !expression.bad && !v.bad)
		execute(&v, &expression, address);
	*out = pop(&v);
	return !v.bad && !expression.bad;
}

/* Programs */

enum place { SAME, AT_CFA, AT_EXPRESSION, NOWHERE };

struct saved {
	enum place place;
	int64_t offset;		/* AT_CFA */
	struct bytes expression;
};

struct row {
	bool expressed;		/* the CFA is an expression */
	uint64_t reg;
	int64_t offset;
	struct bytes expression;
	struct saved fp, ret;
};

struct program {
	struct row row, first;	/* first: as the CIE says */
	struct row remembered[REMEMBER_MAX];
	size_t n_remembered;
	uintptr_t at;		/* the row begins at this address */
	bool bad;
};

static void save(struct program *p, const struct fde *f, uint64_t reg, struct saved saved)
{
	if (reg == UNWIND_FRAME_POINTER)
		p->row.fp = saved;
	else if (reg == f->return_column)
		p->row.ret = saved;
}

static int64_t factored(int64_t n, const struct fde *f)
{
	return (int64_t)((uint64_t)n * (uint64_t)f->data_align);
}

static void save_at(struct program *p, const struct fde *f, uint64_t reg, int64_t n)
{
	save(p, f, reg, (struct saved){ .place = AT_CFA, .offset = factored(n, f) });
}

static void save_nowhere(struct program *p, const struct fde *f, uint64_t reg)
{
	save(p, f, reg, (struct saved){ .place = NOWHERE });
}

static void restore(struct program *p, const struct fde *f, uint64_t reg)
{
	save(p, f, reg, reg == UNWIND_FRAME_POINTER ? p->first.fp : p->first.ret);
}

static void define(struct program *p, uint64_t reg, int64_t offset)
{
	p->row.expressed = false;
	p->row.reg = reg;
	p->row.offset = offset;
}

static void remember_state(struct program *p)
{
	if (p->n_remembered == REMEMBER_MAX)
		p->bad = true;
	else
		p->remembered[p->n_remembered++] = p->row;
}

static void recall(struct program *p)
{
	if (!p->n_remembered)
		p->bad = true;
	else
		p->row = p->remembered[--p->n_remembered];
}

/* Those about the CFA. False: it is none of them. */
static bool run_define(struct program *p, const struct fde *f, struct bytes *b, uint8_t op)
{
	uint64_t reg;

	switch (op) {
	case 0x0c:	/* def_cfa */
		reg = take_uleb(b);
		define(p, reg, (int64_t)take_uleb(b));
		return true;
	case 0x12:	/* def_cfa_sf */
		reg = take_uleb(b);
		define(p, reg, factored(take_sleb(b), f));
		return true;
	case 0x0d: p->row.reg = take_uleb(b); return true;
	case 0x0e: p->row.offset = (int64_t)take_uleb(b); return true;
	case 0x13: p->row.offset = factored(take_sleb(b), f); return true;
	case 0x0f:	/* def_cfa_expression */
		p->row.expressed = true;
		p->row.expression = bytes_of(take_uleb(b), b);
		return true;
	default: return false;
	}
}

/* Those about other registers. */
static void run_save(struct program *p, const struct fde *f, struct bytes *b, uint8_t op)
{
	uint64_t reg = take_uleb(b);

	switch (op) {
	case 0x05: save_at(p, f, reg, (int64_t)take_uleb(b)); break;
	case 0x11: save_at(p, f, reg, take_sleb(b)); break;
	case 0x2f: save_at(p, f, reg, -(int64_t)take_uleb(b)); break;
	case 0x06: restore(p, f, reg); break;
	case 0x07: save_nowhere(p, f, reg); break;
	case 0x08: save(p, f, reg, (struct saved){ .place = SAME }); break;
	case 0x09: case 0x14: case 0x15:	/* register, val_offset, val_offset_sf */
		take_uleb(b);
		save_nowhere(p, f, reg);
		break;
	case 0x10:	/* expression */
		save(p, f, reg, (struct saved){
			.place = AT_EXPRESSION, .expression = bytes_of(take_uleb(b), b) });
		break;
	case 0x16:	/* val_expression */
		bytes_of(take_uleb(b), b);
		save_nowhere(p, f, reg);
		break;
	default:
		p->bad = true;
	}
}

static void run_extended(struct program *p, const struct fde *f, struct bytes *b, uint8_t op)
{
	switch (op) {
	case 0x00: break;
	case 0x01: p->at = take_encoded(b, f->encoding); break;
	case 0x02: p->at += take8(b) * f->code_align; break;
	case 0x03: p->at += take16(b) * f->code_align; break;
	case 0x04: p->at += take32(b) * f->code_align; break;
	case 0x0a: remember_state(p); break;
	case 0x0b: recall(p); break;
	case 0x2e: take_uleb(b); break;		/* GNU_args_size */
#if UNWIND_HAS_LINK
	case 0x2c: case 0x2d: break;		/* the return address has a signature, or has none */
#endif
	default:
		if (!run_define(p, f, b, op))
			run_save(p, f, b, op);
	}
}

/* Until the row that has the address. */
static void run_program(struct program *p, const struct fde *f, struct bytes b, uintptr_t address)
{
	while (b.p < b.end && !b.bad && !p->bad) {
		struct row before = p->row;
		uint8_t op = take8(&b), low = op & 0x3f;

		switch (op >> 6) {
		case 1: p->at += low * f->code_align; break;
		case 2: save_at(p, f, low, (int64_t)take_uleb(&b)); break;
		case 3: restore(p, f, low); break;
		default: run_extended(p, f, &b, op);
		}
		if (p->at > address) {
			p->row = before;
			return;
		}
	}
	p->bad |= b.bad;
}

/* Rows as rules */

static bool fits_rule(int64_t n)
{
	return n % UNWIND_WORD == 0 && n > UNWIND_LOST && n < -UNWIND_LOST;
}

static uint64_t rule(enum unwind_kind kind, int64_t a, int64_t b, int64_t c)
{
	return fits_rule(a) && (fits_rule(b) || b == UNWIND_LOST) && fits_rule(c) ?
	       unwind_rule(kind, a, b, c) : END_RULE;
}

/* A place that is the CFA itself cannot be said, nor does it occur. */
static int64_t saved_offset(const struct saved *s)
{
	if (s->place == SAME)
		return UNWIND_KEPT;
	return s->place == AT_CFA && s->offset ? s->offset : UNWIND_LOST;
}

/* The CFA is the stack pointer or the frame pointer plus a number. */
static uint64_t plain_rule(const struct row *r, enum unwind_kind kind, int64_t offset)
{
	int64_t ret = saved_offset(&r->ret);

	if (UNWIND_HAS_LINK ? ret == UNWIND_LOST : ret != -UNWIND_WORD)
		return END_RULE;
	return rule(kind, offset, saved_offset(&r->fp), ret);
}

static uint64_t expressed_rule(const struct row *r, uintptr_t address)
{
	struct value cfa, fp, ret;
	bool has_fp;

	if (!evaluate(&cfa, r->expression, address) || cfa.base == NUMBER)
		return END_RULE;
	if (!cfa.word)
		return plain_rule(r, cfa.base == FROM_SP ? UNWIND_SP : UNWIND_FP, cfa.n);
	has_fp = r->fp.place == AT_EXPRESSION && evaluate(&fp, r->fp.expression, address) &&
		 !fp.word && fp.base == cfa.base;
	if (UNWIND_HAS_LINK || !has_fp)
		return END_RULE;
	if (cfa.base == FROM_FP && r->ret.place == AT_CFA && r->ret.offset == -UNWIND_WORD)
		return rule(UNWIND_REALIGNED, cfa.n, fp.n, -UNWIND_WORD);
	if (cfa.base == FROM_SP && r->ret.place == AT_EXPRESSION &&
	    evaluate(&ret, r->ret.expression, address) && !ret.word && ret.base == FROM_SP &&
	    ret.n == cfa.n + UNWIND_WORD)
		return rule(UNWIND_SIGNAL, cfa.n, fp.n, -UNWIND_WORD);
	return END_RULE;
}

static uint64_t row_rule(const struct row *r, uintptr_t address)
{
	if (r->expressed)
		return expressed_rule(r, address);
	if (r->reg == UNWIND_STACK_POINTER)
		return plain_rule(r, UNWIND_SP, r->offset);
	if (r->reg == UNWIND_FRAME_POINTER)
		return plain_rule(r, UNWIND_FP, r->offset);
	return END_RULE;
}

static uint64_t fde_rule(const struct fde *f, uintptr_t address)
{
	struct program p = { .at = f->start };

	if (UNWIND_HAS_LINK && f->signal)	/* it says nothing about the link register */
		return END_RULE;
	run_program(&p, f, f->common, address);
	p.first = p.row;
	run_program(&p, f, f->own, address);
	return p.bad ? END_RULE : row_rule(&p.row, address);
}
#else
/* The frame pointer is kept by the ABI. */
static uint64_t fde_rule(const struct fde *f, uintptr_t address)
{
	(void)f;
	(void)address;
	return unwind_rule(UNWIND_CHAIN, 0, 0, 0);
}
#endif

uint64_t unwind_rule_find(const struct unwind_table *t, uintptr_t address)
{
	struct bytes rows;
	struct fde f;
	uint64_t n;

	if (!t->header || !read_header(t, &rows, &n))
		return unwind_rule(UNWIND_CHAIN, 0, 0, 0);
	return find_fde(&f, t, rows, n, address) ? fde_rule(&f, address) : END_RULE;
}
