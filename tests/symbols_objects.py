# SPDX-License-Identifier: MIT
"""Compares what buildbeat-symbols says about real objects with nm, objdump, addr2line and
llvm-symbolizer: symbols_objects.py PROGRAM CASE, in an empty directory. Exit status 77 without
the programs that a case needs."""

import bisect
import ctypes
import glob
import os
import random
import re
import shutil
import subprocess
import sys

SYMBOLS = sys.argv[1]
HERE = os.getcwd()
os.environ["XDG_CACHE_HOME"] = HERE + "/cache"


def run(*command, text=None):
    p = subprocess.run(command, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                       encoding="utf-8", errors="surrogateescape", check=False)
    assert p.returncode == 0, "%s: %d: %s" % (command, p.returncode, p.stderr)
    return p.stdout


def need(*programs):
    for program in programs:
        if not shutil.which(program):
            print(program, "is not installed")
            sys.exit(77)


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)
    return path


class Answers:
    """What the program says about one module: at[address] is a list of (function, place),
    innermost first; start[address] the start of a function without a name."""

    def __init__(self, path, addresses, build_id="-", options=(), others=(), kind="a"):
        addresses = sorted(set(addresses))
        lines = ["module %s %s" % (build_id, path)] + ["try " + o for o in others]
        lines += ["%s %x" % (kind, a) for a in addresses]
        self.at, self.start, self.notes = {}, {}, []
        last = None
        for line in run(SYMBOLS, *options, text="\n".join(lines) + "\n").split("\n"):
            word, _, rest = line.partition(" ")
            fields = rest.split("\t")
            if word in "nu?" and word:
                last = addresses[int(fields[0])]
                self.at.pop(last, None)
                self.start.pop(last, None)
            if word == "n":
                self.at[last] = [(fields[1], fields[2] + ":" + fields[3])]
            elif word == "i":
                self.at[last].append((fields[0], fields[1] + ":" + fields[2]))
            elif word == "u":
                self.start[last] = int(fields[1], 16)
            elif word == "w":
                self.notes.append(rest)

    def name(self, address):
        return self.at[address][-1][0] if address in self.at else None

    def names(self):
        return {a: f[-1][0] for a, f in self.at.items()}


def symbols(path, *options):
    """The functions by nm: [(start, size, name)]. libc's probes have a weak symbol that is no code."""
    found = []
    for line in run("nm", "-S", "--defined-only", *options, path).splitlines():
        m = re.match(r"(\w+) (\w+) ([tTwWiI]) (\S+)$", line)
        if m and int(m.group(2), 16) and m.group(4) != "_.stapsdt.base":
            found.append((int(m.group(1), 16), int(m.group(2), 16), m.group(4).split("@")[0]))
    return found


def build_id(path):
    m = re.search(r"Build ID: (\w+)", run("readelf", "-n", path))
    return m.group(1) if m else "-"


def made_program(n, seed):
    """C with functions of all bindings and sizes, aliases, and functions in one another."""
    r = random.Random(seed)
    text = ["#include <stdio.h>", "#include <stdlib.h>", "#include <string.h>", "volatile int sink;"]
    for i in range(n):
        kind = r.choice(["", "static ", "__attribute__((weak)) ", "static inline "])
        hide = "__attribute__((noinline)) " if r.random() < 0.7 else ""
        calls = " ".join("x += f%d(x);" % r.randrange(i) for _ in range(r.randrange(3)) if i)
        loop = "for (int i = 0; i < x; i++) sink += i * %d;" % r.randrange(9) * r.randrange(4)
        library = r.choice(["", "x += strlen(getenv(\"HOME\"));", "puts(\"x\");", "free(malloc(x));"])
        text.append("%s%sint f%d(int x)\n{\n\t%s\n\t%s\n\t%s\n\treturn x + %d;\n}"
                    % (kind, hide, i, loop, calls, library, r.randrange(99)))
        if not kind and r.random() < 0.3:
            text.append("int __alias%d(int x) __attribute__((alias(\"f%d\")));" % (i, i))
    text.append("int main(int argc, char **argv)\n{\n\t(void)argv;\n\tint x = argc;")
    text += ["\tx += f%d(x);" % i for i in range(n)] + ["\treturn x;\n}"]
    return "\n".join(text) + "\n"


