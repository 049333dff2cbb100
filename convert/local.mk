# convert: what other tools write about a build, read into a recording, and a
# recording written their way
noinst_LTLIBRARIES += convert/libconvert.la
convert_libconvert_la_SOURCES = \
	convert/builder.c convert/builder.h \
	convert/callgrind.c convert/callgrind.h convert/callgrind_parse.c \
	convert/cargo.c \
	convert/cmake.c \
	convert/cmake_snippet.c convert/cmake_snippet.h \
	convert/convert.c convert/convert.h \
	convert/formats.h \
	convert/gunzip.c convert/gunzip.h \
	convert/infile.c convert/infile.h \
	convert/json_reader.c convert/json_reader.h \
	convert/oe.c
convert_libconvert_la_CPPFLAGS = $(AM_CPPFLAGS) $(YAJL_CFLAGS) $(ZLIB_CFLAGS)
convert_libconvert_la_LIBADD = core/libcore.la $(YAJL_LIBS) $(ZLIB_LIBS)
