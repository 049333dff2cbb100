# SPDX-License-Identifier: MIT
# recording: the recording's formats, written, read and found
noinst_LIBRARIES += recording/librecording.a
recording_librecording_a_SOURCES = \
	recording/alive.c recording/alive.h recording/growing.c recording/growing.h \
	recording/growing_files.h recording/growing_series.c \
	recording/growing_writers.c \
	recording/column.c recording/column.h recording/event.c recording/event.h recording/event_parse.c \
	recording/follow.c recording/follow.h recording/follow_hosts.c recording/follow_kinds.c recording/follow_state.c \
	recording/identity.c recording/identity.h recording/layout.h recording/output_log.c recording/output_log.h recording/output_writer.c \
	recording/output_writer.h recording/lost.c recording/lost.h recording/pidspace.c recording/pidspace.h recording/process_log.c \
	recording/process_log.h recording/proof.c recording/proof.h recording/reader.c recording/reader.h recording/reader_build.c \
	recording/reader_events.c recording/reader_link.c recording/reader_lost.c \
	recording/reader_processes.c recording/reader_results.c recording/reader_scripts.c recording/reader_spans.c \
	recording/reader_samples.c recording/reader_suspended.c recording/reader_tasks.c recording/reader_usage.c recording/recipe.c \
	recording/suspended.c recording/suspended.h \
	recording/recipe.h recording/recording.c recording/recording.h \
	recording/recording_write.h recording/results.c recording/results.h recording/series.c recording/series.h recording/store.c \
	recording/store.h recording/store_create.c recording/store_create.h recording/store_join.c \
	recording/store_join.h recording/tally.c recording/tally.h recording/tally_image.c \
	recording/tally_image.h recording/tally_lines.c recording/tally_live.c recording/tally_log.c recording/tally_log.h \
	recording/tally_reader.h recording/tally_table.c recording/usage_log.c recording/usage_log.h recording/writer.c recording/writer.h \
	recording/writer_series.c recording/writer_tasks.c recording/writer_usage.c


