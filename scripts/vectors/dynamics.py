#!/usr/bin/env python3
"""Published vectors for the packages reactivation and gate.

Run from the root of the repository; nothing but the standard library is needed:

    python3 scripts/vectors/dynamics.py

It rewrites reactivation/testdata/*.json and gate/testdata/*.json. The values
are computed here from the formulas of the specification, in decimal arithmetic
of 80 digits, on the exact value of each input float, and apart from the Go
code. The inputs come from a fixed seed, so a second run changes nothing.
"""

import json
import pathlib
import random
from decimal import Decimal, getcontext

getcontext().prec = 80
ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = 240
ONE = Decimal(1)

# The defaults of the specification, and two other sets, so that no parameter
# can be swapped for a constant.
SETS = [
    dict(R0=10.0, Lambda=0.35, Alpha=0.5, HardnessGain=0.35, SoftGain=0.05, DriftRate=0.05,
         Protection=0.6, Suppression=0.1, UpliftMatch=0.5, Novel=0.35, Context=12, MMR=0.7),
    dict(R0=3.0, Lambda=1.2, Alpha=0.8, HardnessGain=0.1, SoftGain=0.2, DriftRate=0.6,
         Protection=0.3, Suppression=0.45, UpliftMatch=0.2, Novel=0.2, Context=5, MMR=0.4),
    dict(R0=40.0, Lambda=0.0, Alpha=0.1, HardnessGain=2.0, SoftGain=0.5, DriftRate=0.01,
         Protection=0.9, Suppression=0.0, UpliftMatch=0.9, Novel=0.9, Context=30, MMR=0.1),
]


def D(x):
    return Decimal(x)  # exact, whatever the float


def out(x):
    return float(x)  # the nearest float64


def log1p(t):
    return (ONE + D(t)).ln()


# --- formulas -------------------------------------------------------------

def depth(p, r, t):
    return (ONE - (-r / D(p["R0"])).exp()) / (ONE + D(p["Lambda"]) * log1p(t))


def reinforcement(p, d):
    return -D(p["R0"]) * (ONE - d).ln()


def hardness(p, t):
    return ONE + D(p["HardnessGain"]) * log1p(t)


def weight(i, n, e, m):
    return sum(D(x) ** 2 for x in (i, n, e, m)).sqrt() / 2


def normalise(v):
    length = sum(x * x for x in v).sqrt()
    return [x / length for x in v]


def resonance(a, b):
    return min(sum(D(x) * D(y) for x, y in zip(a, b)), ONE)


def toward(g, e, rate, protection):
    if g[2] > protection and e[2] < g[2]:
        return [D(x) for x in g]
    return normalise([D(a) + rate * (D(b) - D(a)) for a, b in zip(g, e)])


def drift(p, g, e, match):
    rate = D(p["DriftRate"])
    if e[2] ** 2 > e[0] ** 2 and e[2] ** 2 > e[1] ** 2 and match >= p["UpliftMatch"]:
        rate = min(2 * rate, ONE)
    return toward(g, e, rate, p["Protection"])


def collide(p, r, t, g, w, match, e, stiffness):
    now, res = depth(p, D(r), t), resonance(g, e)
    suppressed = p["Suppression"] > 0 and g[2] > p["Protection"] and (e[0] > e[2] or e[1] > e[2])
    if suppressed:
        factor = ONE - D(p["Suppression"]) * D(w) * (ONE - res)
        after = now * factor
        left = (ONE - (-D(r) / D(p["R0"])).exp()) * factor
        return dict(reinforcement=reinforcement(p, left), depth=after, snap=D(0),
                    guna=[D(x) for x in g], suppressed=True)
    snap = (D(w) * (ONE - now) * res) ** 2
    after = now + (ONE - now) * snap / (hardness(p, t) * D(stiffness))
    return dict(reinforcement=reinforcement(p, after), depth=after, snap=snap,
                guna=drift(p, g, e, match), suppressed=False)


def excess(p, load):
    return max(D(0), (D(load) - D(p["Balance"])) / (ONE - D(p["Balance"])))


