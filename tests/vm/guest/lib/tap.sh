# SPDX-License-Identifier: LGPL-2.1-or-later
# Shell functions for test suites in the guest. They print TAP results, and JSON lines that the host checks.

# Runs one suite between two marker lines with its name, so that the reader of the console can assign each output line
# to a suite. The second marker has the exit code.
suite_run() {
	name=$1
	shift
	read -r uptime _ </proc/uptime
	echo "subtick-vm: begin $name $uptime"
	# Pipe the output, because the console is a terminal, on which programs print progress without newlines.
	{
		timeout -s KILL "${SUBTICK_VM_LIMIT_S:-180}" "$@"
		echo $? >/run/code
	} 2>&1 </dev/null | cat
	code=$(cat /run/code)
	# End the last line, which is incomplete if the program was killed.
	echo
	read -r uptime _ </proc/uptime
	echo "subtick-vm: exit $code $name $uptime"
}

# pass DESCRIPTION; fail DESCRIPTION; skip DESCRIPTION REASON: each prints one TAP result.
pass() { echo "ok - $1"; }
fail() { echo "not ok - $1"; }
skip() { echo "ok - $1 # SKIP $2"; }

# check DESCRIPTION COMMAND...: passes when the command succeeds.
check() {
	what=$1
	shift
	if "$@"; then pass "$what"; else fail "$what"; fi
}

# show FILE: prints the output of a program as TAP comments.
show() { sed 's/^/# /' "$1"; }

# json NAME FILE: prints JSON lines for the check NAME of lib/verify.py.
json() { sed "s|^|subtick-vm: json $1 |" "$2"; }

# unprivileged COMMAND...: runs a command as the user nobody.
unprivileged() { su -s /bin/sh nobody -c '"$0" "$@"' -- "$@"; }

# refused DESCRIPTION EXIT-CODE STDERR-FILE: passes if the exit code is 77 and stderr is not empty.
refused() {
	show "$3"
	if [ "$2" = 77 ] && [ -s "$3" ]; then pass "$1"; else fail "$1 (exit code $2)"; fi
}
