#include "textflag.h"

// The sums of four rows with one token lie across the lanes of four registers; put them into one
// and add it to the four places of y.
#define ADD4(A, B, C, D, XA, XB, Y) \
	VHADDPS      B, A, A   \
	VHADDPS      D, C, C   \
	VHADDPS      C, A, A   \
	VEXTRACTF128 $1, A, XB \
	VADDPS       XB, XA, XA \
	VADDPS       Y, XA, XA \
	VMOVUPS      XA, Y

// One row times three tokens, eight columns. Tokens are in Y12, Y13 and Y14.
#define ROW3(W, A, B, C) \
	VMOVUPS     W, Y15      \
	VFMADD231PS Y12, Y15, A \
	VFMADD231PS Y13, Y15, B \
	VFMADD231PS Y14, Y15, C

// The same with two tokens.
#define ROW2(W, A, B) \
	VMOVUPS     W, Y15      \
	VFMADD231PS Y12, Y15, A \
	VFMADD231PS Y13, Y15, B

// func tileAVX2(y, x, w *float32, ys, xs, ws, rows, n, k int)
//
// Tiles of four rows by three tokens, all sums of a tile in registers: seven loads for twelve
// multiplications of eight columns.
//
// DI, SI: y and x of the first token of the tile. R8, R13: w and y of its first row.
// AX, BX, CX: the running columns of x and w, and how many are left.
// R9, R10, R11: the strides of y, x and w in bytes; DX is three times R11. R12: rows left.
TEXT ·tileAVX2(SB), NOSPLIT, $0-72
	MOVQ y+0(FP), DI
	MOVQ x+8(FP), SI
	MOVQ ys+24(FP), R9
	MOVQ xs+32(FP), R10
	MOVQ ws+40(FP), R11
	SHLQ $2, R9
	SHLQ $2, R10
	SHLQ $2, R11
	LEAQ (R11)(R11*2), DX

three:
	SUBQ $3, n+56(FP)
	JLT  few
	MOVQ w+16(FP), R8
	MOVQ rows+48(FP), R12
	MOVQ DI, R13

rows3:
	MOVQ   SI, AX
	MOVQ   R8, BX
	MOVQ   k+64(FP), CX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	VXORPS Y8, Y8, Y8
	VXORPS Y9, Y9, Y9
	VXORPS Y10, Y10, Y10
	VXORPS Y11, Y11, Y11
	PCALIGN $32

columns3:
	VMOVUPS (AX), Y12
	VMOVUPS (AX)(R10*1), Y13
	VMOVUPS (AX)(R10*2), Y14
	ROW3((BX), Y0, Y1, Y2)
	ROW3((BX)(R11*1), Y3, Y4, Y5)
	ROW3((BX)(R11*2), Y6, Y7, Y8)
	ROW3((BX)(DX*1), Y9, Y10, Y11)
	ADDQ    $32, AX
	ADDQ    $32, BX
	SUBQ    $8, CX
	JGT     columns3

	ADD4(Y0, Y3, Y6, Y9, X0, X3, (R13))
	ADD4(Y1, Y4, Y7, Y10, X1, X4, (R13)(R9*1))
	ADD4(Y2, Y5, Y8, Y11, X2, X5, (R13)(R9*2))
	LEAQ (R8)(R11*4), R8
	ADDQ $16, R13
	SUBQ $4, R12
	JGT  rows3

	LEAQ (SI)(R10*2), SI
	ADDQ R10, SI
	LEAQ (DI)(R9*2), DI
	ADDQ R9, DI
	JMP  three

few: // two tokens are left, or one, which then stands for both
	ADDQ    $3, n+56(FP)
	JEQ     done
	MOVQ    w+16(FP), R8
	MOVQ    rows+48(FP), R12
	CMPQ    n+56(FP), $2
	JEQ     rows2
	XORQ    R10, R10

rows2:
	MOVQ   SI, AX
	MOVQ   R8, BX
	MOVQ   k+64(FP), CX
	VXORPS Y0, Y0, Y0
	VXORPS Y1, Y1, Y1
	VXORPS Y2, Y2, Y2
	VXORPS Y3, Y3, Y3
	VXORPS Y4, Y4, Y4
	VXORPS Y5, Y5, Y5
	VXORPS Y6, Y6, Y6
	VXORPS Y7, Y7, Y7
	PCALIGN $32

columns2:
	VMOVUPS (AX), Y12
	VMOVUPS (AX)(R10*1), Y13
	ROW2((BX), Y0, Y1)
	ROW2((BX)(R11*1), Y2, Y3)
	ROW2((BX)(R11*2), Y4, Y5)
	ROW2((BX)(DX*1), Y6, Y7)
	ADDQ    $32, AX
	ADDQ    $32, BX
	SUBQ    $8, CX
	JGT     columns2

	ADD4(Y0, Y2, Y4, Y6, X0, X2, (DI))
	CMPQ n+56(FP), $2
	JNE  next2
	ADD4(Y1, Y3, Y5, Y7, X1, X3, (DI)(R9*1))

next2:
	LEAQ (R8)(R11*4), R8
	ADDQ $16, DI
	SUBQ $4, R12
	JGT  rows2

done:
	VZEROUPPER
	RET

// func unpackAVX2(dst *float32, src *byte, scale float32, n int)
TEXT ·unpackAVX2(SB), NOSPLIT, $0-32
	MOVQ         dst+0(FP), DI
	MOVQ         src+8(FP), SI
	VBROADCASTSS scale+16(FP), Y1
	MOVQ         n+24(FP), CX

eight:
	VPMOVSXBD (SI), Y0
	VCVTDQ2PS Y0, Y0
	VMULPS    Y1, Y0, Y0
	VMOVUPS   Y0, (DI)
	ADDQ      $8, SI
	ADDQ      $32, DI
	SUBQ      $8, CX
	JGT       eight
	VZEROUPPER
	RET
