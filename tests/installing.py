# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs copies of ./quickstart and ./check with fake commands, and checks the output of both scripts."""
import os
import pty
import re
import shutil
import subprocess
import tempfile

# Fake apt-get that writes status lines to the descriptor of APT::Status-Fd. The scripts must not show the normal output
# of apt-get.
APT_GET = """#!/bin/sh
echo "Reading package lists..."
status() { for percent in 0 9.5 20.25 37 60 80 99 100; do echo "$1:name:$percent:text" >&3; done; }
case $* in
*" update"*) status dlstatus ;;
*) status dlstatus; status pmstatus; echo "$*" >>"$0.asked"; exit "${APT_STATUS:-0}" ;;
esac
"""
# Fake commands, which install no package and succeed at once.
COMMANDS = {
    "apt-get": APT_GET, "dpkg-query": "#!/bin/sh\nexit 1\n", "sudo": '#!/bin/sh\nexec "$@"\n',
    "bpftool": "#!/bin/sh\n", "localedef": "#!/bin/sh\n",
    "meson": "#!/bin/sh\nmkdir -p $2\n: >$2/build.ninja\n",
    "ninja": "#!/bin/sh\nfor i in $(seq 400); do echo \"[$i/400] Compiling $i.c\"; done\n"
             "if [ -n \"$NINJA_FAILS\" ]; then echo 'x.c:1: error: pretended'; exit 1; fi\ncp bin/subtick $2/\n",
    "getconf": "#!/bin/sh\necho 64\n",
    # Fake output of `subtick overview` on a machine with 64 cores: a table of waits, and findings.
    "subtick": "#!/bin/sh\nseq 80 | sed 's/^/overview /'\n",
}
SUITE = "#!/bin/sh\necho 1..1\necho ok 1 - pretended\n"
LISTS = [f"package lists: downloading, {percent} %" for percent in (0, 60)]
PACKAGES = [f"packages: {half}, {percent} %" for half in ("downloading", "installing")
            for percent in (0, 60)]


