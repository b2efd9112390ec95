// Package ollama asks the models of an Ollama server what lifecycle wants to know.
// Whatever the server does, an answer is a whole one that was checked, or an error
// that says whose fault it is.
package ollama

import _ "github.com/ollama/ollama/api" // the client
