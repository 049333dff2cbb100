# SPDX-License-Identifier: MIT
"""Sample outputs in texts are what the commands print.

samples.py SRCDIR       in the build directory; with UPDATE_GOLDEN=1 the samples are rewritten

A sample in README.md is a code block after a comment, <!-- sample: COMMAND -->, in a page a
literal display after .\\" sample: COMMAND. That of `buildbeat record` is its summary. Commands run in a copy of tests/data/example, the
recording of a build of examples/make, beside builds.git, an archive of made-up builds of
the same project. The pictures in examples/make are drawn from the same recording.
"""
import difflib
import glob
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile

TASKS = [       # target, wall time and CPU time in ms, peak memory in MiB
    ("lib/stopwords.c", 6, 5, 4), ("lib/arena.o", 38, 36, 29), ("lib/corpus.o", 41, 39, 30),
    ("lib/index.o", 47, 45, 33), ("lib/libix.a", 160, 53, 56), ("src/ixbuild", 21, 14, 27),
    ("src/ixquery", 22, 14, 27), ("data/part1.txt", 189, 187, 2), ("data/part2.txt", 190, 188, 2),
    ("data/corpus.idx", 3410, 3390, 121), ("test/top.ok", 404, 402, 159),
    ("test/near.ok", 275, 274, 159), ("index.tar.gz", 1060, 1055, 2),
]
BUILDS = 12
SLOW_SINCE = 10         # two builds


