# SPDX-License-Identifier: MIT
# convert: what other tools write about a build, read into a recording, and a
# recording written their way
noinst_LIBRARIES += convert/libconvert.a
convert_libconvert_a_SOURCES = \
	convert/builder.c convert/builder.h \
	convert/convert.c convert/convert.h convert/converters.h convert/gunzip.c convert/gunzip.h \
	convert/infile.c convert/infile.h convert/json_reader.c convert/json_reader.h \
	convert/json_value.c convert/trace.c \
	convert/trace.h convert/trace_kind.c convert/trace_texts.c convert/trace_texts.h convert/zstd.c convert/zstd.h

# bazel
convert_libconvert_a_SOURCES += \
	convert/bazel.c convert/bazel_date.c convert/bazel_date.h

# callgrind
convert_libconvert_a_SOURCES += \
	convert/callgrind.c

# cargo
convert_libconvert_a_SOURCES += \
	convert/cargo.c

# chrome
convert_libconvert_a_SOURCES += \
	convert/chrome.c

# clang
convert_libconvert_a_SOURCES += \
	convert/clang.c convert/clang_into.c convert/clang_unit.c convert/clang_unit.h

# cmake
convert_libconvert_a_SOURCES += \
	convert/cmake.c convert/cmake_snippet.c convert/cmake_snippet.h

# ninja
convert_libconvert_a_SOURCES += \
	convert/ninja/edge.c convert/ninja/edge.h convert/ninja/expand.c convert/ninja/expand.h \
	convert/ninja/ninja_graph.c convert/ninja/ninja_graph.h convert/ninja/import.c convert/ninja/join.c \
	convert/ninja/directory.c convert/ninja/directory.h \
	convert/ninja/join.h convert/ninja/ninja_log.c convert/ninja/ninja_log.h

# oe
convert_libconvert_a_SOURCES += \
	convert/oe/oe_build.c convert/oe/devices.c convert/oe/form.c convert/oe/oe_parts.h convert/oe/oe_log.c \
	convert/oe/oe_names.c convert/oe/oe.h convert/oe/original.c convert/oe/raw.c convert/oe/oe_reader.c \
	convert/oe/oe_samples.c convert/oe/task.c convert/oe/write.c convert/oe/write_logs.c
