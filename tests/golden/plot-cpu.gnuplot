set encoding utf8
set terminal svg fixed name 'cpu' size 1280,719 noenhanced background '#ffffff' font 'sans-serif,12'
set output 'cpu.svg'
unset key
set tics out nomirror scale 0.5 textcolor rgb '#1f2328'
set border linewidth 1 linecolor rgb '#5f6670'
set grid xtics ytics back linetype 1 linewidth 1 linecolor rgb '#dfe2e6'
set lmargin at screen 0.065625
set rmargin at screen 0.94375
set multiplot
set label "CPU: make -j2 all doc" at screen 0.065625, screen 0.972183 font 'sans-serif,18' textcolor rgb '#1f2328'
set label "forge, 2026-11-21 09:43:12 UTC, failed with exit status 2 after 10.0 s" at screen 0.065625, screen 0.941585 font 'sans-serif,12' textcolor rgb '#5f6670'

# CPU
set label "CPU" at screen 0.065625, screen 0.89986 font 'sans-serif,14' textcolor rgb '#1f2328'
set object rectangle from screen 0.065625, screen 0.859527 to screen 0.075, screen 0.876216 fillcolor rgb '#356fae' fillstyle solid 1 border linecolor rgb '#4a4f57'
set label "user: mean 37 %, max 95 %" at screen 0.08125, screen 0.867872 font 'sans-serif,12' textcolor rgb '#1f2328'
set object rectangle from screen 0.357812, screen 0.859527 to screen 0.367187, screen 0.876216 fillcolor rgb '#e5a531' fillstyle solid 1 border linecolor rgb '#4a4f57'
set label "system: mean 6.5 %, max 24 %" at screen 0.373437, screen 0.867872 font 'sans-serif,12' textcolor rgb '#1f2328'
set object rectangle from screen 0.65, screen 0.859527 to screen 0.659375, screen 0.876216 fillcolor rgb '#f6e55d' fillstyle solid 1 border linecolor rgb '#4a4f57'
set label "I/O wait: mean 0.83 %, max 5.0 %" at screen 0.665625, screen 0.867872 font 'sans-serif,12' textcolor rgb '#1f2328'
set object rectangle from screen 0.065625, screen 0.833101 to screen 0.075, screen 0.849791 fillcolor rgb '#cd4b31' fillstyle solid 1 border linecolor rgb '#4a4f57'
set label "steal: mean 0.41 %, max 1.5 %" at screen 0.08125, screen 0.841446 font 'sans-serif,12' textcolor rgb '#1f2328'
set tmargin at screen 0.812239
set bmargin at screen 0.464534
set xrange [0:10]
set yrange [0:100]
set xtics ("0" 0, "1 s" 1, "2 s" 2, "3 s" 3, "4 s" 4, "5 s" 5, "6 s" 6, "7 s" 7, "8 s" 8, "9 s" 9, "10 s" 10)
set ytics ("0" 0, "20 %%" 20, "40 %%" 40, "60 %%" 60, "80 %%" 80, "100 %%" 100)
set border 3
unset y2tics
plot 'cpu.data' index 0 using 1:($2+$3+$4+$5) with filledcurves y=0 fillstyle solid 1 noborder fillcolor rgb '#cd4b31' title "steal", \
	'cpu.data' index 0 using 1:($2+$3+$4) with filledcurves y=0 fillstyle solid 1 noborder fillcolor rgb '#f6e55d' title "I/O wait", \
	'cpu.data' index 0 using 1:($2+$3) with filledcurves y=0 fillstyle solid 1 noborder fillcolor rgb '#e5a531' title "system", \
	'cpu.data' index 0 using 1:($2) with filledcurves y=0 fillstyle solid 1 noborder fillcolor rgb '#356fae' title "user", \
	'cpu.data' index 0 using 1:($2) with lines linewidth 0.5 linecolor rgb '#4a4f57' notitle, \
	'cpu.data' index 0 using 1:($2+$3) with lines linewidth 0.5 linecolor rgb '#4a4f57' notitle, \
	'cpu.data' index 0 using 1:($2+$3+$4) with lines linewidth 0.5 linecolor rgb '#4a4f57' notitle, \
	'cpu.data' index 0 using 1:($2+$3+$4+$5) with lines linewidth 0.5 linecolor rgb '#4a4f57' notitle, \
	0 with lines linewidth 1 linecolor rgb '#5f6670' notitle
unset label
unset object
unset arrow

# Running tasks
set label "Running tasks" at screen 0.065625, screen 0.394993 font 'sans-serif,14' textcolor rgb '#1f2328'
set object rectangle from screen 0.065625, screen 0.354659 to screen 0.075, screen 0.371349 fillcolor rgb '#356fae' fillstyle solid 1 border linecolor rgb '#4a4f57'
set label "running tasks: mean 1.1, max 2" at screen 0.08125, screen 0.363004 font 'sans-serif,12' textcolor rgb '#1f2328'
set arrow from screen 0.357031, screen 0.363004 to screen 0.36875, screen 0.363004 nohead linecolor rgb '#c8371b' linewidth 2
set label "time waited for a core (right): mean 15 %, max 100 %" at screen 0.373437, screen 0.363004 font 'sans-serif,12' textcolor rgb '#1f2328'
set arrow from screen 0.649218, screen 0.363004 to screen 0.660937, screen 0.363004 nohead linecolor rgb '#1f2328' linewidth 1.5 dashtype 2
set label "cores: 2" at screen 0.665625, screen 0.363004 font 'sans-serif,12' textcolor rgb '#1f2328'
set tmargin at screen 0.333796
set bmargin at screen 0.069541
set xrange [0:10]
set yrange [0:2]
set xtics ("0" 0, "1 s" 1, "2 s" 2, "3 s" 3, "4 s" 4, "5 s" 5, "6 s" 6, "7 s" 7, "8 s" 8, "9 s" 9, "10 s" 10)
set ytics ("0" 0, "1" 1, "2" 2)
set border 11
set y2range [0:100]
set y2tics ("0" 0, "20 %%" 20, "40 %%" 40, "60 %%" 60, "80 %%" 80, "100 %%" 100) out scale 0.5 textcolor rgb '#1f2328'
set arrow from graph 0, first 2 to graph 1, first 2 nohead front linewidth 1.5 dashtype 2 linecolor rgb '#1f2328'
plot 'cpu.data' index 1 using 1:2 with filledcurves y=0 fillstyle solid 1 noborder fillcolor rgb '#356fae' title "running tasks", \
	'cpu.data' index 1 using 1:2 with lines linewidth 0.5 linecolor rgb '#4a4f57' notitle, \
	'cpu.data' index 1 using 1:3 axes x1y2 with lines linewidth 1.5 linecolor rgb '#c8371b' title "time waited for a core (right)", \
	0 with lines linewidth 1 linecolor rgb '#5f6670' notitle
unset label
unset object
unset arrow
unset multiplot
