# SPDX-License-Identifier: MIT
"""What HACKING, README and the pages name exists: files, tests, test cases, links.

references.py SRCDIR
"""
import glob
import os
import re
import sys

TOPS = sorted({os.path.dirname(p).split("/")[-1] for p in
               glob.glob(os.path.join(sys.argv[1], "*/local.mk"))}) + ["examples", ".ci"]


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def exists(path):
    """NAME and * stand for any name, [ch] for c or h."""
    return bool(glob.glob(re.sub(r"NAME|\.\.\.", "*", path)) or glob.glob(path + ".c")
                or path.endswith("_") and glob.glob(path + "*"))


def made(path):
    """Is this a file that the build makes, or an output directory?"""
    return path.endswith(".o") or path.startswith(("build/", "tests/corpus/NAME"))


def paths_in(text):
    for word in re.findall(r"[\w./*\[\]-]+/[\w./*\[\]-]*", text):
        if word.split("/")[0] in TOPS:
            yield word.rstrip(".")


def words_in_code(text):
    """Words in backquotes; fenced blocks word by word."""
    fenced = re.findall(r"^```[a-z]*\n(.*?)^```", text, re.S | re.M)
    text = re.sub(r"^```.*?^```", "", text, flags=re.S | re.M)
    return " ".join(re.findall(r"`([^`\n]*)`", text)) + " " + " ".join(fenced)


def test_cases(text):
    """(check_NAME, [case ...]) from "check_NAME: case, case; check_OTHER"."""
    for group in re.findall(r"(check_\w+(?:: [\w, ]+)?)", text):
        name, _, cases = group.partition(": ")
        yield name, [c.strip() for c in cases.split(",") if c.strip()]


def main():
    os.chdir(sys.argv[1])
    bad = []
    for name in ["HACKING.md", "README.md", "COMPARISON.md"]:
        text = read(name)
        for path in paths_in(words_in_code(text)):
            # in README build trees of users are named too
            if not exists(path) and not made(path):
                bad.append("%s: %s does not exist" % (name, path))
        for link in re.findall(r"\]\(([^)#:]+)\)", text):
            if not exists(link):
                bad.append("%s: the link %s leads nowhere" % (name, link))
        for anchor in re.findall(r"\]\(#([^)]+)\)", text):
            titles = [re.sub(r"[^\w -]", "", t.lower()).replace(" ", "-")
                      for t in re.findall(r"^#+ (.*)$", text, re.M)]
            if anchor not in titles:
                bad.append("%s: there is no section #%s" % (name, anchor))
    for test, cases in test_cases(read("HACKING.md")):
        path = "tests/%s.c" % test
        if test == "check_NAME":
            continue
        if not exists(path):
            bad.append("HACKING.md: %s does not exist" % path)
            continue
        # a case may be in a row of a table
        for case in cases:
            if re.fullmatch(r"\w+", case) and not re.search(r"\b%s\b" % case, read(path)):
                bad.append("HACKING.md: %s has no case %s" % (path, case))
    for page in sorted(glob.glob("man/*.[1-9]")):
        for path in paths_in(" ".join(re.findall(r"^\.(?:Pa|It Pa) (.*)$", read(page), re.M))):
            if not exists(path) and not made(path):
                bad.append("%s: %s does not exist" % (page, path))
    pages = {os.path.basename(p) for p in glob.glob("man/*.[1-9]")}
    for page, section in re.findall(r"\b(buildbeat[\w.-]*)\((\d)\)", read("README.md") + read("HACKING.md") + read("COMPARISON.md")):
        if "%s.%s" % (page, section) not in pages:
            bad.append("README.md or HACKING.md: there is no page %s(%s)" % (page, section))
    print("\n".join(bad), end="\n" if bad else "")
    sys.exit(bool(bad))


main()
