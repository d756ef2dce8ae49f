# SPDX-License-Identifier: GPL-2.0-or-later
# Debian roots, made once: a base, layers with more packages on it, and a temporary
# layer on top. Source this in a separate mount namespace, with $roots and $top set.
# shellcheck shell=bash

# The kernels of each suite, beside the one of linux-image-amd64.
declare -A flavours=([bookworm]='' [trixie]='linux-image-rt-amd64 linux-headers-rt-amd64')

# base SUITE: $roots/SUITE/base, with the suite's updates and backports.
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
	# No daemon starts in a root.
	printf '#!/bin/sh\nexit 101\n' > "$folder/base/usr/sbin/policy-rc.d"
	chmod +x "$folder/base/usr/sbin/policy-rc.d"
	# An incomplete root is made again, so it needs no sync to the disk.
	echo force-unsafe-io > "$folder/base/etc/dpkg/dpkg.cfg.d/unsafe-io"
	touch "$folder/base.done"
}

# mount_root ROOT SUITE UPPER LOWER...: names of layers, or folders, the topmost first.
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

# layer SUITE NAME LOWER KEY FUNCTION: $roots/SUITE/NAME is what FUNCTION ROOT adds to
# LOWER (names, with colons between). It is made again when KEY has changed, or FUNCTION.
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

# throwaway ROOT SUITE LOWER...: mounted with a writable layer, in memory.
throwaway()
{
	local root=$1 suite=$2
	shift 2
	mkdir -p "$root.upper"
	mount -t tmpfs -o size=75% tmpfs "$root.upper" &&
		mount_root "$root" "$suite" "$root.upper/upper" "$@"
}

# clone ROOT: a clean clone of this repository, as /src/xeon-uncore.
clone()
{
	rm -rf "$1/src"
	git clone -q --no-hardlinks "file://$top" "$1/src/xeon-uncore"
}

# in_root ROOT COMMAND...: run it there, in the clone if there is one.
in_root()
{
	local root=$1
	shift
	# shellcheck disable=SC2016 # the inner shell's
	env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
		DEBIAN_FRONTEND=noninteractive INITRD="${INITRD-}" \
		chroot "$root" sh -c 'cd /src/xeon-uncore 2> /dev/null; exec "$@"' - "$@" \
		< /dev/null
}

# in_root_alone ROOT COMMAND...: the same without a network.
in_root_alone()
{
	local root=$1
	shift
	# shellcheck disable=SC2016 # the inner shell's
	unshare -n -- env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LANG=C.UTF-8 \
		chroot "$root" sh -c 'cd /src/xeon-uncore; exec "$@"' - "$@" < /dev/null
}

# add_kernels ROOT: every kernel of the suite, and the packages of the VM and perf.
add_kernels()
{
	local suite=$suite_of_layer more
	read -ra more <<< "${flavours[$suite]}"
	# Initramfs images are not what this tests, and take minutes.
	export INITRD=No
	in_root "$1" apt-get -q -y install --no-install-recommends dkms kmod \
		linux-image-amd64 linux-headers-amd64 "${more[@]}" linux-perf \
		git make python3 util-linux qemu-system-x86 busybox-static cpio \
		xz-utils iproute2 cmake g++ pkgconf man-db &&
		in_root "$1" apt-get -q -y install --no-install-recommends \
			-t "$suite-backports" linux-image-amd64 linux-headers-amd64 &&
		in_root "$1" apt-get -q -y clean
}

# add_check ROOT: the packages that make check installs.
add_check()
{
	clone "$1"
	in_root "$1" scripts/install-deps --check && in_root "$1" apt-get -q -y clean
	local status=$?
	rm -rf "$1/src"
	return "$status"
}

# check_layers SUITE: names of the layers in which make check runs.
check_layers()
{
	base "$1" || { echo "no root of $1: $(tail -1 "$roots/$1.log")" >&2; return 1; }
	layer "$1" machine base "${flavours[$1]}" add_kernels ||
		{ echo "no kernels in $1: $(tail -3 "$roots/$1.log")" >&2; return 1; }
	layer "$1" check machine:base "$(md5sum < "$top/scripts/install-deps")" add_check ||
		{ echo "not all packages in $1: $(tail -3 "$roots/$1.log")" >&2; return 1; }
}

# releases_of ROOT: kernels with headers, the oldest first.
releases_of()
{
	# Seen from there: the links to the headers are absolute.
	# shellcheck disable=SC2016 # the inner shell's
	in_root "$1" sh -c 'cd /lib/modules && for release in *; do
		[ ! -e "$release/build/Makefile" ] || echo "$release"
	done' | sort -V
}
