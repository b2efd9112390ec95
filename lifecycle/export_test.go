package lifecycle

// PageBytes is what was written to the pages of the database since it was opened.
func (c *Companion) PageBytes() int64 { return c.store.PageBytes() }

// Commits counts the transactions since then.
func (c *Companion) Commits() int64 { return c.store.Commits() }
