# tests of archive
ARCHIVE_LIBS = archive/libarchive.la report/libreport.la compare/libcompare.la $(TEST_LIBS) $(LIBGIT2_LIBS) -lm

check_PROGRAMS += tests/gen_archive
tests_gen_archive_SOURCES = tests/gen_archive.c tests/noise.c tests/noise.h
tests_gen_archive_CPPFLAGS = $(AM_CPPFLAGS) $(LIBGIT2_CFLAGS)
tests_gen_archive_LDADD = archive/libarchive.la report/libreport.la core/libcore.la $(LIBGIT2_LIBS) -lm

check_PROGRAMS += tests/check_archive
TESTS += tests/check_archive
tests_check_archive_SOURCES = tests/check_archive.c tests/made_build.c tests/made_build.h
tests_check_archive_CPPFLAGS = $(TEST_CPPFLAGS) $(LIBGIT2_CFLAGS)
tests_check_archive_LDADD = $(ARCHIVE_LIBS)

check_PROGRAMS += tests/check_archive_damage
TESTS += tests/check_archive_damage
tests_check_archive_damage_SOURCES = tests/check_archive_damage.c tests/made_build.c \
	tests/made_build.h
tests_check_archive_damage_CPPFLAGS = $(TEST_CPPFLAGS) $(LIBGIT2_CFLAGS)
tests_check_archive_damage_LDADD = $(ARCHIVE_LIBS)

check_PROGRAMS += tests/check_archive_writers
TESTS += tests/check_archive_writers
tests_check_archive_writers_SOURCES = tests/check_archive_writers.c tests/made_build.c \
	tests/made_build.h
tests_check_archive_writers_CPPFLAGS = $(TEST_CPPFLAGS) $(LIBGIT2_CFLAGS)
tests_check_archive_writers_LDADD = $(ARCHIVE_LIBS)
EXTRA_tests_check_archive_writers_DEPENDENCIES = tests/gen_archive

BENCHES += tests/bench_archive
noinst_PROGRAMS += tests/bench_archive
tests_bench_archive_SOURCES = tests/bench_archive.c tests/spend.c tests/spend.h
tests_bench_archive_LDADD = archive/libarchive.la core/libcore.la -lm
