# SPDX-License-Identifier: MIT
# Reads traces as strictly as their formats are published, for check_export:
#   trace_reader.py chrome FILE...       each is a Chrome trace
#   trace_reader.py both PROTO NAME...   NAME.json and NAME.pftrace have the same content, and the
#                                        tasks of NAME.tasks, a list of pid, begin, end and name
#   trace_reader.py cut FILE             FILE is readable wherever it ends
import json
import sys

import protoc_text
from protoc_text import check, Wrong

KEYS = {  # of each phase: those that it must have, and may have
    "M": ("name args", ""), "X": ("ts dur name", "cat args"), "B": ("ts name", "cat args"),
    "E": ("ts", "args"), "i": ("ts s name", "args"), "C": ("ts name args", ""),
    "s": ("ts id cat name", ""), "f": ("ts id cat name bp", ""),
}
META = {"process_name": "name", "thread_name": "name", "process_labels": "labels",
        "process_sort_index": "sort_index", "thread_sort_index": "sort_index"}


class Trace:
    """slices: track -> [begin, end, name, category, args, number]; others likewise."""
    def __init__(self):
        self.processes, self.tracks, self.labels, self.order = {}, {}, {}, {}
        self.slices, self.instants, self.counters, self.units = {}, [], {}, {}
        self.flows = {}     # id -> from and to: track, time
        self.flow_slices = {}

    def add(self, track, begin, end, name, category, args):
        check(track in self.tracks, "slice on an unknown track %s" % (track,))
        check(0 <= begin <= end, "a slice ends before it begins")
        s = [begin, end, name, category, args]
        self.slices.setdefault(track, []).append(s)
        return s

    def check_nesting(self):
        for track, slices in self.slices.items():
            stack = []
            for begin, end, *_ in slices:
                check(not stack or begin >= stack[-1][0], "slices of a track are in order")
                while stack and stack[-1][1] <= begin:
                    stack.pop()
                check(not stack or end <= stack[-1][1], "slices of %s overlap" % (track,))
                stack.append((begin, end))


def is_int(n):
    return isinstance(n, int) and not isinstance(n, bool)


def no_constant(name):
    raise Wrong("not a number of JSON: " + name)


def unique(pairs):
    check(len({k for k, _ in pairs}) == len(pairs), "a key twice in %s" % pairs)
    return dict(pairs)


def check_event(e):
    check(isinstance(e, dict), "an event is an object")
    must, may = KEYS[e["ph"]]
    must = set(must.split()) | {"ph", "pid", "tid"}
    check(must <= set(e) and set(e) <= must | set(may.split()), "keys of %s" % e)
    check(is_int(e["pid"]) and is_int(e["tid"]) and e["pid"] >= 0 and e["tid"] > 0,
          "pid and tid; some viewers use that of the process for thread 0")
    for key in ("ts", "dur", "id"):
        check(key not in e or (is_int(e[key]) and e[key] >= 0), "%s of %s" % (key, e))
    for key in ("name", "cat"):
        check(key not in e or isinstance(e[key], str), key)
    for name, value in e.get("args", {}).items():
        check(is_int(value) or isinstance(value, str) or e["ph"] == "C", "value of " + name)


