# SPDX-License-Identifier: MIT
# tests: one Check program a file, tests/check_NAME.c; to add one, add its name here. All of them
# are links to tests/checks. What several of them share is in libsupport.
check_LIBRARIES += tests/libsupport.a
tests_libsupport_a_SOURCES = \
	tests/baton.h tests/compared.c tests/compared.h tests/configured.c tests/configured.h tests/drawn.c tests/drawn.h tests/hostile.c tests/hostile.h tests/launched.c \
	tests/launched.h tests/machine.c tests/machine.h tests/made_build.c tests/made_build.h tests/made_inspection.c tests/made_inspection.h tests/made_tasks.c tests/made_tasks.h \
	tests/made_values.c tests/made_values.h tests/made_series.c tests/made_series.h tests/nights.c tests/nights.h tests/nights_shared.c \
	tests/labelled.c tests/labelled.h tests/make_host.c tests/make_host.h tests/noise.c tests/noise.h \
	tests/nomem.c tests/nomem.h tests/pairs.c \
	tests/pairs.h tests/plotted.c tests/plotted.h tests/recorded.c tests/recorded.h tests/replied.c tests/replied.h tests/looked.c tests/looked.h \
	tests/same.c tests/same.h tests/server.c tests/server.h tests/slope.c tests/slope.h \
	tests/spend.c tests/spend.h tests/subject.c tests/subject.h tests/support.c tests/support.h tests/program.h tests/touch.c tests/touch.h \
	tests/unpack.c tests/unpack.h

# `make check` runs these in five minutes on two cores; `make check-slow` what needs more: browsers,
# programs of all kinds, sanitizers, builds of whole projects, memory that runs out at every
# allocation, generated histories, disks that are full, archives of other hosts. CI runs ALL_TESTS.
SLOW_CHECKS = tests/check_browser tests/check_nomem_commands tests/check_arm tests/check_bisect \
	tests/check_bitbake_build tests/check_bombs tests/check_examples tests/check_make_transparent \
	tests/check_live tests/check_nightly tests/check_preload_transparent tests/check_sanitized \
	tests/check_nights tests/check_streaks tests/check_symbols tests/check_stream tests/check_trends tests/check_power tests/check_verdict_each tests/check_verdict_held tests/check_verdict_sets \
	tests/check_serve_streams tests/check_heap_shim tests/check_fsck tests/check_unwind tests/check_remote \
	tests/check_inspect_page tests/check_bitbake tests/check_peak tests/check_against tests/check_proof \
	tests/check_moved tests/check_send tests/check_inspect_archive tests/check_lost tests/check_agree \
	tests/check_wait tests/check_stopped tests/check_launch_signals tests/check_archive_killed tests/check_nomem_archive \
	tests/check_processes tests/check_namespaces tests/check_trust_files tests/check_oe_write tests/check_inspect_live
SCRIPTS_SLOW = tests/action.sh tests/first_error.sh tests/install.sh tests/musl.sh tests/recipes.sh
dist_check_SCRIPTS += $(SCRIPTS_SLOW)
ALL_TESTS = $(SLOW_CHECKS) $(SCRIPTS_SLOW) $(CHECKS) $(SCRIPTS_RUN) tests/fuzz_corpus.sh
check-slow:
	@$(MAKE) $(AM_MAKEFLAGS) check TESTS='$(SLOW_CHECKS) $(SCRIPTS_SLOW)'
.PHONY: check-slow
# Automake makes rules for the tests that it sees in TESTS.
if NEVER
TESTS += $(SLOW_CHECKS) $(SCRIPTS_SLOW)
endif

