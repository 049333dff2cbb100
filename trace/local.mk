# SPDX-License-Identifier: MIT
# trace: a recording as a trace for viewers and collectors
noinst_LTLIBRARIES += trace/libtrace.la
trace_libtrace_la_SOURCES = \
	trace/chrome.c \
	trace/formats.c trace/formats.h \
	trace/otlp.c trace/otlp.h trace/otlp_message.c trace/otlp_message.h trace/otlp_metrics.c \
	trace/otlp_resource.c trace/otlp_result.c \
	trace/sink.c trace/sink.h trace/sink_chrome.c
