# SPDX-License-Identifier: GPL-2.0-or-later
# Debian root file systems for tests of packages and kernels: a base, layers with more
# packages on the base, and a temporary layer on top. The base and the layers are made once
# and kept. Source this file in a separate mount namespace; set $roots, the folder of the
# roots, and $top, the folder of this repository.
# shellcheck shell=bash

# Packages of further kernels of each suite; linux-image-amd64 is installed in every suite.
declare -A flavours=([bookworm]='' [trixie]='linux-image-rt-amd64 linux-headers-rt-amd64')

# base SUITE: make $roots/SUITE/base, with the suite's security updates and backports.
base()
{
	local mirror folder=$roots/$1
	[[ ! -e $folder/base.done ]] || return 0
	mkdir -p "$folder"
	rm -rf --one-file-system "$folder/base"
	debootstrap --variant=minbase "$1" "$folder/base" > "$roots/$1.log" 2>&1 || return
	read -r _ mirror _ < "$folder/base/etc/apt/sources.list"
	cat > "$folder/base/etc/apt/sources.list" <<-END
	deb $mirror $1 main
	deb $mirror $1-backports main
	deb $mirror-security $1-security main
	END
	# policy-rc.d keeps packages from starting daemons in the root.
	printf '#!/bin/sh\nexit 101\n' > "$folder/base/usr/sbin/policy-rc.d"
	chmod +x "$folder/base/usr/sbin/policy-rc.d"
	# dpkg need not sync to the disk, because an incomplete root is made again.
	echo force-unsafe-io > "$folder/base/etc/dpkg/dpkg.cfg.d/unsafe-io"
	touch "$folder/base.done"
}

# mount_root ROOT SUITE UPPER LOWER...: mount a root at ROOT, which is written to folder
# UPPER. LOWER are names of layers, or folders, the topmost layer first.
mount_root()
{
	local root=$1 suite=$2 upper=$3 lower='' name
	shift 3
	for name; do
		[[ $name == /* ]] || name=$roots/$suite/$name
		lower+=:$name
	done
	mkdir -p "$root" "$upper" "$upper.work"
	mount -t overlay -o "lowerdir=${lower:1},upperdir=$upper,workdir=$upper.work" \
		overlay "$root" || return
	mount -t proc proc "$root/proc"
	mount -t sysfs -o ro sysfs "$root/sys"
	mount --rbind /dev "$root/dev"
	mount -t tmpfs tmpfs "$root/tmp"
	cp -L /etc/resolv.conf "$root/etc/resolv.conf"
}

# layer SUITE NAME LOWER KEY FUNCTION: make layer $roots/SUITE/NAME of the files that
# FUNCTION ROOT adds to the layers LOWER (names, with colons between). If the layer exists,
# make it again only if KEY or FUNCTION has changed.
layer()
{
	local folder=$roots/$1 name=$2 function=$5 root=$roots/$1/$2.root key
	local -a lower
	key="$4 $(declare -f "$function" | md5sum)"
	IFS=: read -ra lower <<< "$3"
	[[ ! -e $folder/$name.done || $(< "$folder/$name.done") != "$key" ]] || return 0
	rm -rf --one-file-system "$folder/$name" "$folder/$name.work" "$folder/$name.done"
	mount_root "$root" "$1" "$folder/$name" "${lower[@]}" || return
	suite_of_layer=$1
	{ in_root "$root" apt-get -q -y update && "$function" "$root"; } >> "$roots/$1.log" 2>&1
	local status=$?
	umount -R "$root" || umount -R -l "$root"
	((status == 0)) && echo "$key" > "$folder/$name.done"
}

# throwaway ROOT SUITE LOWER...: mount a root at ROOT, which is written to memory.
throwaway()
{
	local root=$1 suite=$2
	shift 2
	mkdir -p "$root.upper"
	mount -t tmpfs -o size=75% tmpfs "$root.upper" &&
		mount_root "$root" "$suite" "$root.upper/upper" "$@"
}

# clone ROOT: clone this repository to /src/xeon-uncore in the root.
clone()
{
	rm -rf "$1/src"
	git clone -q --no-hardlinks "file://$top" "$1/src/xeon-uncore"
}

# in_root ROOT COMMAND...: run COMMAND in the root, in the folder of the clone if it exists.
in_root()
{
	local root=$1
	shift
	# shellcheck disable=SC2016 # the inner shell expands the text
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive INITRD="${INITRD-}" \
		chroot "$root" sh -c 'cd /src/xeon-uncore 2> /dev/null; exec "$@"' - "$@" \
		< /dev/null
}

# in_root_alone ROOT COMMAND...: run COMMAND in the clone in the root, without a network.
in_root_alone()
{
	local root=$1
	shift
	# shellcheck disable=SC2016 # the inner shell expands the text
	unshare -n -- env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
		chroot "$root" sh -c 'cd /src/xeon-uncore; exec "$@"' - "$@" < /dev/null
}

# add_kernels ROOT: install every kernel of the suite, perf, and the packages that the VM
# needs.
add_kernels()
{
	local suite=$suite_of_layer more
	read -ra more <<< "${flavours[$suite]}"
	# The tests do not use initramfs images, which take minutes to make.
	export INITRD=No
	in_root "$1" apt-get -q -y install --no-install-recommends dkms kmod \
		linux-image-amd64 linux-headers-amd64 "${more[@]}" linux-perf \
		git make python3 util-linux qemu-system-x86 busybox-static cpio \
		xz-utils iproute2 cmake g++ pkgconf man-db &&
		in_root "$1" apt-get -q -y install --no-install-recommends \
			-t "$suite-backports" linux-image-amd64 linux-headers-amd64 &&
		in_root "$1" apt-get -q -y clean
}

# add_check ROOT: install the packages that make check needs.
add_check()
{
	clone "$1"
	in_root "$1" scripts/install-deps --check && in_root "$1" apt-get -q -y clean
	local status=$?
	rm -rf "$1/src"
	return "$status"
}

# check_layers SUITE: make the layers in which make check runs.
check_layers()
{
	base "$1" || { echo "no root of $1: $(tail -1 "$roots/$1.log")" >&2; return 1; }
	layer "$1" machine base "${flavours[$1]}" add_kernels ||
		{ echo "no kernels in $1: $(tail -3 "$roots/$1.log")" >&2; return 1; }
	layer "$1" check machine:base "$(md5sum < "$top/scripts/install-deps")" add_check ||
		{ echo "not all packages in $1: $(tail -3 "$roots/$1.log")" >&2; return 1; }
}

# releases_of ROOT: print the releases of the root's kernels with headers, oldest first.
releases_of()
{
	# Look inside the root, because the links to the headers are absolute.
	# shellcheck disable=SC2016 # the inner shell expands the text
	in_root "$1" sh -c 'cd /lib/modules && for release in *; do
		[ ! -e "$release/build/Makefile" ] || echo "$release"
	done' | sort -V
}
