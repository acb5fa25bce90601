package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// digestJSON is the hex SHA-256 of the JSON encoding of its arguments. encoding/json sorts map keys, so equal values have equal digests.
func digestJSON(parts ...any) (string, error) {
	h := sha256.New()
	enc := json.NewEncoder(h)
	for _, p := range parts {
		if err := enc.Encode(p); err != nil {
			return "", fmt.Errorf("encoding a key: %w", err)
		}
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// CandidateID is the stable id of a candidate: the family's short name and a digest of what was proposed.
func CandidateID(short string, parts ...string) string {
	d, err := digestJSON(parts)
	if err != nil {
		panic(err) // strings always encode
	}
	return short + "-" + d[:12]
}
