/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_CONVERT_BUILDER_SERIES_H
#define BUILDBEAT_CONVERT_BUILDER_SERIES_H

#include "convert/builder.h"

/*
 * Samples of the recording a builder makes: a series (proc_stat ..., its columns as
 * series.h has them) that stands last, and its samples by time. Their times are those
 * of the finished recording. One that is not later than the last is left out, as are
 * times beyond what a recording may have.
 */
void builder_series(struct builder *b, const char *name, int64_t interval_ms,
		    const struct series_column *column, size_t n_columns);
void builder_sample(struct builder *b, int64_t time_us, const int64_t *level);

#endif
