package lang

import (
	"path"
	"strings"

	"github.com/go-enry/go-enry/v2"
)

// Language names the language of the file at a path, judged by the path alone, with the names of GitHub's linguist
// ("Go", "C++", "TSX"); "" when it is not known. Where an extension has several languages the most used one is taken.
func Language(name string) string {
	base := path.Base(name)
	if l, _ := enry.GetLanguageByFilename(base); l != "" {
		return l
	}
	if l, ok := commonest[strings.ToLower(path.Ext(base))]; ok {
		return l
	}
	l, _ := enry.GetLanguageByExtension(base)
	return l
}

// commonest settles the extensions for which the alphabet is a bad guide.
var commonest = map[string]string{
	".cfg": "INI", ".d": "D", ".ebuild": "Shell", ".eclass": "Shell", ".frag": "GLSL", ".fs": "F#", ".html": "HTML", ".inc": "",
	".l": "Lex", ".m": "Objective-C", ".md": "Markdown", ".ml": "OCaml", ".mod": "", ".php": "PHP", ".pl": "Perl", ".pro": "",
	".r": "R", ".rs": "Rust", ".s": "Assembly", ".sol": "Solidity", ".sql": "SQL", ".t": "Perl", ".txt": "Text", ".v": "Verilog",
	".yaml": "YAML", ".yml": "YAML",
}
