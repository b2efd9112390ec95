package lineage

// Seal computes a distillate's digest once, as Sign and Parse do.
func Seal(d *Distillate) (err error) {
	d.known, err = d.Digest()
	return err
}
