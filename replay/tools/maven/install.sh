# Makes Maven bring all that compiling and testing need: it builds sources that do nothing. $1 is the local repository; then the command.
# What the first run does not reach, one without the plugins that only help may: it sees the modules that the first did not finish.
# Between them, versions in the making that are not to be had any more become their releases (SLUICE_SNAPSHOTS).
set -e
. "$(dirname "$0")/java.sh"
[ -e "$net/settings.xml" ] || java "$(dirname "$0")/Network.java" "$net" # what tells about the network is in no environment
repo=$1
shift
# What tells from where a file came ties the repository to this network's mirrors; what was not found once may be there the next time.
forget() { find "$repo" \( -name _remote.repositories -o -name "*.lastUpdated" -o -name resolver-status.properties \) -delete; }
trap forget EXIT
export MAVEN_OPTS="$(cat "$net/options")"

run() { "$@" -s "$net/settings.xml" -Dmaven.repo.local="$repo" test; }

# pom writes a pom of a group, an artifact and a version, with some words more.
pom() {
	dir=$repo/$(printf %s "$1" | tr . /)/$2/$3
	mkdir -p "$dir"
	echo "<project><modelVersion>4.0.0</modelVersion><groupId>$1</groupId><artifactId>$2</artifactId><version>$3</version>$4</project>" >"$dir/$2-$3.pom"
}

# released writes for each such version a pom that leads to the release: a parent inherits from it, by a third one, since no pom may have the
# name of its own parent; a dependency is it under another name.
released() {
	[ -n "${SLUICE_SNAPSHOTS:-}" ] || return 1
	forget
	printf '%s\n' "$SLUICE_SNAPSHOTS" | while IFS=' :' read -r kind group artifact version; do
		release=${version%-SNAPSHOT}
		if ls "$repo/$(printf %s "$group" | tr . /)/$artifact/$version" 2>/dev/null | grep -q '\.pom$'; then continue; fi
		echo "[sluice] $group:$artifact:$version cannot be had: its release is taken"
		if [ "$kind" = parent ]; then
			third="<artifactId>$artifact</artifactId><version>$release</version></parent><packaging>pom</packaging>"
			pom "$group" "$artifact" "$version" "<parent><groupId>sluice.$group</groupId>$third"
			pom "sluice.$group" "$artifact" "$release" "<parent><groupId>$group</groupId>$third"
		else
			pom "$group" "$artifact" "$version" "<distributionManagement><relocation><version>$release</version></relocation></distributionManagement>"
		fi
	done
}

run "$@" || { released && run "$@"; } || run "$@" -Dsluice.strip=true
