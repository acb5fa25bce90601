package maven

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"io"
	"path"
	"regexp"
	"slices"
	"strings"

	"sluice/replay/tools/jvm"
	"sluice/replay/tools/project"
)

const pomFile = "pom.xml"

// maxPoms bounds the modules that are looked at, and the files that Install reads. Without one of either Maven itself would fail.
const maxPoms = 2000

var errTooMany = project.ErrNoRecipe{Reason: fmt.Sprintf("the Maven project has more than %d modules or poms", maxPoms)}

// pom is what is read of a pom.xml. Profiles are not: what they say holds on some machines.
type pom struct {
	Group      string     `xml:"groupId"`
	Artifact   string     `xml:"artifactId"`
	Version    string     `xml:"version"`
	Packaging  string     `xml:"packaging"`
	Parent     parent     `xml:"parent"`
	Modules    []string   `xml:"modules>module"`
	Properties properties `xml:"properties"`
	Plugins    []plugin   `xml:"build>plugins>plugin"`
	Managed    []plugin   `xml:"build>pluginManagement>plugins>plugin"`

	Dependencies        []dependency `xml:"dependencies>dependency"`
	ManagedDependencies []dependency `xml:"dependencyManagement>dependencies>dependency"`
}

// group is the pom's own, or else its parent's, as is its version.
func (p *pom) group() string { return cmp.Or(p.Group, p.Parent.Group) }

func (p *pom) version() string { return cmp.Or(p.Version, p.Parent.Version) }

type parent struct {
	Group    string `xml:"groupId"`
	Artifact string `xml:"artifactId"`
	Version  string `xml:"version"`
}

type dependency struct {
	Group    string `xml:"groupId"`
	Artifact string `xml:"artifactId"`
	Version  string `xml:"version"`
	Scope    string `xml:"scope"`
}

type plugin struct {
	Artifact string `xml:"artifactId"`
	Source   string `xml:"configuration>source"`
	Target   string `xml:"configuration>target"`
	Release  string `xml:"configuration>release"`
	JDK      string `xml:"configuration>toolchains>jdk>version"`
	Words    string `xml:",innerxml"`
}

type properties map[string]string

// UnmarshalXML reads elements of any name.
func (p *properties) UnmarshalXML(dec *xml.Decoder, start xml.StartElement) error {
	var list struct {
		All []struct {
			XMLName xml.Name
			Text    string `xml:",chardata"`
		} `xml:",any"`
	}
	if err := dec.DecodeElement(&list, &start); err != nil {
		return err
	}
	if *p == nil {
		*p = properties{}
	}
	for _, e := range list.All {
		(*p)[e.XMLName.Local] = strings.TrimSpace(e.Text)
	}
	return nil
}

// readPom reads the pom.xml of a folder; nil if there is none, or none that can be read.
func readPom(t *project.Tree, dir string) (*pom, error) {
	text, err := t.Read(path.Join(dir, pomFile))
	if err != nil || text == "" {
		return nil, err
	}
	dec := xml.NewDecoder(strings.NewReader(text))
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	var p pom
	if dec.Decode(&p) != nil {
		return nil, nil
	}
	return &p, nil
}

// module is one of a reactor, by its folder in the tree.
type module struct {
	dir string
	pom *pom
}

// reactor is the pom in a folder with all modules below it, the folder's own first. Too many are an ErrNoRecipe.
func reactor(t *project.Tree, dir string) ([]module, error) {
	var list []module
	seen := map[string]bool{}
	queue := []string{dir}
	for len(queue) > 0 {
		d := queue[0]
		queue = queue[1:]
		if seen[d] {
			continue
		}
		seen[d] = true
		p, err := readPom(t, d)
		if err != nil {
			return nil, fmt.Errorf("reading a pom: %w", err)
		}
		if p == nil {
			continue
		}
		if len(list) == maxPoms {
			return nil, errTooMany
		}
		list = append(list, module{d, p})
		for _, m := range p.Modules {
			m = strings.TrimSuffix(strings.TrimSpace(m), "/"+pomFile)
			if sub, ok := project.Inside(d, m); ok && m != "" {
				queue = append(queue, sub)
			}
		}
	}
	return list, nil
}

