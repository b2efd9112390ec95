#include "textflag.h"

// What the assembler has no names for, by the numbers of the registers; four float32 each.
#define FADDP(M, N, D) WORD $(0x6E20D400 | (M)<<16 | (N)<<5 | (D)) // sums of neighbours: first N's, then M's
#define FADD(M, N, D) WORD $(0x4E20D400 | (M)<<16 | (N)<<5 | (D))
#define FMUL(M, N, D) WORD $(0x6E20DC00 | (M)<<16 | (N)<<5 | (D))
#define SCVTF(N, D) WORD $(0x4E21D800 | (N)<<5 | (D)) // int32 to float32
#define SXTLB(N, D) WORD $(0x0F08A400 | (N)<<5 | (D)) // eight int8 to int16
#define SXTLH(N, D) WORD $(0x0F10A400 | (N)<<5 | (D)) // the lower four int16 to int32
#define SXTLH2(N, D) WORD $(0x4F10A400 | (N)<<5 | (D)) // the upper four

// Four columns of four rows (P, Q, R, S) times one token (X).
#define TOKEN(P, Q, R, S, X, A, B, C, D) \
	VFMLA X.S4, P.S4, A.S4 \
	VFMLA X.S4, Q.S4, B.S4 \
	VFMLA X.S4, R.S4, C.S4 \
	VFMLA X.S4, S.S4, D.S4

// The sums of four rows with one token lie across the lanes of four registers; put them into one
// and add it to the four places of y at R22, which moves to the next token.
#define ADD4(A, B, C, D) \
	VLD1  (R22), [V0.S4] \
	FADDP(B, A, A)       \
	FADDP(D, C, C)       \
	FADDP(C, A, A)       \
	FADD(A, 0, 0)        \
	VST1  [V0.S4], (R22) \
	ADD   R3, R22

// R12 to R15: the rows of w from R9 on.
#define ROWS \
	MOVD R9, R12      \
	ADD  R5, R12, R13 \
	ADD  R5, R13, R14 \
	ADD  R5, R14, R15

// Eight columns of each: the first four into the even registers, the rest into the odd ones.
#define LOADROWS \
	FLDPQ.P 32(R12), (F0, F1) \
	FLDPQ.P 32(R13), (F2, F3) \
	FLDPQ.P 32(R14), (F4, F5) \
	FLDPQ.P 32(R15), (F6, F7)

// func tileNEON(y, x, w *float32, ys, xs, ws, rows, n, k int)
//
// Tiles of four rows by four tokens, all sums of a tile in registers: eight double loads for
// thirty-two multiplications of four columns. A sum is touched again only after the fifteen others,
// so that processors which work in order need not wait for it.
//
// R0, R1: y and x of the first token of the tile. R9, R10: w and y of its first row.
// R12 to R15: the running columns of four rows. R16, R17, R19, R20: those of four tokens. R21: columns left.
// R3, R4, R5: the strides of y, x and w in bytes. R6, R7, R8: rows, tokens left, columns. R11: rows left.
TEXT ·tileNEON(SB), NOSPLIT, $0-72
	MOVD y+0(FP), R0
	MOVD x+8(FP), R1
	MOVD w+16(FP), R2
	MOVD ys+24(FP), R3
	MOVD xs+32(FP), R4
	MOVD ws+40(FP), R5
	MOVD rows+48(FP), R6
	MOVD n+56(FP), R7
	MOVD k+64(FP), R8
	LSL  $2, R3
	LSL  $2, R4
	LSL  $2, R5

four:
	SUBS $4, R7
	BLT  few
	MOVD R2, R9
	MOVD R0, R10
	MOVD R6, R11

rows4:
	ROWS
	MOVD R1, R16
	ADD  R4, R16, R17
	ADD  R4, R17, R19
	ADD  R4, R19, R20
	MOVD R8, R21
	VEOR V16.B16, V16.B16, V16.B16
	VEOR V17.B16, V17.B16, V17.B16
	VEOR V18.B16, V18.B16, V18.B16
	VEOR V19.B16, V19.B16, V19.B16
	VEOR V20.B16, V20.B16, V20.B16
	VEOR V21.B16, V21.B16, V21.B16
	VEOR V22.B16, V22.B16, V22.B16
	VEOR V23.B16, V23.B16, V23.B16
	VEOR V24.B16, V24.B16, V24.B16
	VEOR V25.B16, V25.B16, V25.B16
	VEOR V26.B16, V26.B16, V26.B16
	VEOR V27.B16, V27.B16, V27.B16
	VEOR V28.B16, V28.B16, V28.B16
	VEOR V29.B16, V29.B16, V29.B16
	VEOR V30.B16, V30.B16, V30.B16
	VEOR V31.B16, V31.B16, V31.B16
	PCALIGN $16

