# SPDX-License-Identifier: MIT
"""What each task waits for, from bitbake's dependency tree, and what tasks are called."""

import os

from .taskid import split


def _multiconfig(file):
    """The "mc:NAME:" in front of a file, or "". """
    return "mc:%s:" % file.split(":", 2)[1] if file.startswith("mc:") else ""


def _recipe(name, version):
    """"gcc", "0:13.2-r0" -> "gcc-13.2-r0": bitbake's PF."""
    epoch, _, version = version.rpartition(":")
    return "%s-%s%s" % (name, epoch + "_" if epoch not in ("", "0") else "", version)


class Graph:
    """A task is called RECIPE/TASK by those that wait for it. One that does not run
    (noexec) stands for what it waits for itself; one that was skipped, for nothing, or
    for the setscene task that ran in its stead."""

    def __init__(self, tree=None):
        tree = tree or {}
        self._depends = tree.get("tdepends", {})
        self._name = {}		# file -> its recipe, as the tree calls it
        self._key = {}		# file -> as the recording calls it
        for name, what in tree.get("pn", {}).items():
            self._name[what["filename"]] = name
            self._key[what["filename"]] = _recipe(name, what["version"])
        self._stands = {}	# the tree's task -> [RECIPE/TASK]

    def _add(self, file):
        """One the tree does not tell of: the second version of a recipe, or a tree of
        another bitbake."""
        base = os.path.basename(file)
        base = base[:-3] if base.endswith(".bb") else base
        self._name[file] = _multiconfig(file) + base.partition("_")[0]
        self._key[file] = _multiconfig(file) + base.replace("_", "-", 1)

    def _find(self, taskid):
        file, name = split(taskid)
        if file not in self._name:
            self._add(file)
        return file, name, "%s.%s" % (self._name[file], name)

    def _before(self, node):
        found = {}
        for other in self._depends.get(node, ()):
            found.update(dict.fromkeys(self._stands.get(other, ())))
        return found

    def queue(self, taskid, suffix):
        """(name, key, what it waited for) of a task that is about to run. The setscene
        task of a task waits for nothing."""
        file, name, node = self._find(taskid)
        key = self._key[file]
        after = {}
        if not suffix:
            after = self._before(node)
            after.update(dict.fromkeys(self._stands.get(node, ())))
        self._stands[node] = [os.fsencode("%s/%s%s" % (key, name, suffix))]
        return name + suffix, key, list(after)

    def pass_on(self, taskid):
        """It will not run."""
        node = self._find(taskid)[2]
        self._stands[node] = list(self._before(node))
