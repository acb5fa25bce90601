package gitrepo

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestIdentify(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		message string
		want    identity
	}{
		"plain": {"Fix the parser\n\nIt was wrong.\n", identity{title: "Fix the parser", body: "It was wrong."}},
		"GitHub merge": {
			"Merge pull request #12 from ann/topic\n\nSpeed up\n\nMore words", identity{12, byMerge, "Speed up", "More words"},
		},
		"GitHub merge without a title": {
			"Merge pull request #12 from ann/topic", identity{12, byMerge, "Merge pull request #12 from ann/topic", ""},
		},
		"GitLab merge": {
			"Merge branch 'x' into 'master'\n\nSpeed up\n\nCloses #3\n\nSee merge request group/proj!45",
			identity{45, byMerge, "Speed up", "Closes #3\n\nSee merge request group/proj!45"},
		},
		"GitLab merge without a title": {
			"Merge branch 'x' into 'master'\n\nCloses #3\n\nSee merge request !45",
			identity{45, byMerge, "Merge branch 'x' into 'master'", "Closes #3\n\nSee merge request !45"},
		},
		"GitLab merge, only the reference": {
			"Merge branch 'x' into 'master'\n\nSee merge request group/sub/proj!45",
			identity{45, byMerge, "Merge branch 'x' into 'master'", "See merge request group/sub/proj!45"},
		},
		"GitLab squash": {
			"Speed up\n\nSee merge request group/proj!45", identity{45, byTrailer, "Speed up", "See merge request group/proj!45"},
		},
		"Bitbucket":        {"Merged in ann/x (pull request #7)\n\nSpeed up\n\nApproved-by: Bo", identity{7, byMerge, "Speed up", "Approved-by: Bo"}},
		"Bitbucket Server": {"Pull request #7: Speed up\n\nMerge in P/r from x to main\n\n* commit 'abc':", identity{7, byMerge, "Speed up", "Merge in P/r from x to main\n\n* commit 'abc':"}},
		"Bitbucket Server, old": {
			"Merge pull request #7 in P/r from x to main\n\n* commit 'abc':\n  Speed up",
			identity{7, byMerge, "Merge pull request #7 in P/r from x to main", "* commit 'abc':\n  Speed up"},
		},
		"Azure":         {"Merged PR 31: Speed up", identity{31, byMerge, "Speed up", ""}},
		"homu":          {"Auto merge of #99 - ann:x, r=bo\n\nSpeed up\n\nbody", identity{99, byMerge, "Speed up", "body"}},
		"bors":          {"Merge #99\n\n99: Speed up r=bo a=ann\n\nbody", identity{99, byMerge, "Speed up", "body"}},
		"bors, a batch": {"Merge #99 #100\n\n99: One r=bo a=ann", identity{title: "Merge #99 #100", body: "99: One r=bo a=ann"}},
		"merge script":  {"Merge PR #31: Speed up", identity{31, byMerge, "Speed up", ""}},
		"local merge":   {"Merge branch 'topic'\n\n* topic:\n  Speed up", identity{title: "Merge branch 'topic'", body: "* topic:\n  Speed up"}},
		"local merge with a title": {
			"Merge branch 'topic' of host:x\n\nSpeed up", identity{title: "Speed up"},
		},
		"local merge with a fixing title": {
			"Merge branch 'topic'\n\nFixes crash in parser", identity{title: "Fixes crash in parser"},
		},
		"merge with conflicts": {
			"Merge branch 'topic'\n\n# Conflicts:\n#\ta.txt", identity{title: "Merge branch 'topic'", body: "# Conflicts:\n#\ta.txt"},
		},
		"squash":              {"Speed up (#12)\n\n* one\n* two", identity{12, bySquash, "Speed up", "* one\n* two"}},
		"squash of back-port": {"Speed up (#12) (#20)", identity{20, bySquash, "Speed up (#12)", ""}},
		"squash of a revert":  {"Revert \"Speed up (#12)\" (#13)", identity{13, bySquash, "Revert \"Speed up (#12)\"", ""}},
		"revert by git":       {"Revert \"Speed up (#12)\"\n\nThis reverts commit abc.", identity{title: "Revert \"Speed up (#12)\"", body: "This reverts commit abc."}},
		"long subject":        {"Speed\nup (#12)\n\nbody", identity{12, bySquash, "Speed up", "body"}},
		"issue":               {"Speed up\n\nCloses #12", identity{title: "Speed up", body: "Closes #12"}},
		"issue in the subject": {
			"Speed up (fixes #12)", identity{title: "Speed up (fixes #12)"},
		},
		"too large a number": {"Speed up (#99999999999999)", identity{0, bySquash, "Speed up", ""}},
		"empty":              {"", identity{}},
	} {
		if diff := cmp.Diff(c.want, identify(record{message: c.message}), cmp.AllowUnexported(identity{})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestTrailerNumber(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]int{
		"PR-URL: https://github.com/o/r/pull/123":                                123,
		"words\n\nPR-URL: https://github.com/o/r/pull/123\nReviewed-By: X <x@y>": 123,
		"PR-URL: #123": 123,
		"Pull-Request: https://github.com/o/r/pull/5#issuecomment-9":                  5,
		"Part-of: <https://gitlab.example.org/mesa/mesa/-/merge_requests/777>":        777,
		"Merge-Request: group/proj!4":                                                 4,
		"Change-Id: I8473b95934b5732ac55d26311a706c9c2bde9940":                        0,
		"Change-Id: I84\nReviewed-on: https://review.example.org/c/go/+/12345":        12345,
		"Reviewed-on: https://review.example.org/12345":                               12345,
		"Reviewed-on: https://review.example.org:8443/c/x/+/12345/6":                  12345,
		"Reviewed-on: https://r.example/c/x/+/1\nReviewed-on: https://r.example/+/22": 22,
		"Differential Revision: https://reviews.example.org/D64":                      64,
		"Differential Revision: D64":                                                  64,
		"Closes #31 from ann/topic.":                                                  31,
		"Closes #31":                                                                  0,
		"Fixes: https://github.com/o/r/pull/12":                                       0,
		"Reviewed-by: Ann (#12)":                                                      0,
		"the PR-URL: https://github.com/o/r/pull/123":                                 0,
		"R=ann\nCC=x\nhttps://golang.org/cl/184510043":                                184510043,
		"see https://golang.org/cl/184510043":                                         0,
		"https://codereview.appspot.com/7/\n\nand more text":                          0,
		"PR-URL: soon": 0,
	} {
		if got := trailerNumber(body); got != want {
			t.Errorf("trailerNumber(%q) = %d, want %d", body, got, want)
		}
	}
}

func FuzzParseLog(f *testing.F) {
	id := strings.Repeat("a", 40)
	f.Add([]byte(id + "\n" + id + " " + id + "\n1\n2\nAnn <a@b>\nSubject (#3)\n\nbody\n\x00" + id + "\n\n\n\n <>\n\x00"))
	f.Add([]byte("x"))
	f.Fuzz(func(t *testing.T, data []byte) {
		_ = parseLog(reading(data), func(rec record) error {
			if !objectID.MatchString(rec.id) || rec.authored.Unix() < 0 {
				t.Errorf("record %+v", rec)
			}
			if id := identify(rec); id.number < 0 || strings.Contains(id.title, "\n") {
				t.Errorf("identity %+v", id)
			}
			return nil
		})
	})
}
