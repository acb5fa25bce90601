package gharchive

import (
	"crypto/sha1" //nolint:gosec // the archive's own rule; it hides nothing that is secret
	"encoding/hex"
	"regexp"
	"strings"
)

var hashed = regexp.MustCompile(`^[0-9a-f]{40}$`)

// HashEmail gives an address the form in which the archive keeps it: the part before the @ as SHA-1, so that an author in git can be
// compared with one in an event. A part that is hashed already stays (obfuscate.rb and transformer.rb of igrigorik/gharchive.org).
func HashEmail(address string) string {
	if address == "" {
		return ""
	}
	local, domain, at := strings.Cut(address, "@")
	if !hashed.MatchString(local) {
		sum := sha1.Sum([]byte(local)) //nolint:gosec // as above
		local = hex.EncodeToString(sum[:])
	}
	if !at {
		return local
	}
	return local + "@" + domain
}
