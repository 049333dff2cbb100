/* SPDX-License-Identifier: MIT */
#ifndef BUILDBEAT_STATS_DISTRIBUTION_H
#define BUILDBEAT_STATS_DISTRIBUTION_H

/*
 * Probability distributions. Tails are P(X > x), so that small ones keep their digits. NaN
 * yields NaN; no function fails.
 */

double stats_normal_tail(double z);
/* The z with stats_normal_tail(z) == p, for p in (0, 1). */
double stats_normal_quantile(double p);

/* The regularised incomplete beta function I_x(a, b), a and b > 0, x in [0, 1]. */
double stats_beta_share(double a, double b, double x);

/* Student's t with df > 0 degrees of freedom; INFINITY is the normal distribution. */
double stats_t_tail(double t, double df);
/* P(|T| > |t|). */
double stats_t_both(double t, double df);
/* The t with stats_t_tail(t, df) == p, for p in (0, 1). */
double stats_t_quantile(double p, double df);

/* First and second derivative of ln(gamma(x)), x > 0, and the inverse of the second, y > 0. */
double stats_digamma(double x);
double stats_trigamma(double x);
double stats_trigamma_inverse(double y);

/* ln of the number of ways to choose k of n, 0 <= k <= n. */
double stats_ln_choose(double n, double k);

#endif
