package node

import (
	"encoding/json"
	"strconv"
)

func quote(s string) string {
	data, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(data)
}

func itoa(n int) string { return strconv.Itoa(n) }
