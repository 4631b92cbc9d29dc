//===- AttnAttrs.cpp - verifiers and syntax of attributes
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"
#include "attn/Facts/Facts.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace attn;

#define GET_ATTRDEF_CLASSES
#include "attn/Dialect/Attn/IR/AttnAttrs.cpp.inc"

void AttnDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "attn/Dialect/Attn/IR/AttnAttrs.cpp.inc"
      >();
}

/// One of an enum's keywords. A hand-written parser, because the generated ones report every mistake twice.
template <typename Enum>
static ParseResult parseEnum(AsmParser &parser, Enum &value, std::optional<Enum> (*symbolize)(StringRef),
                             StringRef expected) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  bool found = succeeded(parser.parseOptionalKeyword(&keyword));
  std::optional<Enum> parsed = found ? symbolize(keyword) : std::nullopt;
  if (!parsed) {
    InFlightDiagnostic error = parser.emitError(loc) << "expects " << expected;
    if (found)
      error << ", got '" << keyword << "'";
    return error;
  }
  value = *parsed;
  return success();
}

/// `<name = value, ...>`, each name once. `parseValue` takes what follows the equals sign of a field it knows; what it
/// has no parser for is refused with the list of fields there are.
static ParseResult parseFields(AsmParser &parser, StringRef what, StringRef known,
                               function_ref<OptionalParseResult(StringRef)> parseValue) {
  SmallVector<StringRef> seen;
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, [&]() -> ParseResult {
    StringRef name;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (llvm::is_contained(seen, name))
      return parser.emitError(loc) << what << " field '" << name << "' given twice";
    seen.push_back(name);
    if (OptionalParseResult parsed = parseValue(name); parsed.has_value())
      return *parsed;
    return parser.emitError(loc) << "unknown " << what << " field '" << name << "'; expects " << known;
  });
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

static ParseResult parseAlign(AsmParser &parser, Align &align) {
  return parseEnum<Align>(parser, align, symbolizeAlign,
                          "an alignment, top_left or bottom_right (they differ where Sq != Sk; there is no default)");
}

Attribute CausalAttr::parse(AsmParser &parser, Type) {
  Align align;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOptionalLess()) {
    parser.emitError(loc) << "expects an alignment: #attn.causal<top_left> or #attn.causal<bottom_right>";
    return {};
  }
  if (parseAlign(parser, align) || parser.parseGreater())
    return {};
  return CausalAttr::get(parser.getContext(), align);
}

void CausalAttr::print(AsmPrinter &printer) const { printer << "<" << stringifyAlign(getAlign()) << ">"; }

LogicalResult WindowAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t left, int64_t right, Align) {
  constexpr int64_t limit = int64_t(1) << 30;
  for (int64_t bound : {left, right}) { // M3
    if (bound < -1)
      return emitError() << "window bounds count keys besides self, -1 means unbounded; got " << bound;
    if (bound > limit)
      return emitError() << "window bounds are at most " << limit << ", -1 means unbounded; got " << bound;
  }
  return success();
}

Attribute WindowAttr::parse(AsmParser &parser, Type) {
  int64_t left, right;
  Align align;
  SMLoc start = parser.getCurrentLocation();
  auto comma = [&]() -> ParseResult {
    SMLoc loc = parser.getCurrentLocation();
    if (succeeded(parser.parseOptionalComma()))
      return success();
    return parser.emitError(loc) << "expects #attn.window<left, right, top_left or bottom_right>";
  };
  if (parser.parseLess() || parser.parseInteger(left) || comma() || parser.parseInteger(right) || comma() ||
      parseAlign(parser, align) || parser.parseGreater())
    return {};
  return parser.getChecked<WindowAttr>(start, parser.getContext(), left, right, align);
}

void WindowAttr::print(AsmPrinter &printer) const {
  printer << "<" << getLeft() << ", " << getRight() << ", " << stringifyAlign(getAlign()) << ">";
}

