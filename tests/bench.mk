# SPDX-License-Identifier: MIT
# `make bench`: every program in BENCHES prints its figures, ratios first. They
# are built and run by `make bench` only; tests/house.py checks that they compile.
BENCHES = \
	tests/bench_archive tests/bench_calibration tests/bench_chart tests/bench_check tests/bench_chrome tests/bench_compare \
	tests/bench_convert tests/bench_diff tests/bench_heap tests/bench_history tests/bench_inspect tests/bench_live tests/bench_make tests/bench_nights tests/bench_points \
	tests/bench_ninja tests/bench_oe tests/bench_otlp tests/bench_plot tests/bench_processes tests/bench_profile \
	tests/bench_read tests/bench_replies tests/bench_results tests/bench_sample tests/bench_show tests/bench_span tests/bench_symbols tests/bench_tally tests/bench_trace tests/bench_whatif tests/bench_writers
EXTRA_PROGRAMS += $(BENCHES)

# The plugin's cost beside one that does nothing.
EXTRA_PROGRAMS += tests/null_plugin.so
tests_null_plugin_so_SOURCES = tests/null_plugin.c
tests_null_plugin_so_LDADD =
tests_null_plugin_so_LDFLAGS = $(LINK_MODULE) \
	-Wl,-z,noseparate-code

# How good predictions are: of the remaining time, tests/remaining_histories.py says how; of whatif beside
# real builds, tests/whatif_real.py.
EXTRA_PROGRAMS += tests/remaining_replay
EXTRA_DIST += tests/remaining_histories.py tests/whatif_real.py

# Shell and Python programs are run where they are, from the build directory.
bench_shell = tests/bench_facts.sh tests/bench_recording.sh
bench_python = tests/bench_bitbake.py tests/bench_bound.py tests/bench_browser.py tests/bench_following.py tests/bench_live_chart.py tests/bench_live_pages.py tests/bench_log.py tests/bench_log_blocks.py tests/bench_output_page.py tests/bench_profile_page.py tests/bench_report.py tests/bench_serve_idle.py tests/bench_serve_streams.py tests/bench_serve_tiny.py \
	tests/bench_table.py
EXTRA_DIST += $(bench_shell) $(bench_python)
BENCH_SECONDS = 60

CLEANFILES += $(EXTRA_PROGRAMS)

bench: all $(check_PROGRAMS) $(EXTRA_PROGRAMS)
	@for b in $(BENCHES); do ./$$b || exit 1; done
	@for b in $(bench_shell); do \
		BENCH_SECONDS=$(BENCH_SECONDS) sh $(top_srcdir)/$$b || exit 1; done
	@for b in $(bench_python); do python3 -B $(top_srcdir)/$$b || exit 1; done

.PHONY: bench

tests_bench_symbols_LDADD = tests/libsupport.a $(SYMBOLIZER_LIBS) $(PROGRAM_LIBS) $(CHECK_LIBS)
