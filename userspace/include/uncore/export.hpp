// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// Marks of the names that libuncore++.so exports (UNCORE_EXPORT), and of their
/// members that it does not export (UNCORE_HIDDEN).
///
/// The C++ headers are compatible in source: a program that uses only documented
/// names compiles with each later version 0.x. The program's binary needs the
/// libuncore++.so with the same first two numbers of the version, which are in
/// the soname. uncore.h, for C, is a stable ABI (libuncore.so.1).
#pragma once

#define UNCORE_EXPORT __attribute__((visibility("default")))
#define UNCORE_HIDDEN __attribute__((visibility("hidden")))