def read_chrome(path):
    t = Trace()
    with open(path, encoding="utf-8") as f:
        text = f.read()
    check("\x00" not in text, "NUL")
    events = json.loads(text, parse_constant=no_constant, object_pairs_hook=unique)
    check(isinstance(events, list), "an array")
    check(text.count("\n") == len(events) + 1, "an event a line")
    open_slices, ends, sequence = {}, [], 0
    for e in events:
        sequence += 1
        check_event(e)
        track = (e["pid"], e["tid"])
        args = e.get("args", {})
        if e["ph"] == "M":
            check(list(args) == [META[e["name"]]], "args of %s" % e)
            if e["name"] == "process_name":
                check(track[0] not in t.processes, "a process has two names")
                t.processes[track[0]] = args["name"]
            elif e["name"] == "thread_name":
                check(track not in t.tracks, "a thread has two names")
                t.tracks[track] = args["name"]
            elif e["name"] == "process_labels":
                t.labels[track[0]] = args["labels"]
            elif e["name"] == "process_sort_index":
                t.order[track[0]] = args["sort_index"]
            else:
                t.order[track] = args["sort_index"]
            continue
        check(track[0] in t.processes, "an unknown process")
        if e["ph"] == "X":
            t.add(track, e["ts"], e["ts"] + e["dur"], e["name"], e.get("cat"), args)
        elif e["ph"] == "B":
            s = t.add(track, e["ts"], e["ts"], e["name"], e.get("cat"), dict(args))
            open_slices.setdefault(track, []).append(s)
        elif e["ph"] == "E":
            check(open_slices.get(track), "an end without a begin")
            s = open_slices[track].pop()
            check(e["ts"] >= s[0], "an end before its begin")
            s[1] = e["ts"]
            s[4].update(args)
        elif e["ph"] == "i":
            check(e["s"] in ("t", "p", "g"), "scope")
            t.instants.append((track, e["ts"], e["name"], sorted(map(str, args.items()))))
        elif e["ph"] == "C":
            check(len(args) == 1, "one value")
            unit, value = list(args.items())[0]
            check(is_int(value) or isinstance(value, float), "a number")
            check(t.units.setdefault(e["name"], unit) == unit, "one unit")
            t.counters.setdefault(e["name"], []).append((e["ts"], value))
        else:
            key = (e["cat"], e["name"], e["id"])
            check(e["ph"] == "s" or e["bp"] == "e", "bp")
            ends.append((e["ts"], sequence, e["ph"], key, track))
    last = max([s[1] for slices in t.slices.values() for s in slices], default=0)
    for slices in open_slices.values():
        for s in slices:
            s[1] = max(last, s[0])
    flows = {}
    for ts, sequence, phase, key, track in sorted(ends, key=lambda end: end[:2]):
        flow = flows.setdefault(key, [])
        check(phase == "sf"[len(flow):len(flow) + 1], "an arrow begins once, then ends once")
        flow.append((track, ts))
    check(all(len(flow) == 2 for flow in flows.values()), "an arrow has two ends")
    check(len({key[2] for key in flows}) == len(flows), "each arrow has an id of its own")
    t.flows = {key[2]: flow for key, flow in flows.items()}
    for flow in t.flows.values():
        for track, ts in flow:
            check(around(t, track, ts), "an arrow outside of slices: %s %s" % (track, ts))
    t.check_nesting()
    return t


def around(t, track, ts):
    return [s for s in t.slices.get(track, []) if s[0] <= ts <= s[1]]


def one(message, key, default=None):
    values = message.get(key, [default])
    check(len(values) == 1, "one " + key)
    return values[0]


def text_of(value):
    return value.decode("utf-8")


class Interned:
    def __init__(self):
        self.text = {}

    def define(self, message):
        for kind, texts in message.items():
            for t in texts:
                key = (kind, one(t, "iid"))
                check(key not in self.text and int(key[1]) > 0, "a number has one text")
                self.text[key] = text_of(one(t, "text"))

    def of(self, kind, iid):
        check((kind, iid) in self.text, "%s %s is defined before" % (kind, iid))
        return self.text[kind, iid]


def args_of(event, interned):
    args = {}
    for a in event.get("annotations", []):
        name = interned.of("annotation_names", one(a, "name_iid"))
        check(len(a) == 2, "one value")
        if "string_iid" in a:
            args[name] = interned.of("annotation_strings", one(a, "string_iid"))
        elif "string_value" in a:
            args[name] = text_of(one(a, "string_value"))
        elif "pointer_value" in a:
            args[name] = "%016x" % int(one(a, "pointer_value"))
        else:
            args[name] = int(one(a, "int_value"))
    return args


