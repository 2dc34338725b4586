package celcost

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// said names bounds as an author would write them; of many the first.
func (a *adviser) said(b bounds) string {
	var parts []string
	for _, key := range sortedKeys(b) {
		c := a.costs.known[key]
		part := fmt.Sprintf("%s: %d on %s", c.keyword, b[key], fieldOf(c.steps))
		if !c.unbounded {
			part = fmt.Sprintf("%s: %d instead of %d on %s", c.keyword, b[key], c.most, fieldOf(c.steps))
		}
		parts = append(parts, part)
	}
	if len(parts) > few {
		parts = append(parts[:few/2], fmt.Sprintf("%d other bounds of the like", len(parts)-few/2))
	}
	return strings.Join(parts, " and ")
}

func (w *way) brings() string {
	if len(w.b) == 1 {
		return fmt.Sprintf("%s makes it cost %s", w.said, grouped(w.cost))
	}
	return fmt.Sprintf("%s together make it cost %s", w.said, grouped(w.cost))
}

func greatestSaid(count int) string {
	switch {
	case count == 1:
		return " (one more would be too many)"
	case count <= few:
		return " (one more of any would be too many)"
	}
	return " (one more of each would be too many)"
}

// grouped writes a number with commas between thousands.
func grouped(n uint64) string {
	if n == math.MaxUint64 {
		return "18,446,744,073,709,551,615 or more"
	}
	digits := strconv.FormatUint(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}