//===----------------------------------------------------------------------===//
// #attn.target<chip = "sm_80", family = mma_sync, smem = 166912, ...>
//===----------------------------------------------------------------------===//

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef name, Family family,
                                 int64_t smem, int64_t smemSm, int64_t sms, int64_t regs) {
  if (smem < 0 || smemSm < 0 || sms < 1 || regs < 0) // T1
    return emitError() << "expects smem, smem_sm and regs of at least 0 and sms of at least 1, got " << smem << ", "
                       << smemSm << ", " << regs << " and " << sms;
  // T2: of a machine that the table knows. A toy machine is what its author says.
  const facts::Chip *chip = facts::findChip({name.data(), name.size()});
  if (family == Family::Wgmma && chip && chip->family != facts::Family::Wgmma)
    return emitError() << "expects a chip with warpgroup instructions for family wgmma, such as sm_90a; got " << name;
  return success();
}

Attribute TargetAttr::parse(AsmParser &parser, Type) {
  std::string chip;
  std::optional<Family> family;
  int64_t smem = 0, smemSm = 0, sms = 1, regs = 65536;
  SMLoc start = parser.getCurrentLocation();
  auto value = [&](StringRef name) -> OptionalParseResult {
    if (name == "chip")
      return parser.parseString(&chip);
    if (name == "family")
      return parseEnum<Family>(parser, family.emplace(), symbolizeFamily, "a family: mma_sync, wgmma or cpu");
    if (name == "smem")
      return parser.parseInteger(smem);
    if (name == "smem_sm")
      return parser.parseInteger(smemSm);
    if (name == "sms")
      return parser.parseInteger(sms);
    if (name == "regs")
      return parser.parseInteger(regs);
    return std::nullopt;
  };
  if (parseFields(parser, "target", "chip, family, smem, smem_sm, sms or regs", value))
    return {};
  if (chip.empty() || !family) {
    parser.emitError(start) << "expects a target to name chip and family";
    return {};
  }
  return parser.getChecked<TargetAttr>(start, parser.getContext(), chip, *family, smem, smemSm, sms, regs);
}

void TargetAttr::print(AsmPrinter &printer) const {
  printer << "<chip = ";
  printer.printString(getChip());
  printer << ", family = " << stringifyFamily(getFamily());
  if (getSmem())
    printer << ", smem = " << getSmem();
  if (getSmemSm())
    printer << ", smem_sm = " << getSmemSm();
  if (getSms() != 1)
    printer << ", sms = " << getSms();
  if (getRegs() != 65536)
    printer << ", regs = " << getRegs();
  printer << ">";
}

//===----------------------------------------------------------------------===//
// #attn.frag<4, 1, rows>
//===----------------------------------------------------------------------===//

LogicalResult FragAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t warpsM, int64_t warpsN, Form) {
  if (warpsM < 1 || warpsN < 1)
    return emitError() << "expects at least one warp along rows and columns, got " << warpsM << " x " << warpsN;
  return success();
}

LogicalResult FragAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                       function_ref<InFlightDiagnostic()> emitError) const {
  using facts::kAtomCols, facts::kAtomRows;
  Form form = getForm();
  if (llvm::any_of(shape, ShapedType::isDynamic))
    return emitError() << "expects a static shape with #attn.frag";
  size_t rank = form == Form::Rows || form == Form::Cols ? 1 : 2; // F3
  if (shape.size() != rank)
    return emitError() << "expects rank " << rank << " with #attn.frag form " << stringifyForm(form) << ", got "
                       << shape.size();
  if (form != Form::Cols && shape.front() % (kAtomRows * getWarpsM())) // F1
    return emitError() << "expects rows in a multiple of " << kAtomRows * getWarpsM() << " (" << kAtomRows
                       << " for each of " << getWarpsM() << " warps), got " << shape.front();
  if ((form == Form::Tile || form == Form::Cols) && shape.back() % (kAtomCols * getWarpsN())) // F2
    return emitError() << "expects columns in a multiple of " << kAtomCols * getWarpsN() << " (" << kAtomCols
                       << " for each of " << getWarpsN() << " warps), got " << shape.back();
  if (form == Form::Quads && shape.back() != 4) // F3
    return emitError() << "expects 4 columns, one a lane of the quad, got " << shape.back();
  return success();
}

