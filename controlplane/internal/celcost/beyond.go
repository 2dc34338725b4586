package celcost

import (
	"fmt"
	"strings"
)

// unhelped says why no bound helps an expression over the limit, and what does if that is known.
func (a *adviser) unhelped(e *expression) error {
	again, err := a.estimator(e)
	if err != nil {
		return err
	}
	floor, err := a.confirm(e, all(again.candidates, 0))
	if err != nil {
		return err
	}
	if floor <= ExpressionLimit {
		a.advice[e] = append(a.advice[e], Advice{
			Text:   "bounds that would be enough do not go with the schema's default values",
			Bounds: []Bound{},
		})
		return nil
	}
	advice := Advice{Bounds: []Bound{}, Text: fmt.Sprintf("no bound helps: with the least ones it still costs %s", grouped(floor))}
	if len(again.candidates) == 0 {
		advice.Text = "no bound helps: what it costs depends on no maxLength, maxItems or maxProperties"
	}
	if len(again.unsized) > 0 && floor > ExpressionLimit*ExpressionLimit {
		advice.Text += fmt.Sprintf("; nothing tells how long %s can be, so the greatest length is assumed", strings.Join(again.unsized, " or "))
	}
	a.beyond[e] = 0
	if text, ok := formatted(e.text, again.isInteger); ok {
		cost, err := costAt(e.place, e, text)
		if err == nil && cost <= ExpressionLimit {
			advice.Text += fmt.Sprintf("; format() helps: %s costs %s", text, grouped(cost))
			advice.Expression, advice.EstimatedCost = text, number(cost)
			a.beyond[e] = cost
		}
	}
	a.advice[e] = append(a.advice[e], advice)
	return nil
}
