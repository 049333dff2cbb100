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
check_PROGRAMS += tests/check_trends
TESTS += tests/check_trends
tests_check_trends_SOURCES = tests/check_trends.c tests/made_nights.c tests/made_nights.h \
	tests/noise.c tests/noise.h
tests_check_trends_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_trends_LDADD = $(REPORT_TEST_LIBS)
check_PROGRAMS += tests/check_report
TESTS += tests/check_report
tests_check_report_SOURCES = tests/check_report.c tests/made_nights.c tests/made_nights.h \
	tests/noise.c tests/noise.h
tests_check_report_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_report_LDADD = $(REPORT_TEST_LIBS)
EXTRA_tests_check_report_DEPENDENCIES = buildbeat$(EXEEXT) tests/gen_archive$(EXEEXT)
