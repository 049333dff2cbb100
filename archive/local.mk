# archive: nights in a git repository
noinst_LTLIBRARIES += archive/libarchive.la
archive_libarchive_la_SOURCES = \
	archive/archive.h \
	archive/columns.c archive/columns.h \
	archive/night_recording.c archive/night_recording.h \
	archive/notes.c archive/notes.h \
	archive/notes_text.c archive/notes_text.h \
	archive/sys.c archive/sys.h
archive_libarchive_la_CPPFLAGS = $(AM_CPPFLAGS) $(LIBGIT2_CFLAGS)
archive_libarchive_la_LIBADD = compare/libcompare.la convert/libconvert.la core/libcore.la $(LIBGIT2_LIBS)
