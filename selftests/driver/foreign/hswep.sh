# SPDX-License-Identifier: GPL-2.0-or-later
# Events of thirdparty_foreign.sh and thirdparty_uncore.sh, which source this file, on
# Haswell-EP: the driver's and LIKWID's.
# shellcheck shell=bash disable=SC2034

# PMU | the catalogue's box and event, for each box type
events="
	hswep_ubox		ubox	uclk
	hswep_cbox_0		cbox	clockticks
	hswep_sbox_0		sbox	clockticks
	hswep_ha_0		ha	clockticks
	hswep_imc_0		imc	act_count.rd
	hswep_imc_1		imc	dclockticks
	hswep_pcu		pcu	clockticks
	hswep_r2pcie		r2pcie	clockticks
	hswep_r3qpi_0		r3qpi	clockticks
	hswep_qpi_0		qpi	clockticks
	hswep_irp_0		irp	clockticks
"

# event | transactions that pass its filter | the catalogue's box and event. The event
# also counts its wave, which does not depend on filters.
filtered="
	hswep_cbox_0/event=0x35,umask=0x1,filter_opc=0x182/	100	cbox	tor_inserts.opcode
	hswep_cbox_1/event=0x34,umask=0x11,filter_state=0x1/	30	cbox	llc_lookup.any
	hswep_qpi_0/event=0x138,match_mc=0xe,mask_mc=0xf/	50	qpi	cto_count
"

# Transactions of a package
transactions="
	box=cbox_0 event=0x35 umask=0x1 opc=0x182 count=100
	box=cbox_0 event=0x35 umask=0x1 opc=0x19e count=7
	box=cbox_1 event=0x34 umask=0x11 state=0x1 count=30
	box=cbox_1 event=0x34 umask=0x11 state=0x8 count=7
	box=qpi_0 event=0x138 dir=rx match0=0x1c00 count=50
	box=qpi_0 event=0x138 dir=rx match0=0x1800 count=7
"

# Box types of which a tool selects other events, with larger increments
reselected=

# Events of LIKWID that leave other register values than the events above need
likwid_plain=UNCORE_CLOCK:UBOXFIX,CBOX_CLOCKTICKS:CBOX0C0,CBOX_CLOCKTICKS:CBOX1C1
likwid_plain+=,SBOX_CLOCKTICKS:SBOX0C0,BBOX_CLOCKTICKS:BBOX0C0,CAS_COUNT_WR:MBOX0C0
likwid_plain+=,CAS_COUNT_RD:MBOX1C1,WBOX_CLOCKTICKS:WBOX0,PBOX_CLOCKTICKS:PBOX0
likwid_plain+=,RBOX_CLOCKTICKS:RBOX0C0,QBOX_CLOCKTICKS:QBOX0C0
likwid_filters=TOR_INSERTS_OPCODE:CBOX0C0:OPCODE=0x19E,LLC_LOOKUP_ANY:CBOX1C0:STATE=0x8
likwid_filters+=,QPI_RATE:QBOX0FIX0

# LIKWID's event | its counter | the catalogue's box and event | where transactions are
# planted: the box, and their event and unit mask
likwid_exact="
	UNCORE_CLOCK	UBOXFIX		ubox	uclk
	CBOX_CLOCKTICKS	CBOX0C0		cbox	clockticks
	CBOX_CLOCKTICKS	CBOX17C3	cbox	clockticks
	SBOX_CLOCKTICKS	SBOX0C0		sbox	clockticks
	BBOX_CLOCKTICKS	BBOX0C0		ha	clockticks
	CAS_COUNT_RD	MBOX0C0		imc	cas_count.rd	imc_0	0x4	0x1
	CAS_COUNT_WR	MBOX7C1		imc	cas_count.wr	imc_7	0x4	0x4
	DRAM_CLOCKTICKS	MBOX0C2		imc	dclockticks
	WBOX_CLOCKTICKS	WBOX0		pcu	clockticks
	PBOX_CLOCKTICKS	PBOX0		r2pcie	clockticks
	RBOX_CLOCKTICKS	RBOX0C0		r3qpi	clockticks
	QBOX_CLOCKTICKS	QBOX0C0		qpi	clockticks
"
