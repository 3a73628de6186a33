package protocol

// UniqueKeyQuery is the ext field that makes code 12 look for a unique id. It is left
// out of the signed content: 4.9 never counts it in, 5.x not from a client of version
// 399 or older, which ours is.
const UniqueKeyQuery = "_UNIQUE_KEY_QUERY"

// QueryMessageRequestHeader looks for messages by a key or by the unique id
// (code 12). Times are store times in milliseconds.
type QueryMessageRequestHeader struct {
	Topic, Key     string
	MaxNum         int32
	BeginTimestamp int64
	EndTimestamp   int64
	Unique         bool
}

// Fields gives the ext fields of h.
func (h *QueryMessageRequestHeader) Fields() ExtFields {
	f := make(ExtFields, 0, 6)
	f = f.add("topic", h.Topic)
	f = f.add("key", h.Key)
	f = f.addInt("maxNum", int64(h.MaxNum))
	f = f.addInt("beginTimestamp", h.BeginTimestamp)
	f = f.addInt("endTimestamp", h.EndTimestamp)
	return f.addBool(UniqueKeyQuery, h.Unique)
}

// Parse reads f into h.
func (h *QueryMessageRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.text("topic", &h.Topic)
	r.text("key", &h.Key)
	r.int32("maxNum", &h.MaxNum)
	r.int64("beginTimestamp", &h.BeginTimestamp)
	r.int64("endTimestamp", &h.EndTimestamp)
	r.optBool(UniqueKeyQuery, &h.Unique)
	return r.err
}

// QueryMessageResponseHeader answers code 12: how far the broker's index of keys
// has come. Zeros: it has none yet.
type QueryMessageResponseHeader struct{ IndexLastUpdateTimestamp, IndexLastUpdatePhyOffset int64 }

// Fields gives the ext fields of h.
func (h *QueryMessageResponseHeader) Fields() ExtFields {
	f := make(ExtFields, 0, 2)
	f = f.addInt("indexLastUpdateTimestamp", h.IndexLastUpdateTimestamp)
	return f.addInt("indexLastUpdatePhyoffset", h.IndexLastUpdatePhyOffset)
}

// Parse reads f into h.
func (h *QueryMessageResponseHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.int64("indexLastUpdateTimestamp", &h.IndexLastUpdateTimestamp)
	r.int64("indexLastUpdatePhyoffset", &h.IndexLastUpdatePhyOffset)
	return r.err
}

// ViewMessageRequestHeader asks for the message at a commit log offset (code 33).
type ViewMessageRequestHeader struct {
	Offset int64
	Topic  string // may be empty; 4.9 does not look at it
}

// Fields gives the ext fields of h.
func (h *ViewMessageRequestHeader) Fields() ExtFields {
	f := make(ExtFields, 0, 2)
	f = f.addInt("offset", h.Offset)
	return f.addText("topic", h.Topic)
}

// Parse reads f into h.
func (h *ViewMessageRequestHeader) Parse(f ExtFields) error {
	r := fieldReader{fields: f}
	r.int64("offset", &h.Offset)
	r.optText("topic", &h.Topic)
	return r.err
}
