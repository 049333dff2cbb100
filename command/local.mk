# SPDX-License-Identifier: MIT
# command: what a command line is: shell words, program names, kinds, build tools, secrets
noinst_LIBRARIES += command/libcommand.a
command_libcommand_a_SOURCES = \
	command/build_tool.c command/build_tool.h command/command_name.c command/command_name.h command/kind.c command/kind.h command/ninja_hash.c \
	command/ninja_hash.h command/programs.def command/redact.c command/redact.h command/redact_find.c command/redact_login.c command/redact_own.c command/redact_variable.c command/redact_wide.c command/redact_wide.h \
	command/redact_parts.h command/shell.c command/shell.h

