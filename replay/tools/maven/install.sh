# Makes Maven bring all that compiling and testing need: it builds sources that do nothing. $1 is the local repository; then the command.
# A second run without the plugins that only help sees the modules that the first did not finish.
set -e
. "$(dirname "$0")/java.sh"
[ -e "$net/settings.xml" ] || java "$(dirname "$0")/Network.java" "$net" # what tells about the network is in no environment
repo=$1
shift
# What tells from where a file came ties the repository to this network's mirrors; what was not found once may be there the next time.
trap 'find "$repo" \( -name _remote.repositories -o -name "*.lastUpdated" -o -name resolver-status.properties \) -delete' EXIT
export MAVEN_OPTS="$(cat "$net/options")"
"$@" -s "$net/settings.xml" -Dmaven.repo.local="$repo" test || "$@" -s "$net/settings.xml" -Dmaven.repo.local="$repo" -Dsluice.strip=true test
