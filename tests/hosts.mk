# tests of hosts
check_PROGRAMS += tests/check_bitbake
TESTS += tests/check_bitbake
tests_check_bitbake_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_bitbake_LDADD = $(MAKE_HOST_LIBS)
EXTRA_DIST += tests/bitbake_driver.py

# Runs where BUILDBEAT_BITBAKE or PATH has a bitbake.
check_PROGRAMS += tests/check_bitbake_build
TESTS += tests/check_bitbake_build
tests_check_bitbake_build_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_bitbake_build_LDADD = $(MAKE_HOST_LIBS)
