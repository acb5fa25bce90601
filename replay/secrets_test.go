package replay

import "testing"

// TestSecrets: what tools print of an address of the user's has no password in it.
func TestSecrets(t *testing.T) {
	t.Parallel()
	s := SecretsOf(map[string]string{
		"PIP_INDEX_URL": "https://ada:p%40ssword@index.example/simple", "HTTPS_PROXY": "bob:hunter22@proxy.example:3128",
		"GOPROXY": "https://eve:one-one@a.example,https://tok_12345@b.example|direct", "UV_INDEX_OURS_PASSWORD": "sesame",
		"http_proxy": "http://joe:abc@proxy.example", "PIP_TRUSTED_HOST": "index.example", "npm_config_registry": "https://plain.example/@scope/",
	})
	for text, want := range map[string]string{
		"GET https://ada:p%40ssword@index.example/simple/x": "GET https://xxxxx@index.example/simple/x",
		"the password p@ssword":                             "the password xxxxx",
		"Authorization: Basic YWRhOnBAc3N3b3Jk":             "Authorization: Basic xxxxx",
		"proxy bob:hunter22@proxy.example":                  "proxy xxxxx@proxy.example",
		"one-one tok_12345 sesame":                          "xxxxx xxxxx xxxxx",
		"http://joe:abc@proxy.example knows its abc":        "http://xxxxx@proxy.example knows its abc",
		"ada, bob and eve at index.example, @scope":         "ada, bob and eve at index.example, @scope",
		"": "",
	} {
		if got := string(s.Mask([]byte(text))); got != want {
			t.Errorf("%q: got %q, want %q", text, got, want)
		}
	}
}

func FuzzSecrets(f *testing.F) {
	f.Add("https://ada:secret@host/", "text https://ada:secret@host/ text")
	f.Fuzz(func(t *testing.T, v, text string) {
		s := SecretsOf(map[string]string{"PIP_INDEX_URL": v})
		for _, secret := range s {
			if len(secret) == 0 {
				t.Fatal("an empty secret")
			}
		}
		if len(s) == 0 && string(s.Mask([]byte(text))) != text {
			t.Fatal("changed without a secret")
		}
	})
}