# The longest are first: none of them runs alone at the end.
CHECKS = \
	tests/check_inner tests/check_inspect tests/check_serve tests/check_accept tests/check_inspect_build tests/check_top \
	tests/check_serve_record tests/check_archive_damage tests/check_calibration tests/check_bootchart \
	tests/check_now tests/check_earlier tests/check_alive tests/check_amount tests/check_answer tests/check_archive \
	tests/check_archive_builds tests/check_archive_shared tests/check_freeze tests/check_archive_pack \
	tests/check_archive_writers tests/check_axis tests/check_base tests/check_bazel tests/check_bisect_search \
	tests/check_buf tests/check_build_tool tests/check_build_recording tests/check_builder tests/check_buildset \
	tests/check_carry tests/check_chain tests/check_channel tests/check_chain_bound tests/check_advise tests/check_simulate tests/check_whatif tests/check_changepoints \
	tests/check_chart tests/check_classify tests/check_cli tests/check_cmd_archive tests/check_cmd_chart \
	tests/check_cmd_check tests/check_cmd_diff tests/check_cmd_history tests/check_cmd_replay tests/check_cmd_span tests/check_identity \
	tests/check_command_name tests/check_config tests/check_creep tests/check_culprits tests/check_cursor \
	tests/check_decide tests/check_delay tests/check_deviations tests/check_diff tests/check_diff_sets tests/check_doc tests/check_doctor \
	tests/check_event tests/check_everywhere tests/check_verdict_cause tests/check_verdict_metrics tests/check_shared tests/check_export tests/check_extremes tests/check_field tests/check_findings tests/check_fixed_by \
	tests/check_follow tests/check_free_cores tests/check_follow_events tests/check_gitstamp tests/check_groups tests/check_values \
	tests/check_heap tests/check_history tests/check_hostfactor tests/check_html tests/check_import \
	tests/check_import_oe tests/check_inspect_config tests/check_inspect_export tests/check_inspect_list \
	tests/check_inspected tests/check_json tests/check_json_reader tests/check_kind tests/check_labelled \
	tests/check_lanes tests/check_launch_faults tests/check_limits tests/check_log_bitbake \
	tests/check_log_command tests/check_log_evidence tests/check_log_pipes tests/check_log_relay tests/check_log_tasks \
	tests/check_log_tty tests/check_live_chart tests/check_long_lines tests/check_look tests/check_look_modules \
	tests/check_make_faults tests/check_manual tests/check_merge tests/check_netlink tests/check_ninja \
	tests/check_ninja_hash tests/check_ninja_join tests/check_nomem tests/check_notes_text \
	tests/check_numberlines tests/check_oe tests/check_options tests/check_otlp tests/check_outfile \
	tests/check_pack tests/check_pack_code tests/check_pairs tests/check_bar_name tests/check_palette \
	tests/check_panel tests/check_partial_io tests/check_path tests/check_picture tests/check_pieces \
	tests/check_prometheus tests/check_pulse tests/check_plot tests/check_plot_builds tests/check_plot_faults \
	tests/check_plugin_api tests/check_plugin_object tests/check_span tests/check_make_signals \
	tests/check_plugin_threads tests/check_population tests/check_preload_faults tests/check_preload_threads \
	tests/check_protobuf tests/check_process_tree tests/check_profile tests/check_profile_command \
	tests/check_profile_live tests/check_races tests/check_record tests/check_record_faults \
	tests/check_record_processes tests/check_record_summary tests/check_record_set tests/check_record_signals \
	tests/check_recording tests/check_recording_write tests/check_redact tests/check_remaining \
	tests/check_repeats tests/check_report tests/check_results tests/check_rule tests/check_rules \
	tests/check_same_events tests/check_sampler tests/check_samples tests/check_secrets tests/check_series \
	tests/check_show tests/check_show_markdown tests/check_spark tests/check_stats tests/check_store \
	tests/check_summary tests/check_svg tests/check_symbolize tests/check_growing tests/check_tally \
	tests/check_tally_image tests/check_tally_threads tests/check_task tests/check_tasks tests/check_text \
	tests/check_tools tests/check_tracker tests/check_traces tests/check_value tests/check_api_tracker \
	tests/check_graph tests/check_api_graph tests/check_graph_layout tests/check_trend tests/check_trust \
	tests/check_unreadable tests/check_usage_log tests/check_used tests/check_verdict tests/check_works \
	tests/check_zstd
# of messages
CHECKS += tests/check_first_error tests/check_message
# of counters
CHECKS += tests/check_counter tests/check_instructions
# of inspections
CHECKS += tests/check_inspect_rules tests/check_inspect_show

# of the server
CHECKS += tests/check_guard tests/check_idle tests/check_metrics tests/check_tool_count
EXTRA_DIST += tests/beside.py tests/waiting.py tests/api_replies.py tests/serve_record.py tests/metrics.py tests/serve_safety.py tests/serve_streams.py

# of other PID namespaces
CHECKS += tests/check_pidserver

# of processes in the live view
CHECKS += tests/check_job tests/check_process_api tests/check_stack
check_PROGRAMS += tests/ask
EXTRA_DIST += tests/process_api.py tests/namespaces.py tests/killed.py tests/suspended.py

# of replies
CHECKS += tests/check_catalogue tests/check_query tests/check_reader tests/check_replies
EXTRA_DIST += tests/replies.py tests/replies_output.py tests/replies_states.py tests/replies_table.py

