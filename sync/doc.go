// Package jivasync is the road out (sync: what one life taught, carried to the others): the room for
// the outbox, custody and MQTT transport of distillates. The package is named so that it is never
// mistaken for the standard library's sync where it is imported.
//
// Nothing leaves the device yet: this folder holds its place in the layout and no code.
package jivasync
