/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arithmetic of fixed-point counts with 64 bits after the binary point.
 *
 * The including file provides: __always_inline, __noinline.
 */
#ifndef XEON_UNCORE_BPF_NUMBER_H
#define XEON_UNCORE_BPF_NUMBER_H

#include "attribution.h"

static __always_inline void number_add(struct attr_number *total,
				       struct attr_number n)
{
	__u64 sum = total->fraction + n.fraction;

	/* the carry, without a branch that the verifier would have to follow */
	total->whole += n.whole +
			(((total->fraction & n.fraction) |
			  ((total->fraction | n.fraction) & ~sum)) >> 63);
	total->fraction = sum;
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

/* Get the upper 64 bits of the 128-bit product. */
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
 * Divide @n by @divisor, rounding down.  For divisors below 2^48 the quotient is exact to
 * the last of its 64 binary places, for divisors up to 2^63 it is precise to 32 bits.
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
 * Add @rate times @factor to @total.  This is a separate function because kernels before
 * 6.7 reject the caller's loop as endless if the loop's counter is not in a register.
 */
static __noinline void number_add_times(struct attr_number *total,
					const struct attr_number *rate,
					__u64 factor)
{
	number_add(total, number_times(*rate, factor));
}

/* Add the growth of @sum since @since, times @factor, to @total, and update @since. */
static __noinline void number_add_growth(struct attr_number *total,
					 const struct attr_number *sum,
					 struct attr_number *since, __u64 factor)
{
	number_add(total, number_times(number_minus(*sum, *since), factor));
	*since = *sum;
}

#endif