Attribute FragAttr::parse(AsmParser &parser, Type) {
  int64_t warpsM, warpsN;
  Form form = Form::Tile;
  SMLoc start = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseInteger(warpsM) || parser.parseComma() || parser.parseInteger(warpsN))
    return {};
  if (succeeded(parser.parseOptionalComma()) &&
      parseEnum<Form>(parser, form, symbolizeForm, "a form: tile, rows, cols or quads"))
    return {};
  if (parser.parseGreater())
    return {};
  return parser.getChecked<FragAttr>(start, parser.getContext(), warpsM, warpsN, form);
}

void FragAttr::print(AsmPrinter &printer) const {
  printer << "<" << getWarpsM() << ", " << getWarpsN();
  if (getForm() != Form::Tile)
    printer << ", " << stringifyForm(getForm());
  printer << ">";
}

//===----------------------------------------------------------------------===//
// #attn.schedule<tile = [128, 64], warps = [4, 1], depth = {k = 2}, ...>
//===----------------------------------------------------------------------===//

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> tile,
                                   ArrayRef<int64_t> warps, int64_t groups, ArrayRef<int64_t> regs,
                                   ArrayRef<StringAttr> grads, int64_t depthQ, int64_t depthK, int64_t depthV,
                                   int64_t depthDo, int64_t depthDs, int64_t holdQ, int64_t holdV, ArrayRef<StringAttr>,
                                   int64_t skip, Staging, Seam, int64_t blocks, Tiling, int64_t section, StringRef) {
  // H1: limits far above any machine, so that sums and products of these numbers stay inside 64 bits.
  auto pair = [&](StringRef name, ArrayRef<int64_t> values, int64_t limit) -> LogicalResult {
    if (values.size() == 2 && llvm::all_of(values, [&](int64_t v) { return v > 0 && v <= limit; }))
      return success();
    return emitError() << "expects '" << name << "' to be two positive integers up to " << limit << ", got [" << values
                       << "]";
  };
  if (failed(pair("tile", tile, 65536)) || failed(pair("warps", warps, 1024)))
    return failure();
  for (int64_t number : {groups, depthQ, depthK, depthV, depthDo, depthDs, blocks}) // H2
    if (number < 1 || number > 32)
      return emitError() << "expects 'groups', 'depth' and 'blocks' from 1 to 32, got " << number;
  auto isCount = [](int64_t n) { return n >= 24 && n <= 256 && n % 8 == 0; };
  if (!regs.empty() && (regs.size() != 2 || !llvm::all_of(regs, isCount))) // H4: what setmaxnreg takes
    return emitError() << "expects 'regs' to be two multiples of 8 from 24 to 256, got [" << regs << "]";
  // H5: groups share rows, which are keys where dK or dV is made
  bool keysOnRows = llvm::any_of(grads, [](StringAttr grad) { return grad.getValue() != "dQ"; });
  if (int64_t rows = tile[keysOnRows ? 1 : 0]; rows % groups)
    return emitError() << "expects the " << rows << " rows of a tile to be shared by " << groups << " groups evenly";
  if (skip < 0 || skip > 15) // H6: P reaches 2^skip and becomes an operand of 16 bits; f16 ends at 65504
    return emitError() << "expects 'skip' from 0 to 15, got " << skip;
  for (int64_t number : {holdQ, holdV}) // H7
    if (number < 0 || number > 32)
      return emitError() << "expects 'hold' from 0 to 32 steps, got " << number;
  for (StringAttr grad : grads) // H8
    if (!llvm::is_contained({"dQ", "dK", "dV"}, grad.getValue()) || llvm::count(grads, grad) > 1)
      return emitError() << "expects 'grads' to be some of \"dQ\", \"dK\" and \"dV\", each once, got " << grad;
  if (section < 0) // H3
    return emitError() << "expects 'section' to be a number of bytes, got " << section;
  return success();
}

