package easyretry

import (
	"context"
	"regexp"
)

type traceKey struct{}

var traceparentForm = regexp.MustCompile(`^[0-9a-f]{2}-[0-9a-f]{32}-[0-9a-f]{16}-[0-9a-f]{2}$`)

// WithTraceparent makes a context whose submissions carry this W3C trace context. The context of a handler already has
// that of its task. A text of another form is ignored: a broken trace must not stop the work.
func WithTraceparent(ctx context.Context, traceparent string) context.Context {
	if !traceparentForm.MatchString(traceparent) {
		return ctx
	}
	return context.WithValue(ctx, traceKey{}, traceparent)
}

// Traceparent is that of the context, or empty.
func Traceparent(ctx context.Context) string {
	text, _ := ctx.Value(traceKey{}).(string)
	return text
}
