#!/usr/bin/env python3
"""Published vectors of the lineage, computed without a line of the program.

Writes soul/lineage/testdata/lineage/*.json: distillates, and what must come of them:
digests, rules, versions, Merkle roots, momentum, the rendered text, proofs, and the
same without some lives. The Go tests read them. With --check nothing is written, and
it ends with 1 where a file is not what this script computes.

Only Python's own library is used; the signatures follow RFC 8032, section 5.1, the
tree RFC 6962, section 2.1, the canonical form RFC 8785 (of whole numbers and of text
without control characters).
"""

import hashlib
import json
import math
import pathlib
import sys
import uuid

MILLION = 1_000_000
FOLDER = pathlib.Path(__file__).resolve().parent.parent / "soul/lineage/testdata/lineage"


def sha(data):
    return hashlib.sha256(data).digest()


# --- Ed25519 -----------------------------------------------------------------------

P = 2**255 - 19
L = 2**252 + 27742317777372353535851937790883648493
D = -121665 * pow(121666, P - 2, P) % P


def point_add(a, b):
    x, y = (a[1] - a[0]) * (b[1] - b[0]) % P, (a[1] + a[0]) * (b[1] + b[0]) % P
    z, w = 2 * a[3] * b[3] * D % P, 2 * a[2] * b[2] % P
    e, f, g, h = y - x, w - z, w + z, y + x
    return (e * f % P, g * h % P, f * g % P, e * h % P)


def point_mul(n, p):
    q = (0, 1, 1, 0)
    while n:
        if n & 1:
            q = point_add(q, p)
        p, n = point_add(p, p), n >> 1
    return q


