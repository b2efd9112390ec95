package fold

// ParseParams reads parameters from JSON, as an event of the log keeps them:
// what is not named is as by default, an unknown name is an error.
func ParseParams(data []byte) (Params, error) { return decodeParams(data) }
