package engine

import "fmt"

// DeniedError says that access control keeps a member out of its group: every broker
// that answered the first heartbeat refused it. Nothing was consumed.
type DeniedError struct {
	Group string
	Err   error // of one of the brokers
}

func (e *DeniedError) Error() string {
	return fmt.Sprintf("group %s was not joined: %v", e.Group, e.Err)
}

// Unwrap gives the broker's answer.
func (e *DeniedError) Unwrap() error { return e.Err }

// deniedByAll is the refusal of a broker when none has taken this member and at least
// one refused it for want of access. One that does not answer may take it later, but
// by what all others say it will not.
func (c *coordinator) deniedByAll() (denied error) {
	for _, s := range c.brokers {
		switch {
		case s.denied != nil:
			denied = s.denied
		case !s.failing && !s.beating:
			return nil
		}
	}
	return denied
}
