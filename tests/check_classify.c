/* SPDX-License-Identifier: MIT */
#include "base/array.h"
#include "cli/class_rules.h"
#include "inspect/call_names.h"
#include "inspect/memory_parts.h"
#include "inspect/shipped_rules.h"
#include "tests/made_inspection.h"
#include "tests/recorded.h"
#include "tests/support.h"

/* Rules in YAML, and the classes that they make of generated inspections. */

static void read_text(struct class_rules_read *c, const char *text)
{
	struct error err = { 0 };

	ck_assert_msg(!class_rules_parse(c, text, strlen(text), "r.yaml", &err), "%u: %s",
		      err.line, err.message);
}

static void classify(struct classes *out, enum classify_kind kind,
		     const struct class_rule_file *file, const struct made_inspection *m)
{
	struct error err = { 0 };
	struct classifier *c;

	ck_assert_msg(!classifier_new(&c, kind, file, &m->inspection, &err), "%s", err.message);
	for (size_t i = 0; i < m->n; i++)
		ck_assert_int_eq(classifier_add(c, &m->snapshot[i]), 0);
	ck_assert_int_eq(classifier_done(c, out), 0);
	classifier_free(c);
}

/* Values of a class and of its children. */
static void check_sums(const struct classes *c)
{
	for (size_t i = 0; i < c->n; i++) {
		for (size_t s = 0; s < c->n_snapshots; s++) {
			for (unsigned v = 0; v < c->n_values; v++) {
				int64_t sum = 0;
				size_t children = 0;

				for (size_t k = i + 1; k < c->n && c->item[k].depth > c->item[i].depth; k++) {
					if (c->item[k].parent != i)
						continue;
					ck_assert_uint_eq(c->item[k].depth, c->item[i].depth + 1);
					sum += classes_value(c, k, s, v);
					children++;
				}
				ck_assert_int_ge(classes_value(c, i, s, v), 0);
				if (children)
					ck_assert_int_eq(sum, classes_value(c, i, s, v));
			}
		}
	}
}

static void check_memory_totals(const struct classes *c, const struct made_inspection *m)
{
	ck_assert_uint_eq(c->n_snapshots, m->n);
	for (size_t s = 0; s < m->n; s++) {
		for (int v = 0; v < MAPPING_VALUES; v++)
			ck_assert_int_eq(classes_value(c, 0, s, (unsigned)v),
					 (int64_t)snapshot_sum_kb(&m->snapshot[s], (enum mapping_value)v));
	}
}

static void check_heap_totals(const struct classes *c, const struct made_inspection *m)
{
	for (size_t s = 0; s < m->n; s++) {
		int64_t live = 0, temporary = 0;

		for (size_t i = 0; i < m->snapshot[s].n_sites; i++) {
			live += (int64_t)m->snapshot[s].site[i].live_bytes;
			temporary += (int64_t)m->snapshot[s].site[i].temporary;
		}
		ck_assert_int_eq(classes_value(c, 0, s, HEAP_LIVE_BYTES), live);
		ck_assert_int_eq(classes_value(c, 0, s, HEAP_TEMPORARY), temporary);
	}
}

/* Ranges with stacks in half of the anonymous mappings, some over their ends. */
static void add_ranges(struct made_inspection *m, uint64_t *state)
{
	for (size_t k = 0; k < m->n; k++) {
		struct snapshot *s = &m->snapshot[k];
		uint64_t at = 0;

		for (size_t i = 0; i < s->n; i++) {
			uint64_t start = s->mapping[i].start + 4096 * random_below(state, 5);
			struct mapped_range *range;

			if (random_below(state, 2) || start < at)
				continue;
			range = array_add(&s->range, &s->n_ranges, sizeof *range);
			at = start + 4096 * (1 + random_below(state, 600));
			*range = (struct mapped_range){ start, at,
				(uint32_t)random_below(state, m->inspection.n_stacks) };
		}
	}
}

/* Rules at random, of conditions that fit some of the generated names. */
static void random_rules(struct buf *b, uint64_t *state, unsigned depth)
{
	static const char *const conditions[] = {
		"file: ^/usr/lib/parse", "file: ^$", "file: heap", "permissions: ^rw", "permissions: x",
		"stack: [alloc, parse]", "stack: tree", "source: ggc", "file: '[0-3]'",
	};
	size_t n = 1 + random_below(state, 4);

	buf_adds(b, "rules: [");
	for (size_t i = 0; i < n; i++) {
		buf_addf(b, "%s{name: r%u, %s, ", i ? ", " : "", (unsigned)random_below(state, 99),
			 conditions[random_below(state, ARRAY_SIZE(conditions))]);
		if (depth < 3 && random_below(state, 2))
			random_rules(b, state, depth + 1);
		else
			buf_addf(b, "split: %s", class_split_words[random_below(state, 3)]);
		buf_addc(b, '}');
	}
	buf_addc(b, ']');
}

