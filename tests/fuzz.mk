# SPDX-License-Identifier: MIT
# Fuzz targets: `make check` gives each the inputs of tests/corpus/NAME; configured
# with --enable-fuzzing they are libFuzzer's (tests/fuzz_NAME -max_total_time=600
# a-scratch-directory tests/corpus/NAME). To add one: its name here and a corpus.
TESTS += tests/fuzz_corpus.sh
dist_check_SCRIPTS += tests/fuzz_corpus.sh
EXTRA_DIST += tests/corpus
noinst_HEADERS += tests/fuzz.h
AM_TESTS_ENVIRONMENT = FUZZ_TARGETS='$(FUZZ_TARGETS)'; export FUZZ_TARGETS;

FUZZ_TARGETS = \
	tests/fuzz_archive tests/fuzz_cache_log tests/fuzz_config tests/fuzz_convert tests/fuzz_cycles tests/fuzz_heap_image \
	tests/fuzz_inspection tests/fuzz_message \
	tests/fuzz_ninja tests/fuzz_oe tests/fuzz_output \
	tests/fuzz_proc tests/fuzz_query tests/fuzz_recording tests/fuzz_request tests/fuzz_rules tests/fuzz_send \
	tests/fuzz_smaps \
	tests/fuzz_symbols tests/fuzz_tally tests/fuzz_tasks
check_DATA += $(FUZZ_TARGETS)
CLEANFILES += $(FUZZ_TARGETS)
if FUZZING
AM_CPPFLAGS += -DFUZZING
EXTRA_tests_checks_SOURCES = $(FUZZ_TARGETS:=.c)
$(FUZZ_TARGETS): tests/libsupport.a $(ROOM_LIBS) $(FUZZ_TARGETS:=.$(OBJEXT))
	$(AM_V_CCLD)$(LINK) $(FUZZ_LDFLAGS) $@.$(OBJEXT) $(tests_checks_LDADD) $(LIBS)
else
tests_checks_SOURCES += $(FUZZ_TARGETS:=.c) tests/fuzz_files.c
$(FUZZ_TARGETS): tests/checks
	@ln -sf checks $@
endif
