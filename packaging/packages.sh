# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Lists the packages for the build, the tests and the virtual machines, and installs missing packages.
#
# The scripts quickstart and check source this file. Package names are for Debian 12, 13 and sid and Ubuntu 24.04;
# packages_names handles the differences between Debian and Ubuntu.

# shellcheck disable=SC2034 # scripts that source this file use the lists
BUILD_PACKAGES=(
	meson ninja-build gcc libc6-dev pkg-config
	clang llvm bpftool
	libbpf-dev libelf-dev zlib1g-dev libjansson-dev libncurses-dev
	libcap-dev libseccomp-dev
	scdoc
)

# g++ tests that the installed header works in C++; libclang-rt-dev has the sanitizers and libFuzzer for
# the distribution's default clang.
# shellcheck disable=SC2034
TEST_PACKAGES=(
	libcmocka-dev libclang-rt-dev g++ python3 locales patch zsh fish
	iproute2 procps util-linux sysstat linux-perf
	tmux prometheus prometheus-node-exporter victoria-metrics nginx-light haproxy
	python3-prometheus-client python3-yaml python3-jsonschema
	man-db rpm makepkg abigail-tools
)

# Packages for test suites that boot virtual machines. Together they have several hundred megabytes.
# shellcheck disable=SC2034
VM_PACKAGES=(
	qemu-system-arm qemu-system-x86 device-tree-compiler xz-utils kmod make
	debian-archive-keyring
)

# Container runtimes for the suite containers. Its container image contains only busybox. golang-go builds examples/go.
# shellcheck disable=SC2034
CONTAINER_PACKAGES=(containerd podman runc busybox-static curl golang-go)

# Packages to build a kubelet, to make networks for the kubelet's pods, and to link a static libelf.
# shellcheck disable=SC2034
KUBELET_PACKAGES=(containernetworking-plugins libzstd-dev debian-archive-keyring)

# Cross compiler between arm64 and x86-64. The suite vm-all also needs packages to build a kernel, and the
# suite foreign needs an emulator.
case $(uname -m) in
aarch64) CROSS_PACKAGES=(gcc-x86-64-linux-gnu libc6-dev-amd64-cross) ;;
*) CROSS_PACKAGES=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross) ;;
esac
# shellcheck disable=SC2034
VM_ALL_PACKAGES=("${CROSS_PACKAGES[@]}" flex bison bc pahole)
# shellcheck disable=SC2034
FOREIGN_PACKAGES=("${CROSS_PACKAGES[@]}" qemu-user-static debian-archive-keyring)

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# Prints debian or ubuntu if the package names of this file are valid on this system, else nothing.
packages_distribution() {
	local os_release=${OS_RELEASE:-/etc/os-release}

	[ -r "$os_release" ] || return 0
	(
		# shellcheck disable=SC1090
		. "$os_release"
		case "${ID:-}-${VERSION_ID:-}" in
		# Debian sid has no VERSION_ID in os-release.
		debian-12 | debian-13 | debian-) echo debian ;;
		ubuntu-24.04) echo ubuntu ;;
		esac
	)
}

# Prints the missing commands of the suite web, which is skipped without these commands. Checks commands, not packages,
# because npm is often not from the distribution, and a headless test cannot use Ubuntu's chromium, a snap.
packages_web() {
	[ "$(packages_distribution)" = debian ] || return 0
	command -v chromium >/dev/null || echo chromium
	command -v npm >/dev/null || echo npm
}

# packages_names DISTRIBUTION PACKAGE...: prints the names of the packages in the distribution.
packages_names() {
	local distribution=$1 package
	shift

	for package; do
		case $distribution-$package in
		# On Ubuntu, linux-tools-common has wrappers for bpftool and perf, which run the programs of
		# linux-tools-generic.
		ubuntu-bpftool | ubuntu-linux-perf) printf '%s\n' linux-tools-common linux-tools-generic ;;
		*) printf '%s\n' "$package" ;;
		esac
	done | sort -u
}

# packages_missing PACKAGE...: prints the packages that are not installed.
packages_missing() {
	local installed

	# dpkg-query fails if a name is unknown. A package with an unknown name is missing.
	# shellcheck disable=SC2016
	installed=$(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
		sed -n 's/^installed //p' | sort -u) || true
	printf '%s\n' "$@" | sort -u | comm -23 - <(printf '%s\n' "$installed")
}

