#!/bin/sh
# SPDX-License-Identifier: MIT
# What a recording of a real build takes: bytes a second, plain and packed, the
# sampling clock, and what a kill -9 of the launcher loses. The build is this
# project's own (configure and make, again and again) for BENCH_SECONDS.
#	make bench BENCHES=tests/bench_recording.sh BENCH_SECONDS=600
set -eu
seconds=${BENCH_SECONDS:-60}
top=$(cd "${top_srcdir:-$(dirname "$0")/..}" && pwd)
buildbeat=${BUILDBEAT:-$PWD/buildbeat}
dir=$(mktemp -d /tmp/buildbeat-bench-XXXXXX)
trap 'rm -rf "$dir"' EXIT

cat > "$dir/build.sh" <<-'END'
	end=$(($(date +%s) + $2))
	while [ "$(date +%s)" -lt "$end" ]; do
		rm -rf tree && mkdir tree && cd tree || exit
		"$1/configure" -q && make -s -j2 || exit
		cd ..
	done
END

# The last commit, as somebody may be changing the files; a tree without git as it is.
source=$top
if git -C "$top" rev-parse -q --verify HEAD >/dev/null 2>&1; then
	source=$dir/source
	mkdir "$source"
	git -C "$top" archive HEAD | tar -x -C "$source"
	(cd "$source" && autoreconf -fi >/dev/null 2>&1)
fi

echo "recording: this project's own build over and over, $seconds s, a sample a second"
(cd "$dir" && "$buildbeat" record -o "$dir" -n rec -- \
	timeout "$seconds" sh build.sh "$source" "$seconds" >"$dir/output" 2>&1) && status=0 || status=$?
case $status in
0 | 124) ;;
*)
	tail -n 20 "$dir/output" >&2
	echo "bench_recording.sh: the build failed with status $status: nothing is measured" >&2
	exit 1 ;;
esac

# total NAME FILE...: bytes a second, plain and packed
total() {
	name=$1
	shift
	plain=$(cat "$@" | wc -c)
	packed=0
	for f; do
		packed=$((packed + $(zstd -q -19 -c "$f" | wc -c)))
	done
	awk -v n="$name" -v p="$plain" -v z="$packed" -v us="$us" 'BEGIN {
		printf "  %-42s %6.1f B/s plain %6.1f B/s zstd\n", n, p / us * 1e6, z / us * 1e6 }'
}

us=$(sed -n 's/^end_us: //p' "$dir/rec/build")
mv "$dir/rec/proc_tasks.log" "$dir/tasks_usage.log"
total "all default proc logs (bar: 40 plain, 25)" "$dir"/rec/proc_*.log
for f in "$dir"/rec/proc_*.log; do
	total "  $(basename "$f")" "$f"
done
total "proc_tasks.log, beside them" "$dir/tasks_usage.log"
total "tasks.log" "$dir/rec/tasks.log"

# Grid points with and without a sample, and how late samples were.
awk -v us="$us" '
	NR == 1 { interval = $4; grid = -1; next }
	{
		when = $1
		if (when ~ /^[!@]/) {
			t = substr(when, 2) + 0
			next_grid = int(t / interval + 0.5)
			if (when ~ /^!/) missing += next_grid - grid - 1
			if (t - next_grid * interval > late) late = t - next_grid * interval
			n_late++
			grid = next_grid
		} else {
			grid += when ~ /^\+/ ? substr(when, 2) : 1
		}
	}
	END {
		printf "  sampling clock: %d points of the grid passed, %d reached, %d missing, drift %d ms,\n", \
			us / 1000 / interval + 1, grid + 1 - missing, missing, (grid - int(us / 1000 / interval + 0.5)) * interval
		printf "  %d samples were more than 1 %% of the interval late (the last one is the end), the latest by %d ms\n", \
			n_late, late
	}' "$dir/rec/proc_stat.log"

# Lost at kill -9: the newest sample on disk against the moment of the kill.
"$buildbeat" record -o "$dir" -n killed --interval 100 -- sleep 60 &
launcher=$!
sleep 3
child=$(ps -o pid= --ppid $launcher)
now_ns=$(awk '{ printf "%.0f", $1 * 1e9 }' /proc/uptime)
kill -9 $launcher
wait $launcher 2>/dev/null || true
kill "$child" 2>/dev/null || true
start_ns=$(sed -n 's/^start_mono_ns: //p' "$dir/killed/build")
awk -v kill_ms="$(( (now_ns - start_ns) / 1000000 ))" '
	NR == 1 { interval = $4; grid = -1; next }
	$1 ~ /^[!@]/ { grid = int(substr($1, 2) / interval + 0.5); next }
	{ grid += $1 ~ /^\+/ ? substr($1, 2) : 1 }
	END {
		lost = int(kill_ms / interval) - grid
		printf "  kill -9 after %d ms at 1 sample / %d ms: %d samples lost (bar: 1)\n", \
			kill_ms, interval, (lost > 0 ? lost : 0)
	}' "$dir/killed/proc_stat.log"
