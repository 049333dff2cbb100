/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_COMMAND_COMMAND_NAME_H
#define BUILDBEAT_COMMAND_COMMAND_NAME_H

#include "base/buf.h"

/*
 * The name of a task without one, from its command. It is the file that the command makes: foo.o for
 * "cc -c foo.c -o foo.o", libx.a for "ar rc libx.a a.o", b for "sort a >b". Otherwise it is the
 * program and its first operand: "mkdir lib", "pytest tests". Of several commands in a line, the
 * one that decides in kind_of_command() is used. Appends to b; nothing if there is no command.
 */
void command_name_add(struct buf *b, const char *command, size_t len);

#endif
