# tests of report
REPORT_TEST_LIBS = tests/libsupport.la report/libreport.la $(CHECK_LIBS) -lm

check_PROGRAMS += tests/check_html
TESTS += tests/check_html
tests_check_html_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_html_LDADD = $(REPORT_TEST_LIBS)
check_PROGRAMS += tests/check_culprits
TESTS += tests/check_culprits
tests_check_culprits_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_culprits_LDADD = $(REPORT_TEST_LIBS)
