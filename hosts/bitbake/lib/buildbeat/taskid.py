# SPDX-License-Identifier: MIT
"""Tasks as cooker and worker both know them: "[mc:NAME:]FILE:TASK"."""

import hashlib


def number(taskid):
    """The same in every process; 49 bits."""
    digest = hashlib.blake2b(taskid.encode("utf-8", "surrogateescape"), digest_size=6).digest()
    return int.from_bytes(digest, "big") | 1 << 48


def split(taskid):
    """(file with its multiconfig, task)"""
    file, _, name = taskid.rpartition(":")
    return file, name
