# tests of what archives do besides keeping nights: nights as recordings, remotes, prune, imports
REMOTE_LIBS = tests/libsupport.la archive/libarchive.la render/chart/libchart.la \
	compare/libcompare.la convert/libconvert.la render/librender.la core/libcore.la \
	$(CHECK_LIBS) -lm

check_PROGRAMS += tests/check_night
TESTS += tests/check_night
tests_check_night_SOURCES = tests/check_night.c tests/drawn.c tests/drawn.h \
	tests/recorded.c tests/recorded.h
tests_check_night_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_night_LDADD = $(REMOTE_LIBS)

check_PROGRAMS += tests/check_remote
TESTS += tests/check_remote
tests_check_remote_SOURCES = tests/check_remote.c tests/server.c tests/server.h
tests_check_remote_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_remote_LDADD = $(REMOTE_LIBS)
EXTRA_tests_check_remote_DEPENDENCIES = buildbeat tests/gen_archive

check_PROGRAMS += tests/check_import_oe
TESTS += tests/check_import_oe
tests_check_import_oe_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_import_oe_LDADD = $(REMOTE_LIBS)
EXTRA_tests_check_import_oe_DEPENDENCIES = buildbeat