// top is the folder of the outermost pom that has the one in dir among its modules. Where none of those above has it, it is one that
// lies apart: of a flat layout, whose pom names its modules by "../a".
func top(t *project.Tree, dir string) (string, error) {
	best := dir
	for up := dir; up != ""; {
		up = project.Dir(up)
		list, err := reactor(t, up)
		if err != nil {
			return "", err
		}
		if has(list, dir) {
			best = up
		}
	}
	if best != dir || dir == "" {
		return best, nil
	}
	var beside []string
	for f := range t.Files() {
		if d := project.Dir(f); path.Base(f) == pomFile && d != dir && !resource(f) && project.Dir(d) == project.Dir(dir) {
			beside = append(beside, d)
		}
	}
	if len(beside) > maxBeside {
		return dir, nil
	}
	slices.Sort(beside)
	for _, d := range beside {
		list, err := reactor(t, d)
		if err != nil {
			return "", err
		}
		if has(list, dir) && agree(list) {
			return d, nil
		}
	}
	return dir, nil
}

// agree says whether all modules name the version of the first one where it is their parent: if not, Maven builds none of them.
func agree(list []module) bool {
	top := list[0].pom
	return !slices.ContainsFunc(list, func(m module) bool {
		p := m.pom.Parent
		return p.Group == top.Group && p.Artifact == top.Artifact && p.Version != top.Version
	})
}

// maxBeside bounds the folders side by side that may have the pom of a flat layout.
const maxBeside = 200

func has(list []module, dir string) bool {
	return slices.ContainsFunc(list, func(m module) bool { return m.dir == dir })
}

var variable = regexp.MustCompile(`^\$\{([^${}]+)\}$`)

// level is the newest Java that modules say they are for; 0 if none says.
func level(list []module) int {
	all := merged(list)
	best := 0
	add := func(s string) {
		for range 5 {
			m := variable.FindStringSubmatch(strings.TrimSpace(s))
			if m == nil {
				break
			}
			s = all[m[1]]
		}
		best = max(best, jvm.Level(s))
	}
	for _, m := range list {
		for _, k := range []string{"source", "target", "release", "testSource", "testTarget", "testRelease"} {
			add(m.pom.Properties["maven.compiler."+k])
			add(m.pom.Properties["maven.compile."+k]) // of Apache's projects, until 2012 or so
		}
		for _, x := range slices.Concat(m.pom.Plugins, m.pom.Managed) {
			if x.Artifact == "maven-compiler-plugin" {
				add(x.Source)
				add(x.Target)
				add(x.Release)
			}
		}
	}
	// Spring Boot's parent, and others, take it from this one.
	if best == 0 {
		add(all["java.version"])
	}
	return best
}

var (
	toolchain = regexp.MustCompile(`^[\[(]?\s*(?:1\.)?(\d{1,2})\b`)
	// Newer JDKs than 17 let nobody set a security manager while a program runs.
	manager = regexp.MustCompile(`-Djava\.security\.manager|surefire\.security\.manager|<java\.security\.manager>`)
	comment = regexp.MustCompile(`(?s)<!--.*?-->`)
)

// lastManager is the last JDK in which tests may set a security manager (JEP 411).
const lastManager = 17

// asks is what a project says of the JDK that it runs on: its sources' level, Maven's toolchains, files that name one, tests with a security manager.
func asks(t *project.Tree, root string, list []module) (jvm.Asked, error) {
	a, err := jvm.Ask(t, root, level(list))
	if err != nil {
		return a, err
	}
	for _, m := range list {
		for _, x := range slices.Concat(m.pom.Plugins, m.pom.Managed) {
			switch x.Artifact {
			case "maven-toolchains-plugin":
				if v := toolchain.FindStringSubmatch(x.JDK); v != nil {
					n := jvm.Level(v[1])
					a.Bound(n, fmt.Sprintf("its toolchain is JDK %d", n))
				}
			case "maven-surefire-plugin":
				if manager.MatchString(comment.ReplaceAllString(x.Words, "")) {
					a.Bound(lastManager, "its tests have a security manager")
				}
			}
		}
	}
	return a, nil
}