static void make_random(struct made_inspection *m, int i, uint64_t *state)
{
	const struct made_inspection_wish wish = {
		.mappings = 3 + (size_t)random_below(state, 60), .seed = (uint64_t)i,
		.stacks = i % 4 ? 1 + (size_t)random_below(state, 200) : 0,
		.snapshots = 1 + (size_t)random_below(state, 6), .hostile = i % 2,
	};

	made_inspection_random(m, &wish);
	if (wish.stacks)
		add_ranges(m, state);
}

TEST_LOOP(sums, 60)
{
	uint64_t state = (uint64_t)_i;
	struct class_rules_read rules;
	RELEASED(buf, text = BUF_INIT);
	RELEASED(made_inspection, m);
	struct classes c;

	make_random(&m, _i, &state);
	random_rules(&text, &state, 0);
	if (random_below(&state, 2))
		buf_adds(&text, "\nallocators: alloc|tree\n");
	read_text(&rules, buf_str(&text));
	classify(&c, CLASSIFY_MEMORY, &rules.file, &m);
	check_sums(&c);
	check_memory_totals(&c, &m);
	classes_release(&c);
	classify(&c, CLASSIFY_HEAP, &rules.file, &m);
	check_sums(&c);
	check_heap_totals(&c, &m);
	classes_release(&c);
	class_rules_release(&rules);
}

/* Parts have the mappings' values, none of them negative. */
TEST_LOOP(parts, 40)
{
	RELEASED(memory_parts, p = { 0 });
	uint64_t state = 77 + (uint64_t)_i;
	RELEASED(made_inspection, m);

	make_random(&m, _i, &state);
	for (size_t k = 0; k < m.n; k++) {
		ck_assert_int_eq(memory_parts_read(&p, &m.inspection, &m.snapshot[k]), 0);
		for (int v = 0; v < MAPPING_VALUES; v++) {
			int64_t sum = 0;

			for (size_t i = 0; i < p.n; i++) {
				ck_assert_int_ge(p.part[i].kb[v], 0);
				sum += p.part[i].kb[v];
			}
			ck_assert_int_eq(sum, (int64_t)snapshot_sum_kb(&m.snapshot[k],
								       (enum mapping_value)v));
		}
	}
}

/* One value of a class by its path, in the last snapshot; -1: there is no such class. */
static int64_t value_of(const struct classes *c, const char *path, unsigned value)
{
	for (size_t i = 0; i < c->n; i++) {
		struct buf names = BUF_INIT;
		bool same;

		for (size_t k = i; k; k = c->item[k].parent) {
			char *rest = strdup(buf_str(&names));

			buf_clear(&names);
			buf_addf(&names, "%s%s%s", c->item[k].name, *rest ? "/" : "", rest);
			free(rest);
		}
		same = !strcmp(buf_str(&names), path);
		buf_release(&names);
		if (same)
			return classes_value(c, i, c->n_snapshots - 1, value);
	}
	return -1;
}

static const struct {
	const char *rules, *path;
	int64_t kb;
} cases[] = {
	{ "rules: []", "", 4096 + 15360 + 512 + 16384 + 196608 + 1536 + 264 },
	{ "rules: [{name: a, file: cc1plus}]", "a", 4096 + 15360 + 512 },
	{ "rules: [{name: a, file: cc1plus}]", "other", 16384 + 196608 + 1536 + 264 },
	/* the first that fits */
	{ "rules: [{name: a, permissions: w}, {name: b, file: cc1plus}]", "b", 4096 + 15360 },
	{ "rules: [{name: a, file: cc1plus, rules: [{name: x, permissions: x}]}]", "a/x", 15360 },
	{ "rules: [{name: a, file: cc1plus, rules: [{name: x, permissions: x}]}]", "a/other", 4608 },
	/* each expression fits a later call */
	{ "rules: [{name: a, stack: [xmalloc, cpp_lex, main$]}]", "a", 8192 },
	{ "rules: [{name: a, stack: [main$, xmalloc]}]", "a", -1 },
	{ "rules: [{name: a, stack: [main$, main$, main$]}]", "a", -1 },
	{ "rules: [{name: a, stack: xmalloc, split: caller}]", "a", 8192 },
	{ "rules: [{name: a, stack: xmalloc, split: caller}]", "a/_cpp_lex_direct", -2 },
	{ "rules: [{name: m, file: heap, split: caller}]\nallocators: ^x|^_cpp|^rtx", "m/c_common_parse_file",
	  -2 },
};

