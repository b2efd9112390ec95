package main

import (
	"context"
	"fmt"
	"strconv"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/lifecycle/lives"
)

// failingLife damages what a life that ended was born with, so that its distillation fails, and
// has it failed that often already, with no pause to wait out: failing DATA LIFE TIMES. No
// process may have the store open.
func failingLife(ts *testscript.TestScript, _ bool, args []string) {
	n, err := strconv.Atoi(args[1])
	ts.Check(err)
	times, err := strconv.Atoi(args[2])
	ts.Check(err)
	s, err := chitta.Open(context.Background(), chitta.Options{Dir: ts.MkAbs(args[0])})
	ts.Check(err)
	defer func() { ts.Check(s.Close(context.Background())) }()
	name := fmt.Sprintf("life/record/%010d", n)
	data, err := s.Value(name)
	ts.Check(err)
	l, err := lives.Decode(data)
	ts.Check(err)
	if l.State.Living() {
		ts.Check(l.Withdraw(lives.ByCrash, l.Born))
	}
	for range times {
		ts.Check(l.Fail("what it was born with cannot be read"))
	}
	l.Obligation.Next = 0
	data, err = l.Encode()
	ts.Check(err)
	_, err = s.Append(context.Background(), chitta.Batch{Values: []chitta.Value{
		{Name: name, Data: data}, {Name: fmt.Sprintf("life/kit/%010d", n), Data: []byte("{damaged")},
	}})
	ts.Check(err)
}
