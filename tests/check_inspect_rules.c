/* SPDX-License-Identifier: MIT */
#include "cli/class_rules.h"
#include "inspect/look.h"
#include "tests/support.h"

/*
 * The shipped rules and real programs: at least nine tenths of what each has in memory have a
 * name. A snapshot is taken again and again while the program runs; the largest counts.
 */

#define NAMED 0.9

static const struct {
	const char *program;	/* whose rules are used */
	const char *needs;	/* program in PATH */
	const char *prepare;	/* in an empty directory */
	const char *command;
} tools[] = {
	{ "cc1plus", "g++",
	  "for i in $(seq 300); do echo \"#include <map>\n#include <string>\n"
	  "std::map<std::string, int> f$i(int x) { std::map<std::string, int> m; m[\\\"a\\\"] = x; "
	  "return m; }\"; done >a.cc", "$(g++ -print-prog-name=cc1plus) -quiet -O1 a.cc -o a.s" },
	{ "ld.bfd", "ld.bfd", "for i in 1 2 3; do echo \".data; .globl s$i; s$i: .fill 20000000, 1, 7\" | "
	  "as -o $i.o; done", "ld.bfd -e 0 -o out 1.o 2.o 3.o" },
	{ "ld.lld", "ld.lld", "for i in 1 2 3; do echo \".data; .globl s$i; s$i: .fill 60000000, 1, 7\" | "
	  "as -o $i.o; done", "ld.lld -e 0 -o out 1.o 2.o 3.o" },
	{ "mold", "mold", "for i in 1 2 3; do echo \".data; .globl s$i; s$i: .fill 60000000, 1, 7\" | "
	  "as -o $i.o; done", "mold --no-fork -e s1 -o out 1.o 2.o 3.o" },
	{ "clang", "clang", "for i in $(seq 2000); do echo \"int f$i(int x) { return x * $i; }\"; done >a.c",
	  "clang -cc1 -O1 -S -o a.s a.c" },
	{ "rustc", "rustc", "for i in $(seq 400); do echo \"pub fn f$i(x: u32) -> String { "
	  "format!(\\\"{} {}\\\", x, $i) }\"; done >a.rs", "rustc --crate-type lib -o a.rlib a.rs" },
	{ "java", "java", "echo 'public class A { public static void main(String[] a) { "
	  "byte[][] b = new byte[400][]; for (int i = 0; i < 400; i++) b[i] = new byte[100000]; "
	  "System.out.println(b.length); } }' >A.java", "java A.java" },
	{ "python3", "python3", ":", "python3 -c 'x = {str(i): [i] for i in range(200000)}'" },
};

static pid_t start(const char *dir, const char *command)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (pid)
		return pid;
	if (chdir(dir) || !freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
		_exit(126);
	execl("/bin/sh", "sh", "-c", command, (char *)NULL);
	_exit(127);
}

/* The largest of all snapshots until it ends, of the program and not of the shell before it. */
static void watch(struct snapshot *largest, pid_t pid, struct inspection *in)
{
	RELEASED(snapshot, s = { 0 });
	struct error err = { 0 };
	struct look look;

	if (!look_open(&look, pid, 0, &in->names, &err)) {
		while (!look_ended(&look) && !look_read(&look, &s, false, &err)) {
			struct snapshot old = *largest;

			if (!strncmp(look.name, "sh", 3) ||
			    snapshot_sum_kb(&s, MAPPING_RSS) <= snapshot_sum_kb(&old, MAPPING_RSS))
				continue;
			*largest = s;
			s = old;
		}
	}
	look_close(&look);
}

static int64_t other_kb(const struct inspection *in, const struct snapshot *s, const char *program,
			struct buf *text)
{
	struct class_rules_read rules;
	struct error err = { 0 };
	struct classifier *c;
	struct classes classes;
	int64_t other = 0;

	ck_assert_int_eq(class_rules_read(&rules, NULL, program, &err), 0);
	ck_assert_str_ne(rules.name, "default");
	ck_assert_int_eq(classifier_new(&c, CLASSIFY_MEMORY, &rules.file, in, &err), 0);
	ck_assert_int_eq(classifier_add(c, s), 0);
	ck_assert_int_eq(classifier_done(c, &classes), 0);
	for (size_t i = 1; i < classes.n; i++) {
		int64_t kb = classes_value(&classes, i, 0, MAPPING_RSS);

		buf_addf(text, "%*s%s %lld KiB\n", (int)classes.item[i].depth, "",
			 classes.item[i].name, (long long)kb);
		other += classes.item[i].depth == 1 && classes.item[i].other ? kb : 0;
	}
	classes_release(&classes);
	classifier_free(c);
	class_rules_release(&rules);
	return other;
}

TEST_EACH(named, tools)
{
	const char *dir = support_tmpdir();
	struct inspection in = { .arena = arena_new() };
	struct snapshot largest = { 0 };
	struct buf text = BUF_INIT;
	int64_t other, all;
	char command[512];
	pid_t pid;

	in.names.arena = in.arena;
	if (!support_has(tools[_i].needs))
		goto out;
	support_expect(dir, 0, NULL, NULL, "%s", tools[_i].prepare);
	snprintf(command, sizeof command, "exec %s", tools[_i].command);
	pid = start(dir, command);
	watch(&largest, pid, &in);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	all = (int64_t)snapshot_sum_kb(&largest, MAPPING_RSS);
	if (all < 4096)		/* it was too quick */
		goto out;
	other = other_kb(&in, &largest, tools[_i].program, &text);
	ck_assert_msg((double)other <= (1 - NAMED) * (double)all, "%s: %lld of %lld KiB have no name:\n%s",
		      tools[_i].program, (long long)other, (long long)all, buf_str(&text));
	if (getenv("VERBOSE"))
		printf("%s: %.2f %% of %lld KiB have a name\n%s", tools[_i].program,
		       100 - 100. * (double)other / (double)all, (long long)all, buf_str(&text));
out:
	buf_release(&text);
	snapshot_release(&largest);
	name_table_release(&in.names);
	arena_free(in.arena);
}

TEST_MAIN(inspect_rules);
