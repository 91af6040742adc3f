# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Runs test programs for ./check, reads their TAP output or exit status, and counts the results.
#
# A result is one line "pass|fail|skip<TAB>test<TAB>reason" in $tally_dir/results. A program that prints TAP has one
# result per test case. Any other program has one result. Exit status 77 means that the test was skipped, as in automake.
#
# If $tally_times is set, the duration of each program is appended to that file as a line "name<TAB>seconds". If the
# file has several lines for a name, the last line is valid. The next run of ./check estimates its duration from these
# lines.

tally_start() {
	tally_dir=$(mktemp -d)
	tally_children=()
	tally_asides=()
	tally_jobs=0
	tally_teller=
	: >"$tally_dir/results"
	trap 'rm -rf "$tally_dir"' EXIT
	trap 'tally_stop INT' INT
	trap 'tally_stop TERM' TERM
	trap 'tally_stop HUP' HUP
}

# Sends SIGTERM to each `timeout` process, which forwards the signal to its process group.
tally_stop() {
	local child

	trap '' INT TERM HUP
	tally_told
	for child in "${!tally_children[@]}"; do
		kill -TERM "$child" 2>/dev/null || true
	done
	tally_aside_end
	wait "${!tally_children[@]}" 2>/dev/null || true
	echo "check: stopped by SIG$1" >&2
	rm -rf "$tally_dir"
	trap - EXIT "$1"
	kill -"$1" "$BASHPID"
}

tally_fail() {
	printf 'fail\t%s\t%s\n' "$1" "$2" >>"$tally_dir/results"
	printf 'FAIL  %s: %s\n' "$1" "$2"
}

tally_skip() {
	printf 'skip\t%s\t%s\n' "$1" "$2" >>"$tally_dir/results"
	printf 'SKIP  %s: %s\n' "$1" "$2"
}

# tally_run NAME SECONDS COMMAND...: runs a command and prints one line, and the output of a command that failed.
tally_run() {
	local own status=0

	tally_begin "$@"
	own=$!
	# Commands that tally_pool started may end before this command.
	while [ -n "${tally_children[$own]:-}" ]; do
		status=0
		tally_next || status=$?
	done
	return "$status"
}

# tally_pool JOBS NAME SECONDS COMMAND...: runs a command in the background, at most JOBS commands at a time.
# tally_drain waits for all these commands. Use tally_pool only for tests that measure no times.
tally_pool() {
	while [ "${#tally_children[@]}" -ge "$1" ]; do
		tally_next || true
	done
	tally_begin "${@:2}"
}

tally_drain() {
	while [ "${#tally_children[@]}" -gt 0 ]; do
		tally_next || true
	done
}

