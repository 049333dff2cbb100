# SPDX-License-Identifier: MIT
# Reads what "buildbeat export --to otlp" wrote, for check_otlp:
#   otlp.py PROTO [same|spans|nested|logs] NAME...
# same: NAME.json and NAME.pb are one message, with protoc as the reader of the other. spans: each
# NAME.json has valid, unique ids and existing parents. nested: also times inside the parents'.
# logs: the records of the second NAME are in spans of the first.
import json
import os
import re
import sys

import protoc_text
from protoc_text import check, Wrong

PROTO = sys.argv[1]


def decode(path):
    kind = {"metrics": "Metrics", "logs": "Logs"}.get(os.path.basename(path)[:-3], "Traces")
    return protoc_text.decode(PROTO, kind, path)


# Compared with JSON

def snake(name):
    return re.sub("[A-Z]", lambda m: "_" + m.group().lower(), name)


def same(value, other, path):
    if isinstance(value, dict):
        check(isinstance(other, dict), path)
        names = {snake(k): k for k in value if value[k] != []}
        check(set(names) == set(other), "%s: %s, %s" % (path, sorted(names), sorted(other)))
        for name, key in names.items():
            items = value[key] if isinstance(value[key], list) else [value[key]]
            check(len(items) == len(other[name]), path + "." + key)
            for i, item in enumerate(items):
                same(item, other[name][i], "%s.%s[%d]" % (path, key, i))
    elif isinstance(other, bytes):
        if path.endswith("Id[0]") and path.count("stringValue") == 0:
            check(re.fullmatch("[0-9a-f]+", value) and bytes.fromhex(value) == other, path)
        else:
            check(value.encode() == other, "%s: %r, %r" % (path, value, other))
    elif isinstance(value, bool):
        check(("true" if value else "false") == other, path)
    else:
        numbers = re.search(r"(Nano|Value|Int|count|Counts)\[\d+\]$", path)
        check(isinstance(value, str) == bool(numbers), path + ": 64-bit numbers are texts")
        if isinstance(value, float):
            check(abs(value - float(other)) <= 1e-9 * abs(value), path)
        else:
            check(float(value) == float(other) and
                  (not numbers or str(value) == other), "%s: %s, %s" % (path, value, other))


# Spans

def of(span, key):
    for a in span["attributes"]:
        if a["key"] == key:
            return list(a["value"].values())[0]
    return None


def spans_of(path):
    spans = []
    with open(path) as f:
        for line in f:
            for resource in json.loads(line)["resourceSpans"]:
                for scope in resource["scopeSpans"]:
                    spans += scope["spans"]
    return spans


def check_spans(path, nested):
    spans = spans_of(path)
    by_id = {s["spanId"]: s for s in spans}
    check(len(by_id) == len(spans), "an id is not unique")
    check(len({s["traceId"] for s in spans}) == 1, "several traces")
    roots = [s for s in spans if s.get("parentSpanId") not in by_id]
    check(len(roots) == 1 and roots[0]["kind"] == 2, "roots: %s" % roots[:2])
    check(re.match("BUILD .", roots[0]["name"]), "the name of the build")
    for s in spans:
        check(re.fullmatch("[0-9a-f]{16}", s["spanId"]) and int(s["spanId"], 16), "id of a span")
        check(re.fullmatch("[0-9a-f]{32}", s["traceId"]) and int(s["traceId"], 16), "trace id")
        keys = [a["key"] for a in s["attributes"]]
        check(len(set(keys)) == len(keys), "an attribute twice")
        check(s["name"], "no name")
        begin, end = int(s["startTimeUnixNano"]), int(s["endTimeUnixNano"])
        check(begin <= end, "ends before it begins")
        failed = "status" in s and s["status"]["code"] == 2
        check(failed == (of(s, "error.type") is not None), "status")
        parent = by_id.get(s.get("parentSpanId"))
        if parent and nested:
            check(int(parent["startTimeUnixNano"]) <= begin and
                  end <= int(parent["endTimeUnixNano"]), "not inside its parent: %s" % s)
        for link in s.get("links", []):
            check(link["traceId"] == s["traceId"], "another trace")
            check(int(by_id[link["spanId"]]["startTimeUnixNano"]) <= begin, "a link to the future")
        seen = {s["spanId"]}
        while parent:
            check(parent["spanId"] not in seen, "parents in a circle")
            seen.add(parent["spanId"])
            parent = by_id.get(parent.get("parentSpanId"))
    print(len(spans))


def check_logs(spans, path):
    ids = {(s["traceId"], s["spanId"]): s for s in spans_of(spans)}
    n = of_tasks = 0
    with open(path) as f:
        for line in f:
            for resource in json.loads(line)["resourceLogs"]:
                for scope in resource["scopeLogs"]:
                    for record in scope["logRecords"]:
                        check((record["traceId"], record["spanId"]) in ids, "another span")
                        n += 1
                        of_tasks += ids[(record["traceId"], record["spanId"])]["kind"] == 1
    print(n, of_tasks)


def main():
    what = sys.argv[2]
    if what == "logs":
        check_logs(sys.argv[3] + ".json", sys.argv[4] + ".json")
        return
    for name in sys.argv[3:]:
        try:
            if what == "same":
                with open(name + ".json") as f:
                    same(json.load(f), decode(name + ".pb"), "")
            else:
                check_spans(name + ".json", what == "nested")
        except Wrong as wrong:
            sys.exit("%s: %s" % (name, wrong))


main()
