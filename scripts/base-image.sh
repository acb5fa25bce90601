#!/bin/sh
# Builds sluice/base:trixie, the image that recipes for Go and Python start from, out of Debian's own packages.
#
#   sudo scripts/base-image.sh
#
# It does nothing when the engine already has the image that this very script makes. It needs root (debootstrap makes
# device nodes), a Docker engine, and a Debian mirror:
#
#   SLUICE_DEBIAN_MIRROR  address of a Debian mirror; default: the one this host's apt uses, else debootstrap's own
#   SLUICE_BASE_IMAGE     name of the image; default sluice/base:trixie
#   http_proxy            as usual
set -eu

suite=trixie
image=${SLUICE_BASE_IMAGE:-sluice/base:$suite}
# What installs and tests of Go and Python projects need. netbase and tzdata: tests look up ports and time zones.
packages=ca-certificates,git,gcc,g++,libc6-dev,make,patch,pkg-config,golang-go,python3,python3-venv,python3-pip,python3-dev,netbase,procps,tzdata

say() { printf 'base-image: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

digest=$(sha256sum <"$0" | cut -d' ' -f1)
docker version >/dev/null 2>&1 || die "no docker engine answers"
have=$(docker image inspect --format '{{index .Config.Labels "sluice.script"}}' "$image" 2>/dev/null || true)
if [ "$have" = "$digest" ]; then
	say "$image is up to date"
	exit 0
fi

[ "$(id -u)" = 0 ] || die "must be root"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
if ! command -v debootstrap >/dev/null || ! [ -e "$keyring" ]; then
	command -v apt-get >/dev/null || die "needs debootstrap and debian-archive-keyring"
	say "installing debootstrap"
	apt-get update -qq && apt-get install -qq -y --no-install-recommends debootstrap debian-archive-keyring >/dev/null
fi

# The mirror comes from what apt has configured, so that no address is written here.
mirror=${SLUICE_DEBIAN_MIRROR:-}
if [ -z "$mirror" ] && command -v apt-get >/dev/null; then
	# shellcheck disable=SC2016 # the format is apt's, not the shell's
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 2>/dev/null | head -n 1)
fi

work=$(mktemp -d "${TMPDIR:-/tmp}/sluice-base.XXXXXX")
trap 'rm -rf --one-file-system "$work"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
chmod 755 "$work" # the image's root folder takes it over

say "installing Debian $suite from ${mirror:-the default mirror}"
# shellcheck disable=SC2086 # an empty mirror is no argument at all
if ! debootstrap --variant=minbase --keyring="$keyring" --include="$packages" "$suite" "$work" $mirror >"$work.log" 2>&1; then
	tail -n 20 "$work.log" >&2
	rm -f "$work.log"
	die "debootstrap failed"
fi
rm -f "$work.log"

# Ours to remove: what no install or test reads. Licences in usr/share/doc stay.
cd "$work"
rm -rf var/cache/apt/*.bin var/cache/apt/archives/*.deb var/lib/apt/lists/* var/log/* var/cache/debconf/*-old debootstrap
rm -rf usr/share/man/* usr/share/lintian usr/share/doc-base usr/share/info/* usr/share/locale/*
find usr/share/doc -type f ! -name copyright -delete
rm -f etc/hostname etc/resolv.conf etc/machine-id
: >etc/machine-id
cd /

say "importing $image"
pack() {
	tar -C "$work" --numeric-owner --one-file-system --exclude='./dev/*' --exclude='./proc/*' --exclude='./sys/*' \
		--exclude='./run/*' --exclude='./tmp/*' -cf - . || : >"$work.failed"
}
# Named only when complete: a pipe hides the failure of its first half.
id=$(pack | docker import \
	--change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' \
	--change 'ENV LANG=C.UTF-8' \
	--change 'CMD ["/bin/sh"]' \
	--change "LABEL sluice.script=$digest" -)
if [ -e "$work.failed" ]; then
	rm -f "$work.failed"
	docker rmi "$id" >/dev/null
	die "packing the image failed"
fi
docker tag "$id" "$image"
docker image inspect --format '{{.RepoTags}} {{.Id}} {{.Size}} bytes' "$image" >&2
