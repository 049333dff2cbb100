# tests of history: the nights of an archive, all of them
check_PROGRAMS += tests/check_history
TESTS += tests/check_history
tests_check_history_SOURCES = tests/check_history.c tests/made_nights.c tests/made_nights.h tests/noise.c tests/noise.h
tests_check_history_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_history_LDADD = $(COMPARE_LIBS)
