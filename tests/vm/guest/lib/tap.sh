# SPDX-License-Identifier: LGPL-2.1-or-later
# How suites speak to the machine outside: TAP lines, and JSON lines it checks there.

# One suite, framed so that the reader knows whose line is whose and how it ended.
suite_run() {
	name=$1
	shift
	read -r uptime _ </proc/uptime
	echo "subtick-vm: begin $name $uptime"
	# Through a pipe: on a terminal, which the console is, programs show progress without newlines.
	{
		timeout -s KILL "${SUBTICK_VM_LIMIT_S:-180}" "$@"
		echo $? >/run/code
	} 2>&1 </dev/null | cat
	code=$(cat /run/code)
	# A program that was killed may have left an unfinished line.
	echo
	read -r uptime _ </proc/uptime
	echo "subtick-vm: exit $code $name $uptime"
}

# pass DESCRIPTION; fail DESCRIPTION; skip DESCRIPTION REASON: one result each.
pass() { echo "ok - $1"; }
fail() { echo "not ok - $1"; }
skip() { echo "ok - $1 # SKIP $2"; }

# check DESCRIPTION COMMAND...: passes when the command succeeds.
check() {
	what=$1
	shift
	if "$@"; then pass "$what"; else fail "$what"; fi
}

# show FILE: what a program said, as comments under the result it explains.
show() { sed 's/^/# /' "$1"; }

# json NAME FILE: hands JSON lines to the checks in lib/verify.py.
json() { sed "s|^|subtick-vm: json $1 |" "$2"; }

# unprivileged COMMAND...: as a user who may do nothing special.
unprivileged() { su -s /bin/sh nobody -c '"$0" "$@"' -- "$@"; }

# refused DESCRIPTION EXIT-CODE STDERR-FILE: exit 77 and one clear line on stderr.
refused() {
	show "$3"
	if [ "$2" = 77 ] && [ -s "$3" ]; then pass "$1"; else fail "$1 (exit code $2)"; fi
}