namespace {
/// A number of `depth` or `hold`, under the name of its operand.
struct OperandNumber {
  StringRef name;
  int64_t value;
};
} // namespace

/// `{q = 1, k = 2, v = 2}`: any subset of `numbers`, each once.
static ParseResult parseOperandNumbers(AsmParser &parser, StringRef field, MutableArrayRef<OperandNumber> numbers) {
  SmallVector<StringRef> seen;
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&]() -> ParseResult {
    StringRef name;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    auto *number = llvm::find_if(numbers, [&](const OperandNumber &number) { return number.name == name; });
    if (number == numbers.end()) {
      InFlightDiagnostic error = parser.emitError(loc) << "unknown ring '" << name << "' in " << field << "; expects ";
      for (auto [i, known] : llvm::enumerate(numbers))
        error << (i == 0 ? "" : i + 1 == numbers.size() ? " or " : ", ") << known.name;
      return error;
    }
    if (llvm::is_contained(seen, name))
      return parser.emitError(loc) << "ring '" << name << "' given twice in " << field;
    seen.push_back(name);
    return parser.parseInteger(number->value);
  });
}

/// The same list, of the numbers that are not `usual`; nothing if all are.
static void printOperandNumbers(AsmPrinter &printer, StringRef field, int64_t usual, ArrayRef<OperandNumber> numbers) {
  SmallVector<OperandNumber> given(
      llvm::make_filter_range(numbers, [&](const OperandNumber &number) { return number.value != usual; }));
  if (given.empty())
    return;
  printer << ", " << field << " = {";
  llvm::interleaveComma(given, printer,
                        [&](const OperandNumber &number) { printer << number.name << " = " << number.value; });
  printer << "}";
}

static ParseResult parseIntegers(AsmParser &parser, SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(values.emplace_back()); });
}

static ParseResult parseStrings(AsmParser &parser, SmallVectorImpl<StringAttr> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square, [&]() -> ParseResult {
    std::string value;
    if (parser.parseString(&value))
      return failure();
    values.push_back(StringAttr::get(parser.getContext(), value));
    return success();
  });
}

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> tile, warps, regs;
  SmallVector<StringAttr> order, grads;
  int64_t groups = 1, skip = 0, blocks = 1, section = 0;
  OperandNumber depth[] = {{"q", 1}, {"k", 1}, {"v", 1}, {"do", 1}, {"ds", 1}}, hold[] = {{"q", 0}, {"v", 0}};
  Staging out = Staging::Alias;
  Seam seam = Seam::Plain;
  Tiling tiles = Tiling::Single;
  std::string from;
  SMLoc start = parser.getCurrentLocation();
  auto value = [&](StringRef name) -> OptionalParseResult {
    if (name == "tile")
      return parseIntegers(parser, tile);
    if (name == "warps")
      return parseIntegers(parser, warps);
    if (name == "groups")
      return parser.parseInteger(groups);
    if (name == "regs")
      return parseIntegers(parser, regs);
    if (name == "depth")
      return parseOperandNumbers(parser, name, depth);
    if (name == "hold")
      return parseOperandNumbers(parser, name, hold);
    if (name == "grads")
      return parseStrings(parser, grads);
    if (name == "order")
      return parseStrings(parser, order);
    if (name == "skip")
      return parser.parseInteger(skip);
    if (name == "out")
      return parseEnum<Staging>(parser, out, symbolizeStaging, "where results are staged: alias or own");
    if (name == "seam")
      return parseEnum<Seam>(parser, seam, symbolizeSeam, "what happens between tiles: plain or overlap");
    if (name == "blocks")
      return parser.parseInteger(blocks);
    if (name == "section")
      return parser.parseInteger(section);
    if (name == "from")
      return parser.parseString(&from);
    if (name == "tiles")
      return parseEnum<Tiling>(parser, tiles, symbolizeTiling, "how tiles reach a block: single, fixed or dynamic");
    return std::nullopt;
  };
  if (parseFields(
          parser, "schedule",
          "tile, warps, groups, regs, grads, depth, hold, order, skip, out, seam, blocks, tiles, section or from",
          value))
    return {};
  return parser.getChecked<ScheduleAttr>(start, parser.getContext(), tile, warps, groups, regs, grads, depth[0].value,
                                         depth[1].value, depth[2].value, depth[3].value, depth[4].value, hold[0].value,
                                         hold[1].value, order, skip, out, seam, blocks, tiles, section, from);
}

