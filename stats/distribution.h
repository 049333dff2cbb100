/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_DISTRIBUTION_H
#define BUILDBEAT_STATS_DISTRIBUTION_H

/*
 * Distributions the tests stand on. Tails are P(X > x), so that small ones keep
 * their digits. NaN in, NaN out; nothing here fails.
 */

double normal_tail(double z);
/* The z with normal_tail(z) == p, for p in (0, 1). */
double normal_quantile(double p);

/* The regularised incomplete beta function I_x(a, b), a and b > 0, x in [0, 1]. */
double beta_share(double a, double b, double x);

/* Student's t with df > 0 degrees of freedom, INFINITY being the normal one. */
double t_tail(double t, double df);
/* P(|T| > |t|). */
double t_both(double t, double df);
/* The t with t_tail(t, df) == p, for p in (0, 1). */
double t_quantile(double p, double df);

/* Derivatives of ln(gamma(x)), x > 0: first, second; and the x whose second is y > 0. */
double digamma(double x);
double trigamma(double x);
double trigamma_inverse(double y);

/* ln of the number of ways to choose k of n, 0 <= k <= n. */
double ln_choose(double n, double k);

#endif
