package pipeline

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"sluice/replay"
)

// fill sets every text below v to the name of the field that it is in.
func fill(v reflect.Value, name string) {
	switch {
	case v.Type() == reflect.TypeFor[json.RawMessage]():
		v.SetBytes([]byte(`"` + name + `"`))
	case v.Type() == reflect.TypeFor[Text]():
		v.SetBytes([]byte(name))
	case v.Kind() == reflect.String:
		v.SetString(name)
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), name+"."+v.Type().Field(i).Name)
		}
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), name)
	case v.Kind() == reflect.Map:
		value := reflect.New(v.Type().Elem()).Elem()
		fill(value, name)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(reflect.ValueOf(name).Convert(v.Type().Key()), value)
	}
}

// What an agent may see names nothing of the fix, of a test or of a later object, whatever fields an instance gets.
func TestPublicTaskHoldsNothingElse(t *testing.T) {
	t.Parallel()
	var in Instance
	v := reflect.ValueOf(&in).Elem()
	public := map[string]bool{"ID": true, "Family": true, "Repo": true, "Language": true, "Base": true, "Statement": true, "Recipe": true}
	for i := range v.NumField() {
		if name := v.Type().Field(i).Name; name != "Recipe" {
			fill(v.Field(i), "<"+name+">")
		}
	}
	in.Recipe = replay.Recipe{Image: "<Recipe>"}
	b, err := json.Marshal(in.Public())
	if err != nil {
		t.Fatal(err)
	}
	text := strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(string(b))
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		if v.Field(i).Kind() == reflect.Int {
			continue // it holds no text
		}
		if got := strings.Contains(text, fmt.Sprintf("<%s", name)); got != public[name] {
			t.Errorf("%s stands in what an agent sees: %t", name, got)
		}
	}
}
