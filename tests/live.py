# SPDX-License-Identifier: MIT
"""Reads traces in Chrome's format strictly, as check_live.c needs it.

live.py tasks FILE       print each task: name, begin, end, state; 'running' without an end
live.py whole FILE       the same, and fail if the trace lacks its end or a slice has none
live.py cut FILE         every beginning of FILE can be read, and is a beginning of the trace
live.py same A B         both have the same events, in the same order on each track
live.py agree WHOLE LIVE the tasks of a whole trace, and those of a live one, are the same
"""
import json
import sys
from collections import defaultdict

KEYS = {
    "M": {"ph", "pid", "tid", "name", "args"},
    "B": {"ph", "pid", "tid", "ts", "name", "cat", "args"},
    "E": {"ph", "pid", "tid", "ts", "args"},
    "i": {"ph", "pid", "tid", "ts", "s", "name", "args"},
    "C": {"ph", "pid", "tid", "ts", "name", "args"},
    "s": {"ph", "pid", "tid", "ts", "id", "cat", "name"},
    "f": {"ph", "pid", "tid", "ts", "id", "cat", "name", "bp"},
}


def no_twice(pairs):
    assert len(dict(pairs)) == len(pairs), "a key comes twice: %r" % (pairs,)
    return dict(pairs)


def load(text):
    return json.loads(text, object_pairs_hook=no_twice,
                      parse_constant=lambda c: 1 / 0)


def repaired(text):
    """What viewers do with an array that does not end."""
    text = text[:text.rfind("\n") + 1].rstrip().rstrip(",")
    return text + "]" if text else "[]"


class Trace:
    def __init__(self, events):
        self.tasks = []
        self.open = defaultdict(list)
        self.named = set()
        self.flows = defaultdict(list)
        self.newest = defaultdict(int)
        for e in events:
            self.event(e)

    def event(self, e):
        ph = e["ph"]
        assert set(e) <= KEYS[ph], e
        assert type(e["pid"]) is int and type(e["tid"]) is int, e
        if ph == "M":
            if e["name"] in ("process_name", "thread_name"):
                self.named.add((e["pid"], e["tid"], e["name"]))
            return
        assert type(e["ts"]) is int and e["ts"] >= 0, e
        assert (e["pid"], 1, "process_name") in self.named, e
        track = e["pid"], e["tid"]
        if ph in "BE":
            assert (*track, "thread_name") in self.named or e["tid"] == 1, e
            assert e["ts"] >= self.newest[track], ("back in time", e)
            self.newest[track] = e["ts"]
        if ph == "B":
            self.open[track].append(e)
        elif ph == "E":
            begin = self.open[track].pop()
            if begin["cat"] not in ("instance", "span"):
                self.tasks.append((begin["name"], begin["ts"], e["ts"], e["args"]["state"]))
        elif ph in "sf":
            self.flows[e["id"]].append(e)

    def running(self):
        return [e for stack in self.open.values() for e in stack]

    def all_tasks(self):
        return self.tasks + [(e["name"], e["ts"], -1, "running") for e in self.running()
                             if e["cat"] not in ("instance", "span")]

    def whole(self):
        assert not self.running(), self.running()
        for flow in self.flows.values():
            assert [e["ph"] for e in flow] == ["s", "f"], flow
            assert flow[0]["ts"] <= flow[1]["ts"], flow


def read(path):
    with open(path, encoding="utf-8", newline="\n") as f:
        return f.read()


def tasks(path):
    text = read(path)
    show(Trace(load(text if text.endswith("]") else repaired(text))))


def show(trace):
    for name, begin, end, state in sorted(trace.all_tasks(), key=lambda t: (t[1], t[2], t[0])):
        print("%s %d %d %s" % (name, begin, end, state))


def whole(path):
    text = read(path)
    assert text.endswith("\n]"), "no end"
    trace = Trace(load(text))
    trace.whole()
    show(trace)


def cut(path):
    text = read(path)
    events = load(text)
    before = -1
    for n in range(len(text)):
        last = text.rfind("\n", 0, n)
        if last == before:
            continue
        before = last
        part = load(repaired(text[:n]))
        assert part == events[:len(part)], n
        if n % 7 == 0 or n + 1 == len(text):
            Trace(part)
    assert len(part) >= len(events) - 1


def by_track(path):
    tracks = defaultdict(list)
    for e in load(read(path)):
        tracks[e["pid"], e["tid"], e["name"] if e["ph"] == "C" else ""].append(e)
    return tracks


def same(a, b):
    x, y = by_track(a), by_track(b)
    assert x.keys() == y.keys(), x.keys() ^ y.keys()
    for track, events in x.items():
        # an arrow has another number if its task was read at another time
        assert events == y[track], (track, events, y[track])


def slices(path):
    """The slices of tasks, without their tracks, which a live trace chooses otherwise."""
    found, stacks = [], defaultdict(list)
    for e in load(read(path)):
        if e["pid"] == 0 or e["ph"] not in "XBE":
            continue
        stack = stacks[e["pid"], e["tid"]]
        if e["ph"] == "B":
            stack.append(e)
            continue
        begin = stack.pop() if e["ph"] == "E" else e
        end = e["ts"] + e.get("dur", 0)
        args = {**begin["args"], **e.get("args", {})}
        if begin["cat"] not in ("instance", "span"):
            found.append((begin["pid"], begin["ts"], end, begin["name"], begin["cat"], sorted(args.items())))
    return sorted(found)


def agree(a, b):
    for x, y in zip(slices(a), slices(b), strict=True):
        assert x == y, (x, y)


if __name__ == "__main__":
    {"tasks": tasks, "whole": whole, "cut": cut, "same": same, "agree": agree}[sys.argv[1]](*sys.argv[2:])
