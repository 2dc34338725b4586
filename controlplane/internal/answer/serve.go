package answer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
)

// MaxLine is the longest request in bytes.
const MaxLine = 64 << 20

// Serve answers line by line until in ends. With once it answers the first line only; ok tells whether all answers are results.
func (a *Answerer) Serve(in io.Reader, out io.Writer, once bool) (ok bool, err error) {
	ok = true
	reader := bufio.NewReaderSize(in, 64<<10)
	for {
		line, tooLong, err := readLine(reader)
		if err != nil && !errors.Is(err, io.EOF) {
			return ok, fmt.Errorf("requests cannot be read: %w", err)
		}
		ended := err != nil
		if len(bytes.TrimSpace(line)) == 0 && !tooLong {
			if ended {
				return ok, nil
			}
			continue
		}
		answer, good := a.answer(line, tooLong)
		ok = ok && good
		if _, err := out.Write(append(answer, '\n')); err != nil {
			return ok, fmt.Errorf("answers cannot be written: %w", err)
		}
		if ended || once {
			return ok, nil
		}
	}
}

func (a *Answerer) answer(line []byte, tooLong bool) ([]byte, bool) {
	if tooLong {
		return a.refuse(fmt.Errorf("the request is longer than %d bytes", MaxLine))
	}
	return a.Line(line)
}

// readLine reads to the end of the line; of a line that is too long it keeps nothing.
func readLine(reader *bufio.Reader) (line []byte, tooLong bool, err error) {
	for {
		part, err := reader.ReadSlice('\n')
		if tooLong = tooLong || len(line)+len(part) > MaxLine; tooLong {
			line = nil
		} else {
			line = append(line, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, tooLong, err
		}
	}
}
