package judges_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/judges"
)

// TestGoodReplies: the reply to each case is a verdict, with the code and the quotation that it holds.
func TestGoodReplies(t *testing.T) {
	t.Parallel()
	for _, a := range loadAll(t, false) {
		v, err := decide(t, specOf(t, a.prompt.Name), a.reply, a.render(t))
		if err != nil {
			t.Errorf("%s: %v", a.prompt.Name, err)
			continue
		}
		if v.Quote == "" || !strings.Contains(a.reply, `"code":"`+v.Code+`"`) || compact(t, v.Fields) != a.reply {
			t.Errorf("%s: verdict %+v", a.prompt.Name, v)
		}
	}
}

// change is what a golden reply is altered by, and what comes of it.
type change struct {
	name     string
	from, to string   // once, in the compact reply
	also     []string // more of these, in pairs
	want     string   // part of the error; "": it is a verdict
}

// checkReplies runs alterations of a judge's golden reply.
func checkReplies(t *testing.T, a asked, all []change) {
	t.Helper()
	s := specOf(t, a.prompt.Name)
	rendered := a.render(t)
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			text := a.reply
			for i, pair := 0, append([]string{c.from, c.to}, c.also...); i < len(pair); i += 2 {
				if !strings.Contains(text, pair[i]) {
					t.Fatalf("the reply does not hold %s", pair[i])
				}
				text = strings.Replace(text, pair[i], pair[i+1], 1)
			}
			_, err := decide(t, s, text, rendered)
			if c.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one line with %q", err, c.want)
			}
		})
	}
}

func TestEligibilityReplies(t *testing.T) {
	t.Parallel()
	checkReplies(t, load(t, judges.PairEligibility), []change{
		{"another code", `"code":"clean"`, `"code":"weak"`, nil, ""},
		{"an unknown code", `"code":"clean"`, `"code":"Clean"`, nil, "code"},
		{"a quotation of nothing", `so jobs started at -30m`, `so the jobs began too early`, nil, "does not occur"},
		{"a quotation of the repository's name", `so jobs started at -30m`, `harborlight/quayside`, nil, "does not occur"},
		{"no reasons", `Users got a wrong start time. Compound texts and negative offsets were both promised, so putting them together is within the promise. Nobody had decided that the sign should bind to one part only, and two people met it.`, `Clear.`, nil, "give the reasons"},
		{"reasons of others", `Users got a wrong start time. Compound`, `Timeouts in quay files are written in seconds.`,
			[]string{` texts and negative offsets were both promised, so putting them together is within the promise. Nobody had decided that the sign should bind to one part only, and two people met it.`, ` 5400 is hard to read and easy to get wrong.`},
			"word for word"},
	})
}

func TestInstructionsAreNoReasons(t *testing.T) {
	t.Parallel()
	a := load(t, judges.PairEligibility)
	said := "An effect on users may be indirect: a cache that never hits, a resource that is never freed"
	text := a.reasoned(func(string) string { return said })
	if _, err := decide(t, specOf(t, a.prompt.Name), text, a.render(t)); err == nil || !strings.Contains(err.Error(), "repeats the instructions") {
		t.Errorf("error %v", err)
	}
}

func TestFairnessReplies(t *testing.T) {
	t.Parallel()
	checkReplies(t, load(t, judges.PairFairness), []change{
		{"another assertion", `assert parse_duration(\"-1h30m\") == timedelta(minutes=-90)`, `parse_duration(\"1h-30m\")`, nil, ""},
		{"A without an assertion", `assert parse_duration(\"-1h30m\") == timedelta(minutes=-90)`, `we saw it only since two jobs overlapped`, nil, "fix_tests"},
		{"B4 by the description", `assert parse_duration(\"-1h30m\") == timedelta(minutes=-90)`, `we saw it only since two jobs overlapped`, []string{`"code":"A"`, `"code":"B4"`}, ""},
		{"B7 by the tests", `"code":"A"`, `"code":"B7"`, nil, "fix_patch"},
		{"B12", `"code":"A"`, `"code":"B12"`, nil, "code"},
	})
}

