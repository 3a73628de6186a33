//go:build !unix

package audit

import "errors"

func makePipe(string) error { return errors.ErrUnsupported }
