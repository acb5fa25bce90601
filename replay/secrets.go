package replay

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// Masked stands in a log where a secret was, as git writes it.
const Masked = "xxxxx"

// Secrets are what nobody may read of the variables that let Install reach indexes and mirrors: package tools print addresses. Mask takes
// them out of what steps print. Code that wants to give them away can do so all the same: it has the network.
type Secrets [][]byte

// shortest is the length in bytes below which a password is masked only beside its user: alone it would be found in innocent words.
const shortest = 4

var (
	// userInfo finds the part of an address before its host; a proxy may be written without a scheme.
	userInfo   = regexp.MustCompile(`(?:://|^)([^\s/]+)@`)
	secretName = regexp.MustCompile(`(?i)TOKEN|PASSW|SECRET|CREDENTIAL|_KEY$`)
)

// SecretsOf finds the secrets in variables: passwords and tokens of addresses, as they are written, decoded, and as a header has them, and
// the values of variables whose names say that they are secret.
func SecretsOf(vars map[string]string) Secrets {
	var s Secrets
	for k, v := range vars {
		if secretName.MatchString(k) && len(v) >= shortest {
			s = append(s, []byte(v))
		}
		for _, m := range userInfo.FindAllStringSubmatch(v, -1) {
			s = append(s, secretsOf(m[1])...)
		}
	}
	slices.SortFunc(s, func(a, b []byte) int { return cmp.Or(cmp.Compare(len(b), len(a)), bytes.Compare(a, b)) })
	return slices.CompactFunc(s, bytes.Equal)
}

func secretsOf(info string) (s Secrets) {
	user, password, ok := strings.Cut(info, ":")
	if !ok || password == "" { // a token
		user, password = "", user
	}
	for _, p := range []string{password, decoded(password)} {
		if len(p) >= shortest {
			s = append(s, []byte(p))
		}
	}
	if user != "" {
		s = append(s, []byte(info), []byte(base64.StdEncoding.EncodeToString([]byte(decoded(user)+":"+decoded(password)))))
	}
	return s
}

func decoded(s string) string {
	d, err := url.PathUnescape(s)
	if err != nil {
		return s
	}
	return d
}

// Mask returns the text without the secrets.
func (s Secrets) Mask(text []byte) []byte {
	for _, secret := range s {
		text = bytes.ReplaceAll(text, secret, []byte(Masked))
	}
	return text
}
