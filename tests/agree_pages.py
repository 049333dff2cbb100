# SPDX-License-Identifier: MIT
# What pages say of one recording, for agree.py.
import http.cookiejar
import json
import math
import re
import struct
import subprocess
import urllib.request
import zlib

import packed

RUN, CPU = "sum2", "task0"	# PROFILE_RUN, VALUE_CPU


def script(text, name):
    return re.search(r'<script[^>]* id="%s"[^>]*>(.*?)</script>' % name, text, re.S).group(1)


def profile(text):
    """Run time and CPU time of each row, in ns, None if it is not known; is it a lower bound?"""
    head, numbers, _, _ = packed.read(script(text, "data-0"))
    bit = json.loads(script(text, "head"))["amount"] + 1  # the first bound follows it
    unit = {name: unit for name, _, _, unit in head["numbers"]}

    def column(name):
        low, high = numbers[name], numbers[name + "h"]
        coded = (a + (b << 31) for a, b in zip(low, high or [0] * len(low)))
        return [(n - 1) * unit[name] if n else None for n in coded] or [0] * head["rows"]
    least = [bool(n - 1 >> bit & 1) for n in numbers["known0"]]
    return list(zip(column(RUN), column(CPU), least))


def diff(text):
    """The line above the lanes of a build, the titles of its bars, and the numbers of the table of builds."""
    base, rows = re.search(r"<figure><figcaption>base: (.*?)</figcaption>(.*?)</figure>", text, re.S), {}
    for name, cells in re.findall(r'<tr><th class="name" scope="row">([^<]*)</th>(.*?)</tr>', text, re.S):
        rows[name] = [float(n) for n in re.findall(r'data-n="([^"]*)"', cells)][:2]
    return base and base.group(1), re.findall(r"<title>(.*?)</title>", base.group(2), re.S) if base else [], rows


def planes(data, at, n):
    return [sum(data[at + k * n + i] << 24 - 8 * k for k in range(4)) for i in range(n)]


def report(text):
    """Metric -> name -> value in the newest build, to one part in 2048; and the charts. report/page_data.js reads the same."""
    head = json.loads(script(text, "head"))
    data, n_names = packed.characters(script(text, "columns").strip()), head["deflated"][0]
    names = zlib.decompress(data[:n_names], -15)
    numbers = zlib.decompress(data[n_names:sum(head["deflated"])], -15)
    rows, list_of = head["tasks"] + 1, []
    at = rows - 1
    for i in range(rows - 1):
        end = names.index(b"\n", at)
        list_of.append((list_of[-1][:names[i]] if i else b"") + names[at:end])
        at = end + 1
    n = rows * len(head["metrics"])
    fine = planes(numbers, 12 * n, head["fine"])
    codes = planes(numbers, 12 * n + 8 * head["fine"], head["fine"])
    newest = {s: struct.unpack("f", struct.pack("I", c << 23 - head["fine_bits"]))[0] for s, c in zip(fine, codes)}
    values = {m["name"]: {name.decode("utf-8", "replace"): newest[k * rows + i]
                          for i, name in enumerate(list_of + [b""])
                          if not math.isnan(newest.get(k * rows + i, math.nan))}
              for k, m in enumerate(head["metrics"])}
    charts = [zlib.decompressobj(-15).decompress(packed.characters(t.strip()))
              for t in re.findall(r'<script[^>]* id="chart-\d+"[^>]*>(.*?)</script>', text, re.S)]
    return values, charts


def served(buildbeat, recording):
    """The data of the chart that `buildbeat serve` shows."""
    server = subprocess.Popen([buildbeat, "serve", recording], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        url = server.stdout.readline().strip()
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()),
                                              urllib.request.ProxyHandler({}))
        browser.open(url, timeout=60).read()
        return browser.open(url.partition("?")[0] + "api/v1/chart", timeout=60).read().decode("utf-8", "replace")
    finally:
        server.terminate()
        server.wait()
