# convert: what other tools write about a build, read into a recording, and a
# recording written their way
noinst_LTLIBRARIES += convert/libconvert.la
convert_libconvert_la_SOURCES = \
	convert/bazel.c convert/bazel_counters.c convert/bazel_counters.h convert/builder.c \
	convert/builder.h convert/builder_series.c convert/builder_series.h convert/callgrind.c \
	convert/callgrind.h convert/callgrind_parse.c convert/cargo.c convert/chrome.c \
	convert/chrome_write.c convert/chrome_write.h convert/clang.c convert/clang_into.c \
	convert/clang_into.h convert/clang_unit.c convert/clang_unit.h convert/cmake.c \
	convert/cmake_snippet.c convert/cmake_snippet.h convert/convert.c convert/convert.h \
	convert/formats.h convert/gunzip.c convert/gunzip.h convert/infile.c convert/infile.h \
	convert/json_reader.c convert/json_reader.h convert/json_value.c convert/ninja.c \
	convert/ninja_build.c convert/ninja_build.h convert/ninja_command.c convert/ninja_join.c \
	convert/ninja_join.h convert/ninja_log.c convert/ninja_log.h convert/ninja_match.c \
	convert/ninja_match.h convert/ninja_parse.c convert/ninja_parts.h convert/ninja_place.c \
	convert/ninja_rule.c convert/ninja_rule.h convert/ninja_tasks.c convert/ninja_tasks.h \
	convert/ninja_waits.c convert/ninja_waits.h convert/oe.c convert/oe_names.c convert/oe_write.c \
	convert/oe_write.h convert/oe_write_logs.c convert/text_table.c convert/text_table.h \
	convert/trace.c convert/trace.h convert/trace_kind.c convert/trace_kind.h
