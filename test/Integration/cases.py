"""The semantic cases of all targets: attention specs, shapes and inputs, each checked by attn-run against Reference.

A case is one spec (compiled once per target) with one shape. Specs are written here as text, the way a user writes them, so
that the table covers D, Dv, types, masks and regions without a file each. `slow` marks shapes that only the GPU run takes.
"""
import dataclasses
import math


@dataclasses.dataclass(frozen=True)
class Region:
    """A score or visible region: its body, and the captured operands it reads (name, type)."""
    body: str
    captures: tuple = ()


SOFTCAP = Region("""
      %r = arith.constant 0.0333333333 : f32
      %cap = arith.constant 30.0 : f32
      %x = arith.mulf %s, %r : f32
      %y = math.tanh %x : f32
      %z = arith.mulf %y, %cap : f32
      attn.yield %z : f32""")
ALIBI = Region("""
      %m = attn.gather %slopes[%h] : (tensor<?xf32>, i32) -> f32
      %d = arith.subi %ki, %qi : i32
      %f = arith.sitofp %d : i32 to f32
      %x = arith.mulf %m, %f : f32
      %z = arith.addf %s, %x : f32
      attn.yield %z : f32""", (("slopes", "tensor<?xf32>"),))
# A bias of its own for every query and key position: one gather by rows, one by columns, one by both.
BIAS = Region("""
      %a = attn.gather %rowbias[%b, %qi] : (tensor<?x?xf32>, i32, i32) -> f32
      %c = attn.gather %colbias[%ki] : (tensor<?xf32>, i32) -> f32
      %d = arith.subi %qi, %ki : i32
      %e = attn.gather %rel[%h, %d] : (tensor<?x?xf32>, i32, i32) -> f32
      %x = arith.addf %s, %a : f32
      %y = arith.addf %x, %c : f32
      %z = arith.addf %y, %e : f32
      attn.yield %z : f32""", (("rowbias", "tensor<?x?xf32>"), ("colbias", "tensor<?xf32>"), ("rel", "tensor<?x?xf32>")))
SCALED_BY_CAPTURE = Region("""
      %z = arith.mulf %s, %temperature : f32
      attn.yield %z : f32""", (("temperature", "f32"),))
# A captured tensor of rank 0, and constants below zero.
RANK0 = Region("""
      %g = attn.gather %gain[] : (tensor<f32>) -> f32
      %n = arith.constant -3 : i32
      %d = arith.divsi %ki, %n : i32
      %f = arith.sitofp %d : i32 to f32
      %m = arith.constant -0.125 : f32
      %x = arith.mulf %s, %g : f32
      %y = math.fma %f, %m, %x : f32
      attn.yield %y : f32""", (("gain", "tensor<f32>"),))
# +inf and -inf arithmetic on the way: hidden by a score of -inf instead of a mask.
CAUSAL_AS_SCORE = Region("""
      %ninf = arith.constant 0xFF800000 : f32
      %c = arith.cmpi sle, %ki, %qi : i32
      %z = arith.select %c, %s, %ninf : f32
      attn.yield %z : f32""")
DOCUMENTS = Region("""
      %x = attn.gather %doc[%b, %qi] : (tensor<?x?xi32>, i32, i32) -> i32
      %y = attn.gather %doc[%b, %ki] : (tensor<?x?xi32>, i32, i32) -> i32
      %c = arith.cmpi eq, %x, %y : i32
      attn.yield %c : i1""", (("doc", "tensor<?x?xi32>"),))
DILATED = Region("""
      %two = arith.constant 2 : i32
      %zero = arith.constant 0 : i32
      %d = arith.subi %qi, %ki : i32
      %m = arith.remsi %d, %two : i32
      %c = arith.cmpi eq, %m, %zero : i32
      attn.yield %c : i1""")
# Rows 0..7 of every 16 see nothing at all.
HALF_DEAD = Region("""
      %m = arith.constant 8 : i32
      %zero = arith.constant 0 : i32
      %d = arith.andi %qi, %m : i32
      %c = arith.cmpi ne, %d, %zero : i32
      attn.yield %c : i1""")