TEST_EACH(known, cases)
{
	struct class_rules_read rules;
	RELEASED(made_inspection, m);
	RELEASED(classes, c);
	int64_t got;

	made_inspection_compile(&m);
	read_text(&rules, cases[_i].rules);
	classify(&c, CLASSIFY_MEMORY, &rules.file, &m);
	check_sums(&c);
	got = value_of(&c, cases[_i].path, MAPPING_RSS);
	if (cases[_i].kb == -2)
		ck_assert_int_gt(got, 0);
	else
		ck_assert_int_eq(got, cases[_i].kb);
	class_rules_release(&rules);
}

/* Parts of a class: at least 2 % of all in some snapshot, in at most three levels. */
TEST_LOOP(parts_of_a_class, 10)
{
	static const char *const texts[] = {
		"rules: [{name: r, split: directory}]\n", "rules: [{name: r, split: caller}]\n",
	};
	const struct made_inspection_wish wish = {
		.mappings = 5, .stacks = 300, .snapshots = 3, .seed = (uint64_t)_i,
	};
	struct class_rules_read rules;
	RELEASED(made_inspection, m);
	RELEASED(classes, c);

	made_inspection_random(&m, &wish);
	read_text(&rules, texts[_i % 2]);
	classify(&c, CLASSIFY_HEAP, &rules.file, &m);
	ck_assert_uint_gt(c.n, 2);
	for (size_t i = 2; i < c.n; i++) {
		bool large = false;

		ck_assert_uint_le(c.item[i].depth, 1 + CLASS_SPLIT_DEPTH);
		for (size_t s = 0; s < c.n_snapshots; s++)
			large |= (double)classes_value(&c, i, s, HEAP_LIVE_BYTES) >=
				 CLASS_SPLIT_SHARE * (double)classes_value(&c, 0, s, HEAP_LIVE_BYTES);
		ck_assert(large || c.item[i].other);
	}
	check_sums(&c);
	class_rules_release(&rules);
}

static const char *const names[][2] = {
	{ "main", "main" },
	{ "make_node(tree_code)", "make_node" },
	{ "llvm::SelectionDAG::getNode(unsigned int, llvm::SDLoc const&)", "llvm::SelectionDAG::getNode" },
	{ "std::vector<int, std::allocator<int> >::push_back(int const&)", "std::vector::push_back" },
	{ "void va_gc::reserve<tree_node*, va_gc>(vec<tree_node*>*&, unsigned int)", "va_gc::reserve" },
	{ "(anonymous namespace)::pass_x::execute(function*)", "(anonymous namespace)::pass_x::execute" },
	{ "foo::operator()(int) const", "foo::operator()" },
	{ "int max<int>(int, int)", "max" },
	{ "operator new(unsigned long)", "operator new" },
	{ "<rustc_middle::ty::Ty as core::fmt::Debug>::fmt", "rustc_middle::ty::Ty::fmt" },
	{ "core::ptr::drop_in_place<alloc::vec::Vec<u8>>", "core::ptr::drop_in_place" },
	{ "cc1plus!0x97e8f0", "cc1plus!0x97e8f0" },
	{ "", "" }, { "<", "<" }, { "(", "(" }, { "<>", "<>" }, { "a<b", "a" }, { " ", " " },
};

TEST_EACH(short_names, names)
{
	RELEASED(buf, b = BUF_INIT);

	call_names_short(&b, names[_i][0]);
	ck_assert_str_eq(buf_str(&b), names[_i][1]);
}

