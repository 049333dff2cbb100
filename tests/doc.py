#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads a document of tests/check_doc.c in each format: names are exactly text, tables are whole.

	doc.py DIRECTORY"""
import html.parser
import json
import re
import subprocess
import sys
import xml.etree.ElementTree as tree

NS = "{http://commonmark.org/xml/1.0}"
VOID = ("br", "meta", "input")


def read(name):
    with open(DIR + "/" + name, "rb") as f:
        return f.read()


def expect(what, got, wanted):
    if got != wanted:
        pairs = [p for p in zip(got, wanted) if p[0] != p[1]]
        sys.exit("%s: %r" % (what, pairs[:3] or (len(got), len(wanted))))


def check_terminal():
    lines = read("terminal").decode().split("\n")
    expect("terminal: characters", [c for c in "".join(lines) if ord(c) < 32 or 127 <= ord(c) < 160], [])
    head, at = lines[2], lines[2].index("name")
    expect("terminal: title", [lines[1], head.split()], [shown[1], "count time size share busy name".split()])
    expect("terminal: names", [line[at:] for line in lines[3:3 + ROWS]], shown)
    expect("terminal: pairs", lines[3 + ROWS + 2:-2],
           ["  %s -> %s" % p for p in zip(shown, reversed(shown))])


def text(node):
    return "".join(e.text or "" for e in node.iter() if e.tag in (NS + "text", NS + "code"))


def check_markdown():
    xml = subprocess.run(["cmark-gfm", "-e", "table", "-e", "autolink", "-e", "strikethrough", "-t", "xml"],
                         input=read("markdown"), stdout=subprocess.PIPE, check=True).stdout.decode()
    root = tree.fromstring(re.sub("<!DOCTYPE[^>]*>", "", xml))
    for tag in ("link", "image", "strikethrough", "html_block", "emph", "strong", "block_quote", "thematic_break",
                "code", "code_block", "softbreak"):
        expect("markdown: " + tag, [text(n) for n in root.iter(NS + tag)], [])
    expect("markdown: tags", {n.text for n in root.iter(NS + "html_inline")} - {"<!-- -->"}, set())
    for node in root.iter(NS + "text"):
        found = re.search(r"@\w|#\d|(^|\W)!\d|:[a-z]\w*:|https?://\w|gh-\d", node.text or "", re.I)
        expect("markdown: GitHub would change", [found and node.text], [None])
    expect("markdown: title", text(root.find(NS + "heading")), shown[1])
    rows = root.findall(".//%stable/*" % NS)
    expect("markdown: columns", [len(r) for r in rows], [6] * (ROWS + 1))
    expect("markdown: names", [text(r[0]) for r in rows[1:]], shown)
    items = [text(i) for i in root.iter(NS + "item")]
    expect("markdown: pairs", items, ["%s → %s" % p for p in zip(shown, reversed(shown))] + ["and 3 more"])


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.path, self.rows, self.titles = [], [], []
        self.feed(text)
        self.close()
        expect("html: open elements", self.path, [])

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.path.append(tag)
        if tag == "tr":
            self.rows.append([])
        elif tag in ("td", "th"):
            self.rows[-1].append("")
        elif tag == "h2":
            self.titles.append("")

    def handle_endtag(self, tag):
        expect("html: end of", tag, self.path.pop())

    def handle_data(self, data):
        if "td" in self.path or "th" in self.path:
            self.rows[-1][-1] += data
        elif "h2" in self.path:
            self.titles[-1] += data


def check_html():
    page = Page(read("html").decode())
    expect("html: titles", page.titles, [shown[1], "List"])
    expect("html: columns", [len(r) for r in page.rows], [6] * (ROWS + 1) + [2] * ROWS)
    expect("html: names", [r[0] for r in page.rows[1:ROWS + 1]], shown)
    expect("html: pairs", [tuple(r) for r in page.rows[ROWS + 1:]], list(zip(shown, reversed(shown))))


def check_json():
    rows = json.loads(read("json"))["rows"]
    once = [re.sub("�+", "�", r["name"]) for r in rows]
    expect("json: names", once, [re.sub("�+", "�", b.decode(errors="replace")) for b in data])
    for i, r in enumerate(rows):
        expect("json: values", [r["count"], r["us"], r["kb"], r["busy"]],
               [i if i % 7 else None, 1000 * i, 1024 * i, i])
        expect("json: numbers", [r["share"] is None], [not i % 5])


DIR = sys.argv[1]
shown, data = [], []
for line in read("names").decode().split("\n")[:-1]:
    shown.append(line.rsplit("\t", 1)[0])
    data.append(bytes.fromhex(line.rsplit("\t", 1)[1]))
ROWS = len(shown)
check_terminal()
check_markdown()
check_html()
check_json()
