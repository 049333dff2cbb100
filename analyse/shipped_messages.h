/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_ANALYSE_SHIPPED_MESSAGES_H
#define BUILDBEAT_ANALYSE_SHIPPED_MESSAGES_H

/* The templates of messages.yaml, as for message_rules_own(). */
extern const char shipped_messages[];

#endif
