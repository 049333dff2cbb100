/* SPDX-License-Identifier: MIT */
#include "trace/sink.h"

#include <errno.h>
#include <stdlib.h>

int sink_init(struct sink *s, const struct sink_ops *ops)
{
	*s = (struct sink){ .ops = ops, .state = calloc(1, ops->state_size) };
	return s->state ? 0 : -ENOMEM;
}

void sink_release(struct sink *s)
{
	if (s->state)
		s->ops->release(s);
	free(s->state);
	buf_release(&s->out);
	*s = (struct sink){ 0 };
}
