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
set -e
apt-get -o Acquire::Retries=3 -qq update
known=
for p in $missing; do
	if apt-cache show "$p" >/dev/null 2>&1; then known="$known $p"; else echo "Debian has no package $p"; fi
done
[ -z "$known" ] || apt-get -o Acquire::Retries=3 -qq -y --no-install-recommends install $known
