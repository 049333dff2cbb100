# SPDX-License-Identifier: MIT
# stats: distributions, tests and change points of plain numbers
noinst_LIBRARIES += stats/libstats.a
stats_libstats_a_SOURCES = \
	stats/streaks.c stats/streaks.h stats/changepoints.c stats/changepoints.h stats/creep.c stats/creep.h \
	stats/decide.c stats/decide.h stats/deviations.c stats/deviations.h stats/distribution.c stats/distribution.h stats/hostfactor.c \
	stats/hostfactor.h stats/level.c stats/level.h stats/nulls.c stats/nulls.h stats/partition.c stats/partition.h stats/samples.c stats/samples.h \
	stats/fisher.c stats/fisher.h stats/stats.c stats/stats.h stats/utest.c stats/utest.h

