#include "textflag.h"

// func addProductsSSE(s *[lanes]float32, a, b *float32, n int)
//
// X0 and X1 hold the eight sums. MULPS and ADDPS round after each step, so the
// bits are those of the plain loop.
TEXT ·addProductsSSE(SB), NOSPLIT, $0-32
	MOVQ   s+0(FP), DI
	MOVQ   a+8(FP), SI
	MOVQ   b+16(FP), DX
	MOVQ   n+24(FP), CX
	MOVUPS (DI), X0
	MOVUPS 16(DI), X1

eight:
	MOVUPS (SI), X2
	MOVUPS 16(SI), X3
	MOVUPS (DX), X4
	MOVUPS 16(DX), X5
	MULPS  X4, X2
	MULPS  X5, X3
	ADDPS  X2, X0
	ADDPS  X3, X1
	ADDQ   $32, SI
	ADDQ   $32, DX
	SUBQ   $8, CX
	JNE    eight
	MOVUPS X0, (DI)
	MOVUPS X1, 16(DI)
	RET
