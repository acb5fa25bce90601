package docker

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// readPull reads the engine's progress of a pull to its end: the pull is over only then, and its error is a line of it.
func readPull(r io.Reader) error {
	for d := json.NewDecoder(r); ; {
		var line struct {
			Error string `json:"error"`
		}
		err := d.Decode(&line)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the progress: %w", err)
		}
		if line.Error != "" {
			return errors.New(line.Error)
		}
	}
}
