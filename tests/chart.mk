# tests of the charts
CHART_TEST_LIBS = tests/libsupport.la render/chart/libchart.la render/librender.la \
	core/libcore.la $(CHECK_LIBS) -lm

check_PROGRAMS += \
	tests/check_axis \
	tests/check_bootchart \
	tests/check_chain \
	tests/check_chart \
	tests/check_lanes \
	tests/check_match \
	tests/check_pack \
	tests/check_palette \
	tests/check_panel \
	tests/check_path \
	tests/check_pieces \
	tests/check_spark \
	tests/check_svg
TESTS += \
	tests/check_axis \
	tests/check_bootchart \
	tests/check_chain \
	tests/check_chart \
	tests/check_lanes \
	tests/check_match \
	tests/check_pack \
	tests/check_palette \
	tests/check_panel \
	tests/check_path \
	tests/check_pieces \
	tests/check_spark \
	tests/check_svg
tests_check_axis_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_axis_LDADD = $(CHART_TEST_LIBS)
tests_check_bootchart_SOURCES = tests/check_bootchart.c tests/recorded.c tests/recorded.h
tests_check_bootchart_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_bootchart_LDADD = $(CHART_TEST_LIBS)
EXTRA_tests_check_bootchart_DEPENDENCIES = tests/gen_recording
tests_check_chain_SOURCES = tests/check_chain.c tests/recorded.c tests/recorded.h
tests_check_chain_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_chain_LDADD = tests/libmakehost.la plugin/libticket.la $(CHART_TEST_LIBS)
EXTRA_tests_check_chain_DEPENDENCIES = buildbeat plugin/buildbeat.la
tests_check_chart_SOURCES = tests/check_chart.c tests/recorded.c tests/recorded.h
tests_check_chart_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_chart_LDADD = $(CHART_TEST_LIBS)
tests_check_lanes_SOURCES = tests/check_lanes.c tests/recorded.c tests/recorded.h
tests_check_lanes_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_lanes_LDADD = $(CHART_TEST_LIBS)
tests_check_match_SOURCES = tests/check_match.c tests/recorded.c tests/recorded.h
tests_check_match_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_match_LDADD = $(CHART_TEST_LIBS)
tests_check_pack_SOURCES = tests/check_pack.c tests/recorded.c tests/recorded.h \
	tests/unpack.c tests/unpack.h
tests_check_pack_CPPFLAGS = $(TEST_CPPFLAGS) $(DEFLATE_CFLAGS)
tests_check_pack_LDADD = $(CHART_TEST_LIBS) $(DEFLATE_LIBS)
tests_check_palette_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_palette_LDADD = $(CHART_TEST_LIBS)
tests_check_panel_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_panel_LDADD = $(CHART_TEST_LIBS)
tests_check_path_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_path_LDADD = $(CHART_TEST_LIBS)
tests_check_pieces_SOURCES = tests/check_pieces.c tests/recorded.c tests/recorded.h
tests_check_pieces_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_pieces_LDADD = $(CHART_TEST_LIBS)
tests_check_spark_SOURCES = tests/check_spark.c tests/recorded.c tests/recorded.h
tests_check_spark_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_spark_LDADD = $(CHART_TEST_LIBS)
tests_check_svg_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_svg_LDADD = $(CHART_TEST_LIBS)

check_PROGRAMS += tests/check_plot tests/check_plot_builds tests/check_plot_faults
TESTS += tests/check_plot tests/check_plot_builds tests/check_plot_faults
tests_check_plot_SOURCES = tests/check_plot.c tests/plotted.c tests/plotted.h tests/recorded.c tests/recorded.h
tests_check_plot_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_plot_LDADD = render/plot/libplot.la $(CHART_TEST_LIBS)
tests_check_plot_builds_SOURCES = tests/check_plot_builds.c tests/plotted.c tests/plotted.h tests/recorded.c tests/recorded.h
tests_check_plot_builds_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_plot_builds_LDADD = render/plot/libplot.la $(CHART_TEST_LIBS)
tests_check_plot_faults_SOURCES = tests/check_plot_faults.c tests/plotted.c tests/plotted.h tests/recorded.c tests/recorded.h
tests_check_plot_faults_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_plot_faults_LDADD = render/plot/libplot.la $(CHART_TEST_LIBS)

check_PROGRAMS += tests/bench_plot
BENCHES += tests/bench_plot
tests_bench_plot_SOURCES = tests/bench_plot.c tests/spend.c tests/spend.h
tests_bench_plot_CPPFLAGS = $(TEST_CPPFLAGS)
tests_bench_plot_LDADD = render/plot/libplot.la render/chart/libchart.la \
	render/librender.la core/libcore.la -lm

EXTRA_DIST += tests/data/chart