columns4:
	LOADROWS
	FLDPQ.P 32(R16), (F8, F9)
	FLDPQ.P 32(R17), (F10, F11)
	FLDPQ.P 32(R19), (F12, F13)
	FLDPQ.P 32(R20), (F14, F15)
	TOKEN(V0, V2, V4, V6, V8, V16, V17, V18, V19)
	TOKEN(V0, V2, V4, V6, V10, V20, V21, V22, V23)
	TOKEN(V0, V2, V4, V6, V12, V24, V25, V26, V27)
	TOKEN(V0, V2, V4, V6, V14, V28, V29, V30, V31)
	SUBS    $8, R21
	TOKEN(V1, V3, V5, V7, V9, V16, V17, V18, V19)
	TOKEN(V1, V3, V5, V7, V11, V20, V21, V22, V23)
	TOKEN(V1, V3, V5, V7, V13, V24, V25, V26, V27)
	TOKEN(V1, V3, V5, V7, V15, V28, V29, V30, V31)
	BGT     columns4

	MOVD R10, R22
	ADD4(16, 17, 18, 19)
	ADD4(20, 21, 22, 23)
	ADD4(24, 25, 26, 27)
	ADD4(28, 29, 30, 31)
	ADD  R5<<2, R9
	ADD  $16, R10
	SUBS $4, R11
	BGT  rows4

	ADD R4<<2, R1
	ADD R3<<2, R0
	B   four

few: // one token at a time; two sums for each row, or they would wait for each other
	ADD $4, R7

one:
	CBZ  R7, done
	MOVD R2, R9
	MOVD R0, R10
	MOVD R6, R11

rows1:
	ROWS
	MOVD R1, R16
	MOVD R8, R21
	VEOR V16.B16, V16.B16, V16.B16
	VEOR V17.B16, V17.B16, V17.B16
	VEOR V18.B16, V18.B16, V18.B16
	VEOR V19.B16, V19.B16, V19.B16
	VEOR V20.B16, V20.B16, V20.B16
	VEOR V21.B16, V21.B16, V21.B16
	VEOR V22.B16, V22.B16, V22.B16
	VEOR V23.B16, V23.B16, V23.B16
	PCALIGN $16

columns1:
	LOADROWS
	FLDPQ.P 32(R16), (F8, F9)
	SUBS    $8, R21
	TOKEN(V0, V2, V4, V6, V8, V16, V17, V18, V19)
	TOKEN(V1, V3, V5, V7, V9, V20, V21, V22, V23)
	BGT     columns1

	FADD(20, 16, 16)
	FADD(21, 17, 17)
	FADD(22, 18, 18)
	FADD(23, 19, 19)
	MOVD R10, R22
	ADD4(16, 17, 18, 19)
	ADD  R5<<2, R9
	ADD  $16, R10
	SUBS $4, R11
	BGT  rows1

	ADD R4, R1
	ADD R3, R0
	SUB $1, R7
	B   one

done:
	RET

// func unpackNEON(dst *float32, src *byte, scale float32, n int)
TEXT ·unpackNEON(SB), NOSPLIT, $0-32
	MOVD  dst+0(FP), R0
	MOVD  src+8(FP), R1
	FMOVS scale+16(FP), F2
	VDUP  V2.S[0], V2.S4
	MOVD  n+24(FP), R2

eight:
	FMOVD.P 8(R1), F0
	SXTLB(0, 0)
	SXTLH2(0, 1)
	SXTLH(0, 0)
	SCVTF(0, 0)
	SCVTF(1, 1)
	FMUL(2, 0, 0)
	FMUL(2, 1, 1)
	FSTPQ.P (F0, F1), 32(R0)
	SUBS    $8, R2
	BGT     eight
	RET
