package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

func (a *app) versionVerb() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  jivad version\n  jivad version --json",
		Args:    noArgs,
		RunE: func(*cobra.Command, []string) error {
			v := map[string]string{"version": a.version, "go": runtime.Version(), "platform": runtime.GOOS + "/" + runtime.GOARCH}
			return a.answer(v, func(p *printer) { p.line("%s", a.versionLine()) })
		},
	}
}

func (a *app) versionLine() string {
	return fmt.Sprintf("jivad %s (%s/%s, %s)", a.version, runtime.GOOS, runtime.GOARCH, runtime.Version())
}