def made_build(directory, n):
    """One build a day, 30 times the example's length, noise of a percent or two."""
    os.mkdir(directory)
    start = 1795329131 + n * 86400
    at, user, lines = 0, 0, ["buildbeat tasks 1", "open\t0\tm\t100\t0\t100,99\tmake\t4.3\t/src/index\tmake"]
    for i, (name, wall, cpu, mib) in enumerate(TASKS):
        factor = 30 * (1 + ((n * 37 + i * 17) % 23 - 11) / 800)
        if name == "data/corpus.idx" and n >= SLOW_SINCE:
            factor *= 1.18
        wall_us, cpu_us = int(wall * factor * 1000), int(cpu * factor * 1000)
        lines.append("start\t%d\tm.%d\t%d\t\t\t%s\t" % (at, i + 1, 101 + i, name))
        at += wall_us
        user += cpu_us
        lines.append("done\t%d\tm.%d\t0\t%d\t%d\t%d\t10\t0\t0\t0\t5\t3"
                     % (at, i + 1, cpu_us - cpu_us // 20, cpu_us // 20, mib * 1024 + n))
    lines.append("close\t%d\tm\n" % at)
    build = ["buildbeat build 1", "start_wall_ns: %d000000000" % start, "start_mono_ns: 5",
             "command: make", "cwd: /src/index", "tool: make", "version: 4.3", "host: builder",
             "kernel: 6.1.0", "machine: x86_64", "cores: 2", "memory_kb: 8388608",
             "source: /src/index", "revision: " + hashlib.sha1(b"%d" % n).hexdigest(), "branch: main",
             "dirty: no", "end_us: %d" % at, "status: 0", "user_us: %d" % (user - user // 20),
             "system_us: %d\n" % (user // 20)]
    with open(directory + "/build", "w") as f:
        f.write("\n".join(build))
    with open(directory + "/tasks.log", "w") as f:
        f.write("\n".join(lines))


class Place:
    """A directory in which the samples' commands find what they are about."""

    def __init__(self, src, build):
        self.dir = tempfile.mkdtemp()
        bin_dir = self.dir + "/bin"
        os.mkdir(bin_dir)
        os.symlink(build + "/buildbeat", bin_dir + "/buildbeat")
        self.work = self.dir + "/index"
        shutil.copytree(src + "/tests/data/example", self.work)
        for path in [self.work, *glob.glob(self.work + "/**", recursive=True)]:
            os.chmod(path, 0o755 if os.path.isdir(path) else 0o644)
        self.environment = {"PATH": bin_dir + ":" + os.environ["PATH"], "TZ": "UTC", "LC_ALL": "C.UTF-8",
                            "HOME": self.dir, "GIT_CONFIG_NOSYSTEM": "1",
                            "GIT_COMMITTER_DATE": "1795329131 +0000"}
        os.symlink(os.path.basename(sorted(glob.glob(self.work + "/buildstats/*"))[-1]),
                   self.work + "/buildstats/latest")
        for n in range(BUILDS):
            made_build("%s/made-%02d" % (self.dir, n), n)
            self.run("buildbeat archive --repo builds.git ../made-%02d" % n)

    def run(self, command):
        r = subprocess.run(["sh", "-c", command], cwd=self.work, env=self.environment,
                           capture_output=True, text=True)
        if r.stderr or r.returncode > 1:
            sys.exit("%s: status %d: %s" % (command, r.returncode, r.stderr))
        return r.stdout

    def summary(self, _):
        """What `record` prints at the end of a build that leaves the example's recording."""
        name = os.readlink(self.work + "/buildstats/latest")
        os.rename(self.work + "/buildstats/" + name, self.dir + "/example")
        build = "mv buildstats/%s ../replaced && cp -R ../example buildstats/%s" % (name, name)
        out = self.run("buildbeat record --no-git --summary -n %s -- sh -c '%s' 2>&1" % (name, build))
        for done in ["/replaced", "/example"]:
            shutil.rmtree(self.dir + done)
        return out

    def close(self):
        shutil.rmtree(self.dir)


MARKDOWN = re.compile(r"(<!-- sample: (.*?) -->\n```[a-z]*\n)(.*?)(^```$)", re.S | re.M)
MDOC = re.compile(r'(^\.\\" sample: ([^\n]*)\n\.Bd [^\n]*\n)(.*?)(^\.Ed$)', re.S | re.M)


def as_mdoc(text):
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return re.sub(r"^\.", r"\\&.", text, flags=re.M)


def with_samples(path, text, place):
    in_page = not path.endswith(".md")

    def sample(m):
        command = m.group(2)
        out = (place.summary if command.startswith("buildbeat record ") else place.run)(command)
        return m.group(1) + (as_mdoc(out) if in_page else out) + m.group(4)

    return (MDOC if in_page else MARKDOWN).sub(sample, text)


def find(svg, pattern, what):
    m = re.search(pattern, svg)
    if not m:
        sys.exit("the annotated chart: no %s in the bootchart; mend annotated() in %s"
                 % (what, __file__))
    return [float(x) for x in m.groups()]


def without_script(text):
    return re.sub(r"<script.*?</script>", "", text, flags=re.S)


# The texts beside which the annotated chart has its numbers, at their baseline.
NOTED = [
    ("verdict", r'class="verdict" x="[\d.]+" y="([\d.]+)"'),
    ("path", r'class="title" x="[\d.]+" y="([\d.]+)">What the end'),
    ("nested builds", r'class="label" x="[\d.]+" y="([\d.]+)">nested'),
    ("first worker", r'class="label" x="[\d.]+" y="([\d.]+)">1<'),
    ("CPU", r'class="title" x="[\d.]+" y="([\d.]+)">CPU'),
    ("running tasks", r'class="title" x="[\d.]+" y="([\d.]+)">Running tasks'),
    ("memory", r'class="title" x="[\d.]+" y="([\d.]+)">Memory of the tasks'),
    ("marks", r'data-mark="cpu".*?y="([\d.]+)"'),
]


def annotated(svg):
    """The bootchart without its script, with the numbers that README's guide explains."""
    svg = without_script(svg)
    svg = re.sub(r"<metadata.*?</metadata>", "", svg, flags=re.S)
    out = ['<g id="notes" font-family="sans-serif" font-size="12">']
    for number, (what, pattern) in enumerate(NOTED, 1):
        out.append('<g transform="translate(11 %.1f)"><circle cx="0" cy="0" r="9" fill="#9a6700"/>'
                   '<text x="0" y="4.2" text-anchor="middle" style="fill:#ffffff;font-weight:bold">%d</text></g>'
                   % (find(svg, "(?s)" + pattern, what)[0] - 4, number))
    out.append("</g></svg>")
    return re.sub(r"</svg>\s*$", lambda m: "\n".join(out) + "\n", svg)


def main():
    src, build = os.path.abspath(sys.argv[1]), os.getcwd()
    place = Place(src, build)
    expected = {}
    try:
        for path in ["README.md"] + sorted(glob.glob("man/*.[1-9]", root_dir=src)):
            with open(src + "/" + path, encoding="utf-8") as f:
                expected[path] = with_samples(path, f.read(), place)
        chart = place.run("buildbeat chart --only bootchart -o chart.svg && cat chart.svg").split("\n", 1)[1]
        expected["examples/make/bootchart.svg"] = chart
        expected["examples/make/annotated.svg"] = annotated(chart)
    finally:
        place.close()
    bad = 0
    for path, text in expected.items():
        try:
            with open(src + "/" + path, encoding="utf-8") as f:
                old = f.read()
        except FileNotFoundError:
            old = ""
        if without_script(old) == without_script(text):
            continue
        if os.environ.get("UPDATE_GOLDEN"):
            with open(src + "/" + path, "w", encoding="utf-8") as f:
                f.write(text)
            continue
        bad += 1
        diff = list(difflib.unified_diff(old.split("\n"), text.split("\n"), path, "as it is now", lineterm=""))
        print("\n".join(line[:200] for line in diff[:40]))
    if bad:
        print("UPDATE_GOLDEN=1 tests/samples.sh rewrites the samples; then read the diff")
    sys.exit(bad > 0)


main()