func TestAttributionReplies(t *testing.T) {
	t.Parallel()
	a := load(t, judges.Attribution)
	const none, origin = `"later_change":"none"`, `"origin":false`
	checkReplies(t, a, []change{
		{"carried", `"code":"A"`, `"code":"C2"`, nil, ""},
		{"stale with a name", `"code":"A"`, `"code":"C1"`, []string{none, `"later_change":"L2"`, origin, `"origin":true`}, ""},
		{"stale without a name", `"code":"A"`, `"code":"C1"`, nil, `"none" is no entry`},
		{"stale, name not on the list", `"code":"A"`, `"code":"C1"`, []string{none, `"later_change":"L9"`, `"L2"`, `"L3"`}, `"L9" is no entry`},
		{"stale, the named one is not the origin", `"code":"A"`, `"code":"C1"`, []string{none, `"later_change":"L2"`}, "must be the origin"},
		{"stale, another one is the origin", `"code":"A"`, `"code":"C1"`, []string{none, `"later_change":"L1"`, origin, `"origin":true`}, "must be the origin"},
		{"authored with an origin elsewhere", origin, `"origin":true`, nil, "no entry is the origin"},
		{"authored with a later change", none, `"later_change":"L2"`, nil, "the word none"},
		{"a related change that is not on the list", `"change":"L2"`, `"change":"L4"`, nil, "whose labels are L1, L2, L3"},
		{"a subject for a label", `"change":"L2"`, `"change":"Docs: link to the page on offsets"`, nil, "is no entry"},
		{"no reason why not", `"why":"It concerns the same function, but only white space around the text, which the failing inputs do not have."`, `"why":"No."`, nil, "say why"},
		{"a quotation of the fix", `_PART = re.compile(r\"(-?\\d+)([hms])\")`, `An offset of -1h30m was read as minus one hour`, nil, "does not occur"},
		{"true as a text", origin, `"origin":"false"`, nil, "origin"},
	})
	t.Run("no list", func(t *testing.T) {
		checkReplies(t, a.with("later_changes"), []change{
			{"named all the same", none, none, nil, "there is no list"},
			{"authored", `{"change":"L2","why":"It concerns the same function, but only white space around the text, which the failing inputs do not have.","origin":false}`, ``, nil, ""},
			{"stale", `{"change":"L2","why":"It concerns the same function, but only white space around the text, which the failing inputs do not have.","origin":false}`, ``, []string{`"code":"A"`, `"code":"C1"`}, "there is no such list"},
		})
	})
}

func TestSeverityReplies(t *testing.T) {
	t.Parallel()
	const prevalence, supported, narrow = `"prevalence":"Same here on two machines."`, `"estimated":false`, `"value":"narrow"`
	checkReplies(t, load(t, judges.SeverityAxes), []change{
		{"broad with evidence", narrow, `"value":"broad"`, nil, ""},
		{"estimated and narrow", prevalence, `"prevalence":""`, []string{supported, `"estimated":true`}, ""},
		{"broad without evidence", prevalence, `"prevalence":""`, []string{supported, `"estimated":true`, narrow, `"value":"broad"`}, "narrow"},
		{"rare without evidence", prevalence, `"prevalence":" "`, []string{supported, `"estimated":true`, narrow, `"value":"rare"`}, "narrow"},
		{"no evidence and not estimated", prevalence, `"prevalence":""`, nil, "is estimated"},
		{"evidence and estimated", supported, `"estimated":true`, nil, "not estimated"},
		{"evidence that is none", prevalence, `"prevalence":"Everybody uses it."`, nil, "reach.prevalence"},
		{"detectability from the prose", `"quote":"assert parse_duration(\"-1h30m\") == timedelta(minutes=-90)"`, `"quote":"Nothing warned about it"`, nil, "detectability.quote"},
		{"impact from nowhere", `"quote":"so jobs started at -30m"`, `"quote":"so jobs started too soon"`, nil, "impact.quote"},
		{"mechanism from nowhere", `"quote":"parse_duration reads texts such as 1h30m or 45s and gives a timedelta."`, `"quote":"It was there before the change."`, nil, "mechanism.quote"},
		{"yes as true", `{"reason":"No attack is closed; offsets are written by the operator.","value":"no"}`, `{"reason":"No attack is closed; offsets are written by the operator.","value":false}`, nil, "security"},
		{"an impact that does not exist", `"value":"broken"`, `"value":"critical"`, nil, "impact"},
	})
}

