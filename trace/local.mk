# SPDX-License-Identifier: MIT
# trace: a recording as a trace for viewers and collectors
noinst_LTLIBRARIES += trace/libtrace.la
trace_libtrace_la_SOURCES = \
	trace/chrome.c \
	trace/formats.c trace/formats.h \
	trace/sink.h
