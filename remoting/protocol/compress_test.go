package protocol

import (
	"bytes"
	"compress/flate"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/klauspost/compress/zstd"
)

var compressionTypes = map[string]SysFlag{"old zlib": 0, "zlib": SysFlagZLIB, "lz4": SysFlagLZ4, "zstd": SysFlagZSTD}

func TestCompressRoundTrip(t *testing.T) {
	noise := make([]byte, 300_000)
	_, _ = rand.Read(noise)
	bodies := map[string][]byte{
		"empty": {}, "short": []byte("x"), "repetitive": bytes.Repeat([]byte("compress me "), 100_000), "noise": noise,
	}
	d := new(Decompressor)
	for kind, sysFlag := range compressionTypes {
		for name, body := range bodies {
			t.Run(kind+"/"+name, func(t *testing.T) {
				compressed, err := Compress(sysFlag, body)
				if err != nil {
					t.Fatal(err)
				}
				for _, d := range []*Decompressor{d, d, nil} { // again with what is cached, and without
					got, err := d.Decompress(sysFlag, compressed, len(body))
					if err != nil || !bytes.Equal(got, body) {
						t.Errorf("got %d bytes, %v, want %d", len(got), err, len(body))
					}
				}
				if len(body) > 0 {
					if got, err := d.Decompress(sysFlag, compressed, len(body)-1); err == nil {
						t.Errorf("got %d bytes beyond the limit", len(got))
					}
				}
			})
		}
	}
}

func TestZLIBLooksLikeJavas(t *testing.T) {
	compressed, err := Compress(SysFlagZLIB, []byte("body"))
	if err != nil || !bytes.HasPrefix(compressed, []byte{0x78, 0x5E}) {
		t.Errorf("%x, %v, want 785e…", compressed, err)
	}
}

func TestDecompressRefuses(t *testing.T) {
	d := new(Decompressor)
	for kind, sysFlag := range compressionTypes {
		compressed, err := Compress(sysFlag, bytes.Repeat([]byte("abc"), 1000))
		if err != nil {
			t.Fatal(err)
		}
		for name, body := range map[string][]byte{
			"nothing": {}, "text": []byte("hello, not compressed"), "cut": compressed[:len(compressed)/2],
		} {
			if got, err := d.Decompress(sysFlag, body, 1<<20); err == nil {
				t.Errorf("%s, %s: got %d bytes, want an error", kind, name, len(got))
			}
			if got, err := d.Decompress(sysFlag, compressed, 1<<20); err != nil || len(got) != 3000 {
				t.Errorf("%s after %s: got %d bytes, %v", kind, name, len(got), err)
			}
		}
	}
	if _, err := d.Decompress(0x400, []byte("x"), 1); err == nil {
		t.Error("type 4 is not refused")
	}
	if _, err := Compress(0x700, []byte("x")); err == nil {
		t.Error("compressing as type 7 is not refused")
	}
}

// A small body that claims or holds a huge one must not cost that much memory.
func TestDecompressMemoryFollowsLimit(t *testing.T) {
	d := new(Decompressor)
	zeros := make([]byte, 32<<20)
	for kind, sysFlag := range compressionTypes {
		compressed, err := Compress(sysFlag, zeros)
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := d.Decompress(sysFlag, compressed, 1<<20); err == nil || !strings.Contains(err.Error(), "more than") {
			t.Errorf("%s: error %v, want one about the length", kind, err)
		}
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
			t.Errorf("%s: %d bytes allocated for a limit of 1 MiB", kind, used)
		}
	}
}

// A goroutine that is left behind makes the bubble fail.
func TestDecompressorServesManyGoroutinesAndKeepsNone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := new(Decompressor)
		var wg sync.WaitGroup
		for g := range 8 {
			wg.Go(func() {
				for kind, sysFlag := range compressionTypes {
					body := []byte(strings.Repeat(fmt.Sprintf("body %d of %s ", g, kind), 500))
					compressed, err := Compress(sysFlag, body)
					if err != nil {
						t.Errorf("%s: %v", kind, err)
						continue
					}
					got, err := d.Decompress(sysFlag, compressed, MaxBodyLength)
					if err != nil || !bytes.Equal(got, body) {
						t.Errorf("%s: %d bytes, %v", kind, len(got), err)
					}
				}
			})
		}
		wg.Wait()
	})
}

