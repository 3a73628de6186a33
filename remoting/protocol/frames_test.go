package protocol

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// recordedFrame is one line of testdata/frames/index.jsonl with its bytes.
type recordedFrame struct {
	File            string             `json:"file"`
	ServerVersion   string             `json:"version"`
	Direction       string             `json:"direction"`
	Code            int32              `json:"code"`
	CodeName        *string            `json:"code_name"`
	RequestCode     int32              `json:"request_code"`
	RequestCodeName *string            `json:"request_code_name"`
	Oneway          bool               `json:"oneway"`
	Language        string             `json:"language"`
	Version         int32              `json:"version_int"`
	Opaque          int32              `json:"opaque"`
	Flag            int32              `json:"flag"`
	SerializeType   string             `json:"serialize_type"`
	Remark          *string            `json:"remark"`
	ExtFields       map[string]*string `json:"ext_fields"`
	ExtFieldsNull   bool               `json:"ext_fields_null"`
	FrameLen        int                `json:"frame_len"`
	HeaderLen       int                `json:"header_len"`
	BodyLen         int                `json:"body_len"`
	BodySHA256      string             `json:"body_sha256"`
	BodyKind        string             `json:"body_kind"`
	BodyText        string             `json:"body_text"`
	Messages        []recordedMessage  `json:"messages"`

	bytes []byte
}

type recordedMessage struct {
	Topic            *string           `json:"topic"`
	Flag             int32             `json:"flag"`
	QueueID          int32             `json:"queueId"`
	QueueOffset      int64             `json:"queueOffset"`
	PhysicalOffset   int64             `json:"physicalOffset"`
	BornTimestamp    int64             `json:"bornTimestamp"`
	StoreTimestamp   int64             `json:"storeTimestamp"`
	BornHost         string            `json:"bornHost"`
	StoreHost        string            `json:"storeHost"`
	SysFlag          int32             `json:"sysFlag"`
	ReconsumeTimes   int32             `json:"reconsumeTimes"`
	PreparedOffset   int64             `json:"preparedTransactionOffset"`
	BodyCRC          uint32            `json:"bodyCRC"`
	StoreSize        int               `json:"storeSize"`
	MsgID            string            `json:"msgId"`
	OffsetMsgID      string            `json:"offsetMsgId"`
	Tags             *string           `json:"tags"`
	Keys             *string           `json:"keys"`
	BodyLen          int               `json:"body_len"`
	BodySHA256       string            `json:"body_sha256"`
	BodyText         *string           `json:"body_text"`
	StoredSysFlag    int32             `json:"stored_sysFlag"`
	StoredBodyLen    int               `json:"stored_body_len"`
	StoredBodySHA256 string            `json:"stored_body_sha256"`
	Properties       map[string]string `json:"properties"`
}

// requestCode is the code that decides how ext fields and body are read.
func (f *recordedFrame) requestCode() RequestCode {
	if f.isResponse() {
		return RequestCode(f.RequestCode)
	}
	return RequestCode(f.Code)
}

func (f *recordedFrame) isResponse() bool { return strings.HasSuffix(f.Direction, "response") }

// command decodes the frame.
func (f *recordedFrame) command(t testing.TB) Command {
	t.Helper()
	c, err := DecodeCommand(f.bytes[4:])
	if err != nil {
		t.Fatalf("%s: %v", f.File, err)
	}
	return c
}

var readFrames = sync.OnceValues(func() ([]recordedFrame, error) {
	index, err := os.ReadFile(filepath.Join("testdata", "frames", "index.jsonl"))
	if err != nil {
		return nil, err
	}
	archive, err := zip.OpenReader(filepath.Join("testdata", "frames", "frames.zip"))
	if err != nil {
		return nil, err
	}
	defer archive.Close()
	var frames []recordedFrame
	for line := range bytes.Lines(index) {
		var f recordedFrame
		if err := json.Unmarshal(line, &f); err != nil {
			return nil, err
		}
		r, err := archive.Open(f.File)
		if err != nil {
			return nil, err
		}
		if f.bytes, err = io.ReadAll(r); err != nil {
			return nil, err
		}
		frames = append(frames, f)
	}
	return frames, nil
})

// recordedFrames returns all frames; tests must not change them.
func recordedFrames(t testing.TB) []recordedFrame {
	t.Helper()
	frames, err := readFrames()
	if err != nil {
		t.Fatalf("read recorded frames: %v", err)
	}
	return frames
}

// recorded returns one frame by name.
func recorded(t testing.TB, file string) recordedFrame {
	t.Helper()
	for _, f := range recordedFrames(t) {
		if f.File == file {
			return f
		}
	}
	t.Fatalf("no recorded frame %s", file)
	return recordedFrame{}
}

