package answer

import "labkit.example/controlplane/internal/celcost"

// celCost estimates the rules of a definition; of a refused one too, for what they cost may be why.
func (a *Answerer) celCost(r *request) (any, error) {
	d, err := a.definition(r)
	if err != nil {
		return nil, err
	}
	var lines []string
	if d.Refusal != nil {
		lines = d.Refusal.Lines
	}
	return celcost.Estimate(d.Internal, lines)
}
