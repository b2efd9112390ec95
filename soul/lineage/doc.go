// Package lineage is what lives leave behind and how it is put together: the rules
// (dispositions) that each life's distillate holds, merged into one set of rules that
// is the same on every machine that has the same distillates, whatever the order in
// which they came.
//
// A [Distillate] is what one life left, signed by the device it was lived on. A life is of
// one device: two that name the same one have lived one each. What may enter is a matter of
// the record alone ([Distillate.Check]), the same on every device. A
// [Lineage] is the chain of batches in which distillates were taken in; its version
// depends on the set alone. [State] is the fold of the set: one [Rule] per key.
// [Render] is the text of the rules that enters a prompt. To forget a life is to
// fold the set without it ([Lineage.Without]): the result is bit for bit that of a
// chain that never had it.
//
// The package knows no clock, no network and no model. Weights and confidences are
// whole millionths, so that sums are exact on every machine. Source: the seed on
// dispositional continuity, sections "Samskara", "Advaita" and "Unlearning by Replay".
package lineage
