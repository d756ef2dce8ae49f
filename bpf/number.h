/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arithmetic of counts with 64 binary places.
 *
 * The including file provides: __always_inline, __noinline.
 */
#ifndef XEON_UNCORE_BPF_NUMBER_H
#define XEON_UNCORE_BPF_NUMBER_H

#include "attribution.h"

static __always_inline void number_add(struct attr_number *to,
				       struct attr_number n)
{
	__u64 sum = to->fraction + n.fraction;

	/* the carry, without a branch for the verifier to follow */
	to->whole += n.whole + (((to->fraction & n.fraction) |
				 ((to->fraction | n.fraction) & ~sum)) >> 63);
	to->fraction = sum;
}

static __always_inline struct attr_number number_minus(struct attr_number a,
						       struct attr_number b)
{
	struct attr_number n;

	n.fraction = a.fraction - b.fraction;
	n.whole = a.whole - b.whole -
		  (((~a.fraction & b.fraction) |
		    (~(a.fraction ^ b.fraction) & n.fraction)) >> 63);
	return n;
}

/* Get the upper half of a product. */
static __always_inline __u64 multiply_high(__u64 a, __u64 b)
{
	__u64 a0 = a & 0xffffffff, a1 = a >> 32;
	__u64 b0 = b & 0xffffffff, b1 = b >> 32;
	__u64 low = a0 * b1 + (a0 * b0 >> 32);
	__u64 middle = a1 * b0 + (low & 0xffffffff);

	return a1 * b1 + (low >> 32) + (middle >> 32);
}

static __always_inline struct attr_number number_times(struct attr_number n,
						       __u64 factor)
{
	n.whole = n.whole * factor + multiply_high(n.fraction, factor);
	n.fraction *= factor;
	return n;
}

/*
 * Divide.  The quotient is never too large.  Divisors below 2^48 have an exact quotient,
 * divisors up to 2^63 a quotient that is precise to 32 bits.
 */
static __always_inline struct attr_number number_over(struct attr_number n,
						      __u64 divisor)
{
	struct attr_number quotient;
	__u64 rest, digit;
	int coarse = divisor >> 48 != 0, i;

	if (coarse)
		divisor = (divisor >> 16) + 1;
	quotient.whole = n.whole / divisor;
	quotient.fraction = 0;
	rest = n.whole - quotient.whole * divisor;
	/* long division, in digits of 16 bits */
	for (i = 48; i >= 0; i -= 16) {
		rest = rest << 16 | (n.fraction >> i & 0xffff);
		digit = rest / divisor;
		rest -= digit * divisor;
		quotient.fraction = quotient.fraction << 16 | digit;
	}
	if (coarse) {
		quotient.fraction = quotient.fraction >> 16 |
				    quotient.whole << 48;
		quotient.whole >>= 16;
	}
	return quotient;
}

/*
 * Add @rate times @by to @to.  A separate function: kernels before 6.7 reject a loop as
 * endless if the loop's counter is not in a register.
 */
static __noinline void number_add_times(struct attr_number *to,
					const struct attr_number *rate,
					__u64 by)
{
	number_add(to, number_times(*rate, by));
}

/* Add the growth of @sum since @since, times @by, to @to, and update @since. */
static __noinline void number_add_growth(struct attr_number *to,
					 const struct attr_number *sum,
					 struct attr_number *since, __u64 by)
{
	number_add(to, number_times(number_minus(*sum, *since), by));
	*since = *sum;
}

#endif
