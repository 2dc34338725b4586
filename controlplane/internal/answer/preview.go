package answer

import (
	"fmt"
	"runtime"
	"sync"

	"labkit.example/controlplane/internal/definition"
	"labkit.example/controlplane/internal/trace"
)

// previewed is the result of preview.
type previewed struct {
	// Version is the one of all reads and writes.
	Version string `json:"version"`
	// Objects are in the order of the request.
	Objects []forecast `json:"objects"`
}

// forecast is one object's, or the error of a text that is no object of the definition.
type forecast struct {
	*trace.Forecast
	Error *Error `json:"error,omitempty"`
}

// preview takes many objects at once, and works on as many at a time as there are processors.
func (a *Answerer) preview(r *request) (any, error) {
	d, err := a.definition(r)
	if err != nil {
		return nil, err
	}
	if d.Refusal != nil {
		return nil, &fault{"definition", d.Refusal}
	}
	serving, err := d.Serve()
	if err != nil {
		return nil, err
	}
	version, err := trace.PreviewVersion(serving, r.ReadVersion)
	if err != nil {
		return nil, err
	}
	result := previewed{Version: version, Objects: make([]forecast, len(r.Objects))}
	places := make(chan int)
	var working sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		working.Go(func() {
			for i := range places {
				result.Objects[i] = forecastOf(serving, r.Objects[i], version)
			}
		})
	}
	for i := range r.Objects {
		places <- i
	}
	close(places)
	working.Wait()
	return result, nil
}

// forecastOf keeps a panic to the object that caused it.
func forecastOf(serving *definition.Serving, text, version string) (f forecast) {
	defer func() {
		if cause := recover(); cause != nil {
			f = forecast{Error: asError(&fault{"internal", fmt.Errorf("panic: %v", cause)})}
		}
	}()
	found, err := trace.Preview(serving, text, version)
	if err != nil {
		return forecast{Error: asError(err)}
	}
	return forecast{Forecast: found}
}
