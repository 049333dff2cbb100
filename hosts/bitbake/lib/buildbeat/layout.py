# SPDX-License-Identifier: MIT
"""OpenEmbedded's own layout, for the tools that read it, beside ours or instead."""

import os
import subprocess

_SECONDS = 60


class Layout:
    def __init__(self, program=None, base=None):
        self._program, self._base, self._to = program, base, None

    def name(self, d):
        """The build has a name now."""
        if self._base:
            self._to = os.path.join(self._base, d.getVar("BUILDNAME") or "")

    def write(self, recording):
        if not self._to:
            return
        import bb
        try:
            run = subprocess.run([self._program, "export", "--to", "oe", recording, "-o", self._to],
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, timeout=_SECONDS)
        except (OSError, subprocess.SubprocessError) as why:
            bb.warn("buildbeat: no %s: %s" % (self._to, why))
            return
        if run.returncode:
            bb.warn(run.stderr.decode("utf-8", "replace").strip())


def wanted(d):
    """BUILDBEAT_LAYOUT"""
    if d.getVar("BUILDBEAT_LAYOUT") not in ("oe", "both"):
        return Layout()
    return Layout(d.getVar("BUILDBEAT_PROGRAM"), d.getVar("BUILDSTATS_BASE") or
                  os.path.join(d.getVar("TMPDIR"), "buildstats"))
