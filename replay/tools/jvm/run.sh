# Becomes the command that it is given, with the right JDK.
. "$(dirname "$0")/java.sh"
exec "$@"
