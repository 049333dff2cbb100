check_PROGRAMS += tests/check_field
TESTS += tests/check_field
tests_check_field_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_field_LDADD = $(TEST_LIBS)
