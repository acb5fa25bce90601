# $1 is a folder of the environment; then names and texts of programs of ours. What tells about the network goes to a folder that no environment keeps.
set -e
dir=$1
shift
mkdir -p "$dir/src"
while [ $# -gt 1 ]; do
	printf '%s' "$2" >"$dir/src/$1"
	shift 2
done
SLUICE_JDK=needed
. "$dir/src/java.sh"
java "$dir/src/Network.java" "$net"
echo "JDK: $JAVA_HOME"
