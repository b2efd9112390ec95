package lineage

import "errors"

// What a distillate, or a chain of them, can be refused for.
var (
	// ErrForm: bytes are not the canonical form of what they should be.
	ErrForm = errors.New("not of the right form")
	// ErrSignature: a distillate was not signed by the device that it names, or was
	// changed since.
	ErrSignature = errors.New("the signature does not fit")
	// ErrIdentity: a distillate is of another identity than the lineage (AD-1).
	ErrIdentity = errors.New("of another identity")
	// ErrWeight: a weight does not come from the satisfaction (S-2).
	ErrWeight = errors.New("the weight is not the principal's")
	// ErrNoSignal: nobody judged the life, so nothing of it counts (S-2).
	ErrNoSignal = errors.New("no signal: nobody judged it")
	// ErrChain: a chain's versions are not those of its members (S-3, S-4).
	ErrChain = errors.New("the chain does not fit its versions")
	// ErrAbsent: no distillate of that name is in the lineage.
	ErrAbsent = errors.New("not in the lineage")
	// ErrProof: a proof does not prove what it says.
	ErrProof = errors.New("the proof does not hold")
)
