/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMMAND_COMMAND_NAME_H
#define BUILDBEAT_COMMAND_COMMAND_NAME_H

#include "base/buf.h"

/*
 * What to call a task that nobody named, from its command: the file that it
 * makes ("cc -c foo.c -o foo.o" is foo.o, "ar rc libx.a a.o" libx.a, "sort
 * a >b" b). If it makes none: the
 * program and its first operand ("mkdir lib", "pytest tests").
 * Of a line of several commands it is the one that kind_of_command() goes by.
 * Appends to b; nothing when there is no command.
 */
void command_name_add(struct buf *b, const char *command, size_t len);

#endif
