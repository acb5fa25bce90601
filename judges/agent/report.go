package agent

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/jsonschema-go/jsonschema"
)

func readReport(text string, schema json.RawMessage) (action, error) {
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return action{}, errors.New("The report is no JSON: " + err.Error())
	}
	var s jsonschema.Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return action{}, err
	}
	res, err := s.Resolve(nil)
	if err != nil {
		return action{}, err
	}
	if err := res.Validate(v); err != nil {
		return action{}, fmt.Errorf("The report does not fit: %s", oneLine(err.Error()))
	}
	return action{report: json.RawMessage(text)}, nil
}
