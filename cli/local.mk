# cli: the program, one cmd_NAME.c per command
bin_PROGRAMS += buildbeat
buildbeat_SOURCES = \
	cli/cmd_help.c \
	cli/command.h \
	cli/main.c \
	cli/options.c cli/options.h \
	cli/report.c cli/report.h
buildbeat_CPPFLAGS = $(AM_CPPFLAGS) -DPKGLIBDIR='"$(pkglibdir)"' -DSYSCONFDIR='"$(sysconfdir)"'
buildbeat_LDADD = core/libcore.la