def read(p, s, load):
    n = len(s)
    if n == 0:
        return dict(mean=0, deviation=0, entropy=0, focus=0, k=0, theta=1, effective=1, floor=1), []
    values = [D(x) for x in s]
    mean = sum(values) / n
    deviation = (sum((x - mean) ** 2 for x in values) / n).sqrt()
    entropy = D(0)
    if n > 1:
        powers = [(x / D(p["Temperature"])).exp() for x in values]
        total = sum(powers)
        entropy = -sum(x / total * (x / total).ln() for x in powers) / D(n).ln()
    focus = ONE - entropy
    half = D("0.5")
    k = D(p["KBase"]) * (half + focus if p["Mode"] == "concentrate" else 3 * half - focus)
    theta = min(max(mean + k * deviation, D(p["MinSimilarity"])), ONE)
    effective = theta + D(p["InertiaGain"]) * excess(p, load[0]) * (ONE - theta)
    floor = max(D(p["NoiseFloor"]), mean + half * (effective - mean))
    r = dict(mean=mean, deviation=deviation, entropy=entropy, focus=focus, k=k,
             theta=theta, effective=effective, floor=floor)
    # A similarity within the tolerance of a threshold could fall to either side.
    for x in values:
        for edge in (effective, floor):
            assert x == edge or abs(x - edge) > D("1e-11"), "choose another seed"
    bands = ["fires" if x >= effective else "soft" if x >= floor else "none" for x in values]
    return r, bands


# --- inputs ---------------------------------------------------------------

def guna(rng):
    kind = rng.randrange(6)
    if kind < 3:
        return [float(i == kind) for i in range(3)]
    v = [Decimal(rng.random() ** 2) for _ in range(3)]
    if kind == 3:
        v[rng.randrange(3)] = D(0)
    return [out(x) for x in normalise(v)]


def log_uniform(rng, low, high):
    return float("%.6g" % 10 ** rng.uniform(low, high))


def age(rng):
    return rng.choice([0.0, 1.0, float(rng.randrange(400)), log_uniform(rng, -3, 9)])


def part(rng):
    return rng.choice([0.0, 1.0, round(rng.random(), 4), round(rng.random(), 4), rng.random()])


def similarities(rng):
    n = rng.choice([0, 1, 2, 3, 8, 20, 40])
    middle, width = rng.uniform(-0.1, 0.8), rng.uniform(0, 0.25)
    if rng.randrange(8) == 0:
        width = 0
    s = [round(min(max(rng.gauss(middle, width), -1), 1), 4) for _ in range(n)]
    if n > 2 and rng.randrange(3) == 0:
        s[rng.randrange(n)] = round(rng.uniform(0.8, 1), 4)
    return s


# --- families -------------------------------------------------------------

def reactivation(rng):
    families = {}

    def family(name, make):
        families[name] = [make(SETS[k % len(SETS)]) for k in range(CASES)]

    def depth_case(p):
        r = rng.choice([0.0, 1.0, p["R0"], 2 * p["R0"], log_uniform(rng, -12, 2.2)])
        t = age(rng)
        return dict(params=p, reinforcement=r, age=t, depth=out(depth(p, D(r), t)))

    def reinforcement_case(p):
        d = rng.choice([0.0, rng.random(), log_uniform(rng, -15, 0) * 0.999, 1 - log_uniform(rng, -14, 0) / 2])
        return dict(params=p, depth=d, reinforcement=out(reinforcement(p, D(d))))

    def hardness_case(p):
        t = age(rng)
        return dict(params=p, age=t, hardness=out(hardness(p, t)))

    def weight_case(_):
        f = [part(rng) for _ in range(4)]
        return dict(force=f, weight=out(weight(*f)))

    def blend_case(p):
        a, b = part(rng), rng.choice([None, part(rng), part(rng)])
        alpha = D(p["Alpha"])
        value = D(a) if b is None else alpha * D(a) + (ONE - alpha) * D(b)
        return dict(params=p, embedded=a, judged=b, blended=out(value))

    def guna_case(_):
        scale = D(10) ** rng.randrange(-290, 290)
        v = [out(D(round(rng.random(), 6)) * scale) for _ in range(3)]
        v[rng.randrange(3)] *= rng.choice([0, 1, 1, 1e-6])
        if not any(v):
            v[0] = 1.0
        g = normalise([D(x) for x in v])
        other = guna(rng)
        return dict(triple=v, guna=[out(x) for x in g], shares=[out(x * x) for x in g],
                    other=other, resonance=out(min(sum(x * D(y) for x, y in zip(g, other)), ONE)))

    def drift_case(p):
        g, e, m = guna(rng), guna(rng), part(rng)
        return dict(params=p, guna=g, event=e, match=m, drifted=[out(x) for x in drift(p, g, e, m)])

    def towards_case(_):
        g, e, rate, protection = guna(rng), guna(rng), part(rng), part(rng)
        return dict(guna=g, event=e, rate=rate, protection=protection,
                    drifted=[out(x) for x in toward(g, e, D(rate), protection)])

    def mean_case(_):
        gs = [guna(rng) for _ in range(rng.randrange(1, 6))]
        ws = [part(rng) * rng.choice([1, 1e-3, 50]) for _ in gs]
        total = [sum(D(w) * D(g[i]) for g, w in zip(gs, ws)) for i in range(3)]
        mean = [out(x) for x in normalise(total)] if any(ws) else None
        return dict(gunas=gs, weights=ws, mean=mean)

    def collide_case(p):
        r, t, g, e = log_uniform(rng, -3, 2.2), age(rng), guna(rng), guna(rng)
        w, m, stiffness = part(rng), part(rng), 1 + part(rng) / 2
        if r > 12 * p["R0"]:
            r = float(p["R0"])
        o = collide(p, r, t, g, w, m, e, stiffness)
        return dict(params=p, reinforcement=r, age=t, guna=g, weight=w, match=m, event=e, stiffness=stiffness,
                    after=dict(reinforcement=out(o["reinforcement"]), depth=out(o["depth"]), snap=out(o["snap"]),
                               guna=[out(x) for x in o["guna"]], suppressed=o["suppressed"]))

    def soften_case(p):
        r, g, e, w = log_uniform(rng, -3, 3), guna(rng), guna(rng), part(rng)
        return dict(params=p, reinforcement=r, guna=g, weight=w, event=e,
                    after=out(D(r) + D(p["SoftGain"]) * D(w) * resonance(g, e)))

    family("depth", depth_case)
    family("reinforcement", reinforcement_case)
    family("hardness", hardness_case)
    family("weight", weight_case)
    family("blend", blend_case)
    family("guna", guna_case)
    family("drift", drift_case)
    family("towards", towards_case)
    family("mean", mean_case)
    family("collide", collide_case)
    family("soften", soften_case)
    return families


