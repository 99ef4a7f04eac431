# SPDX-License-Identifier: GPL-2.0
# shellcheck shell=bash
# Shared by the host-side lab scripts: paths, progress, error messages.

LAB_DIR=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
TOP=$(cd "$LAB_DIR/../../../../../.." && pwd)
SMC_LAB=${SMC_LAB:-$HOME/.cache/smc-lab}
PYTHON=/usr/bin/python3
export SMC_LAB LAB_DIR TOP PYTHON

lab_t0=$SECONDS

lab_clock()
{
	local t=$((SECONDS - lab_t0))

	printf '%d:%02d' $((t / 60)) $((t % 60))
}

say()
{
	printf '[%s] %s\n' "$(lab_clock)" "$*"
}

# die WHAT HINT [LOG]: last lines of the log, what failed, what to do about it
die()
{
	if [ -n "$3" ] && [ -s "$3" ]; then
		printf -- '--- last lines of %s\n' "$3" >&2
		tail -n 15 "$3" >&2
		printf -- '---\n' >&2
	fi
	printf 'lab: %s\n' "$1" >&2
	printf 'lab: what to do: %s\n' "$2" >&2
	exit 1
}

# step TITLE LOG CMD...: run CMD with its output in LOG; while it runs, show
# the elapsed time and what it works on.
step()
{
	local title=$1 log=$2 pid rc start=$SECONDS next=10 now last

	shift 2
	mkdir -p "$(dirname "$log")"
	say "$title"
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	while kill -0 "$pid" 2>/dev/null; do
		sleep 0.5
		now=$((SECONDS - start))
		if [ "$now" -ge "$next" ]; then
			last=$(tail -n 1 "$log" 2>/dev/null | tr -cd '[:print:]' | cut -c1-60)
			if [ -t 1 ]; then
				printf '\r\033[K  %d:%02d %s' $((now / 60)) $((now % 60)) "$last"
				next=$((now + 1))
			else
				printf '  %d:%02d %s\n' $((now / 60)) $((now % 60)) "$last"
				next=$((now + 30))
			fi
		fi
	done
	wait "$pid"
	rc=$?
	[ -t 1 ] && [ "$next" -gt 10 ] && printf '\r\033[K'
	return $rc
}
