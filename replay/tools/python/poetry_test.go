package python

import "testing"

func TestPoetryVersions(t *testing.T) {
	t.Parallel()
	for v, want := range map[string]string{
		"*": "", "": "", "^1.2.3": ">=1.2.3,<2", "^0.2.3": ">=0.2.3,<0.3", "^0.0.3": ">=0.0.3,<0.0.4", "^0": ">=0,<1", "~1.2": ">=1.2,<1.3",
		"~1": ">=1,<2", "~=1.4": "~=1.4", "1.2.*": "==1.2.*", "1.2": "==1.2", ">=1, <2": ">=1,<2", "^1 || ^2": "", "^x": ">=x",
	} {
		if got := poetryVersion(v); got != want {
			t.Errorf("%q gives %q, want %q", v, got, want)
		}
	}
}
