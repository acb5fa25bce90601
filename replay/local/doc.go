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
// if the sandbox dies, however suddenly, the step dies too. Isolation costs 10-20 ms per step, most of it the start of
// the program itself.
//
// # Environments and caches
//
// An environment is one folder per recipe fingerprint, built once and from then on only read. A job sees it at the same
// place, under an overlay whose upper layer is thrown away with the job: a job may write to it, and nobody else ever sees
// that. The Go build cache lies in the environment, so what Install compiled (the standard library, dependencies) is warm
// in each job while no test can poison the cache of another run. What a job compiles itself is lost with it. Keeping it
// per state was measured and left out: on a module of 60 files it would save 3 s of 5 s of a repeat, but the repeats of a
// decisive run would no longer be independent of what an earlier run's tests left in the cache.
package local
