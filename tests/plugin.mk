# tests of plugin
check_LTLIBRARIES += tests/libmakehost.la
tests_libmakehost_la_SOURCES = tests/make_host.c tests/make_host.h
tests_libmakehost_la_CPPFLAGS = $(TEST_CPPFLAGS)

MAKE_HOST_LIBS = tests/libmakehost.la plugin/libticket.la $(TEST_LIBS)

check_PROGRAMS += tests/check_make_transparent
TESTS += tests/check_make_transparent
tests_check_make_transparent_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_make_transparent_LDADD = $(MAKE_HOST_LIBS)

check_PROGRAMS += tests/check_plugin_api
TESTS += tests/check_plugin_api
tests_check_plugin_api_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_plugin_api_CFLAGS = $(AM_CFLAGS) -pthread
tests_check_plugin_api_LDADD = $(MAKE_HOST_LIBS)

# A host for the ways of starting processes that the makes here do not have.
check_PROGRAMS += tests/fake_make
tests_fake_make_CFLAGS = $(AM_CFLAGS) -fPIE -fno-plt
tests_fake_make_LDFLAGS = $(AM_LDFLAGS) -pie -Wl,-z,relro,-z,now -rdynamic
tests_fake_make_LDADD = -ldl

check_PROGRAMS += tests/check_make_faults
TESTS += tests/check_make_faults
tests_check_make_faults_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_make_faults_LDADD = $(MAKE_HOST_LIBS)

check_PROGRAMS += tests/check_plugin_object
TESTS += tests/check_plugin_object
tests_check_plugin_object_CPPFLAGS = $(TEST_CPPFLAGS) -DTEST_CC='"$(CC)"'
tests_check_plugin_object_LDADD = $(MAKE_HOST_LIBS)

BENCHES += tests/bench_make
check_PROGRAMS += tests/bench_make
tests_bench_make_SOURCES = tests/bench_make.c tests/pairs.c tests/pairs.h tests/slope.c tests/slope.h
tests_bench_make_CPPFLAGS = $(TEST_CPPFLAGS)
tests_bench_make_LDADD = $(MAKE_HOST_LIBS)

# rpath: a shared object, though it is not installed.
check_LTLIBRARIES += tests/null_plugin.la
tests_null_plugin_la_SOURCES = tests/null_plugin.c
tests_null_plugin_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -rpath /nowhere \
	-Wl,-z,noseparate-code

BENCHES += tests/bench_ninja
check_PROGRAMS += tests/bench_ninja
tests_bench_ninja_SOURCES = tests/bench_ninja.c tests/pairs.c tests/pairs.h tests/slope.c tests/slope.h
tests_bench_ninja_CPPFLAGS = $(TEST_CPPFLAGS)
tests_bench_ninja_LDADD = $(MAKE_HOST_LIBS)

BENCHES += tests/bench_writers
check_PROGRAMS += tests/bench_writers
tests_bench_writers_CPPFLAGS = $(TEST_CPPFLAGS)
tests_bench_writers_LDADD = $(MAKE_HOST_LIBS)

check_PROGRAMS += tests/check_preload_transparent
TESTS += tests/check_preload_transparent
tests_check_preload_transparent_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_preload_transparent_LDADD = $(MAKE_HOST_LIBS)

check_PROGRAMS += tests/check_sanitized
TESTS += tests/check_sanitized
tests_check_sanitized_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_sanitized_LDADD = $(MAKE_HOST_LIBS)

check_PROGRAMS += tests/check_carry
TESTS += tests/check_carry
tests_check_carry_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_carry_CFLAGS = $(AM_CFLAGS) -pthread
tests_check_carry_LDADD = plugin/libpidtable.la $(MAKE_HOST_LIBS)

check_PROGRAMS += tests/fake_spawner
tests_fake_spawner_CFLAGS = $(AM_CFLAGS) -pthread

check_PROGRAMS += tests/fake_threads
tests_fake_threads_CFLAGS = $(AM_CFLAGS) -pthread

check_PROGRAMS += tests/check_preload_threads
TESTS += tests/check_preload_threads
tests_check_preload_threads_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_preload_threads_LDADD = $(MAKE_HOST_LIBS)

check_PROGRAMS += tests/check_preload_faults
TESTS += tests/check_preload_faults
tests_check_preload_faults_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_preload_faults_LDADD = $(MAKE_HOST_LIBS)

# Memory of known sizes.
check_PROGRAMS += tests/hungry
tests_hungry_CPPFLAGS = $(TEST_CPPFLAGS)
tests_hungry_LDADD = core/libcore.la

check_PROGRAMS += tests/check_peak
TESTS += tests/check_peak
tests_check_peak_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_peak_LDADD = $(MAKE_HOST_LIBS)
