# compare: what figures of two builds, or of a year of nights, say beyond the noise
noinst_LTLIBRARIES += compare/libcompare.la
compare_libcompare_la_SOURCES = \
	compare/changepoints.c compare/changepoints.h compare/changepoints_view.h compare/creep.c \
	compare/creep.h compare/decide.c compare/decide.h compare/diff.c compare/diff.h \
	compare/diff_facts.c compare/diff_making.h compare/diff_match.c compare/distribution.c \
	compare/distribution.h compare/history.c compare/history.h compare/history_group.c \
	compare/history_group.h compare/history_scan.c compare/history_scan.h compare/hostfactor.c \
	compare/hostfactor.h compare/known.c compare/known.h compare/lines.c compare/lines.h \
	compare/nights.c compare/nights.h compare/parallel.c compare/parallel.h compare/partition.c \
	compare/partition.h compare/renames.c compare/renames.h compare/rules.c compare/rules.h \
	compare/samples.c compare/samples.h compare/stats.c compare/stats.h compare/tails.c \
	compare/tails.h compare/utest.c compare/utest.h compare/verdict.c compare/verdict.h \
	compare/verdict_series.c compare/verdict_series.h
