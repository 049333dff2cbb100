#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What it costs to follow the heaviest process of a build: the share of a CPU that the processes
beside the build use, for processes of several sizes and for many short ones. Bar: 1 %.
Run from the build directory.
"""
import os
import shutil
import subprocess
import sys
import tempfile
import time

BUILDBEAT = os.path.join(os.getcwd(), 'buildbeat')
SECONDS = 20
BAR = 1.0
HEAVY = '''
import sys, time
data = bytearray(%d << 20)
for i in range(0, len(data), 4096):
    data[i] = 1
time.sleep(%d)
'''
SHORT = 'end=$(($(date +%%s) + %d)); while [ $(date +%%s) -lt $end ]; do /bin/true; done'


def below(pid):
    try:
        with open('/proc/%d/task/%d/children' % (pid, pid)) as f:
            children = [int(n) for n in f.read().split()]
    except OSError:
        return []
    return children + [p for child in children for p in below(child)]


def used_ns(pid):
    """CPU time of the processes beside the build, by their numbers."""
    used = {}
    for p in below(pid):
        try:
            with open('/proc/%d/comm' % p) as f:
                if f.read() != 'buildbeat-look\n':
                    continue
            with open('/proc/%d/schedstat' % p) as f:
                used[p] = int(f.read().split()[0])
        except OSError:
            pass
    return used


def follow(name, rule, command, directory):
    launcher = subprocess.Popen([BUILDBEAT, 'record', '--inspect', rule, '--', *command],
                                cwd=directory, stdout=subprocess.DEVNULL)
    begin = time.monotonic()
    used, last = {}, begin
    while launcher.poll() is None:
        now = used_ns(launcher.pid)
        if now and time.monotonic() < begin + SECONDS:
            used.update(now)
            last = time.monotonic()
        time.sleep(0.05)
    share = 100 * sum(used.values()) / 1e9 / (last - begin)
    print('  %-24s %5.2f %% of a CPU in %2d s%s' % (
        name, share, last - begin, '' if share <= BAR else ', more than %g %%' % BAR))


def memory_mb():
    with open('/proc/meminfo') as f:
        return int([line for line in f if line.startswith('MemAvailable')][0].split()[1]) >> 10


def main():
    directory = tempfile.mkdtemp()
    print('following processes of a build')
    try:
        for mb in (1000, 4000):
            if mb * 2 > memory_mb():
                continue
            command = [sys.executable, '-c', HEAVY % (mb, SECONDS)]
            follow('a process of %d MB' % mb, 'python3*,rss>50M', command, directory)
        follow('many short processes', 'true', ['sh', '-c', SHORT % SECONDS], directory)
    finally:
        shutil.rmtree(directory)


main()
