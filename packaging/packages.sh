# SPDX-License-Identifier: LGPL-2.1-or-later
# shellcheck shell=bash
# Which packages the build, the tests and the virtual machines need, and how to install the missing ones.
#
# Sourced by quickstart and check. The names hold for Debian 12, Debian 13 and Ubuntu 24.04; where
# they differ, packages_names says so. dpkg-query answers for all of them in one call, so a machine
# that has everything pays some hundredths of a second.

# shellcheck disable=SC2034 # the lists are for those who source this file
BUILD_PACKAGES=(
	meson ninja-build gcc libc6-dev pkg-config
	clang llvm bpftool
	libbpf-dev libelf-dev zlib1g-dev libjansson-dev libncurses-dev
	libevent-dev libcap-dev libseccomp-dev
	scdoc
)

# g++ proves that the installed header is C++ too; libclang-rt-dev holds the sanitizers and libFuzzer
# for whichever clang the distribution prefers.
# shellcheck disable=SC2034
TEST_PACKAGES=(
	libcmocka-dev libclang-rt-dev g++ python3 locales patch
	iproute2 procps util-linux sysstat linux-perf rt-tests
	tmux prometheus prometheus-node-exporter python3-prometheus-client python3-yaml
)

# Only the suites vm and vm-all ask for these; they weigh some hundred megabytes.
# shellcheck disable=SC2034
VM_PACKAGES=(
	qemu-system-arm qemu-system-x86 device-tree-compiler xz-utils kmod make
	debian-archive-keyring
)

# Only vm-all: user space and modules for the other architecture, and a kernel built for the tests.
# shellcheck disable=SC2034
case $(uname -m) in
aarch64) VM_ALL_PACKAGES=(gcc-x86-64-linux-gnu libc6-dev-amd64-cross flex bison bc pahole) ;;
*) VM_ALL_PACKAGES=(gcc-aarch64-linux-gnu libc6-dev-arm64-cross flex bison bc pahole) ;;
esac

die() {
	printf '%s: %s\n' "${0##*/}" "$*" >&2
	exit 1
}

# Prints debian or ubuntu if the package names above are known to hold here, nothing otherwise.
packages_distribution() {
	local os_release=${OS_RELEASE:-/etc/os-release}

	[ -r "$os_release" ] || return 0
	(
		# shellcheck disable=SC1090
		. "$os_release"
		case "${ID:-}-${VERSION_ID:-}" in
		debian-12 | debian-13) echo debian ;;
		ubuntu-24.04) echo ubuntu ;;
		esac
	)
}

# Prints what the suite web needs and lacks. By command, not by package: npm often comes from elsewhere,
# and Ubuntu's chromium is a snap that a headless test cannot drive. Without them the suite is skipped.
packages_web() {
	[ "$(packages_distribution)" = debian ] || return 0
	command -v chromium >/dev/null || echo chromium
	command -v npm >/dev/null || echo npm
}

# packages_names DISTRIBUTION PACKAGE...: the same packages as that distribution calls them.
packages_names() {
	local distribution=$1 package
	shift

	for package; do
		case $distribution-$package in
		# A wrapper in -common runs the tool that -generic brings; perf comes the same way.
		ubuntu-bpftool | ubuntu-linux-perf) printf '%s\n' linux-tools-common linux-tools-generic ;;
		*) printf '%s\n' "$package" ;;
		esac
	done | sort -u
}

# packages_missing PACKAGE...: those that are not installed.
packages_missing() {
	local installed

	# Fails as soon as one of the names is unknown to dpkg, which is the case we are here for.
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
		die "needs root, and there is no sudo to become it: $*"
	fi
}

# packages_install PACKAGE...: installs those that are missing and says which, or stops.
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
	echo "installing: ${missing[*]}"
	# Stale lists matter only if the install fails, and then it says so itself.
	packages_as_root apt-get -q update >/dev/null ||
		echo "${0##*/}: apt-get update failed, trying with the package lists at hand" >&2
	packages_as_root env DEBIAN_FRONTEND=noninteractive apt-get -q -y \
		-o DPkg::Lock::Timeout=600 -o Dpkg::Use-Pty=0 \
		install --no-install-recommends "${missing[@]}" >/dev/null ||
		die "could not install: ${missing[*]}"
}

packages_refuse() {
	cat >&2 <<-END
	${0##*/}: this is neither Debian 12 or 13 nor Ubuntu 24.04, so package names are not known here.
	Install these (Debian's names; versions: meson 1.0, clang 14, libbpf 1.1, or newer):
	  $*
	and then build with
	  meson setup build && ninja -C build && build/subtick
	END
	exit 1
}

# Prints a bpftool that runs. Ubuntu's wrapper refuses when the running kernel is not the packaged
# one (containers, custom kernels), though any version generates the same skeletons.
packages_bpftool() {
	local tool

	for tool in bpftool /usr/sbin/bpftool /usr/lib/linux-tools/*/bpftool /usr/lib/linux-tools-*/bpftool; do
		if "$tool" version >/dev/null 2>&1; then
			echo "$tool"
			return 0
		fi
	done
	die "no bpftool runs here, though its package is installed"
}