GATES = [
    dict(Candidates=256, Temperature=0.05, KBase=2.0, MinSimilarity=0.25, NoiseFloor=0.2,
         InertiaGain=0.3, ReactivityGain=0.5, Balance=1 / 3, Mode="concentrate"),
    dict(Candidates=256, Temperature=0.05, KBase=2.0, MinSimilarity=0.25, NoiseFloor=0.2,
         InertiaGain=0.3, ReactivityGain=0.5, Balance=0.0, Mode="literal"),
    dict(Candidates=40, Temperature=0.5, KBase=1.1, MinSimilarity=0.1, NoiseFloor=0.02,
         InertiaGain=0.8, ReactivityGain=2.0, Balance=0.2, Mode="concentrate"),
]


def gate(rng):
    reads, loads = [], []
    for k in range(CASES):
        p, s = GATES[k % len(GATES)], similarities(rng)
        load = [0.0, 0.0] if k % 4 == 0 else [round(rng.uniform(0, 0.6), 4), round(rng.uniform(0, 0.4), 4)]
        r, bands = read(p, s, load)
        reads.append(dict(params=p, similarities=s, load=load, bands=bands,
                          stiffness=out(ONE + D(p["ReactivityGain"]) * excess(p, load[1])),
                          reading={key: out(value) for key, value in r.items()}))
    for _ in range(CASES):
        context = []
        for _ in range(rng.randrange(0, 13)):
            g = guna(rng)
            context.append([part(rng), g[0] ** 2, g[1] ** 2])
        total = sum(D(c[0]) for c in context)
        mean = [out(sum(D(c[0]) * D(c[i]) for c in context) / total) if total else 0.0 for i in (1, 2)]
        loads.append(dict(context=context, load=mean))
    return dict(read=reads, load=loads)


def write(folder, sets, families):
    for name, cases in families.items():
        for case in cases:  # each parameter set is written once and named by its place
            if "params" in case:
                case["params"] = sets.index(case["params"])
        path = ROOT / folder / "testdata" / (name + ".json")
        path.parent.mkdir(exist_ok=True)
        lines = [",\n".join(json.dumps(x) for x in part) for part in (sets, cases)]
        path.write_text('{"sets": [\n%s\n],\n"cases": [\n%s\n]}\n' % tuple(lines))


if __name__ == "__main__":
    write("reactivation", SETS, reactivation(random.Random(20260403)))
    write("gate", GATES, gate(random.Random(20260404)))
