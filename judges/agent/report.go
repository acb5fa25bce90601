package agent

import (
	"encoding/json"
	"errors"
	"strings"

	"sluice/judges/reply"
)

// readReport reads the final report strictly. Its error is one line for the model.
func readReport(text string, schema *reply.Schema) (action, error) {
	raw, err := reply.Read(text, schema, "")
	if err != nil {
		return action{}, errors.New("The report cannot be used: " + strings.TrimSuffix(oneLine(err.Error()), ".") + ".")
	}
	return action{report: json.RawMessage(raw)}, nil
}
