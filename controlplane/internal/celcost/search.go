package celcost

import "slices"

// few is up to how many bounds together are each made as great as they can be; more have one value.
const few = 8

// search looks for bounds with which something holds. It relies on one property of estimates: no bound that gets
// smaller makes a cost greater.
type search struct {
	candidates []*candidate
	holds      func(bounds) (bool, error)
}

// single finds for each candidate that suffices alone its greatest bound; those that have no bound yet come first.
func (s *search) single() ([]bounds, error) {
	var open, tighter []bounds
	for _, c := range s.candidates {
		value, ok, err := s.greatest(c, bounds{})
		if err != nil {
			return nil, err
		}
		if !ok {
			continue
		}
		if found := (bounds{c.key: value}); c.unbounded {
			open = append(open, found)
		} else {
			tighter = append(tighter, found)
		}
	}
	return append(open, tighter...), nil
}

// greatest is the greatest bound of one candidate beside those of others.
func (s *search) greatest(c *candidate, others bounds) (int64, bool, error) {
	return greatest(c.least, c.most, func(value int64) (bool, error) { return s.holds(with(others, c.key, value)) })
}

// together finds bounds for as few candidates as it takes, of those that have none yet or else of all. They are as
// equal as can be; if they are few, none can be greater with the others as they are. Nil if no bounds suffice.
func (s *search) together() (bounds, error) {
	open := slices.DeleteFunc(slices.Clone(s.candidates), func(c *candidate) bool { return !c.unbounded })
	for _, group := range [][]*candidate{open, s.candidates} {
		ok, err := s.holds(all(group, 0))
		if err != nil {
			return nil, err
		}
		if ok && len(group) > 0 {
			return s.widened(group)
		}
	}
	return nil, nil
}

func (s *search) widened(group []*candidate) (bounds, error) {
	for i := len(group) - 1; i >= 0; i-- { // leave out the innermost first
		fewer := slices.Delete(slices.Clone(group), i, i+1)
		ok, err := s.holds(all(fewer, 0))
		if err != nil {
			return nil, err
		}
		if ok {
			group = fewer
		}
	}
	var most int64
	for _, c := range group {
		most = max(most, c.most)
	}
	same, _, err := greatest(0, most, func(value int64) (bool, error) { return s.holds(all(group, value)) })
	if err != nil {
		return nil, err
	}
	found := all(group, same)
	if len(group) > few {
		return found, nil
	}
	for _, c := range group {
		value, _, err := s.greatest(c, found)
		if err != nil {
			return nil, err
		}
		found[c.key] = value
	}
	return found, nil
}

// all bounds a group at one value, as near to it as each can be.
func all(group []*candidate, value int64) bounds {
	found := bounds{}
	for _, c := range group {
		found[c.key] = min(max(value, c.least), max(c.most, c.least))
	}
	return found
}

func with(others bounds, key string, value int64) bounds {
	changed := bounds{key: value}
	for k, v := range others {
		if k != key {
			changed[k] = v
		}
	}
	return changed
}

// greatest is the greatest value from least to most for which something holds that holds for all smaller ones.
func greatest(least, most int64, holds func(int64) (bool, error)) (int64, bool, error) {
	if least > most {
		return 0, false, nil
	}
	if ok, err := holds(least); !ok || err != nil {
		return 0, false, err
	}
	if ok, err := holds(most); ok || err != nil {
		return most, true, err
	}
	for most-least > 1 {
		middle := least + (most-least)/2
		ok, err := holds(middle)
		if err != nil {
			return 0, false, err
		}
		if ok {
			least = middle
		} else {
			most = middle
		}
	}
	return least, true, nil
}
