package main

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/jivad/jivad/lifecycle"
)

// claimed looks into a data folder for which no daemon runs, whether there is a claim that
// matches: claimed DIR PATTERN. A claim is its class, its subject and its text, with colons
// between.
func claimed(ts *testscript.TestScript, neg bool, args []string) {
	ctx := context.Background()
	c, err := lifecycle.Open(ctx, lifecycle.Options{Dir: ts.MkAbs(args[0]), Embedder: quick{}, Assessor: quick{}, LookOnly: true})
	ts.Check(err)
	defer func() { ts.Check(c.Close(ctx)) }()
	list, err := c.Claims(ctx, lifecycle.ClaimQuery{})
	ts.Check(err)
	var lines []string
	for _, v := range list {
		lines = append(lines, fmt.Sprintf("%s: %s: %s", v.Class, v.Subject, v.Text))
	}
	all := strings.Join(lines, "\n")
	if regexp.MustCompile("(?m)"+args[1]).MatchString(all) == neg {
		ts.Fatalf("claimed %s; negated: %v, among\n%s", args[1], neg, all)
	}
}
