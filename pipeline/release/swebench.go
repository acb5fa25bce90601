package release

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"sluice/pipeline"
)

// defaultPrefix is before the lower-cased instance id in image names.
const defaultPrefix = "sluice/eval."

// row is one line of a SWE-bench 5 data set. All rows have all keys, so that readers with one schema for a file load it.
type row struct {
	ID          string `json:"instance_id"`
	Repo        string `json:"repo"`
	Base        string `json:"base_commit"`
	Patch       string `json:"patch"`
	TestPatch   string `json:"test_patch"`
	Statement   string `json:"problem_statement"`
	Hints       string `json:"hints_text"`
	CreatedAt   string `json:"created_at"`
	Version     string `json:"version"`
	FailToPass  any    `json:"FAIL_TO_PASS"` // []string, or that as a JSON string
	PassToPass  any    `json:"PASS_TO_PASS"`
	SetupCommit string `json:"environment_setup_commit"`
	// Three readers look for the image under three names.
	Image       string `json:"image"`
	ImageName   string `json:"image_name"`
	DockerImage string `json:"docker_image"`
	EvalScript  string `json:"eval_script"`
	EvalType    string `json:"eval_type"`
	LogParser   string `json:"log_parser"`
	Difficulty  string `json:"difficulty"`
	Language    string `json:"language"`
}

// export is the SWE-bench files of a release.
type export struct {
	rows     map[string][]row // by file
	excluded []Excluded
	dropped  []Renamed
}

// exportSWEbench makes one file per check: the first check that resolves the task is what SWE-bench calls resolved, and
// each further check gets a file of its own with the same instance ids.
func exportSWEbench(insts []pipeline.Instance, o SWEbench) export {
	e := export{rows: map[string][]row{SWEbenchFile: nil}, dropped: []Renamed{}}
	for _, inst := range insts {
		main := mainCheck(inst.Checks)
		for i := range inst.Checks {
			file := SWEbenchFile
			if i != main {
				file = "swebench-" + fileWord(inst.Checks[i].Name) + ".jsonl"
			}
			r, dropped, why := makeRow(inst, i, o)
			if why != "" {
				e.excluded = append(e.excluded, Excluded{inst.ID, file, why})
				continue
			}
			e.rows[file] = append(e.rows[file], r)
			if len(dropped) > 0 {
				e.dropped = append(e.dropped, Renamed{inst.ID, file, dropped})
			}
		}
	}
	return e
}

// mainCheck returns the index of the check that SWE-bench's "resolved" stands for.
func mainCheck(checks []pipeline.Check) int {
	for i, c := range checks {
		if c.Resolves {
			return i
		}
	}
	return 0
}

// fileWord makes a check's name safe as a part of a file's name.
func fileWord(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, name)
}

// makeRow makes the row of one check. A non-empty why says why there can be none.
func makeRow(inst pipeline.Instance, check int, o SWEbench) (r row, dropped []string, why string) {
	c := inst.Checks[check]
	patch, testPatch := inst.Patch, inst.Task.TestPatch
	if check != mainCheck(inst.Checks) {
		testPatch = inst.Fix.TestPatch
		if len(inst.Gold) > 0 {
			patch = inst.Gold
		}
	}
	if !utf8.Valid(patch) || !utf8.Valid(testPatch) {
		return row{}, nil, "not-utf8: the patch holds bytes that a JSON string cannot"
	}
	p, ok := parserOf[inst.Recipe.Runner]
	if !ok {
		return row{}, nil, fmt.Sprintf("no-parser: the target has none for runner %q", inst.Recipe.Runner)
	}
	f2p, p2p, dropped := visible(p, inst, c)
	if len(f2p) == 0 {
		return row{}, nil, "no-visible-test: the target's log parser sees none of the tests that must come to pass"
	}
	script, err := evalScript(inst, c, p)
	if err != nil {
		return row{}, nil, err.Error()
	}
	image := imageName(o.ImagePrefix, inst.ID)
	return row{
		ID: inst.ID, Repo: inst.Repo, Base: inst.Base, Patch: string(patch), TestPatch: string(testPatch),
		Statement: inst.Statement, CreatedAt: inst.CreatedAt, SetupCommit: inst.Base,
		FailToPass: testList(f2p, o.Strings), PassToPass: testList(p2p, o.Strings),
		Image: image, ImageName: image, DockerImage: image, Language: inst.Language, Difficulty: inst.Labels["difficulty"],
		EvalScript: script, EvalType: "pass_and_fail", LogParser: p.name,
	}, dropped, ""
}

// imageName is the image that holds the instance's base state at /testbed.
func imageName(prefix, id string) string {
	if prefix == "" {
		prefix = defaultPrefix
	}
	return prefix + strings.ToLower(id) + ":latest"
}

// testList is a list of tests in the wanted encoding.
func testList(ids []string, asString bool) any {
	if !asString {
		return ids
	}
	b, _ := json.Marshal(ids) // a list of strings always encodes
	return string(b)
}
