# SPDX-License-Identifier: MIT
"""Replies equal what commands print: replies.py ASK BUILDBEAT SERVED COMMAND PATH...

SERVED is a directory, a recording or an archive. Each PATH is asked for and compared with the JSON of
the command, "{}" in which is SERVED. Prints what differs."""

import json
import os
import subprocess
import sys

ask, buildbeat = sys.argv[1:3]
served = os.path.abspath(sys.argv[3])


def reply(path):
    out = subprocess.run([ask, served], input=path + "\n", stdout=subprocess.PIPE, text=True, check=True).stdout
    head, body = out.split("\n", 1)
    return int(head.split()[0]), body


def command(line):
    argv = [w.replace("{}", served) for w in line.split()]
    return subprocess.run([buildbeat] + argv, stdout=subprocess.PIPE, text=True).stdout


def difference(a, b, at):
    if type(a) is not type(b):
        return "%s: %r, not %r" % (at, a, b)
    if isinstance(a, dict):
        if list(a) != list(b):
            return "%s: keys %s, not %s" % (at, list(a), list(b))
        return next(filter(None, (difference(a[k], b[k], at + "." + k) for k in a)), None)
    if isinstance(a, list):
        if len(a) != len(b):
            return "%s: %d items, not %d" % (at, len(a), len(b))
        return next(filter(None, (difference(x, y, "%s[%d]" % (at, i)) for i, (x, y) in
                                  enumerate(zip(a, b)))), None)
    return None if a == b else "%s: %r, not %r" % (at, a, b)


for path, line in zip(sys.argv[4::2], sys.argv[5::2]):
    status, body = reply(path)
    wanted = command(line)
    if status != 200:
        print(path, status, body)
    elif not wanted:
        print(line, "prints nothing")
    else:
        mine, theirs = json.loads(body), json.loads(wanted)
        if "spans" in mine.get("totals", {}):
            # show leaves out the spans of recorded processes, which cost it time
            mine["totals"]["spans"] = theirs["totals"]["spans"]
        found = difference(mine, theirs, "")
        if found:
            print(path, found)
