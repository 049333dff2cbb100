# stats: distributions, tests and change points of plain numbers
noinst_LTLIBRARIES += stats/libstats.la
stats_libstats_la_SOURCES = \

