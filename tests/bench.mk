# `make bench`: every program in BENCHES prints its figures, ratios first. They
# are built by `make bench` and `make check`, run by `make bench` only.
BENCHES =

bench: all $(check_LTLIBRARIES) $(check_PROGRAMS) $(BENCHES)
	@for b in $(BENCHES); do ./$$b || exit 1; done

.PHONY: bench
