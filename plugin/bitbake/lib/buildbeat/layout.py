# SPDX-License-Identifier: MIT
"""OpenEmbedded's own layout, for the tools that read it: beside ours, or instead."""

import os
import shutil
import subprocess

_SECONDS = 60


class Layout:
    """BUILDBEAT_LAYOUT: buildbeat, both or oe."""

    def __init__(self, d, ours):
        """ours: the recording is nobody else's, so it may go."""
        layout = d.getVar("BUILDBEAT_LAYOUT")
        self._wanted = layout in ("both", "oe")
        self._keep = layout != "oe" or not ours
        self._program = d.getVar("BUILDBEAT_PROGRAM")
        self._base = d.getVar("BUILDSTATS_BASE") or "%s/buildstats" % d.getVar("TMPDIR")
        self._name = None

    def name(self, name):
        """Set the name of the build."""
        self._name = name

    def _free(self):
        """A path that does not exist. OpenEmbedded's own class makes its directory before or during
        the build, so call this after the build."""
        path = plain = os.path.join(self._base, self._name)
        n = 0
        while os.path.lexists(path):
            n += 1
            path = "%s-buildbeat%s" % (plain, "-%d" % n if n > 1 else "")
        return path

    def write(self, recording):
        if not self._wanted or not self._name:
            return
        os.makedirs(self._base, exist_ok=True)
        run = subprocess.run([self._program, "export", "--to", "oe", recording, "-o", self._free()],
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.PIPE, timeout=_SECONDS)
        if run.returncode:
            raise OSError(run.stderr.decode("utf-8", "replace").strip())
        if not self._keep:
            _remove(recording)


def _remove(recording):
    latest = os.path.join(os.path.dirname(recording), "latest")
    if os.path.realpath(latest) == os.path.realpath(recording):
        os.unlink(latest)
    shutil.rmtree(recording)
