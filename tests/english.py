# SPDX-License-Identifier: MIT
"""Texts for people are plain English, in the words of the glossary in HACKING.md.

english.py SRCDIR            check every file
english.py SRCDIR FILE...    check these files

Texts are: README, COMPARISON, NEWS and HACKING; the pages; string literals of the C sources, the
scripts and the charts' JavaScript; comments; comments and names of tests; the help of every
command, if ./buildbeat is there. A finding is PATH:LINE: TEXT: reason; what to write instead.
"""
import os
import re
import subprocess
import sys

MOST_WORDS = 30         # of a sentence
MOST_CELL_WORDS = 15    # of a table's cell

# (what may not appear, what to write instead)
SHAPES = [
    (r"\b(told|tells?|telling)\b", "report, print, show, record or detect"),
    (r"\bnights?\b", "build; 'nightly' only where the time of day matters"),
    (r"\bfigures?\b", "metric (what is measured), value (one number)"),
    (r"\bstands?\b(?!\s+(for|out|in for)\b)", "name what is where: 'is in'; the noun: 'the text after'"),
    (r"(?<!there )\b(is|are|was|were|be|been) none\b", "is skipped, is missing, does not exist"),
    (r"\b(of|out of) all that\b", "the noun: 'of the reported changes'"),
    (r"\ball there (is|are)\b|\ball that is\b", "everything, or the noun"),
    (r"\b(but|what|which) (it )?is not\b(?= [a-z]+ (is|are|was)\b)", "the noun"),
    (r"\bbut for\b", "except"),
    (r"(?<!#)(?<!any)(?<!thing\s)(?<!body\s)(?<!one\s)(?<!where\s)(?<!what\s)(?<!who\s)"
     r"\belse\b(?! (branch|part|if)\b)", "otherwise"),
    (r"\ball else\b", "everything else"),
    (r"\b(lay|lays|laid|laying)\b", "add to, place"),
    (r"\b(hold|holds|held) against\b", "compare with"),
    (r"\b(is|are|be) unable to\b", "cannot"),
    (r"\btaken for\b(?! granted)", "treated as"),
    (r"\b(is|are|be|was) kept of\b", "is recorded of"),
    (r"\bmay be chance\b", "the false discovery rate, with its value"),
    (r"\blooks? (at|of) /proc\b|\blooks at /proc\b", "poll, read"),
    (r"\bdoubtful\b", "suspect"),
    (r"\bcut (off|short)\b", "truncated"),
    (r"\btorn\b(?! (last )?lines?\b)", "truncated"),
    (r"\b(put|puts|putting) up with\b", "tolerate"),
    (r"\b(is|are|was|were) to be\b", "must be, will be, or an active verb"),
    (r"\bought\b", "should"),
    (r"\btrifles?\b", "the noun"),
    (r"\bas ever\b", "unchanged"),
    (r"\bin (its|their) turn\b", "the subject again"),
    (r"\bwithout(?=[,.;:]| is\b| its\b.* tells)", "without and a noun"),
    (r"\bjudg(e|es|ed|ing)\b", "check, compare, test"),
    (r"\b(is|was) over(?=[,.;:)]|$)", "has ended"),
    (r"\b(where|there|here|wher|there)(in|of|upon|by|unto)\b(?<!thereby)(?<!whereby)", "in it, of it"),
    (r"\bforgets? (old|the|a)\b", "delete"),
    (r"\bfrom (then|there|here) on\b", "from this build on, afterwards"),
    (r"\bcomes? (of|to) it\b", "the result"),
    (r"\bwhat (it|they|this|that) comes? to\b", "the result"),
    (r"\bbelongs? to nobody\b", "has no owner"),
    (r"\bgoes (along|for) (with )?(it|them)\b", "applies"),
    (r"\bbe it\b", "even if, whether"),
    (r"\bin the (kernel|machine)'s books\b", "as the kernel counts it"),
    (r"\bwhat is (there|here)\b", "the noun"),
    (r"\bso (much|many) (as|is|are|must|of)\b", "the number"),
    (r"\bis said\b|\bare said\b|\bsaid of\b", "is printed, is reported"),
    (r"\bof (one's|its|their|your) own accord\b", "automatically"),
    (r"\bnowhere else\b", "only here"),
    (r"\bnor a\b", "and a"),
]
SHAPES = [(re.compile(shape, re.I), instead) for shape, instead in SHAPES]

