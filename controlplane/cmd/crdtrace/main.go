//go:build js && wasm

// Command crdtrace answers in a browser what controlplane trace answers beside one: the same requests, the same answers.
//
// It defines one function, crdtrace, that takes a request as a text and returns the answer as one, calls crdtraceReady
// when it is there, and stays until its worker is ended.
package main

import (
	"syscall/js"

	"labkit.example/controlplane/internal/answer"
)

func main() {
	answer.Silence()
	a := answer.New()
	js.Global().Set("crdtrace", js.FuncOf(func(_ js.Value, arguments []js.Value) any {
		told, _ := a.Line([]byte(arguments[0].String()))
		return string(told)
	}))
	js.Global().Call("crdtraceReady")
	select {}
}