# tally_aside COMMAND...: starts a background command that runs only on otherwise idle cores and has no test result.
# tally_aside_end kills the command, because the command might never end on a busy machine. The command must tolerate a
# kill at any time.
tally_aside() {
	local started=$tally_dir/aside${#tally_asides[@]}

	# shellcheck disable=SC2016 # expanded by that shell
	setsid sh -c ': >"$0"; exec chrt --idle 0 "$@"' "$started" \
		env --default-signal=INT,QUIT,PIPE "$@" >/dev/null 2>&1 </dev/null &
	tally_asides+=("$!")
	# Wait until the child has started its program. Before that, the child is a copy of this shell, and a signal to
	# the child would run the traps of this shell.
	until [ -e "$started" ]; do sleep 0.02; done
	rm "$started"
}

tally_aside_end() {
	local leader

	for leader in "${tally_asides[@]}"; do
		kill -TERM -- "-$leader" 2>/dev/null || true
		wait "$leader" 2>/dev/null || true
	done
	tally_asides=()
}

tally_begin() {
	local name=$1 seconds=$2 job=$tally_dir/job$((++tally_jobs))
	shift 2

	printf '%s\t%s\t%s\n' "$name" "$seconds" "$EPOCHREALTIME" >"$job"
	# Run the command in the background, so that this shell handles signals at once. bash ignores SIGINT in
	# background commands, so restore the default action of SIGINT.
	timeout -k 15 "$seconds" env --default-signal=INT,QUIT,PIPE "$@" >"$job.log" 2>&1 </dev/null &
	tally_children[$!]=$job
}

# tally_expected NAME...: prints the sum of seconds that the named tests and their parts (NAME/…, NAME-selftest) took in
# the last run on this machine. Prints nothing if one of the tests was never run.
tally_expected() {
	[ -r "${tally_times:-}" ] || return 0
	awk -F '\t' -v names="$*" '
	{ took[$1] = $2 }
	END {
		nr = split(names, name, " ")
		for (i = 1; i <= nr; i++) {
			known = 0
			for (test in took)
				if (test == name[i] || index(test, name[i] "/") == 1 || test == name[i] "-selftest") {
					sum += took[test]
					known = 1
				}
			if (!known)
				exit
		}
		printf "%.0f\n", sum
	}' "$tally_times"
}

# tally_progress NAME STARTED: prints a line with the name of a running test, its elapsed seconds and its expected
# seconds.
tally_progress() {
	local expected

	expected=$(tally_expected "$1")
	printf '%s: %.0f s%s' "$1" "$(tally_since "$2")" \
		"${expected:+ of about $expected s, as the last time}"
}

# Shows the progress of one program on the terminal every second, until this process is killed.
tally_tell() {
	local name seconds started

	IFS=$'\t' read -r name seconds started <"$1"
	while sleep 1; do
		printf '\r\033[K%.78s' "$(tally_progress "$name" "$started")" >&2
	done
}

tally_told() {
	[ -n "$tally_teller" ] || return 0
	kill "$tally_teller" 2>/dev/null || true
	wait "$tally_teller" 2>/dev/null || true
	tally_teller=
	printf '\r\033[K' >&2
}

# Waits until one child process exits and prints its result. Returns nonzero if the test of the child failed.
tally_next() {
	local child job name seconds started status=0
	local running=("${!tally_children[@]}")

	if [ -t 2 ]; then
		tally_tell "${tally_children[${running[0]}]}" &
		tally_teller=$!
	fi
	wait -n -p child "${running[@]}" || status=$?
	tally_told
	job=${tally_children[$child]}
	unset "tally_children[$child]"
	IFS=$'\t' read -r name seconds started <"$job"
	tally_parse "$name" "$status" "$seconds" <"$job.log" >"$job.new"
	cat "$job.new" >>"$tally_dir/results"
	[ -z "${tally_times:-}" ] || printf '%s\t%s\n' "$name" "$(tally_since "$started")" >>"$tally_times"
	tally_line "$name" "$started" "$job.new" "$job.log"
	! grep -q '^fail' "$job.new"
}

tally_parse() {
	awk -v test="$1" -v status="$2" -v seconds="$3" '
	function result(kind, name, reason) {
		printf "%s\t%s%s\t%s\n", kind, test, name == "" ? "" : ": " name, reason
		count[kind]++
	}
	{ sub(/\r$/, "") }
	/^(not )?ok([ \t]|$)/ {
		name = reason = $0
		sub(/^(not )?ok[ \t]*[0-9]*[ \t]*-?[ \t]*/, "", name)
		ran++
		if (toupper($0) ~ /# *SKIP/) {
			sub(/[ \t]*# *[sS][kK][iI][pP].*/, "", name)
			sub(/.*# *[sS][kK][iI][pP][a-zA-Z]*:?[ \t]*/, "", reason)
			# For a skipped test, cmocka prints "not ok N # SKIP name" (1.1.7: "ok N # SKIP name"). The
			# comment line before that line contains the reason.
			if (/^not/ || (name == "" && said != "")) {
				name = reason
				reason = said
			}
			result("skip", name, reason == "" ? "no reason given" : reason)
		} else {
			result(/^not/ ? "fail" : "pass", name, "")
		}
		said = ""
		next
	}
	/^1\.\.0/ || (/^# *SKIP/ && !whole) {
		whole = $0
		sub(/^1\.\.0[ \t]*/, "", whole)
		sub(/^#? *([sS][kK][iI][pP])?[a-zA-Z]*:?[ \t]*/, "", whole)
		next
	}
	/^1\.\.[0-9]+[ \t]*$/ { planned += substr($0, 4); next }
	/^Bail out!/ { result("fail", "", $0) }
	/^# / { said = substr($0, 3) }
	NF && !/^#/ { last = $0 }
	END {
		if (status == 124 || status == 137)
			result("fail", "", "stopped after " seconds " s")
		else if (status == 77)
			result("skip", "", whole != "" ? whole : last != "" ? last : "no reason given")
		else if (status != 0 && !count["fail"])
			result("fail", "", "exit status " status)
		else if (planned > ran)
			result("fail", "", "planned " planned " cases, ran " ran + 0)
		else if (status == 0 && whole != "" && !ran)
			result("skip", "", whole)
		else if (status == 0 && !ran)
			result("pass", "", "")
	}'
}

tally_line() {
	local name=$1 started=$2 new=$3 log=$4 word=ok

	if grep -q '^fail' "$new"; then
		word=FAIL
	elif ! grep -q '^pass' "$new"; then
		word=SKIP
	fi
	awk -F '\t' -v word="$word" -v name="$name" -v seconds="$(tally_since "$started")" '
	{ count[$1]++; reason = $3 }
	END {
		text = count["pass"] + 0 " passed"
		if (count["fail"]) text = text ", " count["fail"] " failed"
		if (count["skip"]) text = text ", " count["skip"] " skipped"
		if (word == "SKIP") text = "skipped: " reason
		if (word == "ok" && count["pass"] == 1 && !count["skip"]) text = ""
		printf "%-4s  %-40s %6.1f s  %s\n", word, name, seconds, text
	}' "$new"
	if [ $word = FAIL ]; then
		awk -F '\t' '$1 == "fail" { print "      " $2 ($3 == "" ? "" : ": " $3) }' "$new"
		tally_reasons "$log" | sed 's/^/      | /'
	fi
}

# tally_reasons LOG: prints the failed cases of a TAP log with the comments before and after each case, and the end of
# the log. cmocka prints the reason before the result of a case. Other programs print the reason after the result.
tally_reasons() {
	awk '
	/^#/ && !failed { comments = comments $0 "\n"; next }
	/^#/ { print; next }
	{ failed = /^not ok/ }
	failed { printf "%s%s\n", comments, $0 }
	{ comments = "" }' "$1" | head -n 60
	echo "end of the log:"
	tail -n 20 "$1"
}

# bash prints EPOCHREALTIME with six decimals and with the decimal point of the locale.
tally_since() {
	local now=${EPOCHREALTIME/[^0-9]/} then=${1/[^0-9]/}
	echo "$(((now - then) / 100000))" | sed 's/.$/.&/; s/^\./0./'
}

# Prints all skipped and failed tests, then the line of totals, and exits.
tally_end() {
	local passed failed skipped

	tally_aside_end
	passed=$(grep -c '^pass' "$tally_dir/results") || true
	failed=$(grep -c '^fail' "$tally_dir/results") || true
	skipped=$(grep -c '^skip' "$tally_dir/results") || true
	echo
	awk -F '\t' '$1 == "skip" { printf "skipped: %s: %s\n", $2, $3 }' "$tally_dir/results"
	awk -F '\t' '$1 == "fail" { printf "failed: %s%s\n", $2, $3 == "" ? "" : ": " $3 }' "$tally_dir/results"
	echo "$passed passed, $failed failed, $skipped skipped"
	[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
	exit
}
