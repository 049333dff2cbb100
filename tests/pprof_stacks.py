#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pprof_stacks.py PROFILE.pb.gz: check a profile of pprof and print what is in it: a line
"TYPE UNIT TOTAL" for each type of sample, an empty line, then collapsed stacks of inuse_space."""
import collections
import gzip
import os
import sys
import tempfile

import protoc_text
from protoc_text import check

PROTO = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'data/inspect/profile.proto')


def number(message, key):
    return int(message.get(key, ['0'])[0])


def by_id(messages):
    found = {number(m, 'id'): m for m in messages}
    check(len(found) == len(messages) and 0 not in found, 'an id is 0 or there twice')
    return found


def read(path):
    with open(path, 'rb') as packed, tempfile.NamedTemporaryFile() as plain:
        plain.write(gzip.decompress(packed.read()))
        plain.flush()
        return protoc_text.decode(PROTO, 'perftools.profiles.Profile', plain.name)


def text(profile, index):
    return profile['string_table'][index].decode()


def functions(profile, location, function):
    """From the outermost function at the address to the innermost."""
    lines = location.get('line', [])
    for line in lines:
        check(number(line, 'function_id') in function, 'a line has no function')
    return [text(profile, number(function[number(line, 'function_id')], 'name')) or '?'
            for line in reversed(lines)]


def main(path):
    profile = read(path)
    check(profile['string_table'][0] == b'', 'the first string is not empty')
    types = [(text(profile, number(t, 'type')), text(profile, number(t, 'unit')))
             for t in profile['sample_type']]
    mapping, location, function = (by_id(profile.get(key, []))
                                   for key in ('mapping', 'location', 'function'))
    totals, stacks, used = [0] * len(types), collections.Counter(), set()
    for sample in profile.get('sample', []):
        values = [int(v) for v in sample['value']]
        check(len(values) == len(types), 'a sample has other values than types')
        label = sample['label'][0]
        check(text(profile, number(label, 'key')) == 'allocator', 'no allocator')
        check(text(profile, number(label, 'str')) in ('malloc', 'mmap'), 'which allocator')
        totals = [a + b for a, b in zip(totals, values)]
        names = []
        for i in reversed(sample['location_id']):
            l = location[int(i)]
            used.add(int(i))
            m = mapping.get(number(l, 'mapping_id'))
            address = number(l, 'address')
            check(bool(m) == bool(number(l, 'mapping_id')), 'a location has no mapping')
            if m:
                check(number(m, 'memory_start') <= address < number(m, 'memory_limit'),
                      'an address is outside its mapping')
            file = text(profile, number(m, 'filename')).split('/')[-1] + '!' if m else ''
            names += functions(profile, l, function) or ['%s#' % file]
        stacks[';'.join(n.replace(';', ':') for n in names)] += \
            values[types.index(('inuse_space', 'bytes'))]
    check(used == set(location), 'a location is not used')
    for (name, unit), total in zip(types, totals):
        print(name, unit, total)
    print()
    for stack, value in sorted(stacks.items()):
        if value:
            print(stack, value)


main(sys.argv[1])
