# tests: one Check program a file, grouped by room
check_LTLIBRARIES += tests/libsupport.la
tests_libsupport_la_SOURCES = tests/support.c tests/support.h
tests_libsupport_la_CPPFLAGS = $(TEST_CPPFLAGS)

TEST_CPPFLAGS = $(AM_CPPFLAGS) $(CHECK_CFLAGS) \
	-DTOP_SRCDIR='"$(abs_top_srcdir)"' -DTOP_BUILDDIR='"$(abs_top_builddir)"'
TEST_LIBS = tests/libsupport.la core/libcore.la $(CHECK_LIBS)

include tests/bench.mk
include tests/archive.mk
include tests/bisect.mk
include tests/browser.mk
include tests/compare.mk
include tests/convert.mk
include tests/core.mk
include tests/history.mk
include tests/sampler.mk
include tests/plugin.mk
include tests/hosts.mk
include tests/remote.mk
include tests/render.mk
include tests/report.mk
include tests/chart.mk
include tests/cli.mk
include tests/fuzz.mk
