# SPDX-License-Identifier: MIT
"""The rules of the house (HACKING.md, "The rooms") that a program can check:

  headers   each compiles alone, here or as the first that a source includes; no two have a
            guard, a tag or an extern in common
  externs   each is named for its file or its subsystem; it is used in another file of the
            program, not by tests alone
  scripts   those that become one program declare each name of its scope once
  tests     one that runs once does not use _i, the row of a table or the number of a run
  files     each has its licence in an SPDX line, and at most 700 lines

Run in the build directory by tests/house.sh, after everything was built."""

import concurrent.futures
import os
import re
import subprocess
import sys

SRC = os.path.abspath(sys.argv[1])
MOST_LINES = 700
SUFFIXES = (".c", ".h", ".py", ".sh", ".js", ".css", ".mk", ".am", ".ac", ".1", ".3", ".5", ".7")

# What others look up by name: the hosts' faces, and what the preload object stands in for.
LOOKED_UP = {
    "heap/bare.c": "*",
    "heap/shim.c": "*",
    "heap/shim_map.c": "*",
    "heap/shim_sandbox.c": "*",
    "plugin/api.c": "buildbeat_get_api",
    "plugin/gmk.c": "buildbeat_gmk_setup plugin_is_GPL_compatible",
    "plugin/preload.c": "*",
    "plugin/preload_system.c": "system",
}

# Parsers of hostile input, which tests and fuzz targets give bytes that no machine sends.
FUZZED = {
    "cli/class_rules.c": "class_rules_parse",
    "cli/configfile.c": "configfile_parse",
    "convert/oe/oe_log.c": "oe_log",
    "convert/oe/oe_reader.c": "oe_init oe_release",
    "recording/tally_live.c": "tally_live_add",
    "sampler/connector.c": "connector_parse",
    "sampler/netlink.c": "netlink_accepts",
    "sampler/taskstats.c": "taskstats_parse",
}

# Prefixes of externs besides the leading words of the file's name, the room and the
# directory: the struct that several files of a subsystem work on.
PREFIXES = {
    "convert": "converter",
    "convert/ninja": "converter",
    "inspect/classify.c": "classifier classes heap_value",
    "inspect/snapshot.c": "mapping_value",
    "render/plot": "plot",
}

found = []


def complain(place, what):
    found.append("%s: %s" % (place, what))


def rooms():
    """The rooms of HACKING.md's table."""
    with open(SRC + "/HACKING.md", encoding="utf-8") as f:
        text = f.read()
    table = text.split("## The rooms")[1].split("\n## ")[0]
    return re.findall(r"^([a-z]+)/ ", table, re.M)


def below(directory, suffix):
    """The files below it with this suffix; those that git ignores in the sources too."""
    for at, _, names in os.walk(directory):
        for name in names:
            if name.endswith(suffix):
                yield os.path.join(at, name)


def sources(suffix, *directories):
    """Paths below SRC, by room."""
    out = [os.path.relpath(p, SRC) for d in directories for p in below(SRC + "/" + d, suffix)]
    return sorted(p for p in out if "/data/" not in p and "/corpus/" not in p)


def read(path):
    with open(os.path.join(SRC, path), encoding="utf-8", errors="replace") as f:
        return f.read()


def run(arguments):
    p = subprocess.run(arguments, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                       errors="replace", check=False)
    return p.returncode, p.stdout


# Headers

def compiles(header):
    with open("tests/paths.h", encoding="utf-8") as f:
        cc = re.search(r'TEST_CC "(.*)"', f.read()).group(1).split()
    status, out = run(cc + ["-std=gnu11", "-include", "config.h", "-I.", "-I" + SRC, "-Wall",
                            "-Wextra", "-Werror", "-fsyntax-only", "-x", "c",
                            os.path.join(SRC, header)])
    return "does not compile alone:\n" + out if status else ""


def check_benches():
    """`make check` does not build them."""
    benches = [p for p in sources(".c", "tests") if "/bench_" in p]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for bench, trouble in zip(benches, pool.map(compiles, benches)):
            if trouble:
                complain(bench, trouble)


def bare(text):
    """C without comments, strings, directives and what is in braces."""
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.S)
    text = re.sub(r"\\\n", " ", text)
    text = re.sub(r"^\s*#.*$", "", text, flags=re.M)
    text = re.sub(r'"(\\.|[^"\\])*"', '""', text)
    while True:
        shorter = re.sub(r"\{[^{}]*\}", ";", text)
        if shorter == text:
            return text
        text = shorter


def declared(text):
    """The externs a header declares: functions and variables."""
    for statement in bare(text).split(";"):
        words = " ".join(statement.split())
        if not words or re.match(r"(static|typedef|struct \w+$|enum|union)\b", words):
            continue
        words = re.sub(r"__attribute__ ?\(\(.*?\)\)(?=$| )", "", words).strip()
        function = re.match(r"[\w\s*]*?\b(\w+) ?\(", words)
        if function and not words.startswith("extern \""):
            yield function.group(1)
        elif words.startswith("extern ") and '"' not in words:
            yield re.match(r"extern .*?\b(\w+)\s*(\[.*)?$", words).group(1)


def compiled(directories):
    """Headers that a source includes before anything else: the build has compiled them alone."""
    for path in sources(".c", *directories):
        m = re.search(r"^#.*", read(path), re.M)
        m = m and re.fullmatch(r'#include "(.*)"', m.group())
        if m and "/bench_" not in path and "/programs/" not in path:
            yield m.group(1)


