# tests of core
check_PROGRAMS += tests/check_buf
TESTS += tests/check_buf
tests_check_buf_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_buf_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/check_command_name
TESTS += tests/check_command_name
tests_check_command_name_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_command_name_LDADD = $(TEST_LIBS)

check_PROGRAMS += tests/check_cursor
TESTS += tests/check_cursor
tests_check_cursor_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_cursor_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/check_event
TESTS += tests/check_event
tests_check_event_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_event_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/check_field
TESTS += tests/check_field
tests_check_field_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_field_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/check_json
TESTS += tests/check_json
tests_check_json_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_json_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/check_kind
TESTS += tests/check_kind
tests_check_kind_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_kind_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/check_ninja_hash
TESTS += tests/check_ninja_hash
tests_check_ninja_hash_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_ninja_hash_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/check_recording
TESTS += tests/check_recording
tests_check_recording_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_recording_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/check_redact
TESTS += tests/check_redact
tests_check_redact_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_redact_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/check_series
TESTS += tests/check_series
tests_check_series_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_series_LDADD = $(TEST_LIBS)
check_PROGRAMS += tests/check_store
TESTS += tests/check_store
tests_check_store_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_store_LDADD = $(TEST_LIBS)

# OpenEmbedded's directories: read; a large one, and how fast.
check_PROGRAMS += tests/check_oe tests/gen_oe
TESTS += tests/check_oe
tests_check_oe_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_oe_LDADD = $(TEST_LIBS)
EXTRA_DIST += tests/data/oe tests/data/processes
tests_gen_oe_LDADD = core/libcore.la
check_PROGRAMS += tests/bench_oe
BENCHES += tests/bench_oe
tests_bench_oe_SOURCES = tests/bench_oe.c tests/touch.c tests/touch.h
tests_bench_oe_CPPFLAGS = $(TEST_CPPFLAGS)
EXTRA_tests_bench_oe_DEPENDENCIES = buildbeat

# Memory that runs out.
check_PROGRAMS += tests/check_nomem
TESTS += tests/check_nomem
tests_check_nomem_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_nomem_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc
tests_check_nomem_LDADD = $(CONVERT_LIBS)

# The awk programs of the page.
TESTS += tests/recording_awk.sh
dist_check_SCRIPTS += tests/recording_awk.sh

# A synthetic recording, and how fast it is read.
check_PROGRAMS += tests/gen_recording
tests_gen_recording_LDADD = core/libcore.la
BENCHES += tests/bench_read
noinst_PROGRAMS += tests/bench_read
tests_bench_read_CPPFLAGS = $(TEST_CPPFLAGS)
tests_bench_read_LDADD = core/libcore.la
