package celcost

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
		a.add(e, Advice{Kind: adviseDefaults})
		return nil
	}
	advice := Advice{Kind: adviseNoBounds}
	if len(again.candidates) > 0 {
		advice.Least = number(floor)
	}
	if floor > ExpressionLimit*ExpressionLimit {
		advice.Unsized = again.unsized
	}
	a.beyond[e] = 0
	if text, ok := formatted(e.text, again.isInteger); ok {
		cost, err := costAt(e.place, e, text)
		if err == nil && cost <= ExpressionLimit {
			advice.Expression, advice.EstimatedCost = text, number(cost)
			a.beyond[e] = cost
		}
	}
	a.add(e, advice)
	return nil
}
