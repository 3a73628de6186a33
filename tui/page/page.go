package page

import (
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/tui/draw"
)

// Page is a view of what a cluster answers, about any group, topic or broker. It is
// held by value: update gives the page as it is afterwards, and what the root is
// asked to do: nil, or one of the requests below or in dialog.go.
type Page interface {
	// Update takes a sizeMsg, an actionMsg, an answerMsg or one of the messages below.
	Update(msg any) (Page, Request)
	View(w, h int) string
	// FilterText is the filter in force; narrow tries another, and one that cannot be
	// read leaves the page as it is.
	FilterText() string
	Narrow(text string) (Page, error)
	// Subject is what the page is about, for line 1.
	Subject() string
	Status() Status
}

// Status is what a page says below itself.
type Status struct {
	Main   *Schedule      // the question that the page lives of
	Oldest time.Time      // when the oldest row was read, where rows are read one by one; zero: none is
	Health draw.Segment   // the worst thing that is wrong; "" when nothing is
	State  []draw.Segment // what stands at the end of the tabs instead of how fresh it is
	Fine   string         // what is said instead
	Frozen time.Time      // zero: it is not
	Hidden int            // changes since
}

// Partial says the first thing that is missing; "" when nothing is.
func Partial(th *draw.Theme, problems ...[]inspect.Problem) draw.Segment {
	for _, list := range problems {
		if len(list) > 0 {
			return draw.Styled(th.Warn, " ! partial: "+list[0].String())
		}
	}
	return draw.Segment{}
}

// The messages for pages only.
type (
	// DueMsg asks for an asksRequest with the questions that are due.
	DueMsg struct{}
	// HurryMsg makes all of them due at once.
	HurryMsg struct{}
	// ClosedMsg: nobody looks any more; answers on their way are given up.
	ClosedMsg struct{}
)

// The requests of pages.
type (
	AsksRequest struct{ Asks []ask }
	// OpenRequest goes to a view, about a group or topic.
	OpenRequest struct{ Place }
	// WatchRequest shows a group live.
	WatchRequest    struct{ Group string }
	OpenTailRequest struct{ TailRequest }
	CopyRequest     struct{ Copied }
	TextRequest     struct {
		Title string
		Lines []string
	}
	RefuseRequest struct{ Text string }
	BackRequest   struct{}
	// ResetAnyRequest opens the reset dialog for a group of the cluster.
	ResetAnyRequest struct {
		Group  string
		Topic  string                // "" all topics
		Queues []engine.MessageQueue // marked ones, or the one under the cursor
		Rate   float64               // messages a second
	}
)

// BlankPage has what a page without filter answers.
type BlankPage struct{}

// FilterText: there is none.
func (BlankPage) FilterText() string { return "" }

// Copied says what went to the clipboard.
type Copied struct {
	What string // "the body at 18,204,551"
	Text func() (string, error)
}

// Literal is a text that stands fast.
func Literal(what, text string) Copied {
	return Copied{what, func() (string, error) { return text, nil }}
}

// OrderMsg sorts a page by a column.
type OrderMsg struct{ Column string }

// SizeMsg is the room of a view, on a screen of that height.
type SizeMsg struct{ W, H, Screen int }

// ActionMsg is a key by its binding's name.
type ActionMsg struct{ Action Action }
