package python

import (
	"slices"
	"strconv"
	"strings"
)

// poetry reads [tool.poetry], whose versions have a grammar of their own.
func poetry(t table, p *info) {
	if len(t) == 0 {
		return
	}
	if p.name == "" {
		p.name = t.str("name")
	}
	optional := map[string]string{}
	for _, name := range sortedKeys(t.table("dependencies")) {
		req, isOptional, ok := poetryRequirement(name, t.table("dependencies")[name])
		switch {
		case !ok || normal(name) == "python":
		case isOptional:
			optional[normal(name)] = req
		default:
			p.requires = append(p.requires, req)
		}
	}
	extras := t.table("extras")
	for name := range extras {
		for _, dep := range extras.strings(name) {
			if req := optional[normal(dep)]; req != "" {
				p.extras[normal(name)] = append(p.extras[normal(name)], req)
			}
		}
	}
	poetryGroup("dev", t.table("dev-dependencies"), p)
	groups := t.table("group")
	for name := range groups {
		poetryGroup(normal(name), groups.table(name).table("dependencies"), p)
	}
}

func poetryGroup(name string, deps table, p *info) {
	for _, dep := range sortedKeys(deps) {
		if req, _, ok := poetryRequirement(dep, deps[dep]); ok {
			p.groups[name] = append(p.groups[name], req)
		}
	}
}

// poetryRequirement turns `name = "^1.2"` or `name = {version = …, extras = […], markers = …}` into PEP 508. A list of
// alternatives gives its first; a git or path dependency gives its name without a version.
func poetryRequirement(name string, v any) (req string, optional, ok bool) {
	if list, isList := v.([]any); isList && len(list) > 0 {
		v = list[0]
	}
	switch v := v.(type) {
	case string:
		return name + poetryVersion(v), false, true
	case map[string]any:
		t := table(v)
		if x := t.strings("extras"); len(x) > 0 {
			name += "[" + strings.Join(x, ",") + "]"
		}
		req = name + poetryVersion(t.str("version"))
		if m := t.str("markers"); m != "" {
			req += " ; " + m
		}
		optional, _ = v["optional"].(bool)
		return req, optional, true
	}
	return "", false, false
}

// poetryVersion translates a version constraint; one that it does not understand allows every version.
func poetryVersion(v string) string {
	if strings.Contains(v, "||") || strings.Contains(v, "|") {
		return ""
	}
	var parts []string
	for _, c := range strings.Split(v, ",") {
		c = strings.ReplaceAll(strings.TrimSpace(c), " ", "")
		switch {
		case c == "" || c == "*":
		case c[0] == '^':
			parts = append(parts, caret(c[1:], 0))
		case c[0] == '~' && !strings.HasPrefix(c, "~="):
			parts = append(parts, caret(c[1:], 1))
		case strings.ContainsRune("<>=!~", rune(c[0])):
			parts = append(parts, c)
		default:
			parts = append(parts, "=="+c)
		}
	}
	return strings.Join(parts, ",")
}

// caret gives the range from a version to where a number left of its tail changes: for ^ the first that is not zero,
// for ~ the second.
func caret(v string, keep int) string {
	nums := strings.Split(v, ".")
	at := min(keep, len(nums)-1)
	if keep == 0 {
		for at < len(nums)-1 && nums[at] == "0" {
			at++
		}
	}
	n, err := strconv.Atoi(nums[at])
	if err != nil || n > 1<<30 {
		return ">=" + v
	}
	upper := append(slices.Clone(nums[:at]), strconv.Itoa(n+1))
	return ">=" + v + ",<" + strings.Join(upper, ".")
}
