# command: what a command line is: shell words, program names, kinds, secrets
noinst_LTLIBRARIES += command/libcommand.la
command_libcommand_la_SOURCES = \