WAYS = {
    "gcc": ("gcc", "-O2"), "gcc0": ("gcc", "-O0"), "fixed": ("gcc", "-O2", "-no-pie"),
    "static": ("gcc", "-O1", "-static"), "shared": ("gcc", "-O2", "-shared", "-fPIC"),
    "moved": ("gcc", "-O2", "-shared", "-fPIC", "-Wl,-Ttext-segment=0x12340000"),
    "clang": ("clang", "-O2"), "lld": ("clang", "-O2", "-fuse-ld=lld"),
    "mold": ("gcc", "-O2", "-B", HERE),
    "sections": ("gcc", "-O2", "-ffunction-sections", "-Wl,--gc-sections"),
}


def built(way, source, *more, output=None):
    command = WAYS[way]
    need(command[0], *(["ld.lld"] if way == "lld" else [way] if way == "mold" else []))
    if way == "mold" and not os.path.exists("ld"):
        os.symlink(shutil.which("mold"), "ld")
    output = os.path.join(HERE, output or way + ".out")
    run(*command, "-w", source, "-o", output, *more)
    return output


def every_address(found, most=400):
    for start, size, _ in found:
        step = max(1, size // most)
        yield from range(start, start + size, step)
        yield start + size - 1


def case_functions(way):
    """Each address of each function gives that function; without symbols, its start."""
    path = built(way, write("p.c", made_program(40, way)))
    found = symbols(path)
    by_start = {}
    for start, size, name in found:
        by_start.setdefault(start, set()).add(name)
    assert len(by_start) > 20, found
    starts = sorted(by_start)
    if len(found) > 300:
        found = random.Random(0).sample(found, 300)
    a = Answers(path, every_address(found), options=["-n"])
    returns = Answers(path, [s + n for s, n, _ in found], options=["-n"], kind="r")
    for start, size, _ in found:
        inner = starts[bisect.bisect_right(starts, start):bisect.bisect_left(starts, start + size)]
        for at in set(every_address([(start, size, "")])):
            if not inner or at < inner[0]:
                assert a.name(at) in by_start[start], (hex(at), a.name(at), by_start[start])
        assert a.name(start) is not None, hex(start)
        assert inner or returns.name(start + size) in by_start[start], hex(start + size)
    for start in {s for s, _, _ in found}:
        names = by_start[start]
        visible = [n for n in names if not n.startswith("_")]
        assert not visible or a.name(start) in visible, (names, a.name(start))

    bare = path + ".stripped"
    run("strip", "-o", bare, path)
    exported = {s: n for s, _, n in symbols(bare, "-D")}
    b = Answers(bare, every_address(found), options=["-n"])
    whole = [(s, n) for s, n, name in found if re.match(r"f\d+|main", name)]
    for start, size in whole:
        for at in range(start, start + size):
            if at in b.at:
                assert start in exported and b.name(at) in by_start[start], (hex(at), b.name(at))
            elif at in b.start:
                assert b.start[at] == start, (hex(at), hex(start), hex(b.start[at]))
        assert start in b.at or start in b.start, hex(start)


def case_plt(way):
    """Entries of the PLT have the names that objdump gives them."""
    path = built(way, write("p.c", made_program(10, 3)))
    expected = {}
    for line in run("objdump", "-d", "--no-show-raw-insn", path).splitlines():
        m = re.match(r"(\w+) <([\w.]+)@plt>:", line)
        if m:
            expected[int(m.group(1), 16)] = m.group(2) + "@plt"
    assert way == "clang" or expected
    a = Answers(path, [x + 4 for x in expected], options=["-n"])
    # lazy stubs before those that check for branch targets have no name of their own
    assert {x: a.name(x + 4) for x in expected} == expected, (expected, a.at)


AARCH64 = """
extern int puts(const char *), away(int);
__attribute__((noinline)) static int local(int x) { return away(x) * 3; }
int one(int x) { puts("a"); return local(x) + 1; }
int two(int x) { return one(x) * away(x + 1); }
"""


def case_aarch64():
    """Code of another processor: an archive may come from there."""
    need("clang", "ld.lld", "llvm-objdump", "llvm-nm", "llvm-strip")
    path = HERE + "/other.so"
    p = subprocess.run(["clang", "--target=aarch64-linux-gnu", "-O1", "-fPIC", "-shared", "-nostdlib",
                        "-fuse-ld=lld", write("a.c", AARCH64), "-o", path], check=False)
    if p.returncode:
        sys.exit(77)
    expected = {int(x, 16): n for x, n in re.findall(
        r"^(\w+) <(\w+(?:@plt)?)>:", run("llvm-objdump", "-d", path), re.M)}
    assert sorted(expected.values()) == ["away@plt", "local", "one", "puts@plt", "two"], expected
    assert Answers(path, expected).names() == expected
    run("llvm-strip", path)
    start = [a for a, n in expected.items() if n == "local"][0]
    assert Answers(path, [start, start + 4]).start == {start: start, start + 4: start}


def places(path, addresses):
    """[(function, file:line)] by llvm-symbolizer, which also reads what other programs write."""
    need("llvm-symbolizer")
    out = run("llvm-symbolizer", "--obj=" + path, "--inlines", "--output-style=GNU", "--no-demangle",
              "-a", text="".join("0x%x\n" % a for a in addresses))
    at, found = None, {}
    lines = out.split("\n")
    while lines:
        line = lines.pop(0)
        if re.match(r"0x\w+$", line):
            at = int(line, 16)
            found[at] = []
        elif line:
            found[at].append((line, re.sub(r" \(.*", "", lines.pop(0))))
    return found


INLINED = """
#include <stdio.h>
#include <stdlib.h>
#define INLINE static inline __attribute__((always_inline))
#define APART __attribute__((noinline))
struct v { int n; int *p; };
INLINE int one(struct v *v, int x) { return v->n * x + rand(); }
INLINE int two(struct v *v, int x) { int y = one(v, x); if (y > 4) y = one(v, y); return y; }
INLINE int three(struct v *v) { int t = 0; for (int i = 0; i < v->n; i++) t += two(v, i); return t; }
static APART int four(struct v *v) { return three(v) + two(v, 3); }
APART int five(struct v *v, int x)
{
\tif (x > 100)
\t\tabort();
\treturn four(v) * x + three(v);
}
int main(int argc, char **argv)
{
\tstruct v v = { argc, &argc };
\tprintf("%d %s\\n", five(&v, argc) + one(&v, 2), argv[0]);
\treturn 0;
}
"""


def normal(frames):
    return [(name, re.sub(r"^(.*?):(\?|\d+)$", lambda m: os.path.normpath(m.group(1)) + ":" +
                          m.group(2).replace("?", "0"), place)) for name, place in frames]


def same_places(path, expected, addresses, options=()):
    a = Answers(path, addresses, options=options)
    compared = 0
    for at in addresses:
        if not expected.get(at) or expected[at][0][1].startswith(("??", "crtstuff")):
            continue
        compared += 1
        assert normal(a.at.get(at, [])) == normal(expected[at]), (
            hex(at), normal(a.at.get(at, [])), normal(expected[at]))
    assert compared > 100, compared
    assert max(len(a.at[x]) for x in a.at) >= 4
    return a


def text_of(path):
    m = re.search(r" \.text\s+PROGBITS\s+(\w+) \w+ (\w+)", run("readelf", "-SW", path))
    start, size = (int(x, 16) for x in m.groups())
    return list(range(start, start + size))


DEBUG = {
    "dwarf5": ["-gdwarf-5"], "dwarf4": ["-gdwarf-4"], "compressed": ["-g", "-gz"],
    "split": ["-g", "-gsplit-dwarf"], "split4": ["-gdwarf-4", "-gsplit-dwarf"],
    "minimal": ["-g1"], "types": ["-g", "-fdebug-types-section"],
    "fixed": ["-g", "-no-pie"], "moved": ["-g", "-static", "-Wl,-Ttext-segment=0x7000000"],
}


def case_lines(way, compiler="gcc"):
    """Functions, inlined ones too, with file and line, as addr2line and llvm-symbolizer say."""
    need(compiler)
    write("p.c", INLINED)
    run(compiler, "-O2", *DEBUG[way], "-c", "p.c", "-o", "p.o")
    path = HERE + "/p.out"
    run(compiler, *DEBUG[way][-1:], "p.o", "-o", path)
    addresses = [a for s, n, name in symbols(path) if re.match(r"(f\w+|main)$", name)
                 for a in range(s, s + n)]
    # addr2line finds no inlined functions where types are apart or files split
    if compiler == "gcc" and way not in ("types", "split", "split4"):
        out = run("addr2line", "-a", "-f", "-i", "-e", path,
                  text="".join("%x\n" % a for a in addresses)).split("\n")
        expected, at = {}, None
        while out:
            line = out.pop(0)
            if line.startswith("0x"):
                at = int(line, 16)
                expected[at] = []
            elif line:
                expected[at].append((line, re.sub(r" \(.*", "", out.pop(0))))
        same_places(path, expected, addresses)
    same_places(path, places(path, addresses), addresses)


def case_clang(way):
    case_lines(way, "clang")


def case_dwz():
    """Debug information that two programs share."""
    need("dwz", "gcc", "llvm-symbolizer")
    write("p.c", INLINED)
    write("q.c", INLINED.replace("100", "101"))
    for name in "pq":
        run("gcc", "-O2", "-g", name + ".c", "-o", name + ".out")
    addresses = [a for s, n, name in symbols("p.out") if re.match(r"(f\w+|main)$", name)
                 for a in range(s, s + n)]
    expected = places("p.out", addresses)
    run("dwz", "-m", "shared.debug", "p.out", "q.out")
    same_places(HERE + "/p.out", expected, addresses)


def separated(name, *options):
    """A program without debug information, and the file that has it."""
    write("p.c", INLINED)
    run("gcc", "-O2", "-g", *options, "p.c", "-o", "whole")
    run("objcopy", "--only-keep-debug", "whole", name)
    run("strip", "-o", "bare", "whole")
    run("objcopy", "--add-gnu-debuglink=" + name, "bare")
    run("chmod", "755", "bare")
    addresses = [a for s, n, f in symbols("whole") if re.match(r"(f\w+|main)$", f)
                 for a in range(s, s + n)]
    return addresses, Answers(HERE + "/whole", addresses, options=["-c"])


def case_debuglink(identity):
    """Separate debug information beside the file, in .debug and in directories; the wrong one is
    not used."""
    need("gcc", "objcopy", "strip")
    options = [] if identity == "id" else ["-Wl,--build-id=none"]
    addresses, whole = separated("bare.dbg", *options)
    other = Answers(HERE + "/bare", addresses)
    assert other.at == whole.at and other.at, other.notes
    for place in ".debug/bare.dbg", "d/bare.dbg", "d" + HERE + "/bare.dbg":
        os.makedirs(os.path.dirname(place), exist_ok=True)
        shutil.copy("bare.dbg", place)
        kept = open("bare.dbg", "rb").read()
        os.unlink("bare.dbg")
        found = Answers(HERE + "/bare", addresses, options=["-d", HERE + "/d"])
        assert found.at == whole.at, (place, found.notes)
        os.unlink(place)
        with open("bare.dbg", "wb") as f:
            f.write(kept)
    # another build's
    write("p.c", INLINED.replace("* x +", "* 7 * x +"))
    run("gcc", "-O2", "-g", *options, "p.c", "-o", "another")
    run("objcopy", "--only-keep-debug", "another", "bare.dbg")
    shutil.rmtree("cache", ignore_errors=True)
    wrong = Answers(HERE + "/bare", addresses)
    assert not wrong.at and wrong.start and "another build" in "".join(wrong.notes), wrong.notes


def case_build_id():
    """Debug information by build-id; a file with another build-id is not used."""
    need("gcc", "objcopy", "strip")
    addresses, whole = separated("away.dbg")
    identity = build_id("whole")
    place = "d/.build-id/%s/%s.debug" % (identity[:2], identity[2:])
    os.makedirs(os.path.dirname(place))
    os.rename("away.dbg", place)
    before = Answers(HERE + "/bare", addresses, identity, ["-n"])
    assert not before.at and before.start
    after = Answers(HERE + "/bare", addresses, identity, ["-n", "-d", HERE + "/d"])
    assert after.names() == whole.names()
    found = Answers(HERE + "/bare", addresses, identity, ["-d", HERE + "/d"])
    assert found.at == whole.at and not found.notes, found.notes
    # without the file itself
    gone = Answers("/nowhere/bare", addresses, identity, ["-c", "-d", HERE + "/d"])
    assert gone.at == whole.at and not gone.notes, gone.notes
    # the file elsewhere: by its whole path, by its name, at another path
    os.makedirs("e/there")
    shutil.copy("whole", "e/there/prog")
    shutil.copy("whole", "e/prog2")
    for path in "/there/prog", "/elsewhere/prog2":
        assert Answers(path, addresses, identity, ["-c", "-d", HERE + "/e"]).at == whole.at
    assert Answers("/x", addresses, identity, ["-c"], [HERE + "/e/prog2"]).at == whole.at
    assert Answers(HERE + "/whole (deleted)", addresses, identity, ["-c"]).at == whole.at
    wrong = Answers(HERE + "/whole", addresses, "00" * 20, ["-c"])
    assert not wrong.at and not wrong.start and "build-id" in wrong.notes[0], wrong.notes
    missing = Answers("/nowhere/x", addresses, identity, ["-c"])
    assert not missing.at and missing.notes == ["no such file"], missing.notes


ASSEMBLER = """
	.text
	.globl sized, start_only, label_only, last
	.type sized, @function
sized:	nop
	nop
inside:	nop
	.globl visible
visible:	nop
	nop
	.size sized, .-sized
	nop
	nop
	.type start_only, @function
start_only:
	nop
	nop
label_only:
	nop
	.balign 16
	.type last, @function
last:	nop
other_last:	nop
"""


def case_assembler():
    """Labels inside a function are not functions; those without a size end at the next one."""
    need("gcc")
    run("gcc", "-shared", "-nostdlib", "-nostartfiles", "-x", "assembler", write("a.s", ASSEMBLER), "-o",
        "a.out")
    at = {n: int(a, 16) for a, n in re.findall(r"^(\w+) . (\w+)$", run("nm", "a.out"), re.M)}
    start = at["sized"]
    a = Answers(HERE + "/a.out", range(start - 1, start + 19))
    names = [a.name(x) for x in range(start, start + 18)]
    assert names == (["sized"] * 5 + [None] * 2 + ["start_only"] * 2 + ["label_only"] * 7 +
                     ["last", "other_last"]), names
    assert start + 18 not in a.at and start - 1 not in a.at


NESTED = """
#include <stdlib.h>
int outer(int n)
{
	__attribute__((noinline)) int inner(int m) { return rand() + n * m; }
	int sum = 0;
	for (int i = 0; i < n; i++)
		sum += inner(i) + inner(sum);
	return sum;
}
int main(int argc, char **argv) { (void)argv; return outer(argc); }
"""


def case_nested():
    """A function inside another one is not inlined into it."""
    need("gcc")
    run("gcc", "-O1", "-g", write("p.c", NESTED), "-o", "p.out")
    for start, size, name in symbols("p.out"):
        if name.startswith(("outer", "inner")):
            a = Answers(HERE + "/p.out", range(start, start + size))
            for frames in a.at.values():
                assert [f for f, _ in frames] == [name.split(".")[0]], frames


def case_prelinked():
    """The debug information of a file that was moved to another address has the old ones."""
    need("gcc", "objcopy", "strip")
    write("p.c", INLINED)
    for name, base in ("old", 0x10000000), ("new", 0x23000000):
        run("gcc", "-O2", "-g", "-shared", "-fPIC", "-Wl,--build-id=0xabcdef0123456789", "p.c", "-o",
            name, "-Wl,-Ttext-segment=%#x" % base)
    os.makedirs("d/.build-id/ab")
    addresses = [a for s, n, f in symbols("old") if re.match(r"(f\w+|main)$", f)
                 for a in range(s, s + n)]
    old = Answers(HERE + "/old", addresses, options=["-c"])
    run("objcopy", "--only-keep-debug", "old", "d/.build-id/ab/cdef0123456789.debug")
    run("strip", "new")
    shift = 0x13000000
    new = Answers(HERE + "/new", [a + shift for a in addresses], options=["-c", "-d", HERE + "/d"])
    assert {a - shift: f for a, f in new.at.items()} == old.at and len(old.at) > 100
    bare = Answers(HERE + "/new", [a + shift for a in addresses],
                   options=["-c", "-n", "-d", HERE + "/d"])
    assert {a - shift: n for a, n in bare.names().items()} == old.names()


def case_cache():
    """Tables of the cache say the same; broken and strange ones are not used."""
    need("gcc", "strip")
    path = built("gcc", write("p.c", made_program(20, 5)))
    found = list(every_address(symbols(path)))
    first = Answers(path, found)
    files = glob.glob("cache/buildbeat/symbols/*")
    assert [os.path.basename(f) for f in files] == [build_id(path)], files
    assert os.stat("cache/buildbeat/symbols").st_mode & 0o777 == 0o700
    table = open(files[0], "rb").read()
    assert Answers(path, found).at == first.at
    os.rename(path, path + ".away")
    assert Answers(path, found, build_id(path + ".away")).at == first.at
    os.rename(path + ".away", path)
    r = random.Random(1)
    for i in range(60):
        broken = bytearray(table)
        if i % 3 == 0:
            broken = broken[:r.randrange(len(broken))]
        else:
            for _ in range(i):
                broken[r.randrange(len(broken))] = r.randrange(256)
        with open(files[0], "wb") as f:
            f.write(broken)
        assert Answers(path, found).at == first.at, i
    # a table for a file with fewer symbols does not replace that of one with more
    shutil.rmtree("cache")
    shutil.copy(path, "whole")
    run("strip", path)
    assert len(Answers(path, found).at) < len(first.at)
    assert Answers(HERE + "/whole", found).at == first.at
    # others could write to it
    os.chmod(files[0], 0o666)
    before = os.stat(files[0]).st_ino
    assert Answers(HERE + "/whole", found).at == first.at
    assert os.stat(files[0]).st_ino != before


def case_vdso():
    """The code that the kernel gives each process."""
    base = None
    for line in open("/proc/self/maps", encoding="ascii"):
        if line.endswith("[vdso]\n"):
            base, end = (int(x, 16) for x in line.split()[0].split("-"))
    if base is None:
        sys.exit(77)
    with open("vdso", "wb") as f:
        f.write(ctypes.string_at(base, end - base))
    found = symbols("vdso", "-D")
    a = Answers("[vdso]", [s for s, _, _ in found], build_id("vdso"))
    for start, _, name in found:
        assert a.name(start) in [n for s, _, n in found if s == start], (name, a.at)
    assert Answers("[vdso]", [found[0][0]], "00" * 20).notes


CXX = """
#include <map>
#include <string>
#include <vector>
namespace space {
template <class T> struct box { T t; __attribute__((noinline)) T get(int n) const { return t + T(n); } };
namespace { __attribute__((noinline)) int hidden(std::vector<std::map<std::string, int>> &v)
{ return v[0]["x"]++; } }
__attribute__((noinline)) int shown(box<long> b, box<double> c)
{ std::vector<std::map<std::string, int>> v(3); return b.get(1) + c.get(2) + hidden(v); }
}
int main(int argc, char **) { return space::shown({argc}, {2.5}); }
"""


def case_cxx():
    """Names are those of c++filt, from symbols and from debug information."""
    need("g++", "c++filt")
    write("p.cc", CXX)
    for options in [], ["-g"]:
        run("g++", "-O1", *options, "p.cc", "-o", "p.out")
        found = [x for x in symbols("p.out") if x[2].startswith("_Z")]
        a = Answers(HERE + "/p.out", [s for s, _, _ in found])
        for start, _, name in found:
            names = [n for s, _, n in found if s == start]
            assert a.name(start) in run("c++filt", *names).split("\n"), (a.name(start), names)
        assert "space::(anonymous namespace)::hidden(" in " ".join(a.names().values())


def case_long_name():
    """A name of 50 parameters, each of which has the one before twice, is cut."""
    need("gcc")
    digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"
    name = "_Z1f1a1bIS_S_E"
    for i in range(1, 49):
        digit = digits[i // 36] + digits[i % 36] if i >= 36 else digits[i]
        name += "S0_I" + 2 * ("S" + digit + "_") + "E"
    run("gcc", "-shared", "-nostdlib", "-x", "assembler", "-o", "a.out", write(
        "a.s", ".globl {0}\n.type {0},@function\n{0}: nop\n.size {0},.-{0}\n".format(name)))
    start = symbols("a.out")[0][0]
    shown = Answers(HERE + "/a.out", [start]).name(start)
    assert shown.startswith("f(a, b<a, a>, b<b<a, a>, b<a, a> >, b<b<b<") and shown.endswith("...")
    assert len(shown) == 4003


RUST = """
mod inner {
    pub struct Wheel { pub n: u64 }
    pub trait Turn { fn turn(&self, by: u64) -> u64; }
    impl Turn for Wheel { #[inline(never)] fn turn(&self, by: u64) -> u64 { self.n * by } }
    #[inline(never)] pub fn generic<T: Turn>(t: &T) -> u64 { t.turn(7) + 1 }
}
fn main() {
    let w = inner::Wheel { n: std::env::args().count() as u64 };
    println!("{}", inner::generic(&w));
}
"""


def case_rust(mangling):
    need("rustc")
    write("p.rs", RUST)
    os.environ["RUSTC_BOOTSTRAP"] = "1"
    run("rustc", "-O", "-g", "-Z", "unstable-options", "-C", "symbol-mangling-version=" + mangling, "p.rs", "-o", "p.out")
    starts = [s for s, _, name in symbols("p.out")]
    names = set(Answers(HERE + "/p.out", starts, options=["-n"]).names().values())
    assert any(re.search(r"p(\[\w+\])?::inner::generic", n) for n in names), names
    assert any("inner::Wheel as p" in n and "Turn>::turn" in n for n in names), names
    placed = Answers(HERE + "/p.out", starts)
    assert any(f[-1][1].endswith("p.rs:5") for f in placed.at.values())


def case_hand():
    """The program by hand, and what it refuses."""
    path = built("gcc", write("p.c", INLINED), "-g")
    start = [s for s, _, n in symbols(path) if n == "five"][0]
    out = run(SYMBOLS, path, "%x" % start, "0x1")
    assert re.search(r"^0x%x\tfive\t.*/p.c:12\n0x1\t\?\n$" % start, out, re.M), out
    assert run(SYMBOLS, os.path.basename(path), "%x" % start, "0x1") == out
    for arguments, status in ((["-z"], 2), ([path, "12x"], 2), (["/nowhere", "1"], 1), (["-h"], 0)):
        p = subprocess.run([SYMBOLS] + arguments, capture_output=True, check=False)
        assert p.returncode == status and p.stderr + p.stdout, (arguments, p)
    for text in "a 1\n", "module\n", "module - /x\nb 1\n", "module - /x\na 12345678901234567\n":
        p = subprocess.run([SYMBOLS], input=text.encode(), capture_output=True, check=False)
        assert p.returncode == 2 and b"standard input:" in p.stderr, (text, p)
    for path in "/dev/zero", "/dev/tty", HERE, "/proc/self/mem", "/etc/passwd":
        assert Answers(path, [1]).notes, path
    os.mkfifo("fifo")
    assert Answers(HERE + "/fifo", [1]).notes


def case_hostile():
    """Files with any damage: no hang, and a crash at most of libdw, which the client survives."""
    path = built("gcc", write("p.c", INLINED), "-g")
    with open(path, "rb") as f:
        good = f.read()
    addresses = list(every_address(symbols(path)))[::7]
    r = random.Random(2)
    failed = 0
    for i in range(150):
        bad = bytearray(good)
        if i % 5 == 0:
            bad = bad[:r.randrange(len(bad))]
        for _ in range(i % 7 * 5):
            at = r.choice([r.randrange(64), len(bad) - 1 - r.randrange(4000), r.randrange(len(bad))])
            if 0 <= at < len(bad):
                bad[at] = r.choice([0, 255, r.randrange(256)])
        with open("bad", "wb") as f:
            f.write(bad)
        text = "module - %s/bad\n" % HERE + "".join("a %x\n" % a for a in addresses)
        p = subprocess.run([SYMBOLS, "-c"], input=text.encode(), capture_output=True, timeout=1800,
                           check=False)
        failed += p.returncode != 0
    print("failed on", failed)
    assert failed <= 3


case, _, way = sys.argv[2].partition(":")
globals()["case_" + case](*([way] if way else []))
