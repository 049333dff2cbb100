# `make bench`: every program in BENCHES prints its figures, ratios first. They
# are built by `make bench` and `make check`, run by `make bench` only.
BENCHES =

# Shell and Python programs are run where they are, from the build directory.
bench_shell = tests/bench_facts.sh tests/bench_recording.sh
bench_python = tests/bench_bitbake.py tests/bench_browser.py tests/bench_report.py
EXTRA_DIST += $(bench_shell) $(bench_python)
BENCH_SECONDS = 60

bench: all $(check_LTLIBRARIES) $(check_PROGRAMS) $(BENCHES)
	@for b in $(BENCHES); do ./$$b || exit 1; done
	@for b in $(bench_shell); do \
		BENCH_SECONDS=$(BENCH_SECONDS) sh $(top_srcdir)/$$b || exit 1; done
	@for b in $(bench_python); do python3 -B $(top_srcdir)/$$b || exit 1; done

.PHONY: bench
