package reply

import "testing"

func TestConclusions(t *testing.T) {
	t.Parallel()
	codes := []string{"A", "B1", "B10", "C1", "C2", "C3", "clean", "not_a_bug", "0", "1"}
	find := NewConclusions(codes)
	for text, want := range map[string]string{
		// Said as a conclusion.
		"The lines were moved. So this is C2.": "C2",
		"So this is C2":                        "C2",
		"Verdict: A":                           "A",
		"**Verdict**: `C1`":                    "C1",
		"The final answer is \"not_a_bug\".":   "not_a_bug",
		"The correct code is B10, since only text files are tested.":       "B10",
		"Thus the pair is not_a_bug, as the author says.":                  "not_a_bug",
		"The verdict is clean.":                                            "clean",
		"I choose clean, all in all.":                                      "clean",
		"The code is `clean`":                                              "clean",
		"I choose C3 because the origin cannot be told.":                   "C3",
		"This is not B1, so the verdict is A.":                             "A",
		"I therefore conclude C1.":                                         "C1",
		"Rating: 1":                                                        "1",
		"The statement is fine in all parts. Label = 0.":                   "0",
		"The right code is \"1\" here.":                                    "1",
		"My verdict is A and not C1.":                                      "A",
		"At first the verdict is C1. After the second look, verdict is A.": "A",
		"The lines were moved there, so this is C2.":                       "C2",
		"The code must be C2 (carried).":                                   "C2",

		// Only mentioned, supposed, denied, or part of something else.
		"C2 is for moved lines; C1 needs a later change.":             "",
		"If the lines were moved, the verdict is C2.":                 "",
		"It would be C2 had they been moved.":                         "",
		"One might say the verdict is C2.":                            "",
		"So this is clean code in all respects, but wrong.":           "",
		"The answer is a regression.":                                 "",
		"The answer is A regression test.":                            "",
		"The code is not C2.":                                         "",
		"The verdict: not A.":                                         "",
		"The answer is 1.5 times as large.":                           "",
		"So it is 1 of 3 tests.":                                      "",
		"So this is c2.":                                              "",
		"The code = A + B in the loop.":                               "",
		"Neither the verdict A nor C1 fits.":                          "",
		"It is tempting to answer that the code is C1.":               "",
		"The correct answer is 1, and the program gave 0.":            "",
		"The code is clean, since no warning is left.":                "",
		"So it is clean.":                                             "", // the change, the statement, the table?
		"The code is clean up to line 10.":                            "",
		"The author's conclusion is B12.":                             "",
		"verdict_is_A":                                                "",
		"":                                                            "",
		"The code is clean-cut.":                                      "",
		"The category is wrong: A stands for authored, C2 for moved.": "",
		"Is this A? Is it C1? The evidence decides.":                  "",
	} {
		if got, sentence := find.Last(text); got != want {
			t.Errorf("%q: found %q in %q, want %q", text, got, sentence, want)
		}
	}
}
