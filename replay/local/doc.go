// Package local is the sandbox that runs jobs on the host, without Docker.
//
// A step runs in a throw-away folder behind the kernel's own walls, where the kernel allows them: namespaces of its own
// for mounts, processes, network (loopback only), IPC and host name; a root file system that shows the host's system
// folders and tools read-only and nothing else of the host (no home folders, no sockets, no disks); no capabilities;
// cgroups for memory, processes and CPU. Where the kernel refuses, it falls back to a process group and rlimits, and
// Capabilities says what is missing. It runs the code of whoever wrote the repository on the user's machine, so a caller
// must have been asked for it by name; the docker sandbox is the default. It never runs tests with a network, never
// writes through a link of a repository, never reads output from a pipe, and never removes what is not its own.
//
// # How a step runs
//
// The program starts itself again (Init must be the first call in main) as process 1 of the new namespaces: it builds the
// root, starts the step, collects orphans and exits when the step's own process has exited. The kernel then kills
// whatever is left, so that no background process can delay or outlive a step. Its lifeline is a pipe from the sandbox:
// if the sandbox dies, however suddenly, the step dies too. A step costs about 10 ms on top of its command, plus what the
// packages of the program need to initialise.
//
// # Environments and caches
//
// An environment is one folder per recipe fingerprint, built once and from then on only read. A job sees it at the same
// place, under an overlay whose upper layer is thrown away with the job: a job may write to it, and nobody else ever sees
// that. HOME and with it the Go build cache lie in the environment, so what Install compiled (the standard library,
// dependencies) is warm in each job, while no test can poison the cache of another run. What a job compiles itself is
// lost with it. Keeping that per state was measured and left out: for a module of 97 files with 10 test binaries it would
// save 6 of 8 CPU seconds of a repeat's compilation, but the repeats of a decisive run would no longer be independent of
// what the tests of an earlier one left in the cache.
//
// # Without root, and without namespaces
//
// Without root the same walls stand in a user namespace; only the cgroups may be missing. Where namespaces are refused,
// steps run in the host's own file system with paths that differ from job to job, and share the environment's folder.
package local
