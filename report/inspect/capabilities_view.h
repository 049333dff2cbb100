/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_REPORT_INSPECT_CAPABILITIES_VIEW_H
#define BUILDBEAT_REPORT_INSPECT_CAPABILITIES_VIEW_H

#include "base/buf.h"
#include "base/text.h"
#include "inspect/capabilities.h"

/* The outputs of `buildbeat inspect capabilities`. 0 or the buffer's error. */
int capabilities_view_text(struct buf *out, const struct capabilities *c,
			   const struct style *style);
int capabilities_view_json(struct buf *out, const struct capabilities *c);

#endif
