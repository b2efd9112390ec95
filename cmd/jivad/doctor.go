package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/jivad/jivad/internal/api"
	"github.com/jivad/jivad/lifecycle"
)

func (a *app) doctorVerb() *cobra.Command {
	return &cobra.Command{
		Use:     "doctor",
		Short:   "Look for what a person may have to mend",
		Example: "  jivad doctor\n  jivad doctor --json",
		Args:    noArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.looking(cmd.Context(), func(ctx context.Context, c companion) error {
				checks, err := c.Doctor(ctx)
				if err != nil {
					return err
				}
				if _, running := c.(*api.Client); !running {
					checks = append(checks, a.checkDoor(ctx))
				}
				if err := a.answer(checks, func(p *printer) { tellChecks(p, checks) }); err != nil {
					return err
				}
				for _, k := range checks {
					if !k.OK {
						return errFoundFaults
					}
				}
				return nil
			})
		},
	}
}

const noDoor = "none is configured (door.listen)"

// whoListens is the hint where a door cannot listen.
const whoListens = "Who listens already tells: ss -ltnp"

// Doctor adds how the door is.
func (s *served) Doctor(ctx context.Context) ([]lifecycle.Check, error) {
	checks, err := s.Companion.Doctor(ctx)
	if err != nil {
		return nil, err
	}
	door := lifecycle.Check{Name: "door", OK: true, Detail: noDoor}
	if problem := s.doorway.problem(); problem != "" {
		door.OK, door.Detail, door.Hint = false, problem, whoListens
	} else if now := s.doorway.status(); now != nil {
		door.Detail = fmt.Sprintf("%s listens, recall %d", now.Address, now.Recall)
	}
	return append(append(checks, door), s.checkBroker()...), nil
}

// checkDoor sees, where no daemon runs, whether one could listen at the door's address.
func (a *app) checkDoor(ctx context.Context) lifecycle.Check {
	out := lifecycle.Check{Name: "door", OK: true, Detail: noDoor}
	settings, _, err := a.find()
	if err != nil || settings.Door.Listen == "" {
		return out
	}
	listener, err := api.ListenTCP(ctx, settings.Door.Listen)
	if err != nil {
		out.OK, out.Detail = false, fmt.Sprintf("cannot listen: %v; set door.listen to another address", err)
		out.Hint = whoListens
		return out
	}
	address := "http://" + listener.Addr().String()
	if strings.HasSuffix(settings.Door.Listen, ":0") || settings.Door.Listen == "0" {
		address = "any free address" // it is another one each time
	}
	if err := listener.Close(); err != nil {
		out.OK, out.Detail = false, err.Error()
		return out
	}
	out.Detail, out.Hint = address+" is free; nobody listens, since no daemon runs", "The daemon opens it: jivad run"
	return out
}
