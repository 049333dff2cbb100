# SPDX-License-Identifier: MIT
"""The CPU time and storage I/O of the server: no process of the build's command waits for it, so
the launcher cannot measure it. Its parsers have ended before the first task, and its workers,
which wait for their tasks, before the end of the build."""

import os
import resource
import time

_TICKS = os.sysconf("SC_CLK_TCK")


def _stat(path):
    """The fields of a stat file after the name of the process, beginning with its state."""
    with open(path, "rb") as f:
        return f.read().rpartition(b")")[2].split()


def _living():
    """User and system time in seconds of children that still run, such as a hash server."""
    user = system = 0
    for thread in os.listdir("/proc/self/task"):
        try:
            with open("/proc/self/task/%s/children" % thread, "rb") as f:
                pids = f.read().split()
        except OSError:		# the kernel has no such file, or the thread has ended
            continue
        for pid in pids:
            try:
                fields = _stat(b"/proc/%s/stat" % pid)
            except OSError:
                continue
            user += int(fields[11]) + int(fields[13])
            system += int(fields[12]) + int(fields[14])
    return user / _TICKS, system / _TICKS


def now():
    """User and system time in microseconds, blocks read and written, of this process and its
    children."""
    own = resource.getrusage(resource.RUSAGE_SELF)
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    user, system = _living()
    return (round(1e6 * (own.ru_utime + ended.ru_utime + user)),
            round(1e6 * (own.ru_stime + ended.ru_stime + system)),
            own.ru_inblock + ended.ru_inblock, own.ru_oublock + ended.ru_oublock)


NOTHING = (0, 0, 0, 0)


def _started_within(directory):
    """Did this process start after the recording."""
    with open(os.path.join(directory, "build"), encoding="utf-8", errors="replace") as f:
        lines = dict(line.split(": ", 1) for line in f if ": " in line)
    recorded_ns = time.monotonic_ns() - int(lines["start_mono_ns"])
    lived_ns = (time.clock_gettime_ns(time.CLOCK_BOOTTIME) -
                int(_stat("/proc/self/stat")[19]) * 1000000000 // _TICKS)
    return lived_ns < recorded_ns


class Counter:
    """What belongs to a recording: of a server that it started, everything."""

    def __init__(self):
        self._command = None	# at the first event of a command
        self._directory = None	# of the recording before
        self._end = None	# of that recording

    def command_started(self):
        self._command = now()

    def begin(self, directory, launched):
        """What the server had used before this recording began."""
        command, self._command = self._command, None
        if not launched:
            return now()
        if self._directory == directory:
            return self._end
        if not self._directory and _started_within(directory):
            return NOTHING
        return command or now()

    def end(self, directory, before):
        self._directory, self._end = directory, now()
        return [max(0, a - b) for a, b in zip(self._end, before)]
