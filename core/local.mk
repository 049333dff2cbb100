# core: what a recording is, written and read; libc alone
noinst_LTLIBRARIES += core/libcore.la
core_libcore_la_SOURCES = \
	core/ancestors.c core/buildinfo.c core/buildinfo.h core/column.c core/column.h core/event.c \
	core/event.h core/event_parse.c core/layout.h core/lost.c core/lost.h core/oe.c core/oe.h \
	core/oe_build.c core/oe_devices.c core/oe_log.c core/oe_raw.c core/oe_reader.h core/oe_recipe.c \
	core/oe_samples.c core/oe_task.c core/peak.c core/peak.h core/process_log.c core/process_log.h \
	core/reader.c core/reader.h core/recording.c core/recording.h core/recording_build.c \
	core/recording_command.c core/recording_events.c core/recording_kinds.c core/recording_link.c \
	core/recording_lost.c core/recording_names.c core/recording_processes.c core/recording_runs.c \
	core/recording_samples.c core/recording_series.c core/recording_series.h core/recording_tasks.c \
	core/recording_usage.c core/recording_write.c core/recording_write.h core/recording_write_series.c \
	core/recording_write_tasks.c core/recording_write_usage.c core/recording_writer.h core/series.c \
	core/series.h core/store.c core/store.h core/usage_log.c core/usage_log.h
