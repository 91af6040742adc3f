# SPDX-License-Identifier: LGPL-2.1-or-later
"""Lists the kernels of the VM suite, and selects the kernels that a run boots on this machine."""

import apt
import custom
import kernels
from git import git


def every():
    """Returns the kernels of kernels.list, and the custom kernels, which are built from the source
    packages of kernels.list."""
    return [e for e in kernels.read().values() if e.kind == "kernel"] + custom.entries()


def find(name):
    for entry in every():
        if entry.name == name:
            return entry
    known = " ".join(e.name for e in every())
    raise apt.Unavailable(f"no kernel {name!r} in kernels.list; it has: {known}")


def chosen(everything, flag="default"):
    """Returns the kernels of this machine's architecture that have the flag @flag. With
    @everything, returns all kernels of this architecture, and the kernels of other architectures
    that have the flag "foreign"."""
    own = [e for e in every() if e.arch == kernels.MACHINE]
    if not everything:
        return [e for e in own if flag in e.flags]
    return own + [e for e in every() if e.arch != kernels.MACHINE and "foreign" in e.flags]


def by_commit(entries):
    """Selects one kernel by the number of commits modulo the number of kernels, so that successive commits test
    different kernels. Without git, selects the first kernel."""
    return entries[int(git("rev-list", "--count", "HEAD") or 0) % len(entries)]