static void printStrings(AsmPrinter &printer, StringRef field, ArrayRef<StringAttr> values) {
  if (values.empty())
    return;
  printer << ", " << field << " = [";
  llvm::interleaveComma(values, printer, [&](StringAttr value) { printer.printString(value.getValue()); });
  printer << "]";
}

void ScheduleAttr::print(AsmPrinter &printer) const {
  printer << "<tile = [" << getTile() << "], warps = [" << getWarps() << "]";
  if (getGroups() != 1)
    printer << ", groups = " << getGroups();
  if (!getRegs().empty())
    printer << ", regs = [" << getRegs() << "]";
  printStrings(printer, "grads", getGrads());
  printOperandNumbers(
      printer, "depth", 1,
      {{"q", getDepthQ()}, {"k", getDepthK()}, {"v", getDepthV()}, {"do", getDepthDo()}, {"ds", getDepthDs()}});
  printOperandNumbers(printer, "hold", 0, {{"q", getHoldQ()}, {"v", getHoldV()}});
  printStrings(printer, "order", getOrder());
  if (getSkip())
    printer << ", skip = " << getSkip();
  if (getOut() != Staging::Alias)
    printer << ", out = " << stringifyStaging(getOut());
  if (getSeam() != Seam::Plain)
    printer << ", seam = " << stringifySeam(getSeam());
  if (getBlocks() != 1)
    printer << ", blocks = " << getBlocks();
  printer << ", tiles = " << stringifyTiling(getTiles());
  if (getSection())
    printer << ", section = " << getSection();
  if (!getFrom().empty()) {
    printer << ", from = ";
    printer.printString(getFrom());
  }
  printer << ">";
}

bool ScheduleAttr::makes(StringRef name) const {
  return llvm::any_of(getGrads(), [&](StringAttr grad) { return grad.getValue() == name; });
}

ScheduleAttr ScheduleAttr::withFrom(StringRef from) const {
  return get(getContext(), getTile(), getWarps(), getGroups(), getRegs(), getGrads(), getDepthQ(), getDepthK(),
             getDepthV(), getDepthDo(), getDepthDs(), getHoldQ(), getHoldV(), getOrder(), getSkip(), getOut(),
             getSeam(), getBlocks(), getTiles(), getSection(), from);
}

ScheduleAttr ScheduleAttr::plain(MLIRContext *context, int64_t queries, int64_t keys, int64_t warps, int64_t depth,
                                 StringRef from) {
  return get(context, {queries, keys}, {warps, 1}, /*groups=*/1, /*regs=*/{}, /*grads=*/{}, /*depth_q=*/1, depth, depth,
             /*depth_do=*/1, /*depth_ds=*/1, /*hold_q=*/0, /*hold_v=*/0, /*order=*/{}, /*skip=*/0, Staging::Alias,
             Seam::Plain, /*blocks=*/1, Tiling::Single, /*section=*/0, from);
}
