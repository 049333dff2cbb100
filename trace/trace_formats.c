/* SPDX-License-Identifier: MIT */
#include "trace/trace_formats.h"

#include "convert/converters.h"

#define TRACE_FORMATS(_) \
	_(chrome, "json", tracefile_chrome, .merge = tracefile_merge_chrome) \
	_(oe, "oe", oe_write) \
	_(otlp, "otlp.json", otlp_write) \
	_(otlp-metrics, "metrics.json", otlp_write_metrics) \
	_(otlp-logs, "logs.json", otlp_write_logs) \
	_(perfetto, "pftrace", tracefile_perfetto, .merge = tracefile_merge_perfetto) \
	_(prometheus, "prom", prometheus_write)

#define FORMAT(format, suffix_, write_, ...) \
	{ .name = #format, .suffix = suffix_, .write = write_, ##__VA_ARGS__ },
#define WORD(format, ...) #format,

const struct trace_format trace_formats[] = { TRACE_FORMATS(FORMAT) { .name = NULL } };
const char *const trace_format_word[] = { TRACE_FORMATS(WORD) NULL };
