# compare: what a figure of two builds, or of a year of nights, says beyond the noise
noinst_LTLIBRARIES += compare/libcompare.la
compare_libcompare_la_SOURCES = \
	compare/changepoints.c compare/changepoints.h \
	compare/distribution.c compare/distribution.h \
	compare/lines.c compare/lines.h \
	compare/partition.c compare/partition.h \
	compare/samples.c compare/samples.h \
	compare/stats.c compare/stats.h \
	compare/utest.c compare/utest.h
compare_libcompare_la_LIBADD = core/libcore.la -lm
