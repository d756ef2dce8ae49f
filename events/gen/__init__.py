# SPDX-License-Identifier: GPL-2.0-or-later
"""The parts of events/generate.py: read and check the catalogue, write it out."""
