# SPDX-License-Identifier: MIT
# cli: the program, one cmd_NAME.c per command; all but main() is a library, so
# that the tests can have it
noinst_LIBRARIES += cli/libcli.a
cli_libcli_a_SOURCES = \
	cli/against_open.c cli/against_open.h cli/cmd_accept.c cli/cmd_advise.c \
	cli/cmd_archive.c cli/cmd_bisect.c cli/cmd_chart.c cli/cmd_check.c cli/cmd_complete.c \
	cli/cmd_diff.c cli/cmd_doctor.c cli/cmd_export.c cli/cmd_help.c cli/cmd_history.c cli/cmd_import.c cli/cmd_inspect.c \
	cli/cmd_list.c cli/cmd_log.c cli/cmd_profile.c cli/cmd_prune.c cli/cmd_ps.c cli/cmd_record.c cli/cmd_report.c cli/cmd_attach.c cli/cmd_serve.c cli/serve_running.c cli/serve_running.h cli/cmd_show.c cli/cmd_span.c cli/cmd_task.c cli/cmd_top.c cli/cmd_whatif.c cli/export_send.c cli/export_send.h \
	cli/command.h cli/commands.c cli/configfile.c cli/configfile.h \
	cli/configfile_open.c cli/configfile_open.h \
	cli/fit_sentence.c cli/fit_sentence.h cli/export_path.c cli/export_path.h cli/inspect.h cli/inspect_archives.c cli/inspect_capabilities.c cli/inspect_config.c cli/inspect_config.h cli/inspect_settings.c \
	cli/inspect_maps.c cli/inspect_stats.c cli/inspect_start.c cli/inspect_target.c cli/inspect_target.h cli/inspect_tasks.c cli/follow_export.c cli/follow_export.h \
	cli/doctor.c cli/doctor.h cli/doctor_limits.c cli/doctor_trial.c \
	cli/buildset.c cli/buildset.h cli/limits_config.c cli/limits_config.h \
	cli/messages_config.c cli/messages_config.h cli/moved.c cli/moved.h cli/numberlines.c cli/numberlines.h cli/openrec.c \
	cli/openrec.h cli/openrerun.c cli/openrerun.h cli/process_env.c cli/process_env.h cli/options.c cli/options.h cli/output_file.c cli/output_file.h cli/rules_config.c \
	cli/record_summary.c cli/record_summary.h cli/repeat.c cli/repeat.h cli/rules_config.h cli/settings_options.c cli/class_rules.c cli/class_rules.h \
	cli/settings_options.h

# inspect show
cli_libcli_a_SOURCES += cli/inspect_export.c cli/inspect_export.h cli/inspect_show.c \
	cli/inspect_symbols.c cli/inspect_symbols.h

bin_PROGRAMS += buildbeat
buildbeat_SOURCES = cli/main.c
buildbeat_LDADD = $(PROGRAM_LIBS)

# Both only ask "buildbeat complete".
bashcompdir = $(datadir)/bash-completion/completions
dist_bashcomp_DATA = cli/completion/buildbeat
zshcompdir = $(datadir)/zsh/site-functions
dist_zshcomp_DATA = cli/completion/_buildbeat