func TestDecodeRecordedFrames(t *testing.T) {
	frames := recordedFrames(t)
	if len(frames) != 456 {
		t.Fatalf("%d recorded frames, want 456", len(frames))
	}
	for _, f := range frames {
		t.Run(f.File, func(t *testing.T) {
			if got := int(binary.BigEndian.Uint32(f.bytes)) + 4; got != f.FrameLen || len(f.bytes) != f.FrameLen {
				t.Errorf("frame length %d of %d bytes, want %d", got, len(f.bytes), f.FrameLen)
			}
			c := f.command(t)
			got := Command{
				Code: f.Code, Language: parseLanguage(f.Language), Version: f.Version, Opaque: f.Opaque,
				Flag: f.Flag, Remark: stringOf(f.Remark), ExtFields: c.ExtFields, Body: c.Body, Serialize: SerializeJSON,
			}
			if f.SerializeType == "ROCKETMQ" {
				got.Serialize = SerializeRocketMQ
			}
			if diff := cmp.Diff(got, c); diff != "" {
				t.Errorf("header (-want +got):\n%s", diff)
			}
			if c.Language.String() != f.Language {
				t.Errorf("language %v, want %s", c.Language, f.Language)
			}
			if c.IsOneway() != f.Oneway || c.IsResponse() != f.isResponse() {
				t.Errorf("oneway %t, response %t, want %t, %t", c.IsOneway(), c.IsResponse(), f.Oneway, f.isResponse())
			}
			checkExtFields(t, c.ExtFields, &f)
			if headerLen := len(f.bytes) - 8 - len(c.Body); headerLen != f.HeaderLen || len(c.Body) != f.BodyLen {
				t.Errorf("header of %d bytes and body of %d, want %d and %d", headerLen, len(c.Body), f.HeaderLen, f.BodyLen)
			}
			if f.BodySHA256 != "" && sha256Hex(c.Body) != f.BodySHA256 {
				t.Errorf("body has another checksum")
			}
			if f.BodyText != "" && string(c.Body) != f.BodyText {
				t.Errorf("body %q, want %q", c.Body, f.BodyText)
			}
			if (f.BodyKind == "none") != (c.Body == nil) {
				t.Errorf("body of kind %s is %v", f.BodyKind, c.Body)
			}
			checkCodeName(t, &f)
		})
	}
}

// checkExtFields compares in any order; Java's null is our empty text.
func checkExtFields(t *testing.T, got ExtFields, f *recordedFrame) {
	t.Helper()
	if (got == nil) != f.ExtFieldsNull {
		t.Errorf("ext fields %v, want none: %t", got, f.ExtFieldsNull)
	}
	if len(got) != len(f.ExtFields) {
		t.Errorf("%d ext fields, want %d", len(got), len(f.ExtFields))
	}
	for key, want := range f.ExtFields {
		if value, ok := got.Get(key); !ok || value != stringOf(want) {
			t.Errorf("ext field %s = %q, %t, want %q", key, value, ok, stringOf(want))
		}
	}
}

func checkCodeName(t *testing.T, f *recordedFrame) {
	t.Helper()
	switch {
	case f.CodeName == nil:
		if got := RequestCode(f.Code).String(); !strings.HasPrefix(got, "RequestCode(") {
			t.Errorf("code %d is %s, want no name", f.Code, got)
		}
	case !f.isResponse():
		if got := RequestCode(f.Code).String(); got != *f.CodeName {
			t.Errorf("code %d is %s, want %s", f.Code, got, *f.CodeName)
		}
	default:
		reused := f.ServerVersion == "4.9.7" && f.Code >= 209 && f.Code <= 211
		if got := ResponseCode(f.Code).String(); got != *f.CodeName && !reused {
			t.Errorf("code %d is %s, want %s", f.Code, got, *f.CodeName)
		}
		if f.RequestCodeName != nil && RequestCode(f.RequestCode).String() != *f.RequestCodeName {
			t.Errorf("request code %d is %v, want %s", f.RequestCode, RequestCode(f.RequestCode), *f.RequestCodeName)
		}
	}
}

func stringOf(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func sha256Hex(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// repeatingFrame holds the fields of its typed header twice; see ExtFields.decoded.
const repeatingFrame = "4.9.7_java-acl-rocketmq_request_SEND-BATCH-MESSAGE_rmqheader_batch.bin"

// Java's frames in JSON differ from ours only by a member that says what the
// header word says already; those in ROCKETMQ, of either client, do not differ.
func TestAppendFrameWritesWhatPeersWrite(t *testing.T) {
	for _, f := range recordedFrames(t) {
		c := f.command(t)
		if c.Serialize == SerializeJSON && f.Language != "JAVA" || f.File == repeatingFrame {
			continue
		}
		header := f.bytes[8 : 8+f.HeaderLen]
		got, err := AppendFrame([]byte("before"), &c, c.Serialize)
		if err != nil {
			t.Errorf("%s: %v", f.File, err)
			continue
		}
		got = got[len("before"):]
		gotHeader := got[8 : len(got)-len(c.Body)]
		want := bytes.Replace(header, []byte(`,"serializeTypeCurrentRPC":"JSON"`), nil, 1)
		if f.Remark != nil && *f.Remark == "" {
			want = bytes.Replace(want, []byte(`,"remark":""`), nil, 1) // an empty remark is none here
		}
		if !bytes.Equal(gotHeader, want) {
			t.Errorf("%s:\n got %q\nwant %q", f.File, gotHeader, want)
		}
	}
}

// Every frame survives both encodings, but for an empty list of ext fields,
// which ROCKETMQ cannot tell from none, and codes beyond 16 bits.
func TestFramesRoundTrip(t *testing.T) {
	for _, f := range recordedFrames(t) {
		for _, serialize := range []SerializeType{SerializeJSON, SerializeRocketMQ} {
			want := f.command(t)
			want.Serialize = serialize
			frame, err := AppendFrame(nil, &want, serialize)
			if serialize == SerializeRocketMQ && want.Code > 32767 {
				if err == nil {
					t.Errorf("%s: code %d fits a ROCKETMQ header", f.File, want.Code)
				}
				continue
			}
			if err != nil {
				t.Errorf("%s: %v", f.File, err)
				continue
			}
			if serialize == SerializeRocketMQ && len(want.ExtFields) == 0 {
				want.ExtFields = nil
			}
			got, err := DecodeCommand(frame[4:])
			if err != nil {
				t.Errorf("%s: decode what was encoded: %v", f.File, err)
				continue
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s as %d (-want +got):\n%s", f.File, serialize, diff)
			}
		}
	}
}
