# tests of cli
CLI_TEST_LIBS = tests/libsupport.la cli/libcli.la core/libcore.la $(CHECK_LIBS)
CLI_TEST_CPPFLAGS = $(TEST_CPPFLAGS)

check_PROGRAMS += tests/check_options tests/check_config tests/check_zstd \
	tests/check_gitstamp
TESTS += tests/check_options tests/check_config tests/check_zstd tests/check_gitstamp
tests_check_options_CPPFLAGS = $(CLI_TEST_CPPFLAGS)
tests_check_options_LDADD = $(CLI_TEST_LIBS)
tests_check_config_CPPFLAGS = $(CLI_TEST_CPPFLAGS)
tests_check_config_LDADD = $(CLI_TEST_LIBS)
tests_check_zstd_CPPFLAGS = $(CLI_TEST_CPPFLAGS)
tests_check_zstd_LDADD = $(CLI_TEST_LIBS)
tests_check_gitstamp_CPPFLAGS = $(CLI_TEST_CPPFLAGS)
tests_check_gitstamp_LDADD = $(CLI_TEST_LIBS)

check_PROGRAMS += tests/check_nightly tests/check_nightly_open
TESTS += tests/check_nightly tests/check_nightly_open
tests_check_nightly_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_nightly_LDADD = $(TEST_LIBS)
EXTRA_tests_check_nightly_DEPENDENCIES = buildbeat plugin/buildbeat.la
tests_check_nightly_open_CPPFLAGS = $(CLI_TEST_CPPFLAGS)
tests_check_nightly_open_LDADD = $(CLI_TEST_LIBS)
EXTRA_tests_check_nightly_open_DEPENDENCIES = tests/gen_archive$(EXEEXT)

check_PROGRAMS += tests/check_cmd_archive
TESTS += tests/check_cmd_archive
tests_check_cmd_archive_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_cmd_archive_LDADD = $(TEST_LIBS)
EXTRA_tests_check_cmd_archive_DEPENDENCIES = buildbeat$(EXEEXT)

check_PROGRAMS += tests/check_cmd_check
TESTS += tests/check_cmd_check
tests_check_cmd_check_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_cmd_check_LDADD = $(TEST_LIBS)
EXTRA_tests_check_cmd_check_DEPENDENCIES = tests/gen_archive$(EXEEXT) buildbeat$(EXEEXT)

check_PROGRAMS += tests/check_rules
TESTS += tests/check_rules
tests_check_rules_CPPFLAGS = $(CLI_TEST_CPPFLAGS)
tests_check_rules_LDADD = $(CLI_TEST_LIBS)

check_PROGRAMS += tests/check_cli tests/check_manual
TESTS += tests/check_cli tests/check_manual
tests_check_cli_CPPFLAGS = $(CLI_TEST_CPPFLAGS)
tests_check_cli_LDADD = $(CLI_TEST_LIBS)
EXTRA_tests_check_cli_DEPENDENCIES = buildbeat
tests_check_manual_CPPFLAGS = $(CLI_TEST_CPPFLAGS)
tests_check_manual_LDADD = $(CLI_TEST_LIBS)
EXTRA_tests_check_manual_DEPENDENCIES = buildbeat

check_PROGRAMS += tests/check_record tests/check_record_faults tests/check_record_signals
TESTS += tests/check_record tests/check_record_faults tests/check_record_signals
tests_check_record_SOURCES = tests/check_record.c tests/launched.c tests/launched.h
tests_check_record_CPPFLAGS = $(CLI_TEST_CPPFLAGS)
tests_check_record_LDADD = tests/libmakehost.la $(CLI_TEST_LIBS)
EXTRA_tests_check_record_DEPENDENCIES = buildbeat plugin/buildbeat.la
tests_check_record_faults_SOURCES = tests/check_record_faults.c tests/launched.c tests/launched.h
tests_check_record_faults_CPPFLAGS = $(CLI_TEST_CPPFLAGS)
tests_check_record_faults_LDADD = tests/libmakehost.la $(CLI_TEST_LIBS)
EXTRA_tests_check_record_faults_DEPENDENCIES = buildbeat plugin/buildbeat.la
tests_check_record_signals_SOURCES = tests/check_record_signals.c tests/launched.c tests/launched.h
tests_check_record_signals_CPPFLAGS = $(CLI_TEST_CPPFLAGS)
tests_check_record_signals_LDADD = tests/libmakehost.la $(CLI_TEST_LIBS)
EXTRA_tests_check_record_signals_DEPENDENCIES = buildbeat plugin/buildbeat.la

check_PROGRAMS += tests/check_launch_signals
TESTS += tests/check_launch_signals
tests_check_launch_signals_SOURCES = tests/check_launch_signals.c tests/launched.c tests/launched.h
tests_check_launch_signals_CPPFLAGS = $(CLI_TEST_CPPFLAGS)
tests_check_launch_signals_LDADD = $(CLI_TEST_LIBS)
EXTRA_tests_check_launch_signals_DEPENDENCIES = buildbeat plugin/buildbeat.la

