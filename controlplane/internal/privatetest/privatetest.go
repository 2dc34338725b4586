// Package privatetest lets tests check that files are for their owner only.
package privatetest

import (
	"io/fs"
	"path/filepath"
	"testing"
)

// Check fails t for everything in dir that other users may read.
func Check(t *testing.T, dir string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %v", path, info.Mode())
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}
