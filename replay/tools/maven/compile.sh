# Compiles our part of Maven with the JDK and against the Maven that are here. $1 is the folder of our programs.
set -e
. "$(dirname "$0")/java.sh"
lib=$(mvn -v | sed -n 's/^Maven home: //p')/lib
mkdir -p "$1/classes/META-INF/plexus"
cp "$1/src/components.xml" "$1/classes/META-INF/plexus/"
javac -nowarn -d "$1/classes" -cp "$lib/*" "$1/src/MavenTests.java" "$1/src/MavenEvents.java" "$1/src/Log.java" "$1/src/Sources.java"
jar cf "$1/maven.jar" -C "$1/classes" .
