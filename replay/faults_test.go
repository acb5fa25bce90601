package replay

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// TestInstallFault has the words of tools, as they printed them.
func TestInstallFault(t *testing.T) {
	for _, tt := range []struct {
		said string
		want error
	}{
		{"WARNING: Retrying after connection broken by 'NewConnectionError: Temporary failure in name resolution'", ErrNetwork},
		{"ERROR: HTTPSConnectionPool(host='h', port=443): Max retries exceeded with url: /simple/x/", ErrNetwork},
		{"  × Failed to fetch: `https://h/simple/x/`\n  ├─▶ error sending request for url (https://h/simple/x/)\n  ╰─▶ operation timed out", ErrNetwork},
		{"  ├─▶ HTTP status server error (503 Service Unavailable) for url (https://h/x.whl)", ErrNetwork},
		{"sluice: the network or the index failed: nothing is left out for that", ErrNetwork},
		{"fatal: unable to access 'x': Could not resolve host: h", ErrNetwork},
		{"dial tcp: lookup h: no such host", ErrNetwork},
		{`go: m@v1.0.0: Get "https://h/m/@v/v1.0.0.info": dial tcp 192.0.2.1:443: i/o timeout`, ErrNetwork},
		{"go: m@v1.0.0: reading https://h/m/@v/v1.0.0.mod: 502 Bad Gateway", ErrNetwork},
		{"net/http: TLS handshake timeout", ErrNetwork},
		{"ERROR: HTTP error 429 while getting x", ErrNetwork},
		{"toomanyrequests: You have reached your pull rate limit", ErrNetwork},
		{"unexpected status: 503 Service Unavailable", ErrNetwork},
		{"npm error code ETIMEDOUT\nnpm error errno ETIMEDOUT", ErrNetwork},
		{"npm ERR! code EAI_AGAIN\nnpm ERR! syscall getaddrinfo", ErrNetwork},
		{"npm ERR! code E503\nnpm ERR! 503 - GET https://h/x", ErrNetwork},
		{"npm ERR! network request to https://h/x failed, reason: socket hang up", ErrNetwork},
		{" ERR_PNPM_META_FETCH_FAIL  GET https://h/x: request failed", ErrNetwork},
		{`info There appears to be trouble with your network connection. Retrying...`, ErrNetwork},
		{"Could not transfer artifact g:a:pom:1 from/to central (https://h): status code: 503, reason phrase: x (503)", ErrNetwork},
		{"Could not transfer artifact g:a:jar:1 from/to central (https://h): Connect timed out", ErrNetwork},
		{"Could not transfer artifact g:a:jar:1 from/to central (https://h): Premature end of Content-Length delimited message body", ErrNetwork},
		{"Caused by:\n  [28] Timeout was reached (download of `x v1.0.0` failed to transfer more than 10 bytes in 30s)", ErrNetwork},
		{"warning: spurious network error (1 tries remaining): [35] SSL connect error", ErrNetwork},
		{"urllib.error.HTTPError: HTTP Error 503: Service Unavailable", ErrNetwork},
		{"E: Failed to fetch http://h/x.deb  Connection timed out [IP: 192.0.2.1 80]", ErrNetwork},
		{"OSError: [Errno 28] No space left on device", ErrNoSpace},
		{"ERROR: No matching distribution found for nothing==429", nil},
		{"error: command 'gcc' failed with exit code 1 at line 429", nil},
		{"go: module x: 404 Not Found", nil},
		{"npm error code E404\nnpm error 404 Not Found - GET https://h/x - Not found", nil},
		{"npm error code ERESOLVE\nnpm error ERESOLVE could not resolve", nil},
		{"Could not find artifact g:a:jar:1 in central (https://h)", nil},
		{"error: no matching package named `x` found", nil},
		{"error: could not resolve `networkx.errors`", nil},
		{"test 503 of 600 failed", nil},
		{"", nil},
	} {
		got := InstallFault(StepResult{Name: "install", Stop: Exited, ExitCode: 1, Stderr: []byte(tt.said)})
		if !errors.Is(got, tt.want) || (got == nil) != (tt.want == nil) {
			t.Errorf("%q: got %v, want %v", tt.said, got, tt.want)
		}
		if again := InstallFault(StepResult{Stop: Exited, ExitCode: 1, Stdout: []byte(tt.said)}); (again == nil) != (tt.want == nil) {
			t.Errorf("%q on stdout: got %v", tt.said, again)
		}
	}
	early := "connection reset by peer, retrying\n" + strings.Repeat("built a wheel\n", 1000) + "compile error\n"
	if got := InstallFault(StepResult{Stop: Exited, ExitCode: 1, Stdout: []byte(early)}); got != nil {
		t.Errorf("trouble that was overcome gave %v", got)
	}
}

// TestInstallFaultOfEnds: only the time limit is the machine's; memory and files are the recipe's own.
func TestInstallFaultOfEnds(t *testing.T) {
	for stop, want := range map[Stop]error{Timeout: ErrInstallTime, OOM: nil, DiskFull: nil, Signal: nil} {
		got := InstallFault(StepResult{Name: "build", Stop: stop, Duration: time.Minute, Stderr: []byte("connection reset")})
		if !errors.Is(got, want) || (got == nil) != (want == nil) {
			t.Errorf("%s: %v", stop, got)
		}
	}
}

// TestInstallErrorNamesTheLimit: a code of 137 explains nothing; see github.com/logic-star-ai/swt-bench/issues/15.
func TestInstallErrorNamesTheLimit(t *testing.T) {
	oom := &InstallError{Step: StepResult{Name: "build", Stop: OOM, ExitCode: 137}, Memory: 4 << 30}
	if got := oom.Error(); got != "installing: step build oom at the memory limit of 4096 MiB" {
		t.Error(got)
	}
	failed := &InstallError{Step: StepResult{Name: "build", Stop: Exited, ExitCode: 1}, Memory: 4 << 30}
	if got := failed.Error(); got != "installing: step build exited" {
		t.Error(got)
	}
}

func FuzzFaultOf(f *testing.F) {
	f.Add("npm error code ETIMEDOUT")
	f.Add(strings.Repeat("429 ", 100))
	f.Fuzz(func(t *testing.T, words string) {
		if err := FaultOf(words); err != nil && err != ErrNetwork && err != ErrNoSpace {
			t.Errorf("%q: %v", words, err)
		}
	})
}
