/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_SHIPPED_MESSAGES_H
#define BUILDBEAT_ANALYSE_SHIPPED_MESSAGES_H

/* The text of messages.yaml. */
extern const char shipped_messages[];

#endif
