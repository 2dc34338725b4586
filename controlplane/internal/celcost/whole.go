package celcost

import (
	"fmt"
	"slices"
)

// heaviest is how many expressions the search for a lower total begins with; the server names four.
const heaviest = 8

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
	looking.holds = func(b bounds) (bool, error) {
		return a.fits(func(e *expression) (uint64, error) {
			again := concerned[e]
			if again == nil || !slices.ContainsFunc(again.candidates, func(c *candidate) bool { return b[c.key()] > 0 }) {
				return e.cost, nil
			}
			return again.cost(b)
		})
	}
	found, err := a.ways(looking, SchemaLimit, choices, a.confirmWhole)
	if err != nil {
		return err
	}
	for _, one := range found {
		if err := a.addWhole(heavy, one); err != nil {
			return err
		}
	}
	if len(found) == 0 {
		for _, e := range heavy {
			a.advice[e] = append(a.advice[e], Advice{
				Text:   "the schema's total is over its limit, and no bounds were found that bring it under: fewer or simpler rules do",
				Bounds: []Bound{},
			})
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

// confirmWhole compiles the whole schema with the bounds.
func (a *adviser) confirmWhole(b bounds) (uint64, error) {
	changed, err := a.changed(b)
	if err != nil {
		return 0, err
	}
	return a.sum(func(e *expression) (uint64, error) { return changed[e].cost, nil })
}

// changed are the expressions as they are with the bounds, by what they were.
func (a *adviser) changed(b bounds) (map[*expression]*expression, error) {
	again, err := newCosts(a.bounded(b), a.costs.path)
	if err != nil {
		return nil, err
	}
	changed := map[*expression]*expression{}
	for i, e := range a.costs.expressions { // both in the order of the walk
		changed[e] = again.expressions[i]
	}
	return changed, nil
}

func (a *adviser) addWhole(heavy []*expression, one way) error {
	changed, err := a.changed(one.b)
	if err != nil {
		return err
	}
	for _, e := range heavy {
		if changed[e].cost < e.cost {
			a.add(e, one.b, changed[e].cost, fmt.Sprintf("for the schema's total: %s brings it from %s to %s%s",
				one.said, grouped(a.costs.total), grouped(one.cost), one.greatest))
		}
	}
	return nil
}
