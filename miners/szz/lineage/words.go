package lineage

import "slices"

// isWord tells the bytes that identifiers and numbers are made of.
func isWord(b byte) bool {
	return b == '_' || '0' <= b && b <= '9' || 'a' <= b && b <= 'z' || 'A' <= b && b <= 'Z' || b >= 0x80
}

// EachWord calls use for every identifier and number of a line.
func EachWord(line []byte, use func([]byte)) {
	for i := 0; i < len(line); {
		if !isWord(line[i]) {
			i++
			continue
		}
		start := i
		for i < len(line) && isWord(line[i]) {
			i++
		}
		use(line[start:i])
	}
}

// wordSet lists the different words of a line, sorted.
func wordSet(line []byte) []string {
	var out []string
	EachWord(line, func(w []byte) { out = append(out, string(w)) })
	slices.Sort(out)
	return slices.Compact(out)
}

// jaccard is the share of words that two sorted sets have in common.
func jaccard(a, b []string) float64 {
	if len(a) == 0 || len(b) == 0 {
		return 0
	}
	same, i, k := 0, 0, 0
	for i < len(a) && k < len(b) {
		switch {
		case a[i] == b[k]:
			same++
			i++
			k++
		case a[i] < b[k]:
			i++
		default:
			k++
		}
	}
	return float64(same) / float64(len(a)+len(b)-same)
}