// The frames hold what Java clients and the Go client compressed.
func TestDecompressRecordedBodies(t *testing.T) {
	count := 0
	for _, f := range recordedFrames(t) {
		if f.requestCode() != SendMessage && f.requestCode() != SendMessageV2 || f.BodyKind != "bytes" {
			continue
		}
		c := f.command(t)
		var h SendMessageRequestHeader
		parse := h.Parse
		if f.requestCode() == SendMessageV2 {
			parse = h.ParseV2
		}
		if err := parse(c.ExtFields); err != nil {
			t.Fatalf("%s: %v", f.File, err)
		}
		if h.SysFlag&SysFlagCompressed == 0 {
			continue
		}
		if body, err := (*Decompressor)(nil).Decompress(h.SysFlag, c.Body, MaxBodyLength); err != nil || len(body) <= len(c.Body) {
			t.Errorf("%s: %d bytes of %d, %v", f.File, len(body), len(c.Body), err)
		}
		count++
	}
	if count == 0 {
		t.Error("no compressed body among the frames")
	}
}

// testdata/bodies holds what the compressors of the Java client made of several texts.
// Its Zstandard frames do not say how long the body is.
func TestDecompressBodiesOfJava(t *testing.T) {
	sums, err := os.ReadFile("testdata/bodies/sha256.txt")
	if err != nil {
		t.Fatal(err)
	}
	d := new(Decompressor)
	for line := range strings.Lines(string(sums)) {
		sum, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		t.Run(name, func(t *testing.T) {
			compressed, err := os.ReadFile("testdata/bodies/" + name + ".bin")
			if err != nil {
				t.Fatal(err)
			}
			compressor, _, _ := strings.Cut(name, "-")
			length, _ := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
			got, err := d.Decompress(compressionTypes[compressor], compressed, MaxBodyLength)
			if err != nil || len(got) != length || fmt.Sprintf("%x", sha256.Sum256(got)) != sum {
				t.Errorf("%d bytes of %d come out, %v", len(got), length, err)
			}
			if got, err := d.Decompress(compressionTypes[compressor], compressed, length-1); err == nil || !strings.Contains(err.Error(), "more than") {
				t.Errorf("%d bytes, %v beyond the limit", len(got), err)
			}
		})
	}
}

// A frame that does not say how long its body is costs no more than the bound allows.
func TestDecompressRefusesZSTDOfUnknownLength(t *testing.T) {
	var bomb bytes.Buffer
	w, err := zstd.NewWriter(&bomb, zstd.WithEncoderConcurrency(1))
	if err != nil {
		t.Fatal(err)
	}
	zeros := make([]byte, 1<<20)
	for range MaxBodyLength>>20 + 1 {
		_, _ = w.Write(zeros)
	}
	_ = w.Close()
	if got, err := new(Decompressor).Decompress(SysFlagZSTD, bomb.Bytes(), MaxBodyLength); err == nil || got != nil || !strings.Contains(err.Error(), "more than 67108864") {
		t.Errorf("%d bytes of %d, %v", len(got), bomb.Len(), err)
	}
}

// Some clients deflate without zlib's header and checksum. What is left over
// behind such a body, or is no deflated body, is not taken for one.
func TestDecompressBareDeflate(t *testing.T) {
	want := bytes.Repeat([]byte("bare "), 1000)
	var b bytes.Buffer
	w, err := flate.NewWriter(&b, flate.DefaultCompression)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = w.Write(want)
	_ = w.Close()
	d := new(Decompressor)
	if got, err := d.Decompress(SysFlagCompressed, b.Bytes(), len(want)); err != nil || !bytes.Equal(got, want) {
		t.Errorf("%d bytes, %v, want %d", len(got), err, len(want))
	}
	for name, body := range map[string][]byte{
		"cut": b.Bytes()[:b.Len()-2], "something behind it": append(b.Bytes(), 'x'), "text": []byte("hello"), "nothing in it": {3, 0},
	} {
		if got, err := d.Decompress(SysFlagCompressed, body, 1<<20); err == nil {
			t.Errorf("%s: got %d bytes", name, len(got))
		}
	}
	if got, err := d.Decompress(SysFlagCompressed, b.Bytes(), len(want)-1); err == nil {
		t.Errorf("got %d bytes beyond the limit", len(got))
	}
}
