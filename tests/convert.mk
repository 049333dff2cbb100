# tests of convert
CONVERT_LIBS = convert/libconvert.la $(TEST_LIBS)

check_PROGRAMS += tests/bench_convert
BENCHES += tests/bench_convert
tests_bench_convert_SOURCES = tests/bench_convert.c tests/spend.c tests/spend.h
tests_bench_convert_CPPFLAGS = $(TEST_CPPFLAGS)
EXTRA_tests_bench_convert_DEPENDENCIES = buildbeat tests/gen_oe

check_PROGRAMS += tests/check_builder
TESTS += tests/check_builder
tests_check_builder_SOURCES = tests/check_builder.c tests/same.c tests/same.h
tests_check_builder_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_builder_LDADD = $(CONVERT_LIBS)

check_PROGRAMS += tests/check_import
TESTS += tests/check_import
tests_check_import_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_import_LDADD = $(TEST_LIBS)
EXTRA_tests_check_import_DEPENDENCIES = buildbeat

check_PROGRAMS += tests/check_json_reader
TESTS += tests/check_json_reader
tests_check_json_reader_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_json_reader_LDADD = $(CONVERT_LIBS)

check_PROGRAMS += tests/check_ninja
TESTS += tests/check_ninja
tests_check_ninja_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_ninja_LDADD = $(CONVERT_LIBS)

check_PROGRAMS += tests/check_ninja_join
TESTS += tests/check_ninja_join
tests_check_ninja_join_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_ninja_join_LDADD = $(CONVERT_LIBS)
EXTRA_tests_check_ninja_join_DEPENDENCIES = buildbeat

check_PROGRAMS += tests/check_oe_write
TESTS += tests/check_oe_write
tests_check_oe_write_SOURCES = tests/check_oe_write.c tests/same.c tests/same.h
tests_check_oe_write_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_oe_write_LDADD = $(CONVERT_LIBS)

check_PROGRAMS += tests/check_recording_write
TESTS += tests/check_recording_write
tests_check_recording_write_SOURCES = tests/check_recording_write.c tests/recorded.c tests/recorded.h \
	tests/same.c tests/same.h
tests_check_recording_write_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_recording_write_LDADD = render/librender.la $(TEST_LIBS)

check_PROGRAMS += tests/check_tools
TESTS += tests/check_tools
tests_check_tools_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_tools_LDADD = $(CONVERT_LIBS)
EXTRA_DIST += tests/data/convert

check_PROGRAMS += tests/check_traces
TESTS += tests/check_traces
tests_check_traces_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_traces_LDADD = $(CONVERT_LIBS)
EXTRA_tests_check_traces_DEPENDENCIES = buildbeat
