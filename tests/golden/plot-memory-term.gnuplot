set encoding utf8
set print '-'
unset key
set border 3
set tics nomirror scale 0
set tmargin 0
set bmargin 1
set rmargin 1
set lmargin 11
print "Memory: make -j2 all doc"
print "forge, 2026-11-21 09:43:12 UTC, failed with exit status 2 after 10.0 s"
set terminal dumb size 80,18 nofeed noenhanced mono
print ''
print "Memory of the machine"
set xrange [-0.074626:9.925374]
set yrange [0:12582912]
set xtics ("0" 0, "2 s" 2, "4 s" 4, "6 s" 6, "8 s" 8, "10 s" 10)
set ytics ("0" 0, "2 MiB" 2097152, "4 MiB" 4194304, "6 MiB" 6291456, "8 MiB" 8388608, "10 MiB" 10485760, "12 MiB" 12582912)
plot 'memory.data' index 0 using 1:($3) with points pointtype 'o' linetype 1, \
	NaN notitle
unset label
print ''
print "             available (right): mean 4.4 GiB, max 6.8 GiB"
print "           o swap used: mean 8.6 MiB, max 10 MiB"
print "           - all memory: 7.8 GiB"
set terminal dumb size 80,17 nofeed noenhanced mono
print ''
print "Memory of the tasks"
set xrange [-0.074626:9.925374]
set yrange [0:268435456]
set xtics ("0" 0, "2 s" 2, "4 s" 4, "6 s" 6, "8 s" 8, "10 s" 10)
set ytics ("0" 0, "64 MiB" 67108864, "128 MiB" 134217728, "192 MiB" 201326592, "256 MiB" 268435456)
set label '^' at first 2, first 0 center front
plot 'memory.data' index 1 using 1:($2+$3) with impulses linetype 7, \
	'memory.data' index 1 using 1:($2) with impulses linetype 2, \
	NaN notitle
unset label
print ''
print "           \043 b: mean 130 MiB, max 190 MiB"
print "           = a: mean 14 MiB, max 100 MiB"
print "           - all memory: 7.8 GiB"
print "           \136 peak: 250 MiB at 2.00 s"