def read_perfetto(proto, path):
    t = Trace()
    packets = protoc_text.decode(proto, "Trace", path).get("packet", [])
    place, counters, interned, stacks, times, number = {}, {}, Interned(), {}, {}, 0
    late = []   # arrows that were not known when their slices began
    check(set(packets[0]) == {"clock_snapshot", "sequence_id", "sequence_flags", "defaults",
                              "first_on_sequence"}, "the first packet")
    clock = one(one(packets[0], "defaults"), "timestamp_clock_id")
    clocks = {one(c, "id"): c for c in one(packets[0], "clock_snapshot")["clocks"]}
    check(int(clock) >= 64 and one(clocks[clock], "unit_ns") == "1000", "the clock")
    check(one(packets[0], "sequence_flags") == "1" and one(packets[0], "clock_snapshot")["primary"][0]
          in clocks, "the first packet")
    for p in packets[1:]:
        check(one(p, "sequence_id") == one(packets[0], "sequence_id"), "one sequence")
        if "track_descriptor" in p:
            check(set(p) == {"sequence_id", "track_descriptor"}, "a descriptor")
            d = one(p, "track_descriptor")
            uuid, parent = one(d, "uuid"), d.get("parent_uuid", [None])[0]
            check(uuid != "0" and uuid not in place and uuid not in counters, "a new track")
            check(parent is None or parent in place, "a known parent")
            if "counter" in d:
                counters[uuid] = text_of(one(d, "name"))
                t.units[counters[uuid]] = text_of(one(one(d, "counter"), "unit_name"))
            elif "process" in d:
                process = one(d, "process")
                pid = int(one(process, "pid"))
                check(pid > 0 and pid not in t.processes, "a new process")
                t.processes[pid] = text_of(one(process, "name"))
                t.order[pid] = int(one(process, "sort_index"))
                if "labels" in process:
                    t.labels[pid] = text_of(one(process, "labels"))
                place[uuid] = pid
            elif parent is None:
                check(0 not in t.processes, "one machine")
                t.processes[0] = text_of(one(d, "name"))
                t.order[0] = 0
                if "description" in d:
                    t.labels[0] = text_of(one(d, "description"))
                place[uuid] = 0
            else:
                place[uuid] = (place[parent], uuid)
                t.tracks[place[uuid]] = text_of(one(d, "name"))
                t.order[place[uuid]] = int(one(d, "sibling_rank"))
            continue
        check(one(p, "sequence_flags") == "2", "a packet that needs the state")
        interned.define(one(p, "interned_data", {}))
        event, ts = one(p, "track_event"), int(one(p, "timestamp"))
        kind, uuid = one(event, "type"), one(event, "track_uuid")
        if kind == "4":
            value = [float(v) for key in ("counter_value", "double_counter_value")
                     for v in event.get(key, [])]
            check(len(value) == 1, "one value")
            t.counters.setdefault(counters[uuid], []).append((ts, value[0]))
            continue
        args = args_of(event, interned)
        if kind == "3" and "flow_ids" in event:
            late.append((one(event, "flow_ids"), ts, number, place[uuid]))
            continue
        if kind == "3":
            t.instants.append((place[uuid], ts, interned.of("names", one(event, "name_iid")),
                               sorted(map(str, args.items()))))
            continue
        check(ts >= times.get(uuid, 0), "events of a track are in order")
        times[uuid] = ts
        if kind == "2":
            check(set(event) <= {"type", "track_uuid", "annotations"} and stacks.get(uuid), "an end")
            s = stacks[uuid].pop()
            s[1] = ts
            s[4].update(args)
            continue
        check(kind == "1", "a known type")
        name = interned.of("names", one(event, "name_iid"))
        category = [interned.of("categories", c) for c in event.get("category_iids", [])]
        s = t.add(place[uuid], ts, ts, name, category[0] if category else None, args)
        stacks.setdefault(uuid, []).append(s)
        number += 1
        for end, key in enumerate(("flow_ids", "terminating_flow_ids")):
            for flow in event.get(key, []):
                ends = t.flow_slices.setdefault(flow, {})
                check(end not in ends, "an arrow has one begin and one end")
                ends[end] = (place[uuid], s, (ts, number))
    check(not any(stacks.values()), "each slice has an end")
    for flow, ts, number, track in late:
        ends = t.flow_slices.setdefault(flow, {})
        check(0 not in ends and around(t, track, ts), "an arrow has one begin and one end")
        ends[0] = (track, around(t, track, ts)[-1], (ts, number))
    for flow, ends in t.flow_slices.items():
        check(len(ends) == 2 and ends[0][2] < ends[1][2], "an arrow: %s" % ends)
        t.flow_slices[flow] = [ends[0], ends[1]]
    t.check_nesting()
    return t