def recover_x(y):
    x2 = (y * y - 1) * pow(D * y * y + 1, P - 2, P) % P
    x = pow(x2, (P + 3) // 8, P)
    if (x * x - x2) % P:
        x = x * pow(2, (P - 1) // 4, P) % P
    return x if x % 2 == 0 else P - x


GY = 4 * pow(5, P - 2, P) % P
GX = recover_x(GY)
G = (GX, GY, 1, GX * GY % P)


def packed(p):
    inverse = pow(p[2], P - 2, P)
    x, y = p[0] * inverse % P, p[1] * inverse % P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def secret(seed):
    h = hashlib.sha512(seed).digest()
    return (int.from_bytes(h[:32], "little") & (1 << 254) - 8) | 1 << 254, h[32:]


def public(seed):
    return packed(point_mul(secret(seed)[0], G))


def sign(seed, message):
    a, prefix = secret(seed)
    pub = packed(point_mul(a, G))
    r = int.from_bytes(hashlib.sha512(prefix + message).digest(), "little") % L
    big_r = packed(point_mul(r, G))
    h = int.from_bytes(hashlib.sha512(big_r + pub + message).digest(), "little") % L
    return big_r + ((r + h * a) % L).to_bytes(32, "little")


# --- Records -----------------------------------------------------------------------


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def make_id(kind, n):
    raw = bytearray(sha(f"{kind} {n}".encode())[:16])
    raw[6], raw[8] = raw[6] & 0x0F | 0x70, raw[8] & 0x3F | 0x80
    return str(uuid.UUID(bytes=bytes(raw)))


GENESIS = make_id("genesis", 0)
IDENTITY = sha(sha(b"the base model") + uuid.UUID(GENESIS).bytes).hex()


def distillate(n, rules, valence, confidence=MILLION, life=None, device=0, source="explicit", model="", ident=None):
    """rules: (key, guidance, confidence) each."""
    seed = sha(f"device {device}".encode())
    d = {
        "schema": "jivad/distillate/1",
        "id": ident or make_id("distillate", n),
        "life": life or make_id("life", n),
        "identity": IDENTITY,
        "nonce": sha(f"nonce {device}".encode()).hex(),
        "device": public(seed).hex(),
        "manifest": sha(b"manifest").hex(),
        "base": sha(f"base {n}".encode()).hex(),
        "dispositions": [
            {"key": k, "guidance": g, "weight": valence, "confidence": c, "evidence": sha(f"{n} {k}".encode()).hex()}
            for k, g, c in sorted(rules)
        ],
        "satisfaction": {"valence": valence, "confidence": confidence, "source": source, "model": model},
        "polarity": "corrective" if valence < 0 else "reinforcing",
        "consent": make_id("consent", 0),
        "sequence": n + 1,
    }
    act = b"jivad/act/1\0" + b"".join(bytes.fromhex(d[k]) for k in ("identity", "nonce", "manifest")) + sha(canonical(d))
    d["signature"] = sign(seed, act).hex()
    return d


def digest(d):
    return sha(canonical({k: v for k, v in d.items() if k != "signature"}))


# --- The fold ----------------------------------------------------------------------


def rounded(a, b):
    """a/b, half away from zero."""
    q, r = divmod(abs(a), b)
    q += 2 * r >= b
    return -q if a < 0 else q


def fold(members):
    counted = {}  # a life is of one device; of what that says of it the lowest digest counts
    for dg, d in sorted(members.items()):
        counted.setdefault((d["device"], d["life"]), (dg, d))
    by_key = {}
    for dg, d in counted.values():
        for p in d["dispositions"]:
            c = max(1, d["satisfaction"]["confidence"] * p["confidence"] // MILLION)
            by_key.setdefault(p["key"], []).append((c, p["weight"], d, dg, p["guidance"]))
    rules = []
    for key, parts in sorted(by_key.items()):
        total = sum(c for c, *_ in parts)
        cw, cw2 = sum(c * w for c, w, *_ in parts), sum(c * w * w for c, w, *_ in parts)
        up, down = sum(c for c, w, *_ in parts if w > 0), sum(c for c, w, *_ in parts if w < 0)
        weight = rounded(cw, total)
        speakers = [x for x in parts if x[1] * weight > 0] or parts
        best = max(speakers, key=lambda x: (x[0] * abs(x[1]), x[2]["id"], x[3]))
        rules.append({
            "key": key, "weight": weight, "guidance": best[4], "from": best[2]["id"], "support": len(parts),
            "first_life": min(x[2]["life"] for x in parts), "last_life": max(x[2]["life"] for x in parts),
            "dispersion": math.isqrt(total * cw2 - cw * cw) // total, "for": up, "against": down,
            "contested": 4 * up >= total and 4 * down >= total,
        })
    return rules


# --- The tree ----------------------------------------------------------------------


def half(n):
    k = 1
    while 2 * k < n:
        k *= 2
    return k


def tree(leaves):
    if not leaves:
        return sha(b"")
    if len(leaves) == 1:
        return sha(b"\0" + leaves[0])
    k = half(len(leaves))
    return sha(b"\1" + tree(leaves[:k]) + tree(leaves[k:]))


def path(m, leaves):
    if len(leaves) <= 1:
        return []
    k = half(len(leaves))
    if m < k:
        return path(m, leaves[:k]) + [tree(leaves[k:])]
    return path(m - k, leaves[k:]) + [tree(leaves[:k])]


def version(leaves):
    return sha(b"jivad/lineage/1" + uuid.UUID(GENESIS).bytes + tree(sorted(leaves)))


def proof(target, leaves):
    leaves = sorted(leaves)
    if target in leaves:
        at = [leaves.index(target)]
    else:
        before = sum(x < target for x in leaves)
        at = [i for i in (before - 1, before) if 0 <= i < len(leaves)]
    return {
        "schema": "jivad/proof/1", "genesis": GENESIS, "version": version(leaves).hex(), "size": len(leaves),
        "digest": target.hex(), "present": target in leaves,
        "leaves": [{"index": i, "digest": leaves[i].hex(), "path": [h.hex() for h in path(i, leaves)]} for i in at],
    }


# --- Rendering ---------------------------------------------------------------------

LEADS = ("Learned preferences of this assistant, from earlier work. They are not commands of the user "
         "and not facts; each is about the one choice that it names.\n")
ASKS = "Open questions, on which earlier work was of two minds. Take no side without asking:\n"


def render(rules):
    order = [r for r in rules if r["weight"] or r["contested"]]
    order.sort(key=lambda r: (-(r["dispersion"] if r["contested"] else abs(r["weight"])), r["key"]))
    settled, opened, size = [], [], len(LEADS.encode())
    for r in order:
        scope, choice = r["guidance"].split(": ", 1)
        if r["contested"]:
            line, kind, head = f"- {scope}: {choice.rstrip('.!?')}, or not?\n", opened, ASKS
        else:
            line, kind, head = f"- {scope}: {'avoid' if r['weight'] < 0 else 'prefer'} {choice}\n", settled, ""
        more = len(line.encode()) + (0 if kind else len(head.encode()))
        if len(settled) + len(opened) < 12 and size + more <= 1536:
            size += more
            kind.append(line)
    return (LEADS if settled + opened else "") + "".join(settled) + (ASKS if opened else "") + "".join(opened)


# --- The chain ---------------------------------------------------------------------


def chain(batches, without=()):
    members, out = {}, []
    for batch in batches:
        fresh = {digest(d): d for d in batch if d["life"] not in without}
        fresh = {k: v for k, v in fresh.items() if k not in members}
        if not fresh:
            continue
        before = {r["key"]: r for r in fold(members)}
        members.update(fresh)
        after = {r["key"]: r for r in fold(members)}
        weight = lambda rules, k: rules[k]["weight"] if k in rules else 0
        out.append({
            "members": [k.hex() for k in sorted(fresh)], "version": version(members).hex(), "tree": tree(sorted(members)).hex(),
            "momentum": sum(abs(weight(after, k) - weight(before, k)) for k in {*before, *after}),
            "rewordings": sum(k in after and before[k]["guidance"] != after[k]["guidance"] for k in before),
        })
    rules = fold(members)
    return {"head": version(members).hex(), "batches": out, "rules": rules, "render": render(rules)}, members


def vector(about, batches, lives=()):
    whole, members = chain(batches)
    targets = sorted(members)[:3] + [sha(b"not there"), bytes(32), b"\xff" * 32]
    lives = list(lives)
    return {
        "about": about, "genesis": GENESIS, "identity": IDENTITY,
        "batches": [[canonical(d).decode() for d in batch] for batch in batches],
        "expected": whole,
        "proofs": [proof(t, list(members)) for t in targets],
        "excise": lives,
        "excised": chain(batches, set(lives))[0],
    }


# --- The vectors -------------------------------------------------------------------


def numbers():
    """Numbers without end that are the same everywhere."""
    n = 0
    while True:
        block = sha(f"numbers {n}".encode())
        yield from (int.from_bytes(block[i:i + 4], "big") for i in range(0, 32, 4))
        n += 1


def many():
    draw = numbers()
    valences = [-MILLION, -333_333, 0, 1, 499_999, MILLION]
    out = []
    for n in range(40):
        rules = [
            (f"tool.t{k}", f"tool t{k}, argument way: w{next(draw) % 3}", 1 + next(draw) % MILLION)
            for k in range(9) if next(draw) % 3 == 0
        ] or [("companion.brevity", "answers, length: short ones", MILLION)]
        life = make_id("life", n - 1 if n in (7, 23) else n)  # two were distilled twice
        out.append(distillate(n, rules, valences[next(draw) % 6], 1 + next(draw) % MILLION, life, next(draw) % 3))
    batches, at = [], 0
    while at < len(out):
        size = 1 + next(draw) % 6
        batches.append(out[at:at + size] + out[max(0, at - 1):at])  # now and then one that is there
        at += size
    return batches


def vectors():
    fare = "tool fare_search, argument strategy: "
    rule = lambda guidance, c=MILLION: [("tool.fare_search", fare + guidance, c)]
    yield "empty", vector("Nothing was merged yet.", [])
    yield "one", vector("One life, and the lineage without it.", [[distillate(0, rule("indexed"), 900_000)]], [make_id("life", 0)])
    yield "rounding", vector(
        "Weights are rounded half away from zero, once.",
        [[distillate(0, rule("a"), 1), distillate(1, rule("b"), 2), distillate(2, [("tool.x", "tool x, argument y: z", MILLION)], -1),
          distillate(3, [("tool.x", "tool x, argument y: z", MILLION)], -2)]])
    yield "tie", vector(
        "Of contributions of equal force the words of the latest identifier are the rule's.",
        [[distillate(0, rule("old"), MILLION, ident="019a0000-0000-7000-8000-000000000001")],
         [distillate(1, rule("new"), MILLION, ident="019a0000-0000-7000-8000-000000000002")],
         [distillate(2, rule("older"), MILLION, ident="01990000-0000-7000-8000-000000000003")]],
        [make_id("life", 1)])
    yield "contested", vector(
        "A quarter of the confidence on either side makes a question.",
        [[distillate(0, rule("indexed"), MILLION, 750_000)], [distillate(1, rule("indexed"), -MILLION, 250_000)],
         [distillate(2, [("tool.quiet", "tool quiet, argument level: low", MILLION)], MILLION, 750_001)],
         [distillate(3, [("tool.quiet", "tool quiet, argument level: low", MILLION)], -MILLION, 249_999)]],
        [make_id("life", 1)])
    yield "open", vector(
        "Where all is a question it is said first what it is about.",
        [[distillate(0, rule("indexed"), MILLION)], [distillate(1, rule("nested"), -MILLION)]])
    yield "room", vector(
        "A rule for which there is no room is left out, and a weaker one that is shorter is not.",
        [[distillate(n, [(f"tool.t{n}", f"tool t{n}, argument way: " + "äöüéèàç"[n] * 150, MILLION)], 900_000 - n) for n in range(7)],
         [distillate(7, [("tool.t7", "tool t7, argument way: short", MILLION)], 700_000)]])
    yield "sign", vector(
        "A rule that is preferred has the words of those who preferred it, however loud the others are.",
        [[distillate(n, rule("indexed"), 500_000) for n in range(4)], [distillate(4, rule("nested"), -MILLION)]],
        [make_id("life", 4)])
    yield "twice", vector(
        "A life that was distilled twice counts once, by the lowest digest.",
        [[distillate(0, rule("a"), MILLION)], [distillate(1, rule("b"), -500_000, life=make_id("life", 0))],
         [distillate(2, rule("c"), 250_000, life=make_id("life", 0))], [distillate(3, rule("d"), 10, 1, source="implicit")]],
        [make_id("life", 3)])
    yield "devices", vector(
        "Two devices that name one life have lived one each, whichever digest is lower; an excision of it takes both.",
        [[distillate(0, rule("a"), MILLION)], [distillate(n, rule("b"), -500_000, life=make_id("life", 0), device=1) for n in (1, 2)],
         [distillate(3, rule("c"), 250_000, life=make_id("life", 0), device=2), distillate(4, rule("d"), 10, 1)]],
        [make_id("life", 0)])
    yield "copied", vector(
        "Of contributions of equal force under one identifier the words of the highest digest are the rule's.",
        [[distillate(n, rule(text), MILLION, device=n, ident=make_id("distillate", 0))] for n, text in enumerate("abc")],
        [make_id("life", 2)])
    yield "scripts", vector(
        "Text of any script, as it stands.",
        [[distillate(0, [("tool.%s" % key, "tool %s, argument %s" % (key, text), MILLION) for key, text in (
            ("length", "Länge: „kurz“, knapp — 3 Sätze"), ("ton", "語り口: 静かに"), ("zzz", "गति: धीरे"))], 700_000)]])
    batches = many()
    yield "many", vector("Forty lives of three devices in batches, and the lineage without five of them.", batches,
                         [make_id("life", n) for n in (0, 6, 11, 22, 39)])


def main():
    check = sys.argv[1:] == ["--check"]
    bad = 0
    for name, value in vectors():
        text = json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True) + "\n"
        file = FOLDER / f"{name}.json"
        if check:
            if not file.exists() or file.read_text(encoding="utf-8") != text:
                print(f"{file} is not what this script computes")
                bad = 1
        else:
            FOLDER.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
    sys.exit(bad)


if __name__ == "__main__":
    main()
