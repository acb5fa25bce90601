package debian

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestMissing: words of real programs for what is not there, and words that are none.
func TestMissing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ output, want string }{
		{"x.c:3:10: fatal error: lz4.h: No such file or directory\n    3 | #include <lz4.h>", "liblz4-dev"},
		{"x.c:3:10: fatal error: 'openssl/evp.h' file not found", "libssl-dev"},
		{"x.c:3:19: error: acl/libacl.h: No such file or directory", "libacl1-dev"},
		{"/usr/bin/ld: cannot find -lpq: No such file or directory", "libpq-dev"},
		{"ImportError: libmagic.so.1: cannot open shared object file: No such file or directory", "libmagic1 libmagic1t64"},
		{"Package libxml-2.0 was not found in the pkg-config search path.", "libxml2-dev"},
		{"Package 'libffi', required by 'gobject-2.0', not found", "libffi-dev"},
		{"No package 'zlib' found", "zlib1g-dev"},
		{"Could not find crypto lib/headers, please set OPENSSL_PREFIX or ensure libcrypto.pc is in PKG_CONFIG_PATH.", "libssl-dev"},
		{"sh: 1: xml2-config: not found", "libxml2-dev"},
		{"/bin/sh: line 1: mysql_config: command not found", "default-libmysqlclient-dev"},
		{"Error: pg_config executable not found.", "libpq-dev"},
		{"Probing for required dependency:java...\n    \tjava not found.\n", "default-jre-headless"},
		{`exec: "iptables": executable file not found in $PATH`, "iptables"},
		{"FileNotFoundError: [Errno 2] No such file or directory: 'gpg'", "gnupg"},
		{`java.io.IOException: Cannot run program "minizinc": Exec failed, error: 2 (No such file or directory)`, "minizinc"},
		{"unable to execute 'gcc': No such file or directory", "gcc"},
		{"fatal error: zlib.h: No such file or directory\nfatal error: bzlib.h: No such file", "libbz2-dev zlib1g-dev"},
		{"fatal error: mine.h: No such file or directory", ""},
		{"the user was not found; file not found: java", ""},
		{"sh: 1: evil; rm -rf: not found\nNo package '../zlib' found", ""},
		{"javascript not found", ""},
		{"", ""},
	} {
		if d := cmp.Diff(c.want, strings.Join(Missing(c.output), " ")); d != "" {
			t.Errorf("%q (-want +got):\n%s", c.output, d)
		}
	}
}

// FuzzMissing: whatever is printed, only packages of the table come out, each once and not too many.
func FuzzMissing(f *testing.F) {
	f.Add("fatal error: lz4.h: No such file")
	f.Add("java not found. gcc: not found")
	known := map[string]bool{}
	for _, list := range packages {
		for _, p := range list {
			known[p] = true
		}
	}
	f.Fuzz(func(t *testing.T, output string) {
		list := Missing(output)
		if len(list) > maxMissing {
			t.Fatal("too many")
		}
		for i, p := range list {
			if !known[p] || i > 0 && list[i-1] >= p {
				t.Errorf("%q of %q", p, list)
			}
		}
	})
}
