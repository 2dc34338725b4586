package celcost

import "slices"

const (
	// heaviest is to how many expressions the search for a lower total looks.
	heaviest = 100
	// named is how many of them are told of it; the server names as many.
	named = 4
)

// whole looks for bounds that bring the schema's total under its limit, and each expression under its own. Expressions
// that no bound helps count as what to write instead.
func (a *adviser) whole() error {
	heavy := a.heavy()
	if a.enoughSaid() || len(heavy) == 0 {
		return nil
	}
	looking := &search{}
	for _, e := range heavy {
		again, err := a.estimator(e)
		if err != nil {
			return err
		}
		for _, c := range again.candidates {
			if !slices.Contains(looking.candidates, c) {
				looking.candidates = append(looking.candidates, c)
			}
		}
	}
	concerned, err := a.concerned(looking.candidates)
	if err != nil {
		return err
	}
	cost := func(b bounds, again func(*expression) (uint64, error)) func(*expression) (uint64, error) {
		return func(e *expression) (uint64, error) {
			if one := concerned[e]; one != nil && slices.ContainsFunc(one.candidates, func(c *candidate) bool { return b[c.key] > 0 }) {
				return again(e)
			}
			return e.cost, nil
		}
	}
	looking.holds = func(b bounds) (bool, error) {
		return a.fits(cost(b, func(e *expression) (uint64, error) { return concerned[e].cost(b) }))
	}
	confirm := func(b bounds) (uint64, error) {
		return a.sum(cost(b, func(e *expression) (uint64, error) { return a.confirm(e, b) }))
	}
	found, err := a.ways(looking, SchemaLimit, choices, confirm)
	if err != nil {
		return err
	}
	for _, one := range found {
		if err := a.addWhole(heavy, one); err != nil {
			return err
		}
	}
	if len(found) == 0 {
		for _, e := range heavy[:min(len(heavy), named)] {
			a.add(e, Advice{Kind: adviseNoTotal, Tried: len(heavy)})
		}
	}
	return nil
}

// heavy are the costliest expressions that bounds may help.
func (a *adviser) heavy() []*expression {
	var heavy []*expression
	for _, e := range a.costs.expressions {
		if _, beyond := a.beyond[e]; e.compiled && !beyond && e.cost >= SchemaLimit/100 {
			heavy = append(heavy, e)
		}
	}
	slices.SortStableFunc(heavy, func(x, y *expression) int {
		switch {
		case x.cost > y.cost:
			return -1
		case x.cost < y.cost:
			return 1
		}
		return 0
	})
	return heavy[:min(len(heavy), heaviest)]
}

// enoughSaid tells whether the total is under its limit once the advice on each expression over its own is followed.
func (a *adviser) enoughSaid() bool {
	fits, _ := a.fits(func(e *expression) (uint64, error) {
		if e.cost > ExpressionLimit && len(a.advice[e]) > 0 && a.advice[e][0].EstimatedCost != nil {
			return uint64(*a.advice[e][0].EstimatedCost), nil
		}
		return e.cost, nil
	})
	return fits
}

// concerned are the estimators of the expressions whose cost one of the candidates may change.
func (a *adviser) concerned(candidates []*candidate) (map[*expression]*estimator, error) {
	found := map[*expression]*estimator{}
	for _, e := range a.costs.expressions {
		near := slices.ContainsFunc(candidates, func(c *candidate) bool {
			shared := min(len(c.steps), len(e.place.steps))
			return slices.Equal(c.steps[:shared], e.place.steps[:shared])
		})
		if !e.compiled || !near {
			continue
		}
		again, err := a.estimator(e)
		if err != nil {
			return nil, err
		}
		found[e] = again
	}
	return found, nil
}

// fits tells whether the total and each expression are within their limits.
func (a *adviser) fits(cost func(*expression) (uint64, error)) (bool, error) {
	total, err := a.sum(cost)
	return total <= SchemaLimit, err
}

// sum is the total, or more than its limit if one expression is over its own.
func (a *adviser) sum(cost func(*expression) (uint64, error)) (uint64, error) {
	total := uint64(0)
	for _, e := range a.costs.expressions {
		if !e.compiled {
			continue
		}
		instead, beyond := a.beyond[e]
		if !beyond {
			var err error
			if instead, err = cost(e); err != nil {
				return 0, err
			}
		}
		if instead > ExpressionLimit {
			return SchemaLimit + 1, nil
		}
		total += instead // no overflow: each is at most the limit of an expression
	}
	return total, nil
}

// addWhole tells the costliest of the expressions that get cheaper by it.
func (a *adviser) addWhole(heavy []*expression, one way) error {
	told := 0
	for _, e := range heavy {
		if told == named {
			break
		}
		cost, err := a.confirm(e, one.b)
		if err != nil {
			return err
		}
		if cost < e.cost {
			told++
			advice := one.advice(a, adviseTotal, cost)
			advice.Total = number(one.cost)
			a.add(e, advice)
		}
	}
	return nil
}
