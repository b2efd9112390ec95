package builtin

import (
	"os"
	"runtime/debug"
	"syscall"
	"testing"
	"unsafe"
)

// fence returns n zeros behind which no memory may be touched.
func fence(t *testing.T, n int) []float32 {
	t.Helper()
	page := os.Getpagesize()
	open := (4*n + page - 1) / page * page
	mem, err := syscall.Mmap(-1, 0, open+page, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Munmap(mem) })
	if err := syscall.Mprotect(mem[open:], syscall.PROT_NONE); err != nil {
		t.Fatal(err)
	}
	return unsafe.Slice((*float32)(unsafe.Pointer(&mem[open-4*n])), n)
}

// The kernels count their pointers themselves: they may not read or write behind the last value.
func TestKernelsStayInside(t *testing.T) {
	m := newModel(t)
	if !m.simd {
		t.Skip("this processor has no kernel in assembly")
	}
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	for n := 1; n <= 9; n++ {
		for rows := 1; rows <= 9; rows++ {
			func() {
				defer func() {
					if fault := recover(); fault != nil {
						t.Errorf("%d tokens, %d rows: %v", n, rows, fault)
					}
				}()
				x, w, y := fence(t, 16*n), fence(t, 16*rows), fence(t, rows*n)
				m.addProduct(view{y, rows}, view{x, 16}, view{w, 16}, n, rows, 16)
			}()
		}
		func() {
			defer func() {
				if fault := recover(); fault != nil {
					t.Errorf("%d weights: %v", 8*n, fault)
				}
			}()
			bytes := fence(t, 2*n)
			m.unpack(fence(t, 8*n), unsafe.String((*byte)(unsafe.Pointer(&bytes[0])), 8*n), 1)
		}()
	}
}
