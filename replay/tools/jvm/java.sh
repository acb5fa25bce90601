# Sets JAVA_HOME to the JDK that is no older than $SLUICE_JAVA, and nearest to it; with SLUICE_JDK=needed it ends if there is none.
best=0
newest=0
for home in "${JAVA_HOME:-/none}" /usr/lib/jvm/* /opt/java/*; do
	if [ -x "$home/bin/javac" ] && [ -r "$home/release" ]; then
		v=$(sed -n 's/^JAVA_VERSION="\(1\.\)\{0,1\}\([0-9]*\).*/\2/p' "$home/release")
		[ "${v:-0}" -gt "$newest" ] && newest=$v && newest_home=$home
		if [ "${v:-0}" -ge "${SLUICE_JAVA:-8}" ] && { [ "$best" = 0 ] || [ "$v" -lt "$best" ]; }; then
			best=$v
			best_home=$home
		fi
	fi
done
if [ "$best" = 0 ]; then
	if [ "${SLUICE_JDK:-}" = needed ] || [ "$newest" = 0 ]; then
		echo "the project is for Java ${SLUICE_JAVA:-8}; the newest JDK here is $newest" >&2
		exit 90
	fi
	best_home=$newest_home
fi
export JAVA_HOME="$best_home"
PATH="$JAVA_HOME/bin:$PATH"
net=${TMPDIR:-/tmp}/sluice-net
