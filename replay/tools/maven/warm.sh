# Brings what most projects of Maven want besides their own: the plugins of its life cycle and Surefire's providers for JUnit 4 and 5.
# The arguments are those of install.sh.
set -e
here=$(dirname "$0")
dir=$(mktemp -d)
module() {
	mkdir -p "$dir/$1"
	cat >"$dir/$1/pom.xml" <<END
<project><modelVersion>4.0.0</modelVersion><parent><groupId>sluice</groupId><artifactId>warm</artifactId><version>1</version></parent>
<artifactId>$1</artifactId><dependencies><dependency><groupId>$2</groupId><artifactId>$1</artifactId><version>$3</version></dependency></dependencies></project>
END
}
cat >"$dir/pom.xml" <<END
<project><modelVersion>4.0.0</modelVersion><groupId>sluice</groupId><artifactId>warm</artifactId><version>1</version><packaging>pom</packaging>
<modules><module>junit</module><module>junit-jupiter</module></modules>
<properties><project.build.sourceEncoding>UTF-8</project.build.sourceEncoding></properties></project>
END
module junit junit 4.13.2
module junit-jupiter org.junit.jupiter 5.10.2
cd "$dir"
exec sh "$here/install.sh" "$@"
