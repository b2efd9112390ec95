// Package neighbour answers, for a large store, which rows are most like a
// given vector without reading all of them.
//
// It is a two-level index. The rows are divided into some hundreds of cells by
// spherical k-means; a query is compared with the centroids of the cells, and
// only the rows of the nearest cells, the probed ones, are scanned. Centroids
// are found through an HNSW graph where that pays, rows by the exact scan of
// fold.Matrix, so every similarity is exact and only the choice of rows is
// approximate.
//
// The fold itself never asks this package: what is folded uses fold.Matrix.
//
//	recall@10   the share of the ten truly nearest rows that an answer holds
//	cell        the rows that share their nearest centroid
//	probe       a cell that is scanned for a query
//	guard       the check of recall@10 against the exact scan, on rows of the
//	            store itself; an index that fails it serves exact answers
package neighbour
