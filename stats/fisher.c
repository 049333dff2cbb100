/* SPDX-License-Identifier: MIT */
#include "stats/fisher.h"

#include <math.h>

#define LEAST 1e-300

/* Twice the sum of the logarithms is chi-squared with 2 n degrees of freedom, whose tail is a sum. */
double fisher_join(const double *p, size_t n)
{
	double half = 0, term = 1, sum = 0;

	for (size_t i = 0; i < n; i++)
		half -= log(fmax(p[i], LEAST));
	for (size_t i = 0; i < n; i++) {
		sum += term;
		term *= half / (double)(i + 1);
	}
	return n ? fmin(1, exp(-half) * sum) : 1;
}
