# SPDX-License-Identifier: MIT
# The packed data of a bootchart and of other pages, read by the descriptions in render/chart/pack_chart.h and report/packed.h alone.
import json
import zlib

DIGITS = {c: i for i, c in enumerate(c for c in map(chr, range(33, 127)) if c not in "<>&")}


def characters(text):
    bits = held = 0
    out = bytearray()
    for i in range(0, len(text) - 1, 2):
        bits |= (DIGITS[text[i]] * 91 + DIGITS[text[i + 1]]) << held
        held += 13
        while held >= 8:
            out.append(bits & 255)
            bits >>= 8
            held -= 8
    return bytes(out)


def leb(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def column(data, at, kind, n):
    out, last = [], 0
    for first in range(0, n, 64):
        length = min(64, n - first)
        least, at = leb(data, at)
        width, larger = data[at] & 127, data[at] > 127
        size = (length * width + 7) // 8
        bits = int.from_bytes(data[at + 1:at + 1 + size], "little")
        at += 1 + size
        out += [least + (bits >> i * width & (1 << width) - 1) for i in range(length)]
        count, at = (data[at], at + 1) if larger else (0, at)
        for _ in range(count):
            above, end = leb(data, at + 1)
            out[first + data[at]] += above << width
            at = end
    if kind != "u":
        out = [-(v + 1) // 2 if v & 1 else v // 2 for v in out]
    for i in range(len(out) if kind == "d" else 0):
        last = out[i] = last + out[i]
    return out, at


def read(text):
    """The data of a script: (head, columns of numbers by name, texts by name, bytes of each column)."""
    first, _, rest = text.partition("\n")
    head = json.loads(first)
    data, at, numbers, sizes, texts = characters(rest.strip()), 0, {}, {}, {}
    for name, kind, n, *_ in head["numbers"]:
        numbers[name], end = column(data, at, kind, n)
        sizes[name], at = end - at, end
    plain = zlib.decompress(data[head["packed"][0]:sum(head["packed"])], -15)
    at = 0
    for name, n in head["texts"]:
        texts[name] = plain[at:at + n].decode("utf-8", "replace").split("\n")[:-1]
        at += n
    return head, numbers, texts, sizes
