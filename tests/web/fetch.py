# SPDX-License-Identifier: LGPL-2.1-or-later
"""Installs the npm packages of package-lock.json into a folder of the build directory, once per lock file.

usage: fetch.py NPM SOURCE-DIR TARGET-DIR; npm checks the integrity of the packages."""
import os
import shutil
import subprocess
import sys

PINNED = ("package.json", "package-lock.json")


def same(one, other):
    try:
        with open(one, "rb") as a, open(other, "rb") as b:
            return a.read() == b.read()
    except OSError:
        return False


def main():
    npm, source, target = sys.argv[1:]
    stamp = os.path.join(target, "fetched.json")
    if same(os.path.join(source, "package-lock.json"), stamp):
        return
    os.makedirs(target, exist_ok=True)
    for name in PINNED + (".npmrc",):
        shutil.copyfile(os.path.join(source, name), os.path.join(target, name))
    done = subprocess.run([npm, "ci", "--ignore-scripts", "--no-audit", "--no-fund",
                           "--loglevel=error"], cwd=target, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, timeout=300, check=False)
    if done.returncode:
        sys.exit(f"npm ci failed: {done.stderr.strip()}")
    shutil.copyfile(os.path.join(source, "package-lock.json"), stamp)


main()
