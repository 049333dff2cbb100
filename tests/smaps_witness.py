# SPDX-License-Identifier: MIT
"""What a process has in memory, read from /proc without our code: the witness of check_look.

smaps_witness.py PID        a line of each mapping: START END PERMISSIONS OFFSET MAJOR MINOR INODE
                            SIZE RSS PSS SHARED_CLEAN SHARED_DIRTY PRIVATE_CLEAN PRIVATE_DIRTY
                            ANONYMOUS HUGE SWAP FILE
smaps_witness.py PID pages  a line of each run of resident pages: START END
"""
import os
import re
import sys

KEYS = ["Size", "Rss", "Pss", "Shared_Clean", "Shared_Dirty", "Private_Clean", "Private_Dirty",
        "Anonymous", "Huge", "Swap"]
HUGE = ["AnonHugePages", "ShmemPmdMapped", "FilePmdMapped", "Shared_Hugetlb", "Private_Hugetlb"]


def mappings(pid):
    found = []
    with open(f"/proc/{pid}/smaps", "rb") as smaps:
        for line in smaps.read().split(b"\n")[:-1]:
            head = re.match(rb"([0-9a-f]+)-([0-9a-f]+) (....) ([0-9a-f]+) "
                            rb"([0-9a-f]+):([0-9a-f]+) (\d+) *(.*)$", line, re.S)
            if head:
                found.append((head, {}))
            else:
                key, value = line.split(b":", 1)
                found[-1][1][key.decode()] = value.split()[:1]
    for head, values in found:
        values = {key: int(value[0]) for key, value in values.items() if value and
                  value[0].isdigit()}
        values["Huge"] = sum(values.get(key, 0) for key in HUGE)
        numbers = [int(head[i], 16) for i in (1, 2, 4, 5, 6)] + [int(head[7])]
        yield numbers, head[3], [values.get(key, 0) for key in KEYS], head[8]


def main():
    pid = sys.argv[1]
    out = sys.stdout.buffer
    if len(sys.argv) == 2:
        for (start, end, offset, major, minor, inode), permissions, values, file in mappings(pid):
            row = [start, end, permissions.decode(), offset, major, minor, inode] + values
            out.write(" ".join(map(str, row)).encode() + b" " + file + b"\n")
        return
    page = os.sysconf("SC_PAGE_SIZE")
    resident = []
    with open(f"/proc/{pid}/pagemap", "rb", buffering=0) as pagemap:
        for (start, end, *_), _, values, _ in mappings(pid):
            if not values[1] or (end - start) // page > 1 << 24:
                continue
            entries = os.pread(pagemap.fileno(), (end - start) // page * 8, start // page * 8)
            for i in range(len(entries) // 8):
                if entries[8 * i + 7] & 0x80:
                    resident.append(start + i * page)
    runs = []
    for at in resident:
        if runs and runs[-1][1] == at:
            runs[-1][1] = at + page
        else:
            runs.append([at, at + page])
    for start, end in runs:
        print(start, end)


main()
