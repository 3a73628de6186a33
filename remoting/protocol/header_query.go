package protocol

// UniqueKeyQuery is the ext field that makes code 12 look for a unique id. It is left
// out of the signed content: 4.9 never counts it in, 5.x not from a client of version
// 399 or older, which ours is.
const UniqueKeyQuery = "_UNIQUE_KEY_QUERY"

// QueryMessageRequestHeader looks for messages by a key or by the unique id
// (code 12). Times are store times in milliseconds.
type QueryMessageRequestHeader struct {
	Topic          string `rmq:"topic"`
	Key            string `rmq:"key"`
	MaxNum         int32  `rmq:"maxNum"`
	BeginTimestamp int64  `rmq:"beginTimestamp"`
	EndTimestamp   int64  `rmq:"endTimestamp"`
	Unique         bool   `rmq:"_UNIQUE_KEY_QUERY,opt"`
}

// QueryMessageResponseHeader answers code 12: how far the broker's index of keys
// has come. Zeros: it has none yet.
type QueryMessageResponseHeader struct {
	IndexLastUpdateTimestamp int64 `rmq:"indexLastUpdateTimestamp"`
	IndexLastUpdatePhyOffset int64 `rmq:"indexLastUpdatePhyoffset"`
}

// ViewMessageRequestHeader asks for the message at a commit log offset (code 33).
type ViewMessageRequestHeader struct {
	Offset int64  `rmq:"offset"`
	Topic  string `rmq:"topic,opt"` // may be empty; 4.9 does not look at it
}
