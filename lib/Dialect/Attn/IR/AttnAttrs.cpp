//===- AttnAttrs.cpp - verifiers and syntax of attributes
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Dialect/Attn/IR/Attn.h"

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

LogicalResult WindowAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t left, int64_t right, Align) {
  for (int64_t bound : {left, right}) // M3
    if (bound < -1)
      return emitError() << "window bounds count keys besides self, -1 is unbounded; got " << bound;
  return success();
}

LogicalResult FragAttr::verify(function_ref<InFlightDiagnostic()> emitError, int64_t warpsM, int64_t warpsN, Form) {
  if (warpsM < 1 || warpsN < 1)
    return emitError() << "expects at least one warp along rows and columns, got " << warpsM << " x " << warpsN;
  return success();
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<int64_t> tile,
                                   ArrayRef<int64_t> warps, int64_t depthQ, int64_t depthK, int64_t depthV,
                                   int64_t blocks, Tiling, int64_t section, StringRef) {
  auto pair = [&](StringRef name, ArrayRef<int64_t> values) -> LogicalResult {
    if (values.size() == 2 && values[0] > 0 && values[1] > 0)
      return success();
    return emitError() << "expects '" << name << "' to be two positive integers, got " << values.size() << " ["
                       << values << "]";
  };
  if (failed(pair("tile", tile)) || failed(pair("warps", warps)))
    return failure();
  if (depthQ < 1 || depthK < 1 || depthV < 1 || blocks < 1)
    return emitError() << "expects 'depth' and 'blocks' to be at least 1";
  if (section < 0)
    return emitError() << "expects 'section' to be a number of bytes, got " << section;
  return success();
}

//===----------------------------------------------------------------------===//
// #attn.schedule<tile = [128, 64], warps = [4, 1], depth = {k = 2}, ...>
//===----------------------------------------------------------------------===//

/// `{q = 1, k = 2, v = 2}`, any subset.
static ParseResult parseDepth(AsmParser &parser, int64_t &q, int64_t &k, int64_t &v) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, [&]() -> ParseResult {
    StringRef ring;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&ring) || parser.parseEqual())
      return failure();
    int64_t *slot = ring == "q" ? &q : ring == "k" ? &k : ring == "v" ? &v : nullptr;
    if (!slot)
      return parser.emitError(loc) << "unknown ring '" << ring << "' in depth; expects q, k or v";
    return parser.parseInteger(*slot);
  });
}

static ParseResult parseIntegers(AsmParser &parser, SmallVectorImpl<int64_t> &values) {
  return parser.parseCommaSeparatedList(AsmParser::Delimiter::Square,
                                        [&] { return parser.parseInteger(values.emplace_back()); });
}

Attribute ScheduleAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> tile, warps;
  int64_t depthQ = 1, depthK = 1, depthV = 1, blocks = 1, section = 0;
  Tiling tiles = Tiling::Single;
  std::string from;
  SmallVector<StringRef> seen;
  SMLoc start = parser.getCurrentLocation();
  auto field = [&]() -> ParseResult {
    StringRef name;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&name) || parser.parseEqual())
      return failure();
    if (llvm::is_contained(seen, name))
      return parser.emitError(loc) << "schedule field '" << name << "' given twice";
    seen.push_back(name);
    if (name == "tile")
      return parseIntegers(parser, tile);
    if (name == "warps")
      return parseIntegers(parser, warps);
    if (name == "depth")
      return parseDepth(parser, depthQ, depthK, depthV);
    if (name == "blocks")
      return parser.parseInteger(blocks);
    if (name == "section")
      return parser.parseInteger(section);
    if (name == "from")
      return parser.parseString(&from);
    if (name == "tiles") {
      FailureOr<Tiling> kind = FieldParser<Tiling>::parse(parser);
      if (failed(kind))
        return failure();
      tiles = *kind;
      return success();
    }
    return parser.emitError(loc) << "unknown schedule field '" << name
                                 << "'; expects tile, warps, depth, blocks, tiles, section or from";
  };
  if (parser.parseCommaSeparatedList(AsmParser::Delimiter::LessGreater, field))
    return {};
  return parser.getChecked<ScheduleAttr>(start, parser.getContext(), tile, warps, depthQ, depthK, depthV, blocks, tiles,
                                         section, from);
}

void ScheduleAttr::print(AsmPrinter &printer) const {
  printer << "<tile = [" << getTile() << "], warps = [" << getWarps() << "]";
  if (getDepthQ() != 1 || getDepthK() != 1 || getDepthV() != 1)
    printer << ", depth = {q = " << getDepthQ() << ", k = " << getDepthK() << ", v = " << getDepthV() << "}";
  if (getBlocks() != 1)
    printer << ", blocks = " << getBlocks();
  printer << ", tiles = " << stringifyTiling(getTiles());
  if (getSection())
    printer << ", section = " << getSection();
  if (!getFrom().empty())
    printer << ", from = \"" << getFrom() << "\"";
  printer << ">";
}
