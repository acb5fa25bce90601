package gitrepo

// At opens a bare repository that a test made as if it were a mirror, which saves making one.
func At(dir string) *Mirror {
	g := git{dir: dir}
	return &Mirror{source: source{path: dir, shown: dir}, git: g, objects: newPool(g)}
}

// ParseCommit reads the header of a commit object.
func ParseCommit(data []byte) Commit { return parseCommit(object{data: data}) }

// ParseAdded is for the fuzzer.
var ParseAdded = parseAdded
