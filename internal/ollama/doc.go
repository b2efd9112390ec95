// Package ollama asks the models of an Ollama server what lifecycle wants to know.
// Whatever the server does, an answer is a whole one that was checked, or an error
// that says whose fault it is.
//
// Every question goes one way, that of [Server.ask] in policy.go: request, deadline,
// check, one second try, typed error. health.go keeps what is known of the server
// between questions, contact.go which model answers, watch.go looks when nobody asks.
package ollama
