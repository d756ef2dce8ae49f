/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The integer types that the model needs. The simulator takes them from the kernel's
 * headers, the host's unit tests from the C library's.
 */
#ifndef XEON_UNCORE_SIM_MODEL_TYPES_H
#define XEON_UNCORE_SIM_MODEL_TYPES_H

#ifdef __KERNEL__

#include <linux/limits.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/types.h>

#else

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int64_t s64;

#define U64_MAX	UINT64_MAX

#endif

#endif
