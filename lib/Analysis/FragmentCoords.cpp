//===- FragmentCoords.cpp - where an element of a tile lives
//
// Part of the attn project, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "attn/Analysis/FragmentCoords.h"

#include "attn/Dialect/Attn/IR/Attn.h"

using namespace mlir;
using namespace attn;

Fragment Fragment::of(RankedTensorType type) {
  auto frag = cast<FragAttr>(type.getEncoding());
  Fragment f;
  f.warpsM = frag.getWarpsM();
  f.warpsN = frag.getWarpsN();
  switch (frag.getForm()) {
  case attn::Form::Tile:
    f.form = Form::Tile;
    break;
  case attn::Form::Rows:
    f.form = Form::Rows;
    f.rows = type.getDimSize(0);
    return f;
  case attn::Form::Cols:
    f.form = Form::Cols;
    f.cols = type.getDimSize(0);
    return f;
  case attn::Form::Quads:
    f.form = Form::Quads;
    break;
  }
  f.rows = type.getDimSize(0);
  f.cols = type.getDimSize(1);
  return f;
}
