# the chart in a real browser
check_PROGRAMS += tests/check_browser
TESTS += tests/check_browser
tests_check_browser_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_browser_LDADD = $(TEST_LIBS)
EXTRA_tests_check_browser_DEPENDENCIES = buildbeat tests/gen_archive tests/gen_recording

browser_python = tests/browser/access.py tests/browser/chart.py tests/browser/edges.py \
	tests/browser/look.py tests/browser/names.py tests/browser/png.py \
	tests/browser/recordings.py tests/browser/report.py tests/browser/run.py tests/browser/search.py \
	tests/browser/tasks.py tests/browser/view.py tests/browser/webdriver.py \
	tests/browser/zoom.py
EXTRA_DIST += $(browser_python)
