// Package logs sends what the parts of Kubernetes and etcd log to one file, and turns their exits into errors.
//
// Both write to the terminal unless told otherwise, and both end the process from within a goroutine when they give up:
// klog.Fatal, and zap's Fatal and Panic in etcd (a full disk, for one). Here such an end is reported to a function and
// only the goroutine ends, so that the other components are stopped in order and one line tells what happened.
package logs

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"sync/atomic"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"google.golang.org/grpc/grpclog"
	"k8s.io/klog/v2"
	"k8s.io/klog/v2/textlogger"
)

// Open opens the file for appending, for this user only.
func Open(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}

// Capture sends klog, the standard logger, gRPC's and the trace of a crash to the file. It changes the state of those
// packages, once in a process; fatal gets the message of a klog.Fatal.
func Capture(file *os.File, fatal func(error)) {
	var last atomic.Pointer[string] // message of severity F
	write := func(line []byte) {
		if bytes.HasPrefix(line, []byte("F")) {
			_, message, _ := strings.Cut(string(line), "] ")
			last.Store(&message)
		}
		_, _ = file.Write(line)
	}
	klog.SetLoggerWithOptions(textlogger.NewLogger(textlogger.NewConfig(textlogger.Output(file))),
		klog.ContextualLogger(true), klog.WriteKlogBuffer(write))
	klog.OsExit = func(code int) {
		err := fmt.Errorf("gave up with exit code %d", code)
		if message := last.Load(); message != nil {
			err = errors.New(strings.TrimSpace(*message))
		}
		fatal(err)
		runtime.Goexit()
	}
	log.SetOutput(file)
	*os.Stderr = *file // the API server's etcd client has taken os.Stderr for its logger when its package was initialized
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, file))
	// A panic still ends the process, with its trace on stderr; the file keeps a copy. Without the copy it is the same.
	_ = debug.SetCrashOutput(file, debug.CrashOptions{})
}

// Zap makes etcd's logger: warnings and worse go to the file; fatal gets the message of a Fatal or Panic.
func Zap(file *os.File, fatal func(error)) *zap.Logger {
	encoder := zap.NewProductionEncoderConfig()
	encoder.EncodeTime = zapcore.ISO8601TimeEncoder
	core := zapcore.NewCore(zapcore.NewConsoleEncoder(encoder), zapcore.AddSync(file), zap.WarnLevel)
	end := endGoroutine{fatal}
	return zap.New(core, zap.WithFatalHook(end), zap.WithPanicHook(end))
}

type endGoroutine struct{ report func(error) }

func (e endGoroutine) OnWrite(entry *zapcore.CheckedEntry, fields []zapcore.Field) {
	err := errors.New(entry.Message)
	for _, field := range fields {
		if cause, ok := field.Interface.(error); ok && field.Type == zapcore.ErrorType {
			err = fmt.Errorf("%s: %w", entry.Message, cause)
		}
	}
	e.report(err)
	runtime.Goexit()
}
