# SPDX-License-Identifier: MIT
# trace: a recording as a trace for viewers and collectors
noinst_LTLIBRARIES += trace/libtrace.la
trace_libtrace_la_SOURCES = \
	trace/counters.c trace/counters.h trace/file.c trace/file.h trace/flows.c trace/flows.h \
	trace/formats.c trace/formats.h \
	trace/otlp.c trace/otlp.h trace/otlp_message.c trace/otlp_message.h trace/otlp_metrics.c \
	trace/otlp_resource.c trace/otlp_result.c \
	trace/sink.c trace/sink.h trace/place.c trace/place.h trace/sink_chrome.c trace/whole.c trace/whole.h