# Allowed, by the exact text around it.
ALLOWED = [
    "something else", "everything else", "anything else", "nothing else", "nobody else",
    "examples/nightly", "not judged", "#else",
    "looks at /proc",           # in recordings: the source of processes.log
    "last line is torn", "the last is torn",
]

# The rooms whose literals and comments are read.
ROOMS = ("analyse archive base bisect cli command compare convert launch plugin recording "
         "render report sampler stats trace write").split()


class Text:
    """Text with the line of each character: paragraphs, one sentence or more each."""

    def __init__(self, path, line, text, cell=False):
        self.path, self.line, self.text, self.cell = path, line, text, cell

    def line_at(self, offset):
        return self.line + self.text.count("\n", 0, offset)


def read(path):
    with open(path, encoding="utf-8", errors="replace") as f:
        return f.read()


def markdown(path, text):
    """Paragraphs, list items and cells; code spans become one word, code blocks none."""
    block, start, fenced, glossary = [], 1, False, False

    def flush():
        if block:
            yield Text(path, start, "\n".join(block))
            block.clear()

    for n, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
            yield from flush()
            continue
        if fenced:
            continue
        line = re.sub(r"`[^`]*`", "CODE", line)
        line = re.sub(r"<!--.*?-->|</?[a-z][^>]*>", "", line)
        line = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", line)
        if line.startswith("| write | not |"):
            glossary = True
        elif not line.startswith("|"):
            glossary = False
        if line.startswith("|"):
            yield from flush()
            if glossary:        # names what may not appear
                continue
            for cell in line.strip("| ").split("|"):
                yield Text(path, n, cell.strip(), cell=True)
        elif not line.strip():
            yield from flush()
        else:
            if re.match(r" *([-*]|\d+\.) |#", line):
                yield from flush()
            if not block:
                start = n
            block.append(re.sub(r"^ *([-*]|\d+\.) |^#+ ", "", line))
            if line.startswith("#"):
                yield from flush()
    yield from flush()


MACROS = set("""Xr Pa Fl Ar Nm Cm Dq Sq Pq Bq Li Ic Va Vt Fa Fn Ev Em Sy Ns No Op Dv Er Qq Ql Lk Mt
 Ft Fd In Bd Pf Ap Aq Bro Brq Oo Oc Do Dc Po Pc So Sc Qo Qc An At Tn Ux Dl D1 Ms Tg Cd Ad""".split())


def page(path, text):
    """An mdoc page: a macro's words, punctuation joined. Literal displays and the synopsis are
    skipped."""
    block, start, literal = [], 1, False

    def flush():
        if block:
            yield Text(path, start, "\n".join(block))
            block.clear()

    for n, line in enumerate(text.split("\n"), 1):
        original = line
        if line.startswith('.\\"'):
            continue
        line = re.sub(r"\\\(aq", "'", line)
        line = re.sub(r"\\\(..|\\&|\\f.|\\e", "", line).replace("\\-", "-")
        if line.startswith(".Bd"):
            literal = True
        if line.startswith(".Sh"):
            literal = "SYNOPSIS" in line or "SEE ALSO" in line      # a list of names is no sentence
        if line.startswith(".Ed"):
            literal = False
            yield from flush()
            continue
        if literal:
            yield from flush()
            continue
        if line.startswith("."):
            words = line[1:].split()
            macro = words[0] if words else ""
            if macro in ("Sh", "Ss", "Pp", "It", "Bl", "El", "Dd", "Dt", "Os", "Dl", "D1", "Rs", "Re",
                         "TS", "TE", "Vt", "Ft", "Fn", "Fd", "In", "Fo", "Fc"):
                yield from flush()
                if macro in ("Dl", "D1", "Dd", "Dt", "Ft", "Fn", "Fd", "In", "Fo", "Vt"):
                    continue
                words = [w for w in words[1:] if not w.startswith("-")] if macro != "Bl" else []
            closing = ""
            while words and re.fullmatch(r"[.,:;)]+", words[-1]):
                closing = words.pop() + closing
            if "Ql" in words or macro == "Ql":      # literals: JSON keys and values
                words = words[:words.index("Ql")] + ["CODE"] if "Ql" in words else ["CODE"]
            kept = [w for w in words if w not in MACROS]
            if macro == "Xr":
                kept = kept[:1]
            line = " ".join(kept) + closing
            if not line:
                continue
        if not line.strip():
            yield from flush()
            continue
        if not block:
            start = n
        block.append(line)
        if original.startswith((".It", ".Sh", ".Ss")):
            yield from flush()
    yield from flush()