check_PROGRAMS += tests/checks
tests_checks_SOURCES = tests/checks.c $(CHECKS:=.c) $(SLOW_CHECKS:=.c)
tests_checks_LDADD = tests/libsupport.a $(COUNT_LIBS) $(SYMBOLIZER_LIBS) $(PROGRAM_LIBS) $(CHECK_LIBS)
# Memory that runs out (tests/nomem.c), and one function of the two that bear its name.
tests_checks_LDFLAGS = $(AM_LDFLAGS) -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=strdup \
	-Wl,--wrap=strndup,--wrap=asprintf,--wrap=realpath,--wrap=samples_moderate,--wrap=accept4
# They are compiled once and run once: without optimization that takes a third of the time.
$(tests_checks_OBJECTS) $(tests_libsupport_a_OBJECTS): CFLAGS += -O0 -U_FORTIFY_SOURCE
$(CHECKS) $(SLOW_CHECKS): tests/checks
	@ln -sf checks $@
check_DATA += $(CHECKS) $(SLOW_CHECKS)
CLEANFILES += $(CHECKS) $(SLOW_CHECKS)
TESTS += $(CHECKS)
# A failure is printed when it happens, past the log.
LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/run.sh
AM_TESTS_FD_REDIRECT = 9>&2
EXTRA_DIST += tests/run.sh

# Programs that they run: inputs made, and hosts and processes of unusual kinds.
check_PROGRAMS += \
	tests/fake_make tests/fake_spawner tests/fake_threads tests/faults tests/gen_archive tests/gen_oe \
	tests/gen_inspection tests/gen_recording tests/heap_act tests/heap_known tests/hungry
tests_fake_make_CFLAGS = $(AM_CFLAGS) -fPIE -fno-plt
tests_fake_make_LDFLAGS = $(AM_LDFLAGS) -pie -Wl,-z,relro,-z,now -rdynamic
tests_fake_make_LDADD = -ldl

# Preloaded by check_lost.
check_PROGRAMS += tests/failing_io.so
tests_failing_io_so_SOURCES = tests/failing_io.c
tests_failing_io_so_LDFLAGS = $(LINK_MODULE)
tests_failing_io_so_LDADD = -ldl

# Preloaded by check_partial_io.
check_PROGRAMS += tests/partial_io.so
tests_partial_io_so_SOURCES = tests/partial_io.c
tests_partial_io_so_LDFLAGS = $(LINK_MODULE)
tests_partial_io_so_LDADD = -ldl

# Preloaded by check_launch_faults.
check_PROGRAMS += tests/no_process.so
tests_no_process_so_SOURCES = tests/no_process.c
tests_no_process_so_LDFLAGS = $(LINK_MODULE)
tests_no_process_so_LDADD =

# Plain English; the rules of tests/house.py; README's recipes; the awk programs of a page; files
# that texts name; the rooms and what each may include; sample outputs; what is installed;
# the objects with musl; the action for GitHub.
SCRIPTS_RUN = tests/english.sh tests/house.sh tests/recording_awk.sh \
	tests/references.sh tests/rooms.sh tests/samples.sh
TESTS += $(SCRIPTS_RUN)
dist_check_SCRIPTS += $(SCRIPTS_RUN)

# Run by hand: other releases of Debian, and its package.
EXTRA_DIST += tests/elsewhere.sh tests/package.sh tests/root.sh

EXTRA_DIST += tests/bitbake_driver.py tests/browser tests/collector.py tests/data \
	tests/diff_page.py tests/inspect_live.py \
	tests/english.py tests/golden tests/house.py tests/live.py tests/top.py tests/otlp.py tests/pprof_stacks.py tests/protoc_text.py \
	tests/symbols_objects.py \
	tests/action.py tests/agree.py tests/ci.py tests/first_error.py tests/markdown.py tests/mutate.py tests/oe_files.py tests/output_projects.py tests/output_truth.py tests/packed.py tests/recipes.py tests/references.py tests/samples.py tests/smaps_witness.py tests/waits.py \
	tests/trace_reader.py tests/replay_command.py tests/verdicts.py tests/doc.py tests/agree_pages.py tests/mutants.txt

include tests/bench.mk
include tests/fuzz.mk

# Loaded by the programs that check_unwind generates.
check_PROGRAMS += tests/unwound.so
tests_unwound_so_SOURCES = tests/unwound.c tests/unwound.h
tests_unwound_so_LDFLAGS = $(LINK_MODULE)
tests_unwound_so_LDADD = heap/libunwind.a
EXTRA_DIST += tests/gen_compile.py
# compiled by check_heap_shim
EXTRA_DIST += tests/heap_race.c tests/programs
# builtin: calls that the compiler would remove are the test
tests_heap_act_CFLAGS = $(AM_CFLAGS) -fno-builtin
EXTRA_DIST += tests/gen_frames.py
