#!/bin/sh
# SPDX-License-Identifier: MIT
# Recorded values compared with those of other programs in the same run, and the cost of
# the plugin.
set -eu
buildbeat=${BUILDBEAT:-$PWD/buildbeat}
so=$PWD/plugin/buildbeat.so
dir=$(mktemp -d "${TMPDIR:-/var/tmp}/buildbeat-bench-XXXXXX")
trap 'rm -rf "$dir"' EXIT
cd "$dir"

record() {
	name=$1
	shift
	"$buildbeat" record -o "$dir" -n "$name" -- "$@" >/dev/null 2>&1
}

# value KEY RECORDING: one number of `build`
value() {
	sed -n "s/^$1: //p" "$dir/$2/build"
}

# last end line of a task: field N
task() {
	awk -F'\t' -v n="$1" '$1 == "done" { v = $n } END { print v }' "$dir/$2/tasks.log"
}

echo "values compared with other programs"

cat > work.sh <<'END'
python3 -c 'x = bytearray(150 << 20); sum(i * i for i in range(6000000))'
END
printf 'all:\n\t@/usr/bin/time -o time.txt -f "%%U %%S %%M" sh work.sh\n' > Makefile
record time make
awk -v cpu="$(( $(task 5 time) + $(task 6 time) ))" -v rss="$(task 7 time)" '{
	printf "  CPU of a task: %.2f s, /usr/bin/time says %.2f s: x%.3f\n",
		cpu / 1e6, $1 + $2, cpu / 1e6 / ($1 + $2)
	printf "  max RSS of a task: %d KiB, /usr/bin/time says %d KiB: x%.3f\n", rss, $3, rss / $3
}' time.txt

printf 'all:\n\t@dd if=/dev/zero of=big bs=1M count=512 conv=fsync 2>/dev/null\n' > Makefile
disk=$(df --output=source . | tail -1)
sectors() {
	awk '{ print $7 }' "/sys/class/block/${disk##*/}/stat" 2>/dev/null || echo 0
}
sync
before=$(sectors)
record disk make
after=$(sectors)
"$buildbeat" show -j disk > disk.json
awk -v blocks="$(task 11 disk)" -v kernel="$(( (after - before) / 2 ))" '
	/"disk_written_bytes"/ && !seen++ { gsub(/[^0-9]/, ""); bytes = $0 }
	END {
		want = 512 * 1024 * 1024
		printf "  512 MiB written and fsynced: disks x%.4f (the kernel counted x%.4f), the task x%.4f (bar: 0.99 to 1.01)\n",
			bytes / want, kernel * 1024 / want, blocks * 512 / want
	}' disk.json

cat > child.py <<'END'
import time
x = bytearray(200 * 1024 * 1024)
for i in range(0, len(x), 4096):
    x[i] = 1
time.sleep(3)
END
# shellcheck disable=SC2016
printf 'all:\n\t@python3 child.py & python3 child.py & python3 child.py & wait\n' > Makefile
record memory make
awk 'NR > 1 {
	line = $NF
	n = split(line, entry, ";")
	for (i = 1; i <= n; i++) {
		if (entry[i] !~ /:/) continue
		split(substr(entry[i], index(entry[i], ":") + 1), v, ",")
		alias = entry[i]; sub(/[=:].*/, "", alias)
		if (entry[i] ~ /=/) rss[alias] = 0
		rss[alias] += v[1]
		if (rss[alias] > peak) peak = rss[alias]
	}
} END { printf "  three children of 200 MiB at once: %d MiB in proc_tasks.log, the largest alone ", peak }' \
	memory/proc_tasks.log
echo "$(( $(task 7 memory) / 1024 )) MiB"

cp "$so" stripped.so
strip stripped.so
echo "the plugin"
echo "  $(stat -c %s stripped.so) bytes stripped (bar: 120000), needs $(readelf -dW stripped.so |
	sed -n 's/.*NEEDED.*\[\(.*\)\]/\1/p' | tr '\n' ' ')"
echo "  exports $(nm -D --defined-only stripped.so | awk '{ print $3 }' | tr '\n' ' ')"