packages_as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	elif command -v sudo >/dev/null; then
		sudo "$@"
	else
		die "run as root, or install sudo; needs root for: $*"
	fi
}

# packages_progress WHAT: shows the progress of apt or ninja in per cent. Reads the status lines of apt
# (dlstatus:1:12.3:text, pmstatus:name:45.6:text) or ninja ([3/14] text). On a terminal one
# line is updated. Without a terminal each phase prints two lines.
packages_progress() {
	local kind percent phase total shown=none half

	while IFS=: read -r kind _ percent _; do
		case $kind in
		dlstatus) phase='downloading, ' ;;
		pmstatus) phase='installing, ' ;;
		'['[0-9]*/[0-9]*']'*)
			phase=
			total=${kind%%]*}
			percent=${kind#[}
			percent=$((${percent%%/*} * 100 / ${total#*/}))
			;;
		*) continue ;;
		esac
		percent=${percent%%[!0-9]*}
		[ -n "$percent" ] || continue
		if [ -t 1 ]; then
			printf '\r\033[K%s: %s%s %%' "$1" "$phase" "$percent"
		elif [ "$phase" != "$shown" ] || { [ "$half" = 0 ] && [ "$percent" -ge 50 ]; }; then
			printf '%s: %s%s %%\n' "$1" "$phase" "$percent"
			shown=$phase
			half=$((percent >= 50))
		fi
	done
	[ ! -t 1 ] || printf '\r\033[K'
}

# packages_apt WHAT ARGUMENT...: runs apt-get and shows its progress.
packages_apt() (
	set -o pipefail
	what=$1
	shift
	# Programs that apt starts need standard output, but apt closes the descriptor of the status lines for them.
	# Therefore the status lines use descriptor 3. sudo passes on only descriptors 0 to 2, so a shell opens it.
	# shellcheck disable=SC2016 # expanded by that shell
	packages_as_root env DEBIAN_FRONTEND=noninteractive sh -c 'exec "$@" 3>&1 >/dev/null' sh \
		apt-get -q -y -o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0 -o APT::Status-Fd=3 "$@" |
		packages_progress "$what"
)

# packages_install PACKAGE...: installs and lists the missing packages, or exits.
packages_install() {
	local distribution names missing

	distribution=$(packages_distribution)
	[ -n "$distribution" ] || packages_refuse "$@"
	mapfile -t names < <(packages_names "$distribution" "$@")
	mapfile -t missing < <(packages_missing "${names[@]}")
	[ ${#missing[@]} -gt 0 ] || return 0

	if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
		die "packages are missing and there is no sudo; as root: apt-get install ${missing[*]}"
	fi
	echo "installing ${#missing[@]} packages: ${missing[*]}"
	# Continue after a failed update. If the package lists are too old, the installation fails with a message.
	packages_apt "package lists" update ||
		echo "${0##*/}: apt-get update failed, trying with the existing package lists" >&2
	packages_apt packages install --no-install-recommends "${missing[@]}" ||
		die "could not install: ${missing[*]}"
}

packages_refuse() {
	cat >&2 <<-END
	${0##*/}: this is neither Debian 12, 13 or sid nor Ubuntu 24.04, so the package names are unknown.
	Install these (Debian's names; versions: meson 1.0, clang 14, libbpf 1.1, or newer):
	  $*
	and then build with
	  meson setup build -Dtests=false && ninja -C build && build/subtick
	END
	exit 1
}

# Prints the path of a bpftool that works. Ubuntu's wrapper of bpftool fails if the running kernel is not a kernel
# package of Ubuntu, as in containers. Any version of bpftool works, because all versions generate the same
# skeletons.
packages_bpftool() {
	local tool

	for tool in bpftool /usr/sbin/bpftool /usr/lib/linux-tools/*/bpftool /usr/lib/linux-tools-*/bpftool; do
		if "$tool" version >/dev/null 2>&1; then
			echo "$tool"
			return 0
		fi
	done
	die "no bpftool works, although its package is installed"
}