func TestClarityAndLeakageReplies(t *testing.T) {
	t.Parallel()
	const open, hint = `"open":["Whether blanks between the parts are allowed"]`, `"hint":"Say whether white space may stand inside a duration."`
	checkReplies(t, load(t, judges.StatementClarity), []change{
		{"well specified", open, `"open":[]`, []string{`"code":"1"`, `"code":"0"`, hint, `"hint":""`}, ""},
		{"well specified and open", `"code":"1"`, `"code":"0"`, nil, "open is not empty"},
		{"blanks and none open", open, `"open":[]`, nil, "open is empty"},
		{"vague", `"code":"1"`, `"code":"2"`, nil, ""},
		{"vague without a hint", `"code":"1"`, `"code":"2"`, []string{hint, `"hint":""`}, "hint"},
		{"a number for a code", `"code":"1"`, `"code":1`, nil, "code"},
		{"a quotation of the interfaces", `reads texts such as 1h30m or 45s and returns a timedelta`, `a text as people write durations`, nil, "statement"},
	})
	checkReplies(t, load(t, judges.StatementLeakage), []change{
		{"leak with a hint", `"code":"clean"`, `"code":"leaks_anticipation"`, []string{`"hint":""`, `"hint":"Put the passage on offsets more generally."`}, ""},
		{"leak without a hint", `"code":"clean"`, `"code":"leaks_future_fix"`, nil, "hint"},
		{"a hint that tells", `"code":"clean"`, `"code":"leaks_anticipation"`, []string{`"hint":""`, `"hint":"Think of test_sign_inside_is_refused."`}, "only the fix has"},
		{"a hint with a name of the task", `"code":"clean"`, `"code":"leaks_anticipation"`, []string{`"hint":""`, `"hint":"Say less about parse_duration."`}, ""},
		{"clean with a hint", `"hint":""`, `"hint":"Take out the passage."`, nil, "hint is the empty text"},
		{"a quotation of the fix", `Offsets may lie before the start of a job.`, `The sign now belongs to the whole text.`, nil, "statement"},
	})
}

func TestInterfaceReplies(t *testing.T) {
	t.Parallel()
	const call = `"call":"assert parse_duration(\"1h30m\") == timedelta(minutes=90)"`
	checkReplies(t, load(t, judges.Interfaces), []change{
		{"another call", call, `"call":"from quayside.durations import parse_duration"`, nil, ""},
		{"a call that no test makes", call, `"call":"parse_duration(\"7h\")"`, nil, "call"},
		{"a call of something else", call, `"call":"def test_compound():"`, nil, "does not hold"},
		{"a name that the patch lacks", `"name":"parse_duration(text)"`, `"name":"timedelta(minutes)"`, []string{`"location":"quayside/durations.py"`, `"location":"datetime.py"`}, "no path of the source diff"},
		{"a made-up place", `"location":"quayside/durations.py"`, `"location":"quayside/parse.py"`, nil, "no path"},
		{"a list and none", `"code":"listed"`, `"code":"none"`, nil, "does not go with"},
		{"no name", `"name":"parse_duration(text)"`, `"name":"()"`, nil, "holds no name"},
	})
}

func TestTaskReplies(t *testing.T) {
	t.Parallel()
	checkReplies(t, load(t, judges.TaskValidity), []change{
		{"two categories", `["core_feat"]`, `["core_feat","minor_bug"]`, nil, ""},
		{"one twice", `["core_feat"]`, `["core_feat","core_feat"]`, nil, "twice"},
		{"none", `["core_feat"]`, `[]`, nil, "categories"},
		{"an unknown one", `["core_feat"]`, `["feature"]`, nil, "categories"},
		{"an unknown difficulty", `"difficulty":"medium"`, `"difficulty":"moderate"`, nil, "difficulty"},
	})
}

