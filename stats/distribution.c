/* SPDX-License-Identifier: MIT */
#include "stats/distribution.h"

#include <float.h>
#include <math.h>

double stats_normal_tail(double z)
{
	return 0.5 * erfc(z * M_SQRT1_2);
}

/* A rational fit of the tail (error 5e-4), then three Halley steps. */
double stats_normal_quantile(double p)
{
	double tail = p < 0.5 ? p : 1 - p, r, z;

	if (!(p > 0 && p < 1))
		return p == 0 ? INFINITY : p == 1 ? -INFINITY : NAN;
	r = sqrt(-2 * log(tail));
	z = r - (2.515517 + r * (0.802853 + r * 0.010328)) /
		(1 + r * (1.432788 + r * (0.189269 + r * 0.001308)));
	for (int i = 0; i < 3; i++) {
		double density = exp(-0.5 * z * z) / sqrt(2 * M_PI);
		double step = (stats_normal_tail(z) - tail) / density;

		z += step / (1 - 0.5 * z * step);
	}
	return p < 0.5 ? z : -z;
}

static double ln_gamma(double x)
{
	int sign;

	return lgamma_r(x, &sign);
}

double stats_ln_choose(double n, double k)
{
	return ln_gamma(n + 1) - ln_gamma(k + 1) - ln_gamma(n - k + 1);
}

static double away_from_zero(double x)
{
	return fabs(x) < DBL_MIN / DBL_EPSILON ? DBL_MIN / DBL_EPSILON : x;
}

/* One more term of a continued fraction 1 + term/(1 + ...), after Lentz. */
struct fraction {
	double value, c, d;
};

static double fraction_add(struct fraction *f, double term)
{
	double factor;

	f->d = 1 / away_from_zero(1 + term * f->d);
	f->c = away_from_zero(1 + term / f->c);
	factor = f->c * f->d;
	f->value *= factor;
	return factor;
}

#define FRACTION_TERMS 20000

/* It converges fast for x below (a + 1) / (a + b + 2). */
static double beta_fraction(double a, double b, double x)
{
	struct fraction f = { .value = 1, .c = 1, .d = 0 };

	fraction_add(&f, -(a + b) * x / (a + 1));
	for (int m = 1; m < FRACTION_TERMS; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1));

		fraction_add(&f, even);
		if (fabs(fraction_add(&f, odd) - 1) < DBL_EPSILON)
			break;
	}
	return 1 / f.value;
}

/* y = 1 - x is a parameter because it can have more digits than 1 - x. */
static double beta_of(double a, double b, double x, double y)
{
	double front;

	if (!(x > 0))
		return x == 0 ? 0 : NAN;
	if (!(y > 0))
		return y == 0 ? 1 : NAN;
	front = exp(ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * log(x) + b * log(y));
	if (x < (a + 1) / (a + b + 2))
		return front * beta_fraction(a, b, x) / a;
	return 1 - front * beta_fraction(b, a, y) / b;
}

double stats_beta_share(double a, double b, double x)
{
	return beta_of(a, b, x, 1 - x);
}

/* Above this the difference from the normal distribution, corrected by a term in 1 / df, is of
 * the order of 1 / df squared. */
#define ALMOST_NORMAL 1e6

double stats_t_both(double t, double df)
{
	double squared = t * t;

	if (df > ALMOST_NORMAL)
		return 2 * stats_normal_tail(fabs(t) * (1 - 0.25 / df) /
					     sqrt(1 + 0.5 * squared / df));
	if (isinf(squared))
		return 0;
	return beta_of(0.5 * df, 0.5, df / (df + squared), squared / (df + squared));
}

double stats_t_tail(double t, double df)
{
	double half = 0.5 * stats_t_both(t, df);

	return t < 0 ? 1 - half : half;
}

double stats_t_quantile(double p, double df)
{
	double tail = p < 0.5 ? p : 1 - p, low = 0, high = 1;

	if (!(p > 0 && p < 1) || !(df > 0))
		return p == 0 ? INFINITY : p == 1 ? -INFINITY : NAN;
	if (isinf(df))
		return stats_normal_quantile(p);
	while (stats_t_tail(high, df) > tail && high < DBL_MAX / 4) {
		low = high;
		high *= 2;
	}
	while (high - low > 4 * DBL_EPSILON * high) {
		double middle = 0.5 * (low + high);

		if (stats_t_tail(middle, df) > tail)
			low = middle;
		else
			high = middle;
	}
	return p < 0.5 ? high : -high;
}

#define GAMMA_LARGE 12		/* the asymptotic series are exact from here */

double stats_digamma(double x)
{
	double sum = 0, r;

	for (; x < GAMMA_LARGE; x++)
		sum -= 1 / x;
	r = 1 / (x * x);
	return sum + log(x) - 0.5 / x -
	       r * (1 / 12. - r * (1 / 120. - r * (1 / 252. - r * (1 / 240. - r / 132.))));
}

double stats_trigamma(double x)
{
	double sum = 0, r;

	for (; x < GAMMA_LARGE; x++)
		sum += 1 / (x * x);
	r = 1 / (x * x);
	return sum + 1 / x + 0.5 * r +
	       r / x * (1 / 6. - r * (1 / 30. - r * (1 / 42. - r * (1 / 30. - r * 5 / 66.))));
}

double stats_trigamma_inverse(double y)
{
	double low = -60, high = 60;

	if (!(y > 0))
		return y == 0 ? INFINITY : NAN;
	while (high - low > 1e-14) {
		double middle = 0.5 * (low + high);

		if (stats_trigamma(exp(middle)) > y)
			low = middle;
		else
			high = middle;
	}
	return exp(0.5 * (low + high));
}
