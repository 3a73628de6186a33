package inspect

import (
	"context"
	"errors"
	"fmt"

	"eyeq/remoting"
	"eyeq/remoting/protocol"
)

// ManageAction is what is done to a topic or a group.
type ManageAction string

// The actions.
const (
	CreateTopic ManageAction = "create topic"
	DeleteTopic ManageAction = "delete topic"
	CreateGroup ManageAction = "create group"
	DeleteGroup ManageAction = "delete group"
)

// ManageRequest asks for a topic or group to be made or deleted.
type ManageRequest struct {
	Action  ManageAction
	Name    string
	Brokers []string // to create at; none: all of the cluster

	// Of a topic.
	ReadQueues, WriteQueues, Perm int32
	Order                         bool
	Type                          string // NORMAL, FIFO, …: 5.x; "" says nothing

	// Of a group: members of its configuration in JSON text, such as retryMaxTimes.
	Config []protocol.ConfigMember
	// DeadLetters has the dead-letter topic go with its group.
	DeadLetters bool
}

// ManageRow is one broker of a plan, and later of its result.
type ManageRow struct {
	Broker, Addr  string
	Before, After string // in words; "" is nothing there
	Tried         bool
	Verified      bool // read back as wanted
	Error         string
}

// ManagePlan is what would be done. It was made by reading only.
type ManagePlan struct {
	Request ManageRequest
	Rows    []ManageRow
	Topics  []string // that are deleted with a group
	Notes   []string // what is lost, who is affected
	Why     string   // why it is not possible, and the way out; "" when it is
}

// Refused is a *NotPossibleError when the plan cannot be carried out.
func (p *ManagePlan) Refused() error {
	if p.Why == "" {
		return nil
	}
	return &NotPossibleError{p.Why}
}

// Failed is what did not come true, nil when all did.
func (p *ManagePlan) Failed() error {
	var failed []error
	for _, r := range p.Rows {
		switch {
		case r.Verified: // even where no answer came
		case r.Error != "":
			failed = append(failed, fmt.Errorf("%s at %s: %s", p.Request.Action, r.Broker, r.Error))
		default:
			failed = append(failed, fmt.Errorf("%s at %s: %s", p.Request.Action, r.Broker, p.Unverified()))
		}
	}
	return errors.Join(failed...)
}

// Unverified says what is wrong at a broker that was not seen to have done it.
func (p *ManagePlan) Unverified() string {
	if p.Request.Action == DeleteTopic || p.Request.Action == DeleteGroup {
		return "it is not seen to be gone"
	}
	return "it does not show there"
}

// PlanManage looks at what is there. Nothing is changed.
func (in *Inspector) PlanManage(ctx context.Context, r ManageRequest) (ManagePlan, error) {
	p := ManagePlan{Request: r}
	s, err := in.freshSurvey(ctx)
	if err != nil {
		return p, err
	}
	chosen, unknown := s.chooseBrokers(r.Brokers)
	if unknown != "" {
		return p, &NotFoundError{"broker", unknown}
	}
	for _, b := range chosen {
		p.Rows = append(p.Rows, ManageRow{Broker: b.name, Addr: b.addr})
		if b.id != remoting.MasterID {
			p.Why = "the master of " + b.name + " is away, and only masters take changes: wait until it is back"
		}
	}
	switch r.Action {
	case CreateTopic, DeleteTopic:
		return p, in.planTopic(ctx, s, &p)
	}
	return p, in.planGroup(ctx, s, &p)
}

// chooseBrokers gives the named brokers, or all where none is named; unknown is the first
// name that the cluster does not have.
func (s *survey) chooseBrokers(names []string) (chosen []broker, unknown string) {
	if len(names) == 0 {
		return s.brokers, ""
	}
	for _, name := range names {
		b := s.broker(name)
		if b == nil {
			return nil, name
		}
		chosen = append(chosen, *b)
	}
	return chosen, ""
}

// refuse keeps the first reason.
func (p *ManagePlan) refuse(format string, args ...any) {
	if p.Why == "" {
		p.Why = fmt.Sprintf(format, args...)
	}
}

// note adds what is lost, or who is affected.
func (p *ManagePlan) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}
