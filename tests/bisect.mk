# tests of what people say about changes, and of the search for one
check_PROGRAMS += tests/check_notes_text
TESTS += tests/check_notes_text
tests_check_notes_text_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_notes_text_LDADD = archive/libarchive.la $(TEST_LIBS)
check_PROGRAMS += tests/check_decide
TESTS += tests/check_decide
tests_check_decide_SOURCES = tests/check_decide.c tests/noise.c tests/noise.h
tests_check_decide_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_decide_LDADD = $(COMPARE_LIBS)
