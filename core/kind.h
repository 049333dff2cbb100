#ifndef BUILDBEAT_KIND_H
#define BUILDBEAT_KIND_H

/*
 * What sort of work a command is, from its text alone: compile, link, archive,
 * generate, configure, make, test, install, document, shell, other ... The
 * result is a constant string.
 */
const char *kind_of_command(const char *command);

#endif
