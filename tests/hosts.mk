# tests of hosts
check_PROGRAMS += tests/check_bitbake
TESTS += tests/check_bitbake
tests_check_bitbake_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_bitbake_LDADD = $(MAKE_HOST_LIBS)
EXTRA_DIST += tests/bitbake_driver.py
