// Package api is how other processes speak with a running companion: JSON over
// HTTP on a unix socket.
//
// [NewHandler] serves a [Companion] under /api/v1, [Listen] opens the socket and
// [Dial] is the client, which has the same methods. Errors travel as problem
// details (RFC 9457) and come out as the errors that went in, as far as
// errors.Is goes. Long work (import, verify, ghosts/of, talk) answers in lines of
// JSON: progress or pieces while it lasts, the report or the problem at the end.
//
// What is served over TCP as well is opened with [ListenTCP] and stands behind
// [Guard]. [NewProbes] has what tells others how the daemon is: /healthz, /readyz
// and /metrics.
package api
