# SPDX-License-Identifier: MIT
"""Recordings made by hand (buildbeat-recording(5)), with known values."""
import os

S = 1000000             # microseconds


class Build:
    """One make of `slots` workers; times are in seconds."""

    def __init__(self, end_s, slots=4, command='make -j4', status=0):
        self.head = [('command', command), ('cwd', '/src'), ('tool', 'make'), ('version', '4.3'),
                     ('host', 'builder'), ('kernel', '6.1.0'), ('machine', 'x86_64'),
                     ('cores', slots), ('memory_kb', 8 << 20), ('interval_ms', 1000)]
        self.end_s = end_s
        self.status = status
        self.events = [(0, 'open\t1000\ttop\t100\t0\t100,99\tmake\t4.3\t/src\t' + command)]
        self.n_tasks = 0
        self.logs = {}

    def task(self, name, start_s, wall_s, slot=0, kind='', command=None, cpu_s=0.0, rss_mb=10,
             ended='done', status=0, after=(), queue_s=None, blocks=(0, 0)):
        """ended: done, fail, kill, or None: it did not. Returns its id."""
        self.n_tasks += 1
        task = 'top.%d' % self.n_tasks
        start = round(start_s * S)
        if queue_s is not None:
            self.events.append((round(queue_s * S), 'queue\t%d\t%s\t%s\t%s'
                                % (round(queue_s * S), task, kind, name)))
        self.events.append((start, 'start\t%d\t%s\t%d\t%d\t%s\t%s\t\t%s' % (
            start, task, 1000 + self.n_tasks, slot, kind, name, command or 'cc -c ' + name)))
        if after:
            self.events.append((start, 'after\t%d\t%s\t%s' % (start, task, '\t'.join(after))))
        if ended:
            end = start + round(wall_s * S)
            self.events.append((end, '%s\t%d\t%s\t%d\t%d\t%d\t%d\t10\t0\t%d\t%d\t5\t3' % (
                ended, end, task, status, round(cpu_s * S * 0.75), round(cpu_s * S * 0.25),
                rss_mb * 1024, blocks[0], blocks[1])))
        return task

    def span(self, task, number, name, start_s, wall_s, parent=0):
        start, end = round(start_s * S), round((start_s + wall_s) * S)
        self.events.append((start, 'begin\t%d\t%s\t%d\t%s\t%d' % (start, task, number, name, parent)))
        self.events.append((end, 'end\t%d\t%s\t%d' % (end, task, number)))

    def make_inside(self, task, start_s, end_s, tasks, cwd='/src'):
        """A make that a task runs; tasks: name, kind, start, wall."""
        pid, inner = 1000 + int(task.split('.')[1]), 'in' + task.split('.')[1]
        self.events.append((round(start_s * S), 'open\t%d\t%s\t%d\t1\t%d,%d,100,99\tmake\t4.3\t%s\tmake' % (
            start_s * S, inner, pid + 5000, pid + 5000, pid, cwd)))
        for i, (name, kind, at_s, wall_s) in enumerate(tasks):
            at, end = round(at_s * S), round((at_s + wall_s) * S)
            self.events.append((at, 'start\t%d\t%s.%d\t%d\t\t%s\t%s\t\tcc %s' % (
                at, inner, i + 1, pid + 6000 + i, kind, name, name)))
            self.events.append((end, 'done\t%d\t%s.%d\t0\t%d\t0\t1000' % (
                end, inner, i + 1, wall_s * S / 2)))
        self.events.append((round(end_s * S), 'close\t%d\t%s' % (end_s * S, inner)))

    def log(self, name, columns, lines, interval_ms=1000):
        self.logs[name] = 'buildbeat %s 1 %d %s\n%s\n' % (name, interval_ms, columns,
                                                           '\n'.join(lines))

    def samples(self):
        """A second's samples of CPU and memory that rise and fall."""
        n = int(self.end_s) + 1
        self.log('proc_stat', 'user:10ms:c system:10ms:c running:1:g iowait:10ms:c',
                 ['@0 '] + ['%d,%d,%d,%d' % (100 + i % 7 * 20, 20 + i % 3 * 10, 1 if i % 2 else -1,
                                             i % 5) for i in range(1, n)])
        self.log('proc_meminfo', 'free:1MiB:g available:1MiB:g swap:1MiB:g total:1MiB:g '
                 'swap_total:1MiB:g',
                 ['@0 6000,7000,,8000,100'] + ['%d,%d' % ((-50, -50) if i % 20 < 10 else (50, 50))
                                               for i in range(1, n)])
        self.log('proc_diskstats', 'sda.written:1KiB:c sda.read:1KiB:c sda.busy:1ms:c',
                 ['@0 '] + ['%d,%d,%d' % (1000 + i, 500, 100) for i in range(1, n)])
        return self

    def write(self, path):
        os.makedirs(path)
        head = [('start_wall_ns', 1795261795000000000), ('start_mono_ns', 11542890694839),
                ('start', '2026-11-21T11:49:55Z')] + self.head
        if self.status is not None:
            head += [('end_us', round(self.end_s * S)), ('status', self.status),
                     ('tasks', self.n_tasks)]
            self.events.append((round(self.end_s * S), 'close\t%d\ttop' % (self.end_s * S)))
        texts = {'build': 'buildbeat build 1\n' + ''.join('%s: %s\n' % kv for kv in head),
                 'tasks.log': 'buildbeat tasks 1\n' + ''.join(
                     line + '\n' for _, line in sorted(self.events, key=lambda e: e[0]))}
        texts.update((name + '.log', text) for name, text in self.logs.items())
        for name, text in texts.items():
            with open(os.path.join(path, name), 'wb') as f:
                f.write(text.encode('utf-8', 'surrogateescape'))