func TestOperationReplies(t *testing.T) {
	t.Parallel()
	const ran = `"quote":"2 failed, 7 passed in 0.08s"`
	checkReplies(t, load(t, judges.OperationCheck), []change{
		{"ok by the report", ran, `"quote":"conftest.py sets the zone of the machine"`, nil, "commands"},
		{"weakened by the diff", ran, `"quote":"os.environ.setdefault(\"TZ\", \"UTC\")"`, []string{`"code":"ok"`, `"code":"weakened_test"`}, ""},
		{"misreported by the report", ran, `"quote":"\"exit_code\": 1"`, []string{`"code":"ok"`, `"code":"misreported"`}, ""},
		{"a rule is no evidence", ran, `"quote":"Must stay as it is: everything below quayside/"`, []string{`"code":"ok"`, `"code":"edited_production"`}, "does not occur"},
		{"a hint is no evidence", ran, `"quote":"it is in the set that may be adapted"`, []string{`"code":"ok"`, `"code":"skipped_required"`}, "does not occur"},
	})
}

func TestVerifierReplies(t *testing.T) {
	t.Parallel()
	a := load(t, judges.RegressionVerifier)
	const t3 = `,{"test":"T3","cause":"The helper that prints offsets came with the second change.","quote":"NameError: name 'show_offset' is not defined","label":"transplant"}`
	checkReplies(t, a, []change{
		{"a test left out", t3, ``, nil, "no item for T3"},
		{"a test twice", `"test":"T3"`, `"test":"T2"`, nil, "T2 is there twice"},
		{"a test that is none", `"test":"T3"`, `"test":"T4"`, nil, `"T4" is no entry`},
		{"an id for a label", `"test":"T3"`, `"test":"tests/test_jobs.py::test_offset_is_shown"`, nil, "is no entry"},
		{"none supported", `"label":"supported"`, `"label":"unrelated"`, []string{`"label":"supported"`, `"label":"unrelated"`}, "make it unrelated"},
		{"none supported, and said so", `"label":"supported"`, `"label":"unrelated"`, []string{`"label":"supported"`, `"label":"environment"`, `"code":"supported"`, `"code":"unrelated"`}, ""},
		{"most labels decide", `"label":"supported"`, `"label":"transplant"`, []string{`"label":"supported"`, `"label":"environment"`, `"code":"supported"`, `"code":"environment"`}, "make it transplant"},
		{"one quotation is none", `NameError: name 'show_offset' is not defined`, `ImportError: no such helper`, nil, "tests, T3"},
		{"an outcome is no evidence", `"quote":"_PART = re.compile(r\"(-?\\d+)([hms])\")"`, `"quote":"first side fail (assertion), second side pass"`, nil, "does not occur"},
	})
	v, err := decide(t, specOf(t, a.prompt.Name), a.reply, a.render(t))
	if err != nil {
		t.Fatal(err)
	}
	r, err := judges.Read[judges.VerifierReply](v)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"T1", "T2"}, r.Supported()); diff != "" {
		t.Error(diff)
	}
}

func TestRubricReplies(t *testing.T) {
	t.Parallel()
	const leak, credible = `"quote":"Up to 2.3 I could leave ` + "`quay watch deck.quay`" + ` running all day.","answer":"yes"`, `"quote":"4f2a9c17d03b is the first bad commit.","answer":"yes"`
	checkReplies(t, load(t, judges.ReportRubric), []change{
		{"leaks", leak, strings.Replace(leak, `"yes"`, `"no"`, 1), []string{`"code":"all_yes"`, `"code":"leaks"`}, ""},
		{"an answer against the code", leak, strings.Replace(leak, `"yes"`, `"no"`, 1), nil, "make it leaks"},
		{"a code against the answers", `"code":"all_yes"`, `"code":"derived"`, nil, "make it all_yes"},
		{"the first no decides", leak, strings.Replace(leak, `"yes"`, `"no"`, 1), []string{credible, strings.Replace(credible, `"yes"`, `"no"`, 1), `"code":"all_yes"`, `"code":"leaks"`}, "make it not_credible"},
		{"credible by the report", `4f2a9c17d03b is the first bad commit.`, `hold one watch per file`, nil, "credible.quote"},
		{"a deleted passage is no part of the report", `With nano it goes on working.`, `Reverting that one locally brings it back to life`, nil, "independent.quote"},
		{"perhaps", leak, strings.Replace(leak, `"yes"`, `"perhaps"`, 1), nil, "no_leak"},
	})
}

