# SPDX-License-Identifier: MIT
# Parses what show --markdown prints as GitHub does, and fails unless names are exactly text:
#   markdown.py BUILDBEAT RECORDING
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as tree

NS = "{http://commonmark.org/xml/1.0}"
problems = []


def run(*args, **more):
    env = dict(os.environ, COLUMNS="1000", TZ="UTC0", LC_ALL="C.UTF-8")
    return subprocess.run(args, env=env, check=True, stdout=subprocess.PIPE, **more).stdout.decode()


def texts(node):
    """The parts of its text as a page has them: comments and tags separate them."""
    return [e.text or "" for e in node.iter() if e.tag in (NS + "text", NS + "code")]


def text(node):
    return "".join(texts(node))


def expected(by):
    """The names in the rows of show as text, which begin where the title of their column does."""
    lines = run(BUILDBEAT, "show", "--by", by, "-t", "100000", RECORDING).splitlines()
    at = lines.index("") + 2
    column = lines[at].rindex(by)
    return [line[column:] for line in lines[at + 1:]]


def parse(markdown):
    xml = run("cmark-gfm", "-e", "table", "-e", "autolink", "-e", "strikethrough", "-t", "xml",
              input=markdown.encode())
    return tree.fromstring(re.sub("<!DOCTYPE[^>]*>", "", xml))


def is_ours(node):
    return text(node) in ("total",) or text(node).endswith(" more") or "exit status" in text(node)


def main():
    markdown = run(BUILDBEAT, "show", "--markdown", "--by", "target,program", "-t", "100000", RECORDING)
    root = parse(markdown)
    for tag in ("link", "image", "strikethrough", "html_block", "emph", "block_quote", "thematic_break"):
        for node in root.iter(NS + tag):
            problems.append("%s: %r" % (tag, text(node)))
    for node in root.iter(NS + "strong"):
        if not is_ours(node):
            problems.append("strong: %r" % text(node))
    for node in root.iter(NS + "html_inline"):
        if node.text not in ("<code>", "</code>", "<!-- -->"):
            problems.append("tag: %r" % node.text)
    for part in texts(root):
        found = re.search(r"@\w|#\d|(^|\W)!\d|:[a-z]\w*:|:\+1:|:100:|https?://\w|gh-\d", part, re.I)
        if found:
            problems.append("GitHub would change %r" % part)
    tables = root.findall(".//" + NS + "table")
    titles = {text(t[0][-1]): t for t in tables}
    for by in ("target", "program"):
        names = [text(row[-1]) for row in titles[by][1:]]
        names = [re.sub(r" \(\d+ tasks\)$", "", n) for n in names]
        if names != expected(by):
            pairs = [p for p in zip(names, expected(by)) if p[0] != p[1]]
            problems.append("by %s: %r" % (by, pairs[:3] or (len(names), len(expected(by)))))
    widths = {len(row) for t in tables for row in t if len(row) != len(t[0])}
    if widths:
        problems.append("rows of other widths: %r" % widths)
    for p in problems:
        print(p)
    return bool(problems)


BUILDBEAT, RECORDING = sys.argv[1:]
sys.exit(main())