def known():
    """Two minutes, every kind of end, a chain, memory over one task's life."""
    b = Build(120, status=2).samples()
    b.task('config.h', 0.5, 4.5, slot=0, command='sh configure', cpu_s=4.0)
    for i in range(40):     # each begins when the one before it in its slot ends
        b.task('obj/part%02d.o' % i, 5 + i // 4 * 8 + i % 4 * 0.25,
               8 if i < 36 else 7.5 - i % 4 * 0.5, slot=i % 4,
               command='cc -O2 -c -o obj/part%02d.o part%02d.c' % (i, i), cpu_s=5.25 + i % 4 * 0.25,
               rss_mb=100 + i, after=('part%02d.c' % i, 'config.h'), blocks=(64, 2048))
    grown = b.task('libparts.a', 86, 10, slot=0, command='ar rcs libparts.a obj/*.o', cpu_s=2.5,
                   rss_mb=300, after=['obj/part%02d.o' % i for i in range(40)], queue_s=85.5)
    b.task('app', 96.5, 15.5, slot=0, command='cc -o app main.o libparts.a', cpu_s=14.0,
           rss_mb=900, after=('libparts.a',))
    b.task('test-one', 112.5, 3, slot=1, command='./test-one', ended='fail', status=2,
           after=('app',))
    b.task('test-two', 112.5, 4, slot=2, command='./test-two', ended='kill', status=9,
           after=('app',))
    b.task('test-three', 113, 0, slot=3, command='sleep 60', ended=None, after=('app',))
    b.log('proc_tasks', 'rss:1MiB:g cpu:10ms:c pss:1MiB:g processes:1:g',
          ['@86000 0=%s:20,10,,1' % grown] + ['0:70,25'] * 5 + ['0:-80,25'] * 3 + ['0-'])
    return b


def idle():
    """Ten minutes, tasks that waited for nearly all of them: what they used is little of it, and an odd number."""
    b = Build(600).samples()
    for i in range(40):
        b.task('wait%02d' % i, i * 0.5, 560 - i, slot=i % 4, command='sleep 560',
               cpu_s=(7 * 1.61 ** i % 4e8 + 17) / 1e6, rss_mb=1 + i * 1.25, blocks=(i, 2 ** (i % 21)))
    return b