def check_headers(headers, directories):
    owners = {}
    others = sorted(set(headers) - set(compiled(directories)))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for header, trouble in zip(others, pool.map(compiles, others)):
            if trouble:
                complain(header, trouble)
    for header in headers:
        text = read(header)
        names = {("guard", g) for g in re.findall(r"^#ifndef (\w+)\n#define \1$", text, re.M)[:1]}
        names |= {("tag", t) for t in re.findall(r"^(?:struct|enum|union) (\w+) \{", text, re.M)}
        names |= {("extern", e) for e in declared(text)}
        if not any(kind == "guard" for kind, _ in names):
            complain(header, "has no guard")
        for name in names:
            owners.setdefault(name, []).append(header)
    for (kind, name), where in sorted(owners.items()):
        if len(where) > 1:
            complain(" ".join(where), "share the %s %s" % (kind, name))


# Externs

def objects(directories):
    """(source, object): what the build made of the files there are now."""
    for directory in directories:
        for path in below(directory, ".o"):
            plain = path[:-2]
            plain = re.sub(r"/\w+-(?=\w+$)", "/", plain)
            for source in (SRC + "/" + plain + ".c", plain + ".c"):
                if os.path.exists(source):
                    yield plain + ".c", path
                    break


def symbols(paths):
    """path -> (names defined, names used)."""
    out = {path: (set(), set()) for path in paths}
    status, text = run(["nm", "-A", "-g"] + list(out))
    if status:
        complain("nm", text)
    for line in text.splitlines():
        m = re.match(r"(.*?\.o):\s*(?:[0-9a-f]+)? ?([A-Za-z]) ([A-Za-z_]\w*)$", line)
        if m and m.group(1) in out and not m.group(3).startswith("__"):
            out[m.group(1)][m.group(2) in "Uwv"].add(m.group(3))
    return out


def named_for(source, name):
    """Whether an extern has its file's name before it, or that of its subsystem."""
    directory, file = os.path.split(source)
    words = file[:-2].split("_")
    prefixes = ["_".join(words[:n]) for n in range(1, len(words) + 1)]
    prefixes += [p[:-1] for p in prefixes if p.endswith("s")] + directory.split("/")
    prefixes += PREFIXES.get(source, PREFIXES.get(directory, "")).split()
    return any(name == p or name.startswith(p + "_") for p in prefixes)


def check_externs(directories):
    owned = list(objects(directories))
    tests = list(objects(["tests"]))
    table = symbols([o for _, o in owned + tests])
    defined, used, tested = {}, {}, {}
    for source, path in owned:
        for name in table[path][0]:
            defined.setdefault(name, source)
        for name in table[path][1]:
            used.setdefault(name, set()).add(source)
    for source, path in tests:
        for name in table[path][1]:
            tested.setdefault(name, set()).add(source)
    for name, source in sorted(defined.items(), key=lambda item: (item[1], item[0])):
        looked_up = LOOKED_UP.get(source, "").split()
        if name == "main" or name in looked_up or "*" in looked_up:
            continue
        fuzzed = name in tested and name in FUZZED.get(source, "").split()
        if not fuzzed and not used.get(name, set()) - {source}:
            complain(source, "extern %s is used %s" % (
                name, "by tests only" if name in tested else "in no other file"))
        if not named_for(source, name):
            complain(source, "extern %s has no prefix of its file or subsystem" % name)


# Scripts

def parts_of(script):
    """The script and those it takes in, as render/c_string.awk does."""
    yield script
    for part in re.findall(r"^/\* ([a-z_/]+\.js) \*/$", read(script), re.M):
        yield from parts_of(part)


def names_of_scope(text):
    """Of the functions, constants and variables that lines declare which are not indented."""
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    yield from re.findall(r"^(?:async )?(?:function|class) (\w+)", text, re.M)
    for names in re.findall(r"^(?:const|let|var) (.*?);[ \t]*$", text, re.M | re.S):
        flat = re.sub(r"\([^()]*\)|\[[^][]*\]", "", bare(names))
        yield from re.findall(r"(?:^|,)\s*(\w+)\s*(?==|,|$)", flat)


def check_scripts(scripts):
    """A second function of one name would silently take the place of the first."""
    parts = {script: list(parts_of(script)) for script in scripts}
    taken_in = {part for list_ in parts.values() for part in list_[1:]}
    for script in sorted(set(parts) - taken_in):
        owners = {}
        for part in parts[script]:
            for name in names_of_scope(read(part)):
                owners.setdefault(name, []).append(part)
        for name, where in sorted(owners.items()):
            if len(where) > 1:
                complain(" ".join(where), "declare %s in one scope" % name)


# Tests

def check_tests():
    for path in sources(".c", "tests"):
        for name, body in re.findall(r"^TEST(?:_UNTIMED)?\((\w+)\)\n\{(.*?)^\}", read(path), re.M | re.S):
            if re.search(r"\b_i\b", body):
                complain(path, "%s runs once and uses _i" % name)


# Files

def check_files(directories):
    tops = directories + ["tests", "examples", "man", "m4"]
    files = [p for s in SUFFIXES for p in sources(s, *tops)] + ["Makefile.am", "configure.ac"]
    for path in files:
        text = read(path)
        if "SPDX-License-Identifier: MIT" not in "\n".join(text.split("\n")[:3]):
            complain(path, "has no SPDX line")
        if text.count("\n") > MOST_LINES and not path.startswith("man/"):
            complain(path, "has more than %d lines" % MOST_LINES)


def main():
    directories = rooms()
    tops = directories + ["tests"]
    check_headers(sources(".h", *tops), tops)
    check_benches()
    check_externs(directories)
    check_scripts(sources(".js", *directories))
    check_tests()
    check_files(directories)
    print("\n".join(found))
    sys.exit(bool(found))


main()
