package tui

import (
	"time"

	"eyeq/engine"
	"eyeq/engine/inspect"
	"eyeq/tui/draw"
)

// page is a view of what a cluster answers, about any group, topic or broker. It is
// held by value: update gives the page as it is afterwards, and what the root is
// asked to do: nil, or one of the requests below or in dialog.go.
type page interface {
	// update takes a sizeMsg, an actionMsg, an answerMsg or one of the messages below.
	update(msg any) (page, request)
	view(w, h int) string
	// filterText is the filter in force; narrow tries another, and one that cannot be
	// read leaves the page as it is.
	filterText() string
	narrow(text string) (page, error)
	// subject is what the page is about, for line 1.
	subject() string
	status() pageStatus
}

// pageStatus is what a page says below itself.
type pageStatus struct {
	main   *question      // the question that the page lives of
	oldest time.Time      // when the oldest row was read, where rows are read one by one; zero: none is
	health draw.Segment   // the worst thing that is wrong; "" when nothing is
	state  []draw.Segment // what stands at the end of the tabs instead of how fresh it is
	fine   string         // what is said instead
	frozen time.Time      // zero: it is not
	hidden int            // changes since
}

// partial says the first thing that is missing; "" when nothing is.
func partial(th *draw.Theme, problems ...[]inspect.Problem) draw.Segment {
	for _, list := range problems {
		if len(list) > 0 {
			return draw.Styled(th.Warn, " ! partial: "+list[0].String())
		}
	}
	return draw.Segment{}
}

// The messages for pages only.
type (
	// dueMsg asks for an asksRequest with the questions that are due.
	dueMsg struct{}
	// hurryMsg makes all of them due at once.
	hurryMsg struct{}
	// closedMsg: nobody looks any more; answers on their way are given up.
	closedMsg struct{}
)

// The requests of pages.
type (
	asksRequest struct{ asks []ask }
	// openRequest goes to a view, about a group or topic.
	openRequest struct{ place }
	// watchRequest shows a group live.
	watchRequest    struct{ group string }
	openTailRequest struct{ TailRequest }
	copyRequest     struct{ copied }
	textRequest     struct {
		title string
		lines []string
	}
	refuseRequest struct{ text string }
	backRequest   struct{}
	// resetAnyRequest opens the reset dialog for a group of the cluster.
	resetAnyRequest struct {
		group  string
		topic  string                // "" all topics
		queues []engine.MessageQueue // marked ones, or the one under the cursor
		rate   float64               // messages a second
	}
)

// blankPage has what a page without filter answers.
type blankPage struct{}

func (blankPage) filterText() string { return "" }

// copied says what went to the clipboard.
type copied struct {
	what string // "the body at 18,204,551"
	text func() (string, error)
}

func literal(what, text string) copied {
	return copied{what, func() (string, error) { return text, nil }}
}

// orderMsg sorts a page by a column.
type orderMsg struct{ column string }

// sizeMsg is the room of a view, on a screen of that height.
type sizeMsg struct{ w, h, screen int }

// actionMsg is a key by its binding's name.
type actionMsg struct{ action action }
