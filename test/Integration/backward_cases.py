"""The semantic cases of the backward, for all targets: forward specs that attn-compile --backward differentiates.

Each case is checked by attn-run: dQ, dK and dV against the reference's gradients in double. The specs and the form of a
case are those of cases.py; what is here is what only a backward can get wrong.
"""
import dataclasses

from cases import (ALIBI, BIAS, CAUSAL_AS_SCORE, DILATED, DOCUMENTS, HALF_DEAD, RANK0, SCALED_BY_CAPTURE, SOFTCAP, Case, Region, Spec, has_wgmma)

# Regions that are not straight in the score, an operation or two each. No point where one has no slope is hit by accident.
SQUARE = Region("""
      %z = arith.mulf %s, %s : f32
      %n = arith.negf %z : f32
      attn.yield %n : f32""")
SOFTPLUS = Region("""
      %one = arith.constant 1.0 : f32
      %e = math.exp %s : f32
      %t = arith.addf %one, %e : f32
      %z = math.log %t : f32
      attn.yield %z : f32""")
SOFTSIGN = Region("""
      %one = arith.constant 1.0 : f32
      %four = arith.constant 4.0 : f32
      %a = math.absf %s : f32
      %t = arith.addf %a, %one : f32
      %n = arith.mulf %s, %four : f32
      %z = arith.divf %n, %t : f32
      attn.yield %z : f32""")
ROOTS = Region("""
      %one = arith.constant 1.0 : f32
      %t = math.fma %s, %s, %one : f32
      %r = math.sqrt %t : f32
      %i = math.rsqrt %t : f32
      %x = arith.mulf %s, %i : f32
      %z = arith.subf %r, %x : f32
      attn.yield %z : f32""")
WAVES = Region("""
      %half = arith.constant 0.5 : f32
      %a = math.sin %s : f32
      %cosine = math.cos %s : f32
      %c = arith.mulf %cosine, %half : f32
      %x = arith.addf %a, %c : f32
      %z = arith.addf %x, %s : f32
      attn.yield %z : f32""")
BASE2 = Region("""
      %one = arith.constant 1.0 : f32
      %e = math.exp2 %s : f32
      %t = arith.addf %e, %one : f32
      %z = math.log2 %t : f32
      attn.yield %z : f32""")
# A leaky slope by a comparison, and an upper bound that many scores reach.
PIECEWISE = Region("""
      %zero = arith.constant 0.0 : f32
      %leak = arith.constant 0.25 : f32
      %top = arith.constant 0.75 : f32
      %c = arith.cmpf ogt, %s, %zero : f32
      %l = arith.mulf %s, %leak : f32
      %x = arith.select %c, %s, %l : f32
      %z = arith.minimumf %x, %top : f32
      attn.yield %z : f32""")
BOUNDED = Region("""
      %low = arith.constant -0.5 : f32
      %z = arith.maximumf %s, %low : f32
      %w = arith.maxnumf %z, %low : f32
      attn.yield %w : f32""")
# The slope depends on who looks where: a gathered factor, and another branch behind the diagonal.
BY_POSITION = Region("""
      %m = attn.gather %gain[%h, %ki] : (tensor<?x?xf32>, i32, i32) -> f32
      %c = arith.cmpi slt, %ki, %qi : i32
      %x = arith.mulf %s, %m : f32
      %y = math.tanh %s : f32
      %z = arith.select %c, %x, %y : f32
      attn.yield %z : f32""", (("gain", "tensor<?x?xf32>"),))
CASTS = Region("""
      %n = arith.truncf %s : f32 to bf16
      %x = arith.extf %n : bf16 to f32
      %z = arith.mulf %x, %x : f32
      attn.yield %z : f32""")



@dataclasses.dataclass(frozen=True)
class GradSpec(Spec):
    """The backward itself as a user writes it, with a gradient of lse."""

    def text(self):
        q, v, rows = f"tensor<?x?x?x{self.d}x{self.dtype}>", f"tensor<?x?x?x{self.value_dim}x{self.dtype}>", "tensor<?x?x?xf32>"
        args = "".join(f', %{n}: {t} {{attn.name = "{n}"}}' for n, t in self.captures.items())
        return (f"func.func @attention(%q: {q}, %k: {q}, %v: {v}, %o: {v}, %lse: {rows}, %do: {v}, %dlse: {rows}{args}) -> ({q}, {q}, {v}) {{\n"
                f"  %dq, %dk, %dv = attn.sdpa_grad(%q, %k, %v, %o, %lse, %do, %dlse){self.clauses()}\n"
                f"    : ({q}, {q}, {v}, {v}, {rows}, {v}, {rows}) -> ({q}, {q}, {v})\n"
                f"  return %dq, %dk, %dv : {q}, {q}, {v}\n}}\n")


CAUSAL, TOP = ("causal<bottom_right>",), ("causal<top_left>",)


