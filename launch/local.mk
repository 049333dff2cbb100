# launch: runs a build and records it
noinst_LTLIBRARIES += launch/liblaunch.la
launch_liblaunch_la_SOURCES = \


