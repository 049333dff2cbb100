# tests of history: the nights of an archive, all of them
check_PROGRAMS += tests/check_history
TESTS += tests/check_history
tests_check_history_SOURCES = tests/check_history.c tests/made_nights.c tests/made_nights.h tests/noise.c tests/noise.h
tests_check_history_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_history_LDADD = $(COMPARE_LIBS)
check_PROGRAMS += tests/check_trend
TESTS += tests/check_trend
tests_check_trend_SOURCES = tests/check_trend.c
tests_check_trend_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_trend_LDADD = render/plot/libplot.la $(CHART_TEST_LIBS)
check_PROGRAMS += tests/check_cmd_history
TESTS += tests/check_cmd_history
tests_check_cmd_history_SOURCES = tests/check_cmd_history.c
tests_check_cmd_history_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_cmd_history_LDADD = $(TEST_LIBS)
EXTRA_tests_check_cmd_history_DEPENDENCIES = buildbeat tests/gen_archive$(EXEEXT)

# A year of nights.
BENCHES += tests/bench_history
noinst_PROGRAMS += tests/bench_history
tests_bench_history_SOURCES = tests/bench_history.c tests/noise.c tests/noise.h tests/spend.c tests/spend.h
tests_bench_history_CPPFLAGS = $(TEST_CPPFLAGS)
tests_bench_history_LDADD = compare/libcompare.la core/libcore.la -lm
EXTRA_tests_bench_history_DEPENDENCIES = buildbeat tests/gen_archive
