package consent

// Dimension is a use that data may be put to. The zero value is none, which is denied.
type Dimension uint8

// The eight uses, in the order in which they are shown.
const (
	Storage               Dimension = iota + 1 // kept longer than the moment it is said in
	Access                                     // read again from where it is kept, by the companion
	ThirdPartySharing                          // given to whoever is neither the person nor this program
	AutomatedDecision                          // decided by without the person
	Training                                   // made part of a model
	Aggregation                                // put together with other records into figures or a profile
	CrossContextUse                            // used for something else than it was given for
	DeletionOrPortability                      // deleted or handed out by the program of itself; what the person asks for needs no leave
)

// dimensionWords are by dimension, from Storage on.
var dimensionWords = [dimensionCount]word{
	{"storage", []string{"store"}},
	{"access", []string{"read"}},
	{"third_party_sharing", []string{"third_party", "sharing", "share"}},
	{"automated_decision", []string{"automated", "decision", "decisions", "automated_decisions"}},
	{"training", []string{"train"}},
	{"aggregation", []string{"aggregate"}},
	{"cross_context_use", []string{"cross_context"}},
	{"deletion_or_portability", []string{"deletion_portability", "deletion", "portability"}},
}

// Dimensions are the eight, in the order in which they are shown.
func Dimensions() []Dimension { return upTo[Dimension](dimensionCount) }

// Valid tells whether it is one of the eight.
func (d Dimension) Valid() bool { return d >= 1 && int(d) <= dimensionCount }

// String is its name, such as "third_party_sharing"; "none" for the zero value.
func (d Dimension) String() string { return nameOf(dimensionWords[:], int(d)) }

// MarshalText gives the name, an empty one for the zero value. Error: ErrForm.
func (d Dimension) MarshalText() ([]byte, error) { return textOf(dimensionWords[:], int(d), "use") }

// UnmarshalText reads exactly what String writes. Error: ErrForm.
func (d *Dimension) UnmarshalText(text []byte) error {
	return unmarshal(d, dimensionWords[:], text, "use")
}

// Leaves tells of a use in which something of the data leaves the device, so that it
// may be waiting to be sent.
func (d Dimension) Leaves() bool {
	return d == ThirdPartySharing || d == Aggregation || d == CrossContextUse
}
