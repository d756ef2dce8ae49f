// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Export of symbols: libuncore++.so exports the functions and classes with
/// UNCORE_EXPORT, except members with UNCORE_HIDDEN.
///
/// The C++ headers are compatible in source: a program compiles with each later
/// 0.x. A compiled program needs a libuncore++.so with the same first two
/// numbers of the version, which are part of the library's soname. uncore.h,
/// for C, is a stable ABI (libuncore.so.1).
#pragma once

#define UNCORE_EXPORT __attribute__((visibility("default")))
#define UNCORE_HIDDEN __attribute__((visibility("hidden")))