class Tree:
    """Context manager that copies quickstart and check into a separate folder, with fakes of the commands that these
    scripts call."""

    def __enter__(self):
        self.top = tempfile.mkdtemp(prefix="subtick-installing-")
        for path in ("quickstart", "check", "packaging/packages.sh", "tests/tally.sh", "tests/suites.list"):
            os.makedirs(os.path.dirname(f"{self.top}/{path}"), exist_ok=True)
            shutil.copy(path, f"{self.top}/{path}")
        os.makedirs(f"{self.top}/tests/suites")
        os.makedirs(f"{self.top}/bin")
        for name, text in [(f"bin/{name}", text) for name, text in COMMANDS.items()] + [("tests/suites/docs", SUITE)]:
            with open(f"{self.top}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(f"{self.top}/{name}", 0o755)
        with open(f"{self.top}/os-release", "w", encoding="utf-8") as file:
            file.write("ID=debian\nVERSION_ID=12\n")
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.top)

    def _options(self, status, **env):
        return {"cwd": self.top, "stdin": subprocess.DEVNULL,
                "env": {**os.environ, "PATH": f"{self.top}/bin:{os.environ['PATH']}", "APT_STATUS": str(status),
                        "OS_RELEASE": f"{self.top}/os-release", "XDG_CACHE_HOME": f"{self.top}/cache", **env}}

    def run(self, *command, status=0, **env):
        """Runs a script without a terminal. Returns the exit code, and the lines of standard output and standard
        error."""
        done = subprocess.run([f"./{command[0]}", *command[1:]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=120, check=False, **self._options(status, **env))
        return done.returncode, done.stdout.splitlines()

    def run_on_terminal(self, *command):
        """Runs a script on a pseudo-terminal and returns its output."""
        ours, theirs = pty.openpty()
        with subprocess.Popen([f"./{command[0]}", *command[1:]], stdout=theirs, stderr=theirs, **self._options(0)) as process:
            os.close(theirs)
            text = b""
            try:
                while chunk := os.read(ours, 65536):
                    text += chunk
            except OSError:  # expected error when the last process has closed the terminal
                pass
            process.wait(timeout=120)
        os.close(ours)
        return text.decode()


def in_order(lines, wanted):
    """Returns the first line of @wanted that is missing from @lines or in the wrong order."""
    rest = iter(lines)
    return next((line for line in wanted if line not in rest), None)


def check_quickstart():
    with Tree() as tree:
        code, lines = tree.run("quickstart")
        missing = in_order(lines, [*LISTS, *PACKAGES, "build: configuring", "build: 0 %", "build: 50 %",
                                   "built: build/subtick; log: build/quickstart.log", "overview 1",
                                   "… 64 more lines in build/quickstart.log", "overview 80"])
        if code or missing or not re.fullmatch(r"installing \d\d packages: .*\bclang\b.*", lines[0]):
            yield f"exit {code}, not said in this order: {missing}; said: {lines}"
        if [line for line in lines if " %" in line] != [*LISTS, *PACKAGES, "build: 0 %", "build: 50 %"]:
            yield f"other steps than two of each phase: {lines}"
        if len(lines) > 30:
            yield f"{len(lines)} lines instead of at most 30: {lines}"
        with open(f"{tree.top}/build/quickstart.log", encoding="utf-8") as log:
            missing = in_order(log.read().splitlines(), ["[400/400] Compiling 400.c", "overview 40"])
            if missing:
                yield f"not in the log: {missing}"
        with open(f"{tree.top}/bin/apt-get.asked", encoding="utf-8") as asked:
            if "install --no-install-recommends" not in asked.read():
                yield "nothing was installed"


def check_terminal():
    """On a terminal, the scripts show progress in one line, which changes at every step and is cleared at the end."""
    with Tree() as tree:
        text = tree.run_on_terminal("quickstart")
    for step in ("package lists: downloading, 9 %", "packages: downloading, 37 %", "packages: installing, 99 %"):
        if f"\r\033[K{step}\r\033[K" not in text:
            yield f"{step!r} is not written over the step before it: {text!r}"
    if "build: 100 %\r\033[Kbuilt: " not in text:
        yield f"the last step stays: {text!r}"


def check_check():
    with Tree() as tree:
        code, lines = tree.run("check", "docs")
        missing = in_order(lines, [*LISTS, *PACKAGES])
        # "2 passed" counts two results of ./check docs: the build and the suite docs.
        if code or missing or lines[-1] != "2 passed, 0 failed, 0 skipped":
            yield f"exit {code}, not said in this order: {missing}; said: {lines}"
        # The script prints the estimated duration after the list of packages.
        first = lines[lines.index(PACKAGES[-1]) + 1] if PACKAGES[-1] in lines else ""
        if not re.fullmatch(r"the first time here; without arguments it takes about \d+ minutes on two quiet cores", first):
            yield f"the first time it does not say how long: {first!r}"
        lines = tree.run("check", "docs")[1]
        if not any(re.fullmatch(r"about \d+ minutes, as the last time here", line) for line in lines):
            yield f"the second time it does not say how long: {lines}"


def check_failure():
    """If apt fails, the progress line must not hide the error message."""
    with Tree() as tree:
        for command in (["quickstart"], ["check", "docs"]):
            code, lines = tree.run(*command, status=100)
            if code != 1 or not re.match(rf"{command[0]}: could not install: .*\bclang\b", lines[-1]):
                yield f"{command[0]}: exit {code}: {lines[-3:]}"
        code, lines = tree.run("quickstart", NINJA_FAILS="yes")
        if code != 1 or lines[-1] != "x.c:1: error: pretended" or len(lines) > 40:
            yield f"a failed build: exit {code}: {lines[-3:]}"


CHECKS = [
    ("./quickstart shows its progress in at most 30 lines; the rest is in a log", check_quickstart),
    ("on a terminal it does so in one line", check_terminal),
    ("./check does so, too, and says how long it will take", check_check),
    ("if packages cannot be installed or the build fails, the reason is shown", check_failure),
]
