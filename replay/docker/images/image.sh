#!/bin/sh
# Makes one image of a toolchain out of Debian's own packages. sluice images build runs it and says with what:
#
#   IMAGE          name of the image
#   FROM           image that it is a layer on; empty: a new system, which needs root (debootstrap makes device nodes)
#   PACKAGES       what to install, separated by commas
#   PROGRAMS       packages of which only the program of their name is taken, separated by commas; for layers
#   LABELS         labels of the image, separated by spaces
#   SUITE          Debian's release
#   OWNER          label of the container that it works in, so that one that was left is found
#   DEBIAN_MIRROR  address of a Debian mirror; empty: the one this host's apt uses, else debootstrap's own
#   http_proxy     as usual, and https_proxy, no_proxy
#
# Nothing of them but the labels is in the image.
set -eu

say() { printf '%s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

# retry tries three times: mirrors fail now and then.
retry() {
	for pause in 5 15 0; do
		"$@" && return 0
		[ "$pause" = 0 ] || say "$IMAGE: once more in $pause s"
		sleep "$pause"
	done
	return 1
}

work=$(mktemp -d "${TMPDIR:-/tmp}/sluice-image.XXXXXX")
box=
cleanup() {
	[ -z "$box" ] || docker rm -f "$box" >/dev/null 2>&1 || :
	rm -rf --one-file-system "$work"
}
trap cleanup EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# The mirror comes from what apt has configured, so that no address is written here.
mirror=${DEBIAN_MIRROR:-}
if [ -z "$mirror" ] && command -v apt-get >/dev/null; then
	# shellcheck disable=SC2016 # the format is apt's, not the shell's
	mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Origin: Debian' 2>/dev/null | head -n 1)
fi

need_debootstrap() {
	[ "$(id -u)" = 0 ] || die "$IMAGE: a new system is made by root only"
	keyring=/usr/share/keyrings/debian-archive-keyring.gpg
	command -v debootstrap >/dev/null && [ -e "$keyring" ] && return 0
	command -v apt-get >/dev/null || die "$IMAGE: needs debootstrap and debian-archive-keyring"
	say "installing debootstrap"
	retry apt-get update -qq && retry apt-get install -qq -y --no-install-recommends debootstrap debian-archive-keyring >/dev/null
}

bootstrap() {
	rm -rf --one-file-system "$work/root"
	mkdir -m 755 "$work/root" # the image's root folder takes the mode over
	# shellcheck disable=SC2086 # an empty mirror is no argument at all
	debootstrap --variant=minbase --keyring="$keyring" --include="$PACKAGES" "$SUITE" "$work/root" $mirror >"$work/log" 2>&1 && return 0
	tail -n 20 "$work/log" >&2
	return 1
}

# Ours to remove: what no install or test reads. Licences in usr/share/doc stay.
sweep='rm -rf var/cache/apt/*.bin var/cache/apt/archives/*.deb var/lib/apt/lists/* var/log/* var/cache/debconf/*-old debootstrap
rm -rf usr/share/man/* usr/share/lintian usr/share/doc-base usr/share/info/* usr/share/locale/*
find usr/share/doc -type f ! -name copyright -delete'

pack() {
	tar -C "$work/root" --numeric-owner --one-file-system --exclude='./dev/*' --exclude='./proc/*' --exclude='./sys/*' \
		--exclude='./run/*' --exclude='./tmp/*' -cf - . || : >"$work/failed"
}

new_system() {
	need_debootstrap
	say "$IMAGE: installing Debian $SUITE from ${mirror:-the default mirror}"
	retry bootstrap || die "$IMAGE: debootstrap failed"
	(
		cd "$work/root"
		eval "$sweep"
		rm -f etc/hostname etc/resolv.conf etc/machine-id
		: >etc/machine-id
		# Whoever installs packages later does it from where everybody can: a mirror is this host's affair.
		echo "deb $(sed -n 's/^DEF_MIRROR="\(.*\)"/\1/p' "$(command -v debootstrap)") $SUITE main" >etc/apt/sources.list
	)
	say "$IMAGE: importing"
	set -- --change 'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' --change 'ENV LANG=C.UTF-8' --change 'CMD ["/bin/sh"]'
	for l in $LABELS; do set -- "$@" --change "LABEL $l"; done
	id=$(pack | docker import "$@" -)
	# Named only when complete: a pipe hides the failure of its first half.
	if [ -e "$work/failed" ]; then
		docker rmi "$id" >/dev/null
		die "$IMAGE: packing failed"
	fi
	docker tag "$id" "$IMAGE"
}

# The variables of a command in a container are not in what is made of it, those of the container would be.
in_box() {
	docker exec -e http_proxy="${http_proxy:-}" -e https_proxy="${https_proxy:-}" -e no_proxy="${no_proxy:-}" \
		-e DEBIAN_FRONTEND=noninteractive "$box" "$@"
}

# take_programs takes a program out of a package that others conflict with. Its arguments are options of apt.
take_programs() {
	for program in $(printf %s "$PROGRAMS" | tr , ' '); do
		# shellcheck disable=SC2016 # the variables are those of the shell in the container
		in_box sh -ec 'program=$1; shift; cd "$(mktemp -d)"; apt-get "$@" -qq download "$program"; dpkg-deb -x "$program"_*.deb .
			install "usr/bin/$program" /usr/local/bin/' sh "$program" "$@" >>"$work/log" 2>&1 || return 1
	done
}

install_packages() {
	set -- -o Acquire::Retries=3
	[ -z "$mirror" ] || set -- "$@" -o Dir::Etc::SourceList=/run/sluice.list -o Dir::Etc::SourceParts=-
	in_box apt-get "$@" -qq update >"$work/log" 2>&1 &&
		in_box apt-get "$@" -qq -y --no-install-recommends install $(printf %s "$PACKAGES" | tr , ' ') >>"$work/log" 2>&1 &&
		take_programs "$@" && return 0
	tail -n 20 "$work/log" >&2
	return 1
}

# The container is on the engine's own network, as debootstrap is: a proxy may be a neighbour.
layer() {
	say "$IMAGE: installing on $FROM"
	box=$(docker run -d --network host --name "sluice-$(basename "$work" | tr -cd '[:alnum:]')" \
		--label sluice=1 --label "sluice.owner=$OWNER" --entrypoint '' "$FROM" sleep 3600)
	[ -z "$mirror" ] || echo "deb $mirror $SUITE main" | docker exec -i "$box" sh -c 'cat >/run/sluice.list'
	in_box mkdir -p /usr/share/man/man1 # Java's packages put links there, and fail if it is gone
	retry install_packages || die "$IMAGE: apt-get failed"
	in_box sh -ec "cd /; $sweep; rm -f run/sluice.list; find tmp var/tmp -mindepth 1 -delete"
	set -- --change 'CMD ["/bin/sh"]'
	for l in $LABELS; do set -- "$@" --change "LABEL $l"; done
	docker stop -t 0 "$box" >/dev/null
	docker commit "$@" "$box" "$IMAGE" >/dev/null
}

if [ -z "$FROM" ]; then new_system; else layer; fi