@dataclasses.dataclass(frozen=True)
class Spec:
    d: int
    dv: int = 0
    dtype: str = "bf16"
    masks: tuple = ()
    score: Region = None
    visible: Region = None
    scale: float = None
    tag: str = ""
    schedule: str = ""  # the text between < and >, instead of the table's
    options: tuple = ()  # of attn-compile, for this spec

    @property
    def value_dim(self):
        return self.dv or self.d

    @property
    def name(self):
        parts = [self.dtype, f"d{self.d}"] + ([f"v{self.dv}"] if self.dv else []) + ([self.tag] if self.tag else [])
        return "_".join(parts)

    @property
    def captures(self):
        captures = {}
        for region in (self.score, self.visible):
            captures.update(region.captures if region else ())
        return captures

    def clauses(self):
        """What stands between an operation's operands and its types."""
        scale = self.scale if self.scale is not None else 1 / math.sqrt(self.d)
        out = [f" scale {scale:.9e}"]
        if self.masks:
            out.append("    mask [" + ", ".join(f"#attn.{m}" for m in self.masks) + "]")
        if self.captures:
            out.append("    captures(" + ", ".join(f"%{n}" for n in self.captures) + " : " + ", ".join(self.captures.values()) + ")")
        if self.score:
            out.append("    score {\n    ^bb0(%s: f32, %b: i32, %h: i32, %qi: i32, %ki: i32):" + self.score.body + "\n    }")
        if self.visible:
            out.append("    visible {\n    ^bb0(%b: i32, %h: i32, %qi: i32, %ki: i32):" + self.visible.body + "\n    }")
        if self.schedule:
            out.append(f"    schedule <{self.schedule}>")
        return "\n".join(out)

    def text(self):
        q, v = f"tensor<?x?x?x{self.d}x{self.dtype}>", f"tensor<?x?x?x{self.value_dim}x{self.dtype}>"
        args = "".join(f', %{n}: {t} {{attn.name = "{n}"}}' for n, t in self.captures.items())
        return (f"func.func @attention(%q: {q}, %k: {q}, %v: {v}{args}) -> ({v}, tensor<?x?x?xf32>) {{\n"
                f"  %o, %lse = attn.sdpa(%q, %k, %v){self.clauses()}\n"
                f"    : ({q}, {q}, {v}) -> ({v}, tensor<?x?x?xf32>)\n"
                f"  return %o, %lse : {v}, tensor<?x?x?xf32>\n}}\n")


@dataclasses.dataclass(frozen=True)
class Case:
    spec: Spec
    shape: tuple  # batch, q_heads, k_heads, q_len, k_len
    layout: str = "bhsd"
    inputs: str = ""  # a generator of run.py; "" = random normal
    why: str = ""
    slow: bool = False
    row_pad: int = 0  # unused elements (NaN) behind each row of q, k, v and o
    offset: int = 0  # elements in front of the first
    same: int = 0  # further launches that must give the same bits
    kernel: str = ""  # the one that has to run, where several could
    gain: str = ""  # factors on random inputs, as attn-run --gain takes them
    expand: str = ""  # dimensions of stride 0
    do_layout: str = ""  # of dO alone

    @property
    def name(self):
        b, hq, hk, sq, sk = self.shape
        place = (f" pad{self.row_pad}" if self.row_pad else "") + (f" offset{self.offset}" if self.offset else "")
        place += "".join(f" {x}" for x in (self.do_layout and "do=" + self.do_layout, self.expand, self.gain, self.inputs) if x)
        return f"{self.spec.name} b{b}h{hq}/{hk}s{sq}x{sk} {self.layout}{place}"


def has_wgmma(chip):
    return chip == "sm_90a"


def expected_kernel(case, chip):
    """A pattern for the kernel that must run, so that no case passes on another path than the one it is for; None: any."""
    if case.kernel or not has_wgmma(chip) or 0 in case.shape:
        return case.kernel or None
    # A tensor map takes rows and addresses in multiples of 16 bytes, which are 8 elements. Of one row there is no stride.
    b, hq, hk, sq, sk = case.shape
    if case.offset % 8 or case.row_pad % 8 and max(hq, sq, hk, sk) > 1:
        return r"attention_unaligned_fwd"
    return r"attention(_from_\d+)?(_below_\d+)?_fwd"


