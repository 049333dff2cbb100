/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_CONVERTERS_H
#define BUILDBEAT_CONVERT_CONVERTERS_H

#include "convert/convert.h"

/*
 * All formats that can be read: their name and their functions (struct converter). To remove a format, delete its files, its lines here and its lines in local.mk. Two
 * have other users: ninja's files name what a host recorded, and oe is a layout that
 * recording_read() accepts.
 */
#define FORMATS(_) \
	_(bazel, .recognise = trace_is_bazel, .read = bazel_read) \
	_(callgrind, .recognise = callgrind_recognise, .read_all = callgrind_read) \
	_(cargo, .recognise = cargo_recognise, .read = cargo_read) \
	_(chrome, .recognise = trace_is_chrome, .read = chrome_read, .pass = chrome_pass) \
	_(clang, .recognise = trace_is_clang, .read_all = clang_read, \
	  .read_into = clang_read_into) \
	_(cmake, .recognise = cmake_recognise, .read = cmake_read) \
	_(ninja, .recognise = ninja_recognise, .read = ninja_read) \
	_(oe, .recognise = oe_recognise, .read = oe_read, .write = oe_write)

converter_recogniser trace_is_bazel, trace_is_chrome, trace_is_clang, callgrind_recognise,
		     cargo_recognise, cmake_recognise, ninja_recognise, oe_recognise;
converter_reader bazel_read, cargo_read, chrome_read, cmake_read, ninja_read, oe_read;
converter_all_reader callgrind_read, clang_read;
converter_writer oe_write;

int chrome_pass(const char *path, converter_taker *take, void *context, struct error *err);

/*
 * Add the phases of compilations as spans to the tasks that ran them. The name of the task, or one
 * of its other outputs, is the path of the trace with another suffix. Otherwise it is the task that
 * ran at that time whose path has most characters in common at the end. The times must fit if both
 * are known. The spans are appended to tasks.log, unless the task already has such spans.
 */
int clang_read_into(const struct recording *rec, const char *dir, const char *const *path,
		    size_t n, struct error *err);

#endif
