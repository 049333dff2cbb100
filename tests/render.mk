# tests of render
RENDER_TEST_LIBS = tests/libsupport.la render/librender.la core/libcore.la $(CHECK_LIBS)

check_PROGRAMS += tests/check_summary tests/check_text tests/check_show
TESTS += tests/check_summary tests/check_text tests/check_show
tests_check_summary_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_summary_LDADD = $(RENDER_TEST_LIBS)
tests_check_text_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_text_LDADD = $(RENDER_TEST_LIBS)
EXTRA_tests_check_text_DEPENDENCIES = buildbeat
tests_check_show_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_show_LDADD = $(RENDER_TEST_LIBS)
EXTRA_tests_check_show_DEPENDENCIES = buildbeat

EXTRA_DIST += tests/data/recordings tests/data/memory tests/golden

check_PROGRAMS += tests/bench_show
BENCHES += tests/bench_show
tests_bench_show_SOURCES = tests/bench_show.c tests/spend.c tests/spend.h
tests_bench_show_CPPFLAGS = $(TEST_CPPFLAGS)
tests_bench_show_LDADD = core/libcore.la
EXTRA_tests_bench_show_DEPENDENCIES = buildbeat

check_PROGRAMS += tests/bench_chart
BENCHES += tests/bench_chart
tests_bench_chart_SOURCES = tests/bench_chart.c tests/spend.c tests/spend.h
tests_bench_chart_CPPFLAGS = $(TEST_CPPFLAGS)
tests_bench_chart_LDADD = core/libcore.la
EXTRA_tests_bench_chart_DEPENDENCIES = buildbeat
