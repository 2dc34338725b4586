package logs

import (
	"errors"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/zap"
	"k8s.io/klog/v2"
)

// inGoroutine tells whether the function returned, or ended its goroutine.
func inGoroutine(f func()) (returned bool) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
		returned = true
	}()
	<-done
	return returned
}

func openLog(t *testing.T) (*os.File, func() string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	file, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { file.Close() })
	return file, func() string {
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(content)
	}
}

func TestEverythingGoesToTheFile(t *testing.T) {
	stderr := *os.Stderr
	t.Cleanup(func() { *os.Stderr = stderr; log.SetOutput(&stderr) })
	file, content := openLog(t)
	Capture(file, func(error) {})
	klog.Error("from klog")
	klog.InfoS("structured", "key", "value")
	log.Print("from log")
	if _, err := io.WriteString(os.Stderr, "from stderr\n"); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"from klog", `"structured" key="value"`, "from log", "from stderr"} {
		if !strings.Contains(content(), want) {
			t.Errorf("%q is not in the log:\n%s", want, content())
		}
	}
}

func TestKlogFatalIsReportedAndEndsOnlyItsGoroutine(t *testing.T) {
	stderr := *os.Stderr
	t.Cleanup(func() { *os.Stderr = stderr; log.SetOutput(&stderr) })
	file, content := openLog(t)
	var reported error
	Capture(file, func(err error) { reported = err })
	if inGoroutine(func() { klog.Fatalf("hook %q failed", "x") }) {
		t.Error("Fatalf returned")
	}
	if reported == nil || reported.Error() != `hook "x" failed` {
		t.Errorf("reported %v", reported)
	}
	if !strings.Contains(content(), "failed") {
		t.Errorf("not in the log:\n%s", content())
	}
}

func TestZapFatalAndPanicAreReportedWithTheirCause(t *testing.T) {
	cause := errors.New("no space left")
	for name, give := range map[string]func(*zap.Logger){
		"Fatal": func(l *zap.Logger) { l.Fatal("cannot save", zap.String("dir", "/d"), zap.Error(cause)) },
		"Panic": func(l *zap.Logger) { l.Panic("cannot save", zap.Error(cause)) },
	} {
		file, content := openLog(t)
		var reported error
		logger := Zap(file, func(err error) { reported = err })
		if inGoroutine(func() { give(logger) }) {
			t.Errorf("%s returned", name)
		}
		if !errors.Is(reported, cause) || reported.Error() != "cannot save: no space left" {
			t.Errorf("%s reported %v", name, reported)
		}
		if !strings.Contains(content(), "cannot save") {
			t.Errorf("%s is not in the log:\n%s", name, content())
		}
	}
}

func TestLogIsForThisUserOnly(t *testing.T) {
	file, _ := openLog(t)
	info, err := file.Stat()
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}