def tails(tile):
    """Lengths with each kind of rest that a tile leaves: none, one, half of it, all but one."""
    return (tile, tile + 1, 2 * tile - 1, 2 * tile, tile + tile // 2)


def expected_kernel(case, chip):
    """A pattern for the kernels that must run: with tensor maps where they can describe the operands, in deterministic mode dQ in
    a nest of its own. None: any."""
    if 0 in case.shape:
        return None
    names = r"\S+_pre( \S+)*_dq" if "--deterministic" in case.spec.options else r"\S+( \S+)*"
    if not has_wgmma(chip):
        return names
    b, hq, hk, sq, sk = case.shape
    unaligned = case.offset % 8 or case.row_pad % 8 and max(hq, sq, hk, sk) > 1
    return r"(\S*_unaligned_\S+ ?)+" if unaligned else r"(?!.*_unaligned_)" + names


def cases(dtypes, chip):
    """Every backward case for the given element types; the first type takes the whole list, the others a part of it."""
    main = dtypes[0]
    out = []

    def add(spec, *shapes, **kw):
        out.extend(Case(spec, s, **kw) for s in shapes)

    def spec(d, dv=0, dtype=main, masks=(), tag="full", **kw):
        return Spec(d, dv, dtype, masks, tag=tag, **kw)

    def causal(d, dv=0, dtype=main):
        return spec(d, dv, dtype, CAUSAL, "causal")

    # Head dims: every multiple of 8 that pads differently, and Dv != D.
    for d in (8, 16, 24, 32, 40, 64, 72, 80, 96, 104, 128, 160, 192, 224, 256):
        add(causal(d), (1, 2, 1, 129, 193), why="D")
    for d in (64, 128, 256):
        add(spec(d), (1, 2, 1, 200, 130), why="D")
    for d, dv in ((192, 128), (64, 128), (128, 64), (40, 72), (256, 8), (8, 256), (256, 128), (128, 256)):
        add(causal(d, dv), (1, 2, 2, 65, 130), why="Dv != D")
    # Types.
    for t in dtypes[1:]:
        for d in (64, 128, 256):
            add(causal(d, dtype=t), (2, 4, 2, 200, 200), why="types")
        add(spec(80, dtype=t), (1, 2, 2, 77, 300), why="types")
    # Sq != Sk in both alignments, rows without keys, keys without rows (M01, M02, M08, D07).
    for sq, sk in ((1, 147), (113, 203), (108, 256), (256, 512), (512, 256), (1023, 1024), (1024, 1023), (239, 1), (799, 3),
                   (3, 799), (1, 1), (7, 3), (3, 7)):
        add(causal(64), (1, 2, 1, sq, sk), why="M01")
        add(spec(64, masks=TOP, tag="causal_top"), (1, 2, 1, sq, sk), why="M01")
        add(spec(64), (1, 2, 1, sq, sk), why="M01")
    # Ragged tails, also where all scores are near -120: a key past the end would weigh exp(0 + 120) (N01, N15).
    tiles = (64, 80, 128) if has_wgmma(chip) else (64, 128)
    lengths = sorted({s for tile in tiles for s in tails(tile)} | {1, 17, 32, 80, 112, 320, 700})
    for s in lengths:
        add(causal(128), (1, 1, 1, s, s), why="tails")
        add(spec(128), (1, 1, 1, s, s), why="tails")
        for masks, tag in ((CAUSAL, "causal"), ((), "full")):
            add(spec(64, masks=masks, tag=tag), (1, 1, 1, s, s), inputs="logits:-120", why="N01")
    for s in (65, 96, 127):
        for d in (128, 256):
            add(causal(d), (1, 2, 1, s, s), inputs="logits:-120", why="N01")
            add(spec(d), (1, 2, 1, s, 2 * s), inputs="logits:-120", why="N01")
    for s in (1, 2, 5, 17, 128):
        for d in (16, 32, 64):
            add(spec(d, dtype=main if main == "f32" else "f16"), (1, 2, 2, s, s), gain="q=5,k=3,v=3", why="N15")
    # GQA of any ratio, batch, layouts.
    for hq, hk in ((1, 1), (5, 1), (6, 2), (7, 7), (28, 4), (12, 3)):
        add(causal(64), (2, hq, hk, 130, 130), layout="bshd", why="GQA")
    add(spec(128), (2, 8, 2, 100, 170), layout="bshd", why="GQA")
    # Windows, Sq != Sk; one that most rows never reach, whose rows are empty.
    for left, right in ((3, 0), (2, 2), (0, 0), (63, 0), (64, 0), (-1, 5), (5, -1), (100, 17)):
        tag = f"window_{left}_{right}".replace("-1", "inf")
        window = spec(64, masks=(f"window<{left}, {right}, bottom_right>",), tag=tag)
        add(window, (1, 2, 1, 8, 8), (1, 2, 1, 300, 300), (1, 2, 1, 100, 300), (1, 2, 1, 300, 100), why="M04")
    add(spec(64, masks=("window<64, 0, top_left>",), tag="window_top"), (1, 4, 1, 1024, 128), why="most tiles empty")
    add(spec(128, masks=("window<70, 3, top_left>",), tag="window_top_128"), (1, 2, 1, 260, 90), (1, 2, 1, 90, 260), why="M04")
    # Score regions: those of the forward, and what has a slope of its own.
    regions = dict(softcap=SOFTCAP, alibi=ALIBI, bias=BIAS, temperature=SCALED_BY_CAPTURE, rank0=RANK0, causal_as_score=CAUSAL_AS_SCORE, square=SQUARE,
                   softplus=SOFTPLUS, softsign=SOFTSIGN, roots=ROOTS, waves=WAVES, base2=BASE2, piecewise=PIECEWISE, bounded=BOUNDED, by_position=BY_POSITION)
    if main != "f32":  # plain f32 is too good a yardstick for a kernel that rounds a score near a tie the other way
        regions["casts"] = CASTS
    for tag, score in regions.items():
        add(spec(64, tag=tag, score=score), (2, 4, 2, 150, 150), why="score region")
    for tag in ("softcap", "alibi", "softplus", "by_position"):
        add(spec(128, masks=CAUSAL, tag=tag + "_causal", score=regions[tag]), (1, 2, 2, 150, 220), why="score region")
    add(spec(256, masks=CAUSAL, tag="softcap_causal", score=SOFTCAP), (1, 2, 1, 130, 130), gain="q=12", why="N13")
    for tag, visible in (("documents", DOCUMENTS), ("dilated", DILATED), ("half_dead", HALF_DEAD)):
        add(spec(64, tag=tag, visible=visible), (2, 2, 2, 150, 150), why="mask region")
        add(spec(128, masks=CAUSAL, tag=tag + "_causal", visible=visible), (1, 2, 1, 140, 200), why="mask region")
    add(spec(64, masks=CAUSAL, tag="softcap_documents", score=SOFTCAP, visible=DOCUMENTS), (2, 2, 1, 260, 260), why="all at once")
    # A gradient of lse, with a score region that has a slope.
    for d, dv, masks, score, tag in ((64, 0, (), None, "dlse"), (128, 64, CAUSAL, None, "dlse_causal"), (64, 0, CAUSAL, SOFTCAP, "dlse_softcap")):
        add(GradSpec(d, dv, main, masks, score, tag=tag), (2, 4, 2, 150, 100), why="dlse")
    # Scales: zero, negative, large.
    for tag, scale in (("scale0", 0.0), ("scale_negative", -0.5), ("scale_large", 4.0)):
        add(spec(64, masks=CAUSAL, tag=tag, scale=scale), (1, 2, 2, 100, 100), why="any finite scale")
    # Strides: of dO alone (S04), 0 (the gradient of a sum), rows and addresses that no 16-byte access fits.
    for expand in ("do.0,do.1,do.2", "do.2", "k.1,v.1"):
        add(causal(64), (2, 4, 4, 100, 150), expand=expand, why="expanded")
    for layout in ("bshd", "sbhd"):
        add(causal(128), (2, 4, 2, 100, 150), do_layout=layout, why="S04")
    for d, t in ((64, main), (64, dtypes[1]), (128, main), (40, main)):
        for row_pad, offset in ((1, 0), (0, 1), (3, 5), (8, 0)):
            add(causal(d, dtype=t), (2, 4, 2, 100, 150), row_pad=row_pad, offset=offset, why="unaligned")
    add(spec(64), (1, 1, 1, 1, 70), (1, 2, 1, 37, 1), row_pad=1, layout="bshd", why="sizes of one")
    # Empty inputs (D01-D03).
    for shape in ((0, 2, 2, 16, 16), (1, 2, 2, 0, 16), (1, 2, 2, 64, 0)):
        add(spec(64), shape, why="D01")
    # The same bits in every launch, for every head dim (T01, T02): more tiles than a GPU has multiprocessors.
    for d in (64, 128, 256) if chip == "cpu" else (40, 64, 80, 96, 128, 160, 192, 224, 256):
        bits = spec(d, masks=CAUSAL, tag="deterministic", options=("--deterministic",))
        add(bits, (1, 4, 2, 300, 200) if chip == "cpu" else (2, 16, 4, 1200, 500), same=50, why="T01")
    # Long ones, and more tiles than multiprocessors.
    add(causal(128), (2, 8, 2, 2048, 2048), why="long", slow=True)
    add(spec(64), (2, 8, 8, 1500, 2500), why="long", slow=True)
    add(causal(256), (1, 4, 4, 1024, 1024), why="long", slow=True)
    for d in (64, 128, 256):
        add(spec(d), (4, 16, 4, 700, 90), (4, 16, 16, 90, 1300), why="more tiles than multiprocessors", slow=True)
        add(causal(d), (2, 16, 16, 1000, 1000), why="more tiles than multiprocessors", slow=True)
    return out
