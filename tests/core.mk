# tests of core
check_PROGRAMS += tests/check_field
TESTS += tests/check_field
tests_check_field_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_field_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/check_kind
TESTS += tests/check_kind
tests_check_kind_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_kind_LDADD = $(TEST_LIBS)

# A synthetic recording, and how fast it is read.
noinst_PROGRAMS += tests/gen_recording tests/bench_read
tests_gen_recording_LDADD = core/libcore.la
tests_bench_read_LDADD = core/libcore.la
