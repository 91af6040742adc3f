# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Runs test programs, reads their TAP or exit status, and counts for ./check.
#
# A result is one line "pass|fail|skip<TAB>test<TAB>reason" in $tally_dir/results; a program that
# prints TAP gives one per case, any other one in all. Exit status 77 is a skip, as in automake.

tally_start() {
	tally_dir=$(mktemp -d)
	tally_children=()
	tally_asides=()
	tally_jobs=0
	: >"$tally_dir/results"
	trap 'rm -rf "$tally_dir"' EXIT
	trap 'tally_stop INT' INT
	trap 'tally_stop TERM' TERM
	trap 'tally_stop HUP' HUP
}

# timeout leads a process group of its own and passes the signal on to all of it.
tally_stop() {
	local child

	trap '' INT TERM HUP
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

# tally_run NAME SECONDS COMMAND...: runs it, prints one line and, if it failed, what it said.
tally_run() {
	tally_begin "$@"
	tally_next
}

# tally_pool JOBS NAME SECONDS COMMAND...: the same in the background, JOBS at once; tally_drain waits
# for the last. For tests that time nothing.
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

# tally_aside COMMAND...: begins work for later, only on cores that would be idle; no result. It must bear
# to be stopped at any time: tally_aside_end does that, as on a busy machine it would never end.
tally_aside() {
	local started=$tally_dir/aside${#tally_asides[@]}

	# shellcheck disable=SC2016 # expanded by that shell
	setsid sh -c ': >"$0"; exec chrt --idle 0 "$@"' "$started" \
		env --default-signal=INT,QUIT,PIPE "$@" >/dev/null 2>&1 </dev/null &
	tally_asides+=("$!")
	# Until then it is a copy of ours, and a signal would run our traps in it.
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
	# Background, so that a signal reaches us at once; bash would have it ignore SIGINT.
	timeout -k 15 "$seconds" env --default-signal=INT,QUIT,PIPE "$@" >"$job.log" 2>&1 </dev/null &
	tally_children[$!]=$job
}

# Waits for the first of the children to end and tells of it; fails if it did.
tally_next() {
	local child job name seconds started status=0

	wait -n -p child "${!tally_children[@]}" || status=$?
	job=${tally_children[$child]}
	unset "tally_children[$child]"
	IFS=$'\t' read -r name seconds started <"$job"
	tally_parse "$name" "$status" "$seconds" <"$job.log" >"$job.new"
	cat "$job.new" >>"$tally_dir/results"
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
			# cmocka writes "not ok N # SKIP name", in 1.1.7 "ok N # SKIP name"; the reason is
			# what the test said before.
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
		tail -n 40 "$log" | sed 's/^/      | /'
	fi
}

# EPOCHREALTIME has six decimals and the decimal point of the locale.
tally_since() {
	local now=${EPOCHREALTIME/[^0-9]/} then=${1/[^0-9]/}
	echo "$(((now - then) / 100000))" | sed 's/.$/.&/; s/^\./0./'
}

# Says what was skipped and what failed, then the line that counts; exits.
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
