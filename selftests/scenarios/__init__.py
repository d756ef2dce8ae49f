# SPDX-License-Identifier: GPL-2.0-or-later
"""What makes the simulated hardware behave like a busy server."""
