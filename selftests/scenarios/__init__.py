# SPDX-License-Identifier: GPL-2.0-or-later
"""Scenarios: event rates that make the simulated hardware behave like a busy server."""
