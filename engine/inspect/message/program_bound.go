package message

import (
	"fmt"
	"reflect"

	"github.com/itchyny/gojq"
)

const (
	// programText bounds a text that a program makes of a short one, or takes apart. A
	// program is stopped between two steps only, and one step of these takes seconds and
	// gigabytes: `.amount * .count` on a message whose amount is a long text.
	programText = 16 << 20
	// programCharacters bounds what explode takes apart: a character becomes 24 bytes.
	programCharacters = 1 << 20
)

// Names of the bounded functions, which a program cannot spell by chance.
const (
	boundMultiply = "_eyeq_multiply"
	boundExplode  = "_eyeq_explode"
)

// boundSteps replaces in a program what may take long in one step by functions that
// refuse that. What the language calls an operator cannot be defined anew.
func boundSteps(q *gojq.Query) {
	own := map[string]bool{}
	walk(reflect.ValueOf(q), func(node any) {
		if def, ok := node.(*gojq.FuncDef); ok {
			own[def.Name] = true
		}
	})
	walk(reflect.ValueOf(q), func(node any) {
		switch n := node.(type) {
		case *gojq.Query:
			boundProduct(n)
		case *gojq.Func:
			if n.Name == "explode" && len(n.Args) == 0 && !own[n.Name] {
				n.Name = boundExplode
			}
		}
	})
}

// boundProduct turns l * r, and l *= r, which is r as $x | l |= . * $x, into calls.
func boundProduct(q *gojq.Query) {
	product := func(l, r *gojq.Query) *gojq.Term {
		return &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: boundMultiply, Args: []*gojq.Query{l, r}}}
	}
	switch q.Op {
	case gojq.OpMul:
		*q = gojq.Query{Meta: q.Meta, Imports: q.Imports, FuncDefs: q.FuncDefs, Term: product(q.Left, q.Right)}
	case gojq.OpUpdateMul:
		const factor = "$_eyeq_factor"
		value := &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: factor}}}
		same := &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIdentity}}
		update := &gojq.Query{Left: q.Left, Op: gojq.OpModify, Right: &gojq.Query{Term: product(same, value)}}
		*q = gojq.Query{Meta: q.Meta, Imports: q.Imports, FuncDefs: q.FuncDefs,
			Left: q.Right, Op: gojq.OpPipe, Patterns: []*gojq.Pattern{{Name: factor}}, Right: update}
	}
}

// walk calls f with each part of a program, the inner ones first.
func walk(v reflect.Value, f func(node any)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			walk(v.Elem(), f)
			f(v.Interface())
		}
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), f)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			walk(v.Field(i), f)
		}
	}
}

// boundedFunctions are what boundSteps puts in.
func boundedFunctions() []gojq.CompilerOption {
	q, err := gojq.Parse(".[0] * .[1]")
	if err != nil {
		panic(err) // it is written above
	}
	code, err := gojq.Compile(q)
	if err != nil {
		panic(err)
	}
	multiply := func(_ any, args []any) any {
		if err := repeats(args[0], args[1]); err != nil {
			return err
		}
		v, _ := code.Run(args).Next()
		return v
	}
	explode := func(v any, _ []any) any {
		text, ok := v.(string)
		switch {
		case !ok:
			return fmt.Errorf("explode cannot be applied to %s", gojq.TypeOf(v))
		case len(text) > programCharacters:
			return fmt.Errorf("explode of a text of more than %d MiB", programCharacters>>20)
		}
		list := make([]any, 0, len(text))
		for _, r := range text {
			list = append(list, int(r))
		}
		return list
	}
	return []gojq.CompilerOption{gojq.WithFunction(boundMultiply, 2, 2, multiply), gojq.WithFunction(boundExplode, 0, 0, explode)}
}

// repeats refuses a text that is to be repeated too often.
func repeats(l, r any) error {
	text, ok := l.(string)
	if !ok {
		text, ok = r.(string)
		r = l
	}
	times, number := gojq.ToFloat64(r)
	if ok && number && times > 0 && float64(len(text))*times > programText {
		return fmt.Errorf("a text repeated to more than %d MiB", programText>>20)
	}
	return nil
}