def short():
    """Tasks of 10 to 40 ms by the thousand in ten minutes, one of them named."""
    b = Build(600).samples()
    for i in range(12000):
        wall = 0.01 + i % 4 * 0.01
        b.task('d%d/needle.o' % (i // 100) if i == 7001 else 'd%d/t%05d.o' % (i // 100, i),
               i // 4 * 0.2 + i % 4 * 0.002, wall, slot=i % 4, cpu_s=wall / 2)
    return b


HOSTILE = ['</script><script>window.pwned=1</script>', '"><img src=x onerror="window.pwned=1">',
           '" onload="window.pwned=1', ']]>', '<!--', '&lt;b&gt;&amp;', '\u202etxt.exe\u202c',
           "';window.pwned=1;'", '\\x01\\x1b[31mred', '${window.pwned=1}', '%41javascript:',
           '\U0001f600 \u00e9', 'raw \udcff\udcfe bytes', '\u2028\u2029']


def hostile():
    b = Build(60, command='make "</script><script>window.pwned=1</script>" ]]>').samples()
    for i, name in enumerate(HOSTILE):
        b.task(name, 1 + i * 4, 3.5, slot=0, command='cc ' + name, cpu_s=1)
    return b


# In a build of make, and name and recipe in one of BitBake: kind, name, key, command.
NAMED = [
    ('compile', 'obj/deep/lib07.o', '', ''), ('compile', 'CMakeFiles/x.dir/parser.cc.o', '', ''),
    ('link', '/src/bin/server', '', ''), ('other', 'out/', '', ''), ('shell', 'mkdir -p a/b', '', ''),
    ('shell', '$(shell)', '', 'uname -s'), ('compile', '', '', 'cc -c -o q/z.o z.c'),
    ('compile', '/tmp/ccBWmNSn.ltrans3.ltrans.o', '', ''), ('compile', '/tmp/foo.o', '', ''),
    ('compile', 'a.o.o', '', ''), ('compile', 'x/.lo.o', '', ''), ('other', '..', '', ''),
    ('archive', 'libparts.a', '', ''), ('other', '/tmp/Makefile', '', ''), ('other', 'a:b', '', ''),
    ('other', 'stamp-h1', '', ''), ('test', 'check.log', '', ''), ('other', 'r\u00e9sum\u00e9.pdf', '', '')]
BAKED = [
    ('configure', 'do_configure', 'busybox-1.36.1-r0', ''), ('compile', 'do_compile', 'zlib-1.3-r0', ''),
    ('package', 'do_packagedata', 'gcc-1_13.2+git-r0', ''), ('fetch', 'do_fetch', 'linux-git-r3', ''),
    ('fetch', 'do_unpack', 'no-version', ''), ('fetch', 'do_', 'a-b-1.0-r0', ''),
    ('install', 'do_populate_sysroot', 'a-1-r0', ''), ('compile', 'do_fetch', '-r1-r2', '')]


def _in_rows(tool, tasks):
    """Four rows of bars that have room for their names."""
    b = Build(2.1 * ((len(tasks) + 3) // 4))
    b.head = [(key, tool if key == 'tool' else value) for key, value in b.head]
    b.events = [(0, b.events[0][1].replace('\tmake\t4.3', '\t%s\t4.3' % tool))]
    for i, task in enumerate(tasks, 1):
        at = round((i - 1) // 4 * 2.1 * S)
        b.events.append((at, 'start\t%d\ttop.%d\t\t%d\t%s' % (at, i, (i - 1) % 4, '\t'.join(task))))
        b.events.append((at + 2 * S, 'done\t%d\ttop.%d' % (at + 2 * S, i)))
    return b


def named():
    return _in_rows('make', NAMED)


def baked():
    return _in_rows('bitbake', BAKED)


def no_tasks():
    return Build(10).samples()


def nothing():
    return Build(0.001)


def one_task():
    b = Build(3).samples()
    b.task('only.o', 0.25, 2.5, cpu_s=2)
    return b


def no_samples():
    b = Build(20)
    for i in range(20):
        b.task('t%d.o' % i, i, 0.9, slot=i % 2)
    return b


def gap():
    b = Build(60)
    b.log('proc_stat', 'user:10ms:c system:10ms:c running:1:g', ['@0 '] + ['100,20'] * 10 +
          ['!40000 500,100'] + ['100,20'] * 15)
    for i in range(30):
        b.task('t%d.o' % i, i * 2, 1.5)
    return b


def unfinished():
    b = Build(30, status=None).samples()
    for i in range(10):
        b.task('t%d.o' % i, i * 3, 2.5, slot=i % 2)
    b.task('hangs', 28, 0, slot=1, ended=None)
    return b


def at_once():
    b = Build(20).samples()
    for i in range(10000):
        b.task('t%d.o' % i, 1, 10 + i % 7, slot=i)
    return b


def one_second():
    b = Build(1)
    for i in range(400):
        b.task('t%d.o' % i, i % 100 * 0.009, 0.008, slot=i % 4)
    return b


def second_build():
    """known(), but the library takes twice the time and one part is gone."""
    b = Build(130, status=0).samples()
    b.task('config.h', 0.5, 4.5, command='sh configure', cpu_s=4.0)
    for i in range(39):
        b.task('obj/part%02d.o' % i, 5 + i // 4 * 8 + i % 4 * 0.25,
               8 if i < 36 else 7.5 - i % 4 * 0.5, slot=i % 4,
               command='cc -O2 -c -o obj/part%02d.o part%02d.c' % (i, i), cpu_s=5.25 + i % 4 * 0.25)
    b.task('libparts.a', 86, 20, slot=0, command='ar rcs libparts.a obj/*.o', cpu_s=2.5)
    b.task('app', 106.5, 15.5, slot=0, command='cc -o app main.o libparts.a', cpu_s=14.0)
    return b


def linked():
    """A link that is most of the build, by a make of its own; phases; two directories."""
    b = Build(100).samples()
    b.task('src/a.o', 0, 10, slot=0, kind='compile', cpu_s=9)
    phased = b.task('lib/b.o', 0, 20, slot=1, kind='compile', cpu_s=19)
    b.span(phased, 1, 'parse', 1, 12)
    b.span(phased, 2, 'templates', 2, 8, 1)
    b.span(phased, 3, 'optimise', 13, 6)
    link = b.task('app', 20, 78, slot=0, kind='link', cpu_s=75, after=('src/a.o', 'lib/b.o'))
    b.make_inside(link, 30, 97, [('/tmp/ccAbCdEf.ltrans%d.ltrans.o' % i, 'compile', 31 + i // 2 * 22, 20)
                                 for i in range(6)])
    b.task('src/doc.txt', 98, 1, slot=0, kind='document', after=('app',))
    return b


def with_ninja():
    b = linked()
    b.events[0] = (0, b.events[0][1].replace('make\t4.3', 'ninja\t1.11'))
    b.head = [(k, 'ninja' if k == 'tool' else v) for k, v in b.head]
    return b