C_TOKEN = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\'', re.S)


def comment_text(comment):
    comment = re.sub(r"^/\*+|\*+/$|^//", "", comment)
    # examples are indented deeper than text
    comment = re.sub(r"^[ \t]*\*?(\t| {4,}).*$", "", comment, flags=re.M)
    return re.sub(r"^[ \t]*\*[ \t]?", "", comment, flags=re.M)


def unescape(literal):
    literal = re.sub(r"\\[nt]", " ", literal)
    return re.sub(r"\\(.)", r"\1", literal)


def c_test(path, text):
    """Comments and names of tests; their strings are input and expected output."""
    for m in C_TOKEN.finditer(text):
        if m.group()[0] == "/" and "SPDX" not in m.group():
            yield Text(path, text.count("\n", 0, m.start()) + 1, comment_text(m.group()))
    for m in re.finditer(r"^(?:START_)?TEST(?:_LOOP|_RANGE|_EACH|_UNTIMED)?\((\w+)", text, re.M):
        yield Text(path, text.count("\n", 0, m.start()) + 1, m.group(1).replace("_", " "))


def c_source(path, text):
    """String literals, those side by side joined, and comments."""
    last_end, joined, start = None, "", 1

    def flush():
        nonlocal joined
        if joined and re.search(r"[A-Za-z]{2,}[ ,]+[a-z%']", joined):
            yield Text(path, start, joined)
        joined = ""

    for m in C_TOKEN.finditer(text):
        token = m.group()
        line = text.count("\n", 0, m.start()) + 1
        if token[0] == '"':
            between = text[last_end:m.start()] if last_end is not None else "x"
            if not joined or not re.fullmatch(r"\s*([A-Z_]+[A-Z0-9_]*)?\s*", between):
                yield from flush()
                start = line
            elif re.search(r"[A-Z]", between):
                joined += "NAME"
            joined += unescape(token[1:-1])
            last_end = m.end()
        elif token[0] == "/":
            if "SPDX" not in token:
                yield Text(path, line, comment_text(token))
    yield from flush()


def script(path, text):
    """Comments and strings of shell and Python."""
    block, start = [], 1
    for n, line in enumerate(text.split("\n") + [""], 1):
        m = re.match(r"\s*#(?!!)\s?(.*)", line)
        if m and "SPDX" not in line:
            if not m.group(1).strip() or m.group(1).startswith(("\t", "  ")):
                if block:
                    yield Text(path, start, "\n".join(block))
                    block = []
                continue
            if not block:
                start = n
            block.append(m.group(1))
            continue
        if block:
            yield Text(path, start, "\n".join(block))
        block = []
        for quoted in re.findall(r'"((?:[^"\\]|\\.)*)"', line):
            if re.search(r"[A-Za-z]{2,} [a-z]", quoted):
                yield Text(path, n, unescape(quoted))


def news(path, text):
    block, start = [], 1
    for n, line in enumerate(text.split("\n") + [""], 1):
        if not line.strip() or line.startswith("* "):
            if block:
                yield Text(path, start, "\n".join(block))
            block, start = [], n
        if line.strip():
            block.append(line.removeprefix("* "))


