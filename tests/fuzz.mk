# SPDX-License-Identifier: MIT
# Fuzz targets: `make check` gives each the inputs of tests/corpus/NAME; configured
# with --enable-fuzzing they are libFuzzer's (tests/fuzz_NAME -max_total_time=600
# a-scratch-directory tests/corpus/NAME). To add one: its name here, two lines, a corpus.
check_PROGRAMS += $(FUZZ_TARGETS)
TESTS += tests/fuzz_corpus.sh
dist_check_SCRIPTS += tests/fuzz_corpus.sh
EXTRA_DIST += tests/corpus
noinst_HEADERS += tests/fuzz.h
AM_TESTS_ENVIRONMENT = FUZZ_TARGETS='$(FUZZ_TARGETS)'; export FUZZ_TARGETS;

FUZZ_TARGETS = \
	tests/fuzz_archive tests/fuzz_cache_log tests/fuzz_config tests/fuzz_convert tests/fuzz_cycles tests/fuzz_heap_image \
	tests/fuzz_inspection \
	tests/fuzz_ninja tests/fuzz_oe tests/fuzz_output \
	tests/fuzz_proc tests/fuzz_query tests/fuzz_recording tests/fuzz_request tests/fuzz_rules tests/fuzz_send \
	tests/fuzz_smaps \
	tests/fuzz_symbols tests/fuzz_tally tests/fuzz_tasks
if FUZZING
FUZZ_MAIN =
FUZZ_LINK = $(FUZZ_LDFLAGS)
else
FUZZ_MAIN = tests/fuzz_main.c
FUZZ_LINK =
endif

tests_fuzz_archive_SOURCES = tests/fuzz_archive.c $(FUZZ_MAIN)
tests_fuzz_archive_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_cache_log_SOURCES = tests/fuzz_cache_log.c $(FUZZ_MAIN)
tests_fuzz_cache_log_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_config_SOURCES = tests/fuzz_config.c $(FUZZ_MAIN)
tests_fuzz_config_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_convert_SOURCES = tests/fuzz_convert.c $(FUZZ_MAIN)
tests_fuzz_convert_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_cycles_SOURCES = tests/fuzz_cycles.c $(FUZZ_MAIN)
tests_fuzz_cycles_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_inspection_SOURCES = tests/fuzz_inspection.c $(FUZZ_MAIN)
tests_fuzz_inspection_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_heap_image_SOURCES = tests/fuzz_heap_image.c $(FUZZ_MAIN)
tests_fuzz_heap_image_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_ninja_SOURCES = tests/fuzz_ninja.c $(FUZZ_MAIN)
tests_fuzz_ninja_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_oe_SOURCES = tests/fuzz_oe.c $(FUZZ_MAIN)
tests_fuzz_oe_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_output_SOURCES = tests/fuzz_output.c $(FUZZ_MAIN)
tests_fuzz_output_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_proc_SOURCES = tests/fuzz_proc.c $(FUZZ_MAIN)
tests_fuzz_proc_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_recording_SOURCES = tests/fuzz_recording.c $(FUZZ_MAIN)
tests_fuzz_recording_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_request_SOURCES = tests/fuzz_request.c $(FUZZ_MAIN)
tests_fuzz_request_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_query_SOURCES = tests/fuzz_query.c $(FUZZ_MAIN)
tests_fuzz_query_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_rules_SOURCES = tests/fuzz_rules.c $(FUZZ_MAIN)
tests_fuzz_rules_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_send_SOURCES = tests/fuzz_send.c $(FUZZ_MAIN)
tests_fuzz_send_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_smaps_SOURCES = tests/fuzz_smaps.c $(FUZZ_MAIN)
tests_fuzz_smaps_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_tally_SOURCES = tests/fuzz_tally.c $(FUZZ_MAIN)
tests_fuzz_tally_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_tasks_SOURCES = tests/fuzz_tasks.c $(FUZZ_MAIN)
tests_fuzz_tasks_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
tests_fuzz_symbols_SOURCES = tests/fuzz_symbols.c $(FUZZ_MAIN)
tests_fuzz_symbols_CPPFLAGS = $(AM_CPPFLAGS) $(ELF_CFLAGS)
tests_fuzz_symbols_LDADD = tests/libsupport.a inspect/libinspect.a $(SYMBOLIZER_LIBS)
tests_fuzz_symbols_LDFLAGS = $(AM_LDFLAGS) $(FUZZ_LINK)
