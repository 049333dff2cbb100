# tests of what people say about changes, and of the search for one
check_PROGRAMS += tests/check_notes_text
TESTS += tests/check_notes_text
tests_check_notes_text_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_notes_text_LDADD = archive/libarchive.la $(TEST_LIBS)
