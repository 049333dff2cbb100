set encoding utf8
set terminal svg fixed name 'cpu' size 1280,737 noenhanced background '#ffffff' font 'sans-serif,12'
set output 'cpu.svg'
unset key
set tics out nomirror scale 0.5 textcolor rgb '#1f2328'
set border linewidth 1 linecolor rgb '#5f6670'
set grid xtics ytics back linetype 1 linewidth 1 linecolor rgb '#dfe2e6'
set lmargin at screen 0.065625
set rmargin at screen 0.94375
set multiplot
set label "CPU: make -j2 all doc" at screen 0.065625, screen 0.972862 font 'sans-serif,18' textcolor rgb '#1f2328'
set label "forge, 2026-11-21 09:43:12 UTC, failed with exit status 2 after 10.0 s" at screen 0.065625, screen 0.943012 font 'sans-serif,12' textcolor rgb '#5f6670'

# CPU
set label "CPU" at screen 0.065625, screen 0.902306 font 'sans-serif,14' textcolor rgb '#1f2328'
set object rectangle from screen 0.065625, screen 0.862957 to screen 0.075, screen 0.87924 fillcolor rgb '#356fae' fillstyle solid 1 border linecolor rgb '#4a4f57'
set label "this build: mean 29 %, max 98 %" at screen 0.08125, screen 0.871099 font 'sans-serif,12' textcolor rgb '#1f2328'
set object rectangle from screen 0.357812, screen 0.862957 to screen 0.367187, screen 0.87924 fillcolor rgb '#aeb4b9' fillstyle solid 1 border linecolor rgb '#4a4f57'
set label "other processes: mean 14 %, max 45 %" at screen 0.373437, screen 0.871099 font 'sans-serif,12' textcolor rgb '#1f2328'
set object rectangle from screen 0.65, screen 0.862957 to screen 0.659375, screen 0.87924 fillcolor rgb '#f6e55d' fillstyle solid 1 border linecolor rgb '#4a4f57'
set label "I/O wait: mean 0.83 %, max 5.0 %" at screen 0.665625, screen 0.871099 font 'sans-serif,12' textcolor rgb '#1f2328'
set object rectangle from screen 0.065625, screen 0.837177 to screen 0.075, screen 0.853459 fillcolor rgb '#cd4b31' fillstyle solid 1 border linecolor rgb '#4a4f57'
set label "steal: mean 0.49 %, max 2.0 %" at screen 0.08125, screen 0.845318 font 'sans-serif,12' textcolor rgb '#1f2328'
set arrow from screen 0.357031, screen 0.845318 to screen 0.36875, screen 0.845318 nohead linecolor rgb '#3a9d7c' linewidth 2
set label "time waited for a core: mean 15 %, max 100 %" at screen 0.373437, screen 0.845318 font 'sans-serif,12' textcolor rgb '#1f2328'
set label "this build: its tasks, as sampled\073 blank: idle" at screen 0.065625, screen 0.811397 font 'sans-serif,12' textcolor rgb '#5f6670'
set tmargin at screen 0.792401
set bmargin at screen 0.453188
set xrange [0:10]
set yrange [0:100]
set xtics ("0" 0, "1 s" 1, "2 s" 2, "3 s" 3, "4 s" 4, "5 s" 5, "6 s" 6, "7 s" 7, "8 s" 8, "9 s" 9, "10 s" 10)
set ytics ("0" 0, "20 %%" 20, "40 %%" 40, "60 %%" 60, "80 %%" 80, "100 %%" 100)
set border 3
unset y2tics
plot 'cpu.data' index 0 using 1:($2+$3+$4+$5) with filledcurves y=0 fillstyle solid 1 noborder fillcolor rgb '#cd4b31' title "steal", \
	'cpu.data' index 0 using 1:($2+$3+$4) with filledcurves y=0 fillstyle solid 1 noborder fillcolor rgb '#f6e55d' title "I/O wait", \
	'cpu.data' index 0 using 1:($2+$3) with filledcurves y=0 fillstyle solid 1 noborder fillcolor rgb '#aeb4b9' title "other processes", \
	'cpu.data' index 0 using 1:($2) with filledcurves y=0 fillstyle solid 1 noborder fillcolor rgb '#356fae' title "this build", \
	'cpu.data' index 0 using 1:($2) with lines linewidth 0.5 linecolor rgb '#4a4f57' notitle, \
	'cpu.data' index 0 using 1:($2+$3) with lines linewidth 0.5 linecolor rgb '#4a4f57' notitle, \
	'cpu.data' index 0 using 1:($2+$3+$4) with lines linewidth 0.5 linecolor rgb '#4a4f57' notitle, \
	'cpu.data' index 0 using 1:($2+$3+$4+$5) with lines linewidth 0.5 linecolor rgb '#4a4f57' notitle, \
	'cpu.data' index 0 using 1:6 axes x1y1 with lines linewidth 1.5 linecolor rgb '#3a9d7c' title "time waited for a core", \
	0 with lines linewidth 1 linecolor rgb '#5f6670' notitle
unset label
unset object
unset arrow

# Running tasks
set label "Running tasks" at screen 0.065625, screen 0.385345 font 'sans-serif,14' textcolor rgb '#1f2328'
set object rectangle from screen 0.065625, screen 0.345997 to screen 0.075, screen 0.362279 fillcolor rgb '#356fae' fillstyle solid 1 border linecolor rgb '#4a4f57'
set label "running tasks: mean 1.1, max 2" at screen 0.08125, screen 0.354138 font 'sans-serif,12' textcolor rgb '#1f2328'
set arrow from screen 0.357031, screen 0.354138 to screen 0.36875, screen 0.354138 nohead linecolor rgb '#c8371b' linewidth 2
set label "ready, waiting: mean 2.8, max 6" at screen 0.373437, screen 0.354138 font 'sans-serif,12' textcolor rgb '#1f2328'
set arrow from screen 0.649218, screen 0.354138 to screen 0.660937, screen 0.354138 nohead linecolor rgb '#1f2328' linewidth 1.5 dashtype 2
set label "cores: 2" at screen 0.665625, screen 0.354138 font 'sans-serif,12' textcolor rgb '#1f2328'
set tmargin at screen 0.325644
set bmargin at screen 0.067842
set xrange [0:10]
set yrange [0:6]
set xtics ("0" 0, "1 s" 1, "2 s" 2, "3 s" 3, "4 s" 4, "5 s" 5, "6 s" 6, "7 s" 7, "8 s" 8, "9 s" 9, "10 s" 10)
set ytics ("0" 0, "2" 2, "4" 4, "6" 6)
set border 3
unset y2tics
set arrow from graph 0, first 2 to graph 1, first 2 nohead front linewidth 1.5 dashtype 2 linecolor rgb '#1f2328'
plot 'cpu.data' index 1 using 1:2 with filledcurves y=0 fillstyle solid 1 noborder fillcolor rgb '#356fae' title "running tasks", \
	'cpu.data' index 1 using 1:2 with lines linewidth 0.5 linecolor rgb '#4a4f57' notitle, \
	'cpu.data' index 1 using 1:3 axes x1y1 with lines linewidth 1.5 linecolor rgb '#c8371b' title "ready, waiting", \
	0 with lines linewidth 1 linecolor rgb '#5f6670' notitle
unset label
unset object
unset arrow
unset multiplot