static const struct {
	const char *text;
	unsigned line;
	const char *message;
} wrong[] = {
	{ "rules:\n- file: x\n", 2, "expected a rule with a name" },
	{ "rules:\n- name: a\n  file: '('\n", 3, "not a regular expression: '(': " },
	{ "rules:\n- name: a\n  stack:\n  - ok\n  - '[a'\n", 5, "a bracket is not closed" },
	{ "rules:\n- name: a\n  source: '(a)\\1'\n", 3, "a reference to a group is not supported" },
	{ "rules:\n- name: a\n  file: ((a{1,200}){1,200}){1,200}\n", 3, "it repeats too much" },
	{ "rules:\n- name: a\n  file: a++\n", 3, "it repeats a repetition" },
	{ "rules:\n- name: a\n  file: (ab?){2,3}*\n", 3, "it repeats a repetition" },
	{ "rules:\n- name: a\n  file: ((((((((((((a)+)+)+)+)+)+)+)+)+)+)+)+\n", 3, "it repeats too much" },
	{ "rules:\n- name: a\n  spilt: caller\n", 3, "unknown key 'spilt'; did you mean 'split'?" },
	{ "rules:\n- name: a\n  split: callers\n", 3, "expected none, caller or directory, not" },
	{ "rules:\n- name: a\n  split: caller\n  rules: [{name: b}]\n", 2, "only one of them" },
	{ "rules: x\n", 1, "expected a list of mappings" },
	{ "rule: []\n", 1, "unknown key 'rule'; did you mean 'rules'?" },
	{ "rules:\n- name: a\n  stack: {}\n", 3, "expected a regular expression or a list of them" },
};

TEST_EACH(errors, wrong)
{
	struct class_rules_read rules;
	struct error err = { 0 };

	ck_assert_int_eq(class_rules_parse(&rules, wrong[_i].text, strlen(wrong[_i].text), "r.yaml",
					   &err), -EINVAL);
	ck_assert_str_eq(err.path, "r.yaml");
	ck_assert_uint_eq(err.line, wrong[_i].line);
	ck_assert_msg(strstr(err.message, wrong[_i].message) != NULL, "%s", err.message);
	class_rules_release(&rules);
}

TEST(nested_too_deep)
{
	struct class_rules_read rules;
	struct error err = { 0 };
	RELEASED(buf, b = BUF_INIT);

	for (int i = 0; i < 40; i++)
		buf_adds(&b, "{rules: [");
	ck_assert_int_eq(class_rules_parse(&rules, buf_str(&b), b.len, "r.yaml", &err), -EINVAL);
	ck_assert_msg(strstr(err.message, "nested too deep") != NULL, "%s", err.message);
	class_rules_release(&rules);
}

/* Each shipped file is right, and the expressions of all of them compile. */
TEST(shipped)
{
	RELEASED(made_inspection, m);
	size_t n = 0;

	made_inspection_compile(&m);
	for (const struct shipped_rules *s = shipped_rules; s->name; s++, n++) {
		struct class_rules_read rules;
		struct error err = { 0 };
		struct classes c;

		ck_assert_msg(!class_rules_read(&rules, s->name, "", &err), "%s:%u: %s", s->name,
			      err.line, err.message);
		ck_assert_ptr_nonnull(rules.file.programs);
		classify(&c, CLASSIFY_MEMORY, &rules.file, &m);
		check_sums(&c);
		check_memory_totals(&c, &m);
		classes_release(&c);
		class_rules_release(&rules);
	}
	ck_assert_uint_ge(n, 8);
}

static const char *const chosen[][2] = {
	{ "cc1plus", "gcc" }, { "lto1", "gcc" }, { "clang-14", "clang" }, { "ld", "ld" },
	{ "x86_64-linux-gnu-ld.bfd", "ld" }, { "ld.lld", "lld" }, { "lld-14", "lld" },
	{ "mold", "mold" }, { "rustc", "rustc" }, { "java", "jvm" }, { "python3.11", "python" },
	{ "bash", "default" }, { "", "default" }, { "ccache", "default" },
};

TEST_EACH(by_program, chosen)
{
	struct class_rules_read rules;
	struct error err = { 0 };

	ck_assert_int_eq(class_rules_read(&rules, NULL, chosen[_i][0], &err), 0);
	ck_assert_str_eq(rules.name, chosen[_i][1]);
	class_rules_release(&rules);
}

TEST(no_such_rules)
{
	struct class_rules_read rules;
	struct error err = { 0 };

	ck_assert_int_eq(class_rules_read(&rules, "pyton", "x", &err), -ENOENT);
	ck_assert_msg(strstr(err.message, "did you mean 'python'?") != NULL, "%s", err.message);
	class_rules_release(&rules);
	ck_assert_int_eq(class_rules_read(&rules, "/nowhere/r.yaml", "x", &err), -ENOENT);
	ck_assert_str_eq(err.path, "/nowhere/r.yaml");
	class_rules_release(&rules);
}

TEST_MAIN(classify);
