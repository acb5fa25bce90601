# Installs those of its arguments that Debian's release has: who names packages may mean another one. What is there and does not install
# fails the step. That each file is on the disk at once matters to no environment that is not there yet. DEBIAN_MIRROR is the
# sandbox's, if it has one.
set -eu
missing=
for p; do
	[ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing="$missing $p"
done
[ -n "$missing" ] || exit 0
# Only an environment of its own is installed into: its variables say so, and its system can be written to.
if [ "${DEBIAN_FRONTEND:-}" != noninteractive ] || [ "$(id -u)" != 0 ] || ! [ -w /var/lib/dpkg ]; then
	echo "not installed, and it cannot be here:$missing"
	exit 0
fi
tmp=${TMPDIR:-/tmp}
mirror=
if [ -n "${DEBIAN_MIRROR:-}" ]; then
	. /etc/os-release
	echo "deb $DEBIAN_MIRROR $VERSION_CODENAME main" >"$tmp/sluice.list"
	mirror="-o Dir::Etc::SourceList=$tmp/sluice.list -o Dir::Etc::SourceParts=-"
fi
apt() { apt-get -q -o Acquire::Retries=3 -o Acquire::Languages=none -o Dpkg::Use-Pty=0 -o Dpkg::Options::=--force-unsafe-io $mirror "$@"; }
plan() { apt install -s --no-install-recommends "$@" >/dev/null 2>&1; }
apt update
apt-cache $mirror pkgnames >"$tmp/sluice.names"
known=
for p in $missing; do
	if grep -qxF -e "$p" "$tmp/sluice.names"; then known="$known $p"; else echo "no package here: $p"; fi
done
if [ -n "$known" ] && ! plan $known; then
	list=$known known=
	for p in $list; do
		if plan $known "$p"; then known="$known $p"; else echo "no package here: $p"; fi
	done
fi
[ -z "$known" ] || apt install -y --no-install-recommends $known
