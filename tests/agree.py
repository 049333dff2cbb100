# SPDX-License-Identifier: MIT
# Reads all outputs about one recording and fails if two of them contradict each other:
#   agree.py BUILDBEAT DIRECTORY RECORDING
#   agree.py BUILDBEAT DIRECTORY RECORDING steady
# DIRECTORY is for files. steady: all samples are about a second apart. It reads show as text, JSON and Markdown,
# list, profile, and the texts and the packed data of the chart. It also reads Chrome and Perfetto traces, OTLP and
# Prometheus, and the pages of profile, diff, report and serve.
import html
import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as tree

import agree_pages
import packed
import trace_reader

SVG = "{http://www.w3.org/2000/svg}"
NUMBERS = {"tasks", "processes", "wall", "CPU", "memory", "disk", "files"}
UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1, "m": 60, "h": 3600, "d": 86400}
problems = []


def same(what, a, b):
    if a != b:
        problems.append("%s: %r and %r" % (what, a, b))


def at_most(what, a, b):
    if not a <= b:
        problems.append("%s: %r is more than %r" % (what, a, b))


def run(*args):
    """Of an output to a file: export writes no file that exists."""
    for path in args[args.index("-o") + 1:][:1] if "-o" in args else []:
        if os.path.isfile(path):
            os.remove(path)
    env = dict(os.environ, COLUMNS="1000000", TZ="UTC0", LC_ALL="C.UTF-8")
    return subprocess.run([BUILDBEAT, *args], env=env, check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode("utf-8", "replace")


def find(pattern, text, group=1):
    m = re.search(pattern, text, re.M)
    return m.group(group) if m else None


def seconds(text):
    """Of "1m 43s": the least and the most that is printed so."""
    least = step = 0
    for number, unit in re.findall(r"([0-9.]+) ?(us|ms|s|m|h|d)\b", text):
        step = UNITS[unit] * 10.0 ** -len(number.partition(".")[2])
        least += float(number) * UNITS[unit]
    return least - step, least + step


def is_time(what, text, us):
    least, most = seconds(text)
    if not least <= us / 1e6 <= most:
        problems.append("%s: %s is not %d us" % (what, text, us))


def facts_of_text(text):
    """Of show: label -> text of the line."""
    facts = {}
    for line in text.split("\n\n  start")[0].splitlines():
        m = re.match(r"([a-z ]{1,10}?) {2,}(\S.*)$", line)
        if m:
            facts.setdefault(m.group(1), m.group(2))
    return facts


def verdict_of_text(text):
    """The paragraph between the command and the facts."""
    parts = text.split("\n\n")
    return [] if re.match(r"(when|where|result|directory) ", parts[0].partition("\n")[2]) or \
        len(parts) < 3 else parts[1].splitlines() if "  " not in parts[1][:11] else []


def texts_of_picture(root):
    return ["".join(t.itertext()) for t in root.iter(SVG + "text")]


def facts_of_picture(texts):
    return {a: b for a, b in zip(texts, texts[1:])}


def numbers_of_picture(root):
    for script in root.iter(SVG + "script"):
        if script.get("id") == "data":
            return packed.read(script.text)[1]
    return None


def packed_head(root):
    for script in root.iter(SVG + "script"):
        if script.get("id") == "data":
            return json.loads(script.text.split("\n", 1)[0])
    return None


def check_text(show, text):
    facts, totals = facts_of_text(text), show["totals"]
    tasks = find(r"^(\d+)", facts["tasks"])
    same("tasks of show", int(tasks), totals["tasks"])
    same("targets of show", int(find(r"^\d+ for (\d+) targets?", facts["tasks"]) or tasks),
         totals["targets"])
    is_time("result", facts["result"].rpartition(" for " if "seen for" in facts["result"] else
                                                 "after ")[2], totals["wall_us"])
    if "build" in facts:
        is_time("CPU time", facts["build"].split(" of CPU")[0], totals["cpu_us"])
    if "at once" in facts:
        same("most at once", int(find(r"(\d+) at most", facts["at once"])),
             show["parallelism"]["max"])
    same("verdict of show", verdict_of_text(text), [a["text"] for a in show["answer"]])
    if "path" in facts:
        path = show["path"]
        same("tasks of the path", int(find(r"^(\d+) tasks?", facts["path"])), len(path["tasks"]))
        same("links without a worker", int(find(r"(\d+) (?:waited )?for a free worker", facts["path"]) or 0),
             path["worker_links"])
        same("links of a pool", int(find(r"(\d+) (?:waited )?for a pool", facts["path"]) or 0),
             path["pool_links"])
        same("links of unknown reasons", int(find(r"(\d+) (?:waited )?for an unknown reason", facts["path"]) or 0),
             path["unknown_links"])
        first = next((i for i, t in enumerate(path["tasks"]) if t["waited_for"] not in ("nothing", "line")), len(path["tasks"]))
        same("links", sum(n for key, n in path.items() if key.endswith("_links")),
             sum(t["link"] != "none" or i >= first for i, t in enumerate(path["tasks"])))
        if show["dependencies"]["recorded"]:
            is_time("bound", re.split(" with| on", facts["at least"])[0],
                    show["dependencies"]["least_wall_us"])
    return facts


def check_cpu_of_task(task):
    """With and without the tasks inside it."""
    own, parts = task["self"], (task["cpu_user_us"], task["cpu_system_us"])
    if own["cpu_us"] is None or None in parts:
        return
    at_most("own CPU time of a task", own["cpu_us"], sum(parts))
    if not task["hosting"]:
        same("CPU time of a task", own["cpu_us"], sum(parts))
        same("bound of CPU time of a task", own.get("at_least"), task.get("at_least"))


def check_sums(show):
    totals, tasks = show["totals"], show["tasks"]
    ran = [t for t in tasks if t["start_us"] is not None and t["state"] != "queued"]
    same("number of tasks", len(tasks), totals["tasks"])
    for state in ("done", "failed", "killed", "unfinished", "queued"):
        same("tasks " + state, sum(t["state"] == state for t in tasks), totals["tasks_" + state])
    same("kinds", sum(k["tasks"] for k in show["kinds"]), len(ran))
    same("time by kind", sum(k["wall_us"] for k in show["kinds"]), show["selected"]["wall_us"])
    same("time by task", sum(t["self"]["wall_us"] for t in ran), show["selected"]["wall_us"])
    same("selected targets", show["selected"]["targets"], totals["targets"])
    same("time at each number", sum(show["parallelism"]["time_at_us"]),
         totals["wall_us"] if show["parallelism"]["time_at_us"] else 0)
    least = show["dependencies"]["least_wall_us"]
    at_most("bound", least or 0, totals["wall_us"])
    for t in ran:
        check_cpu_of_task(t)
    ends = {t["task"]: t["end_us"] for t in tasks}
    for t in show["path"]["tasks"] + show["dependencies"]["tasks"]:
        same("end on a path", t["end_us"], ends[t["task"]] or t["end_us"])


def directory_of(task, by_id, build):
    """As buildbeat-show(1) says: that of the file, of the task that ran the others, or of the make."""
    outer = task
    while outer["parent"]:
        outer = by_id[outer["parent"]]
        if outer["kind"] not in ("make", "shell", "script", "other"):
            task = outer
    name = task["name"]
    if " " in name[:name.rfind("/") + 1]:
        name = ""
    here = os.path.normpath(os.path.join(build, task["directory"] or ".", os.path.dirname(name)))
    return os.path.relpath(here, build) if here == build or here.startswith(build + "/") else here


def add(sums, name, task):
    cost = task["self"]
    values = [1, cost["wall_us"], cost["cpu_us"] or 0, cost["disk_read_bytes"] or 0,
              cost["disk_written_bytes"] or 0]
    sums[name] = [a + b for a, b in zip(sums.get(name, [0] * 5), values)]


def values_of(group):
    return [group.get("tasks", group.get("processes")), group["wall_us"], group["cpu_us"] or 0,
            group.get("disk_read_bytes") or 0, group.get("disk_written_bytes") or 0]


def check_table(show, table, by_id, ran):
    """A table of --by, and what tasks say; and the text, which has a row for each group."""
    rest, what, build = table["in_no_group"], "by " + table["by"], show["build"]["cwd"]
    groups = {g["name"]: values_of(g) for g in table["largest"]}
    same(what + ", groups", len(groups), table["groups"])
    sums = [sum(v) for v in zip([0] * 5, *groups.values())]
    total = [a + b for a, b in zip(sums, [0, 0, rest["cpu_us"], rest["disk_read_bytes"] or 0,
                                          rest["disk_written_bytes"] or 0])]
    same(what + ", total", total, values_of(table["total"]))
    if show["totals"]["cpu_exact"] and rest["cpu_us"]:
        same(what + ", CPU time of the build", total[2], show["totals"]["cpu_us"])
    if table["of"] == "tasks":
        same(what + ", tasks", sums[0], len(ran))
        same(what + ", wall time", sums[1], show["selected"]["wall_us"])
    expected = {}
    for t in ran:
        if table["by"] == "kind":
            add(expected, t["kind"], t)
        elif table["by"] == "directory" and build and show["build"]["tool"] != "bitbake":
            add(expected, directory_of(t, by_id, build), t)
    if expected:
        same(what, groups, expected)
    text = run("show", "--by", table["by"], "-t", "1000000", RECORDING).splitlines()
    rows = text[text.index("") + 3:]
    same(what + ", rows", len(rows), len(groups) + 1 + any(v for v in rest.values()))
    for row, group in zip(rows, table["largest"]):
        same(what + ", row", int(row.split()[0]), values_of(group)[0])
        if "\\" not in row:
            same(what + ", row", row.endswith(group["name"]) or "(not known)" in row, True)


def check_groups(show):
    by_id = {t["task"]: t for t in show["tasks"]}
    ran = [t for t in show["tasks"] if t["start_us"] is not None and t["state"] != "queued"]
    same("tables", len(show["by"]), 5)
    for table in show["by"]:
        check_table(show, table, by_id, ran)


def plain(cell):
    """A cell of a table in Markdown as a page shows it."""
    cell = re.sub(r"</?code>|<!-- -->|\*\*", "", cell.strip())
    return re.sub(r"\\([\W_])", r"\1", html.unescape(cell))


def tables_of_markdown(text):
    """Title -> rows of cells, the row of titles first. That of the facts has no title."""
    tables, title = {}, ""
    for line in text.splitlines():
        if line.startswith("#### "):
            title = line[5:]
        elif line.startswith("| ") and not line.startswith("|--"):
            cells = re.split(r"(?<!\\)\|", line)[1:-1]
            tables.setdefault(title, []).append([plain(c) for c in cells])
    return tables


def rows_of_text(text, title):
    """Below this title, up to an empty line: column -> cell of each row. Cells of numbers end below the end of their
    title, or one character later; names are left out."""
    lines = text.splitlines()
    if title not in lines:
        return []
    rows = lines[lines.index(title) + 1:]
    rows = rows[:rows.index("")] if "" in rows else rows
    ends = [(m.group(), m.end() + 1) for m in re.finditer(r"\S+(?: \S+)*", rows[0])]
    begins = [0] + [end for _, end in ends]
    columns = [(name, at, end) for at, (name, end) in zip(begins, ends) if name in NUMBERS]
    return [{name: row[at:end].strip() for name, at, end in columns} for row in rows[1:]
            if not re.match("[a-z]+: ", row)]


def same_rows(what, text, markdown):
    same(what + ", rows of Markdown", len(markdown[1:]), len(text))
    for a, b in zip(text, markdown[1:]):
        for column, cell in zip(markdown[0], b):
            shown = a.get(column, cell).replace("*", "") or "-"
            if shown[0] == "<":
                shown = re.sub("<([0-9.]+)", r"at most \1 ", shown)
            same("%s, %s of Markdown" % (what, column), cell or "-", shown)


def check_markdown(show, facts):
    markdown, text = run("show", "-m", RECORDING), run("show", "--all", RECORDING)
    tables = tables_of_markdown(markdown)
    for label, words in {r[0]: r[1] for r in reversed(tables[""][1:])}.items():
        if label in facts:
            same("%s of Markdown" % label, words, facts[label])
    for label in ("tasks", "build", "path", "ccache", "sccache"):
        same(label + " in Markdown", label in [r[0] for r in tables[""]], label in facts)
    same("verdict of Markdown", [plain(x[2:]) for x in markdown.splitlines() if x.startswith("- ")],
         [a["text"] for a in show["answer"]])
    same_rows("slowest", rows_of_text(text, "Slowest"), tables.get("Slowest", []))
    by = "directory,target,program,kind,host"
    text = run("show", "-b", by, "-t", "1000000", RECORDING)
    tables = tables_of_markdown(run("show", "-m", "-b", by, "-t", "1000000", RECORDING))
    titles = [t for t in tables if t.startswith("Time by")]
    same("tables of Markdown", len(titles), 5)
    for title in titles:
        same_rows(title, rows_of_text(text, title), tables[title])


def check_verdict(show, facts):
    """Numbers of its sentences."""
    totals, cores = show["totals"], show["build"]["cores"]
    verdict = [a for a in show["answer"] if a["about"] != "advice"]
    explained = [a["explains_us"] for a in verdict if a["about"] != "failed"]
    same("order of the verdict", explained, sorted(explained, reverse=True))
    for a in show["answer"][len(verdict):]:
        same(a["text"], a["about"], "advice")
        same(a["text"], a["explains_us"], None)
        is_time(a["text"], find(r"instead of (([0-9.]+ ?(us|ms|s|m|h|d) ?)+)", a["text"]), totals["wall_us"])
    for a in verdict:
        text, us = a["text"], a["explains_us"]
        at_most(text, us, totals["wall_us"])
        if a["from_us"] is not None:
            at_most(text, a["from_us"], a["until_us"])
        whole = find(r"[0-9a-z] of (([0-9.]+ ?(us|ms|s|m|h|d) ?)+)", text)
        if whole:
            is_time(text, whole, totals["wall_us"])
        if a["about"] == "alone" and "core-seconds" in text:
            idle = float(find(r"([0-9.]+) core-seconds", text))
            at_most(text, idle, (cores * totals["wall_us"] - totals["cpu_us"]) / 1e6 + .1)
            at_most(text, idle, cores * (a["until_us"] - a["from_us"]) / 1e6 + .1)
        if a["about"] == "others":
            same(text, find(r"this build ([0-9.]+ %)", text), find(r"([0-9.]+ %) of \d+ core",
                                                                   facts["build"]))
            same(text, find(r"used ([0-9.]+ %)", text), find(r"other processes ([0-9.]+ %)",
                                                             facts["machine"]))
            shares = [float(x) for x in re.findall(r"([0-9.]+) %", text)]
            at_most(text, sum(shares), 101)
        if a["about"] == "cores":
            same(text, find(r"used ([0-9.]+ %)", text), find(r"([0-9.]+ %) of \d+ core", facts["build"]))
        if a["about"] == "workers":
            most = find(r"with (\d+) tasks at once", text)
            same(text, int(most or 1), show["parallelism"]["max"])
            same(text, int(find(r"(?:on|of) (\d+) core", text) or cores), cores)
            is_time(text, text.rpartition(" takes ")[2], show["dependencies"]["least_wall_us"])
        elif "longest chain" in text:
            is_time(text, find(r"takes (.*?) of ", text), show["dependencies"]["least_wall_us"])
        if a["about"] in ("workers", "dependencies"):
            same("recorded dependencies", show["dependencies"]["recorded"], True)


def check_chart(show, facts, path):
    run("chart", "--only", "bootchart", "-o", path, RECORDING)
    root = tree.parse(path).getroot()
    check_texts_of_chart(show, facts, texts_of_picture(root))
    if packed_head(root):
        check_data_of_chart(show, packed_head(root), numbers_of_picture(root))


def check_texts_of_chart(show, facts, texts):
    picture, words = facts_of_picture(texts), " ".join(texts)
    same("tasks of the picture", picture["tasks"].split(" \u00b7")[0],
         facts["tasks"].split(",")[0] if show["totals"]["targets"] else
         str(show["totals"]["tasks"]))
    for label, here in (("disk", "disk"), ("at once", "tasks at once")):
        if label in facts and here in picture:
            same(here, re.findall(r"[0-9.]+", picture[here])[:2],
                 re.findall(r"[0-9.]+", facts[label])[:2])
    for answer in show["answer"]:
        if answer["text"] not in words:
            problems.append("not in the picture: " + answer["text"])


def check_data_of_chart(show, head, packed_numbers):
    same("packed verdict", [v["text"] for v in head["verdict"]], [a["text"] for a in show["answer"]])
    same("packed bound", head["dependency_us"], show["dependencies"]["least_wall_us"])
    same("packed path", head["critical_us"], show["path"]["wall_us"])
    numbers = {n[0]: n[2] for n in head["numbers"]}
    if numbers.get("path"):	# 0: all its numbers are 0
        same("tasks of the packed path", numbers["path"], len(show["path"]["tasks"]))
    check_tasks_of_chart(show, head, packed_numbers)
    same("packed tasks", head["tasks"], sum(t["start_us"] is not None and
                                            t["state"] != "queued" for t in show["tasks"]))
    check_panels(show, head)


def size_code(v):
    """Of a number of KiB, as render/chart/pack_chart.h says."""
    code, unit = 1000, 1024
    if v < 1000:
        return v
    while 2 * v >= 1999 * unit:
        code, unit = code + 3700, unit * 1024
    if v < 100 * unit:
        return code + (100 * v // unit if v < 10 * unit else 900 + 10 * v // unit)
    return code + 1700 + 2 * v // unit


def values_of_task(task, unit_us):
    """What the chart packs of a task of show."""
    own = task["self"]
    cpu = None if task["cpu_user_us"] is None else task["cpu_user_us"] + (task["cpu_system_us"] or 0)
    end_us = task["end_us"]
    if end_us is None and not task["hosting"]:
        end_us = task["start_us"] + own["wall_us"]
    start, end = (us if us is None else int(us * (1 / unit_us) + .5) for us in (task["start_us"], end_us))
    return (start, end, cpu, task["cpu_system_us"], task.get("at_least", False),
            size_code(own["memory_kb"] or own["memory_at_most_kb"] or 0),
            size_code((own["disk_read_bytes"] or 0) // 1024), size_code((own["disk_written_bytes"] or 0) // 1024))


def check_tasks_of_chart(show, head, numbers):
    """Times, CPU times, memory and disk of every task, to the digit."""
    n, last, tasks = head["tasks"], {}, []
    c = {name: numbers.get(name) or [0] * n for name in (
        "start", "wall", "lane", "marks", "cpu", "cpu_high", "system", "system_high", "memory", "read", "written")}
    for i in range(n):
        start = last.get(c["lane"][i], 0) + c["start"][i]
        last[c["lane"][i]] = start + c["wall"][i]
        times = ((c[k + "_high"][i] << 32) + c[k][i] - 1 for k in ("cpu", "system"))
        tasks.append((start, start + c["wall"][i], *(t if t >= 0 else None for t in times),
                       bool(c["marks"][i] & AT_LEAST), c["memory"][i], c["read"][i], c["written"][i]))
    shown = [values_of_task(t, head["unit_us"]) for t in show["tasks"]
             if t["start_us"] is not None and t["state"] != "queued"]
    by_all_but_end = lambda row: [-1 if v is None else v for v in row[:1] + row[2:]]
    for a, b in zip(sorted(tasks, key=by_all_but_end), sorted(shown, key=by_all_but_end)):
        b = b if b[1] is not None else b[:1] + a[1:2] + b[2:]
        same("start, end, CPU, system, bound, memory, read and written of a task of the chart", a, b)


def check_panels(show, head):
    for panel in head["panels"]:
        bands = {b["id"]: b for b in panel["bands"]}
        if panel["word"] == "disk" and {"read", "written"} <= set(bands):
            read, written = bands["read"], bands["written"]
            busiest = show["disk"]["busiest_second_bytes"]
            same("read", read["total"], show["disk"]["disk_read_bytes"])
            same("written", written["total"], show["disk"]["disk_written_bytes"])
            if busiest and STEADY:
                at_most("busiest second", max(read["max"], written["max"]), busiest + 1)
                at_most("busiest second", busiest, read["max"] + written["max"] + 1)


def cpu_of_show(show):
    return sorted((-1 if t["cpu_user_us"] is None else t["cpu_user_us"],
                   -1 if t["cpu_system_us"] is None else t["cpu_system_us"], t.get("at_least", False))
                  for t in show["tasks"] if t["start_us"] is not None and t["state"] != "queued")


def cpu_of_trace(tasks):
    return sorted((int(t.get("user_us", -1)), int(t.get("system_us", -1)), t.get("at_least") == "true") for t in tasks)


def check_trace(show, path):
    run("export", "--to", "chrome", "-o", path, RECORDING)
    with open(path, encoding="utf-8", errors="replace") as f:
        events = json.load(f)
    events = events["traceEvents"] if isinstance(events, dict) else events
    tasks = [e["args"] for e in events if e.get("ph") == "X" and "state" in e.get("args", {})]
    same("CPU times of the trace", cpu_of_trace(tasks), cpu_of_show(show))
    on_path = [e for e in events if e.get("ph") == "X" and "waited_for" in e.get("args", {})]
    same("path of the trace", [(e["args"]["waited_for"], e["args"]["link"]) for e in on_path],
         [(t["waited_for"], t["link"]) for t in show["path"]["tasks"]])


def check_perfetto(show, path):
    if not shutil.which("protoc"):
        return
    run("export", "--to", "perfetto", "-o", path, RECORDING)
    proto = os.path.join(os.path.dirname(__file__), "data/perfetto/perfetto.proto")
    slices = [s for track in trace_reader.read_perfetto(proto, path).slices.values() for s in track]
    same("CPU times of Perfetto's trace", cpu_of_trace([s[4] for s in slices if "state" in s[4]]), cpu_of_show(show))


def check_otlp(show, path):
    run("export", "--to", "otlp", "-o", path, RECORDING)
    with open(path, encoding="utf-8", errors="replace") as f:
        text = f.read()
    tasks = []
    for resource in json.loads(text)["resourceSpans"]:
        for span in resource["scopeSpans"][0]["spans"]:
            values = {a["key"]: a["value"] for a in span["attributes"]}
            if "cicd.pipeline.task.name" in values:
                tasks.append({k.partition(".")[2]: v.get("intValue", v.get("stringValue"))
                              for k, v in values.items()})
    same("CPU times of OTLP", cpu_of_trace(tasks), cpu_of_show(show))
    same("critical spans", len(re.findall(r'"buildbeat\.critical"', text)),
         len(show["path"]["tasks"]))


def check_live_traces(show, path):
    """Traces written while a recording is read in the order of its lines."""
    run("export", "--to", "chrome", "--follow", "-o", path, RECORDING)
    with open(path, encoding="utf-8", errors="replace") as f:
        events = json.load(f)
    tasks = [e["args"] for e in events if e.get("ph") == "E" and "state" in e.get("args", {})]
    same("CPU times of the live trace", cpu_of_trace(tasks), cpu_of_show(show))
    if not shutil.which("protoc"):
        return
    run("export", "--to", "perfetto", "--follow", "-o", path, RECORDING)
    proto = os.path.join(os.path.dirname(__file__), "data/perfetto/perfetto.proto")
    slices = [s for track in trace_reader.read_perfetto(proto, path).slices.values() for s in track]
    same("CPU times of Perfetto's live trace", cpu_of_trace([s[4] for s in slices if "state" in s[4]]), cpu_of_show(show))


def check_oe(show, path):
    """Of tasks with known times. Those around others are left out."""
    shutil.rmtree(path, ignore_errors=True)
    run("export", "--to", "oe", "-o", path, RECORDING)
    times = []
    for directory, _, files in os.walk(path):
        for name in files:
            with open(os.path.join(directory, name), encoding="utf-8", errors="replace") as f:
                times += [tuple(round(float(t) * 1e6) for t in m) for m in re.findall(
                    r"^Child rusage ru_utime: ([0-9.]+)\nChild rusage ru_stime: ([0-9.]+)$", f.read(), re.M)]
    same("CPU times of OpenEmbedded's files", sorted(times),
         sorted((t["cpu_user_us"], t["cpu_system_us"]) for t in show["tasks"]
                if t["start_us"] is not None and not t["hosting"] and t["cpu_user_us"] is not None))


def check_prometheus(show, path):
    """The values of the build; a value that is not known is absent."""
    run("export", "--to", "prometheus", "-o", path, RECORDING)
    with open(path, encoding="utf-8") as f:
        text = f.read()
    totals = show["totals"]
    same("tool of Prometheus", find(r'build_info\{.*tool="(.*?)"', text), show["build"]["tool"] or "")
    same("wall time of Prometheus", find(r"wall_seconds\{.*\} (\S+)", text), "%.6f" % (totals["wall_us"] / 1e6))
    for mode in ("user", "system"):
        us = totals["cpu_%s_us" % mode]
        same(mode + " time of Prometheus", find(r'build_cpu_seconds\{.*mode="%s"\} (\S+)' % mode, text),
             us if us is None else "%.6f" % (us / 1e6))


def check_profile(show):
    """Rows of the tasks: those of spans have no CPU time of their own."""
    text = run("profile", "-a", "--merge", "none", RECORDING)
    runs = find(r"^\s*(\d+) runs?", text)
    if runs is None or show["totals"]["spans"]:
        return
    ended = [t["state"] in ("done", "failed", "killed") for t in show["tasks"]]
    same("runs of profile", int(runs), sum(ended))
    rows = [row for process in json.loads(run("profile", "--json", RECORDING))["processes"]
            for row in process["list"] if row["kind"] != "tally"]
    for kind in show["kinds"]:
        of = [row["death_data"] for row in rows if row["kind"] == kind["kind"]]
        same("CPU time of profile", sum(row["cpu_us"] or 0 for row in of), kind["cpu_us"] or 0)
        same("delay of profile", sum(row["delay_us"] or 0 for row in of), kind["delay_us"] or 0)
        same("bound of profile", any(row.get("at_least") for row in of), kind.get("at_least", False))
    if all(ended):
        same("run time of profile", sum(row["death_data"]["run"] for row in rows),
             1000 * sum(kind["wall_us"] for kind in show["kinds"]))


def written(*args):
    """The page that it writes, which is its last argument."""
    run(*args)
    with open(args[-1], encoding="utf-8", errors="replace") as f:
        return f.read()


def check_profile_page(show, path):
    rows = agree_pages.profile(written("profile", RECORDING, "--html", path))
    listed = [row["death_data"] for process in json.loads(run("profile", "-j", RECORDING))["processes"]
              for row in process["list"]]
    same("run times of profile's page", sorted(r for r, _, _ in rows if r), sorted(row["run"] for row in listed if row["run"]))
    same("CPU times of profile's page", sorted((c // 1000, least) for _, c, least in rows if c),
         sorted((row["cpu_us"], row.get("at_least", False)) for row in listed if row.get("cpu_us")))


def check_diff_page(show, path):
    line, titles, rows = agree_pages.diff(written("diff", RECORDING, RECORDING, "--html", path))
    ran = [t for t in show["tasks"] if t["start_us"] is not None and t["state"] != "queued"]
    if not line:
        same("tasks of diff's page", len(ran), 0)
        return
    wall, tasks, at_once = line.split(", ")
    is_time("wall time of diff's page", wall, show["totals"]["wall_us"])
    same("tasks of diff's page", int(tasks.split()[0]), len(ran))
    same("most at once of diff's page", int(find(r"(\d+) at once", at_once)), show["parallelism"]["max"])
    for name, us in (("user", show["host"]["cpu_user_us"]), ("system", show["host"]["cpu_system_us"])):
        if us:
            same(name + " time of diff's page", rows["host: %s CPU time" % name], [us, us])
    for title in titles:
        least, most = seconds(re.findall(r": ([0-9.]+ \S+(?: \d+ ?\w+)?)[;,]", html.unescape(title))[-1])
        if not any(least <= t["self"]["wall_us"] / 1e6 <= most for t in ran):
            problems.append("a bar of diff's page: " + title)


def check_report(show, path):
    repo = path + ".git"
    shutil.rmtree(repo, ignore_errors=True)
    run("archive", "--repo", repo, RECORDING)
    run("report", "--repo", repo, "-o", path)
    with open(path + "/index.html", encoding="utf-8", errors="replace") as f:
        text = f.read()
    values, charts = agree_pages.report(text)
    same("days of the report", re.findall(r": 1 build, \S+ to ", text), [])
    for metric, key in (("wall", "wall_us"), ("cpu", "cpu_us")):
        targets = {("" if t["directory"] == "." else t["directory"] + ": ") + t["name"]: t[key]
                   for t in show["targets"]["by_wall"]}
        for name, value in values[metric].items():
            shown = show["totals"][key] if not name and metric == "wall" else targets.get(name)
            if shown and abs(value - shown) > shown / 2048:
                problems.append("%s of %r in the report: %r and %r" % (metric, name, value, shown))
    if any(t["state"] == "done" and t["self"]["wall_us"] for t in show["tasks"]):
        at_most("tasks in the report", 1, len([name for name in values["wall"] if name]))
    for chart in charts:
        words = tree.fromstring(chart).find(SVG + "desc").text
        is_time("result in the report", find(r"result: .*? after ([^:]*)\. ", words), show["totals"]["wall_us"])


def check_served(show):
    head, numbers, _, _ = packed.read(agree_pages.served(BUILDBEAT, RECORDING).partition("\n")[2])
    check_data_of_chart(show, head, numbers)


def check_list(show):
    listed = json.loads(run("list", "-j", os.path.dirname(os.path.abspath(RECORDING))))
    for r in listed["recordings"]:
        if r["name"] != os.path.basename(os.path.abspath(RECORDING)):
            continue
        same("wall time of list", r["wall_us"], show["totals"]["wall_us"]
             if show["result"] != "open" else r["wall_us"])
        same("result of list", r["result"], show["result"])
        if r["tasks"] is not None:
            same("tasks of list", r["tasks"],
                 show["totals"]["tasks"] - show["totals"]["tasks_queued"])


def main():
    show = json.loads(run("show", "-j", "--tasks", "-t", "1000000", "--by",
                          "directory,target,program,kind,host", RECORDING))
    facts = check_text(show, run("show", "--all", RECORDING))
    check_sums(show)
    check_groups(show)
    check_markdown(show, facts)
    check_verdict(show, facts)
    check_chart(show, facts, DIRECTORY + "/chart.svg")
    if show["complete"]:
        check_trace(show, DIRECTORY + "/trace.json")
        check_perfetto(show, DIRECTORY + "/trace.pftrace")
        if os.path.exists(RECORDING + "/tasks.log"):
            check_live_traces(show, DIRECTORY + "/live_trace")
            check_oe(show, DIRECTORY + "/oe")
        check_prometheus(show, DIRECTORY + "/prometheus.prom")
        check_otlp(show, DIRECTORY + "/otlp.json")
        check_diff_page(show, DIRECTORY + "/diff.html")
        if show["result"] != "open":
            check_report(show, DIRECTORY + "/report")
    check_profile(show)
    check_profile_page(show, DIRECTORY + "/profile.html")
    check_served(show)
    check_list(show)
    for p in problems:
        print("%s: %s" % (RECORDING, p))
    return bool(problems)


BUILDBEAT, DIRECTORY, RECORDING = sys.argv[1:4]
STEADY = len(sys.argv) > 4
AT_LEAST = 512	# enum task_mark
sys.exit(main())
