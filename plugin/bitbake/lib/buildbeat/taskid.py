# SPDX-License-Identifier: MIT
"""Tasks as cooker and worker both know them: "[mc:NAME:]FILE:TASK"."""

from zlib import adler32, crc32


def number(taskid):
    """The same in every process. 48 bits of two checksums: it is made for every task, and a
    real hash takes twice as long."""
    data = taskid.encode("utf-8", "surrogateescape")
    return crc32(data) << 16 | adler32(data) >> 16 | 1 << 48


def split(taskid):
    """(file with its multiconfig, task)"""
    file, _, name = taskid.rpartition(":")
    return file, name
