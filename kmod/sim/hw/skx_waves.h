/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Waveforms of a few events of Skylake-SP, until events/skx describes a processor that the build
 * generates them for.
 */
#define WAVE(event, mask, how, most, counters, cycles, ...) \
	{ .code = (event), .umask = (mask), .rule = (how), .max_inc = (most), \
	  .ctrs = (counters), .period = (cycles), .v = { __VA_ARGS__ } }

static const struct model_wave skx_ubox_waves[] = {
	WAVE(0x42, 0x01, MODEL_ANY, 1, 0x3, 2, 1, 0),	/* EVENT_MSG */
	WAVE(0x42, 0x02, MODEL_ANY, 1, 0x3, 2, 0, 1),
	WAVE(0x42, 0x04, MODEL_ANY, 1, 0x3, 4, 1, 0, 0, 0),
	WAVE(0x42, 0x08, MODEL_ANY, 1, 0x3, 4, 0, 1, 0, 0),
	WAVE(0x42, 0x10, MODEL_ANY, 1, 0x3, 4, 0, 0, 1, 0),
};

static const struct model_wave skx_cha_waves[] = {
	WAVE(0x00, 0x00, MODEL_EXACT, 1, 0xf, 1, 1),	/* CLOCKTICKS */
	WAVE(0x34, 0x03, MODEL_EXACT, 1, 0xf, 2, 1, 0),	/* LLC_LOOKUP */
	WAVE(0x34, 0x11, MODEL_EXACT, 1, 0xf, 2, 1, 1),
	WAVE(0x35, 0x11, MODEL_ALL, 1, 0xf, 4, 1, 0, 1, 0), /* TOR_INSERTS */
	WAVE(0x35, 0x21, MODEL_ALL, 1, 0xf, 4, 0, 1, 0, 0),
	WAVE(0x36, 0x11, MODEL_ALL, 20, 0x1, 4, 3, 7, 11, 20), /* TOR_OCCUPANCY */
	WAVE(0x36, 0x21, MODEL_ALL, 20, 0x1, 4, 0, 2, 4, 8),
};

static const struct model_wave skx_pcu_waves[] = {
	WAVE(0x00, 0x00, MODEL_EXACT, 1, 0xf, 1, 1),	/* CLOCKTICKS */
	WAVE(0x0b, 0x00, MODEL_EXACT, 1, 0xf, 3, 12, 20, 28), /* FREQ_BAND */
	WAVE(0x0c, 0x00, MODEL_EXACT, 1, 0xf, 3, 12, 20, 28),
	WAVE(0x0d, 0x00, MODEL_EXACT, 1, 0xf, 3, 12, 20, 28),
	WAVE(0x0e, 0x00, MODEL_EXACT, 1, 0xf, 3, 12, 20, 28),
	WAVE(0x80, 0x40, MODEL_EXACT, 28, 0xf, 3, 28, 14, 0), /* POWER_STATE_OCCUPANCY */
	WAVE(0x80, 0x80, MODEL_EXACT, 28, 0xf, 3, 0, 14, 28),
};

static const struct model_wave skx_imc_waves[] = {
	WAVE(0x00, 0x00, MODEL_EXACT, 1, 0xf, 1, 1),	/* CLOCKTICKS */
	WAVE(0x04, 0x01, MODEL_ANY, 1, 0xf, 4, 1, 0, 0, 0), /* CAS_COUNT */
	WAVE(0x04, 0x02, MODEL_ANY, 1, 0xf, 4, 0, 1, 0, 0),
	WAVE(0x04, 0x04, MODEL_ANY, 1, 0xf, 4, 0, 0, 1, 0),
	WAVE(0x04, 0x08, MODEL_ANY, 1, 0xf, 4, 0, 0, 0, 1),
};