check_PROGRAMS += tests/check_bombs
TESTS += tests/check_bombs
tests_check_bombs_SOURCES = tests/check_bombs.c tests/launched.c tests/launched.h
tests_check_bombs_CPPFLAGS = $(CLI_TEST_CPPFLAGS) $(ZLIB_CFLAGS) $(ZSTD_CFLAGS)
tests_check_bombs_LDADD = $(CLI_TEST_LIBS) $(ZLIB_LIBS) $(ZSTD_LIBS)
EXTRA_tests_check_bombs_DEPENDENCIES = buildbeat

check_PROGRAMS += tests/check_unreadable
TESTS += tests/check_unreadable
tests_check_unreadable_SOURCES = tests/check_unreadable.c tests/launched.c tests/launched.h
tests_check_unreadable_CPPFLAGS = $(CLI_TEST_CPPFLAGS)
tests_check_unreadable_LDADD = $(CLI_TEST_LIBS)
EXTRA_tests_check_unreadable_DEPENDENCIES = buildbeat plugin/buildbeat.la

check_PROGRAMS += tests/check_secrets
TESTS += tests/check_secrets
tests_check_secrets_SOURCES = tests/check_secrets.c tests/launched.c tests/launched.h
tests_check_secrets_CPPFLAGS = $(CLI_TEST_CPPFLAGS)
tests_check_secrets_LDADD = tests/libmakehost.la $(CLI_TEST_LIBS)
EXTRA_tests_check_secrets_DEPENDENCIES = buildbeat plugin/buildbeat.la plugin/buildbeat-preload.la

check_PROGRAMS += tests/check_lost
TESTS += tests/check_lost
tests_check_lost_SOURCES = tests/check_lost.c tests/launched.c tests/launched.h
tests_check_lost_CPPFLAGS = $(CLI_TEST_CPPFLAGS)
tests_check_lost_LDADD = tests/libmakehost.la $(CLI_TEST_LIBS)
EXTRA_tests_check_lost_DEPENDENCIES = buildbeat plugin/buildbeat.la plugin/buildbeat-preload.la

check_PROGRAMS += tests/check_task tests/check_doctor
TESTS += tests/check_task tests/check_doctor
tests_check_task_CPPFLAGS = $(CLI_TEST_CPPFLAGS)
tests_check_task_LDADD = $(CLI_TEST_LIBS)
EXTRA_tests_check_task_DEPENDENCIES = buildbeat
tests_check_doctor_CPPFLAGS = $(CLI_TEST_CPPFLAGS)
tests_check_doctor_LDADD = tests/libmakehost.la $(CLI_TEST_LIBS)
EXTRA_tests_check_doctor_DEPENDENCIES = buildbeat plugin/buildbeat.la

check_PROGRAMS += tests/check_trust tests/check_trust_files
TESTS += tests/check_trust tests/check_trust_files
tests_check_trust_SOURCES = tests/check_trust.c tests/hostile.c tests/hostile.h
tests_check_trust_CPPFLAGS = $(CLI_TEST_CPPFLAGS)
tests_check_trust_LDADD = tests/libmakehost.la $(CLI_TEST_LIBS)
EXTRA_tests_check_trust_DEPENDENCIES = buildbeat plugin/buildbeat.la
tests_check_trust_files_SOURCES = tests/check_trust_files.c tests/hostile.c tests/hostile.h
tests_check_trust_files_CPPFLAGS = $(CLI_TEST_CPPFLAGS)
tests_check_trust_files_LDADD = tests/libmakehost.la $(CLI_TEST_LIBS)
EXTRA_tests_check_trust_files_DEPENDENCIES = buildbeat plugin/buildbeat.la

check_PROGRAMS += tests/check_cmd_chart
TESTS += tests/check_cmd_chart
tests_check_cmd_chart_CPPFLAGS = $(CLI_TEST_CPPFLAGS)
tests_check_cmd_chart_LDADD = $(CLI_TEST_LIBS)
EXTRA_tests_check_cmd_chart_DEPENDENCIES = buildbeat tests/gen_recording

check_PROGRAMS += tests/check_examples
TESTS += tests/check_examples
tests_check_examples_CPPFLAGS = $(TEST_CPPFLAGS)
tests_check_examples_LDADD = $(TEST_LIBS)
EXTRA_tests_check_examples_DEPENDENCIES = buildbeat

check_PROGRAMS += tests/check_numberlines
TESTS += tests/check_numberlines
tests_check_numberlines_CPPFLAGS = $(CLI_TEST_CPPFLAGS)
tests_check_numberlines_LDADD = $(CLI_TEST_LIBS)
EXTRA_tests_check_numberlines_DEPENDENCIES = buildbeat
