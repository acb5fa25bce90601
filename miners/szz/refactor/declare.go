package refactor

import (
	"slices"
	"strings"
	"unicode"

	"sluice/miners/lang"
)

// Words before a name.
var (
	definers  = strings.Fields("class struct interface enum union type def func fn function trait module namespace")
	declarers = strings.Fields("var let const auto mut as for val")
	// operators are words that a value follows, not a new name.
	operators = strings.Fields(`return in is not and or if else elif throw new delete goto case yield await typeof raise del import from
		while until unless when switch sizeof instanceof assert print defer go range select chan package use extends implements`)
)

func text(tokens []lang.Token, i int) string {
	if i < 0 || i >= len(tokens) {
		return ""
	}
	return tokens[i].Text
}

// definesName tells whether the i-th token is the name that a line defines: of a class, a function, a type.
func definesName(tokens []lang.Token, i int) bool {
	return slices.Contains(definers, text(tokens, i-1))
}

// ownName finds the name of the function that a line is the head of: the first name before a parenthesis; -1 when there is none.
func ownName(tokens []lang.Token) int {
	for i, t := range tokens {
		if t.Name && text(tokens, i+1) == "(" {
			return i
		}
	}
	return -1
}

// parameter tells whether the i-th token of the first line of a function is the name of a parameter or of a receiver.
func parameter(head []lang.Token, i int, typed bool) bool {
	own := ownName(head)
	if !head[i].Name || own < 0 {
		return false
	}
	before, after := text(head, i-1), text(head, i+1)
	if i < own {
		return i == 2 && head[0].Text == "func" && before == "("
	}
	depth := 0
	for _, t := range head[own:i] {
		switch t.Text {
		case "(", "[", "{":
			depth++
		case ")", "]", "}":
			if depth--; depth == 0 {
				return false // behind the parameters
			}
		}
	}
	if typed {
		return depth == 1 && before != "(" && before != "," && slices.Contains([]string{",", ")", "=", "[", ""}, after)
	}
	return depth == 1 && slices.Contains([]string{"(", ",", "*", "**", "&", "mut", "..."}, before)
}

// declares tells whether a line declares the name at its i-th token.
func declares(tokens []lang.Token, i int, typed bool) bool {
	before, after := text(tokens, i-1), text(tokens, i+1)
	switch {
	case slices.Contains(declarers, before):
		return true
	case after == "=" || after == ":=":
		return i == 0 || (before == "*" || before == "&") && i > 1 || typed && typeWord(tokens, i-1)
	case before == "" || before == ",":
		return several(tokens, i)
	case typed && typeWord(tokens, i-1):
		return slices.Contains([]string{";", ",", ")", ":", "[", ""}, after)
	}
	return false
}

// typeWord tells whether a token may be a type: a name, or a word that is no operator.
func typeWord(tokens []lang.Token, i int) bool {
	word := text(tokens, i)
	if word == "" || slices.Contains(operators, word) {
		return false
	}
	return tokens[i].Name || unicode.IsLetter([]rune(word)[0])
}

// several knows the left side of "a, b := f()".
func several(tokens []lang.Token, i int) bool {
	for _, t := range tokens[:i] {
		if !t.Name && t.Text != "," {
			return false
		}
	}
	for _, t := range tokens[i:] {
		switch {
		case t.Text == ":=" || t.Text == "=":
			return true
		case !t.Name && t.Text != ",":
			return false
		}
	}
	return false
}
