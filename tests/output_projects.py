# SPDX-License-Identifier: MIT
"""Whose lines, in real projects: output_projects.py BUILDBEAT SOURCE[:OPTION,...]...

Builds a copy of each source tree with make -j8, four times: its commands printed or not (-s), with and without
-O. The compiler is a script that makes an empty output, and writes lines with the
numbers of its process and of those around it. The innermost of them that is a task of the recording has
written the line, whatever `log` says. Prints a table. Options of a make follow the colon. Of Linux, tinyconfig is
built, with a script that also compiles, because its objects are read by its own tools.
"""
import collections
import json
import os
import shutil
import subprocess
import sys
import tempfile

COMPILER = r"""#!/bin/sh
line=
pid=$$
while test "$pid" -gt 1; do
	line="$line,$pid"
	while read -r key value rest; do
		test "$key" = PPid: && parent=$value && break
	done <"/proc/$pid/status"
	pid=$parent
done
out=
while test $# -gt 0; do
	case $1 in
	-o) out=$2; shift ;;
	-E | -M | -MM | -dM | -v | --version | -dumpversion | -print*) exec gcc "$@" ;;
	-c) compiles=1 ;;
	*.c) source=$1 ;;
	*.a) case $out in '') out=$1 ;; esac ;;
	esac
	shift
done
test "$out" || { test "$compiles" && out=${source##*/} && out=${out%.c}.o; }
echo "@@${line#,} $out: In function 'f':" >&2
echo "@@${line#,} $out:1:2: warning: unused" >&2
echo "@@${line#,} $out is made"
case $out in '' | /dev/*) ;; *.o | *.a | *.so*) : >"$out" ;; *) printf '#!/bin/sh\n' >"$out"; chmod +x "$out" ;; esac
echo "@@${line#,} the end" >&2
"""

LINUX_COMPILER = COMPILER[:COMPILER.index("out=")] + r"""
case " $* " in
*" -c "*)
	for word; do out=$word; done
	echo "@@${line#,} $out: In function 'f':" >&2
	echo "@@${line#,} $out:1:2: warning: unused" >&2 ;;
esac
exec gcc "$@"
"""


def is_linux(source):
    return os.path.exists(os.path.join(source, "Kbuild"))


def build(buildbeat, source, options, flags, place):
    tree = os.path.join(place, "tree")
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(source, tree, symlinks=True, ignore=shutil.ignore_patterns(".git"))
    compiler = os.path.join(place, "cc")
    make = ["make", "-k", "-j8", *flags, *options, f"CC={compiler}", f"AR={compiler}", f"CXX={compiler}",
            f"HOSTCC={compiler}", f"LD={compiler}"]
    if is_linux(source):
        make = ["make", "-j8", *flags, *options, f"CC={compiler}"]
        subprocess.run(["make", "-s", "tinyconfig"], cwd=tree, check=True, stdout=subprocess.DEVNULL)
    with open(os.path.join(place, "out"), "wb") as out:
        subprocess.run([buildbeat, "record", "--no-git", "--log", "-o", "stats", "-n", "p", "--", *make], cwd=tree,
                       stdin=subprocess.DEVNULL, stdout=out, stderr=out, check=False)

    def ask(*words):
        return subprocess.run([buildbeat, *words, "-d", "stats", "--json", "p"], cwd=tree, check=True,
                              stdout=subprocess.PIPE).stdout.decode("utf-8", "replace")
    return json.loads(ask("show", "--tasks")), [json.loads(line) for line in ask("log").splitlines()]


def judge(show, lines):
    tasks = {task["pid"]: task for task in show["tasks"]}
    count = collections.Counter(tasks=len(tasks))
    for line in lines:
        at = line["text"].find("@@")
        if at < 0 or line["text"].count("@@") != 1:
            count["other"] += 1
            continue
        chain = line["text"][at + 2:].split(" ")[0].split(",")
        truth = next((tasks[int(pid)] for pid in chain if int(pid) in tasks), None)
        if not truth:
            count["no truth"] += 1
            continue
        # the commands of a target have one name, perhaps with their directory: "lib: a.o"
        right = f": {line['task']}".endswith(f": {truth['name']}")
        count["unknown" if line["task"] is None else "known" if right else "wrong"] += 1
        if line["task"] and not right:
            print(f"wrong: {line['task']} instead of {truth['name']}: {line['text'][:100]}", file=sys.stderr)
    return count


def main():
    print(f"{'project':12} {'make -j8':12} {'tasks':>6} {'known truth':>11} {'right':>7} {'wrong':>6} {'unknown':>8} share")
    for source in sys.argv[2:]:
        source, _, options = source.partition(":")
        options = options.split(",") if options else []
        for flags in ([], ["-s"], ["-O"], ["-O", "-s"]):
            with tempfile.TemporaryDirectory() as place:
                with open(os.path.join(place, "cc"), "w", encoding="ascii") as f:
                    f.write(LINUX_COMPILER if is_linux(source) else COMPILER)
                os.chmod(os.path.join(place, "cc"), 0o755)
                count = judge(*build(os.path.abspath(sys.argv[1]), source, options, flags, place))
            truth = count["known"] + count["wrong"] + count["unknown"]
            print(f"{os.path.basename(source):12} {' '.join(flags):12} {count['tasks']:6} {truth:11} {count['known']:7} "
                  f"{count['wrong']:6} {count['unknown']:8} {100 * count['known'] / max(truth, 1):.1f} %")
            sys.stdout.flush()


main()
