package celcost

import (
	"strings"

	"github.com/google/cel-go/common"
	celast "github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/parser"
)

// formatted is an expression with each text that is put together from string(...) by "+" put together by format()
// instead: the estimate knows how long the pattern of a format() is, and not how long a string(...) is. False if there
// is none.
//
// The expression is parsed without macros, so that what is not changed is written out as it was. Integers get the clause
// %d, all else %s, which takes any value.
func formatted(text string, isInteger func(string) bool) (string, bool) {
	plain, err := parser.NewParser(parser.EnableOptionalSyntax(true))
	if err != nil {
		return "", false
	}
	parsed, errs := plain.Parse(common.NewTextSource(text))
	if len(errs.GetErrors()) > 0 {
		return "", false
	}
	factory, changed := celast.NewExprFactory(), false
	celast.PreOrderVisit(parsed.Expr(), celast.NewExprVisitor(func(e celast.Expr) {
		if pattern, values, ok := joined(e, func(value celast.Expr) bool {
			said, err := parser.Unparse(value, parsed.SourceInfo())
			return err == nil && isInteger(said)
		}); ok {
			changed = true
			call := factory.NewMemberCall(e.ID(), "format",
				factory.NewLiteral(e.ID(), types.String(pattern)), factory.NewList(e.ID(), values, nil))
			e.SetKindCase(call)
		}
	}))
	if !changed {
		return "", false
	}
	again, err := parser.Unparse(parsed.Expr(), parsed.SourceInfo())
	return again, err == nil
}

// joined takes a sum of texts apart, if one of them is string(...): the pattern of a format(), and its values.
func joined(e celast.Expr, isInteger func(celast.Expr) bool) (pattern string, values []celast.Expr, ok bool) {
	var said strings.Builder
	for _, part := range terms(e) {
		if part.Kind() == celast.LiteralKind {
			if literal, isText := part.AsLiteral().(types.String); isText {
				said.WriteString(strings.ReplaceAll(string(literal), "%", "%%"))
				continue
			}
		}
		if part.Kind() == celast.CallKind {
			if call := part.AsCall(); call.FunctionName() == "string" && !call.IsMemberFunction() && len(call.Args()) == 1 {
				part, ok = call.Args()[0], true
			}
		}
		if isInteger(part) {
			said.WriteString("%d")
		} else {
			said.WriteString("%s")
		}
		values = append(values, part)
	}
	return said.String(), values, ok && e.Kind() == celast.CallKind && e.AsCall().FunctionName() == operators.Add
}

func terms(e celast.Expr) []celast.Expr {
	if e.Kind() == celast.CallKind && e.AsCall().FunctionName() == operators.Add {
		args := e.AsCall().Args()
		return append(terms(args[0]), terms(args[1])...)
	}
	return []celast.Expr{e}
}
