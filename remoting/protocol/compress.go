package protocol

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

// MaxBodyLength bounds an inflated body.
const MaxBodyLength = 64 << 20

// Decompressor inflates bodies. It may be used by many goroutines at once and
// holds what is dear to make; the zero value is ready. It starts no goroutines
// and must not be copied after use.
type Decompressor struct {
	zlib sync.Pool // of *zlibReader
	lz4  sync.Pool // of *lz4Reader
	zstd sync.Pool // of *zstd.Decoder
}

// Decompress inflates body as sysFlag says (type 0 is zlib) up to limit bytes,
// and never beyond MaxBodyLength. The compressed bit is not looked at.
func (d *Decompressor) Decompress(sysFlag SysFlag, body []byte, limit int) ([]byte, error) {
	if d == nil {
		d = new(Decompressor)
	}
	limit = max(0, min(limit, MaxBodyLength))
	var out []byte
	var err error
	kind := "zlib"
	switch sysFlag & SysFlagCompressionMask {
	case 0, SysFlagZLIB:
		out, err = d.inflateZLIB(body, limit)
	case SysFlagLZ4:
		kind = "lz4"
		out, err = d.inflateLZ4(body, limit)
	case SysFlagZSTD:
		kind = "zstd"
		out, err = d.inflateZSTD(body, limit)
	default:
		return nil, fmt.Errorf("unknown compression type %#x", int32(sysFlag&SysFlagCompressionMask))
	}
	if err != nil {
		return nil, fmt.Errorf("inflate %d bytes of %s: %w", len(body), kind, err)
	}
	return out, nil
}

// zlibReader and lz4Reader read from the source beside them, which is emptied
// after use so that a pooled one keeps no frame alive.
type zlibReader struct {
	src bytes.Reader
	r   io.ReadCloser
}

type lz4Reader struct {
	src bytes.Reader
	r   *lz4.Reader
}

func (d *Decompressor) inflateZLIB(body []byte, limit int) ([]byte, error) {
	z, ok := d.zlib.Get().(*zlibReader)
	if !ok {
		z = new(zlibReader)
	}
	defer func() {
		z.src.Reset(nil)
		d.zlib.Put(z)
	}()
	z.src.Reset(body)
	var err error
	if z.r == nil {
		z.r, err = zlib.NewReader(&z.src)
	} else {
		err = z.r.(zlib.Resetter).Reset(&z.src, nil)
	}
	if errors.Is(err, zlib.ErrHeader) {
		if out, ok := inflateBare(body, limit); ok {
			return out, nil
		}
	}
	if err != nil {
		return nil, noEOF(err)
	}
	return readBounded(z.r, len(body), limit)
}

// inflateBare reads what some clients write in the place of zlib: the deflated bytes
// without header and checksum. Nothing vouches for them, so they must be used up to the last.
func inflateBare(body []byte, limit int) (out []byte, ok bool) {
	src := bytes.NewReader(body)
	r := flate.NewReader(src)
	out, err := readBounded(r, len(body), limit)
	return out, err == nil && src.Len() == 0 && len(out) > 0
}

func (d *Decompressor) inflateLZ4(body []byte, limit int) ([]byte, error) {
	if len(body) == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	z, ok := d.lz4.Get().(*lz4Reader)
	if !ok {
		z = &lz4Reader{r: lz4.NewReader(nil)} // by default in this goroutine
	}
	defer func() {
		z.src.Reset(nil)
		d.lz4.Put(z)
	}()
	z.src.Reset(body)
	z.r.Reset(&z.src)
	return readBounded(z.r, len(body), limit)
}

// inflateZSTD lets the decoder's output grow block by block, by at most 128 KiB each,
// since Java's compressor writes no size into a frame. The decoder itself stops at
// MaxBodyLength: its bound is one of the window too, which may be wider than a body.
func (d *Decompressor) inflateZSTD(body []byte, limit int) ([]byte, error) {
	if len(body) == 0 {
		return nil, io.ErrUnexpectedEOF
	}
	var header zstd.Header
	if err := header.Decode(body); err == nil && header.HasFCS && header.FrameContentSize > uint64(limit) {
		return nil, tooLong(limit)
	}
	r, ok := d.zstd.Get().(*zstd.Decoder)
	if !ok {
		var err error
		r, err = zstd.NewReader(nil,
			zstd.WithDecoderConcurrency(1), // no goroutines
			zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxMemory(MaxBodyLength))
		if err != nil {
			return nil, err
		}
	}
	defer d.zstd.Put(r)
	out, err := r.DecodeAll(body, make([]byte, 0, firstSize(len(body), limit)))
	if errors.Is(err, zstd.ErrDecoderSizeExceeded) || len(out) > limit {
		return nil, tooLong(limit)
	}
	if err != nil {
		return nil, err
	}
	return out, nil
}

// firstSize guesses how long an inflated body is.
func firstSize(compressed, limit int) int { return min(4*compressed+512, limit) }

// readBounded reads r to its end or refuses it after limit bytes. Memory grows
// with what was read, not with what is announced.
func readBounded(r io.Reader, compressed, limit int) ([]byte, error) {
	// One byte more than the limit tells a body that ends there from a longer one.
	buf := make([]byte, 0, firstSize(compressed, limit)+1)
	for {
		if len(buf) > limit {
			return nil, tooLong(limit)
		}
		if len(buf) == cap(buf) {
			buf = append(make([]byte, 0, min(4*cap(buf), limit+1)), buf...)
		}
		n, err := r.Read(buf[len(buf):min(cap(buf), limit+1)])
		buf = buf[:len(buf)+n]
		if err == io.EOF && len(buf) <= limit {
			return buf, nil
		}
		if err != nil && err != io.EOF {
			return nil, err
		}
	}
}

func tooLong(limit int) error { return fmt.Errorf("more than %d bytes come out", limit) }

// noEOF keeps a body that ends at once from looking like a regular end.
func noEOF(err error) error {
	if err == io.EOF {
		return io.ErrUnexpectedEOF
	}
	return err
}

// javaZLIBLevel is the level that Java clients compress with.
const javaZLIBLevel = 5

// Compress deflates body with the type that sysFlag names; used by producers
// and tests.
func Compress(sysFlag SysFlag, body []byte) ([]byte, error) {
	var out bytes.Buffer
	var w io.WriteCloser
	switch sysFlag & SysFlagCompressionMask {
	case 0, SysFlagZLIB:
		zw, err := zlib.NewWriterLevel(&out, javaZLIBLevel)
		if err != nil {
			return nil, err
		}
		w = zw
	case SysFlagLZ4:
		w = lz4.NewWriter(&out)
	case SysFlagZSTD:
		e, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithZeroFrames(true))
		if err != nil {
			return nil, err
		}
		return e.EncodeAll(body, nil), nil
	default:
		return nil, fmt.Errorf("unknown compression type %#x", int32(sysFlag&SysFlagCompressionMask))
	}
	if _, err := w.Write(body); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}
