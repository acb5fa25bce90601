package judging

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// USD is an amount in millionths of a dollar. In TOML it is a number of dollars, or a text like "0.25".
type USD int64

const million = 1_000_000

// String writes dollars with all six decimals, from the integer.
func (u USD) String() string {
	sign, n := "", uint64(u)
	if u < 0 {
		sign, n = "-", -n
	}
	return fmt.Sprintf("%s%d.%06d", sign, n/million, n%million)
}

// UnmarshalTOML reads dollars.
func (u *USD) UnmarshalTOML(v any) (err error) {
	text := ""
	switch v := v.(type) {
	case string:
		text = v
	case int64:
		text = strconv.FormatInt(v, 10)
	case float64: // the shortest text that means this number is what was written
		text = strconv.FormatFloat(v, 'f', -1, 64)
	default:
		return errors.New("want dollars like 2.5")
	}
	*u, err = ParseUSD(text)
	return err
}

// ParseUSD reads decimal dollars, exactly: no sign, no exponent, at most six decimals.
func ParseUSD(text string) (USD, error) {
	whole, part, dot := strings.Cut(text, ".")
	if dot && part == "" || whole == "" || len(part) > 6 || strings.Trim(whole+part, "0123456789") != "" {
		return 0, fmt.Errorf("%q is no amount: want dollars like 2.5, with six decimals at most", text)
	}
	n, err := strconv.ParseInt(whole+part+strings.Repeat("0", 6-len(part)), 10, 64)
	if err != nil || n > most {
		return 0, fmt.Errorf("%q is more than a budget can be", text)
	}
	return USD(n), nil
}
