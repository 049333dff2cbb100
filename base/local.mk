# SPDX-License-Identifier: MIT
# base: buffers, cursors, arenas, errors, JSON, UTF-8, clocks, files; libc alone
noinst_LIBRARIES += base/libbase.a
base_libbase_a_SOURCES = \
	base/arena.c base/arena.h base/array.c base/array.h base/buf.c base/buf.h \
	base/clock.c base/clock.h base/cursor.c base/cursor.h \
	base/error.c base/error.h base/feed.c base/feed.h base/field.c base/field.h base/file.c \
	base/file.h base/hash.h base/heap.c base/heap.h base/hex.h base/index.c base/index.h \
	base/json.c base/json.h base/minmax.h base/name_table.c base/name_table.h base/nearest.c \
	base/nearest.h base/outdir.c base/outdir.h base/outfile.c base/outfile.h base/pattern.c base/pattern.h base/private_dir.c base/private_dir.h \
	base/protobuf.c base/protobuf.h base/readfile.c base/readfile.h base/saturate.h base/search.h base/sha1.c base/sha1.h base/sort.c base/sort.h base/str.h base/text.c \
	base/text.h base/texts.c base/texts.h base/tls.h base/trust.c base/trust.h base/utf8.c base/utf8.h \
	base/word_list.h
