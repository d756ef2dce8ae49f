// SPDX-License-Identifier: LGPL-2.1-or-later
/// @file
/// What libuncore's shared library shows of itself: names that are marked with
/// UNCORE_EXPORT, without their members that are marked with UNCORE_HIDDEN.
#pragma once

#define UNCORE_EXPORT __attribute__((visibility("default")))
#define UNCORE_HIDDEN __attribute__((visibility("hidden")))