func TestScopeReplies(t *testing.T) {
	t.Parallel()
	const paths = `["quayside/notify.py","tests/test_notify.py","CHANGES.md"]`
	list := load(t, judges.ScopeAlternatives)
	checkReplies(t, list, []change{
		{"a path that is not there", paths, `["quayside/inotify.py"]`, nil, "no file of the listing"},
		{"a path that leads out", paths, `["../quayside/notify.py"]`, nil, "no file of the listing"},
		{"a folder", paths, `["quayside"]`, nil, "no file of the listing"},
		{"a path twice", paths, `["quayside/notify.py","quayside/notify.py"]`, nil, "twice"},
		{"the merged change again", paths, `["CHANGES.md","tests/test_watch.py","quayside/watch.py"]`, nil, "that of the merged change"},
		{"alternatives and none", `"code":"alternatives"`, `"code":"none"`, nil, "does not go with"},
		{"a quotation of the tree", `"quote":"With nano it goes on working."`, `"quote":"quayside/notify.py"`, nil, "issue"},
	})
}

func TestSpanReplies(t *testing.T) {
	t.Parallel()
	const text = `"text":"\n\nI bisected it and it ended at the commit that Priya landed."`
	one := `{"reason":"x","kind":"bisection",` + text + `}`
	two := func(second string) string { return one + `,{"reason":"x","kind":"cause","text":"` + second + `"}` }
	const span = `{"reason":"It tells that a search ended at the work of one named person.","kind":"bisection",` + text + `}`
	checkReplies(t, load(t, judges.SanitiserProposals), []change{
		{"a part of it", text, `"text":"that Priya landed"`, nil, ""},
		{"two passages", span, two("With nano it goes on working."), nil, ""},
		{"two that overlap", span, two("ended at the commit"), nil, "overlaps"},
		{"the same twice", span, one + "," + one, nil, "overlaps"},
		{"not in the report", text, `"text":"I bisected it to the commit"`, nil, "does not occur in the report"},
		{"a line break too few", text, `"text":"runs the jobs after the first edit and then sits there"`, nil, "exactly so"},
		{"in the answer only", text, `"text":"Priya Nadar"`, nil, "does not occur in the report"},
		{"blank", text, `"text":"\n\n\n\n"`, nil, "empty"},
		{"too short", text, `"text":"it"`, nil, "text"},
		{"the quotation goes", text, `"text":"change it again and save"`, nil, "quote what stays"},
		{"delete nothing", span, ``, nil, "does not go with"},
	})
}

func TestAlignmentReplies(t *testing.T) {
	t.Parallel()
	const noted = `"note_quote":"Durations may be written with days: 2d, 1d12h."`
	checkReplies(t, load(t, judges.NoteAlignment), []change{
		{"by the context", noted, `"note_quote":"Long jobs need days"`, nil, ""},
		{"aligned with a gap", `"code":"partly"`, `"code":"aligned"`, nil, "2 of 3 groups"},
		{"not, with passages", `"code":"partly"`, `"code":"not"`, nil, "make"},
		{"a passage that is none", noted, `"note_quote":"Durations know about weeks."`, nil, "note_quote"},
		{"a note that is a test", noted, `"note_quote":"def test_order():"`, nil, "note_quote"},
		{"a test that is a note", `"test_quote":"parse_duration(\"30m1h\")"`, `"test_quote":"refuses units in the wrong order"`, nil, "test_quote"},
		{"all asked for", `"note_quote":""`, `"note_quote":"Durations may be written with days: 2d, 1d12h."`, []string{`"code":"partly"`, `"code":"aligned"`}, ""},
	})
}

// TestFitting: a judge gets what it has slots for, and nothing else.
func TestFitting(t *testing.T) {
	t.Parallel()
	c := judges.Case{"repository": {"o/r"}, "statement": {"Divide"}, "traced_lines": {"a.go:1: x"}}
	if diff := cmp.Diff(judges.Case{"repository": {"o/r"}, "statement": {"Divide"}}, judges.Fitting(judges.StatementClarity, c)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(judges.Case{"traced_lines": {"a.go:1: x"}}, judges.Fitting(judges.Attribution, c)); diff != "" {
		t.Error(diff)
	}
}
