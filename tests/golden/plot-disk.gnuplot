set encoding utf8
set terminal svg fixed name 'disk' size 1280,719 noenhanced background '#ffffff' font 'sans-serif,12'
set output 'disk.svg'
unset key
set tics out nomirror scale 0.5 textcolor rgb '#1f2328'
set border linewidth 1 linecolor rgb '#5f6670'
set grid xtics ytics back linetype 1 linewidth 1 linecolor rgb '#dfe2e6'
set lmargin at screen 0.065625
set rmargin at screen 0.94375
set multiplot
set label "Disk and network: make -j2 all doc" at screen 0.065625, screen 0.972183 font 'sans-serif,18' textcolor rgb '#1f2328'
set label "forge, 2026-11-21 09:43:12 UTC, failed with exit status 2 after 10.0 s" at screen 0.065625, screen 0.941585 font 'sans-serif,12' textcolor rgb '#5f6670'

# Disk
set label "Disk" at screen 0.065625, screen 0.89986 font 'sans-serif,14' textcolor rgb '#1f2328'
set object rectangle from screen 0.065625, screen 0.859527 to screen 0.075, screen 0.876216 fillcolor rgb '#356fae' fillstyle solid 1 border linecolor rgb '#4a4f57'
set label "read: 74 KiB in total, max 50 KiB/s" at screen 0.08125, screen 0.867872 font 'sans-serif,12' textcolor rgb '#1f2328'
set object rectangle from screen 0.357812, screen 0.859527 to screen 0.367187, screen 0.876216 fillcolor rgb '#e5a531' fillstyle solid 1 border linecolor rgb '#4a4f57'
set label "written: 2.5 MiB in total, max 2.0 MiB/s" at screen 0.373437, screen 0.867872 font 'sans-serif,12' textcolor rgb '#1f2328'
set arrow from screen 0.649218, screen 0.867872 to screen 0.660937, screen 0.867872 nohead linecolor rgb '#3a9d7c' linewidth 2
set label "this build: 2.0 MiB in total, max 660 KiB/s" at screen 0.665625, screen 0.867872 font 'sans-serif,12' textcolor rgb '#1f2328'
set arrow from screen 0.064843, screen 0.841446 to screen 0.076562, screen 0.841446 nohead linecolor rgb '#a874d6' linewidth 2
set label "busy (right): mean 3.5 %, max 10 %" at screen 0.08125, screen 0.841446 font 'sans-serif,12' textcolor rgb '#1f2328'
set arrow from screen 0.357031, screen 0.841446 to screen 0.36875, screen 0.841446 nohead linecolor rgb '#c8371b' linewidth 2
set label "time waited for disks (right): mean 1.0 %, max 10 %" at screen 0.373437, screen 0.841446 font 'sans-serif,12' textcolor rgb '#1f2328'
set tmargin at screen 0.812239
set bmargin at screen 0.464534
set xrange [0:10]
set yrange [0:2097152]
set xtics ("0" 0, "1 s" 1, "2 s" 2, "3 s" 3, "4 s" 4, "5 s" 5, "6 s" 6, "7 s" 7, "8 s" 8, "9 s" 9, "10 s" 10)
set ytics ("0" 0, "0.5 MiB/s" 524288, "1.0 MiB/s" 1048576, "1.5 MiB/s" 1572864, "2.0 MiB/s" 2097152)
set border 11
set y2range [0:100]
set y2tics ("0" 0, "20 %%" 20, "40 %%" 40, "60 %%" 60, "80 %%" 80, "100 %%" 100) out scale 0.5 textcolor rgb '#1f2328'
plot 'disk.data' index 0 using 1:($2+$3) with filledcurves y=0 fillstyle solid 1 noborder fillcolor rgb '#e5a531' title "written", \
	'disk.data' index 0 using 1:($2) with filledcurves y=0 fillstyle solid 1 noborder fillcolor rgb '#356fae' title "read", \
	'disk.data' index 0 using 1:($2) with lines linewidth 0.5 linecolor rgb '#4a4f57' notitle, \
	'disk.data' index 0 using 1:($2+$3) with lines linewidth 0.5 linecolor rgb '#4a4f57' notitle, \
	'disk.data' index 0 using 1:4 axes x1y1 with lines linewidth 1.5 linecolor rgb '#3a9d7c' title "this build", \
	'disk.data' index 0 using 1:5 axes x1y2 with lines linewidth 1.5 linecolor rgb '#a874d6' title "busy (right)", \
	'disk.data' index 0 using 1:6 axes x1y2 with lines linewidth 1.5 linecolor rgb '#c8371b' title "time waited for disks (right)", \
	0 with lines linewidth 1 linecolor rgb '#5f6670' notitle
unset label
unset object
unset arrow

# Network
set label "Network" at screen 0.065625, screen 0.394993 font 'sans-serif,14' textcolor rgb '#1f2328'
set object rectangle from screen 0.065625, screen 0.354659 to screen 0.075, screen 0.371349 fillcolor rgb '#356fae' fillstyle solid 1 border linecolor rgb '#4a4f57'
set label "received: 12 KiB in total, max 10 KiB/s" at screen 0.08125, screen 0.363004 font 'sans-serif,12' textcolor rgb '#1f2328'
set object rectangle from screen 0.357812, screen 0.354659 to screen 0.367187, screen 0.371349 fillcolor rgb '#e5a531' fillstyle solid 1 border linecolor rgb '#4a4f57'
set label "sent: 4.0 KiB in total, max 4.0 KiB/s" at screen 0.373437, screen 0.363004 font 'sans-serif,12' textcolor rgb '#1f2328'
set tmargin at screen 0.333796
set bmargin at screen 0.069541
set xrange [0:10]
set yrange [0:16384]
set xtics ("0" 0, "1 s" 1, "2 s" 2, "3 s" 3, "4 s" 4, "5 s" 5, "6 s" 6, "7 s" 7, "8 s" 8, "9 s" 9, "10 s" 10)
set ytics ("0" 0, "4 KiB/s" 4096, "8 KiB/s" 8192, "12 KiB/s" 12288, "16 KiB/s" 16384)
set border 3
unset y2tics
plot 'disk.data' index 1 using 1:($2+$3) with filledcurves y=0 fillstyle solid 1 noborder fillcolor rgb '#e5a531' title "sent", \
	'disk.data' index 1 using 1:($2) with filledcurves y=0 fillstyle solid 1 noborder fillcolor rgb '#356fae' title "received", \
	'disk.data' index 1 using 1:($2) with lines linewidth 0.5 linecolor rgb '#4a4f57' notitle, \
	'disk.data' index 1 using 1:($2+$3) with lines linewidth 0.5 linecolor rgb '#4a4f57' notitle, \
	0 with lines linewidth 1 linecolor rgb '#5f6670' notitle
unset label
unset object
unset arrow
unset multiplot
