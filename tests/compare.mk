# tests of compare
COMPARE_LIBS = compare/libcompare.la $(TEST_LIBS) -lm

check_PROGRAMS += tests/check_stats
TESTS += tests/check_stats
tests_check_stats_SOURCES = tests/check_stats.c tests/noise.c tests/noise.h
tests_check_stats_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_stats_LDADD = $(COMPARE_LIBS)
check_PROGRAMS += tests/check_changepoints
TESTS += tests/check_changepoints
tests_check_changepoints_SOURCES = tests/check_changepoints.c tests/noise.c tests/noise.h
tests_check_changepoints_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_changepoints_LDADD = $(COMPARE_LIBS)
check_PROGRAMS += tests/check_samples
TESTS += tests/check_samples
tests_check_samples_SOURCES = tests/check_samples.c tests/noise.c tests/noise.h
tests_check_samples_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_samples_LDADD = convert/libconvert.la $(COMPARE_LIBS)
check_PROGRAMS += tests/check_hostfactor
TESTS += tests/check_hostfactor
tests_check_hostfactor_SOURCES = tests/check_hostfactor.c tests/made_nights.c tests/made_nights.h tests/noise.c tests/noise.h
tests_check_hostfactor_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_hostfactor_LDADD = $(COMPARE_LIBS)
check_PROGRAMS += tests/check_figures
TESTS += tests/check_figures
tests_check_figures_SOURCES = tests/check_figures.c tests/recorded.c tests/recorded.h
tests_check_figures_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_figures_LDADD = $(COMPARE_LIBS)
check_PROGRAMS += tests/check_diff
TESTS += tests/check_diff
tests_check_diff_SOURCES = tests/check_diff.c tests/made_figures.c tests/made_figures.h tests/noise.c tests/noise.h
tests_check_diff_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_diff_LDADD = $(COMPARE_LIBS)
check_PROGRAMS += tests/check_tails
TESTS += tests/check_tails
tests_check_tails_SOURCES = tests/check_tails.c tests/noise.c tests/noise.h
tests_check_tails_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_tails_LDADD = $(COMPARE_LIBS)
check_PROGRAMS += tests/check_verdict
TESTS += tests/check_verdict
tests_check_verdict_SOURCES = tests/check_verdict.c tests/made_nights.c tests/made_nights.h tests/noise.c tests/noise.h
tests_check_verdict_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_verdict_LDADD = $(COMPARE_LIBS)
EXTRA_DIST += tests/data/compare

# How often they err, and what they cost.
BENCHES += tests/bench_compare
noinst_PROGRAMS += tests/bench_compare
tests_bench_compare_SOURCES = tests/bench_compare.c tests/noise.c tests/noise.h
tests_bench_compare_CPPFLAGS = $(TEST_CPPFLAGS)
tests_bench_compare_LDADD = compare/libcompare.la -lm

# The errors of check, and what one more night costs.
BENCHES += tests/bench_check
noinst_PROGRAMS += tests/bench_check
tests_bench_check_SOURCES = tests/bench_check.c tests/made_nights.c tests/made_nights.h tests/noise.c tests/noise.h
tests_bench_check_CPPFLAGS = $(TEST_CPPFLAGS)
tests_bench_check_LDADD = compare/libcompare.la -lm

# Two builds compared.
BENCHES += tests/bench_diff
noinst_PROGRAMS += tests/bench_diff
tests_bench_diff_SOURCES = tests/bench_diff.c tests/spend.c tests/spend.h tests/touch.c tests/touch.h
tests_bench_diff_CPPFLAGS = $(TEST_CPPFLAGS)
tests_bench_diff_LDADD = core/libcore.la
EXTRA_tests_bench_diff_DEPENDENCIES = buildbeat tests/gen_archive tests/gen_oe
check_PROGRAMS += tests/check_cmd_diff
TESTS += tests/check_cmd_diff
tests_check_cmd_diff_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_cmd_diff_LDADD = $(TEST_LIBS)
EXTRA_tests_check_cmd_diff_DEPENDENCIES = buildbeat tests/gen_archive
EXTRA_DIST += tests/data/diff
