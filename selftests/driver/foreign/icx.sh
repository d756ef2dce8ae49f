# SPDX-License-Identifier: GPL-2.0-or-later
# Events of thirdparty_foreign.sh and thirdparty_uncore.sh, which source this file, on Ice
# Lake-SP: the driver's and LIKWID's.
# shellcheck shell=bash disable=SC2034

# PMU | the catalogue's box and event, for each box type
events="
	icx_ubox		ubox	clockticks
	icx_cha_0		cha	clockticks
	icx_imc_0		imc	act_count.all
	icx_imc_1		imc	clockticks
	icx_m2m_0		m2m	clockticks
	icx_upi_0		upi	clockticks
	icx_m3upi_0		m3upi	clockticks
	icx_m2pcie_0		m2pcie	clockticks
	icx_iio_0		iio	clockticks
	icx_irp_0		irp	clockticks
	icx_pcu			pcu	clockticks
"

# event | transactions that pass its filter | the catalogue's box and event. The event
# also counts its wave, which does not depend on filters.
filtered="
	icx_cha_0/event=0x35,umask=0xc001ff01,tid_en=1,filter_tid=0x15/	100	cha	tor_inserts.ia
	icx_cha_1/event=0x34,umask=0x1fffff,tid_en=1,filter_tid=0x9/	30	cha	llc_lookup.all
"

# Transactions of a package
transactions="
	box=cha_0 event=0x35 umask=0xc001ff01 tid=0x15 count=100
	box=cha_0 event=0x35 umask=0xc001ff01 tid=0x6 count=7
	box=cha_1 event=0x34 umask=0x1fffff tid=0x9 count=30
	box=cha_1 event=0x34 umask=0x1fffff tid=0x11 count=7
"

# Box types of which a tool selects other events, with larger increments: PCM counts requests
# of devices in CHAs, persistent memory in M2Ms, and reads and writes in channels. Their largest
# increment is in no source for Ice Lake, so their waves have increments of up to 255.
reselected="cha imc m2m"

# Events of LIKWID that leave other register values than the events above need
likwid_plain=UNCORE_CLOCKTICKS:UBOXFIX,CBOX_CLOCKTICKS:CBOX0C0,CBOX_CLOCKTICKS:CBOX1C1
likwid_plain+=,M2M_CLOCKTICKS:M2M0C0,CAS_COUNT_WR:MBOX0C0,CAS_COUNT_RD:MBOX1C1
likwid_plain+=,MBOX_CLOCKTICKS:MBOX0FIX,IIO_CLOCKTICKS:TCBOX0C0,IRP_CLOCKTICKS:IBOX0C0
likwid_plain+=,PCI_CLOCKTICKS:PBOX0C0,UPI_CLOCKTICKS:QBOX0C0,CMS_CLOCKTICKS:SBOX0C0
likwid_plain+=,DEMOTIONS:WBOX0
likwid_filters=TOR_INSERTS_IA_DRD:CBOX0C0:TID=0x6,LLC_LOOKUP_ALL:CBOX1C0:TID=0x11

# LIKWID's event | its counter | the catalogue's box and event | where transactions are
# planted: the box, and their event and unit mask. LIKWID has two channels of a controller, the
# simulated hardware three.
likwid_exact="
	UNCORE_CLOCKTICKS UBOXFIX	ubox	clockticks
	CBOX_CLOCKTICKS	CBOX0C0		cha	clockticks
	CBOX_CLOCKTICKS	CBOX39C3	cha	clockticks
	M2M_CLOCKTICKS	M2M3C0		m2m	clockticks
	CAS_COUNT_RD	MBOX0C0		imc	cas_count.rd	imc_0	0x4	0x1
	CAS_COUNT_RD	MBOX3C2		imc	cas_count.rd	imc_4	0x4	0x1
	CAS_COUNT_WR	MBOX6C3		imc	cas_count.wr	imc_9	0x4	0x10
	CAS_COUNT_WR	MBOX7C1		imc	cas_count.wr	imc_10	0x4	0x10
	MBOX_CLOCKTICKS	MBOX0FIX	imc	hclockticks
	DDR_READ_BYTES	MDEV0C0		imc_free_running read	imc_free_running_0	0xff	0x20
	DDR_WRITE_BYTES	MDEV3C1		imc_free_running write	imc_free_running_3	0xff	0x21
	IIO_CLOCKTICKS	TCBOX5C0	iio	clockticks
	IRP_CLOCKTICKS	IBOX5C0		irp	clockticks
	PCI_CLOCKTICKS	PBOX5C0		m2pcie	clockticks
	UPI_CLOCKTICKS	QBOX2C0		upi	clockticks
"