def named(t, track):
    return track[0], t.tracks[track], t.order[track]


def all_slices(t):
    return {named(t, track): [(s[0], s[1], s[2], s[3], s[4]) for s in slices]
            for track, slices in t.slices.items()}


def compare(what, a, b):
    check(a == b, "%s differ:\n%s\n%s" % (what, a, b))


def compare_both(proto, name):
    a, b = read_chrome(name + ".json"), read_perfetto(proto, name + ".pftrace")
    compare("processes", a.processes, b.processes)
    compare("labels", a.labels, b.labels)
    compare("tracks", sorted(named(a, t) for t in a.tracks), sorted(named(b, t) for t in b.tracks))
    for pid in a.processes:
        compare("order", a.order[pid], b.order[pid])
    compare("slices", all_slices(a), all_slices(b))
    compare("instants", sorted((named(a, i[0]) if i[0] in a.tracks else i[0][0],) + i[1:]
                               for i in a.instants),
            sorted((named(b, i[0]) if i[0] in b.tracks else i[0],) + i[1:] for i in b.instants))
    compare("counters", sorted(a.counters), sorted(b.counters))
    compare("units", a.units, b.units)
    for counter, values in a.counters.items():
        others = b.counters[counter]
        check(len(values) == len(others) and
              all(v[0] == o[0] and abs(v[1] - o[1]) <= 0.0005 for v, o in zip(values, others)),
              "values of " + counter)
    compare("ids of arrows", sorted(a.flows), sorted(int(flow) for flow in b.flow_slices))
    for flow, ends in a.flows.items():
        for (track, ts), (other, s, _) in zip(ends, b.flow_slices[str(flow)]):
            compare("tracks of an arrow", named(a, track), named(b, other))
            check(s[0] <= ts <= s[1] and s[:3] in [c[:3] for c in around(a, track, ts)],
                  "an arrow's slice")
    check_tasks(a, name + ".tasks")
    print("%d slices, %d arrows, %d counters" % (sum(len(s) for s in a.slices.values()),
                                                 len(a.flows), len(a.counters)))


VIEWS = ("instance", "span", "critical-path")


def check_tasks(t, path):
    with open(path, encoding="utf-8") as f:
        tasks = sorted(json.load(f))
    slices = sorted([track[0], s[0], s[1], s[2]] for track, slices in t.slices.items()
                    for s in slices if s[3] not in VIEWS)
    compare("tasks", tasks, slices)


def check_cut(path):
    """Viewers complete an array: up to the last whole line, without its comma."""
    with open(path, "rb") as f:
        text = f.read()
    whole = json.loads(text)
    for n in range(2, len(text) + 1):
        part = text[:n]
        part = part[:part.rfind(b"\n")] if not part.endswith((b"}", b"]")) else part
        part = part.rstrip(b",\n]").rstrip()
        try:
            events = json.loads(part + b"]")
        except ValueError:
            # the end of an object inside an event
            part = part[:part.rfind(b"\n")].rstrip(b",")
            events = json.loads(part + b"]")
        check(events == whole[:len(events)], "events of a part")
        check(len(events) >= text[:n].count(b"},\n"), "%d events of %d bytes" % (len(events), n))


def main():
    try:
        if sys.argv[1] == "both":
            for name in sys.argv[3:]:
                compare_both(sys.argv[2], name)
        elif sys.argv[1] == "cut":
            check_cut(sys.argv[2])
        else:
            for path in sys.argv[2:]:
                t = read_chrome(path)
                print("%d slices, %d arrows, %d counters" % (
                    sum(len(s) for s in t.slices.values()), len(t.flows), len(t.counters)))
    except Wrong as e:
        sys.exit("trace_reader.py: %s: %s" % (sys.argv[-1], e))


if __name__ == "__main__":
    main()