def texts_of(path, text):
    name = os.path.basename(path)
    if name.endswith(".md"):
        return markdown(path, text)
    if name == "NEWS":
        return news(path, text)
    if re.search(r"\.[1-9]$", name):
        return page(path, text)
    if path.startswith("tests/") and name.endswith((".c", ".h")):
        return c_test(path, text)
    if name.endswith((".c", ".h", ".js", ".css")):
        return c_source(path, text)
    return script(path, text)


WORD = re.compile(r"[A-Za-z]")


def sentences(text):
    """(offset, sentence)"""
    begin = 0
    for m in re.finditer(r"[.!?:][\"')]*(?=\s|$)", text):
        # "e.g. x", "1. x", "vs. x"
        if re.search(r"\b(e\.g|i\.e|vs|etc|cf|\d)\.$", text[begin:m.end()]):
            continue
        yield begin, text[begin:m.end()]
        begin = m.end()
    yield begin, text[begin:]


def shortened(text, offset):
    text = " ".join(text[max(0, offset - 30):offset + 50].split())
    return text


def findings(t):
    for shape, instead in SHAPES:
        for m in shape.finditer(t.text):
            if m.group() in ("figure", "figures") and t.path.startswith("render/plot/"):
                continue        # gnuplot's pictures
            around = t.text[max(0, m.start() - 20):m.end() + 20]
            if not any(allowed in " ".join(around.split()) for allowed in ALLOWED):
                yield (t.path, t.line_at(m.start()),
                       "'%s' in \"%s\"; write: %s" % (m.group(), shortened(t.text, m.start()), instead))
    if t.cell:
        n = sum(1 for w in t.text.split() if WORD.search(w))
        if n > MOST_CELL_WORDS:
            yield t.path, t.line, "a cell of %d words (at most %d): \"%s\"" % (
                n, MOST_CELL_WORDS, shortened(t.text, 0))
        return
    if not re.search(r"[.,;:]", t.text):        # a list of words
        return
    for offset, sentence in sentences(t.text):
        n = sum(1 for w in sentence.split() if WORD.search(w))
        if n > MOST_WORDS:
            lead = len(sentence) - len(sentence.lstrip())
            yield (t.path, t.line_at(offset + lead), "a sentence of %d words (at most %d): \"%s\""
                   % (n, MOST_WORDS, shortened(sentence.lstrip(), 0)))


def all_files():
    files = ["README.md", "COMPARISON.md", "NEWS", "HACKING.md", "quickstart"]
    for top in ROOMS + ["man", "examples/nightly", "tests"]:
        for directory, _, names in os.walk(top):
            if directory.startswith("tests/") and not directory.startswith("tests/browser"):
                continue
            files += [os.path.join(directory, n) for n in names
                      if re.search(r"\.([ch]|js|css|py|bbclass\.in|sh|yml|[1-9])$", n)]
    return sorted(files)


def help_texts():
    """What ./buildbeat prints as help, in the build directory."""
    def run(*words):
        return subprocess.run(["./buildbeat", *words], capture_output=True, text=True).stdout

    overview = run("help")
    for n, line in enumerate(overview.split("\n"), 1):
        yield Text("buildbeat help", n, line)
    for name in re.findall(r"^  ([a-z]+) +[A-Z]", overview, re.M):
        for n, line in enumerate(run("help", name).split("\n"), 1):
            if line and not line.startswith(("usage:", "      ")):
                yield Text("buildbeat help " + name, n, re.sub(r"^  (-., |    )\S+( [A-Z]\S*)? +", "",
                                                               line))


def main():
    build = os.getcwd()
    os.chdir(sys.argv[1])
    named = [os.path.relpath(f, os.getcwd()) if os.path.isabs(f) else f for f in sys.argv[2:]]
    bad = 0
    for path in named or all_files():
        for t in texts_of(path, read(path)):
            for where, line, message in findings(t):
                print("%s:%d: %s" % (where, line, message))
                bad += 1
    os.chdir(build)
    if not named and os.path.exists("./buildbeat"):
        for t in help_texts():
            for where, line, message in findings(t):
                print("%s:%d: %s" % (where, line, message))
                bad += 1
    if bad:
        print("%d findings; see the table of words in HACKING.md" % bad)
    sys.exit(bad > 0)


main()
