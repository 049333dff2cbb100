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
set terminal dumb size 80,17 nofeed noenhanced mono
print ''
print "Memory"
set xrange [-0.074626:9.925374]
set yrange [0:8589934592]
set xtics ("0" 0, "2 s" 2, "4 s" 4, "6 s" 6, "8 s" 8, "10 s" 10)
set ytics ("0" 0, "2 GiB" 2147483648, "4 GiB" 4294967296, "6 GiB" 6442450944, "8 GiB" 8589934592)
plot 'memory.data' index 0 using 1:($2) with points pointtype 'o' linetype 1, \
	'memory.data' index 0 using 1:($3) with points pointtype 'x' linetype 2, \
	'memory.data' index 0 using 1:($4) with points pointtype '~' linetype 3, \
	'memory.data' index 0 using 1:5 with points pointtype '-' linetype 8, \
	NaN notitle
unset label
print ''
print "           o available: mean 4.4 GiB, max 6.8 GiB"
print "           x swap used: mean 8.6 MiB, max 10 MiB"
print "           \176 tasks: mean 144 MiB, max 250 MiB"
print "           - all memory: 7.8 GiB"
set terminal dumb size 80,17 nofeed noenhanced mono
print ''
print "Memory of tasks as sampled: those of the peak, and what they had then"
set xrange [-0.074626:9.925374]
set yrange [0:268435456]
set xtics ("0" 0, "2 s" 2, "4 s" 4, "6 s" 6, "8 s" 8, "10 s" 10)
set ytics ("0" 0, "64 MiB" 67108864, "128 MiB" 134217728, "192 MiB" 201326592, "256 MiB" 268435456)
set label '^' at first 2, first 0 center front
plot 'memory.data' index 1 using 1:($2+$3+$4) with impulses linetype 4, \
	'memory.data' index 1 using 1:($2+$3) with impulses linetype 7, \
	'memory.data' index 1 using 1:($2) with impulses linetype 2, \
	NaN notitle
unset label
print ''
print "           \043 lib: b.o: 150 MiB"
print "           = lib: a.o: 100 MiB"
print "           % others: 0 B"
print "           \136 peak: 250 MiB at 2.00 s"