def wgmma_cases(main):
    """What only kernels of warpgroups can get wrong: their tiles, rings, orders and ways of sharing out tiles."""
    causal, window = ("causal<bottom_right>",), ("window<150, 0, bottom_right>",)
    out = []

    def add(spec, *shapes, **kw):
        out.extend(Case(spec, s, **kw) for s in shapes)

    # The edges of tiles of 192, 128, 112, 80 and 64, of one, two and three of them.
    for d in (64, 128, 192, 256):
        for tag, masks in (("causal", causal), ("full", ())):
            spec = Spec(d, dtype=main, masks=masks, tag=tag)
            for s in (79, 80, 81, 111, 113, 127, 129, 160, 161, 191, 192, 193, 224, 240, 255, 257, 383, 384, 385):
                if d in (64, 128) or s % 2:
                    add(spec, (1, 2, 1, s, s), why="tile edges")
            add(spec, (1, 2, 2, 193, 79), (1, 1, 1, 65, 400), (2, 3, 1, 129, 241), why="tile edges, Sq != Sk")
    # Either side of the length where another kernel takes over.
    full128, full64 = Spec(128, dtype=main, tag="full"), Spec(64, dtype=main, tag="full")
    causal256, causal128, causal64 = (Spec(d, dtype=main, masks=causal, tag="causal") for d in (256, 128, 64))
    add(full128, (1, 2, 1, 1535, 200), why="chosen by length", kernel="attention_below_1536_fwd")
    add(full128, (1, 2, 1, 1536, 200), (1, 2, 1, 1537, 1537), why="chosen by length", kernel="attention_fwd")
    for spec, length in ((causal64, 1536), (causal128, 6144), (causal256, 3072)):
        below = f"attention_below_{length}_fwd" if spec != causal128 else f"attention_from_1536_below_{length}_fwd"
        add(spec, (1, 2, 1, length - 1, 200), why="chosen by length", kernel=below)
        add(spec, (1, 2, 1, length, 200), (1, 2, 1, length + 1, 300), why="chosen by length", kernel="attention_fwd")
    add(causal128, (1, 2, 1, 1535, 200), why="chosen by length", kernel="attention_below_6144_fwd")
    add(causal128, (1, 2, 1, 1536, 200), why="chosen by length", kernel="attention_from_1536_below_6144_fwd")
    # Far more tiles than blocks, so that every block walks several; short keys make a tile cheap, also for Reference.
    add(full128, (4, 32, 8, 1600, 90), (4, 32, 8, 1000, 90), why="more than three tiles a block")
    add(causal128, (4, 32, 8, 1000, 90), (1, 16, 4, 5000, 300), why="more than three tiles a block")
    add(full64, (4, 32, 8, 1600, 130), why="more than three tiles a block")
    add(causal64, (4, 32, 8, 1600, 130), (1, 64, 8, 3000, 60), why="more than three tiles a block")
    add(Spec(256, dtype=main, masks=causal, tag="causal"), (4, 32, 8, 700, 90), why="more than three tiles a block")
    add(Spec(192, 128, dtype=main, masks=causal, tag="causal"), (4, 32, 8, 700, 120), why="more than three tiles a block")
    for d in (64, 128):
        spec = Spec(d, dtype=main, masks=("window<64, 0, top_left>",), tag="window_top")
        add(spec, (2, 32, 4, 4096, 100), why="X11: most tiles empty")
    # O has bytes of its own where D and Dv differ, and the largest of them fit one row of the table only.
    for d, dv in ((256, 192), (192, 256), (256, 64), (64, 256), (200, 136)):
        add(Spec(d, dv, main, causal, tag="causal"), (1, 4, 2, 300, 400), (1, 2, 1, 129, 81), why="Dv != D")
    # The same bits every time, whatever block runs which tile.
    for spec in (full128, causal128, full64, causal64):
        add(spec, (2, 16, 4, 1700, 500), same=150, why="the same bits")
    add(Spec(256, dtype=main, masks=causal, tag="causal"), (2, 16, 4, 700, 300), same=150, why="the same bits")
    # Rings of every depth, groups, ways of staging O and of sharing out tiles; three loops in a row.
    base = "warps = [4, 1], out = {out}, tiles = {tiles}, depth = {{q = {q}, k = {k}, v = {v}}}, {groups}, tile = [{rows}, {keys}]"
    shapes = ((1, 2, 1, 16, 16), (1, 2, 1, 64, 64), (1, 2, 1, 90, 90), (2, 2, 1, 700, 700), (2, 32, 4, 1300, 100))
    variants = []
    for q, k, v in ((1, 1, 1), (1, 1, 2), (1, 2, 1), (1, 2, 3), (2, 3, 3)):
        variants.append((f"depth_{q}_{k}_{v}", dict(q=q, k=k, v=v)))
    for out_ in ("own", "alias"):
        for tiles in ("single", "fixed", "dynamic"):
            variants.append((f"{out_}_{tiles}", dict(out=out_, tiles=tiles)))
    variants.append(("one_group", dict(groups="groups = 1, regs = [56, 256]", rows=64)))
    variants.append(("three_groups", dict(groups="groups = 3, regs = [32, 160]", rows=192)))
    for keys in (16, 48, 144, 192):
        variants.append((f"keys_{keys}", dict(keys=keys)))
    for tag, fields in variants:
        values = dict(out="own", tiles="dynamic", q=1, k=2, v=2, groups="groups = 2, regs = [24, 240]", rows=128, keys=64)
        values.update(fields)
        spec = Spec(64, dtype=main, masks=window, tag=tag, schedule=base.format(**values))
        add(spec, *shapes, why="schedules", slow=True)
    # O in bytes of its own in two, three and four pieces, the last of them with columns that do not exist.
    for d, dv, keys in ((256, 256, 64), (256, 200, 64), (192, 136, 96), (128, 256, 112), (128, 248, 112)):
        text = base.format(out="own", tiles="dynamic", q=1, k=2, v=2, groups="groups = 2, regs = [24, 240]", rows=128, keys=keys)
        spec = Spec(d, dv, main, causal, tag="pieces", schedule=text)
        add(spec, *shapes, why="schedules", slow=True)
    # Orders that overlap in other ways, with and without the skipped rescale.
    orders = {"plain": "", "wide": '"get K", "take", "S", "PV@1", "give", "await S", "max", "P.in", "await PV", "P", "PV.acc"',
              "early_wait": '"get K", "take", "S", "PV@1", "give", "await S", "max", "await PV", "P", "PV.acc"',
              "pinned": '"get K", "take", "S", "PV@1", "give", "await S", "max", "pin max", "await PV", "P", "PV.acc"',
              "one_wait": '"get K", "take", "S", "PV@1", "give", "await PV", "max", "P", "PV.acc"',
              "late_wait": '"get K", "take", "S", "PV@1", "give", "await S", "max", "P.in", "pin P.in", "await PV", "P", "PV.acc"',
              "turns_only": '"get K", "take", "S", "await S", "give", "max", "P", "PV.acc", "PV", "await PV"',
              "rescale_first": '"get K", "S", "PV.acc@1", "PV@1", "await S", "max", "P.in", "await PV", "P"'}
    for tag, order in orders.items():
        for skip in (0, 8):
            text = base.format(out="own", tiles="dynamic", q=1, k=2, v=2, groups="groups = 2, regs = [24, 240]", rows=128, keys=64)
            text += (f", order = [{order}]" if order else "") + (f", skip = {skip}" if skip else "")
            spec = Spec(64, dtype=main, masks=window, tag=f"order_{tag}_{skip}", schedule=text)
            add(spec, *shapes, why="schedules", slow=True)
    # The next tile over the end of this one; tiles of one block of keys and of many.
    for tag, order in orders.items():
        for tiles in ("fixed", "dynamic") if "@1" in order else ():
            text = base.format(out="own", tiles=tiles, q=2, k=2, v=2, groups="groups = 2, regs = [24, 240]", rows=128, keys=64)
            spec = Spec(64, dtype=main, masks=causal, tag=f"seam_{tag}_{tiles}", schedule=f"{text}, seam = overlap, order = [{order}], skip = 8")
            add(spec, *shapes, (2, 32, 4, 1300, 1300), why="schedules", slow=True)
            add(spec, (2, 16, 4, 1700, 500), same=150, why="the same bits", slow=True)
    return out


