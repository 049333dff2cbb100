#ifndef BUILDBEAT_CHROME_WRITE_H
#define BUILDBEAT_CHROME_WRITE_H

#include "recording.h"

/*
 * A recording as a trace that Perfetto and chrome://tracing show: an instance is a
 * process, its tasks are on threads (the worker the host recorded, else the lowest that
 * is free), spans and nested ones on the thread of their task, samples are counters of
 * a process of their own. As converter.write.
 */
int chrome_write(const struct recording *rec, const char *path, struct error *err);

#endif
