set encoding utf8
set terminal svg fixed name 'memory' size 1280,779 noenhanced background '#ffffff' font 'sans-serif,12'
set output 'memory.svg'
unset key
set tics out nomirror scale 0.5 textcolor rgb '#1f2328'
set border linewidth 1 linecolor rgb '#5f6670'
set grid xtics ytics back linetype 1 linewidth 1 linecolor rgb '#dfe2e6'
set lmargin at screen 0.065625
set rmargin at screen 0.94375
set multiplot
set label "Memory: make -j2 all doc" at screen 0.065625, screen 0.974326 font 'sans-serif,18' textcolor rgb '#1f2328'
set label "forge, 2026-11-21 09:43:12 UTC, failed with exit status 2 after 10.0 s" at screen 0.065625, screen 0.946084 font 'sans-serif,12' textcolor rgb '#5f6670'

# Memory of the machine
set label "Memory of the machine" at screen 0.065625, screen 0.907573 font 'sans-serif,14' textcolor rgb '#1f2328'
set arrow from screen 0.064843, screen 0.878048 to screen 0.076562, screen 0.878048 nohead linecolor rgb '#3a9d7c' linewidth 2
set label "available (right): mean 4.4 GiB, max 6.8 GiB" at screen 0.08125, screen 0.878048 font 'sans-serif,12' textcolor rgb '#1f2328'
set arrow from screen 0.357031, screen 0.878048 to screen 0.36875, screen 0.878048 nohead linecolor rgb '#c8371b' linewidth 2
set label "swap used: mean 8.6 MiB, max 10 MiB" at screen 0.373437, screen 0.878048 font 'sans-serif,12' textcolor rgb '#1f2328'
set arrow from screen 0.649218, screen 0.878048 to screen 0.660937, screen 0.878048 nohead linecolor rgb '#1f2328' linewidth 1.5 dashtype 2
set label "all memory: 7.8 GiB" at screen 0.665625, screen 0.878048 font 'sans-serif,12' textcolor rgb '#1f2328'
set tmargin at screen 0.851091
set bmargin at screen 0.530166
set xrange [0:10]
set yrange [0:12582912]
set xtics ("0" 0, "1 s" 1, "2 s" 2, "3 s" 3, "4 s" 4, "5 s" 5, "6 s" 6, "7 s" 7, "8 s" 8, "9 s" 9, "10 s" 10)
set ytics ("0" 0, "3 MiB" 3145728, "6 MiB" 6291456, "9 MiB" 9437184, "12 MiB" 12582912)
set border 11
set y2range [0:8589934592]
set y2tics ("0" 0, "2 GiB" 2147483648, "4 GiB" 4294967296, "6 GiB" 6442450944, "8 GiB" 8589934592) out scale 0.5 textcolor rgb '#1f2328'
plot 'memory.data' index 0 using 1:2 axes x1y2 with lines linewidth 1.5 linecolor rgb '#3a9d7c' title "available (right)", \
	'memory.data' index 0 using 1:3 axes x1y1 with lines linewidth 1.5 linecolor rgb '#c8371b' title "swap used", \
	0 with lines linewidth 1 linecolor rgb '#5f6670' notitle
unset label
unset object
unset arrow

# Memory of the tasks
set label "Memory of the tasks" at screen 0.065625, screen 0.465982 font 'sans-serif,14' textcolor rgb '#1f2328'
set object rectangle from screen 0.065625, screen 0.428754 to screen 0.075, screen 0.444159 fillcolor rgb '#356fae' fillstyle solid 1 border linecolor rgb '#4a4f57'
set label "b: mean 130 MiB, max 190 MiB" at screen 0.08125, screen 0.436456 font 'sans-serif,12' textcolor rgb '#1f2328'
set object rectangle from screen 0.504687, screen 0.428754 to screen 0.514062, screen 0.444159 fillcolor rgb '#e5a531' fillstyle solid 1 border linecolor rgb '#4a4f57'
set label "a: mean 14 MiB, max 100 MiB" at screen 0.520312, screen 0.436456 font 'sans-serif,12' textcolor rgb '#1f2328'
set arrow from screen 0.064843, screen 0.412066 to screen 0.076562, screen 0.412066 nohead linecolor rgb '#1f2328' linewidth 1.5 dashtype 2
set label "all memory: 7.8 GiB" at screen 0.08125, screen 0.412066 font 'sans-serif,12' textcolor rgb '#1f2328'
set arrow from screen 0.509375, screen 0.40308 to screen 0.509375, screen 0.421052 nohead linecolor rgb '#1f2328' linewidth 1.5 dashtype 3
set label "peak: 250 MiB at 2.00 s" at screen 0.520312, screen 0.412066 font 'sans-serif,12' textcolor rgb '#1f2328'
set tmargin at screen 0.385109
set bmargin at screen 0.064184
set xrange [0:10]
set yrange [0:268435456]
set xtics ("0" 0, "1 s" 1, "2 s" 2, "3 s" 3, "4 s" 4, "5 s" 5, "6 s" 6, "7 s" 7, "8 s" 8, "9 s" 9, "10 s" 10)
set ytics ("0" 0, "64 MiB" 67108864, "128 MiB" 134217728, "192 MiB" 201326592, "256 MiB" 268435456)
set border 3
unset y2tics
set arrow from first 2, graph 0 to first 2, graph 1 nohead front linewidth 1.5 dashtype 3 linecolor rgb '#1f2328'
plot 'memory.data' index 1 using 1:($2+$3) with filledcurves y=0 fillstyle solid 1 noborder fillcolor rgb '#e5a531' title "a", \
	'memory.data' index 1 using 1:($2) with filledcurves y=0 fillstyle solid 1 noborder fillcolor rgb '#356fae' title "b", \
	'memory.data' index 1 using 1:($2) with lines linewidth 0.5 linecolor rgb '#4a4f57' notitle, \
	'memory.data' index 1 using 1:($2+$3) with lines linewidth 0.5 linecolor rgb '#4a4f57' notitle, \
	0 with lines linewidth 1 linecolor rgb '#5f6670' notitle
unset label
unset object
unset arrow
unset multiplot
