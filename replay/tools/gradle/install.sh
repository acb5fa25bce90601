# Brings the Gradle of a version if the network has it, else takes the one that is here; then resolves what a build needs.
# $1 is the folder of our programs, $2 the address that the wrapper names or "", $3 its version.
set -e
. "$(dirname "$0")/java.sh"
home=$1
options=$(cat "$net/options")
mkdir -p "$home/classes"
javac -nowarn -d "$home/classes" "$home/src/Sources.java"
here=$(command -v gradle || true)
wanted=
unreachable=
# The wrapper's address, or GRADLE_DISTRIBUTIONS_URL's, is asked as those of the build's other dependencies are; its jar never runs.
if [ -n "$2" ]; then
	code=0
	java $options "$home/src/Fetch.java" "$2" "$home/dist" || code=$?
	if [ $code = 0 ] && [ -f "$home/dist/gradle-$3/bin/gradle" ]; then
		wanted="$home/dist/gradle-$3/bin/gradle"
		chmod +x "$wanted"
	else
		echo "Gradle $3 cannot be had; the one that is here is ${here:-none}"
		[ $code != 3 ] || unreachable=$3
	fi
fi
shift 3
for gradle in $wanted $here; do
	if GRADLE_OPTS="$options" "$gradle" "$@" $options sluiceResolve; then
		ln -s "$gradle" "$home/gradle"
		rm -rf "$GRADLE_USER_HOME/daemon" # logs
		exit 0
	fi
done
echo "no Gradle resolves what the build needs" >&2
# These words say that it is no fault of the recipe's.
[ -z "$unreachable" ] || echo "sluice: the network or the index failed: where Gradle $unreachable comes from cannot be reached" >&2
exit 91
