# SPDX-License-Identifier: GPL-2.0-or-later
# Events of thirdparty_foreign.sh, which sources this file, on Skylake-SP, Cascade Lake-SP and
# Cooper Lake-SP: the driver's and LIKWID's.
# shellcheck shell=bash disable=SC2034,SC2154

# PMU | the catalogue's box and event, for each box type
events="
	${generation}_ubox	ubox	uclk
	${generation}_cha_0	cha	clockticks
	${generation}_imc_0	imc	act_count.rd
	${generation}_imc_1	imc	clockticks
	${generation}_m2m_0	m2m	clockticks
	${generation}_upi_0	upi	clockticks
	${generation}_m3upi_0	m3upi	clockticks
	${generation}_m2pcie_0	m2pcie	clockticks
	${generation}_iio_0	iio	clockticks
	${generation}_irp_0	irp	clockticks
	${generation}_pcu	pcu	clockticks
"
# Cooper Lake has no M3UPI here
[[ $generation != cpx ]] || events=$(grep -v m3upi <<< "$events")

# event | transactions that pass its filter | the catalogue's box and event. The event
# also counts its wave, which does not depend on filters.
tor=filter_loc=1,filter_rem=1,filter_nm=1,filter_not_nm=1
filtered="
	${generation}_cha_0/event=0x35,umask=0x31,filter_opc0=0x202,$tor/	100	cha	tor_inserts.ia
	${generation}_cha_1/event=0x34,umask=0x11,filter_state=0x1/	30	cha	llc_lookup.any
"

# Transactions of a package
transactions="
	box=cha_0 event=0x35 umask=0x31 opc=0x202 count=100
	box=cha_0 event=0x35 umask=0x31 opc=0x200 count=7
	box=cha_1 event=0x34 umask=0x11 state=0x1 count=30
	box=cha_1 event=0x34 umask=0x11 state=0x8 count=7
"

# Box types of which a tool selects other events, with larger increments: PCM counts
# persistent memory in M2Ms.
reselected=m2m

# Events of LIKWID that leave other register values than the events above need
likwid_plain=UNCORE_CLOCK:UBOXFIX,CBOX_CLOCKTICKS:CBOX0C0,CBOX_CLOCKTICKS:CBOX1C1
likwid_plain+=,M2M_CLOCKTICKS:M2M0C0,CAS_COUNT_WR:MBOX0C0,CAS_COUNT_RD:MBOX1C1
likwid_plain+=,IBOX_CLOCKTICKS:IBOX0C0,IRP_CLOCKTICKS:IRP0C0,WBOX_CLOCKTICKS:WBOX0
likwid_filters=TOR_INSERTS_IRQ:CBOX0C0:OPCODE=0x200,LLC_LOOKUP_ANY:CBOX1C0:STATE=0x8
