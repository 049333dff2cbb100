# SPDX-License-Identifier: MIT
# trace: a recording as a trace for viewers and collectors
noinst_LIBRARIES += trace/libtrace.a
trace_libtrace_a_SOURCES = \
	trace/counters.c trace/counters.h trace/flows.c trace/flows.h \
	trace/trace_formats.c trace/trace_formats.h \
	trace/live.c trace/live.h trace/live_counters.c trace/live_follow.c trace/live_follow.h \
	trace/live_spans.c trace/live_state.h trace/live_tasks.c \
	trace/otlp.c trace/otlp.h trace/otlp_message.c trace/otlp_message.h trace/otlp_logs.c trace/otlp_metrics.c \
	trace/otlp_resource.c trace/otlp_result.c trace/trace_parts.c trace/trace_parts.h trace/perfetto_fields.h trace/prometheus.c \
	trace/sink.c trace/sink.h trace/sink_chrome.c trace/sink_perfetto.c \
	trace/tracefile.c trace/tracks.c trace/tracks.h trace/whole.c trace/whole.h
