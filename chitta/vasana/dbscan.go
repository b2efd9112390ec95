package vasana

// cluster runs DBSCAN over the live points and returns the clusters in the
// order of their first core, each with its rows ascending.
func cluster(g *Graph, points []Point) [][]uint32 {
	near := adjacency(g, points)
	const noise = -1
	label := make([]int32, len(points))
	for i := range label {
		label[i] = noise
	}
	core := func(i uint32) bool { return points[i].Live && len(near.of(i))+1 >= g.params.MinPoints }
	clusters := int32(0)
	var queue []uint32
	for i := range points {
		if label[i] != noise || !core(uint32(i)) {
			continue
		}
		label[i] = clusters
		for queue = append(queue[:0], uint32(i)); len(queue) > 0; {
			c := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			for _, j := range near.of(c) {
				if label[j] != noise {
					continue
				}
				label[j] = clusters
				if core(j) {
					queue = append(queue, j)
				}
			}
		}
		clusters++
	}
	members := make([][]uint32, clusters)
	for i, l := range label {
		if l != noise {
			members[l] = append(members[l], uint32(i))
		}
	}
	kept := members[:0]
	for _, m := range members {
		if len(m) >= g.params.MinPoints {
			kept = append(kept, m)
		}
	}
	return kept
}

// neighbours is an adjacency list in one piece: those of i are
// list[start[i]:start[i+1]].
type neighbours struct{ start, list []uint32 }

func (n neighbours) of(i uint32) []uint32 { return n.list[n.start[i]:n.start[i+1]] }

// adjacency keeps of the graph the edges between live points of like
// character, in both directions.
func adjacency(g *Graph, points []Point) neighbours {
	type edge struct{ i, j uint32 }
	kept := make([]edge, 0, g.Edges())
	start := make([]uint32, len(points)+2)
	for i := range points {
		a := &points[i]
		for _, j := range g.below(i) {
			if b := &points[j]; a.Live && b.Live && a.Guna.Resonance(b.Guna) >= g.params.GunaCoherence {
				kept = append(kept, edge{uint32(i), j})
				start[i+2]++
				start[j+2]++
			}
		}
	}
	for i := range points {
		start[i+2] += start[i+1]
	}
	// While the list is filled start[i+1] is the next free place of i; in the
	// end that is where those of i+1 begin.
	list := make([]uint32, 2*len(kept))
	for _, e := range kept {
		list[start[e.i+1]], list[start[e.j+1]] = e.j, e.i
		start[e.i+1]++
		start[e.j+1]++
	}
	return neighbours{start[:len(points)+1], list}
}
