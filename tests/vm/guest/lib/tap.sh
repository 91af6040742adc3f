# SPDX-License-Identifier: LGPL-2.1-or-later
# Shell functions for test suites in the guest. The functions print TAP results, and JSON lines that the host checks.

# suite_run NAME COMMAND...: runs one suite. Prints a marker line with the name of the suite before and after its
# output, so that the host can assign each line of the console to a suite. The marker line after the output has the exit
# code of the suite.
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
	# Print a newline, because the last line is incomplete if the program was killed.
	echo
	read -r uptime _ </proc/uptime
	echo "subtick-vm: exit $code $name $uptime"
}

# pass DESCRIPTION; fail DESCRIPTION; skip DESCRIPTION REASON: each prints one TAP result.
pass() { echo "ok - $1"; }
fail() { echo "not ok - $1"; }
skip() { echo "ok - $1 # SKIP $2"; }

# check DESCRIPTION COMMAND...: prints a TAP result that passes if the command succeeds.
check() {
	what=$1
	shift
	if "$@"; then pass "$what"; else fail "$what"; fi
}

# show FILE: prints a file, such as the output of a program, as TAP comments.
show() { sed 's/^/# /' "$1"; }

# json NAME FILE: prints JSON lines for the check NAME of lib/verify.py.
json() { sed "s|^|subtick-vm: json $1 |" "$2"; }

# unprivileged COMMAND...: runs a command as the user nobody.
unprivileged() { su -s /bin/sh nobody -c '"$0" "$@"' -- "$@"; }

# refused DESCRIPTION EXIT-CODE STDERR-FILE: prints a TAP result that passes if the exit code is 77 and stderr is not
# empty.
refused() {
	show "$3"
	if [ "$2" = 77 ] && [ -s "$3" ]; then pass "$1"; else fail "$1 (exit code $2)"; fi
}
