// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// The names that libuncore++.so exports: those that are marked with
/// UNCORE_EXPORT, without their members that are marked with UNCORE_HIDDEN.
///
/// The C++ headers are compatible in source: a program that uses what they
/// document compiles with each later 0.x. Its binary needs the libuncore++.so of
/// the version's first two numbers, which its soname has. uncore.h, for C, is a
/// stable ABI (libuncore.so.1).
#pragma once

#define UNCORE_EXPORT __attribute__((visibility("default")))
#define UNCORE_HIDDEN __attribute__((visibility("hidden")))
