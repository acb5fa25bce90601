package store

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/mattn/go-sqlite3"
)

// More errors that callers tell apart with errors.Is.
var (
	// ErrExists: the key, name or attempt is already there; what is stored stays as it is.
	ErrExists = errors.New("already exists")
	// ErrAmbiguous: a prefix fits more than one candidate.
	ErrAmbiguous = errors.New("ambiguous")
	// ErrMissing: no blob with that digest.
	ErrMissing = errors.New("blob missing")
	// ErrCorrupt: the blob's file does not hold the bytes that its digest names.
	ErrCorrupt = errors.New("blob corrupt")
)

// explain turns what the driver says into the errors of this package. Other errors pass unchanged.
func explain(err error) error {
	var e sqlite3.Error
	if !errors.As(err, &e) {
		return err
	}
	switch {
	case e.Code == sqlite3.ErrFull, isFull(e.SystemErrno):
		return noSpace(err)
	case e.ExtendedCode == sqlite3.ErrConstraintUnique, e.ExtendedCode == sqlite3.ErrConstraintPrimaryKey:
		return fmt.Errorf("%w (%w)", ErrExists, err)
	case e.ExtendedCode == sqlite3.ErrConstraintForeignKey:
		return fmt.Errorf("what it refers to: %w (%w)", ErrNotFound, err)
	}
	return err
}

// explainFile does the same for errors of the file system.
func explainFile(err error) error {
	var n syscall.Errno
	if errors.As(err, &n) && isFull(n) {
		return noSpace(err)
	}
	return err
}

func isFull(n syscall.Errno) bool { return n == syscall.ENOSPC || n == syscall.EDQUOT }

func noSpace(err error) error {
	return fmt.Errorf("%w: free some and run again, nothing that was committed is lost (%w)", ErrNoSpace, err)
}