def cases(dtypes, chip):
    """Every case for the given element types; the first type takes the whole list, the others a part of it."""
    main = dtypes[0]
    causal = ("causal<bottom_right>",)
    top = ("causal<top_left>",)
    out = []

    def add(spec, *shapes, **kw):
        out.extend(Case(spec, s, **kw) for s in shapes)

    # Head dims: every multiple of 8 that pads differently, and Dv != D.
    for d in (8, 16, 24, 32, 40, 64, 72, 80, 96, 104, 128, 160, 192, 224, 256):
        add(Spec(d, dtype=main, masks=causal, tag="causal"), (1, 2, 1, 129, 193), why="D")
    for d, dv in ((192, 128), (64, 128), (128, 64), (40, 72), (256, 8), (8, 256)):
        add(Spec(d, dv, main, tag="full"), (1, 2, 2, 65, 130), why="Dv != D")
    # Types.
    for t in dtypes[1:]:
        for d in (64, 128):
            add(Spec(d, dtype=t, masks=causal, tag="causal"), (2, 4, 2, 200, 200), why="types")
        add(Spec(80, dtype=t, tag="full"), (1, 2, 2, 77, 300), why="types")
    # Sq != Sk in both alignments, rows without keys (M01, M02, D07).
    pairs = ((1, 147), (113, 203), (108, 256), (256, 512), (512, 256), (1023, 1024), (1024, 1023), (239, 1), (799, 3), (1, 1), (7, 3), (3, 7))
    for sq, sk in pairs:
        add(Spec(64, dtype=main, masks=causal, tag="causal"), (1, 2, 1, sq, sk), why="M01")
        add(Spec(64, dtype=main, masks=top, tag="causal_top"), (1, 2, 1, sq, sk), why="M01")
        add(Spec(64, dtype=main, tag="full"), (1, 2, 1, sq, sk), why="M01")
    # Ragged tails around the tile edges.
    for s in (1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 191, 192, 255, 257):
        add(Spec(128, dtype=main, masks=causal, tag="causal"), (1, 1, 1, s, s), why="tails")
        add(Spec(128, dtype=main, tag="full"), (1, 1, 1, s, s), why="tails")
    # GQA of any ratio (P04), batch, layouts.
    for hq, hk in ((1, 1), (5, 1), (6, 2), (7, 7), (28, 4), (12, 3)):
        add(Spec(64, dtype=main, masks=causal, tag="causal"), (2, hq, hk, 130, 130), layout="bshd", why="GQA")
    # Windows (M04, M05), alone and with causal; Sq != Sk; a window that most rows never reach.
    for left, right in ((3, 0), (2, 2), (0, 0), (63, 0), (64, 0), (-1, 5), (5, -1), (100, 17)):
        tag = f"window_{left}_{right}".replace("-1", "inf")
        spec = Spec(64, dtype=main, masks=(f"window<{left}, {right}, bottom_right>",), tag=tag)
        add(spec, (1, 2, 1, 8, 8), (1, 2, 1, 300, 300), (1, 2, 1, 100, 300), (1, 2, 1, 300, 100), why="M04")
    add(Spec(64, dtype=main, masks=("window<64, 0, top_left>",), tag="window_top"), (1, 16, 1, 2048, 128), why="X11: most tiles empty")
    # Regions.
    for tag, score in (("softcap", SOFTCAP), ("alibi", ALIBI), ("bias", BIAS), ("temperature", SCALED_BY_CAPTURE), ("rank0", RANK0), ("causal_as_score", CAUSAL_AS_SCORE)):
        add(Spec(64, dtype=main, score=score, tag=tag), (2, 4, 2, 150, 150), why="score region")
        add(Spec(128, dtype=main, score=score, masks=causal, tag=tag + "_causal"), (1, 2, 2, 150, 220), why="score region")
    for tag, visible in (("documents", DOCUMENTS), ("dilated", DILATED), ("half_dead", HALF_DEAD)):
        add(Spec(64, dtype=main, visible=visible, tag=tag), (2, 2, 2, 150, 150), why="mask region")
        add(Spec(128, dtype=main, visible=visible, masks=causal, tag=tag + "_causal"), (1, 2, 1, 140, 200), why="mask region")
    add(Spec(64, dtype=main, score=SOFTCAP, visible=DOCUMENTS, masks=causal, tag="softcap_documents"), (2, 2, 1, 260, 260), why="all at once")
    # Scales: zero, negative, large.
    for tag, scale in (("scale0", 0.0), ("scale_negative", -0.5), ("scale_large", 4.0)):
        add(Spec(64, dtype=main, scale=scale, masks=causal, tag=tag), (1, 2, 2, 100, 100), why="any finite scale")
    # Numerics (N03, N04, N07) and strides (S01, S03, S10).
    full128, causal128 = Spec(128, dtype=main, tag="full"), Spec(128, dtype=main, masks=causal, tag="causal")
    for logit in (-1e4, -5e4, -5.5e4, -2.45e5):
        add(full128, (1, 16, 1, 64, 64), inputs=f"logits:{logit:g}", why="N03")
    for logit in (-20, -105, -120):
        add(causal128, (1, 14, 2, 88, 448), inputs=f"logits:{logit:g}", why="N04")
    add(Spec(64, dtype=main, tag="full"), (1, 1, 1, 1, 64), inputs="constant:10", why="N07, inside the limit of docs/Rationale/OnlineSoftmax.md")
    # Rows that no 16-byte access fits: a stride, an address, both; what lies between rows and behind the last key is NaN (N06).
    # One batch, one head, one query: attn-run gives dimensions of one an absurd stride.
    for d in (40, 64, 128):
        for t in dtypes[:2] if d == 64 else dtypes[:1]:
            for tag, masks in (("causal", causal), ("full", ())):
                spec = Spec(d, dtype=t, masks=masks, tag=tag)
                for row_pad, offset in ((1, 0), (0, 1), (3, 5), (8, 0), (8, 3)):
                    add(spec, (2, 4, 2, 100, 150), row_pad=row_pad, offset=offset, why="S10, unaligned")
                add(spec, (1, 1, 1, 1, 70), (1, 2, 1, 37, 1), row_pad=1, layout="bshd", why="N06 and sizes of one")
    add(causal128, (1, 2, 2, 70, 70), inputs="nan", why="NaN comes out, in its row only")
    # Many tiles of keys, so that what the row did to others in the first one would show in the next.
    for spec in (causal128, Spec(64, dtype=main, masks=causal, tag="causal")):
        add(spec, (1, 2, 2, 70, 700), inputs="inf", why="scores of +inf give NaN, in their row only")
    # Empty inputs (D01-D03).
    for shape in ((0, 2, 2, 16, 16), (1, 2, 2, 0, 16), (1, 2, 2, 64, 0)):
        add(Spec(64, dtype=main, tag="full"), shape, why="D01")
    # Rings of every depth, sweeps of one to many steps, three loops in a row; O wider than the Q it lies over.
    if has_wgmma(chip):
        out += wgmma_cases(main)
    for k, v in () if has_wgmma(chip) else ((1, 1), (1, 2), (2, 1), (2, 3), (3, 3)):
        schedule = f"tile = [64, 32], warps = [4, 1], depth = {{k = {k}, v = {v}}}"
        spec = Spec(64, 128, main, masks=("window<150, 0, bottom_right>",), tag=f"depth_{k}_{v}", schedule=schedule)
        add(spec, (1, 2, 1, 16, 16), (1, 2, 1, 64, 64), (1, 2, 1, 90, 90), (2, 2, 1, 700, 700), why="rings", slow=True)
    # Long ones.
    add(causal128, (2, 8, 2, 4096, 4096), why="long", slow=True)
    add(Spec(64, dtype=main, tag="full"), (2, 8, 8, 3000, 5000), why="long", slow=True)
    add(Spec(256, dtype=main, masks=causal, tag="causal"), (1, 4, 4, 2048, 2048), why="long", slow=True)
    return out
